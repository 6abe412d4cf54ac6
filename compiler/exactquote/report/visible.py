"""Turn text from a corpus into text that a terminal shows as it is."""

from __future__ import annotations

import unicodedata

_UNSEEN = frozenset(("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"))
# Without these, some scripts and emoji can't be written.
_JOINERS = frozenset("\u200c\u200d")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1b": "\\x1b"}


def visible(text: str) -> str:
    """`text` with all that isn't seen, such as control characters, written as escapes."""
    if text.isprintable():
        # What Python calls printable is neither a control nor a format character.
        return text
    return "".join(map(visible_character, text))


def visible_character(character: str) -> str:
    """One character, or its escape where it would not be seen for what it is."""
    if character.isprintable() or character in _JOINERS:
        return character
    if character in _SHORT:
        return _SHORT[character]
    if unicodedata.category(character) in _UNSEEN:
        number = ord(character)
        if number < 0x100:
            return f"\\x{number:02x}"
        return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
    return character


def width(character: str) -> int:
    """How many columns of a terminal a character takes; escapes are counted by letter."""
    if character.isascii():
        return 1
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    # The vowels and finals of Hangul syllables that are written apart join the initial.
    if "\u1160" <= character <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
