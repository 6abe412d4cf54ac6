"""Turn a citation as written into a verdict: bound to one span with a proved link, or refused."""

from __future__ import annotations

from dataclasses import replace

from exactquote.checks import (
    absent,
    crosses_block,
    cuts_character,
    cuts_note_mark,
    cuts_word,
    figures,
    length,
    look_alike,
    not_visible,
    pins,
    repeated,
    unknown_document,
    unpublished,
    wording,
)
from exactquote.checks.site import Site, shown
from exactquote.codes import fault
from exactquote.deeplink.generate import NoLink, deep_link
from exactquote.model import Diagnostic, Related, Span, Verdict, Written
from exactquote.passages import cited_id, passage_id
from exactquote.rendered.edges import inside_word
from exactquote.rendered.find import Occurrence, find, find_past_marks
from exactquote.rendered.page import Kind, Page


def judge(written: Written, site: Site) -> tuple[Verdict, tuple[Diagnostic, ...]]:
    """The verdict on one citation, and what its author must hear of it."""
    doc = site.known(written.doc)
    refused = Verdict(written, written.id or passage_id(doc, written.quote), doc)
    problem = unknown_document.check(written, site) or unpublished.check(written, site)
    if problem is not None:
        return replace(refused, code=problem.code), (problem,)
    page = site.pages[doc]
    span = _range(written, page, site) if written.quote_end else _place(written, page, site)
    if isinstance(span, Diagnostic):
        return replace(refused, code=span.code), (span,)
    return _bind(written, refused, page, span, site)


def _bind(
    written: Written, refused: Verdict, page: Page, span: Span, site: Site
) -> tuple[Verdict, tuple[Diagnostic, ...]]:
    heard = []
    limit = length.check(written, span, page, site.settings.limits)
    if limit is not None:
        severity = site.settings.severity.get(limit.code, limit.severity)
        heard.append(limit)
        if severity == "error":
            return replace(refused, code=limit.code), (limit,)
    link = deep_link(page, span)
    if isinstance(link, NoLink):
        problem = look_alike.check(written, page, link, site)
        return replace(refused, code=problem.code), (*heard, problem)
    quote = page.quote(span.start, span.end)
    figure = figures.check(written, quote)
    if figure is not None:
        heard.append(figure)
    identity = written.id or cited_id(page, span)
    return Verdict(written, identity, page.doc, quote, span, link), tuple(heard)


def _place(written: Written, page: Page, site: Site) -> Span | Diagnostic:
    """The one span that the author means, or why there isn't one."""
    found = find(page, written.quote)
    whole = _whole_words(page, found)
    if not whole:
        return _not_found(written, written.quote, page, found, site)
    if any(place.exact for place in whole):
        # Another case elsewhere is a look-alike for browsers, but not what the author quoted.
        whole = tuple(place for place in whole if place.exact)
    kept = pins.pinned(written, page, whole)
    if isinstance(kept, Diagnostic):
        return kept
    problem = repeated.check(written, page, kept, whole, site)
    if problem is not None:
        return problem
    span = Span(kept[0].start, kept[0].end)
    return _edge_problem(written, span, page, site) or span


def _range(written: Written, page: Page, site: Site) -> Span | Diagnostic:
    """The span from the author's start to the first end behind it."""
    start = _place(replace(written, suffix=""), page, site)
    if isinstance(start, Diagnostic):
        return start
    ends = [
        place
        for place in _whole_words(page, find(page, written.quote_end))
        if place.start >= start.end
    ]
    if not ends:
        return _not_found(
            written, written.quote_end, page, find(page, written.quote_end), site, after=start
        )
    if written.suffix:
        left = pins.with_context(written, page, tuple(ends), "suffix", written.suffix)
        if isinstance(left, Diagnostic):
            return left
        ends = list(left)
    span = Span(start.start, ends[0].end)
    between = [run for run in page.runs if run.start < span.end and run.end > span.start]
    # A picture's alternative text is no part of what the range highlights.
    if any(run.kind not in (Kind.TEXT, Kind.ALT) for run in between):
        return fault(
            "EQ007",
            written.place,
            "the range runs over text that not every reader sees",
            "let the range end before it",
            (Related(site.locate(page, span), "the range begins here"),),
        )
    return _edge_problem(written, span, page, site) or span


def _whole_words(page: Page, found: tuple[Occurrence, ...]) -> tuple[Occurrence, ...]:
    """The visible occurrences that a browser could match: those not surely inside a word."""
    return tuple(
        place
        for place in found
        if place.kind is Kind.TEXT
        and inside_word(page.text, place.start) != "yes"
        and inside_word(page.text, place.end) != "yes"
    )


def _edge_problem(written: Written, span: Span, page: Page, site: Site) -> Diagnostic | None:
    return (
        cuts_character.check(written, span, page)
        or cuts_note_mark.check_edges(written, span, page)
        or cuts_word.check(written, span, page, site)
    )


def _not_found(
    written: Written,
    quote: str,
    page: Page,
    found: tuple[Occurrence, ...],
    site: Site,
    after: Span | None = None,
) -> Span | Diagnostic:
    """Why a passage isn't there, from the nearest miss to the farthest."""
    for place in found:
        if place.kind is Kind.TEXT and after is None:
            problem = _edge_problem(written, Span(place.start, place.end), page, site)
            if problem is not None:
                return problem
    if after is None:
        # A mark [1] may be quoted as the bare digit that other renderers show.
        marked = find_past_marks(page, quote, digits_only=True)
        if len(marked) == 1:
            span = Span(marked[0].start, marked[0].end)
            return _edge_problem(written, span, page, site) or span
    if after is not None:
        for place in found:
            if place.kind is Kind.TEXT and place.start >= after.end:
                span = Span(after.start, place.end)
                problem = _edge_problem(written, span, page, site)
                if problem is not None:
                    return problem
    if after is not None and any(place.kind is Kind.TEXT for place in found):
        return fault(
            "EQ002",
            written.place,
            f"the end of the range, {shown(quote)}, does not stand behind its start",
            "let `to` name text that comes after `from`",
        )
    unseen = tuple(place for place in found if place.kind is not Kind.TEXT)
    return (
        (not_visible.check(written, quote, page, unseen, site) if unseen else None)
        or crosses_block.check(written, quote, page, site)
        or cuts_note_mark.check_left_out(written, quote, page, site)
        or wording.check(written, quote, page, site)
        or not_visible.check(written, quote, page, (), site)
        or absent.check(written, quote, page, site)
    )
