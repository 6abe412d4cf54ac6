"""Finds what must stand before a highlight, so that one of several equal texts can be told."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

from exactquote.browsers.oracle import Link
from exactquote.browsers.reading import BEFORE_CHARS
from exactquote.browsers.same_text import bare
from exactquote.deeplink.directive import parse
from exactquote.deeplink.match import land
from exactquote.model import Span
from exactquote.rendered.page import Kind, Page, Run

_SHOWN = frozenset({Kind.TEXT, Kind.CHROME})


def promised(page: Page | None, href: str, quote: str, span: Span | None = None) -> Link:
    """The link with what must stand before the highlight, where the page has the quote again.

    The quote stands at `span`, or else where the link's directive lands. A page that is None
    isn't there; a browser will say so.
    """
    if page is not None and span is None:
        _, directives = parse(href.partition("#")[2])
        landing = land(page, directives[0], "any") if directives else None
        span = landing.span if landing is not None else None
    if page is None or span is None:
        return Link(href, quote)
    before, in_sight = _telling(page, span, None), None
    if page.has_closed:
        in_sight = _telling(page, span, page.runs[page.run_at(span.start)].closed)
    return Link(href, quote, before=before, in_sight=in_sight)


@dataclass(frozen=True, slots=True)
class _Bare:
    """Runs of a page with their text as landings are compared: no white space, nothing unseen."""

    page: Page
    runs: tuple[Run, ...]
    text: str
    starts: tuple[int, ...]
    """Where each run begins in `text`."""

    def index(self, offset: int) -> int:
        """Which of the runs holds an offset of the page."""
        return bisect_right(self.runs, offset, key=lambda run: run.start) - 1

    def at(self, offset: int) -> int:
        """The place in `text` of an offset of the page."""
        k = self.index(offset)
        return self.starts[k] + len(bare(self.page.text[self.runs[k].start : offset]))


def _bare_page(page: Page, closed: int | None) -> _Bare:
    """All of a page, or what is seen of it while one box is open; made once for its links."""
    made: _Bare | None = page.kept.get(f"bare {closed}")
    if made is None:
        runs = tuple(run for run in page.runs if closed is None or run.closed in (0, closed))
        texts = [bare(page.text[run.start : run.end]) for run in runs]
        starts = accumulate(map(len, texts), initial=0)
        made = _Bare(page, runs, "".join(texts), tuple(starts)[:-1])
        page.kept[f"bare {closed}"] = made
    return made


def _telling(page: Page, span: Span, closed: int | None) -> str:
    """As much of what stands before a span as tells it from equal ones; "" if there are none."""
    whole = _bare_page(page, closed)
    runs, text, end = whole.runs, whole.text, whole.at(span.end)
    index, begin = whole.index(span.start), span.start
    while _twice(text, text[whole.at(begin) : end]):
        if begin > runs[index].start:
            begin = runs[index].start
        elif index and runs[index - 1].kind in _SHOWN and span.start - begin < BEFORE_CHARS:
            index -= 1
            begin = runs[index].start
        else:
            break
    begin = max(begin, span.start - BEFORE_CHARS)
    inside = (run for run in runs if run.start < span.start and run.end > begin)
    return " ".join(page.text[max(run.start, begin) : min(run.end, span.start)] for run in inside)


def _twice(text: str, part: str) -> bool:
    return text.find(part, text.find(part) + 1) >= 0
