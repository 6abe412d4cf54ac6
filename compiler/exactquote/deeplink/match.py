"""Find where a directive lands on a page, in one browser or in any.

The search follows WICG Scroll-to-Text-Fragment, section 3.6 ("find a range from a text
directive"): the first start in document order whose prefix, end and suffix fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from unicodedata import category

from exactquote.deeplink.directive import Directive
from exactquote.deeplink.query import (
    Query,
    back_over_blanks,
    is_part_searchable,
    on_over_blanks,
    parts_of,
    stands_first,
    surely_at,
)
from exactquote.deeplink.stumbles import stumbles
from exactquote.deeplink.views import BROWSERS, Name, View, view
from exactquote.model import Span
from exactquote.rendered.folds import WIDE
from exactquote.rendered.page import Kind, Page

_JOINERS = "\u200c\u200d"


@dataclass(frozen=True, slots=True)
class Landing:
    """Where a browser goes; not `sure` when browsers of its kind can't be predicted there."""

    span: Span
    sure: bool


def lands(page: Page, directive: Directive, span: Span) -> bool:
    """Whether the directive lands on exactly `span`, surely, in every supported browser.

    The widest view must agree too: there `span` must be the first match that any browser
    could make, so that a fold or a cut we don't know of can't move the landing. With that
    nothing before `span` can be a browser's first match, and each is asked from there on.
    """
    parts = parts_of(directive)
    if any(map(_has_unfit_rim, parts)):
        return False
    alone = len(parts) == 1 and is_part_searchable(directive.start)
    if not (alone and stands_first(view(page, "any"), directive.start, span)):
        widest = land(page, directive, "any")
        if widest is None or widest.span != span:
            return False
    if not _in_runs(page, directive, span) or not _has_its_context(page, directive, span):
        return False
    if page.styled_initials and _has_an_initial(page, directive, span):
        return False
    for name in BROWSERS:
        if alone and surely_at(view(page, name), directive.start, span):
            continue
        landing = next(landings(page, directive, name, since=span.start), None)
        if landing is None or not landing.sure or landing.span != span:
            return False
    return not stumbles(page, directive, span)


def _has_unfit_rim(part: str) -> bool:
    """Whether a part begins or ends with what some browser takes for a space, or skips.

    Neither does one begin with a mark, which belongs to the letter before, nor end with one
    that something invisible parts from its letter.
    """
    rims = part[0] + part[-1]
    if rims.isascii() and rims.isprintable():
        return " " in rims
    if category(part[0])[0] == "M":
        return True
    if category(part[-1]) in ("Mn", "Me"):
        letter = next((c for c in reversed(part) if category(c)[0] != "M"), "")
        if letter not in _JOINERS and category(letter) == "Cf":
            return True
    return any(WIDE[ord(c)] in ("", " ") and category(c)[0] != "M" for c in rims)


def _has_an_initial(page: Page, directive: Directive, span: Span) -> bool:
    """Whether the passage or its context is in a block whose first letter is styled.

    WebKit highlights one character too early there, and finds no context.
    """
    before, after = back_over_blanks(page.text, span.start), on_over_blanks(page.text, span.end)
    first = page.run_at(max(0, before - len(directive.prefix)))
    last = page.run_at(min(len(page.text), after + len(directive.suffix)) - 1)
    return any(run.initial for run in page.runs[first : last + 1])


def _in_runs(page: Page, directive: Directive, span: Span) -> bool:
    """Whether each part is the page's own text in one run: no fold, no cut is relied on."""
    first, last = page.runs[page.run_at(span.start)], page.runs[page.run_at(span.end - 1)]
    if not directive.end:
        text = page.text[span.start : span.end]
        return first is last and first.kind <= Kind.CHROME and text == directive.start
    between = page.runs[page.run_at(span.start) : page.run_at(span.end - 1) + 1]
    seen = all(run.kind in (Kind.TEXT, Kind.CHROME, Kind.ALT) for run in between)
    seen = seen and all(run.closed == first.closed for run in between)
    if not seen or any(run.joint not in ("block", "br", "img") for run in between[:-1]):
        # Browsers differ in what of other text, shown or not, their range holds.
        return False
    return (
        page.text.startswith(directive.start, span.start)
        and span.start + len(directive.start) <= first.end
        and page.text.endswith(directive.end, span.start, span.end)
        and span.end - len(directive.end) >= last.start
    )


def _has_its_context(page: Page, directive: Directive, span: Span) -> bool:
    """Whether prefix and suffix are the page's own text beside the span, letter for letter."""
    if not (directive.prefix or directive.suffix):
        return True
    before, after = back_over_blanks(page.text, span.start), on_over_blanks(page.text, span.end)
    return page.text.endswith(directive.prefix, 0, before) and page.text.startswith(
        directive.suffix, after
    )


def land(page: Page, directive: Directive, name: Name) -> Landing | None:
    """Where the browser `name` goes; None when it finds nothing."""
    for landing in landings(page, directive, name):
        return landing
    return None


def landings(page: Page, directive: Directive, name: Name, since: int = 0) -> Iterator[Landing]:
    """Every place that fits the directive, in document order; browsers take the first.

    Places before page offset `since` are left out.
    """
    seen = view(page, name)
    query = Query.of(seen, directive)
    if query is None:
        return
    for start, start_end, sure in query.starts(seen.from_page(since) if since else 0):
        if not directive.end:
            yield _landing(seen, start, start_end, sure)
            continue
        for _, end, end_sure in query.ends(start_end):
            yield _landing(seen, start, end, sure and end_sure)
            break


def _landing(seen: View, start: int, end: int, sure: bool) -> Landing:
    return Landing(Span(seen.to_page(start), seen.to_page_end(end)), sure)


def first_after(page: Page, text: str, offset: int) -> Span | None:
    """The first place at or behind `offset` that some browser could take for `text`."""
    seen = view(page, "any")
    query = Query.of(seen, Directive(text))
    if query is None:
        return None
    for start, end, _ in query.ends_of(query.start, seen.from_page(offset)):
        return Span(seen.to_page(start), seen.to_page_end(end))
    return None
