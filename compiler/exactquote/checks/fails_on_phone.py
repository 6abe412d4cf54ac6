"""EQ041: on a phone, what style sheets do there keeps a link from landing on its passage."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from exactquote.checks.site import shown
from exactquote.codes import fault
from exactquote.deeplink.directive import parse
from exactquote.deeplink.match import land, lands
from exactquote.model import Diagnostic, Place, Related, Span, Verdict
from exactquote.rendered.page import CUT, Kind, Page
from exactquote.rendered.style_media import PHONE_WIDTH

_CURE = (
    f"let windows of {PHONE_WIDTH} pixels show it too, with what stands beside it; or cite text"
    " that every screen shows"
)


def check(
    verdicts: Sequence[Verdict],
    pages: Mapping[str, Page],
    on_phone: Callable[[str], Page],
    locate: Callable[[Page, Span], Place],
) -> Iterator[Diagnostic]:
    """A warning for each bound citation whose link isn't proved to land on a phone too.

    `on_phone` reads the page of a document again as a phone shows it. It is asked once for
    each cited page of which style sheets make something else there.
    """
    read: dict[str, _Phone] = {}
    for verdict in verdicts:
        if verdict.link is None or verdict.span is None or not pages[verdict.doc].responsive:
            continue
        if verdict.doc not in read:
            read[verdict.doc] = _Phone.of(pages[verdict.doc], on_phone(verdict.doc))
        phone = read[verdict.doc]
        problem = _problem(phone.page, phone.there(verdict.span), verdict.link.directive)
        if problem:
            there = locate(pages[verdict.doc], verdict.span)
            related = (Related(there, "the passage is here"),)
            message = f"{problem}: {shown(verdict.quote or '')}"
            yield fault("EQ041", verdict.written.place, message, _CURE, related)


@dataclass(frozen=True, slots=True)
class _Phone:
    """A page on a phone; where its characters stand there, and where they do on a desktop."""

    page: Page
    places: list[int]
    desktop: list[int]

    @classmethod
    def of(cls, desktop: Page, phone: Page) -> _Phone:
        """Both pages have the same text in the same order, but for cuts and spaces."""
        return cls(phone, _places(phone.text), _places(desktop.text))

    def there(self, span: Span) -> Span:
        """The span of the same text on the phone's page."""
        first, last = (bisect_left(self.desktop, at) for at in (span.start, span.end))
        return Span(self.places[first], self.places[last - 1] + 1)


def _places(text: str) -> list[int]:
    """Where the characters stand that no style sheet takes away: all but cuts and spaces."""
    return [at for at, char in enumerate(text) if char != CUT and not char.isspace()]


def _problem(phone: Page, span: Span, fragment: str) -> str:
    """What a phone does with the link; "" when it lands on the span and nowhere else."""
    directive = parse(fragment)[1][0]
    if lands(phone, directive, span):
        return ""
    runs = phone.runs[phone.run_at(span.start) : phone.run_at(span.end - 1) + 1]
    hidden = [run.kind > Kind.CHROME for run in runs]
    if any(hidden):
        part = "the passage" if hidden[0] and hidden[-1] else "part of the passage"
        return f"on a phone a style sheet hides {part}"
    found = land(phone, directive, "any")
    if found is not None and found.span != span:
        other = phone.quote(found.span.start, found.span.end)
        return f"on a phone a browser may take {shown(other)} elsewhere for the passage"
    return (
        "on a phone a style sheet changes the passage or what stands beside it, so that not"
        " every browser is sure to find it"
    )
