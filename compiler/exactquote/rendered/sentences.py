"""Cuts one run of text, such as a paragraph or a list item, into sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from exactquote.rendered import fold_tables
from exactquote.rendered.edges import inside_word
from exactquote.rendered.folds import CASE
from exactquote.rendered.graphemes import is_boundary

_SPACE = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_NOT_SPACE = re.compile(f"[^{_SPACE}]")
_SPACES = frozenset(re.findall(f"[{_SPACE}]", "".join(map(chr, range(0x3001)))))

# A sentence may end behind these where white space follows.
_STOPS = ".!?…‼‽⁇⁈⁉؟۔।॥։።᙮"
# And behind these wherever they stand.
_WIDE_STOPS = "。！？｡．"
# What stands right behind a stop and belongs to its sentence; a German closing quotation mark
# is an English opening one.
_CLOSERS = "\"'”’“‘»«›‹)]}）］｝〕】》〉」』｣"
_OPENERS = frozenset("\"'“”„‚‘’«»‹›([{（［｛〔【《〈「『｢¿¡")
_ENDING = "[{stops}]+[{closers}]*{more}(?:\\[[0-9]{{1,3}}\\])*"


def _candidate(stops: str = "", more: str = "") -> re.Pattern[str]:
    stops = re.escape(_STOPS + _WIDE_STOPS + stops)
    return re.compile(_ENDING.format(stops=stops, closers=re.escape(_CLOSERS), more=more))


_CANDIDATE = _candidate()
_CANDIDATE_IN = {
    "el": _candidate(stops=";\u037e"),
    # French sets its closing quotation mark apart.
    "fr": _candidate(more="(?:[ \xa0\u202f]»)?"),
}
_NESTS = re.compile("[()（）「」『』]")
_CHINESE_NESTS = re.compile("[()（）「」『』“”]")
_PAIRS = {"(": ")", "（": "）", "「": "」", "『": "』", "“": "”"}
# A sentence doesn't begin with one of these: what stands before them goes on.
_GOES_ON = frozenset(",;:-–—/|&=)]}，；：、）→…")
# What is said in quotes goes on with such a particle.
_QUOTED = re.compile("[」』”][とって的]")
_WORD_BEFORE = re.compile(f'[^{_SPACE}({{\\["“„‚‘«»‹›—–/-]+\\Z')
_LETTER_BEFORE = re.compile(f"(?:\\A|[{_SPACE}.(\"“„»‚'])([^\\W\\d_])\\.[{_SPACE}]?\\Z")
_FIRST_WORD = re.compile("([^\\W_]+)(?:['’][^\\W_]+)?(\\.)?")
# A name in code may begin a sentence in spite of its small first letter.
_CAMEL_CASE = re.compile("[a-z][a-z0-9]*[A-Z]")
# A picture behind the stop, such as an emoji, belongs to the sentence.
_PICTURE = "[\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\ufe0f\u200d\u20e3]"
_PICTURES = re.compile(f"(?:[{_SPACE}]*{_PICTURE}+(?![^{_SPACE}]))+")
_WIDE_PICTURES = re.compile(f"[{_SPACE}]*{_PICTURE}+")
_STRAIGHT_QUOTES = "\"'"
_LIST_MARK = re.compile("[(\\[]?(?:[0-9]{1,3}(?:\\.[0-9]{1,3})*|[A-Za-z]|[ivxIVX]{1,5})\\Z")
# How far back a word before a stop is looked for; no abbreviation is longer.
_WORD_CHARS_MAX = 24


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Abbreviations in lower case, without their last stop. After these the sentence goes on.
_GO_ON = {
    "": "e.g i.e eg ie cf vs viz approx ca dr mr mrs ms prof st sr mt gen capt lt sgt rev messrs"
    " mme mlle fig figs dept univ incl excl ph.d",
    "de": "z.b d.h u.a i.d.r i.a bzw bspw vgl evtl ggf ggfs sog z.t z.zt o.g u.u s.o s.u v.a m.a.w"
    " d.i nr abb abschn kap anm aufl hrsg hr fr frl dipl ing geb gest inkl exkl zzgl max min mind"
    " etwa allg insb insbes entspr urspr verh gem lt lfd engl dt frz lat griech hl ev bes zzt"
    " nachf betr bez",
    "fr": "p.ex c.-à-d av m mm mme mlle env éd chap",
    "es": "p.ej sr sra srta dra ud uds pág págs núm ee.uu",
    "it": "es p.es sig sig.ra dott pag",
    "nl": "bijv d.w.z o.a m.b.t i.p.v z.g dhr mevr nr blz",
    "pt": "p.ex sr sra dra pág",
    "ru": "т.е т.д т.п т.к напр др см рис г гг стр им",
    "pl": "np tzn tj m.in nr ul św",
}
# After these it goes on where a figure follows: "No. 5", but "No. I won't."
_BEFORE_FIGURES = _words(
    "no nos nr p pp s vol vols sec secs ch chap para pt art abs bd tab table tbl v vers ver ex col"
    " ln l n pos zeile z rz § §§ núm pág č eq eqs ref refs tel ext max min est jan feb mar mär apr"
    " jun jul aug sep sept okt oct nov dez dec"
)
# These end a sentence only where a new one can be told from its first word.
_MAY_END = _words(
    "etc inc ltd co corp jr bros al ff f u.s u.k u.n e.u u.s.a d.c a.m p.m b.c a.d usw u.v.m"
    " o.ä u.ä u.dgl o.dgl u.ä.m i.d.f u.s.w jh jhd mio mrd tsd ft"
)
_STARTERS = _words(
    "the this that these those there then they it its he she we you i a an in on at if when while"
    " for from as but and so or however after before because although since with without to by my"
    " our his her their your what why how who where which all some many most each every both no"
    " not now here let please see use once until unless despite another such one also"
    " therefore instead thus hence finally similarly otherwise don can to"
    " der die das ein eine einen einem einer es er sie wir ihr ich man in im am an auf aus bei"
    " mit nach von vor zu zum zur für über unter wenn weil da dies diese dieser dieses diesem"
    " diesen aber und oder doch so dann danach dabei damit daher deshalb jedoch auch alle jede"
    " jeder jedes kein keine nicht nur wer wie was wo wann warum hier dort sein seine ihre unser"
    " unsere beim ob als bis seit während trotz sobald solange anschließend außerdem"
    " le la les un une il elle nous vous ils on ce cette el los las una lo si en"
)
# In these, a figure with a stop is an ordinal.
_ORDINALS = _words("de da nb nn no fi et lv cs sk pl hu hr sl sr bs is tr lb")


def sentences(text: str, language: str) -> list[tuple[int, int]]:
    """Start and end of each sentence of a run of text, without the white space around it.

    `language` is a BCP 47 tag; it decides which abbreviations are known and whether a figure
    with a stop is an ordinal.
    """
    found: list[tuple[int, int]] = []
    start = _skip_space(text, 0)
    if start == len(text):
        return found
    start = _whole_character(text, start)
    tongue = language.replace("_", "-").partition("-")[0].lower()
    nests = _Nests(text, _CHINESE_NESTS if tongue in ("zh", "ja") else _NESTS)
    for match in _CANDIDATE_IN.get(tongue, _CANDIDATE).finditer(text, start):
        end = _end_of_candidate(text, match, start)
        following = _skip_space(text, end)
        if following == len(text):
            break
        if _ends(text, match, (start, end, following), tongue) and not nests.hold(
            start, end, following
        ):
            found.append((start, end))
            start = following
    found.append((start, _end_of_text(text)))
    return found


def _skip_space(text: str, i: int) -> int:
    match = _NOT_SPACE.search(text, i)
    return match.start() if match else len(text)


def _end_of_text(text: str) -> int:
    end = len(text)
    while text[end - 1] in _SPACES:
        end -= 1
    return end


def _whole_character(text: str, i: int) -> int:
    """The start of the visible character at `i`: a mark may have white space as its base."""
    while not is_boundary(text, i):
        i -= 1
    return i


class _Nests:
    """Brackets and Japanese quotation marks of a text, which a sentence isn't cut inside of."""

    __slots__ = ("_next", "_outer", "_text")

    def __init__(self, text: str, marks: re.Pattern[str]) -> None:
        self._outer = list(_outermost(text, marks))
        self._next = 0
        self._text = text

    def hold(self, start: int, end: int, following: int) -> bool:
        """Whether `end` is inside brackets that were opened inside the sentence from `start`.

        Round brackets that close there, with no space behind, are still inside the sentence.
        Asked with rising ends only.
        """
        outer = self._outer
        while self._next < len(outer) and outer[self._next][1] + 1 < end:
            self._next += 1
        if self._next == len(outer):
            return False
        opened, closed = outer[self._next]
        if closed + 1 == end:
            return start < opened and following == end and self._text[closed] in ")）"
        return start < opened < end


def _outermost(text: str, marks: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """First and last offset of each outermost pair of brackets; what isn't paired is skipped."""
    stack: list[tuple[str, int]] = []
    pairs: list[tuple[int, int]] = []
    for match in marks.finditer(text):
        mark = match[0]
        if mark in _PAIRS:
            stack.append((_PAIRS[mark], match.start()))
        elif stack and any(closer == mark for closer, _ in stack[-4:]):
            while stack[-1][0] != mark:
                stack.pop()
            pairs.append((stack.pop()[1], match.start()))
    last = len(text)
    outer: list[tuple[int, int]] = []
    for opened, closed in reversed(pairs):
        if opened < last:
            outer.append((opened, closed))
            last = opened
    return reversed(outer)


def _end_of_candidate(text: str, match: re.Match[str], start: int) -> int:
    """End of a stop with what closes and adorns it.

    Behind a stop without white space, a straight quotation mark opens what follows unless one
    is open already.
    """
    end = match.end()
    is_wide = match[0][0] in _WIDE_STOPS
    pictures = (_WIDE_PICTURES if is_wide else _PICTURES).match(text, end)
    # Where pictures come first, each belongs to what follows it.
    if pictures and not _WIDE_PICTURES.match(text, start):
        return pictures.end()
    if end < len(text) and text[end] not in _SPACES and is_wide:
        last = text[end - 1]
        if last in _STRAIGHT_QUOTES and text.count(last, start, match.start()) % 2 == 0:
            return end - 1
    return end


def _ends(text: str, match: re.Match[str], places: tuple[int, int, int], tongue: str) -> bool:
    """Whether a sentence ends with this stop; `places` are its start, end and what follows."""
    start, end, following = places
    is_wide = any(stop in match[0] for stop in _WIDE_STOPS)
    if not is_boundary(text, end) or not is_boundary(text, following):
        return False
    if following == end:
        if is_wide:
            return _wide_stop_ends(text, match.span(), start, end)
        # Without white space a sentence ends only before a script that has none.
        return match[0][0] in "!?" and _is_ideographic(text[end]) and _may_begin(text, end)
    if text[following] in _GOES_ON:
        return False
    is_plain = match[0][0] == "." and match[0][:2] != ".."
    first = _first_letter(text, following)
    if first < len(text) and _is_lower(text[first]):
        return (
            is_plain
            and _CAMEL_CASE.match(text, first) is not None
            and _full_stop_ends(text, match.start(), start, first, tongue)
        )
    return not is_plain or _full_stop_ends(text, match.start(), start, first, tongue)


def _wide_stop_ends(text: str, stop: tuple[int, int], start: int, end: int) -> bool:
    """Whether a sentence ends at a stop of a script without spaces, with no space behind."""
    if text[stop[0]] == "．" and (
        not _is_ideographic(text[end]) or _LIST_MARK.match(text, start, stop[0])
    ):
        return False
    return _may_begin(text, end) and not _QUOTED.match(text, end - 1)


def _may_begin(text: str, i: int) -> bool:
    return text[i] not in _GOES_ON and inside_word(text, i) != "yes"


def _full_stop_ends(text: str, stop: int, start: int, first: int, tongue: str) -> bool:
    """Whether the full stop at `stop` is no mark of an abbreviation, initial or ordinal.

    `first` is where the next word begins.
    """
    found = _WORD_BEFORE.search(text, max(start, stop - _WORD_CHARS_MAX), stop)
    if not found:
        return True
    word = found[0].lstrip("'’")
    at = stop - len(word)
    if _LIST_MARK.match(text, start, stop):
        return False
    lowered = word.lower()
    if lowered in _going_on(tongue) or _with_letter(text, at, lowered) in _going_on(tongue):
        return False
    first_word = _FIRST_WORD.match(text, first)
    begins = (
        first_word is not None
        and first_word[1].lower() in _STARTERS
        # "J. A. Miller" has no sentence that begins with "A".
        and not first_word[2]
    )
    if lowered in _BEFORE_FIGURES and text[first : first + 1].isdecimal():
        return False
    if lowered in _MAY_END or _is_spelled_out(word):
        return begins
    if len(word) == 1 and word.isalpha() and text[at - 1 : at] not in ("-", "/"):
        return begins or (word == "I" and tongue == "en")
    if word.isdecimal() and len(word) <= 3 and tongue in _ORDINALS:
        return begins
    return True


def _with_letter(text: str, at: int, word: str) -> str:
    """A word with the single letter and stop before it, as of an abbreviation like "z. B."."""
    before = _LETTER_BEFORE.search(text, max(0, at - 4), at)
    return f"{before[1].lower()}.{word}" if before else ""


def _is_spelled_out(word: str) -> bool:
    """Whether a word is letters with stops between them, like "U.S" or "N.A.T.O"."""
    parts = word.split(".")
    return len(parts) > 1 and all(len(part) == 1 and part.isalpha() for part in parts)


def _first_letter(text: str, i: int) -> int:
    """Where a sentence at `i` has its first character behind opening marks."""
    for k in range(i, min(i + 6, len(text))):
        if text[k] not in _OPENERS:
            return k
    return i


def _is_ideographic(c: str) -> bool:
    return "\u2e80" <= c <= "\uffef" or "\U00020000" <= c <= "\U0003ffff"


def _is_lower(c: str) -> bool:
    if c.isascii():
        return c.islower()
    return c in _lower_letters()


@cache
def _lower_letters() -> frozenset[str]:
    """What capitals fold to, by our own table: Python's versions differ."""
    blocks = (CASE.block(number).values() for number in fold_tables.CASE)
    return frozenset(c for block in blocks for c in block)


@cache
def _going_on(tongue: str) -> frozenset[str]:
    return _words(_GO_ON[""]) | _words(_GO_ON.get(tongue, ""))
