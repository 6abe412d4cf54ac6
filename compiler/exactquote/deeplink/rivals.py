"""Find the places before a span that some browser could take for it."""

from __future__ import annotations

from collections.abc import Callable

from exactquote.deeplink.directive import Directive
from exactquote.deeplink.query import Query, back_over_blanks, on_over_blanks
from exactquote.deeplink.views import view
from exactquote.model import Span
from exactquote.rendered.page import Page


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
        query = Query.of(self._view, bare)
        found = []
        # With context, the edge towards it may lie inside a word.
        for start, end, _ in query.starts_of(query.start) if query else ():
            if self._view.to_page(start) == span.start:
                self.target = self._ended(query, end, span)
                self.target = self.target and (start, self.target[1])
                break
            stop = self._first_end(query, end)
            if stop is not None:
                found.append((start, stop))
        self.places = tuple(found)

    def _first_end(self, query: Query | None, end: int) -> int | None:
        if query is None or not query.directive.end:
            return end
        for _, stop, _ in query.ends(end):
            return stop
        return None

    def _ended(self, query: Query | None, end: int, span: Span) -> tuple[int, int] | None:
        stop = self._first_end(query, end)
        if stop is None or self._view.to_page_end(stop) != span.end:
            return None
        return end, stop

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
        return self._view.folded.position(back_over_blanks(self._view.raw, start))

    def _skipped_on(self, end: int) -> int:
        return self._view.folded.position(on_over_blanks(self._view.raw, end))


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
