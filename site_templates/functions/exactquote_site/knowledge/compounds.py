"""Splits a compound such as `Datenbankverbindung` into words that the corpus knows."""

from __future__ import annotations

from collections.abc import Container, Sequence

from exactquote_site.knowledge.stems import primary

# Languages that write compounds in one word, with the same few letters between the parts.
_CLOSED = frozenset(("de", "nl", "sv", "da", "nb", "nn", "no", "is", "fi", "et", "hu"))
PART_CHARS_MIN = 4
_LINKS = ("s", "n", "e", "es", "en", "er", "ens")
_ENDINGS = ("n", "s", "e", "en", "es", "er", "ern", "em")
# The longest word of a real text that is worth a search through all its cuts.
_CHARS_MAX = 48


def writes_compounds(language: str) -> bool:
    """Whether the language puts words together without a space or hyphen."""
    return primary(language) in _CLOSED


def parts(word: str, known: Container[str]) -> tuple[str, ...]:
    """The fewest known words that a case-folded word is made of; () where it is none.

    Letters that link parts, and the ending of the last, are cut off where only the rest is
    known. Of splits into equally many parts, the one with the longest first part is taken.
    """
    size = len(word)
    if not 2 * PART_CHARS_MIN <= size <= _CHARS_MAX or not word.isalpha():
        return ()
    # splits[i] is the best one of word[i:]; () where there is none.
    splits: list[tuple[str, ...]] = [()] * (size + 1)
    for start in range(size - PART_CHARS_MIN, -1, -1):
        last = _known(word[start:], known, _ENDINGS) if start else ""
        splits[start] = (last,) if last else _split(word, start, splits, known)
    return splits[0]


def _split(
    word: str, start: int, splits: Sequence[tuple[str, ...]], known: Container[str]
) -> tuple[str, ...]:
    """The best split of word[start:] into a known part and a rest that is split already."""
    best: tuple[str, ...] = ()
    for cut in range(len(word) - PART_CHARS_MIN, start + PART_CHARS_MIN - 1, -1):
        rest = splits[cut]
        if rest and (not best or len(rest) + 1 < len(best)):
            first = _known(word[start:cut], known, _LINKS)
            best = (first, *rest) if first else best
    return best


def _known(part: str, known: Container[str], endings: tuple[str, ...]) -> str:
    """The part itself or without an ending, whichever is known; else ""."""
    if part in known:
        return part
    for ending in endings:
        bare = part.removesuffix(ending)
        if len(bare) >= PART_CHARS_MIN and bare != part and bare in known:
            return bare
    return ""
