"""Find every place a quote occurs in a rendered page.

Existence is strict: only case, white space, invisible characters, NFC or NFD, and straight
or curly quotation marks are forgiven, since every browser ignores them and no reader calls
them other wording.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from exactquote.rendered.folds import STRICT, Fold, Folded, fold_text
from exactquote.rendered.page import CUT, Kind, Page

_WHITE = re.compile(r"\s+")
# All white space but a lone space.
_UNEVEN = re.compile(r"\s\s+|[^\S ]")


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A place of the quote: offsets into the page's text; `exact` when not even case differs."""

    start: int
    end: int
    kind: Kind
    exact: bool


@dataclass(frozen=True, slots=True)
class Searched:
    """A text made ready for searching under one fold, white space collapsed."""

    folded: Folded
    origins: tuple[int, ...]
    shifts: tuple[int, ...]

    def find(self, needle: str) -> Iterator[tuple[int, int]]:
        """(start, end) of each occurrence of a folded needle, overlapping ones too."""
        text = self.folded.text
        at = text.find(needle) if needle else -1
        while at >= 0:
            start, end = self.folded.origin(at), self.folded.origin(at + len(needle))
            if self.folded.position(start) == at and self.folded.position(end) == at + len(needle):
                yield self._back(start), self._back(end - 1) + 1
            at = text.find(needle, at + 1)

    def _back(self, offset: int) -> int:
        if not self.origins:
            return offset
        return offset + self.shifts[bisect_right(self.origins, offset) - 1]


def find(page: Page, quote: str) -> tuple[Occurrence, ...]:
    """Every occurrence of `quote` within one run, of whatever kind, in document order."""
    needle = folded_quote(quote, STRICT)
    plain = _plain(quote)
    found = []
    for start, end in searched(page, STRICT).find(needle):
        kind = page.runs[page.run_at(start)].kind
        found.append(Occurrence(start, end, kind, _plain(page.text[start:end]) == plain))
    return tuple(found)


def searched(page: Page, fold: Fold) -> Searched:
    """The page's text under a fold; made once per page."""
    key = f"searched {fold.name}"
    made = page.kept.get(key)
    if made is None:
        made = page.kept[key] = ready(page.text, fold)
    return made


def ready(text: str, fold: Fold) -> Searched:
    """Collapse white space, then fold."""
    if not _UNEVEN.search(text):
        return Searched(fold_text(text, fold), (), ())
    out: list[str] = []
    origins, shifts = [0], [0]
    done = length = 0
    for match in _UNEVEN.finditer(text):
        out.append(text[done : match.start()] + " ")
        length += match.start() - done + 1
        done = match.end()
        origins.append(length)
        shifts.append(done - length)
    out.append(text[done:])
    return Searched(fold_text("".join(out), fold), tuple(origins), tuple(shifts))


def folded_quote(quote: str, fold: Fold) -> str:
    """A quote as it is looked up with `searched`."""
    return fold_text(_WHITE.sub(" ", quote).strip(" ").replace(CUT, ""), fold).text.strip(" ")


_STRAIGHT = str.maketrans(
    {**dict.fromkeys("“”„‟", '"'), **dict.fromkeys("‘’‚‛", "'"), "\u00ad": "", "\u200b": ""}
)


def _plain(text: str) -> str:
    """The text with all forgiven but case, to tell an exact occurrence from another case."""
    return unicodedata.normalize("NFC", _WHITE.sub(" ", text.translate(_STRAIGHT)).strip())


def find_past_marks(page: Page, quote: str, *, digits_only: bool) -> tuple[Occurrence, ...]:
    """Occurrences of a quote that leaves out footnote marks, or just their brackets.

    Offsets are the page's own, so what is cut from the page has its marks again.
    """
    needle = folded_quote(quote, STRICT)
    found = []
    for run in page.runs:
        if not run.marks or run.kind is not Kind.TEXT:
            continue
        kept = _without_marks(page, run.start, run.end, run.marks, digits_only)
        text = "".join(page.text[at] for at in kept)
        for start, end in ready(text, STRICT).find(needle):
            first, last = kept[start], kept[end - 1] + 1
            # The closing bracket behind the last digit belongs to what was quoted.
            for _, mark_end in run.marks:
                if mark_end - 1 == last:
                    last = mark_end
            found.append(Occurrence(first, last, run.kind, False))
    return tuple(found)


def _without_marks(
    page: Page, start: int, end: int, marks: tuple[tuple[int, int], ...], digits_only: bool
) -> list[int]:
    dropped: set[int] = set()
    for mark_start, mark_end in marks:
        span = range(mark_start, mark_end)
        dropped.update(at for at in span if not digits_only or page.text[at] in "[]")
    return [at for at in range(start, end) if at not in dropped]
