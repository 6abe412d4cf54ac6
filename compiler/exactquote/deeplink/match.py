"""Find where a directive lands on a page, in one browser or in any.

The search follows WICG Scroll-to-Text-Fragment, section 3.6 ("find a range from a text
directive"): the first start in document order whose prefix, end and suffix fit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from unicodedata import category

from exactquote.deeplink.directive import Directive
from exactquote.deeplink.views import BROWSERS, Name, View, view
from exactquote.model import Span
from exactquote.rendered.edges import Inside, edge, inside_word
from exactquote.rendered.folds import fold_text, webkit_accepts
from exactquote.rendered.graphemes import is_boundary
from exactquote.rendered.page import CUT, Kind, Page

_WHITE = re.compile("[ \t\n\r\f\u00a0]+")
# Browsers look through them inside a word, but not all do at the rim of a match.
_INVISIBLE = frozenset("\u00ad\u034f\u061c\u180e\ufeff") | {
    chr(code) for code in (*range(0x200B, 0x2010), *range(0x2060, 0x206A), *range(0xFE00, 0xFE10))
}
_CONTROL = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_REPEATERS = frozenset("々〻ゝゞヽヾー")
_SKIPPED = " \t\n\r\f\u00a0" + CUT


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
    widest = land(page, directive, "any")
    if widest is None or widest.span != span:
        return False
    if not _in_runs(page, directive, span):
        return False
    for name in BROWSERS:
        landing = next(landings(page, directive, name, since=span.start), None)
        if landing is None or not landing.sure or landing.span != span:
            return False
    return not (page.astral and _freezes(page, directive))


def _freezes(page: Page, directive: Directive) -> bool:
    """Whether Chromium may spin for ever: it does when it has to pass over a match.

    Measured: any place on the page, before or behind the wanted one, that equals a part of
    the directive but for the edge of a word or grapheme, where the edge is a character
    beyond U+FFFF.
    """
    seen = view(page, "chromium")
    for part in (directive.prefix, directive.start, directive.end, directive.suffix):
        query = _Query.of(seen, Directive(part)) if part else None
        if query is not None and query.passed_over_beyond_bmp():
            return True
    return False


def _in_runs(page: Page, directive: Directive, span: Span) -> bool:
    """Whether each part is the page's own text in one run: no fold, no cut is relied on."""
    first, last = page.runs[page.run_at(span.start)], page.runs[page.run_at(span.end - 1)]
    if not directive.end:
        text = page.text[span.start : span.end]
        return first is last and first.kind <= Kind.CHROME and text == directive.start
    between = page.runs[page.run_at(span.start) : page.run_at(span.end - 1) + 1]
    seen = all(run.kind in (Kind.TEXT, Kind.CHROME, Kind.ALT) for run in between)
    if not seen or any(run.joint not in ("block", "br", "img") for run in between[:-1]):
        # Browsers differ in what of other text, shown or not, their range holds.
        return False
    return (
        page.text.startswith(directive.start, span.start)
        and span.start + len(directive.start) <= first.end
        and page.text.endswith(directive.end, span.start, span.end)
        and span.end - len(directive.end) >= last.start
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
    query = _Query.of(seen, directive)
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
    query = _Query.of(seen, Directive(text))
    if query is None:
        return None
    for start, end, _ in query.ends_of(query.start, seen.from_page(offset)):
        return Span(seen.to_page(start), seen.to_page_end(end))
    return None


def stands_before(page: Page, span: Span) -> bool:
    """Whether the text of a span, cuts and all, stands on the page before it, too."""
    seen = view(page, "any")
    start = seen.folded.position(seen.from_page(span.start))
    end = seen.folded.position(seen.from_page(span.end - 1) + 1)
    return 0 <= seen.folded.text.find(seen.folded.text[start:end]) < start


class Rivals:
    """The places before a span that some browser could take for it, and what they share with it.

    A context that is longer than what all rivals share leaves the span alone.
    """

    def __init__(self, page: Page, bare: Directive, span: Span) -> None:
        """`bare` has no context; its `end`, if any, is looked for behind each place."""
        self._view = view(page, "any")
        self.places: tuple[tuple[int, int], ...] = ()
        self.target: tuple[int, int] | None = None
        query = _Query.of(self._view, bare)
        found = []
        for start, end, _ in query.starts() if query else ():
            if self._view.to_page(start) == span.start:
                self.target = self._ended(query, end, span)
                self.target = self.target and (start, self.target[1])
                break
            stop = self._first_end(query, end)
            if stop is not None:
                found.append((start, stop))
        self.places = tuple(found)

    def _first_end(self, query: _Query | None, end: int) -> int | None:
        if query is None or not query.directive.end:
            return end
        for _, stop, _ in query.ends(end):
            return stop
        return None

    def _ended(self, query: _Query | None, end: int, span: Span) -> tuple[int, int] | None:
        stop = self._first_end(query, end)
        if stop is None or self._view.to_page_end(stop) != span.end:
            return None
        return end, stop

    def with_start(
        self, places: tuple[tuple[int, int], ...], start: str
    ) -> tuple[tuple[int, int], ...]:
        """Those of `places` at which a longer start of the same span could stand as well."""
        query = _Query.of(self._view, Directive(start))
        if query is None:
            return places
        folded = self._view.folded
        return tuple(
            place
            for place in places
            if folded.text.startswith(query.start, folded.position(place[0]))
        )

    def shared_before(self, place: tuple[int, int]) -> int:
        """How many folded characters before `place` are the same before the span."""
        assert self.target is not None
        text = self._view.folded.text
        mine, other = self._skipped_back(self.target[0]), self._skipped_back(place[0])
        return _longest(
            min(mine, other), lambda n: text[mine - n : mine] == text[other - n : other]
        )

    def shared_after(self, place: tuple[int, int]) -> int:
        """How many folded characters behind `place` are the same behind the span."""
        assert self.target is not None
        text = self._view.folded.text
        mine, other = self._skipped_on(self.target[1]), self._skipped_on(place[1])
        return _longest(
            len(text) - max(mine, other), lambda n: text[mine : mine + n] == text[other : other + n]
        )

    def chars_before(self, start: int) -> int:
        """Folded length of the context from page offset `start` to the span."""
        assert self.target is not None
        at = self._view.folded.position(self._view.from_page(start))
        return self._skipped_back(self.target[0]) - at

    def chars_after(self, end: int) -> int:
        """Folded length of the context from the span to page offset `end`."""
        assert self.target is not None
        at = self._view.folded.position(self._view.from_page(end - 1) + 1)
        return at - self._skipped_on(self.target[1])

    def _skipped_back(self, start: int) -> int:
        return self._view.folded.position(_back(self._view.raw, start))

    def _skipped_on(self, end: int) -> int:
        return self._view.folded.position(_on(self._view.raw, end))


def _longest(limit: int, same: Callable[[int], bool]) -> int:
    """The largest n up to `limit` for which `same(n)` holds, which holds for all smaller ones."""
    low, high = 0, 1
    while high <= limit and same(high):
        low, high = high, high * 2
    high = min(high, limit + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if same(middle) else (low, middle)
    return low


def _back(raw: str, start: int) -> int:
    """The offset before white space and cuts that end at `start`."""
    while start and raw[start - 1] in _SKIPPED:
        start -= 1
    return start


def _on(raw: str, end: int) -> int:
    """The offset behind white space and cuts that begin at `end`."""
    while end < len(raw) and raw[end] in _SKIPPED:
        end += 1
    return end


@dataclass(frozen=True, slots=True)
class _Query:
    """A directive, folded as one browser folds it, over that browser's view."""

    view: View
    directive: Directive
    start: str
    end: str
    prefix: str
    suffix: str

    @classmethod
    def of(cls, seen: View, directive: Directive) -> _Query | None:
        def fold(text: str) -> str:
            if seen.profile.name == "any" or (
                # Firefox takes a run of spaces for one where the page keeps it, only there.
                seen.profile.collapses_pre and text in seen.page.text
            ):
                text = _collapse(text)
            if seen.profile.name in ("any", "firefox"):
                text = text.strip(" ")
            return fold_text(text, seen.profile.fold).text

        query = cls(
            seen,
            directive,
            fold(directive.start),
            fold(directive.end),
            fold(directive.prefix),
            fold(directive.suffix),
        )
        asked = (directive.start, directive.end, directive.prefix, directive.suffix)
        folded = (query.start, query.end, query.prefix, query.suffix)
        # A part that folds to nothing can't be searched for.
        if any(bool(a.strip()) and not f for a, f in zip(asked, folded, strict=True)):
            return None
        return query if query.start else None

    def starts(self, since: int = 0) -> Iterator[tuple[int, int, bool]]:
        """(start, end, sure) of each fitting start, in offsets of the view."""
        for start, end, sure in self._find(self.start, self.directive.start, since):
            before = self._prefix_fits(start) if self.prefix else "yes"
            after = self._suffix_fits(end) if self.suffix and not self.end else "yes"
            if before != "no" and after != "no":
                yield start, end, sure and before == after == "yes"

    def ends_of(self, folded: str, after: int) -> Iterator[tuple[int, int, bool]]:
        """(start, end, sure) of each match of a folded text behind `after`."""
        return self._find(folded, self.directive.start, after)

    def ends(self, after: int) -> Iterator[tuple[int, int, bool]]:
        """(start, end, sure) of each fitting range end behind `after`."""
        for start, end, sure in self._find(self.end, self.directive.end, after):
            fits = self._suffix_fits(end) if self.suffix else "yes"
            if fits != "no":
                yield start, end, sure and fits == "yes"

    def _find(self, folded: str, asked: str, after: int) -> Iterator[tuple[int, int, bool]]:
        seen = self.view
        text, map_back = seen.folded.text, seen.folded
        at = text.find(folded, map_back.position(after))
        while at >= 0:
            start, end = map_back.origin(at), map_back.origin(at + len(folded))
            verdict = self._whole(start, end, at, len(folded), asked)
            if verdict != "no" and seen.profile.name == "webkit":
                verdict = verdict if webkit_accepts(asked, seen.raw[start:end]) else "no"
            if verdict != "no":
                yield start, end, verdict == "yes"
            at = text.find(folded, at + 1)

    def passed_over_beyond_bmp(self) -> bool:
        """Whether a place equal to the start has an unfit edge at a character beyond U+FFFF."""
        seen, raw = self.view, self.view.raw
        at = seen.folded.text.find(self.start)
        while at >= 0:
            start, end = seen.folded.origin(at), seen.folded.origin(at + len(self.start))
            for edge_at in (start, end):
                if max(raw[max(0, edge_at - 1) : edge_at + 1], default="") > "\uffff" and (
                    edge(raw, edge_at, "chromium") != "no" or not is_boundary(raw, edge_at)
                ):
                    return True
            at = seen.folded.text.find(self.start, at + 1)
        return False

    def _whole(self, start: int, end: int, at: int, length: int, asked: str) -> str:
        """Whether a match has edges that the browser accepts: "yes", "maybe", "no"."""
        seen = self.view
        first, last = (
            _edge(seen, start, seen.to_page(start)),
            _edge(seen, end, seen.to_page_end(end)),
        )
        if seen.profile.name == "any":
            return "no" if first == "yes" or last == "yes" else "yes"
        if first == "yes" or last == "yes":
            return "no"
        sure = first == last == "no" and not _CONTROL.search(asked)
        sure = sure and not _doubtful(seen.raw, start) and not _doubtful(seen.raw, end)
        # Half of an expansion, as the i of a ligature: a finder may or may not take it.
        sure = sure and seen.folded.position(start) == at
        sure = sure and seen.folded.position(end) == at + length
        sure = sure and is_boundary(seen.raw, start) and is_boundary(seen.raw, end)
        if seen.profile.name == "firefox" and category(seen.raw[end - 1])[0] == "M":
            # Chromium and WebKit take the accent that follows along, Firefox refuses.
            sure = sure and asked.endswith(seen.raw[end - 1])
        return "yes" if sure else "maybe"

    def _prefix_fits(self, start: int) -> str:
        """Whether the prefix ends where the match begins, white space and cuts aside."""
        seen = self.view
        at = seen.folded.position(_back(seen.raw, start))
        if not seen.folded.text.endswith(self.prefix, 0, at):
            return "no"
        begin = seen.folded.origin(at - len(self.prefix))
        verdict = self._rim(begin, seen.to_page(begin))
        return verdict if self._beside(_back(seen.raw, start) - 1, start) else "maybe"

    def _suffix_fits(self, end: int) -> str:
        """Whether the suffix begins where the match ends, white space and cuts aside."""
        seen = self.view
        at = seen.folded.position(_on(seen.raw, end))
        if not seen.folded.text.startswith(self.suffix, at):
            return "no"
        stop = seen.folded.origin(at + len(self.suffix))
        verdict = self._rim(stop, seen.to_page_end(stop))
        return verdict if self._beside(_on(seen.raw, end), end - 1) else "maybe"

    def _beside(self, context: int, match: int) -> bool:
        """Whether the context's nearest character surely counts as standing beside the match."""
        seen = self.view
        if seen.profile.name == "any":
            return True
        runs, page = seen.page.runs, seen.page
        # Chromium looks for context before it opens a closed `<details>`.
        mine, other = (runs[page.run_at(seen.to_page(at))].closed for at in (match, context))
        return mine == other and seen.raw[context] not in _INVISIBLE

    def _rim(self, outer: int, on_page: int) -> str:
        """The outer edge of a prefix or suffix must be the edge of a word too."""
        seen = self.view
        verdict = _edge(seen, outer, on_page)
        if verdict == "yes":
            return "no"
        if seen.profile.name == "any":
            return "yes"
        sure = verdict == "no" and is_boundary(seen.raw, outer)
        return "yes" if sure else "maybe"


def _edge(seen: View, offset: int, on_page: int) -> Inside:
    """Whether an offset of the view is inside a word, for the browser whose view it is."""
    if offset in seen.seams:
        return "no"
    if seen.profile.name == "any":
        return inside_word(seen.raw, offset)
    inside = edge(seen.raw, offset, seen.profile.name)
    return "some" if inside == "no" and on_page in seen.page.frail else inside


def _doubtful(raw: str, offset: int) -> bool:
    """Whether browsers were seen to disagree on an edge here though no word goes over it."""
    pair = raw[max(0, offset - 1) : offset + 1]
    if any(c in _INVISIBLE for c in pair):
        return True
    if len(pair) < 2:
        return False
    if "@" in pair:
        return pair[0].isalnum() or pair[1].isalnum()
    if all("\U0001f1e6" <= c <= "\U0001f1ff" for c in pair):
        return True
    return any(c in _REPEATERS for c in pair) and all(c.isalpha() for c in pair)


def _collapse(text: str) -> str:
    return _WHITE.sub(" ", text)
