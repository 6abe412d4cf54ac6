"""EQ004: the passage is on the page more than once and nothing says which one is meant."""

from __future__ import annotations

import re

from exactquote.checks.site import Site, shown
from exactquote.codes import fault
from exactquote.model import Diagnostic, Related, Span, Written
from exactquote.rendered.edges import inside_word
from exactquote.rendered.find import Occurrence, find
from exactquote.rendered.page import Kind, Page

_SHOWN_MAX = 5
_SPACE = re.compile(r"\s+")


def check(
    written: Written, page: Page, found: tuple[Occurrence, ...], site: Site
) -> Diagnostic | None:
    """A fault when more than one occurrence is left after the author's pins."""
    if len(found) < 2:
        return None
    cures = []
    for number, place in enumerate(found[:_SHOWN_MAX]):
        longer = extension(page, place)
        if longer is None:
            cures.append(f"occurrence = {number}")
        else:
            cures.append(f"{shown(page.quote(longer.start, longer.end), 400)} occurs once")
    return fault(
        "EQ004",
        written.place,
        f"the passage occurs {len(found)} times on the page of {page.doc}",
        "; or ".join(dict.fromkeys(cures)),
        tuple(
            Related(site.locate(page, Span(place.start, place.end)), f"occurrence {number}")
            for number, place in enumerate(found[:_SHOWN_MAX])
        ),
    )


def extension(page: Page, place: Occurrence) -> Span | None:
    """The shortest stretch around an occurrence, within its run, that occurs once."""
    run = page.runs[page.run_at(place.start)]
    ends = [place.end, *_edges(page, place.end, run.end)]
    starts = [place.start, *reversed(_edges(page, run.start, place.start))]
    candidates = sorted(
        (Span(start, end) for start in starts[:30] for end in ends[:30]),
        key=lambda span: (span.end - span.start, -span.start),
    )
    for span in candidates[1:]:
        text = page.text[span.start : span.end]
        if text == text.strip() and _once(page, text):
            return span
    return None


def _edges(page: Page, start: int, end: int) -> list[int]:
    """Offsets in the stretch at which a passage may begin or end."""
    text = page.text
    rims = {start, end}
    for match in _SPACE.finditer(text, start, end):
        rims.update((match.start(), match.end()))
    return sorted(at for at in rims if inside_word(text, at) == "no")


def _once(page: Page, text: str) -> bool:
    return sum(1 for place in find(page, text) if place.kind is Kind.TEXT) == 1
