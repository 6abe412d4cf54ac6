"""Turn the bytes of a file into text with LF line ends, or into the fault that prevents it."""

from __future__ import annotations

import codecs

from exactquote.codes import fault
from exactquote.model import Diagnostic, Place

# UTF-32 comes first, since its little-endian mark begins with that of UTF-16.
_OTHER_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_CURE = "save the file as UTF-8"


def decode(content: bytes, path: str) -> str | Diagnostic:
    """Decode a UTF-8 file: its byte-order mark goes, CRLF and CR become LF."""
    for mark, encoding in _OTHER_MARKS:
        if content.startswith(mark):
            return fault("EQ024", Place(path), f"the file is {encoding}, not UTF-8", _CURE)
    try:
        text = content.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        return _invalid(content, path, error)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    nul = text.find("\0")
    if nul >= 0:
        return fault(
            "EQ024",
            _place(path, text[:nul]),
            "the file holds a NUL character, so it is no text",
            "remove the character; if the file is UTF-16 without a mark, save it as UTF-8",
        )
    return text


def _invalid(content: bytes, path: str, error: UnicodeDecodeError) -> Diagnostic:
    mark = len(content) - len(content.removeprefix(codecs.BOM_UTF8))
    offset = mark + error.start
    before = content[mark:offset].decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    return fault(
        "EQ024",
        _place(path, before),
        f"the file isn't UTF-8: byte 0x{content[offset]:02x} at offset {offset}",
        f"{_CURE}; it may be Latin-1 or Windows-1252 now",
    )


def _place(path: str, before: str) -> Place:
    return Place(path, before.count("\n") + 1, len(before) - before.rfind("\n"))
