"""EQ006: the passage runs across a block, a cell, a line break or another cut of the page."""

from __future__ import annotations

from exactquote.checks.site import Site, shown
from exactquote.codes import fault
from exactquote.model import Diagnostic, Related, Span, Written
from exactquote.rendered.find import folded_quote, ready
from exactquote.rendered.folds import STRICT
from exactquote.rendered.page import CUT, Kind, Page

# Dropped by the strict fold: words on both sides of a cut become one, as `one<br>two` reads.
_NOTHING = "\u2060"
_CUTS = {
    "br": "a line break",
    "img": "a picture",
    "button": "a button",
    "svg": "a drawing",
    "math": "a formula",
    "ruby": "a reading aid",
    "input": "a form field",
    "embed": "an embedded element",
    "hidden": "hidden text",
    "float": "a floating element",
    "inline-block": "an inline block",
}


def check(written: Written, quote: str, page: Page, site: Site) -> Diagnostic | None:
    """A fault when the passage is there once cuts are read as spaces, or as nothing."""
    found = spanning(page, quote)
    if found is None:
        return None
    cut = page.text.index(CUT, found.start)
    joint = page.runs[page.run_at(cut - 1)].joint
    left = page.text[found.start : cut]
    right = page.text[cut + 1 : found.end].split(CUT)[0]
    tag = page.runs[page.run_at(cut + 1)].tag
    what = _CUTS.get(joint, f"the rim of a block (<{tag}>)")
    last = page.text[found.start : found.end].split(CUT)[-1]
    return fault(
        "EQ006",
        written.place,
        f"the passage crosses {what} between {shown(left[-40:])} and {shown(right[:40])}",
        f"quote one side of it, or cite a range: from {shown(left, 80)} to {shown(last, 80)}",
        (Related(site.locate(page, Span(found.start, cut)), "the passage begins here"),),
    )


def spanning(page: Page, quote: str) -> Span | None:
    """Where the quote stands when cuts are no obstacle; text that nobody sees is none."""
    needle = folded_quote(quote, STRICT)
    for joined in (" ", _NOTHING):
        for start, end in ready(page.text.replace(CUT, joined), STRICT).find(needle):
            kinds = {run.kind for run in page.runs if run.start < end and run.end > start}
            if CUT in page.text[start:end] and kinds <= {Kind.TEXT, Kind.CONTROL, Kind.FOREIGN}:
                return Span(start, end)
    return None
