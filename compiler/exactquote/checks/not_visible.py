"""EQ007: the passage stands only in text that no reader sees or no browser can land on."""

from __future__ import annotations

from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser

from exactquote.checks.crosses_block import spanning
from exactquote.checks.site import Site
from exactquote.codes import fault
from exactquote.model import Diagnostic, Related, Span, Written
from exactquote.rendered.find import Occurrence, folded_quote, ready
from exactquote.rendered.folds import STRICT
from exactquote.rendered.page import Kind, Page

_WHERE = {
    Kind.CHROME: "the site's own frame, not the document",
    Kind.CONTROL: "a button",
    Kind.FOREIGN: "a drawing, formula, reading aid or custom element",
    Kind.CLIPPED: "text for screen readers only",
    Kind.ALT: "a picture's alternative text",
    Kind.VALUE: "a form field",
    Kind.LABEL: "the label of a button",
    Kind.HIDDEN: "a hidden element",
}
_CURE = "quote text that the page shows"


def check(
    written: Written, quote: str, page: Page, found: tuple[Occurrence, ...], site: Site
) -> Diagnostic | None:
    """A fault when the passage is on the page, but not where a reader could read it."""
    if found:
        place = found[0]
        return fault(
            "EQ007",
            written.place,
            f"the passage is only in {_WHERE[place.kind]} on the page of {page.doc}",
            _CURE,
            (Related(site.locate(page, Span(place.start, place.end)), "it is here"),),
        )
    partly = spanning(page, quote, frozenset(Kind))
    if partly is not None:
        return fault(
            "EQ007",
            written.place,
            f"part of the passage is hidden on the page of {page.doc}",
            "quote only what the page shows, up to the hidden text or from it on",
            (Related(site.locate(page, partly), "the passage begins here"),),
        )
    needle = folded_quote(quote, STRICT)
    if needle:
        for where, text in _unseen(page.html):
            if any(ready(text, STRICT).find(needle)):
                return fault(
                    "EQ007",
                    written.place,
                    f"the passage is only in {where} on the page of {page.doc}",
                    _CURE,
                )
    return None


def _unseen(html: str) -> Iterator[tuple[str, str]]:
    """Text of a page's source that is no text of the page, with where it stands."""
    tree = LexborHTMLParser(html)
    if tree.root is None:
        return
    for node in tree.root.traverse(include_text=False):
        tag = node.tag or ""
        if tag == "template":
            for piece in node.template_fragments():
                yield "a <template> element", piece.text()
        elif tag in ("script", "style", "noscript", "title"):
            yield f"a <{tag}> element", node.text() or node.inner_html or ""
        elif tag == "-comment":
            yield "a comment", node.comment_content or ""
        # Chips carry the quote as their accessible name; finding it there proves nothing.
        elif tag[:1] not in "-!" and node.attributes.get("class") != "eq-chip":
            for name, value in node.attributes.items():
                if value:
                    yield f"an attribute ({name} of <{tag}>)", value
