"""EQ008: the passage begins or ends inside a word or number, where no browser matches."""

from __future__ import annotations

import re

from exactquote.checks.site import Site, shown
from exactquote.codes import fault
from exactquote.model import Diagnostic, Related, Span, Written
from exactquote.rendered.edges import Inside, inside_word
from exactquote.rendered.page import Page

_WORD_END = re.compile(r"[\s\x00]")


def check(written: Written, span: Span, page: Page, site: Site) -> Diagnostic | None:
    """A fault when an edge of the span is no edge of a word in every browser."""
    starts, ends = _inside(page, span.start, span.start), _inside(page, span.end, span.end - 1)
    if starts == ends == "no":
        return None
    edge, at = ("begins", span.start) if starts != "no" else ("ends", span.end)
    sure = "yes" in (starts, ends)
    why = "inside a word or number" if sure else "where browsers disagree on the edge of a word"
    whole = whole_words(page, span)
    return fault(
        "EQ008",
        written.place,
        f"the passage {edge} {why}: {_around(page, at)}",
        _cure(written, page, span, whole),
        (Related(site.locate(page, whole), "the passage is here"),),
    )


def _cure(written: Written, page: Page, span: Span, whole: Span) -> str:
    if not written.quote_end:
        return f"quote whole words: {shown(page.quote(whole.start, whole.end), 600)}"
    first = page.quote(whole.start, span.start + len(written.quote))
    last = page.quote(span.end - len(written.quote_end), whole.end)
    return f"name whole words: from {shown(first, 600)} to {shown(last, 600)}"


def whole_words(page: Page, span: Span) -> Span:
    """The span grown to the nearest edges that every browser accepts, within its runs."""
    first, last = page.runs[page.run_at(span.start)], page.runs[page.run_at(span.end - 1)]
    start, end = span.start, span.end
    while start > first.start and inside_word(page.text, start) != "no":
        start -= 1
    while end < last.end and inside_word(page.text, end) != "no":
        end += 1
    return Span(start, end)


def _inside(page: Page, at: int, within: int) -> Inside:
    """Whether `at` is inside a word of the run that holds offset `within`."""
    run = page.runs[page.run_at(within)]
    return inside_word(page.text[run.start : run.end], at - run.start)


def _around(page: Page, at: int) -> str:
    left = _WORD_END.split(page.text[max(0, at - 30) : at])[-1]
    right = _WORD_END.split(page.text[at : at + 30])[0]
    return f"“{left}|{right}”"
