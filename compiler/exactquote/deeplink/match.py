"""Find where a directive lands on a page, in one browser or in any.

The search follows WICG Scroll-to-Text-Fragment, section 3.6 ("find a range from a text
directive"): the first start in document order whose prefix, end and suffix fit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple
from unicodedata import category

from exactquote.deeplink.directive import Directive
from exactquote.deeplink.views import BROWSERS, Name, View, view
from exactquote.model import Span
from exactquote.rendered.edges import Inside, edge, inside_word
from exactquote.rendered.folds import SIGNS, WIDE, fold_text, webkit_accepts
from exactquote.rendered.graphemes import is_boundary
from exactquote.rendered.page import CUT, Kind, Page

_WHITE = re.compile("[ \t\n\r\f\u00a0]+")
# Browsers look through them inside a word, but not all do at the rim of a match.
_INVISIBLE = frozenset("\u00ad\u034f\u061c\u180e\ufeff") | {
    chr(code) for code in (*range(0x200B, 0x2010), *range(0x2060, 0x206A), *range(0xFE00, 0xFE10))
}
# Firefox makes a letter of U+0345 where it folds the case of what is asked for, and skips it
# on the page.
_UNSEARCHABLE = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u0345]")
_REPEATERS = frozenset("々〻ゝゞヽヾー")
_SKIPPED = " \t\n\r\f\u00a0" + CUT
_FOLDED_BLANKS = frozenset(" " + CUT)
# Firefox keeps their text in trees of their own.
_OWN_TREES = frozenset({Kind.FOREIGN, Kind.ALT, Kind.VALUE})


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
    if any(_has_blank_rim(part) for part in _parts(directive)):
        return False
    widest = land(page, directive, "any")
    if widest is None or widest.span != span:
        return False
    if not _in_runs(page, directive, span):
        return False
    for name in BROWSERS:
        landing = next(landings(page, directive, name, since=span.start), None)
        if landing is None or not landing.sure or landing.span != span:
            return False
    if _strands(page, directive, span) or _stumbles(page, directive, span):
        return False
    if _letter_marks(page) and _stands_unmarked_before(page, directive, span):
        return False
    return not (page.astral and _freezes(page, directive))


def _parts(directive: Directive) -> tuple[str, ...]:
    """Those parts of a directive that it has."""
    every = (directive.prefix, directive.start, directive.end, directive.suffix)
    return tuple(filter(None, every))


def _marks_a_symbol(part: str) -> bool:
    """Whether an accent stands on a symbol, as in a struck-out relation: Firefox keeps it there.

    It skips the same accent in what is asked for.
    """
    if part.isascii():
        return False
    marks = (at for at in range(1, len(part)) if part[at] in SIGNS)
    return any(category(part[at - 1]) in ("Sm", "So") for at in marks)


def _has_blank_rim(part: str) -> bool:
    """Whether a part begins or ends with what some browser takes for a space, or skips."""
    rims = (part[0], part[-1])
    return any(WIDE[ord(c)] in ("", " ") and category(c)[0] != "M" for c in rims)


def _strands(page: Page, directive: Directive, span: Span) -> bool:
    """Whether Firefox may first meet a part in a form field, a picture's text or a shadow root.

    It goes on from there, if the rest doesn't fit, with a search that ends in that element:
    the part of the document behind it is never searched.
    """
    if not (directive.end or directive.prefix or directive.suffix):
        return False
    parts = [directive.prefix or directive.start]
    if directive.end and directive.suffix:
        parts.append(directive.end)
    wanted = [fold_text(_collapse(part), WIDE).text for part in parts]
    for run in page.runs:
        if run.start < span.end and run.kind in _OWN_TREES:
            text = fold_text(_collapse(page.text[run.start : run.end]), WIDE).text
            if any(part in text for part in wanted):
                return True
    return False


def _stumbles(page: Page, directive: Directive, span: Span) -> bool:
    """Whether text right before a part equals the beginning of that part.

    Firefox takes it for a match until the part itself shows that it is none. It doesn't go
    back far enough then, if markup stands between: it goes on at the next text node, as if
    the character that it began with stood before it.
    """
    seen = view(page, "firefox")
    query = _Query.of(seen, directive)
    if query is None:
        return True
    first = seen.folded.position(seen.from_page(span.start))
    if query.prefix:
        stop = seen.folded.position(_back(seen.raw, seen.from_page(span.start)))
        found = _is_led_by(seen.folded.text, stop - len(query.prefix), query.prefix)
    else:
        found = _is_led_by(seen.folded.text, first, query.start)
    if found or not query.end:
        return found
    last = seen.folded.position(seen.from_page(span.end - len(directive.end)))
    return _is_led_by(seen.folded.text, last, query.end)


def _is_led_by(text: str, at: int, part: str) -> bool:
    longest = min(len(part) - 1, at)
    return any(
        text.endswith(part[:n], 0, at) and not (at > n and text[at - n - 1].isalnum())
        for n in range(1, longest + 1)
        if text[at - n] == part[0]
    )


def _letter_marks(page: Page) -> frozenset[str]:
    """The marks of a page that are letters set above another.

    Firefox skips them, ICU takes them for the letter: no fold can say both.
    """
    found: frozenset[str] | None = page.views.get("letter marks")
    if found is None:
        beyond = frozenset() if page.text.isascii() else frozenset(page.text)
        found = page.views["letter marks"] = frozenset(
            c for c in beyond if c in SIGNS and WIDE[ord(c)].isascii() and WIDE[ord(c)].isalnum()
        )
    return found


def _stands_unmarked_before(page: Page, directive: Directive, span: Span) -> bool:
    """Whether a part has a letter for a mark, or stands before the span but for such marks."""
    marks = _letter_marks(page)
    if any(not marks.isdisjoint(part) for part in _parts(directive)):
        return True
    unmarked = str.maketrans(dict.fromkeys(marks, ""))
    before = fold_text(_collapse(page.text[: span.end].translate(unmarked)), WIDE).text
    part = fold_text(_collapse(directive.end or directive.start), WIDE).text
    start = fold_text(_collapse(directive.start), WIDE).text
    return any(before.count(one) > 1 for one in (start, part))


def _freezes(page: Page, directive: Directive) -> bool:
    """Whether Chromium may spin for ever: it does when it has to pass over a match.

    Measured: any place on the page, before or behind the wanted one, that equals a part of
    the directive but for the edge of a word or grapheme, where the edge is a character
    beyond U+FFFF.
    """
    seen = view(page, "chromium")
    for part in _parts(directive):
        query = _Query.of(seen, Directive(part))
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


def _skipped_back(text: str, at: int) -> int:
    """The offset before blanks and cuts of a folded text that end at `at`."""
    while at and text[at - 1] in _FOLDED_BLANKS:
        at -= 1
    return at


def _skipped_on(text: str, at: int) -> int:
    """The offset behind blanks and cuts of a folded text that begin at `at`."""
    while at < len(text) and text[at] in _FOLDED_BLANKS:
        at += 1
    return at


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


class _Inner(NamedTuple):
    """Which edges of a match lie towards its context: these need be no edge of a word."""

    start: bool
    end: bool


_OUTER = _Inner(False, False)


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
        inner = _Inner(bool(self.prefix), bool(self.suffix) and not self.end)
        for at, start, end, sure in self._find(self.start, self.directive.start, since, inner):
            before = self._prefix_fits(start, at) if inner.start else "yes"
            after = self._suffix_fits(end, at + len(self.start)) if inner.end else "yes"
            if before != "no" and after != "no":
                yield start, end, sure and before == after == "yes" and self.searchable

    def starts_of(self, folded: str) -> Iterator[tuple[int, int, bool]]:
        """(start, end, sure) of each match of a folded text, inside words too."""
        for _, start, end, sure in self._find(folded, self.directive.start, 0, _Inner(True, True)):
            yield start, end, sure

    def ends_of(self, folded: str, after: int) -> Iterator[tuple[int, int, bool]]:
        """(start, end, sure) of each match of a folded text behind `after`."""
        for _, start, end, sure in self._find(folded, self.directive.start, after, _OUTER):
            yield start, end, sure

    def ends(self, after: int) -> Iterator[tuple[int, int, bool]]:
        """(start, end, sure) of each fitting range end behind `after`."""
        inner = _Inner(False, bool(self.suffix))
        for at, start, end, sure in self._find(self.end, self.directive.end, after, inner):
            fits = self._suffix_fits(end, at + len(self.end)) if inner.end else "yes"
            if fits != "no":
                yield start, end, sure and fits == "yes"

    @property
    def searchable(self) -> bool:
        """Whether browsers search for each of its characters as they stand."""
        parts = _parts(self.directive)
        return not any(_UNSEARCHABLE.search(part) or _marks_a_symbol(part) for part in parts)

    def _find(
        self, folded: str, asked: str, after: int, inner: _Inner
    ) -> Iterator[tuple[int, int, int, bool]]:
        """Folded offset, start, end and `sure` of each match."""
        seen = self.view
        text, map_back = seen.folded.text, seen.folded
        at = text.find(folded, map_back.position(after))
        while at >= 0:
            start, end = map_back.origin(at), map_back.origin(at + len(folded))
            verdict = self._whole((start, end), at, len(folded), asked, inner)
            if verdict != "no" and seen.profile.name == "webkit":
                verdict = verdict if webkit_accepts(asked, seen.raw[start:end]) else "no"
            if verdict != "no":
                yield at, start, end, verdict == "yes"
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

    def _whole(
        self, place: tuple[int, int], at: int, length: int, asked: str, inner: _Inner
    ) -> str:
        """Whether a match has edges that the browser accepts: "yes", "maybe", "no"."""
        seen = self.view
        start, end = place
        first, last = (
            _edge(seen, start, seen.to_page(start)),
            _edge(seen, end, seen.to_page_end(end)),
        )
        # Towards its context a match may begin or end inside a word.
        if (first == "yes" and not inner.start) or (last == "yes" and not inner.end):
            return "no"
        if seen.profile.name == "any":
            return "yes"
        sure = first == last == "no" and not _UNSEARCHABLE.search(asked)
        sure = sure and not _doubtful(seen.raw, start) and not _doubtful(seen.raw, end)
        # Half of an expansion, as the i of a ligature: a finder may or may not take it.
        sure = sure and seen.folded.position(start) == at
        sure = sure and seen.folded.position(end) == at + length
        sure = sure and is_boundary(seen.raw, start) and is_boundary(seen.raw, end)
        sure = sure and not self._drops(start) and not self._drops(end - 1)
        # One that begins with a mark may be taken without it.
        sure = sure and not self._is_mark(start)
        if seen.profile.name == "firefox" and self._is_mark(end - 1):
            # Chromium and WebKit take the accent that follows along, Firefox refuses.
            sure = sure and asked.endswith(seen.raw[end - 1])
        return "yes" if sure else "maybe"

    def _drops(self, offset: int) -> bool:
        """Whether a browser skips the character at `offset` wherever it stands.

        A match doesn't begin with it or end with it. Firefox turns a match down that ends
        before it, since no word ends there; Chromium and WebKit take a mark along.
        """
        seen = self.view
        dropped = not seen.profile.fold[ord(seen.raw[offset])]
        return dropped and (seen.profile.name == "firefox" or not self._is_mark(offset))

    def _is_mark(self, offset: int) -> bool:
        return category(self.view.raw[offset])[0] == "M"

    def _prefix_fits(self, start: int, at: int) -> str:
        """Whether the prefix ends where the match begins, white space and cuts aside."""
        seen = self.view
        if seen.profile.name == "any":
            text = seen.folded.text
            stops = (_skipped_back(text, at), *self._beyond_closed(start, -1))
            return "yes" if any(self._prefix_ends(stop) == "yes" for stop in stops) else "no"
        back = _back(seen.raw, start)
        fits = self._prefix_ends(seen.folded.position(back))
        if fits == "no":
            return "maybe" if self._prefix_beyond_closed(start) else "no"
        return fits if self._beside(back - 1, start) and not self._drops(back - 1) else "maybe"

    def _prefix_ends(self, at: int) -> str:
        seen = self.view
        if not seen.folded.text.endswith(self.prefix, 0, at):
            return "no"
        begin = seen.folded.origin(at - len(self.prefix))
        return self._rim(begin, seen.to_page(begin))

    def _prefix_beyond_closed(self, start: int) -> bool:
        return any(self._prefix_ends(at) != "no" for at in self._beyond_closed(start, -1))

    def _suffix_fits(self, end: int, at: int) -> str:
        """Whether the suffix begins where the match ends, white space and cuts aside."""
        seen = self.view
        if seen.profile.name == "any":
            text = seen.folded.text
            begins = (_skipped_on(text, at), *self._beyond_closed(end, 1))
            return "yes" if any(self._suffix_begins(one) == "yes" for one in begins) else "no"
        on = _on(seen.raw, end)
        fits = self._suffix_begins(seen.folded.position(on))
        if fits == "no":
            return "maybe" if self._suffix_beyond_closed(end) else "no"
        return fits if self._beside(on, end - 1) else "maybe"

    def _suffix_begins(self, at: int) -> str:
        seen = self.view
        if not seen.folded.text.startswith(self.suffix, at):
            return "no"
        stop = seen.folded.origin(at + len(self.suffix))
        verdict = self._rim(stop, seen.to_page_end(stop))
        return "maybe" if verdict == "yes" and self._drops(stop - 1) else verdict

    def _suffix_beyond_closed(self, end: int) -> bool:
        return any(self._suffix_begins(at) != "no" for at in self._beyond_closed(end, 1))

    def _beyond_closed(self, edge_at: int, step: int) -> Iterator[int]:
        """Where context stands for a browser that passes over closed `<details>` beside a match.

        A folded offset: the rim of the next run that is as open as the match, in steps of
        -1 or 1.
        """
        seen, page = self.view, self.view.page
        index = page.run_at(seen.to_page(edge_at if step < 0 else edge_at - 1))
        mine = page.runs[index].closed
        passed = False
        index += step
        while 0 <= index < len(page.runs):
            run = page.runs[index]
            index += step
            if run.kind in (Kind.ALT, Kind.HIDDEN) or run.kind not in seen.profile.kinds:
                continue
            if run.closed != mine:
                passed = True
                continue
            if passed:
                rim = seen.from_page(run.start if step > 0 else run.end - 1)
                yield seen.folded.position(rim if step > 0 else rim + 1)
            return

    def _beside(self, context: int, match: int) -> bool:
        """Whether the context's nearest character surely counts as standing beside the match."""
        seen, page = self.view, self.view.page
        if seen.raw[context] in _INVISIBLE:
            return False
        mine, other = sorted(page.run_at(seen.to_page(at)) for at in (match, context))
        # Chromium looks for context before it opens a closed `<details>`.
        if page.runs[mine].closed != page.runs[other].closed:
            return False
        # What isn't shown between them, such as a list of options, may be in the way.
        if any(run.kind > Kind.CHROME for run in page.runs[mine + 1 : other]):
            return False
        # Firefox was seen to lose its way where NBSP stands at the rim of a block.
        low, high = sorted((context, match))
        gap = seen.raw[low + 1 : high]
        return not ("\u00a0" in gap and CUT in gap)

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
