"""Turn a directive into the places of one browser's view that fit it, part by part.

A place fits surely, or may fit: where browsers of its kind can't be foretold it is not `sure`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from unicodedata import category, is_normalized

from exactquote.deeplink.directive import Directive
from exactquote.deeplink.views import View
from exactquote.model import Span
from exactquote.rendered.edges import ASCII_EDGES, Inside, edge, inside_word, is_new
from exactquote.rendered.folds import (
    FIREFOX,
    SIGNS,
    Fold,
    beyond_ascii,
    fold_text,
    webkit_accepts,
)
from exactquote.rendered.graphemes import is_boundary
from exactquote.rendered.page import CUT, PASSED_OVER, Kind

# Single spaces, which are what most white space is, stay as they are.
_WHITE = re.compile("[ \t\n\r\f\u00a0]{2,}|[\t\n\r\f\u00a0]")
_SPACES = re.compile("[ \t\n\r\f\u00a0]{2}")
_KEPT = re.compile("[ \t\n\r\f\u00a0]+")
# Browsers look through them inside a word, but not all do at the rim of a match.
_INVISIBLE = frozenset("\u00ad\u034f\u061c\u180e\ufeff") | {
    chr(code) for code in (*range(0x200B, 0x2010), *range(0x2060, 0x206A), *range(0xFE00, 0xFE10))
}
# Firefox makes a letter of U+0345 where it folds the case of what is asked for, and skips it
# on the page.
_UNSEARCHABLE = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u0345]")
_SELECTORS = frozenset(map(chr, range(0xFE00, 0xFE10)))
# Of these `_is_plain` holds, and no browser sees a word go over them.
_SURE_STARTS = frozenset(pair for pair in ASCII_EDGES if pair[1].isprintable() and "@" not in pair)
_SURE_ENDS = frozenset(pair for pair in ASCII_EDGES if pair[0].isprintable() and "@" not in pair)
_REPEATERS = frozenset("々〻ゝゞヽヾー")
_SKIPPED = " \t\n\r\f\u00a0" + CUT
_BEYOND_GREEK = "\u0400"
_FOLDED_BLANKS = frozenset(" " + CUT)


class _Inner(NamedTuple):
    """Which edges of a match lie towards its context: these need be no edge of a word."""

    start: bool
    end: bool


_OUTER = _Inner(False, False)


@dataclass(frozen=True, slots=True)
class Query:
    """A directive, folded as one browser folds it, over that browser's view."""

    view: View
    directive: Directive
    start: str
    end: str
    prefix: str
    suffix: str

    @classmethod
    def of(cls, seen: View, directive: Directive) -> Query | None:
        """None where a part can't be searched for."""
        # One directive is asked about several times in a row.
        name = f"asked of {seen.profile.name}"
        last: tuple[Directive, Query | None] | None = seen.page.kept.get(name)
        if last is None or (last[0] is not directive and last[0] != directive):
            last = seen.page.kept[name] = (directive, cls._folded(seen, directive))
        return last[1]

    @classmethod
    def _folded(cls, seen: View, directive: Directive) -> Query | None:
        parts = [directive.start, directive.end, directive.prefix, directive.suffix]
        for number, part in enumerate(parts):
            if not part:
                continue
            parts[number] = _fold(seen, part)
            # A part that folds to nothing can't be searched for.
            if not parts[number] and part.strip():
                return None
        return cls(seen, directive, *parts) if parts[0] else None

    def starts(self, since: int = 0) -> Iterator[tuple[int, int, bool]]:
        """(start, end, sure) of each fitting start, in offsets of the view."""
        inner = _Inner(bool(self.prefix), bool(self.suffix) and not self.end)
        places = self._led() if self._is_led and not since else None
        for at, start, end, sure in self._find(
            self.start, self.directive.start, since, inner, places
        ):
            before = self._prefix_fits(start, at) if inner.start else "yes"
            after = self._suffix_fits(end, at + len(self.start)) if inner.end else "yes"
            if before != "no" and after != "no":
                yield (
                    start,
                    end,
                    sure and before == after == "yes" and is_searchable(self.directive),
                )

    @property
    def _is_led(self) -> bool:
        """Whether any start that fits stands right behind the prefix, but for blanks and cuts."""
        by_itself = self.view.profile.name == "any" and not self.view.page.passed_over
        return bool(self.prefix) and by_itself and self.start[0] not in _FOLDED_BLANKS

    def _led(self) -> Iterator[int]:
        """Folded offsets of starts behind the prefix: far fewer, where a sentence stands often."""
        text = self.view.folded.text
        at = text.find(self.prefix)
        while at >= 0:
            start = _folded_on(text, at + len(self.prefix))
            if text.startswith(self.start, start):
                yield start
            at = text.find(self.prefix, at + 1)

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

    def _find(
        self,
        folded: str,
        asked: str,
        after: int,
        inner: _Inner,
        places: Iterator[int] | None = None,
    ) -> Iterator[tuple[int, int, int, bool]]:
        """Folded offset, start, end and `sure` of each match, at `places` if these are known."""
        seen = self.view
        text, map_back = seen.folded.text, seen.folded
        kept = seen.profile.collapses_pre and _SPACES.search(asked)
        spaced = _KEPT.findall(asked) if kept else []
        if places is None:
            places = _everywhere(text, folded, map_back.position(after))
        for at in places:
            start, end = map_back.origin(at), map_back.origin(at + len(folded))
            verdict = self._whole((start, end), at, len(folded), asked, inner)
            if verdict != "no" and spaced and not self._is_as_wide(start, end, spaced):
                verdict = "no"
            if verdict != "no" and seen.profile.name == "webkit":
                verdict = verdict if webkit_accepts(asked, seen.raw[start:end]) else "no"
            if verdict != "no":
                yield at, start, end, verdict == "yes"

    def _is_as_wide(self, start: int, end: int, spaced: list[str]) -> bool:
        """Whether no white space of a match in one `<pre>` is shorter than what is asked for.

        `spaced` is what is asked for. Firefox takes any white space that is as long, or longer,
        and no other browser takes more than it does.
        """
        seen, page = self.view, self.view.page
        first, last = seen.to_page(start), seen.to_page_end(end)
        run = page.runs[page.run_at(first)]
        if not run.pre or last > run.end:
            return True
        found = _KEPT.findall(page.text, first, last)
        return len(found) != len(spaced) or all(
            len(here) >= len(wanted) for here, wanted in zip(found, spaced, strict=True)
        )

    def passed_over_in_vain(self) -> bool:
        """Whether Chromium can't get on from a place equal to the start that has an unfit edge.

        It can't where that edge is at a character beyond U+FFFF, or where the place begins with
        a letter that is written as two characters.
        """
        seen, raw = self.view, self.view.raw
        at = seen.folded.text.find(self.start)
        while at >= 0:
            start, end = seen.folded.origin(at), seen.folded.origin(at + len(self.start))
            stuck = _is_composable(raw, start)
            for edge_at in (start, end):
                beside = raw[max(0, edge_at - 1) : edge_at + 1]
                if not stuck and (beside.isascii() or max(beside) <= "\uffff"):
                    continue
                if edge(raw, edge_at, "chromium") != "no" or not is_boundary(raw, edge_at):
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
        # Half of an expansion, as the i of a ligature: a finder may or may not take it.
        sure = sure and seen.folded.position(start) == at
        sure = sure and seen.folded.position(end) == at + length
        if sure and _is_plain(seen.raw, start, end):
            return "yes"
        sure = sure and not _doubtful(seen.raw, start) and not _doubtful(seen.raw, end)
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
        dropped = drops(seen.raw, offset, seen.profile.fold)
        return dropped and (seen.profile.name == "firefox" or not self._is_mark(offset))

    def _is_kept(self, part: str, last: int) -> bool:
        """Whether a part ends with the character at `last`, if that is a variation selector."""
        return not _selects(self.view.raw, last) or part.endswith(self.view.raw[last])

    def _is_mark(self, offset: int) -> bool:
        return category(self.view.raw[offset])[0] == "M"

    def _prefix_fits(self, start: int, at: int) -> str:
        """Whether the prefix ends where the match begins, white space and cuts aside."""
        seen = self.view
        if seen.profile.name == "any":
            text = seen.folded.text
            stops = (_folded_back(text, at), *self._beyond(start, -1))
            return "yes" if any(self._prefix_ends(stop) != "no" for stop in stops) else "no"
        back = back_over_blanks(seen.raw, start)
        fits = self._prefix_ends(seen.folded.position(back))
        if fits == "no":
            return "maybe" if self._prefix_beyond(start) else "no"
        sure = self._beside(back - 1, start) and not self._drops(back - 1)
        return fits if sure and self._is_kept(self.directive.prefix, back - 1) else "maybe"

    def _prefix_ends(self, at: int) -> str:
        seen = self.view
        if not seen.folded.text.endswith(self.prefix, 0, at):
            return "no"
        begin = seen.folded.origin(at - len(self.prefix))
        return self._rim(begin, seen.to_page(begin))

    def _prefix_beyond(self, start: int) -> bool:
        return any(self._prefix_ends(at) != "no" for at in self._beyond(start, -1))

    def _suffix_fits(self, end: int, at: int) -> str:
        """Whether the suffix begins where the match ends, white space and cuts aside."""
        seen = self.view
        if seen.profile.name == "any":
            text = seen.folded.text
            begins = (_folded_on(text, at), *self._beyond(end, 1))
            return "yes" if any(self._suffix_begins(one) != "no" for one in begins) else "no"
        on = on_over_blanks(seen.raw, end)
        fits = self._suffix_begins(seen.folded.position(on))
        if fits == "no":
            return "maybe" if self._suffix_beyond(end) else "no"
        return fits if self._beside(on, end - 1) else "maybe"

    def _suffix_begins(self, at: int) -> str:
        seen = self.view
        if not seen.folded.text.startswith(self.suffix, at):
            return "no"
        stop = seen.folded.origin(at + len(self.suffix))
        verdict = self._rim(stop, seen.to_page_end(stop))
        sure = not self._drops(stop - 1) and self._is_kept(self.directive.suffix, stop - 1)
        return "maybe" if verdict == "yes" and not sure else verdict

    def _suffix_beyond(self, end: int) -> bool:
        return any(self._suffix_begins(at) != "no" for at in self._beyond(end, 1))

    def _beyond(self, edge_at: int, step: int) -> Iterator[int]:
        """Where context stands for a browser that passes over what is beside a match.

        That is what closed `<details>` and form fields hold. A folded offset: the rim of the
        next run that is as open as the match, in steps of -1 or 1.
        """
        seen, page = self.view, self.view.page
        index = page.run_at(seen.to_page(edge_at if step < 0 else edge_at - 1))
        mine = page.runs[index].closed
        passed = False
        index += step
        while 0 <= index < len(page.runs):
            run = page.runs[index]
            index += step
            if run.kind in PASSED_OVER or run.closed != mine:
                passed = True
                continue
            if passed:
                rim = seen.from_page(run.start if step > 0 else run.end - 1)
                yield seen.folded.position(rim if step > 0 else rim + 1)
            return

    def _beside(self, context: int, match: int) -> bool:
        """Whether the context's nearest character surely counts as standing beside the match."""
        seen, page = self.view, self.view.page
        if seen.raw[context] in _INVISIBLE and not _selects(seen.raw, context):
            return False
        mine, other = sorted(page.run_at(seen.to_page(at)) for at in (match, context))
        # Chromium looks for context before it opens a closed `<details>`.
        if page.runs[mine].closed != page.runs[other].closed:
            return False
        # A field may have a label that the page doesn't name.
        if any(run.joint in ("input", "mixed") for run in page.runs[mine:other]):
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


def _fold(seen: View, text: str) -> str:
    name = seen.profile.name
    # Firefox takes a run of spaces for one where the page keeps it, only there.
    if name == "any":
        text = collapse(text)
    elif seen.profile.collapses_pre and (collapsed := collapse(text)) != text:
        text = collapsed if text in seen.page.text else text
    if name in ("any", "firefox"):
        text = text.strip(" ")
    return fold_text(text, seen.profile.fold).text


def _edge(seen: View, offset: int, on_page: int) -> Inside:
    """Whether an offset of the view is inside a word, for the browser whose view it is."""
    if offset in seen.seams:
        return "no"
    if seen.profile.name == "any":
        return inside_word(seen.raw, offset)
    inside = edge(seen.raw, offset, seen.profile.name)
    return "some" if inside == "no" and on_page in seen.page.frail else inside


def _is_plain(raw: str, start: int, end: int) -> bool:
    """Whether a match has ASCII at its edges, within and without, of which browsers agree.

    What `Query._whole` asks of the edges goes without saying then.
    """
    within = raw[start] + raw[end - 1]
    around = within + raw[max(0, start - 1) : start] + raw[end : end + 1]
    return around.isascii() and within.isprintable() and "@" not in around


def surely_at(seen: View, text: str, span: Span) -> bool:
    """Whether a browser surely finds a text where it stands, which plain edges are enough for.

    It is the first place at or behind the span's start, then. False says nothing: `Query`
    knows more. `text` is the page's own at `span`, and searchable.
    """
    raw, frail = seen.raw, seen.page.frail
    start = seen.in_one_piece(span)
    if start is None or not raw.startswith(text, start):
        return False
    end = start + len(text)
    if raw[start - 1 : start + 1] in _SURE_STARTS and raw[end - 1 : end + 1] in _SURE_ENDS:
        return span.start not in frail and span.end not in frail
    return _is_plain(raw, start, end) and (
        _edge(seen, start, span.start) == "no" == _edge(seen, end, span.end)
    )


def stands_first(seen: View, text: str, span: Span) -> bool:
    """Whether `surely_at` holds, and no place before it, though inside a word, is equal to it."""
    if not surely_at(seen, text, span):
        return False
    folded, start = seen.folded, seen.from_page(span.start)
    # Plain edges are folded by themselves: the page's fold holds that of the text.
    first, last = folded.position(start), folded.position(start + len(text))
    return folded.text.find(folded.text[first:last]) == first


def _is_composable(raw: str, start: int) -> bool:
    """Whether a letter beyond Latin and Greek stands there with a mark that it has a form with."""
    end = start + 1
    while end < len(raw) and category(raw[end])[0] == "M":
        end += 1
    return raw[start:end] > _BEYOND_GREEK and not is_normalized("NFC", raw[start:end])


def _doubtful(raw: str, offset: int) -> bool:
    """Whether browsers were seen to disagree on an edge here though no word goes over it."""
    pair = raw[max(0, offset - 1) : offset + 1]
    if _selects(raw, offset - 1):
        pair = pair[1:]
    if any(c in _INVISIBLE for c in pair):
        return True
    if len(pair) < 2:
        return False
    if "@" in pair:
        return pair[0].isalnum() or pair[1].isalnum()
    if all("\U0001f1e6" <= c <= "\U0001f1ff" for c in pair):
        return True
    return any(c in _REPEATERS for c in pair) and all(c.isalpha() for c in pair)


def drops(text: str, offset: int, fold: Fold = FIREFOX) -> bool:
    """Whether a browser skips the character at `offset`, wherever it stands; Firefox skips most."""
    return not fold[ord(text[offset])] and not _selects(text, offset)


def _selects(raw: str, offset: int) -> bool:
    """Whether a variation selector there belongs to the sign before it, as to a heart in colour.

    Browsers read them as one, with a second selector too, and a word may end behind them.
    """
    if raw[offset] not in _SELECTORS:
        return False
    sign = offset - 1
    while sign >= 0 and raw[sign] in _SELECTORS:
        sign -= 1
    return sign >= 0 and raw[sign] not in _INVISIBLE and raw[sign] not in _SKIPPED


# Each browser is asked in turn.
@lru_cache(maxsize=8)
def is_searchable(directive: Directive) -> bool:
    """Whether browsers search for each character of all parts as it stands."""
    return all(map(is_part_searchable, parts_of(directive)))


def is_part_searchable(part: str) -> bool:
    """Whether browsers search for each character of one part as it stands."""
    if _UNSEARCHABLE.search(part):
        return False
    if part.isascii():
        return True
    met = beyond_ascii(part)
    if any(map(is_new, met)) or (any(c in SIGNS for c in met) and _marks_a_symbol(part)):
        return False
    return max(met) <= "\uffff" or not _marks_another_script(part)


def _marks_a_symbol(part: str) -> bool:
    """Whether an accent stands on a symbol, as in a struck-out relation: Firefox keeps it there.

    It skips the same accent in what is asked for.
    """
    return any(
        category(before) in ("Sm", "So") and mark in SIGNS
        for before, mark in itertools.pairwise(part)
        if not mark.isascii()
    )


def _marks_another_script(part: str) -> bool:
    """Whether a mark beyond U+FFFF stands on what is none of its letters: Chromium misses it."""
    return any(
        mark > "\uffff" >= before and category(mark)[0] == "M"
        for before, mark in itertools.pairwise(part)
    )


def _everywhere(text: str, part: str, since: int) -> Iterator[int]:
    at = text.find(part, since)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def _folded_back(text: str, at: int) -> int:
    """The offset before blanks and cuts of a folded text that end at `at`."""
    while at and text[at - 1] in _FOLDED_BLANKS:
        at -= 1
    return at


def _folded_on(text: str, at: int) -> int:
    """The offset behind blanks and cuts of a folded text that begin at `at`."""
    while at < len(text) and text[at] in _FOLDED_BLANKS:
        at += 1
    return at


def back_over_blanks(raw: str, start: int) -> int:
    """The offset before white space and cuts that end at `start`."""
    while start and raw[start - 1] in _SKIPPED:
        start -= 1
    return start


def on_over_blanks(raw: str, end: int) -> int:
    """The offset behind white space and cuts that begin at `end`."""
    while end < len(raw) and raw[end] in _SKIPPED:
        end += 1
    return end


def parts_of(directive: Directive) -> tuple[str, ...]:
    """Those parts of a directive that it has."""
    every = (directive.prefix, directive.start, directive.end, directive.suffix)
    return tuple(filter(None, every))


def collapse(text: str) -> str:
    """The text with each run of white space as one space."""
    return _WHITE.sub(" ", text)
