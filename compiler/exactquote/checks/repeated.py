"""EQ004: the passage is on the page more than once and nothing says which one is meant."""

from __future__ import annotations

import re
from collections.abc import Callable

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
    right = left = 0
    for other in rivals:
        right = _shared_on(text, place.end, other.end, run.end - place.end, right)
        left = _shared_back(text, place.start, other.start, place.start - run.start, left)
    ends = [
        at
        for at in _edges(page, place.end, run.end)
        if at > place.end + right and not text[at - 1].isspace()
    ]
    starts = [
        at
        for at in _edges(page, run.start, place.start)
        if at < place.start - left and not text[at].isspace()
    ]
    spans = [Span(place.start, end) for end in ends[:1]]
    spans += [Span(start, place.end) for start in starts[-1:]]
    return next((s for s in spans if _once(page, page.text[s.start : s.end])), None)


@once_per_page
def _lowered(page: Page) -> str:
    """The page's text in lower case, offset by offset."""
    lower = page.text.lower()
    return lower if len(lower) == len(page.text) else page.text


def _shared_on(text: str, at: int, other: int, most: int, least: int) -> int:
    """How many characters behind two offsets are the same, up to `most`; or `least`, if more."""
    return _longest(
        min(most, len(text) - other), least, lambda n: text[at : at + n] == text[other : other + n]
    )


def _shared_back(text: str, at: int, other: int, most: int, least: int) -> int:
    """The same of what stands before two offsets."""
    return _longest(min(most, other), least, lambda n: text[at - n : at] == text[other - n : other])


def _longest(most: int, least: int, same: Callable[[int], bool]) -> int:
    """The largest number from `least` to `most` for which `same` holds, as for all below it."""
    if least >= most or not same(least + 1):
        return least
    low, high = least + 1, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if same(middle) else (low, middle)
    return low


def _edges(page: Page, start: int, end: int) -> list[int]:
    """Offsets in the stretch at which a passage may begin or end."""
    text = page.text
    rims = {start, end}
    for match in _SPACE.finditer(text, start, end):
        rims.update((match.start(), match.end()))
    return sorted(at for at in rims if inside_word(text, at) == "no")


def _once(page: Page, text: str) -> bool:
    return sum(1 for place in find(page, text) if place.kind is Kind.TEXT) == 1
