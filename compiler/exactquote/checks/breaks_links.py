"""EQ036: a cited page has scripts that undo the links into it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from exactquote.codes import fault
from exactquote.model import Diagnostic, Place, Verdict
from exactquote.rendered.page import Page


def check(verdicts: Sequence[Verdict], pages: Mapping[str, Page]) -> Iterator[Diagnostic]:
    """A warning for each hazard of each page that is cited."""
    for doc in sorted({verdict.doc for verdict in verdicts if verdict.bound}):
        page = pages[doc]
        for hazard in page.hazards:
            yield fault(
                "EQ036",
                Place(page.path),
                hazard,
                "let links be plain <a href>, and leave address, scroll and text alone on load",
            )
