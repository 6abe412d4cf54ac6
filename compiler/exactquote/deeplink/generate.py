"""Turn a span of a page into the link that lands on it, and only there, in every browser.

The directive is cut from the page's own text: the quote alone where that is enough, with
as few words of context as pin it where it isn't, as a range where the quote is long or
crosses blocks. Each is proved by matching it against the page again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from exactquote.deeplink.directive import Directive, encode, fragment
from exactquote.deeplink.match import Rivals, first_after, land, lands, stands_before
from exactquote.model import DeepLink, Span
from exactquote.rendered.edges import inside_word
from exactquote.rendered.graphemes import is_boundary
from exactquote.rendered.page import CUT, Kind, Page, Run

# Longer quotes become ranges. No browser was found to fail at 20,000 characters, but mail
# programs and chat tools cut long URLs.
EXACT_CHARS_MAX = 300
CONTEXT_WORDS_MAX = 60
RANGE_WORDS_MIN = 3

Reason = Literal["look-alike", "cannot-land", "crosses"]

_WORD = re.compile(r"\S+")
# Where a script writes no spaces, context grows by clauses.
_CLAUSE = re.compile(r"[^\s。、，！？；：」』）…]+[。、，！？；：」』）…]*|\S")
_ALNUM = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class NoLink:
    """Why no directive pins the span; `other` is the place that a browser would take."""

    reason: Reason
    other: Span | None = None


def deep_link(page: Page, span: Span) -> DeepLink | NoLink:
    """The shortest proved link to `span`, or why there is none."""
    found = directive_for(page, span)
    if isinstance(found, NoLink):
        return found
    anchor = page.runs[page.run_at(span.start)].anchor
    tail = fragment(found, anchor)
    return DeepLink(quote(page.path, safe="/") + tail, tail)


def section_link(page: Page, span: Span) -> DeepLink:
    """A link to the nearest element before the span, for what no directive can pin."""
    anchor = page.runs[page.run_at(span.start)].anchor
    tail = f"#{quote(anchor, safe='')}" if anchor else ""
    return DeepLink(quote(page.path, safe="/") + tail, tail)


def directive_for(page: Page, span: Span) -> Directive | NoLink:
    """The directive for `span`: alone, with context, or as a range; each one proved."""
    first, last = page.run_at(span.start), page.run_at(span.end - 1)
    if first == last and span.end - span.start <= EXACT_CHARS_MAX:
        shapes = [Directive(page.text[span.start : span.end])]
    else:
        shapes = list(_ranges(page, span, first, last))
    for directive in shapes:
        if lands(page, directive, span):
            return directive
        pinned = _pinned(page, directive, span)
        if pinned is not None and lands(page, pinned, span):
            return pinned
    rival = _rival(page, span)
    return NoLink("look-alike" if rival else "cannot-land", rival)


def _ranges(page: Page, span: Span, first: int, last: int) -> Iterator[Directive]:
    """The shortest range that begins and ends nowhere else, then the whole text of one run."""
    if page.runs[first].closed != page.runs[last].closed:
        return
    heads = _heads(page, span, page.runs[first])
    tails = _tails(page, span, page.runs[last])
    if heads and tails:
        head = _head(page, span, heads)
        tail = _tail(page, span, head, tails)
        if first != last or head + tail < span.end - span.start:
            start = page.text[span.start : span.start + head]
            yield Directive(start, page.text[span.end - tail : span.end])
    if first == last:
        yield Directive(page.text[span.start : span.end])


def _head(page: Page, span: Span, lengths: list[int]) -> int:
    """The shortest start that stands nowhere before; the shortest of all if each one does."""
    shortest = Span(span.start, span.start + lengths[0])
    rivals = Rivals(page, Directive(page.text[shortest.start : shortest.end]), shortest)
    places = rivals.places
    for length in lengths:
        places = rivals.with_start(places, page.text[span.start : span.start + length])
        if not places:
            return length
    return lengths[0]


def _tail(page: Page, span: Span, head: int, lengths: list[int]) -> int:
    """The shortest end that stands nowhere between the start and where it belongs."""
    for length in lengths:
        begin = max(span.end - length, span.start + head)
        found = first_after(page, page.text[span.end - length : span.end], span.start + head)
        if found is not None and begin == span.end - length and found.end == span.end:
            return length
    return lengths[0]


def _heads(page: Page, span: Span, run: Run) -> list[int]:
    """Lengths that the start of a range may have, from few words to many."""
    text = page.text[span.start : min(run.end, span.end)]
    ends = [m.end() for m in _words(text) if inside_word(text, m.end()) == "no"]
    return ends[min(RANGE_WORDS_MIN, len(ends)) - 1 :][:CONTEXT_WORDS_MAX] or ends[-1:]


def _tails(page: Page, span: Span, run: Run) -> list[int]:
    text = page.text[max(run.start, span.start) : span.end]
    starts = [m.start() for m in _words(text) if inside_word(text, m.start()) == "no"]
    lengths = [len(text) - at for at in reversed(starts)]
    return lengths[min(RANGE_WORDS_MIN, len(lengths)) - 1 :][:CONTEXT_WORDS_MAX] or lengths[-1:]


def _pinned(page: Page, bare: Directive, span: Span) -> Directive | None:
    """The directive with the fewest characters of context that no earlier place shares."""
    widest = [*list(_prefixes(page, span))[-1:], span, *list(_suffixes(page, span))[-1:]]
    if stands_before(page, Span(widest[0].start, widest[-1].end)):
        # All context that there may be is the same there: no need to look at each rival.
        return None
    rivals = Rivals(page, bare, span)
    if rivals.target is None:
        return None
    before = {place: rivals.shared_before(place) for place in rivals.places}
    after = {place: rivals.shared_after(place) for place in rivals.places}
    prefixes = [(rivals.chars_before(c.start), c) for c in _prefixes(page, span)]
    suffixes = [(rivals.chars_after(c.end), c) for c in _suffixes(page, span)]
    prefix = _longer_than(max(before.values(), default=0), prefixes)
    suffix = _longer_than(max(after.values(), default=0), suffixes)
    if prefix is None and suffix is None and prefixes and suffixes:
        # Neither side alone: the whole lead-in, as little as needed of what follows, and
        # then no more of the lead-in than that leaves to do.
        left = [place for place in rivals.places if before[place] >= prefixes[-1][0]]
        suffix = _longer_than(max(after[place] for place in left), suffixes)
        if suffix is None:
            return None
        left = [place for place in rivals.places if after[place] >= rivals.chars_after(suffix.end)]
        prefix = _longer_than(max(before[place] for place in left), prefixes)
        return _with(page, bare, prefix, suffix)
    alone = [_with(page, bare, prefix, None)] if prefix else []
    alone += [_with(page, bare, None, suffix)] if suffix else []
    return min(alone, key=_size, default=None)


def _longer_than(shared: int, contexts: list[tuple[int, Span]]) -> Span | None:
    for chars, context in contexts:
        if chars > shared:
            return context
    return None


def _with(page: Page, bare: Directive, prefix: Span | None, suffix: Span | None) -> Directive:
    return Directive(
        bare.start,
        bare.end,
        page.text[prefix.start : prefix.end] if prefix else "",
        page.text[suffix.start : suffix.end] if suffix else "",
    )


def _size(directive: Directive) -> int:
    return len(encode(directive.prefix)) + len(encode(directive.suffix))


def _prefixes(page: Page, span: Span) -> Iterator[Span]:
    """What may stand before the span, growing leftwards but never over the rim of a run."""
    index = page.run_at(span.start)
    start, end = page.runs[index].start, span.start
    if not page.text[start:end].strip():
        neighbour = _neighbour(page, index, -1)
        if neighbour is None:
            return
        start, end = neighbour.start, neighbour.end
    text = page.text[start:end].rstrip()
    words = 0
    for match in reversed(list(_words(text))):
        at = match.start()
        if inside_word(text, at) == "no" and is_boundary(text, at) and _ALNUM.search(text, at):
            yield Span(start + at, start + len(text))
            words += 1
        if words >= CONTEXT_WORDS_MAX:
            return


def _suffixes(page: Page, span: Span) -> Iterator[Span]:
    """What may stand behind the span, growing rightwards but never over the rim of a run."""
    index = page.run_at(span.end - 1)
    start, end = span.end, page.runs[index].end
    if not page.text[start:end].strip():
        neighbour = _neighbour(page, index, 1)
        if neighbour is None:
            return
        start, end = neighbour.start, neighbour.end
    text = page.text[start:end]
    lead = len(text) - len(text.lstrip())
    words = 0
    for match in _words(text):
        at = match.end()
        if inside_word(text, at) == "no" and is_boundary(text, at) and _ALNUM.search(text, 0, at):
            yield Span(start + lead, start + at)
            words += 1
        if words >= CONTEXT_WORDS_MAX:
            return


def _neighbour(page: Page, index: int, step: int) -> Run | None:
    """The run next door, if every browser sees it there with only a block's rim between."""
    other = index + step
    if not 0 <= other < len(page.runs):
        return None
    joint = page.runs[min(index, other)].joint
    run = page.runs[other]
    # Text of the site's frame would tie the link to the theme. Chromium looks for context
    # before it opens a closed `<details>`, so none is found on the other side of its rim.
    usable = run.kind is Kind.TEXT and run.closed == page.runs[index].closed
    return run if usable and joint in ("block", "br") else None


def _words(text: str) -> Iterator[re.Match[str]]:
    dense = len(text) > 40 and text.count(" ") * 15 < len(text)
    return (_CLAUSE if dense else _WORD).finditer(text)


def _rival(page: Page, span: Span) -> Span | None:
    """The place before the span that a browser would take for it."""
    text = page.text[span.start : span.end]
    if CUT in text:
        return None
    first = land(page, Directive(text), "any")
    return first.span if first is not None and first.span != span else None
