"""Turns a text into one that some browser, or some reader, might take for it, by seed.

Most look-alikes are computed from the whole of Unicode: whatever decomposes to a letter,
bears its name or its number. Only what no table says is written out, such as dashes.
"""

from __future__ import annotations

import random
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Callable
from functools import cache

from exactquote.rendered.folds import BASES, PRIMARY, WIDER

# Each line is a set of characters, or of short texts, that readers or finders mix up.
_SETS = {
    "dash": ["- ‐ ‑ ‒ – — ― − ﹣ － ⁃ ﹘ ۔ ー ｰ -- --- \u00ad- ‐-"],
    "quote": [
        "' ’ ‘ ‛ ʼ ʻ ` ´ ′ ＇ ׳ ʹ ‚ ‹ › ‵ ,",
        "\" “ ” „ ‟ « » ″ ＂ ״ 〝 〞 '' ’’ ❝ ❞ ‶",
    ],
    "ellipsis": ["… ... . . . ‥ .. ⋯ ︙ 。。。 . . ."],
    "sharp s": ["ß ss ẞ SS ſs ſſ s\u200ds", "s ſ S ß"],
    "turkish i": ["i ı I İ i\u0307 í ì l 1", "j ȷ J ĵ"],
    "sigma": ["σ ς Σ ϲ ϛ", "β ϐ Β ß", "θ ϑ Θ", "κ ϰ Κ K", "μ µ Μ", "й и и\u0306 Й", "ё е е\u0308"],
    "arabic": ["ا أ إ آ ٱ ﺍ ا\u0653", "ي ى ئ ی ﻱ ې", "ه ة ۀ ہ", "ك ک ﻙ", "و ؤ ۇ", "لا ﻻ ل\u0640ا"],
    "hebrew": ["ש שׁ שׂ שּ ש\u05c1 ש\u05bc", "כ ך", "מ ם", "נ ן", "ו וּ וֹ", "יי ײ ײַ", "א אָ ﬡ"],
    "thai": ["ำ \u0e4d\u0e32 ํา", "เเ แ", "น น\u0e48 น\u0e4c"],
    "han": [
        "車 车 車",
        "樂 樂 楽 乐",
        "一 ー — 丨 ⼀",
        "人 ⼈ 入",
        "見 见 ⾒",
        "龍 龙 竜",
        "々 仝 〃",
    ],
    "stop": [". 。 ． ｡ · ・ ․ 、 ,", ", ， 、 ‚ ﹐ ،", ": ： ﹕ ꞉ ː ∶", "! ！ ¡ ‼", "? ？ ¿ ؟"],
    "glued": ["& ＆ and", "% ％ ٪", "/ ⁄ ∕ ／", "@ ＠", "_ ＿ ‿", "* ＊ ∗ ×", "~ ～ 〜 ∼"],
}
_INVISIBLE = (
    "\u00ad \u200b \u200c \u200d \u200e \u200f \u2060 \ufeff \u034f \u061c \u2061 \u2066 \u2069"
    " \u180e \ufe0e \ufe0f \u0640 \U000e0041 \u206a \u3164 \u115f"
).split(" ")
_SPACES = (
    *"\u00a0 \u2009 \u202f \u3000 \u2003 \u205f \u1680 \u2028 \u0085 \u2007".split(" "),
    *("  ", "   ", "\n", "\t", " \n ", "\u00a0 ", " \u00a0", "\u00a0\u00a0", "\u200b ", " \u200b"),
    *("\u00ad ", " \u00ad", "\u2060 ", "\ufeff "),
)
# Sizes and voicings of kana, in both scripts and in half width, besides what is computed.
_SMALL = dict(zip("あいうえおつやゆよわかけアイウエオツヤユヨワカケ",
                  "ぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶ", strict=True))  # fmt: skip
_VOICED = ("\u3099", "\u309a", "\u309b", "\uff9e", "\uff9f", "ー", "ｰ")
_FIRST_KATAKANA, _KATAKANA_SHIFT = 0x30A1, 0x60
_JOINED_CHARS_MAX = 3
_LAST = sys.maxunicode
_MARKS_SHARE = 0.5

Kind = str
"""Names a way in which two texts look alike, such as "accent" or "dash"."""


def look_alike(rng: random.Random, text: str, changes: int = 1) -> tuple[str, frozenset[Kind]]:
    """`text` with up to so many places replaced, and the kinds of these replacements."""
    kinds = set()
    for _ in range(changes):
        kind = rng.choice(KINDS)
        changed = _WAYS[kind](rng, text)
        if changed is not None and changed != text:
            text = changed
            kinds.add(kind)
    return text, frozenset(kinds)


def strange_character(rng: random.Random) -> str:
    """Any character of Unicode that a page could show, the unassigned ones of letters too."""
    while True:
        plane = rng.choice((0, 0, 0, 1, 1, 2))
        c = chr(rng.randrange(0x80, 0x10000) if not plane else rng.randrange(0x10000, 0x1FC00))
        if plane == 2:
            c = chr(rng.choice((0x20000, 0xE0000, 0x2F800, 0xA640, 0x2C00)) + rng.randrange(0x200))
        if unicodedata.category(c) not in ("Cc", "Cs", "Co") and ord(c) & 0xFFFE != 0xFFFE:
            return c


def _by_set(name: str) -> Callable[[random.Random, str], str | None]:
    likes: dict[str, list[str]] = {}
    for line in _SETS[name]:
        members = line.split(" ")
        if name == "ellipsis":
            members += [". . ."]
        for member in members:
            likes.setdefault(member, []).extend(other for other in members if other != member)

    def change(rng: random.Random, text: str) -> str | None:
        present = [member for member in likes if member in text]
        if not present:
            return None
        one = rng.choice(present)
        return _replaced(rng, text, one, rng.choice(likes[one]))

    return change


def _by_table(table: Callable[[], dict[str, list[str]]]) -> Callable[..., str | None]:
    def change(rng: random.Random, text: str) -> str | None:
        likes = table()
        found = [
            text[at : at + size]
            for size in range(1, _JOINED_CHARS_MAX + 1)
            for at in range(len(text) - size + 1)
            if text[at : at + size] in likes
        ]
        if not found:
            return None
        # Longer ones are rare, and the more telling.
        one = rng.choice([*found, *[part for part in found if len(part) > 1] * 3])
        return _replaced(rng, text, one, rng.choice(likes[one]))

    return change


def _replaced(rng: random.Random, text: str, one: str, other: str) -> str:
    places = [at for at in range(len(text)) if text.startswith(one, at)]
    at = rng.choice(places)
    return text[:at] + other + text[at + len(one) :]


@cache
def _decomposed() -> dict[str, dict[str, list[str]]]:
    """By kind of decomposition: a text, and the characters that decompose to it."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for code in range(0xA0, _LAST + 1):
        c = chr(code)
        apart = unicodedata.decomposition(c)
        if not apart:
            continue
        tag = apart.partition(">")[0][1:] if apart[0] == "<" else ""
        whole = unicodedata.normalize("NFKD", c)
        if not tag:
            likes = found["accent"]
            likes[whole[0]].append(c)
            likes[c] += [unicodedata.normalize("NFD", c), whole[0]]
            continue
        if not whole.strip() or len(whole) > _JOINED_CHARS_MAX:
            continue
        kind = _TAGS.get(tag, "compatible")
        if kind == "compatible" and len(whole) > 1:
            kind = "ligature"
        found[kind][whole].append(c)
        found[kind][c].append(whole)
    return {kind: dict(likes) for kind, likes in found.items()}


_TAGS = {
    "wide": "width",
    "narrow": "width",
    "font": "letter of mathematics",
    "super": "raised",
    "sub": "raised",
    "circle": "circled",
    "square": "squared",
    "fraction": "fraction",
    "initial": "arabic form",
    "medial": "arabic form",
    "final": "arabic form",
    "isolated": "arabic form",
}


@cache
def _named() -> dict[str, list[str]]:
    """Letters whose names are the same but for size, "WITH STROKE" and the like."""
    groups: dict[str, list[str]] = defaultdict(list)
    for code in range(0x41, _LAST + 1):
        name = unicodedata.name(chr(code), "")
        if " LETTER " not in name or "CUNEIFORM" in name:
            continue
        bare = name.partition(" WITH ")[0].replace(" SMALL ", " ").replace(" CAPITAL ", " ")
        groups[bare].append(chr(code))
    return {c: [o for o in group if o != c] for group in groups.values() if len(group) > 1
            for c in group}  # fmt: skip


@cache
def _numbers() -> dict[str, list[str]]:
    groups: dict[float, list[str]] = defaultdict(list)
    for code in range(0x30, _LAST + 1):
        value = unicodedata.numeric(chr(code), -1)
        if value >= 0:
            groups[value].append(chr(code))
    return {c: [o for o in group if o != c] for group in groups.values() if len(group) > 1
            for c in group}  # fmt: skip


@cache
def _weighed() -> dict[str, list[str]]:
    """Characters that our own tables call equal: they must be right about these, too."""
    groups: dict[str, list[str]] = defaultdict(list)
    for table in (PRIMARY, BASES, WIDER):
        for number in range(0x200):
            for c, becomes in table.block(number).items():
                if becomes and c != "\0":
                    groups[becomes].append(c)
    return {c: [o for o in (*group, key) if o != c] for key, group in groups.items()
            for c in {*group, key}}  # fmt: skip


def _kana(rng: random.Random, text: str) -> str | None:
    places = [at for at, c in enumerate(text) if "\u3041" <= c <= "\u30fe"]
    if not places:
        return None
    at = rng.choice(places)
    c = text[at]
    forms = [c + rng.choice(_VOICED), _SMALL.get(c, c), unicodedata.normalize("NFD", c)]
    forms.append(unicodedata.normalize("NFD", c)[0])
    forms += [large for large, small in _SMALL.items() if small == c]
    if "\u3041" <= c <= "\u3096":
        forms.append(chr(ord(c) + _KATAKANA_SHIFT))
    elif _FIRST_KATAKANA <= ord(c) <= 0x30F6:
        forms.append(chr(ord(c) - _KATAKANA_SHIFT))
    forms += _decomposed()["width"].get(c, [])
    forms = [form for form in forms if form != c]
    return text[:at] + rng.choice(forms) + text[at + 1 :] if forms else None


def _case(rng: random.Random, text: str) -> str:
    way = rng.choice((str.upper, str.lower, str.title, str.swapcase, str.casefold, None))
    if way is not None:
        return way(text)
    at = rng.randrange(len(text)) if text else 0
    return text[:at] + text[at : at + 1].swapcase() + text[at + 1 :]


def _inserted(texts: Callable[[random.Random], str]) -> Callable[[random.Random, str], str]:
    def change(rng: random.Random, text: str) -> str:
        at = rng.randint(0, len(text))
        return text[:at] + texts(rng) + text[at:]

    return change


@cache
def _marks() -> list[str]:
    return [chr(code) for code in range(0x300, 0x1F000) if unicodedata.category(chr(code)) == "Mn"]


def _mark(rng: random.Random) -> str:
    return chr(rng.randrange(0x300, 0x370)) if rng.random() < _MARKS_SHARE else rng.choice(_marks())


def _spaced(rng: random.Random, text: str) -> str | None:
    if " " not in text:
        return None
    return _replaced(rng, text, " ", rng.choice(_SPACES))


def _strange(rng: random.Random, text: str) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + strange_character(rng) + text[at + rng.randint(0, 1) :]


def _left_out(rng: random.Random, text: str) -> str | None:
    """Without one character that is no plain letter: a mark, a joiner, a stop."""
    places = [at for at, c in enumerate(text) if not (c.isascii() and (c.isalnum() or c == " "))]
    if not places:
        return None
    at = rng.choice(places)
    return text[:at] + text[at + 1 :]


_WAYS: dict[Kind, Callable[[random.Random, str], str | None]] = {
    **{name: _by_set(name) for name in _SETS},
    **{
        kind: _by_table(lambda kind=kind: _decomposed()[kind])  # type: ignore[misc]
        for kind in sorted({"accent", "ligature", "compatible", *_TAGS.values()})
    },
    "name": _by_table(_named),
    "number": _by_table(_numbers),
    "weight": _by_table(_weighed),
    "kana": _kana,
    "case": _case,
    "mark": _inserted(_mark),
    "invisible": _inserted(lambda rng: rng.choice(_INVISIBLE)),
    "space": _spaced,
    "strange": _strange,
    "left out": _left_out,
}
KINDS: tuple[Kind, ...] = (
    *_WAYS,
    "accent",
    "weight",
    "name",
    "mark",
    "invisible",
    "case",
    "strange",
)
