"""EQ041: on a phone, what style sheets do there keeps a link from landing on its passage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from exactquote.checks.site import shown
from exactquote.codes import fault
from exactquote.deeplink.directive import parse
from exactquote.deeplink.match import land, lands
from exactquote.model import Diagnostic, Span, Verdict
from exactquote.rendered.page import CUT, Kind, Page
from exactquote.rendered.style_media import PHONE_WIDTH

_CURE = (
    f"show the passage in a window of {PHONE_WIDTH} pixels too, with what stands beside it,"
    " or cite one that every screen shows"
)


def check(
    verdicts: Sequence[Verdict], pages: Mapping[str, Page], on_phone: Callable[[str], Page]
) -> Iterator[Diagnostic]:
    """A warning for each bound citation whose link isn't proved to land on a phone too.

    `on_phone` reads the page of a document again as a phone shows it. It is asked once for
    each cited page of which style sheets make something else there.
    """
    seen: dict[str, tuple[Page, list[int]]] = {}
    for verdict in verdicts:
        if verdict.link is None or verdict.span is None or not pages[verdict.doc].responsive:
            continue
        if verdict.doc not in seen:
            phone = on_phone(verdict.doc)
            seen[verdict.doc] = (phone, _places(phone.text))
        phone, places = seen[verdict.doc]
        span = _there(pages[verdict.doc], verdict.span, places)
        problem = _problem(phone, span, verdict.link.directive)
        if problem:
            yield fault("EQ041", verdict.written.place, problem, _CURE)


def _places(text: str) -> list[int]:
    """Where the characters stand that no style sheet takes away: all but cuts and spaces."""
    return [at for at, char in enumerate(text) if char != CUT and not char.isspace()]


def _there(page: Page, span: Span, places: list[int]) -> Span:
    """The span of the same text on the phone's page: both pages have it in the same order."""
    before = len(_places(page.text[: span.start]))
    within = len(_places(page.text[span.start : span.end]))
    return Span(places[before], places[before + within - 1] + 1)


def _problem(phone: Page, span: Span, fragment: str) -> str:
    """What a phone does with the link; "" when it lands on the span and nowhere else."""
    directive = parse(fragment)[1][0]
    if lands(phone, directive, span):
        return ""
    runs = phone.runs[phone.run_at(span.start) : phone.run_at(span.end - 1) + 1]
    if any(run.kind > Kind.CHROME for run in runs):
        return "on a phone a style sheet hides the passage, so its link finds nothing"
    found = land(phone, directive, "any")
    if found is not None and found.span != span:
        other = phone.quote(found.span.start, found.span.end)
        return f"on a phone a browser may take other text for the passage: {shown(other)}"
    return (
        "on a phone a style sheet changes the passage or what stands beside it, so that not"
        " every browser is sure to find it"
    )
