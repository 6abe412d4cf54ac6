"""Turns text into stretches that are words: each with the shape of its characters.

A shape has one class letter for each character, so that the rules of what a word is are
plain regular expressions over ASCII, whatever the script.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

# More marks than this on one letter are no writing; putting them in order takes quadratic
# time. The limit is that of the stream-safe format, UAX 15.
_MARKS_MAX = 30
_TOO_MANY_MARKS = re.compile(rf"(?<=m{{{_MARKS_MAX}}})m+")
# What is written with other characters in print than on a keyboard.
_AS_TYPED = str.maketrans(
    {"‘": "'", "’": "'", "ʼ": "'", "‐": "-", "‑": "-", "‒": "-", "–": " ", "—": " ", "−": "-"}
)
# A word, with the marks that its pieces may be joined by: `a_b`, `a.b`, `a::b`, `a-b`, `a'b`
# and `1,000`; before it the dashes of a flag, after it the marks of `c++` and `c#`. Repeats
# are bounded, so that a long line of underscores isn't searched from each of them again.
_WORD = re.compile(
    r"(?P<flag>(?<![^ ])--?(?=[aA]))?"
    r"(?P<word>_{0,2}[aA0][aA0m]*"
    r"(?:(?:_{1,2}|_{0,2}(?:\.|::|-|')_{0,2}|(?<=0),(?=000(?!0)))[aA0][aA0m]*)*_{0,2})"
    r"(?P<sign>\+\+(?![aA0+])|\#(?![aA0#]))?"
    r"|(?P<run>s[sm]*)"
)

# Scripts that put no spaces between words, or, like Hangul, write particles on to them.
_SPACELESS = (
    (0x0E01, 0x0EDF), (0x0F40, 0x0FBC), (0x1000, 0x109F), (0x1100, 0x11FF), (0x1780, 0x17D3),
    (0x1950, 0x19DF), (0x1A20, 0x1AAF), (0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3021, 0x3029),
    (0x3031, 0x3035), (0x3041, 0x30FF), (0x3105, 0x318F), (0x31A0, 0x31BF), (0x31F0, 0x31FF),
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA960, 0xA97F), (0xAA60, 0xAADF), (0xAC00, 0xD7FF),
    (0xF900, 0xFAFF), (0x1AFF0, 0x1B16F), (0x20000, 0x3FFFD),
)  # fmt: skip


class _Shapes(dict[int, str]):
    """The class letter of a code point, found when first asked for."""

    def __missing__(self, code: int) -> str:
        letter = self[code] = _class(code)
        return letter


def _class(code: int) -> str:
    c = chr(code)
    category = unicodedata.category(c)
    if category[0] == "M":
        return "m"
    if category[0] == "L" or category == "Nl":
        if any(first <= code <= last for first, last in _SPACELESS):
            return "s"
        return "A" if category in ("Lu", "Lt") else "a"
    if category == "Nd":
        return "0"
    return c if c in "_.:-',+#" else " "


_SHAPES = _Shapes()


def shape(text: str) -> str:
    """The class letter of each character.

    `A` capital, `a` other letter, `0` digit, `m` mark, `s` letter of a script without spaces;
    the marks that can join pieces of a word are themselves, and all else is a space.
    """
    return text.translate(_SHAPES)


def stretches(text: str) -> Iterator[tuple[str, str, str]]:
    """Every word of the text in order: the dashes before it, the word, the sign after it.

    A word keeps its case. A run of a script without spaces is one word.
    """
    text = as_typed(text)
    for match in _WORD.finditer(shape(text)):
        start, end = match.span("word") if match["word"] else match.span("run")
        yield match["flag"] or "", text[start:end], match["sign"] or ""


def as_typed(text: str) -> str:
    """The text in compatibility form (NFKC), without invisible characters.

    Typographic quotes and dashes are as on a keyboard, digits are ASCII.
    """
    if text.isascii():
        return text
    text = _few_marks(_visible(text))
    return _with_ascii_digits(unicodedata.normalize("NFKC", text).translate(_AS_TYPED))


def _visible(text: str) -> str:
    invisible = {ord(c): None for c in set(text) if unicodedata.category(c) == "Cf"}
    return text.translate(invisible) if invisible else text


def _few_marks(text: str) -> str:
    """The text with no more marks in a row than can be put in order quickly."""
    line = shape(text)
    if "m" * (_MARKS_MAX + 1) not in line:
        return text
    kept, done = [], 0
    for match in _TOO_MANY_MARKS.finditer(line):
        kept.append(text[done : match.start()])
        done = match.end()
    return "".join(kept) + text[done:]


def _with_ascii_digits(text: str) -> str:
    digits = {
        ord(c): str(unicodedata.decimal(c))
        for c in set(text)
        if not c.isascii() and unicodedata.category(c) == "Nd"
    }
    return text.translate(digits) if digits else text
