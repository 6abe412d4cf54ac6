"""Finds characters that reorder or hide text, which a reader of the page can't see."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from exactquote.codes import fault
from exactquote.model import Diagnostic, Place
from exactquote.settings import Settings

_FAULTS_MAX = 100
_ASCII = bytes(c for c in (*range(0x20), 0x7F) if c not in b"\t\n\r")
# A flag of a region is a black flag, tag characters and a cancel tag; those are meant.
_CONTROL = re.compile(
    "\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f|"
    "([\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f])"
)
_REFERENCE = re.compile("&#(?:[xX]([0-9a-fA-F]{1,6})|([0-9]{1,7}));")
_CURE = "remove it, or list the file under `hidden_controls`"


def hidden_controls(text: str, path: str, settings: Settings) -> tuple[Diagnostic, ...]:
    """A fault for each control character in a file, unless its path is listed as meaning them."""
    if not _any(text) or is_listed(path, settings):
        return ()
    faults: list[Diagnostic] = []
    line, start = 1, 0
    for found in _found(text):
        line += text.count("\n", start, found.start())
        start = found.start()
        if len(faults) == _FAULTS_MAX:
            break
        column = start - text.rfind("\n", 0, start)
        faults.append(_fault(found[1], Place(path, line, column)))
    return tuple(faults)


def referenced_controls(
    html: str, text: str, path: str, settings: Settings
) -> tuple[Diagnostic, ...]:
    """A fault for each control character that a character reference puts on the page."""
    if "&#" not in text or not _any(html) or is_listed(path, settings):
        return ()
    shown = {found[1] for found in _found(html)}
    faults: list[Diagnostic] = []
    for found in _REFERENCE.finditer(text):
        number = int(found[1], 16) if found[1] else int(found[2])
        char = chr(number) if number <= 0x10FFFF else ""
        if char in shown and len(faults) < _FAULTS_MAX:
            line = text.count("\n", 0, found.start()) + 1
            column = found.start() - text.rfind("\n", 0, found.start())
            faults.append(_fault(char, Place(path, line, column)))
    return tuple(faults)


def is_listed(path: str, settings: Settings) -> bool:
    """Whether a file's hidden characters are meant."""
    if not settings.hidden_controls:
        return False
    from fnmatch import fnmatchcase

    return any(fnmatchcase(path, glob) for glob in settings.hidden_controls)


def _any(text: str) -> bool:
    """Whether there is any; most text is ASCII, which is quick to tell."""
    if text.isascii():
        return len(text.encode().translate(None, _ASCII)) != len(text)
    return next(_found(text), None) is not None


def _found(text: str) -> Iterator[re.Match[str]]:
    return (found for found in _CONTROL.finditer(text) if found[1])


def _fault(char: str, place: Place) -> Diagnostic:
    name = unicodedata.name(char, "control character")
    return fault(
        "EQ029",
        place,
        f"U+{ord(char):04X} ({name.lower()}) reorders or hides text",
        _CURE,
    )
