"""Turn a page into the text that one browser searches, with offsets back to the page.

Browsers disagree on which inline cuts end a search (a button, a picture, `inline-block`),
on which hidden corners are searched (alternative text, form fields) and on which characters
are equal. `ANY` is the view that holds every match that any of them could make.
Measured: `tests/browser/measured.jsonl` and the handbook's text model.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, NamedTuple

from exactquote.model import Span
from exactquote.rendered.folds import CHROMIUM, FIREFOX, WEBKIT, WIDE, Fold, Folded, fold_text
from exactquote.rendered.page import CUT, Kind, Page, Run

Name = Literal["any", "chromium", "firefox", "webkit"]

_SEEN = frozenset({Kind.TEXT, Kind.CHROME, Kind.CONTROL, Kind.CLIPPED})
# No part of the text around it: never shown, or shown only where a picture is missing.
_APART = frozenset({Kind.HIDDEN, Kind.ALT, Kind.LABEL})
_BLANKS = " \t\n\r\f\u00a0"
_SPACES = re.compile(r"[ \t\n\r\f\u00a0]{2,}|[\t\n\r\f]")


@dataclass(frozen=True, slots=True)
class Profile:
    """How one browser reads a page. `glued` are the cuts it reads across."""

    name: Name
    fold: Fold
    kinds: frozenset[Kind]
    glued: frozenset[str]
    collapses_pre: bool


_SOFT = frozenset(
    "br img button ruby svg math input embed other inline-block float hidden invisible styled"
    " mixed eaten".split()
)
PROFILES: dict[Name, Profile] = {
    "any": Profile("any", WIDE, frozenset(Kind), _SOFT, True),
    "chromium": Profile(
        "chromium",
        CHROMIUM,
        _SEEN | {Kind.FOREIGN, Kind.VALUE},
        frozenset({"img", "hidden", "invisible", "eaten"}),
        False,
    ),
    "firefox": Profile(
        "firefox",
        FIREFOX,
        _SEEN | {Kind.FOREIGN, Kind.VALUE},
        frozenset({"img", "hidden", "button", "inline-block"}),
        True,
    ),
    "webkit": Profile(
        "webkit",
        WEBKIT,
        _SEEN,
        frozenset({"img", "hidden", "invisible", "button", "inline-block", "float", "br"}),
        False,
    ),
}
BROWSERS: tuple[Name, ...] = ("chromium", "firefox", "webkit")


@dataclass(frozen=True, slots=True)
class View:
    """The searched text of a page (`raw`, cuts as NUL) and its fold; maps offsets both ways."""

    profile: Profile
    page: Page
    raw: str
    folded: Folded
    starts: tuple[int, ...] = ()
    """View offsets where a piece of the page begins; empty when `raw` is the page's text."""
    froms: tuple[int, ...] = ()
    """Page offsets of these pieces, in the same order."""
    seams: frozenset[int] = field(default=frozenset(), repr=False)
    """View offsets where text was joined with nothing between, yet a match may end there."""
    page_froms: tuple[int, ...] = field(default=(), repr=False)
    """The page offsets again, sorted."""
    page_starts: tuple[int, ...] = field(default=(), repr=False)
    """The view offsets of the same pieces, in the order of `page_froms`."""
    page_stops: tuple[int, ...] = field(default=(), repr=False)
    """The page offsets where they end, in that order too."""

    def to_page(self, offset: int) -> int:
        """Page offset of a view offset."""
        if not self.starts:
            return offset
        k = bisect_right(self.starts, offset) - 1
        return self.froms[k] + offset - self.starts[k]

    def to_page_end(self, offset: int) -> int:
        """Page offset of the end of a match, which belongs to the piece before it."""
        return self.to_page(offset - 1) + 1 if self.starts else offset

    def from_page(self, offset: int) -> int:
        """View offset of a page offset; meaningless for text that this view leaves out."""
        if not self.starts:
            return offset
        k = bisect_right(self.page_froms, offset) - 1
        return self.page_starts[k] + offset - self.page_froms[k]

    def in_one_piece(self, span: Span) -> int | None:
        """View offset of the start of a page span, if all of it stands there in one piece."""
        if not self.starts:
            return span.start
        k = bisect_right(self.page_froms, span.start) - 1
        if k < 0 or span.end > self.page_stops[k]:
            return None
        return self.page_starts[k] + span.start - self.page_froms[k]


def view(page: Page, name: Name) -> View:
    """The page as `name` searches it; made once per page."""
    views = page.kept
    made = views.get(name)
    if made is None:
        made = views[name] = _make(page, PROFILES[name])
    return made


def _make(page: Page, profile: Profile) -> View:
    if all(_plain(run, profile) for run in page.runs):
        if not profile.collapses_pre or not _SPACES.search(page.text):
            return View(profile, page, page.text, fold_text(page.text, profile.fold))
        # Browsers that collapse all see the same, since nothing is joined or left out.
        strung = page.kept.get("collapsed")
        if strung is None:
            strung = page.kept["collapsed"] = _string(page, profile)
    else:
        strung = _string(page, profile)
    return View(profile, page, strung.raw, fold_text(strung.raw, profile.fold), *strung[1:])


class _Strung(NamedTuple):
    """The fields of a view that don't depend on its fold."""

    raw: str
    starts: tuple[int, ...]
    froms: tuple[int, ...]
    seams: frozenset[int]
    page_froms: tuple[int, ...]
    page_starts: tuple[int, ...]
    page_stops: tuple[int, ...]


def _string(page: Page, profile: Profile) -> _Strung:
    writer = _Writer(page, profile)
    for run in page.runs:
        writer.take(run)
    pieces = sorted(zip(writer.froms, writer.starts, writer.stops, strict=True))
    return _Strung(
        "".join(writer.out),
        tuple(writer.starts),
        tuple(writer.froms),
        frozenset(writer.seams),
        tuple(offset for offset, _, _ in pieces),
        tuple(start for _, start, _ in pieces),
        tuple(stop for _, _, stop in pieces),
    )


def _plain(run: Run, profile: Profile) -> bool:
    if run.resumed and profile.name == "chromium":
        return False
    return run.kind in profile.kinds and run.kind not in _APART and run.joint not in profile.glued


class _Writer:
    """Strings the runs together as one browser would."""

    def __init__(self, page: Page, profile: Profile) -> None:
        self.out: list[str] = []
        self.starts: list[int] = []
        self.froms: list[int] = []
        self.stops: list[int] = []
        self.seams: list[int] = []
        self._text = page.text
        self._profile = profile
        self._length = 0
        self._joint = "block"
        self._space = False
        if profile.name == "any":
            # Text that is not shown now may come to be shown, so it counts, and counts as
            # standing first: a link that is unique with it is unique without it.
            for run in page.runs:
                if run.kind in _APART:
                    self._write(run)
                    self._cut()

    def take(self, run: Run) -> None:
        if run.kind not in self._profile.kinds or run.kind in _APART:
            self._joint = _both(self._joint, run.joint)
            # White space inside hidden text isn't rendered either.
            shown = run.kind is not Kind.HIDDEN
            self._space = self._space or (shown and (run.space_before or run.space_after))
            return
        if self.out:
            self._join(run)
        self._write(run)
        self._joint = run.joint
        self._space = run.space_after

    def _join(self, run: Run) -> None:
        spaced = self._space or run.space_before
        joint = self._joint
        if joint not in self._profile.glued:
            self._cut()
        elif self._profile.name == "chromium" and joint == "eaten":
            # The page's space is dropped behind one that a style sheet writes, which Chromium
            # doesn't search.
            return
        elif self._profile.name == "webkit" and joint == "img" and self._space and run.space_before:
            # WebKit keeps the spaces on both sides of a picture, so that neither one nor two match.
            self._cut()
        elif spaced and not (self._profile.name == "webkit" and joint == "br"):
            self._space_out()
        elif self._profile.name == "any" or joint == "br":
            self.seams.append(self._length)

    def _space_out(self) -> None:
        # Kept white space, that of `<pre>`, may end there already.
        if not (self._profile.collapses_pre and self._blank):
            self.out.append(" ")
            self._length += 1

    @property
    def _blank(self) -> bool:
        return bool(self.out) and self.out[-1][-1] in _BLANKS

    def _cut(self) -> None:
        if self.out and self.out[-1] != CUT:
            self.out.append(CUT)
            self._length += 1

    def _write(self, run: Run) -> None:
        if run.resumed and self._profile.name == "chromium":
            # Having met a button in an inline element, Chromium reads on to the end of that
            # element and begins anew behind it.
            rims = (run.start, *run.resumed, run.end)
            for start, end in pairwise(rims):
                self._piece(start, self._text[start:end])
                if end != run.end:
                    self._cut()
            return
        start, text = run.start, self._text[run.start : run.end]
        done = 0
        if self._profile.collapses_pre:
            if self._blank:
                done = len(text) - len(text.lstrip(_BLANKS))
            for found in _SPACES.finditer(text, done):
                self._piece(start + done, text[done : found.start()])
                self._piece(start + found.end() - 1, " ")
                done = found.end()
        self._piece(start + done, text[done:])

    def _piece(self, start: int, text: str) -> None:
        if text:
            self.starts.append(self._length)
            self.froms.append(start)
            self.stops.append(start + len(text))
            self.out.append(text)
            self._length += len(text)


def _both(first: str, second: str) -> str:
    if first == second:
        return first
    return "block" if "block" in (first, second) else "mixed"
