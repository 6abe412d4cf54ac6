"""EQ006: the passage runs across a block, a cell, a line break or another cut of the page."""

from __future__ import annotations

import re
from bisect import bisect_right

from exactquote.checks.site import Site, shown
from exactquote.codes import fault
from exactquote.model import Diagnostic, Related, Span, Written
from exactquote.rendered.edges import inside_word
from exactquote.rendered.find import folded_quote, ready
from exactquote.rendered.folds import STRICT
from exactquote.rendered.page import CUT, Kind, Page, Run

# Dropped by the strict fold: words on both sides of a cut become one, as `one<br>two` reads.
_NOTHING = "\u2060"
_WORD = re.compile(r"\S+")
_RANGE_WORDS = 8
_VISIBLE = frozenset({Kind.TEXT, Kind.CHROME, Kind.CONTROL, Kind.FOREIGN})
_CUTS = {
    "br": "a line break",
    "img": "a picture",
    "button": "a button",
    "svg": "a drawing",
    "math": "a formula",
    "ruby": "a reading aid",
    "input": "a form field",
    "embed": "an embedded element",
    "hidden": "hidden text",
    "float": "a floating element",
    "eaten": "a space that a style sheet writes",
    "inline-block": "an inline block",
}


def check(written: Written, quote: str, page: Page, site: Site) -> Diagnostic | None:
    """A fault when the passage is there once cuts are read as spaces, or as nothing."""
    found = spanning(page, quote)
    if found is None:
        return None
    cut = page.text.index(CUT, found.start)
    joint = page.runs[page.run_at(cut - 1)].joint
    left = page.text[found.start : cut]
    following = _next_visible(page, cut)
    right = page.text[following.start : min(following.end, found.end)]
    tag = following.tag
    what = _CUTS.get(joint, f"the rim of a block (<{tag}>)")
    last = page.text[found.start : found.end].split(CUT)[-1]
    return fault(
        "EQ006",
        written.place,
        f"the passage crosses {what} between {shown(left[-40:])} and {shown(right[:40])}",
        "quote one side of it, or cite a range:"
        f" from {shown(_first(left))} to {shown(_last(last))}",
        (Related(site.locate(page, Span(found.start, cut)), "the passage begins here"),),
    )


def _first(text: str) -> str:
    """Some words that a range may begin with."""
    ends = [match.end() for match in _WORD.finditer(text) if inside_word(text, match.end()) == "no"]
    return text[: ends[min(len(ends), _RANGE_WORDS) - 1]] if ends else text


def _last(text: str) -> str:
    """Some words that a range may end with."""
    begins = [m.start() for m in _WORD.finditer(text) if inside_word(text, m.start()) == "no"]
    return text[begins[-min(len(begins), _RANGE_WORDS)] :] if begins else text


def _next_visible(page: Page, cut: int) -> Run:
    """The first run behind a cut that readers see: it holds the rest of the passage."""
    return next(
        run for run in page.runs[page.run_at(cut) :] if run.start > cut and run.kind in _VISIBLE
    )


def spanning(page: Page, quote: str, kinds: frozenset[Kind] = _VISIBLE) -> Span | None:
    """Where the quote stands when cuts, and text of other kinds, are no obstacle."""
    needle = folded_quote(quote, STRICT)
    runs = [run for run in page.runs if run.kind in kinds]
    for joined in (" ", _NOTHING):
        starts, length = [], 0
        for run in runs:
            starts.append(length)
            length += run.end - run.start + 1
        text = joined.join(page.text[run.start : run.end] for run in runs)
        for start, end in ready(text, STRICT).find(needle):
            first, last = bisect_right(starts, start) - 1, bisect_right(starts, end - 1) - 1
            if first != last:
                return Span(
                    runs[first].start + start - starts[first],
                    runs[last].start + end - starts[last],
                )
    return None
