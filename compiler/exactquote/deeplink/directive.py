"""Turn a text directive into the fragment of a URL, and back.

Grammar: `text=[prefix-,]start[,end][,-suffix]`, WICG Scroll-to-Text-Fragment, section 3.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, unquote

DELIMITER = ":~:"
# All bytes but ASCII letters, digits, `_`, `.` and `~`.
_ESCAPES = {code: f"%{code:02X}" for code in range(256) if not re.match(r"(?a)[\w.~]", chr(code))}
_RESERVED = re.compile(r"(?a)[^\w.~ %]")
_BAD_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class Directive:
    """What a browser is asked to find; `end` makes it a range. All parts are plain text."""

    start: str
    end: str = ""
    prefix: str = ""
    suffix: str = ""


def fragment(directive: Directive, anchor: str = "") -> str:
    """The fragment with its `#`: element id first, so that a browser that can't match lands near.

    Everything but unreserved characters is percent-encoded, and `-` too: the grammar reads
    a bare one as the mark of a prefix or suffix.
    """
    parts = []
    if directive.prefix:
        parts.append(encode(directive.prefix) + "-")
    parts.append(encode(directive.start))
    if directive.end:
        parts.append(encode(directive.end))
    if directive.suffix:
        parts.append("-" + encode(directive.suffix))
    return f"#{_identity(anchor)}{DELIMITER}text={','.join(parts)}"


@lru_cache(maxsize=256)
def _identity(anchor: str) -> str:
    """An element id as a URL has it, kept while what stands behind it is linked."""
    return quote(anchor, safe="")


def encode(text: str) -> str:
    """Percent-encode one part of a directive as UTF-8."""
    if not text.isascii():
        return text.encode().decode("latin-1").translate(_ESCAPES)
    # Few characters but the space to replace, each of them at once. That of the escapes first.
    encoded = text.replace("%", "%25") if "%" in text else text
    for c in set(_RESERVED.findall(text)):
        encoded = encoded.replace(c, _ESCAPES[ord(c)])
    return encoded.replace(" ", "%20")


def parse(fragment: str, browser: str = "") -> tuple[str, tuple[Directive, ...]]:
    """Element id and text directives of a fragment, in link order.

    Browsers disagree on a bare dash, percent sign or second delimiter inside a part; without
    a `browser` any of them makes a directive malformed. Bytes that are no UTF-8 always do.
    """
    identity, delimiter, directives = fragment.removeprefix("#").partition(DELIMITER)
    if not delimiter:
        return unquote(identity), ()
    if DELIMITER in directives and browser not in ("chromium", "webkit"):
        return unquote(identity), ()
    lenient = browser in ("firefox", "webkit")
    found = []
    for item in directives.split("&"):
        name, equals, value = item.partition("=")
        directive = _parse_text(value, lenient) if name == "text" and equals else None
        if directive is not None:
            found.append(directive)
    return unquote(identity), tuple(found)


def _parse_text(value: str, lenient: bool) -> Directive | None:
    parts = value.split(",")
    prefix = suffix = ""
    if len(parts) > 1 and parts[0].endswith("-"):
        prefix = parts.pop(0)[:-1]
        if not prefix:
            return None
    if len(parts) > 1 and parts[-1].startswith("-"):
        suffix = parts.pop()[1:]
        if not suffix:
            return None
    if len(parts) > 2 or not all(parts) or parts[0].startswith("-") or parts[-1].endswith("-"):
        return None
    every = (*parts, prefix, suffix)
    if not lenient and any("-" in part or _BAD_ESCAPE.search(part) for part in every):
        return None
    try:
        decoded = [unquote(part, errors="strict") for part in every]
    except UnicodeDecodeError:
        return None
    end = decoded[1] if len(parts) == 2 else ""
    return Directive(decoded[0], end, decoded[-2], decoded[-1])
