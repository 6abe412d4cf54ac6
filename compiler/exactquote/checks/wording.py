"""EQ003: the page has the passage in other characters: dashes, ellipses, accents, widths."""

from __future__ import annotations

import unicodedata

from exactquote.checks.site import Site, shown
from exactquote.codes import fault
from exactquote.model import Diagnostic, Related, Span, Written
from exactquote.rendered.find import folded_quote, searched
from exactquote.rendered.folds import WIDE
from exactquote.rendered.page import Kind, Page


def check(written: Written, quote: str, page: Page, site: Site) -> Diagnostic | None:
    """A fault when the passage is there under the widest fold only."""
    for start, end in searched(page, WIDE).find(folded_quote(quote, WIDE)):
        if page.runs[page.run_at(start)].kind is not Kind.TEXT:
            continue
        text = page.quote(start, end)
        return fault(
            "EQ003",
            written.place,
            f"the page of {page.doc} has other characters there{_difference(quote, text)}",
            f"write it as the page does: {shown(text, 600)}",
            (Related(site.locate(page, Span(start, end)), "the page's own text is here"),),
        )
    return None


def _difference(quote: str, text: str) -> str:
    """The first pair of characters that differ."""
    mine = unicodedata.normalize("NFC", " ".join(quote.split()))
    theirs = unicodedata.normalize("NFC", " ".join(text.split()))
    for a, b in zip(mine, theirs, strict=False):
        if a.lower() != b.lower() and not (a in _QUOTES and b in _QUOTES):
            return f": {_named(b)} where the citation has {_named(a)}"
    return ""


_QUOTES = "\"'“”„‟‘’‚‛"


def _named(char: str) -> str:
    name = unicodedata.name(char, "")
    return f"“{char}” (U+{ord(char):04X}{' ' + name if name else ''})"
