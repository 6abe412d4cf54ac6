"""Parses a page as a browser with scripts on does."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser

# Lexbor reads `<noscript>` as a browser without scripts. What stands in it is text then that
# nobody sees, whatever it looks like; of what is raw text itself, no tag is one.
_UNSCRIPTED = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|\Z))"
    r"|<(script|style|textarea|title|xmp|iframe|noembed|noframes)\b[^>]{0,2000}>.*?(?:</\1[\s/>]|\Z)"
    r"|(?P<tag><noscript\b[^>]{0,2000}>)(?P<inside>.*?)(?=</noscript[\s/>]|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_NOSCRIPT = re.compile("<noscript", re.IGNORECASE)


def parse(html: str) -> LexborHTMLParser:
    """The tree of a page; nothing is left in its `<noscript>`."""
    return LexborHTMLParser(_UNSCRIPTED.sub(_emptied, html) if _NOSCRIPT.search(html) else html)


def _emptied(found: re.Match[str]) -> str:
    return found["tag"] if found["inside"] else found[0]
