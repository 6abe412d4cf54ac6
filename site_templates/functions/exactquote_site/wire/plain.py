"""Tells whether a text is plain words: seen by a reader, and left alone by what shows answers.

Whatever a model writes is searched for addresses and tokens before it is shown. A sentence
that has to come out of that search as it went in may hold nothing that could be either. The
rule names what is allowed, so it is narrower than the search needs.
"""

from __future__ import annotations

import re
import unicodedata

# Format characters that are seen: signs that stand around figures in Arabic and its neighbours.
_SEEN = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd")
# What is no format character and yet is shown as nothing.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)
# Many scripts and emoji need these between their characters; behind ASCII they only hide.
_JOINERS = "\u200c\u200d\ufe0f"
_LINES = "\n\t"
# What writers of scripts from right to left need, and what reorders nothing but its neighbours.
_DIRECTIONS = "\u200e\u200f\u061c"
# Brackets, colons and slashes aren't among them: of these, tokens and addresses are made.
_MARKS = frozenset(" .,;!?'\"-&\u2018\u2019\u201a\u201c\u201d\u201e")
_MORE_MARKS = frozenset(
    "\u00a1\u00bf\u00b7\u2010\u2011\u2013\u2014\u2026"  # ¡ ¿ · hyphens and dashes …
    "\u060c\u061b\u061f\u06d4\u0964\u0965\u0f0b\u0f0d\u104a\u104b\u1362\u17d4\u17d5\u0589\u05be"
    "\u3001\u3002\u30fb\uff01\uff0c\uff1b\uff1f"
)
# Letters by their category, and colons to whoever looks at them.
_LETTERS_LIKE_MARKS = "\u02d0\u02d1\ua4fa\ua4fb\ua4fc\ua4fd"
# Scripts in which a sentence ends without a space behind it.
_UNSPACED = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]")
_HOST_BEGINS = re.compile(r"www|xn--", re.IGNORECASE)
# In an address any of these parts its labels.
_STOPS = ".\uff0e\u3002\uff61"


def is_blank(text: str) -> bool:
    """Whether a reader would see nothing of the text, though it may hold characters."""
    # Of private use and half a pair, something is shown in place of a glyph.
    return not any(
        unicodedata.category(character) in ("Co", "Cs")
        or (unicodedata.category(character)[0] in "LNSP" and not _BLANK.match(character))
        for character in text
    )


def hidden_fault(text: str) -> str:
    """Names the first character that a reader doesn't see, as in "U+202E"; "" without one."""
    for before, character in zip("\0" + text, text, strict=False):
        if (
            character in _LINES
            or character in _DIRECTIONS
            or (character in _JOINERS and before > "\x7f")
        ):
            continue
        hides = unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs")
        if (hides and character not in _SEEN) or _BLANK.match(character):
            return f"U+{ord(character):04X}"
    return ""


def plain_fault(text: str) -> str:
    """What in a text isn't plain words, as the end of "it holds …"; "" if all of it is."""
    if hidden := hidden_fault(text):
        return f"{hidden}, which nobody sees"
    # Browsers read full-width forms and their like as the plain ones.
    for form in (text, unicodedata.normalize("NFKC", text)):
        if host := _HOST_BEGINS.search(form):
            return f"{host[0]!r}, which could be part of an address"
        for before, character, behind in zip(f" {form}", form, f"{form[1:]} ", strict=False):
            if not _may_stand(character):
                return f"{character!r}, which could be part of a token or an address"
            if not _is_placed(before, character, behind):
                return f"{character!r} where no sentence has it, which could be an address"
    return ""


def _may_stand(character: str) -> bool:
    if character in _MARKS or character in _MORE_MARKS or character in _JOINERS:
        return True
    if character in _LETTERS_LIKE_MARKS:
        return False
    return unicodedata.category(character)[0] in "LMN" or _is_picture(character)


def _is_picture(character: str) -> bool:
    return ord(character) >= 0x2600 and unicodedata.category(character) in ("So", "Sk")


def _is_placed(before: str, mark: str, behind: str) -> bool:
    """Whether a stop stands as in a sentence, not as in the name of a host; an accent, on a letter.

    Any other character may stand anywhere.
    """
    if unicodedata.category(mark)[0] == "M" and mark not in _JOINERS:
        return unicodedata.category(before)[0] in "LMN"
    if mark not in _STOPS or not behind.isalnum():
        return True
    return (before.isdecimal() and behind.isdecimal()) or _UNSPACED.match(behind) is not None
