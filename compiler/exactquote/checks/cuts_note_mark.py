"""EQ010: an edge of the passage touches a footnote mark, or the passage leaves one out."""

from __future__ import annotations

from exactquote.checks.site import Site, shown
from exactquote.codes import fault
from exactquote.model import Diagnostic, Related, Span, Written
from exactquote.rendered.edges import inside_word
from exactquote.rendered.find import Occurrence, find_past_marks
from exactquote.rendered.page import Page


def check_edges(written: Written, span: Span, page: Page) -> Diagnostic | None:
    """A fault when a mark without brackets is glued to the passage's last word."""
    for run in page.runs[page.run_at(span.start) : page.run_at(span.end - 1) + 1]:
        for start, end in run.marks:
            at = span.end if start == span.end else span.start if end == span.start else -1
            inside = start < span.end < end or start < span.start < end
            if inside or (at >= 0 and inside_word(page.text, at) != "no"):
                return fault(
                    "EQ010",
                    written.place,
                    "the passage has an edge at the footnote mark "
                    f"{shown(page.text[start:end])}, which is glued to its word",
                    "render the mark as [1], or quote so that the mark is inside or a word away",
                )
    return None


def check_left_out(written: Written, quote: str, page: Page, site: Site) -> Diagnostic | None:
    """A fault when the page has the passage with footnote marks in between."""
    for place in find_past_marks(page, quote, digits_only=False):
        text = page.quote(place.start, place.end)
        return fault(
            "EQ010",
            written.place,
            f"the page of {page.doc} has a footnote mark inside the passage",
            f"quote it with the mark: {shown(text, 600)}; or quote up to the mark",
            (Related(site.locate(page, _lead(page, place)), "the passage is here"),),
        )
    return None


def _lead(page: Page, place: Occurrence) -> Span:
    """As much of a place as its source has in one piece: up to its first footnote mark."""
    marks = page.runs[page.run_at(place.start)].marks
    ends = (start for start, _ in marks if place.start < start < place.end)
    return Span(place.start, min(ends, default=place.end))
