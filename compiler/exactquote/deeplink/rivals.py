"""Find the places before a span that some browser could take for it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from exactquote.deeplink.directive import Directive
from exactquote.deeplink.query import Query, back_over_blanks, on_over_blanks
from exactquote.deeplink.views import View, view
from exactquote.model import Span
from exactquote.rendered.page import Page

_SHARED_MAX = 1_000


def stands_before(page: Page, span: Span) -> bool:
    """Whether the text of a span, cuts and all, stands on the page before it, too."""
    seen = view(page, "any")
    start = seen.folded.position(seen.from_page(span.start))
    end = seen.folded.position(seen.from_page(span.end - 1) + 1)
    return 0 <= seen.folded.text.find(seen.folded.text[start:end]) < start


class Rivals:
    """The places before a span that some browser could take for it, and what they share with it.

    A context that is longer than what any of them shares with the span pins the span.
    """

    def __init__(self, page: Page, bare: Directive, span: Span) -> None:
        """`bare` has no context; its `end`, if any, is looked for behind each place."""
        self._view = view(page, "any")
        self._copies = _copies(page, bare.start)
        # Several offsets of a page, at signs that nobody sees, may be one of the view.
        at = self._view.from_page(span.start)
        self._number = self._copies.numbers.get(at, len(self._copies.places))
        places = self._copies.places[: self._number + 1]
        if bare.end:
            places = _ended(self._view, bare, places)
        self.target: tuple[int, int] | None = None
        if places and places[-1][0] == at and self._view.to_page_end(places[-1][1]) == span.end:
            self.target = places[-1]
        self.places = tuple(place for place in places if place[0] != at)
        self._alone = not bare.end

    def with_start(
        self, places: tuple[tuple[int, int], ...], start: str
    ) -> tuple[tuple[int, int], ...]:
        """Those of `places` at which a longer start of the same span could stand as well."""
        query = Query.of(self._view, Directive(start))
        if query is None:
            return places
        folded = self._view.folded
        return tuple(
            place
            for place in places
            if folded.text.startswith(query.start, folded.position(place[0]))
        )

    @property
    def most_before(self) -> int:
        """How many folded characters before the span any of the places shares at most."""
        if self._alone:
            return self._copies.most_before[self._number]
        return max(self.before.values(), default=0)

    @property
    def most_after(self) -> int:
        """How many folded characters behind the span any of the places shares at most."""
        if self._alone:
            return self._copies.most_after[self._number]
        return max(self.after.values(), default=0)

    @cached_property
    def before(self) -> dict[tuple[int, int], int]:
        """How many folded characters before each place are the same before the span."""
        return {place: self._shared_before(place) for place in self.places}

    @cached_property
    def after(self) -> dict[tuple[int, int], int]:
        """How many folded characters behind each place are the same behind the span."""
        return {place: self._shared_after(place) for place in self.places}

    def _shared_before(self, place: tuple[int, int]) -> int:
        assert self.target is not None
        text = self._view.folded.text
        mine, other = _skipped_back(self._view, self.target[0]), _skipped_back(self._view, place[0])
        return _longest(
            min(mine, other), lambda n: text[mine - n : mine] == text[other - n : other]
        )

    def _shared_after(self, place: tuple[int, int]) -> int:
        assert self.target is not None
        text = self._view.folded.text
        mine, other = _skipped_on(self._view, self.target[1]), _skipped_on(self._view, place[1])
        return _longest(
            len(text) - max(mine, other), lambda n: text[mine : mine + n] == text[other : other + n]
        )

    def chars_before(self, start: int) -> int:
        """Folded length of the context from page offset `start` to the span."""
        assert self.target is not None
        at = self._view.folded.position(self._view.from_page(start))
        return _skipped_back(self._view, self.target[0]) - at

    def chars_after(self, end: int) -> int:
        """Folded length of the context from the span to page offset `end`."""
        assert self.target is not None
        at = self._view.folded.position(self._view.from_page(end - 1) + 1)
        return at - _skipped_on(self._view, self.target[1])


@dataclass(frozen=True, slots=True)
class _Copies:
    """The places of one text on a page, in order, found once for all links to any of them.

    `numbers` are by the offset in the view. What a place shares with one before it is counted
    up to `_SHARED_MAX`.
    """

    places: tuple[tuple[int, int], ...]
    numbers: dict[int, int]
    most_before: tuple[int, ...]
    most_after: tuple[int, ...]


def _copies(page: Page, text: str) -> _Copies:
    known: dict[str, _Copies] = page.kept.setdefault("copies", {})
    if text not in known:
        seen = view(page, "any")
        query = Query.of(seen, Directive(text))
        # With context, the edge towards it may lie inside a word.
        found = query.starts_of(query.start) if query else ()
        places = tuple((start, end) for start, end, _ in found)
        folded = seen.folded.text
        before, after = [], []
        for start, end in places:
            stop, begin = _skipped_back(seen, start), _skipped_on(seen, end)
            before.append(folded[max(0, stop - _SHARED_MAX) : stop][::-1])
            after.append(folded[begin : begin + _SHARED_MAX])
        known[text] = _Copies(
            places,
            {start: number for number, (start, _) in enumerate(places)},
            tuple(_most_shared(before)),
            tuple(_most_shared(after)),
        )
    return known[text]


def _most_shared(texts: Sequence[str]) -> Iterator[int]:
    """The longest beginning that each text shares with one before it.

    That one is its neighbour, if those before it are sorted.
    """
    before: list[str] = []
    for text in texts:
        at = bisect_left(before, text)
        yield max((_common(text, other) for other in before[max(0, at - 1) : at + 1]), default=0)
        before.insert(at, text)


def _common(one: str, other: str) -> int:
    return _longest(min(len(one), len(other)), lambda n: one[:n] == other[:n])


def _ended(
    seen: View, bare: Directive, places: Sequence[tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    """Those of the places that the end of a range stands behind, each up to the first such end."""
    query = Query.of(seen, bare)
    ends = ((start, next(query.ends(end), None)) for start, end in places) if query else ()
    return tuple((start, end[1]) for start, end in ends if end is not None)


def _skipped_back(seen: View, start: int) -> int:
    return seen.folded.position(back_over_blanks(seen.raw, start))


def _skipped_on(seen: View, end: int) -> int:
    return seen.folded.position(on_over_blanks(seen.raw, end))


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
