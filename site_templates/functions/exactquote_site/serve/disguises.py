"""Takes the disguise off what a model writes: what nobody sees, encodes or draws otherwise."""

from __future__ import annotations

import html
import re
import unicodedata
from urllib.parse import unquote

# Controls, and what Unicode calls default-ignorable: they could hide a token from the rules.
# Joiners and U+FE0F stay where scripts and emoji need them, which is not behind ASCII; there
# a mark over what is no letter or digit means nothing either.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff]"
)
MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_STRAY = re.compile(
    f"(?<=[\x00-/:-@\\[-`{{-\x7f])[{MARKS}\u200c\u200d\ufe0f]+|(?<=[\x00-\x7f])[\u200c\u200d\ufe0f]+"
)
_SIGNS = str.maketrans("。∕⁄⧸꞉∶ːаеорсухіјѕһԁ", ".///:::aeopcyxijshd")


def visible(text: str) -> str:
    """A text without characters that nobody sees and that could hide a token or a mark."""
    return _STRAY.sub("", _UNSEEN.sub("", text))


def readings(word: str) -> tuple[str, ...]:
    """The word itself, and as a browser, a program or an eye may read it, to be judged."""
    if word.isascii() and "%" not in word and "&" not in word:
        return (word,)
    return word, _folded(word), _folded(html.unescape(unquote(word)))


def _folded(word: str) -> str:
    plain = without_marks(unicodedata.normalize("NFKD", word))
    return visible(plain).translate(_SIGNS)


def without_marks(text: str) -> str:
    """A decomposed text without its accents and other combining marks."""
    return "".join(char for char in text if not unicodedata.category(char).startswith("M"))


def drawn_like(letter: str, doubles: str = "") -> str:
    """A pattern of a letter in all its widths and styles, with its doubles and under marks."""
    ranges = (range(0x80, 0x3000), range(0xFF00, 0xFFF0), range(0x1D400, 0x1D800))
    styles = (
        char
        for char in map(chr, (code for each in ranges for code in each))
        if unicodedata.normalize("NFKD", char).lower() == letter
    )
    chars = "".join((letter, letter.upper(), doubles, *styles))
    return f"[{re.escape(chars)}][{MARKS}]{{0,4}}"


def of_category(name: str) -> str:
    """All characters of a category of Unicode in its first plane, for use in a class."""
    chars = (char for char in map(chr, range(0x10000)) if unicodedata.category(char) == name)
    return re.escape("".join(chars))
