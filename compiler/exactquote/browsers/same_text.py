"""Says whether a highlighted text is the quote."""

from __future__ import annotations

import unicodedata

# Soft hyphen, zero-width space, word joiner, byte-order mark: no browser matches or shows them.
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))


def same_text(highlighted: str, quote: str, *, pixels: bool) -> bool:
    """Whether both are the same characters, but for white space and invisible characters.

    Runs of white space count as one space, so a line end that stands for a block boundary
    equals the space that the quote has there. With `pixels`, the text was read off a picture,
    where a narrow sign next to the highlight can lie under its paint: punctuation that the
    highlight has too much of at its edges is then no difference.
    """
    found, wanted = _plain(highlighted), _plain(quote)
    if not pixels or found == wanted:
        return found == wanted
    at = found.find(wanted) if wanted else -1
    return at >= 0 and _is_punctuation(found[:at] + found[at + len(wanted) :])


def bare(text: str) -> str:
    """The text without white space and invisible characters."""
    return "".join(text.translate(_INVISIBLE).split())


def _plain(text: str) -> str:
    return " ".join(text.translate(_INVISIBLE).split())


def _is_punctuation(text: str) -> bool:
    return all(c.isspace() or unicodedata.category(c)[0] == "P" for c in text)
