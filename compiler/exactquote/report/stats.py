"""Turn the passages of a corpus into figures on how they can be linked, and into a report."""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from exactquote.deeplink.directive import Directive, parse
from exactquote.deeplink.generate import NoLink, deep_link
from exactquote.deeplink.match import land
from exactquote.deeplink.views import BROWSERS
from exactquote.emit.blocks import give_ids
from exactquote.model import Passage, Place, Span
from exactquote.rendered.edges import inside_word
from exactquote.rendered.graphemes import is_boundary
from exactquote.rendered.page import Page
from exactquote.report.landing import columns
from exactquote.report.text import many
from exactquote.report.visible import visible

VERSION = 1
EXAMPLES_MAX = 5

Shape = Literal["exact", "context", "range"]
SHAPES: tuple[Shape, ...] = ("exact", "context", "range")

Kind = Literal["prose", "code"]
KINDS: tuple[Kind, ...] = ("prose", "code")
"""Code is what stands preformatted on its page; programs repeat themselves more than people."""

# The joints at which a passage ends for every browser.
_HARD = frozenset({"block", "br"})
_BOLD, _DIM, _OFF = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_QUOTE_CHARS = 70


@dataclass(frozen=True, slots=True)
class Reason:
    """Why passages have no directive: the generator's reason, and what kind of it."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Example:
    """One passage without a directive, where it is written."""

    place: Place
    quote: str


@dataclass(slots=True)
class Figures:
    """How many passages are linked in which shape, and how long their links are.

    `by_block` have no directive but a block that shows them; `unlinked` have neither.
    """

    shapes: Counter[Shape] = field(default_factory=Counter)
    by_block: int = 0
    unlinked: int = 0
    lengths: list[int] = field(default_factory=list)

    @property
    def passages(self) -> int:
        """All passages that were counted."""
        return self.shapes.total() + self.by_block + self.unlinked

    def percentile(self, share: float) -> int:
        """The length that this share of all links doesn't exceed; 0 where there is none."""
        at = max(math.ceil(share * len(self.lengths)), 1) - 1
        return sorted(self.lengths)[at] if self.lengths else 0

    def median(self) -> float:
        """The median length of a link; 0 where there is none."""
        return statistics.median(self.lengths) if self.lengths else 0


@dataclass(slots=True)
class Stats:
    """Figures of each document, of prose, of code and of all, and why some have no directive."""

    documents: dict[str, Figures] = field(default_factory=dict)
    total: Figures = field(default_factory=Figures)
    kinds: dict[Kind, Figures] = field(default_factory=lambda: {kind: Figures() for kind in KINDS})
    reasons: Counter[Reason] = field(default_factory=Counter)
    examples: dict[Reason, list[Example]] = field(default_factory=dict)


def count(
    pages: Mapping[str, Page],
    passages: Iterable[Passage],
    locate: Callable[[Page, Span], Place],
    progress: Callable[[int], None] | None = None,
    raw: Mapping[str, str] | None = None,
) -> Stats:
    """Try to link every passage; `locate` finds where one is written.

    `raw` is the HTML of those pages whose blocks can be given ids, by document.
    """
    stats = Stats({page.path: Figures() for page in pages.values()})
    unpinned: dict[str, list[Passage]] = {}
    for number, passage in enumerate(passages):
        if progress is not None:
            progress(number)
        page = pages[passage.doc]
        link = deep_link(page, passage.span)
        if not isinstance(link, NoLink):
            for figures in _figures_of(stats, page, passage):
                figures.shapes[shape(link.directive)] += 1
                figures.lengths.append(len(link.href))
        else:
            unpinned.setdefault(passage.doc, []).append(passage)
            reason = why(page, passage.span, link)
            stats.reasons[reason] += 1
            kept = stats.examples.setdefault(reason, [])
            if len(kept) < EXAMPLES_MAX:
                kept.append(Example(locate(page, passage.span), passage.quote))
    for doc, listed in unpinned.items():
        shown = give_ids(raw[doc], pages[doc], listed).ids if raw and doc in raw else {}
        for passage in listed:
            for figures in _figures_of(stats, pages[doc], passage):
                figures.by_block += passage.id in shown
                figures.unlinked += passage.id not in shown
    return stats


def _figures_of(stats: Stats, page: Page, passage: Passage) -> tuple[Figures, ...]:
    """All the figures that a passage counts in."""
    return stats.documents[page.path], stats.kinds[kind(page, passage.span)], stats.total


def kind(page: Page, span: Span) -> Kind:
    """Whether a passage is prose or code."""
    return "code" if page.runs[page.run_at(span.start)].pre else "prose"


def shape(fragment: str) -> Shape:
    """Which shape the directive of a link has; a range counts as one with context, too."""
    (directive,) = parse(fragment)[1]
    if directive.end:
        return "range"
    return "context" if directive.prefix or directive.suffix else "exact"


def why(page: Page, span: Span, link: NoLink) -> Reason:
    """Why no directive pins a passage."""
    if link.other is not None:
        same = page.text[link.other.start : link.other.end] == page.text[span.start : span.end]
        kind = "equal text" if same else "text that a browser takes for it"
        return Reason(link.reason, f"{kind}, and nothing around it tells the two apart")
    return Reason(link.reason, _kind(page, span))


def _kind(page: Page, span: Span) -> str:
    """What keeps browsers from landing on a passage that nothing else is taken for."""
    index = page.run_at(span.start)
    run = page.runs[index]
    text = page.text[run.start : run.end]
    for at in (span.start - run.start, span.end - run.start):
        if not is_boundary(text, at) or inside_word(text, at) != "no":
            return "an edge is inside a word for some browser"
    before = page.runs[index - 1].joint if index and span.start == run.start else "block"
    after = run.joint if span.end == run.end else "block"
    if before not in _HARD or after not in _HARD:
        return "it touches an element that some browser reads across"
    for name in BROWSERS:
        landing = land(page, Directive(page.text[span.start : span.end]), name)
        if landing is None:
            return f"{name} doesn't find it"
        if landing.span != span:
            return f"{name} finds other text"
        if not landing.sure:
            return f"{name} can't be foretold"
    return "a browser could find other text first"


def stats_text(
    stats: Stats,
    shown: Callable[[str], str],
    *,
    color: bool,
    documents: bool,
    examples: bool,
) -> str:
    """The figures as text: a table by document, the total, and the reasons."""
    lines = list(_table(stats, documents, color))
    if stats.reasons:
        lines += ["", *_reasons(stats, shown, color, examples)]
    return "".join(f"{line}\n" for line in lines)


def _table(stats: Stats, documents: bool, color: bool) -> Iterator[str]:
    head = ["page", "passages", *SHAPES, "block", "section", "median", "95 %"]
    by_page = [_row(visible(path), one) for path, one in stats.documents.items()]
    rows = [head, *(by_page if documents else []), _row("total", stats.total)]
    *above, last = columns(rows)
    yield from above
    yield f"{_BOLD}{last}{_OFF}" if color else last
    yield ""
    linked = stats.total.shapes.total()
    pages = many(len(stats.documents), "page")
    yield f"{linked} of {many(stats.total.passages, 'passage')} on {pages} have a proved link."
    if stats.kinds["code"].passages:
        yield f"{_share(stats, 'prose')}, {_share(stats, 'code')}."
    total = stats.total
    others = f"By block, which the page marks: {total.by_block}. " if total.by_block else ""
    if total.unlinked:
        others += f"In no block of their own, and linked by section only: {total.unlinked}. "
    dim = f"{others}Lengths are of the href, in characters."
    yield f"{_DIM}{dim}{_OFF}" if color else dim


def _share(stats: Stats, kind: Kind) -> str:
    figures = stats.kinds[kind]
    linked, passages = figures.shapes.total(), figures.passages
    # Rounded down: 100 % is said of all alone.
    share = f" ({linked * 1000 // passages / 10:g} %)" if passages else ""
    return f"{kind.capitalize() if kind == 'prose' else kind}: {linked} of {passages}{share}"


def _row(name: str, figures: Figures) -> list[str]:
    shapes = (str(figures.shapes[one]) for one in SHAPES)
    lengths = (f"{figures.median():g}", str(figures.percentile(0.95)))
    return [
        name,
        str(figures.passages),
        *shapes,
        str(figures.by_block),
        str(figures.unlinked),
        *lengths,
    ]


def _reasons(
    stats: Stats, shown: Callable[[str], str], color: bool, examples: bool
) -> Iterator[str]:
    for reason, number in _ordered(stats):
        yield f"{number:>6}  {reason.name}: {reason.kind}"
        for example in stats.examples[reason] if examples else ():
            place = example.place
            at = f"{visible(shown(place.path))}:{place.line}:{place.column}"
            quote = " ".join(example.quote.split())
            if len(quote) > _QUOTE_CHARS:
                quote = f"{quote[: _QUOTE_CHARS - 1].rstrip()}…"
            yield f'        {f"{_BOLD}{at}{_OFF}" if color else at} "{visible(quote)}"'


def _ordered(stats: Stats) -> Sequence[tuple[Reason, int]]:
    return sorted(stats.reasons.items(), key=lambda one: (-one[1], one[0].name, one[0].kind))


def stats_json(stats: Stats, shown: Callable[[str], str]) -> str:
    """The figures as JSON text, as described by `schemas/stats.schema.json`."""
    value = {
        "version": VERSION,
        "total": _figures(stats.total),
        "prose": _figures(stats.kinds["prose"]),
        "code": _figures(stats.kinds["code"]),
        "documents": [{"page": path, **_figures(one)} for path, one in stats.documents.items()],
        "reasons": [
            {
                "reason": reason.name,
                "kind": reason.kind,
                "passages": number,
                "examples": [_example(one, shown) for one in stats.examples[reason]],
            }
            for reason, number in _ordered(stats)
        ],
    }
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _figures(figures: Figures) -> dict[str, Any]:
    shapes: dict[str, int] = {one: figures.shapes[one] for one in SHAPES}
    return {
        "passages": figures.passages,
        **shapes,
        "block": figures.by_block,
        "section_only": figures.unlinked,
        "href_chars_median": figures.median(),
        "href_chars_95": figures.percentile(0.95),
    }


def _example(example: Example, shown: Callable[[str], str]) -> dict[str, Any]:
    place = example.place
    return {
        "path": shown(place.path),
        "line": place.line,
        "column": place.column,
        "quote": example.quote,
    }
