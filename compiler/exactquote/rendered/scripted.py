"""Parses a page as a browser with scripts on does."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser

# Lexbor reads `<noscript>` as a browser without scripts. What stands in it is text then that
# nobody sees, whatever it looks like; of what is raw text itself, no tag is one.
_REST = r"""(?=[\s/>])(?:[^<>"']++|"[^"]{0,20000}+"|'[^']{0,20000}+')*+>"""
_UNSCRIPTED = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|\Z))"
    rf"|<(script|style|textarea|title|xmp|iframe|noembed|noframes){_REST}.*?(?:</\1[\s/>]|\Z)"
    rf"|(?P<tag><noscript{_REST})(?P<inside>.*?)(?=</noscript[\s/>]|\Z)"
    # What stands in the attributes of any other tag is no tag.
    rf"|</?[a-z][^\s/<>]*+{_REST}",
    re.IGNORECASE | re.DOTALL,
)
_NOSCRIPT = re.compile("<noscript", re.IGNORECASE)


def parse(html: str) -> LexborHTMLParser:
    """The tree of a page; nothing is left in its `<noscript>`."""
    return LexborHTMLParser(_UNSCRIPTED.sub(_emptied, html) if _NOSCRIPT.search(html) else html)


def _emptied(found: re.Match[str]) -> str:
    return found["tag"] or found[0]
