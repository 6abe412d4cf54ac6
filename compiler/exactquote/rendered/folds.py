"""Folds text into what a browser, or a strict reader, takes for equal, with offsets both ways.

Everything here is decided by the tables in `fold_tables.py`, so that a verdict is the same
under every version of Python; `unicodedata` isn't asked.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from exactquote.rendered import fold_tables

# Quotation marks and apostrophes that a reader takes for each other, straight or curly; no
# guillemets, no primes, no backtick.
_STRICT_QUOTES = {**dict.fromkeys("“”„‟", '"'), **dict.fromkeys("‘’‚‛", "'")}
# Not to be seen in any browser, and skipped by each of their finders.
_INVISIBLE = frozenset(
    "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufeff"
)
# Case folding makes a letter of this mark; that is no mere change of case.
_YPOGEGRAMMENI = "\u0345"
# Up to so many different characters, replacing one after the other beats a look-up of each.
_REPLACED_MAX = 40

_ENTRY = re.compile("([0-9A-F-]+)([=+~])([^ ]*)")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


class Table:
    """A table of `fold_tables`, read a block of 256 characters at a time as they are asked for."""

    __slots__ = ("_blocks", "_coded", "_read")

    def __init__(self, blocks: dict[int, str], *, coded: bool) -> None:
        """Read `blocks`, whose values are code points if `coded`, and else names."""
        self._blocks = blocks
        self._coded = coded
        self._read: dict[int, dict[str, str]] = {}

    def get(self, c: str, default: str) -> str:
        """What the table says of a character."""
        return self.block(ord(c) >> 8).get(c, default)

    def __contains__(self, c: str) -> bool:
        """Whether the table says anything of a character."""
        return c in self.block(ord(c) >> 8)

    def block(self, number: int) -> dict[str, str]:
        """All that the table says of 256 characters."""
        if number not in self._read:
            self._read[number] = dict(self._entries(number))
        return self._read[number]

    def _entries(self, number: int) -> Iterator[tuple[str, str]]:
        for span, shift, value in _ENTRY.findall(self._blocks.get(number, "")):
            first, _, last = span.partition("-")
            for low in range(int(first, 16), int(last or first, 16) + 1):
                code = number << 8 | low
                if shift == "=":
                    becomes = _text(value) if self._coded else value
                else:
                    becomes = chr(code + int(value, 16) * (1 if shift == "+" else -1))
                yield chr(code), becomes


class Fold(dict[int, str]):
    """What each character becomes, worked out as characters are met; made for `str.translate`.

    Two texts are equal under a fold when `fold_text` makes the same string of both. Whatever
    a character becomes is left alone by the fold.
    """

    __slots__ = ("_ascii", "_becomes", "name", "odd_ascii", "odd_shown")

    def __init__(self, name: str, becomes: Callable[[str], str]) -> None:
        """Fold each character to what `becomes` says, which is asked once."""
        super().__init__()
        self.name = name
        self._becomes = becomes
        self._ascii = b""
        self.odd_ascii = ""
        self.odd_shown = ""

    def __missing__(self, code: int) -> str:
        """Work out a character met for the first time."""
        # NUL marks the cuts of a page: no fold may drop it, as ICU would.
        self[code] = becomes = self._becomes(chr(code)) if code else "\x00"
        return becomes

    def __repr__(self) -> str:
        """Its name, since its contents grow with what it has met."""
        return f"<Fold {self.name}>"

    def ascii(self) -> bytes:
        """A table for `bytes.translate`; ASCII that changes its length is in `odd_ascii`.

        Those of it that aren't controls are in `odd_shown`, too.
        """
        if not self._ascii:
            table = bytearray(range(256))
            for code in range(128):
                if len(self[code]) == 1 and self[code].isascii():
                    table[code] = ord(self[code])
                else:
                    self.odd_ascii += chr(code)
            self.odd_shown = "".join(filter(str.isprintable, self.odd_ascii))
            self._ascii = bytes(table)
        return self._ascii


@dataclass(frozen=True, slots=True)
class Folded:
    """Folded text, and where its characters came from.

    `starts[k]` and `froms[k]` are the folded and the original offset of the same place, at
    the edges of every piece that was folded as a whole; from there on both count in step if
    `in_step[k]`. All are empty when each character became one character.
    """

    text: str
    starts: tuple[int, ...] = ()
    froms: tuple[int, ...] = ()
    in_step: tuple[bool, ...] = ()

    def origin(self, offset: int) -> int:
        """Original offset of a folded one: past what was dropped there, before what is split."""
        if not self.starts:
            return offset
        k = bisect_right(self.starts, offset) - 1
        return self.froms[k] + (offset - self.starts[k] if self.in_step[k] else 0)

    def end_origin(self, offset: int) -> int:
        """Original offset of the end of a match: before what was dropped, past what is split."""
        if not self.starts:
            return offset
        k = bisect_left(self.starts, offset)
        if k < len(self.starts) and self.starts[k] == offset:
            return self.froms[k]
        if self.in_step[k - 1]:
            return self.froms[k - 1] + offset - self.starts[k - 1]
        return self.froms[k]

    def position(self, offset: int) -> int:
        """Folded offset of an original one; inside a piece that was folded whole, its start."""
        if not self.starts:
            return offset
        k = bisect_right(self.froms, offset) - 1
        return self.starts[k] + (offset - self.froms[k] if self.in_step[k] else 0)


def fold_text(text: str, fold: Fold) -> Folded:
    """`text` as it is compared under `fold`."""
    table = fold.ascii()
    if text.isascii():
        plain = text.encode("ascii").translate(table).decode("ascii")
        asked = fold.odd_shown if text.isprintable() else fold.odd_ascii
        odd = {c for c in asked if c in text}
        return _with_pieces(text, plain, odd, fold) if odd else Folded(plain)
    plain = text.encode("utf-8", "surrogatepass").translate(table).decode("utf-8", "surrogatepass")
    met = beyond_ascii(text)
    changed = [c for c in sorted(met) if fold[ord(c)] != c]
    even = [c for c in changed if len(fold[ord(c)]) == 1]
    if len(even) <= _REPLACED_MAX:
        for c in even:
            plain = plain.replace(c, fold[ord(c)])
    else:
        plain = plain.translate({ord(c): fold[ord(c)] for c in even})
    odd = {c for c in changed if len(fold[ord(c)]) != 1}
    odd.update(c for c in fold.odd_ascii if c in text)
    signs = [c for c in sorted(met) if c in SIGNS]
    if signs and _can_be_respelled(text, signs):
        odd.update(signs)
    return _with_pieces(text, plain, odd, fold) if odd else Folded(plain)


@lru_cache(maxsize=8)
def beyond_ascii(text: str) -> frozenset[str]:
    """The characters of a text that aren't ASCII; a page is folded in several ways in a row."""
    return frozenset("".join(_NOT_ASCII.findall(text)))


def webkit_accepts(query: str, matched: str) -> bool:
    """Whether WebKit, having found `matched` equal to `query`, leaves it at that.

    A plain letter of the query stands for any accented one; an accented letter, or one of two
    letters written as a ligature, only for its like.
    """
    if query == matched or query.isascii():
        return True
    have = _elements(matched)
    for base, accent in _elements(query):
        other, other_accent = next(have, ("", ""))
        while base and not other and other_accent:
            other, other_accent = next(have, ("", ""))
        if other != base or not other_accent or accent not in (other_accent, _PLAIN):
            return False
    return not any(base for base, _ in have)


def _can_be_respelled(text: str, signs: list[str]) -> bool:
    """Whether some base and mark could be composed, or some marks reordered."""
    if any(SIGNS.get(c, "").endswith("c") for c in signs):
        return True
    return re.search(f"{_class(signs)}{{2}}", text) is not None


def _with_pieces(text: str, plain: str, odd: set[str], fold: Fold) -> Folded:
    """`plain`, in which all that keeps its length is folded, with the odd characters folded too.

    A run of marks is folded together with the letter before it.
    """
    out: list[str] = []
    starts, froms, in_step = [0], [0], [True]
    here = there = 0
    for match in re.compile(f"{_class(sorted(odd))}+").finditer(text):
        for start, end in _pieces(text, *match.span(), here):
            if end - start == 1:
                becomes = fold[ord(text[start])]
            else:
                becomes = _compose(text[start:end]).translate(fold)
            out += plain[here:start], becomes
            there += start - here
            if start != froms[-1]:
                starts.append(there)
                froms.append(start)
                in_step.append(False)
            in_step[-1] = False
            there += len(becomes)
            here = end
            starts.append(there)
            froms.append(here)
            in_step.append(True)
    out.append(plain[here:])
    return Folded("".join(out), tuple(starts), tuple(froms), tuple(in_step))


def _pieces(text: str, start: int, end: int, floor: int) -> Iterator[tuple[int, int]]:
    """Single characters of a stretch, and clusters of a character and the marks behind it."""
    # A mark behind the cut of a page has no letter to be folded with.
    based = start > floor and text[start] in SIGNS and text[start - 1] != "\x00"
    i = start - 1 if based else start
    while i < end:
        stop = i + 1
        while stop < end and text[stop] in SIGNS:
            stop += 1
        yield i, stop
        i = stop


def _class(characters: list[str]) -> str:
    return "[" + "".join(map(re.escape, characters)) + "]"


@lru_cache(maxsize=65536)
def _compose(cluster: str) -> str:
    """The one spelling of a base letter and its marks: composed as far as can be, case folded.

    Composing keeps the length of almost all text, decomposing that of almost none. Case is
    folded in between, since some letters are composed in one case only.
    """
    spelled = "".join(_reordered([_lower(d) for c in cluster for d in _decompose(c)]))
    for end in (3, 2):
        # Marks may stand behind a syllable.
        syllable = _compose_syllable(spelled[:end])
        if syllable:
            return syllable + spelled[end:]
    composed = _composed()
    for end in range(len(spelled), 1, -1):
        if spelled[:end] in composed:
            return composed[spelled[:end]] + spelled[end:]
    return spelled


def _lower(c: str) -> str:
    return c if c == _YPOGEGRAMMENI else CASE.get(c, c)


def _reordered(characters: list[str]) -> list[str]:
    """Every run of marks sorted by combining class, as normalisation does."""
    start = 0
    ranks = [int(SIGNS.get(c, "0").rstrip("c")) for c in characters]
    for i in range(len(characters) + 1):
        if i == len(characters) or not ranks[i]:
            order = sorted(range(start, i), key=ranks.__getitem__)
            characters[start:i] = [characters[k] for k in order]
            start = i + 1
    return characters


@cache
def _composed() -> dict[str, str]:
    """Characters by their decomposition; the first of those that share one."""
    found: dict[str, str] = {}
    for block in fold_tables.DECOMPOSED:
        for c, apart in DECOMPOSED.block(block).items():
            if len(apart) > 1:
                found.setdefault(apart, c)
    return found


def _decompose(c: str) -> str:
    if not "\uac00" <= c <= "\ud7a3":
        return DECOMPOSED.get(c, c)
    index = ord(c) - 0xAC00
    lead, vowel, tail = index // 588, index // 28 % 21, index % 28
    return chr(0x1100 + lead) + chr(0x1161 + vowel) + (chr(0x11A7 + tail) if tail else "")


def _compose_syllable(jamo: str) -> str:
    """One Hangul syllable, if that is all that `jamo` spells."""
    if len(jamo) not in (2, 3):
        return ""
    lead, vowel = ord(jamo[0]) - 0x1100, ord(jamo[1]) - 0x1161
    tail = ord(jamo[2]) - 0x11A7 if len(jamo) == 3 else 0
    if 0 <= lead < 19 and 0 <= vowel < 21 and (len(jamo) == 2 or 0 < tail < 28):
        return chr(0xAC00 + lead * 588 + vowel * 28 + tail)
    return ""


def _strict(c: str) -> str:
    if c in _INVISIBLE:
        return ""
    composed = _compose(c)
    return _STRICT_QUOTES.get(composed, composed)


def _chromium(c: str) -> str:
    return PRIMARY.get(c, c)


def _webkit(c: str) -> str:
    return QUOTES.get(c, "") or PRIMARY.get(c, c)


def _firefox(c: str) -> str:
    return BASES.get(c, "") if c in BASES else CASE.get(c, c)


def _wide(c: str) -> str:
    return "".join(WIDER.get(p, p) for p in _chromium(c))


# A weight of no accent.
_PLAIN = "0"


def _elements(text: str) -> Iterator[tuple[str, str]]:
    """Base and accent of each letter and mark, as WebKit's finder sees them."""
    for c in _reordered(list("".join(map(_decompose, text)))):
        bases = iter(WEBKIT[ord(c)])
        accents = "" if c in QUOTES else ACCENTS.get(c, "")
        if not accents:
            yield from ((base, _PLAIN) for base in bases)
        else:
            for accent in accents.split("."):
                yield ("" if accent[0] == "m" else next(bases, ""), accent)


def _text(codes: str) -> str:
    return "".join(chr(int(code, 16)) for code in codes.split(".")) if codes else ""


CASE = Table(fold_tables.CASE, coded=True)
DECOMPOSED = Table(fold_tables.DECOMPOSED, coded=True)
SIGNS = Table(fold_tables.SIGNS, coded=False)
PRIMARY = Table(fold_tables.PRIMARY, coded=True)
ACCENTS = Table(fold_tables.SECONDARY, coded=False)
QUOTES = Table(fold_tables.WEBKIT, coded=True)
BASES = Table(fold_tables.FIREFOX, coded=True)
WIDER = Table(fold_tables.WIDE, coded=True)

STRICT = Fold("strict", _strict)
CHROMIUM = Fold("chromium", _chromium)
WEBKIT = Fold("webkit", _webkit)
FIREFOX = Fold("firefox", _firefox)
WIDE = Fold("wide", _wide)
