"""Tells of an offset whether it lies between two visible characters or inside one."""

from __future__ import annotations

from exactquote.rendered import fold_tables
from exactquote.rendered.folds import Table

_CLASSES = Table(fold_tables.GRAPHEME, coded=False)
_CONJUNCTS = Table(fold_tables.CONJUNCT, coded=False)
# Below this, nothing joins but CR and LF.
_FIRST_JOINER = "\u0300"
_BREAKS = frozenset(("CR", "LF", "CN"))
_JOINED_TO_LEFT = frozenset(("EX", "SM", "ZWJ"))
# What may follow a piece of a Hangul syllable inside the syllable.
_HANGUL = {
    "L": frozenset(("L", "V", "LV", "LVT")),
    "LV": frozenset(("V", "T")),
    "V": frozenset(("V", "T")),
    "LVT": frozenset("T"),
    "T": frozenset("T"),
}


def is_boundary(text: str, i: int) -> bool:
    """Whether `text` may be cut at `i` without cutting an extended grapheme cluster.

    These are the rules of UAX 29 with conjuncts kept whole (GB9c). Both ends of the text are
    boundaries.
    """
    if i <= 0 or i >= len(text):
        return True
    left, right = text[i - 1], text[i]
    if left < _FIRST_JOINER and right < _FIRST_JOINER:
        return left != "\r" or right != "\n"
    before, after = _class(left), _class(right)
    if before in _BREAKS or after in _BREAKS:
        return not (before == "CR" and after == "LF")
    if after in _JOINED_TO_LEFT or before == "PP" or after in _HANGUL.get(before, ()):
        return False
    if before == "RI" and after == "RI":
        return not _splits_flag(text, i)
    if before == "ZWJ" and after == "X":
        return not _joins_pictures(text, i)
    return not _joins_consonants(text, i, right)


def _class(c: str) -> str:
    if "\uac00" <= c <= "\ud7a3":
        return "LVT" if (ord(c) - 0xAC00) % 28 else "LV"
    return _CLASSES.get(c, "")


def _splits_flag(text: str, i: int) -> bool:
    """Whether an odd number of regional indicators stands before `i`."""
    start = i
    while start and _class(text[start - 1]) == "RI":
        start -= 1
    return (i - start) % 2 == 1


def _joins_pictures(text: str, i: int) -> bool:
    """Whether the joiner before `i` has a pictograph on its left."""
    k = i - 2
    while k >= 0 and _class(text[k]) == "EX":
        k -= 1
    return k >= 0 and _class(text[k]) == "X"


def _joins_consonants(text: str, i: int, right: str) -> bool:
    """Whether a linker joins the consonant at `i` to one before it."""
    if _CONJUNCTS.get(right, "") != "C":
        return False
    k = i - 1
    linked = False
    while k >= 0 and _class(text[k]) in ("EX", "ZWJ"):
        linked = linked or _CONJUNCTS.get(text[k], "") == "L"
        k -= 1
    return linked and k >= 0 and _CONJUNCTS.get(text[k], "") == "C"
