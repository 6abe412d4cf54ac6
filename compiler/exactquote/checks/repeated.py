"""EQ004: the passage is on the page more than once and nothing says which one is meant."""

from __future__ import annotations

import re

from exactquote.checks.pins import subject
from exactquote.checks.site import Site, shown
from exactquote.codes import fault
from exactquote.deeplink.generate import NoLink, deep_link
from exactquote.model import Diagnostic, Related, Span, Written
from exactquote.rendered.edges import inside_word
from exactquote.rendered.find import Occurrence, find
from exactquote.rendered.page import Kind, Page, once_per_page

_SHOWN_MAX = 5
_SPACE = re.compile(r"\s+")


def check(
    written: Written,
    page: Page,
    found: tuple[Occurrence, ...],
    every: tuple[Occurrence, ...],
    site: Site,
) -> Diagnostic | None:
    """A fault when the author's pins leave several, `found`, of all occurrences, `every`."""
    if len(found) < 2:
        return None
    cures = []
    numbered = [(every.index(place), place) for place in found[:_SHOWN_MAX]]
    for number, place in numbered:
        longer = extension(page, place, every)
        if longer is None:
            pinned = deep_link(page, Span(place.start, place.end))
            # Of a range this is its start alone, whose end makes the link another one.
            if written.quote_end or not isinstance(pinned, NoLink):
                cures.append(f"occurrence = {number}")
        else:
            cures.append(f"{shown(page.quote(longer.start, longer.end), 400)} occurs once")
    return fault(
        "EQ004",
        written.place,
        f"{subject(written)} occurs {len(found)} times on the page of {page.doc}",
        "; or ".join(dict.fromkeys(cures)) or "make one of the places different",
        tuple(
            Related(site.locate(page, Span(place.start, place.end)), f"occurrence {number}")
            for number, place in numbered
        ),
    )


def extension(page: Page, place: Occurrence, others: tuple[Occurrence, ...]) -> Span | None:
    """The shortest stretch around an occurrence, within its run, that occurs once.

    It grows forward if it can, since an author's quote rather ends late than begins early.
    """
    run = page.runs[page.run_at(place.start)]
    rivals = [other for other in others if other.start != place.start]
    text = _lowered(page)
    right = [place.end + _same(text, place.end, other.end, 1) for other in rivals]
    left = [place.start - _same(text, place.start, other.start, -1) for other in rivals]
    ends = [
        at
        for at in _edges(page, place.end, run.end)
        if at > max(right, default=0) and not text[at - 1].isspace()
    ]
    starts = [
        at
        for at in _edges(page, run.start, place.start)
        if at < min(left, default=0) and not text[at].isspace()
    ]
    spans = [Span(place.start, end) for end in ends[:1]]
    spans += [Span(start, place.end) for start in starts[-1:]]
    return next((s for s in spans if _once(page, page.text[s.start : s.end])), None)


@once_per_page
def _lowered(page: Page) -> str:
    """The page's text in lower case, offset by offset."""
    lower = page.text.lower()
    return lower if len(lower) == len(page.text) else page.text


def _same(text: str, at: int, other: int, step: int) -> int:
    """How many characters from two offsets on, in one direction, are the same."""
    count = 0
    at, other = (at, other) if step > 0 else (at - 1, other - 1)
    while 0 <= other < len(text) and 0 <= at < len(text) and text[at] == text[other]:
        at, other, count = at + step, other + step, count + 1
    return count


def _edges(page: Page, start: int, end: int) -> list[int]:
    """Offsets in the stretch at which a passage may begin or end."""
    text = page.text
    rims = {start, end}
    for match in _SPACE.finditer(text, start, end):
        rims.update((match.start(), match.end()))
    return sorted(at for at in rims if inside_word(text, at) == "no")


def _once(page: Page, text: str) -> bool:
    return sum(1 for place in find(page, text) if place.kind is Kind.TEXT) == 1
