"""Turn a span of a page into the link that lands on it, and only there, in every browser.

The directive is cut from the page's own text: the quote alone where that is enough, with
as few words of context as pin it where it isn't, as a range where the quote is long or
crosses blocks. Each is proved by matching it against the page again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from urllib.parse import quote

from exactquote.deeplink.directive import Directive, encode, fragment
from exactquote.deeplink.match import first_after, land, lands
from exactquote.deeplink.query import drops
from exactquote.deeplink.rivals import Rivals, stands_before
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
_STOPS = "。、，！？；：」』）…"
_CLAUSE = re.compile(rf"[^\s{_STOPS}]+[{_STOPS}]*|\S")
_PIECE_CHARS = 512

_ALNUM = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class _Context:
    """What may stand beside a passage: text of these kinds, with or without a letter in it."""

    kinds: frozenset[Kind]
    signs: bool


# Signs alone say little to who reads the link, and text of the site's frame ties it to the
# theme: each is tried only where nothing better pins the passage.
_CONTEXTS = (
    _Context(frozenset({Kind.TEXT}), signs=False),
    _Context(frozenset({Kind.TEXT}), signs=True),
    _Context(frozenset({Kind.TEXT, Kind.CHROME}), signs=True),
)


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
    return DeepLink(_address(page.path) + tail, tail)


def section_link(page: Page, span: Span) -> DeepLink:
    """A link to the nearest element before the span, for what no directive can pin."""
    anchor = page.runs[page.run_at(span.start)].anchor
    tail = f"#{quote(anchor, safe='')}" if anchor else ""
    return DeepLink(_address(page.path) + tail, tail)


@lru_cache(maxsize=256)
def _address(path: str) -> str:
    """The path of a page as a URL has it, kept while its passages are linked."""
    return quote(path, safe="/")


def directive_for(page: Page, span: Span) -> Directive | NoLink:
    """The directive for `span`: alone, with context, or as a range; each one proved."""
    first, last = page.run_at(span.start), page.run_at(span.end - 1)
    if first == last and span.end - span.start <= EXACT_CHARS_MAX:
        shapes = [Directive(page.text[span.start : span.end])]
    else:
        shapes = list(_ranges(page, span, first, last))
    rivals: dict[Directive, Rivals] = {}
    for context in _CONTEXTS:
        for directive in shapes:
            if context is _CONTEXTS[0] and lands(page, directive, span):
                return directive
            for pinned in _pinned(page, directive, span, context, rivals):
                if lands(page, pinned, span):
                    return pinned
    rival = _rival(page, span)
    return NoLink("look-alike" if rival else "cannot-land", rival)


def fullest(page: Page, span: Span) -> Directive:
    """The whole text of a span in one run, with all the context that there may be.

    Where no directive pins a span, this one shows that it isn't for want of context.
    """
    prefixes = list(_prefixes(page, span, _CONTEXTS[-1]))[-1:]
    suffixes = list(_suffixes(page, span, _CONTEXTS[-1]))[-1:]
    bare = Directive(page.text[span.start : span.end])
    return _with(page, bare, next(iter(prefixes), None), next(iter(suffixes), None))


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


def _pinned(
    page: Page, bare: Directive, span: Span, context: _Context, known: dict[Directive, Rivals]
) -> Iterator[Directive]:
    """Directives with as few characters of context as no earlier place shares, best first.

    One may be refused for what a browser does at its edge: the other side then may do, or
    both, since a browser begins its search with the prefix. `known` are the rivals of each
    directive, which no context changes.
    """
    led = list(_prefixes(page, span, context))
    followed = list(_suffixes(page, span, context))
    widest = [*led[-1:], span, *followed[-1:]]
    if stands_before(page, Span(widest[0].start, widest[-1].end)):
        # All context that there may be is the same there: no need to look at each rival.
        return
    rivals = known.get(bare)
    if rivals is None:
        rivals = known[bare] = Rivals(page, bare, span)
    if rivals.target is None:
        return
    prefixes = [(rivals.chars_before(c.start), c) for c in led]
    suffixes = [(rivals.chars_after(c.end), c) for c in followed]
    prefix = _longer_than(rivals.most_before, prefixes)
    suffix = _longer_than(rivals.most_after, suffixes)
    alone = [_with(page, bare, prefix, None)] if prefix else []
    alone += [_with(page, bare, None, suffix)] if suffix else []
    yield from sorted(alone, key=_size)
    enough = prefix is not None
    if prefixes and suffixes:
        if not alone:
            # Neither side alone: the whole lead-in, as little as needed of what follows, and
            # then no more of the lead-in than that leaves to do.
            before, after = rivals.before, rivals.after
            left = [place for place in rivals.places if before[place] >= prefixes[-1][0]]
            suffix = _longer_than(max(after[place] for place in left), suffixes)
            if suffix is None:
                return
            end = rivals.chars_after(suffix.end)
            left = [place for place in rivals.places if after[place] >= end]
            prefix = _longer_than(max(before[place] for place in left), prefixes)
        yield _with(page, bare, prefix or led[0], suffix or followed[0])
    # Firefox loses its way where it meets the prefix in a picture's text: more words of it may
    # stand there no longer.
    if enough or suffix:
        for wider in _wider(led, prefix):
            yield _with(page, bare, wider, None if enough else suffix)


def _wider(contexts: list[Span], least: Span | None) -> Iterator[Span]:
    """Contexts that are twice as long each time, from above the least to the longest."""
    at = contexts.index(least) + 1 if least else 1
    while at < len(contexts):
        at = min(at * 2, len(contexts))
        yield contexts[at - 1]


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


def _prefixes(page: Page, span: Span, context: _Context) -> Iterator[Span]:
    """What may stand before the span, growing leftwards but never over the rim of a run."""
    index = page.run_at(span.start)
    start, end = page.runs[index].start, span.start
    if not page.text[start:end].strip():
        neighbour = _neighbour(page, index, -1, context)
        if neighbour is None:
            return
        start, end = neighbour.start, neighbour.end
    text = page.text[start:end].rstrip()
    words = 0
    for match in _words_back(text):
        at = match.start()
        told = context.signs or _ALNUM.search(text, at)
        whole = inside_word(text, at) == "no" and is_boundary(text, at)
        if told and whole and start + at not in page.frail:
            yield Span(start + at, start + len(text))
            words += 1
        if words >= CONTEXT_WORDS_MAX:
            return


def _suffixes(page: Page, span: Span, context: _Context) -> Iterator[Span]:
    """What may stand behind the span, growing rightwards but never over the rim of a run."""
    index = page.run_at(span.end - 1)
    start, end = span.end, page.runs[index].end
    if not page.text[start:end].strip():
        neighbour = _neighbour(page, index, 1, context)
        if neighbour is None:
            return
        start, end = neighbour.start, neighbour.end
    text = page.text[start:end]
    lead = len(text) - len(text.lstrip())
    words = 0
    for match in _words(text):
        at = match.end()
        told = context.signs or _ALNUM.search(text, 0, at)
        whole = inside_word(text, at) == "no" and is_boundary(text, at)
        # Firefox finds no end of a word behind what it skips.
        if told and whole and start + at not in page.frail and not drops(text, at - 1):
            yield Span(start + lead, start + at)
            words += 1
        if words >= CONTEXT_WORDS_MAX:
            return


def _neighbour(page: Page, index: int, step: int, context: _Context) -> Run | None:
    """The run next door, if every browser sees it there with only a block's rim between."""
    other = index + step
    if not 0 <= other < len(page.runs):
        return None
    joint = page.runs[min(index, other)].joint
    run = page.runs[other]
    # Chromium looks for context before it opens a closed `<details>`, so none is found on
    # the other side of its rim.
    usable = run.kind in context.kinds and run.closed == page.runs[index].closed
    usable = usable and not run.initial
    return run if usable and joint in ("block", "br") else None


def _words(text: str) -> Iterator[re.Match[str]]:
    return _pattern(text).finditer(text)


def _words_back(text: str) -> Iterator[re.Match[str]]:
    """The words of a text from the last one on, read in pieces: few of a long text are needed."""
    pattern, end = _pattern(text), len(text)
    while end:
        begin = max(0, end - _PIECE_CHARS)
        while begin and not _begins(pattern, text, begin):
            begin -= 1
        yield from reversed(list(pattern.finditer(text, begin, end)))
        end = begin


def _pattern(text: str) -> re.Pattern[str]:
    dense = len(text) > 40 and text.count(" ") * 15 < len(text)
    return _CLAUSE if dense else _WORD


def _begins(pattern: re.Pattern[str], text: str, at: int) -> bool:
    """Whether no word goes over an offset of the text."""
    before, after = text[at - 1], text[at]
    if before.isspace() or pattern is _WORD:
        return before.isspace()
    return before in _STOPS and after not in _STOPS


def _rival(page: Page, span: Span) -> Span | None:
    """The place before the span that a browser would take for it."""
    text = page.text[span.start : span.end]
    if CUT in text:
        return None
    first = land(page, Directive(text), "any")
    return first.span if first is not None and first.span != span else None
