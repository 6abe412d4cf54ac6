"""Tells of an offset whether a browser lets a text fragment begin or end there."""

from __future__ import annotations

import itertools
import string
from typing import Literal

from exactquote.rendered import fold_tables
from exactquote.rendered.folds import Table
from exactquote.rendered.graphemes import is_boundary

Browser = Literal["chromium", "firefox", "webkit"]
Inside = Literal["no", "some", "yes"]

BROWSERS: tuple[Browser, ...] = ("chromium", "firefox", "webkit")

_CLASSES = Table(fold_tables.WORD, coded=False)
_ASCII_WORD = frozenset(string.ascii_letters + string.digits + "_")
# Punctuation that can join what stands on both sides of it.
_ASCII_JOINERS = frozenset("'\".,:;")

# Pairs of ASCII characters between which no browser sees a word, whatever stands around them.
ASCII_EDGES = frozenset(
    a + b
    for a, b in itertools.product(map(chr, range(128)), repeat=2)
    if (a not in _ASCII_WORD or b not in _ASCII_WORD)
    and (
        not {a, b} & _ASCII_JOINERS
        # Where a sentence ends, mostly: punctuation joins only what stands on both sides of
        # it, but for an apostrophe, which Hebrew letters keep.
        or (a not in _ASCII_WORD and b not in _ASCII_WORD and "'" not in (a, b))
    )
    and a + b != "\r\n"
)

_LETTERS = frozenset(("LE", "HL"))
_WORD = frozenset(("LE", "HL", "NU", "EX"))
_LOOKED_THROUGH = frozenset(("Extend", "FO", "ZWJ"))
_ZERO_WIDTH_SPACE = "\u200b"
# Between two letters, and between two digits, these make one word in UAX 29.
_MID_LETTER = frozenset(("ML", "MB", "SQ"))
_MID_NUMBER = frozenset(("MN", "MB", "SQ"))
# Chromium counts the full stop among those between digits only, so that a host name falls
# into its labels.
_STOPS = frozenset(".．")
# In Swedish a colon joins letters; versions of the data differ in whether it does elsewhere.
_COLONS = frozenset(":\ufe55：")


def inside_word(text: str, i: int) -> Inside:
    """Whether `i` is inside a word: "yes" in every browser, "no" in none, "some" otherwise.

    "some" is said too where a browser cuts by a dictionary that we don't have. `text` is one
    run; its two ends are edges everywhere.
    """
    pair = text[i - 1 : i + 1]
    if pair in ASCII_EDGES:
        return "no"
    if 0 < i < len(text) and pair[0] in _ASCII_WORD and pair[1] in _ASCII_WORD:
        return "yes"
    joint = _joint(text, i)
    if joint is None:
        return "no"
    found = {_in_browser(joint, browser) for browser in BROWSERS}
    return found.pop() if len(found) == 1 else "some"


def edge(text: str, i: int, browser: Browser) -> Inside:
    """Whether `i` is inside a word for one browser; "some" where that can't be foretold."""
    if text[i - 1 : i + 1] in ASCII_EDGES:
        return "no"
    joint = _joint(text, i)
    return "no" if joint is None else _in_browser(joint, browser)


# What lies at an offset: nothing, a joint that all browsers or none can tell alike, or
# punctuation between letters or digits.
_Joint = Literal["yes", "some", "stop", "colon", "joiner"]


def _in_browser(joint: _Joint, browser: Browser) -> Inside:
    if joint == "yes" or joint == "some":
        return joint
    if browser == "firefox":
        # Firefox looks at the two characters beside the edge and no further.
        return "no"
    if joint == "colon":
        return "some"
    return "no" if joint == "stop" and browser == "chromium" else "yes"


def _joint(text: str, i: int) -> _Joint | None:
    if i <= 0 or i >= len(text):
        return None
    a, b = text[i - 1], text[i]
    if a.isascii() and b.isascii():
        if (a in _ASCII_WORD and b in _ASCII_WORD) or (a == "\r" and b == "\n"):
            return "yes"
        if a + b in ASCII_EDGES:
            return None
    elif not is_boundary(text, i):
        return "yes"
    left, right = _before(text, i), _after(text, i)
    if left < 0 or right == len(text):
        return None
    before, after = _class(text[left]), _class(text[right])
    if before in _WORD and after in _WORD:
        return "yes"
    if "New" in (before, after):
        return "some"
    if before in ("Dict", "SA") or after in ("Dict", "SA"):
        return _by_dictionary(before, after, text[left], text[right])
    if after in ("ML", "MB", "MN", "SQ", "DQ"):
        return _joined(before, text, right, _after(text, right + 1))
    if before in ("ML", "MB", "MN", "SQ", "DQ"):
        further = _before(text, left)
        outer = _class(text[further]) if further >= 0 else ""
        return _joined(outer, text, left, right) if outer != "HL" or after == "HL" else None
    return None


def _by_dictionary(before: str, after: str, left: str, right: str) -> _Joint | None:
    """Between two letters of which one at least is in a script written without spaces."""
    others = {before, after} - {"Dict"}
    if not others or ("SA" in others and others - {"SA"} <= _WORD):
        return "some"
    if "EX" in others or "\uac00" <= min(left, right) <= "\ud7a3":
        return "some"
    return None


def _joined(before: str, text: str, middle: int, right: int) -> _Joint | None:
    """What the punctuation at `middle` makes of `before` and of the character at `right`."""
    kind = _class(text[middle])
    after = _class(text[right]) if right < len(text) else ""
    if before == "HL" and kind == "SQ" and after != "HL":
        return "yes"
    if before in _LETTERS and after in _LETTERS and kind in _MID_LETTER:
        if text[middle] in _COLONS:
            return "colon"
        return "stop" if text[middle] in _STOPS else "joiner"
    if before == "NU" and after == "NU" and kind in _MID_NUMBER:
        return "joiner"
    if before == "HL" and after == "HL" and kind == "DQ":
        return "joiner"
    return None


def _before(text: str, i: int) -> int:
    """Index of the character before `i` that isn't looked through; -1 if there is none."""
    i -= 1
    while i >= 0 and _is_looked_through(text[i]):
        i -= 1
    return i


def _after(text: str, i: int) -> int:
    """Index of the first character from `i` on that isn't looked through."""
    while i < len(text) and _is_looked_through(text[i]):
        i += 1
    return i


def _is_looked_through(c: str) -> bool:
    return not c.isascii() and (_CLASSES.get(c, "") in _LOOKED_THROUGH or c == _ZERO_WIDTH_SPACE)


def in_words(c: str) -> bool:
    """Whether a character can be part of a word, as letters in squares and circles are."""
    return _class(c) in _WORD or _class(c) in ("Dict", "SA")


def is_new(c: str) -> bool:
    """Whether a character is younger than our tables, so that nothing is known of it."""
    return _class(c) == "New"


def _class(c: str) -> str:
    return _CLASSES.get(c, "")
