"""Turn a span of a page into the link that lands on it, and only there, in every browser.

The directive is cut from the page's own text: the quote alone where that is enough, with
as few words of context as pin it where it isn't, as a range where the quote is long or
crosses blocks. Each is proved by matching it against the page again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from exactquote.deeplink.directive import Directive, encode, fragment
from exactquote.deeplink.match import Rivals, landings, lands
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
        shapes = _exact(page, span)
    else:
        shapes = _ranges(page, span, first, last)
    for directive in shapes:
        if lands(page, directive, span):
            return directive
        pinned = _pinned(page, directive, span)
        if pinned is not None and lands(page, pinned, span):
            return pinned
    rival = _rival(page, span)
    return NoLink("look-alike" if rival else "cannot-land", rival)


def _exact(page: Page, span: Span) -> Iterator[Directive]:
    yield Directive(page.text[span.start : span.end])


def _ranges(page: Page, span: Span, first: int, last: int) -> Iterator[Directive]:
    """Ranges whose rims grow word by word, the shortest first."""
    heads = _heads(page, span, page.runs[first])
    tails = _tails(page, span, page.runs[last])
    if not heads or not tails:
        return
    whole = first == last
    for words in range(max(len(heads), len(tails))):
        head, tail = heads[min(words, len(heads) - 1)], tails[min(words, len(tails) - 1)]
        if whole and head + tail >= span.end - span.start:
            break
        yield Directive(
            page.text[span.start : span.start + head], page.text[span.end - tail : span.end]
        )
    if whole:
        yield Directive(page.text[span.start : span.end])


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
    rivals = Rivals(page, bare, span)
    if rivals.target is None:
        return None
    prefix, left_by_prefix = _shortest(_prefixes(page, span), rivals.with_prefix, rivals.places)
    suffix, left_by_suffix = _shortest(_suffixes(page, span), rivals.with_suffix, rivals.places)
    if not left_by_prefix and not left_by_suffix:
        by_prefix, by_suffix = _with(bare, prefix, ""), _with(bare, "", suffix)
        return min((by_prefix, by_suffix), key=_size)
    if not left_by_prefix:
        return _with(bare, prefix, "")
    if not left_by_suffix:
        return _with(bare, "", suffix)
    # Neither side alone: the whole lead-in, then as little of what follows as is needed.
    suffix, left = _shortest(_suffixes(page, span), rivals.with_suffix, left_by_prefix)
    if left:
        return None
    still = rivals.with_suffix(rivals.places, suffix) or ()
    prefix, _ = _shortest(_prefixes(page, span), rivals.with_prefix, still)
    return _with(bare, prefix, suffix)


_Places = tuple[tuple[int, int], ...]


def _shortest(
    contexts: Iterator[str],
    narrowed: Callable[[_Places, str], _Places | None],
    places: _Places,
) -> tuple[str, _Places]:
    """The first of the growing contexts that leaves no rival; else the longest, and who is left."""
    last = ""
    for context in contexts:
        left = narrowed(places, context)
        if left is None:
            continue
        last, places = context, left
        if not places:
            break
    return last, places


def _with(bare: Directive, prefix: str, suffix: str) -> Directive:
    return Directive(bare.start, bare.end, prefix, suffix)


def _size(directive: Directive) -> int:
    return len(encode(directive.prefix)) + len(encode(directive.suffix))


def _prefixes(page: Page, span: Span) -> Iterator[str]:
    """What may stand before the span, growing leftwards but never over the rim of a run."""
    index = page.run_at(span.start)
    run = page.runs[index]
    before = page.text[run.start : span.start]
    if not before.strip():
        neighbour = _neighbour(page, index, -1)
        if neighbour is None:
            return
        before = page.text[neighbour.start : neighbour.end]
    before = before.rstrip()
    words = 0
    for match in reversed(list(_words(before))):
        at = match.start()
        if inside_word(before, at) == "no" and is_boundary(before, at):
            context = before[at:]
            if _ALNUM.search(context):
                yield context
                words += 1
        if words >= CONTEXT_WORDS_MAX:
            return


def _suffixes(page: Page, span: Span) -> Iterator[str]:
    """What may stand behind the span, growing rightwards but never over the rim of a run."""
    index = page.run_at(span.end - 1)
    run = page.runs[index]
    after = page.text[span.end : run.end]
    if not after.strip():
        neighbour = _neighbour(page, index, 1)
        if neighbour is None:
            return
        after = page.text[neighbour.start : neighbour.end]
    after = after.lstrip()
    words = 0
    for match in _words(after):
        at = match.end()
        if inside_word(after, at) == "no" and is_boundary(after, at):
            context = after[:at]
            if _ALNUM.search(context):
                yield context
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
    if joint not in ("block", "br") or run.kind not in (Kind.TEXT, Kind.CHROME):
        return None
    return run


def _words(text: str) -> Iterator[re.Match[str]]:
    dense = len(text) > 40 and text.count(" ") * 15 < len(text)
    return (_CLAUSE if dense else _WORD).finditer(text)


def _rival(page: Page, span: Span) -> Span | None:
    text = page.text[span.start : span.end]
    if CUT in text:
        return None
    for landing in landings(page, Directive(text), "any"):
        if landing.span != span:
            return landing.span
    return None
