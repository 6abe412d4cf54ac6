"""Says whether a highlighted text is the quote."""

from __future__ import annotations

import unicodedata

# Soft hyphen, zero-width space, word joiner, byte-order mark: no browser matches or shows them.
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))


def same_text(highlighted: str, quote: str, *, pixels: bool) -> bool:
    """Whether both are the same characters, but for white space and invisible characters.

    Runs of white space count as one space, so a line end that stands for a block boundary
    equals the space that the quote has there. With `pixels`, the text was read off a picture,
    where the box of a narrow sign can lie under the paint of its neighbour: punctuation
    that either side has more of at its edges is then no difference.
    """
    found, wanted = _plain(highlighted), _plain(quote)
    if not pixels or found == wanted:
        return found == wanted
    return bool(core := _core(found)) and core == _core(wanted)


def bare(text: str) -> str:
    """The text without white space and invisible characters."""
    return "".join(text.translate(_INVISIBLE).split())


def _plain(text: str) -> str:
    return " ".join(text.translate(_INVISIBLE).split())


def _core(text: str) -> str:
    start, end = 0, len(text)
    while start < end and _is_punctuation(text[start]):
        start += 1
    while end > start and _is_punctuation(text[end - 1]):
        end -= 1
    return text[start:end]


def _is_punctuation(character: str) -> bool:
    return character.isspace() or unicodedata.category(character)[0] == "P"
