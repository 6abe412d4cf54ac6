"""Turn what real browsers made of a site's links into a report, as text and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from exactquote.browsers.landing import BrowserName, Landing
from exactquote.browsers.oracle import Link, Result
from exactquote.browsers.same_text import same_text
from exactquote.report.text import many
from exactquote.report.visible import visible

VERSION = 1

Outcome = Literal[
    "exact",
    "not found",
    "other text",
    "other place",
    "frozen",
    "timed out",
    "no answer",
    "flaky",
]
OUTCOMES: tuple[Outcome, ...] = (
    "exact", "not found", "other text", "other place", "frozen", "timed out", "no answer", "flaky"
)  # fmt: skip

_RED, _GREEN, _BOLD, _DIM, _OFF = "\x1b[31m", "\x1b[32m", "\x1b[1m", "\x1b[2m", "\x1b[0m"
_SHOWN_CHARS = 160
_PAGES_SHOWN_MAX = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """A link of the site that was opened; `link` has its href as URL."""

    id: str
    link: Link
    cited: bool


@dataclass(frozen=True, slots=True)
class Hazard:
    """What a page does against the links into it, and what mends it."""

    page: str
    message: str
    help: str


@dataclass(frozen=True, slots=True)
class Landed:
    """All that a run found. `results` go by link, then by browser in the order of `browsers`.

    `others` counts every uncited link that shows its sentence, by directive or by block;
    `by_element_id` those that lead to a section only; `hazards` are what Chromium saw pages
    do; `refused` counts citations that have no link. `seed` is None when nothing was drawn.
    """

    build_id: str
    browsers: tuple[BrowserName, ...]
    asked: tuple[Asked, ...]
    results: tuple[Result, ...]
    seconds: Mapping[BrowserName, float]
    others: int = 0
    by_element_id: int = 0
    refused: int = 0
    seed: int | None = None
    hazards: tuple[Hazard, ...] = ()

    @property
    def by_block(self) -> int:
        """How many of the links that were opened lead to a block of the page."""
        return sum(asked.link.by_block for asked in self.asked)

    @property
    def failed(self) -> bool:
        """Whether a link isn't exact, a citation has none, or there was nothing to open."""
        wrong = any(outcome(result) != "exact" for result in self.results)
        return wrong or bool(self.refused) or not self.results

    def landings(self) -> Iterator[tuple[Asked, Result, Outcome]]:
        """Each result with the link that was asked for and what became of it."""
        for number, result in enumerate(self.results):
            yield self.asked[number // len(self.browsers)], result, outcome(result)


def outcome(result: Result) -> Outcome:
    """What one browser made of one link, in a word.

    A link that landed otherwise the second time is flaky, even if it was exact then: the
    first reader had another page.
    """
    if result.flaky:
        return "flaky"
    return "exact" if result.exact else _miss(result, result.landing)


def _miss(result: Result, landing: Landing) -> Outcome:
    if landing.frozen:
        return "frozen"
    if landing.error is not None:
        return "timed out" if landing.slow else "no answer"
    if result.link.by_block:
        target = landing.target
        return "other text" if target is not None and target.shown else "not found"
    if not landing.matched:
        return "not found"
    pixels = result.browser == "webkit"
    if landing.ranges != 1 or not same_text(landing.text or "", result.link.quote, pixels=pixels):
        return "other text"
    return "other place"


def landing_text(landed: Landed, *, color: bool, summary: bool, exact: bool) -> str:
    """The report as text: what isn't exact, then a table by browser; `exact` lists all."""
    paint = _Paint(color)
    lines: list[str] = []
    for asked, result, found in landed.landings():
        if found != "exact":
            lines += [*_failure(asked, result, found, paint), ""]
        elif exact:
            lines.append(f"{paint(_GREEN, 'exact')} {result.browser} {_name(asked)}")
    lines += _warnings(landed, paint)
    if summary:
        lines += [*([""] if exact and lines and lines[-1] else []), *_table(landed)]
        lines += ["", *_summary(landed, paint)]
    elif lines and not lines[-1]:
        lines.pop()
    return "".join(f"{line}\n" for line in lines)


def _warnings(landed: Landed, paint: _Paint) -> Iterator[str]:
    """Each hazard once, with the pages that have it."""
    pages: dict[tuple[str, str], list[str]] = {}
    for hazard in landed.hazards:
        pages.setdefault((hazard.message, hazard.help), []).append(visible(hazard.page))
    for (message, cure), found in pages.items():
        at = paint(_BOLD, ", ".join(found[:_PAGES_SHOWN_MAX]))
        more = len(found) - _PAGES_SHOWN_MAX
        yield f"warning: {at}{f' and {more} more pages' if more > 0 else ''}: {message}"
        yield from (f"  cure: {cure}", "")


class _Paint:
    def __init__(self, color: bool) -> None:
        self._color = color

    def __call__(self, color: str, text: str) -> str:
        return f"{color}{text}{_OFF}" if self._color else text


def _failure(asked: Asked, result: Result, found: Outcome, paint: _Paint) -> Iterator[str]:
    yield f"{paint(_RED, found)} in {paint(_BOLD, result.browser)}: {_name(asked)}"
    yield f"  wanted: {_shown(asked.link.quote)}{_behind(asked.link.before)}"
    for number, landing in enumerate(result.landings):
        # Only what differs from one time to the next is worth two lines.
        if number and found != "flaky":
            return
        label = "then:" if number else "got:"
        yield f"  {label:<7} {_got(result, landing)}"


def _name(asked: Asked) -> str:
    return f"{visible(asked.id)} {visible(asked.link.url)}"


def _got(result: Result, landing: Landing) -> str:
    if landing.error is not None:
        return visible(landing.error)
    if result.link.by_block:
        target = landing.target
        if target is None:
            return "no element of that id"
        return _shown(target.text) if target.shown else "the element is not in view"
    if not landing.matched:
        return "nothing is highlighted"
    text = _shown(landing.text or "")
    if _miss(result, landing) == "other text":
        several = f", in {landing.ranges} places" if landing.ranges > 1 else ""
        return f"{text}{several}"
    return f"{text}{_behind(landing.before)}"


def _behind(before: str) -> str:
    return f" behind {_shown(before[-40:])}" if before.strip() else ""


def _shown(text: str) -> str:
    text = " ".join(text.split())
    if len(text) > _SHOWN_CHARS:
        half = _SHOWN_CHARS // 2 - 1
        text = f"{text[:half].rstrip()} … {text[-half:].lstrip()}"
    return f'"{visible(text)}"'


def _table(landed: Landed) -> Iterator[str]:
    """One row a browser; only the ways to fail that there were have a column."""
    counts = _counts(landed)
    kinds = [kind for kind in OUTCOMES if kind == "exact" or any(c[kind] for c in counts.values())]
    head = ["browser", "links", *kinds, "links/s"]
    rows = [
        [
            name,
            str(counts[name].total()),
            *(str(counts[name][kind]) for kind in kinds),
            f"{_rate(landed, name):.1f}",
        ]
        for name in landed.browsers
    ]
    return columns([head, *rows])


def columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The rows of a table, the first column to the left and the others to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        rest = (f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        yield "  ".join([f"{row[0]:<{widths[0]}}", *rest]).rstrip()


def _counts(landed: Landed) -> dict[BrowserName, Counter[Outcome]]:
    counts: dict[BrowserName, Counter[Outcome]] = {name: Counter() for name in landed.browsers}
    for _, result, found in landed.landings():
        counts[result.browser][found] += 1
    return counts


def _rate(landed: Landed, name: BrowserName) -> float:
    seconds = landed.seconds.get(name, 0.0)
    return len(landed.asked) / seconds if seconds else 0.0


def _summary(landed: Landed, paint: _Paint) -> Iterator[str]:
    cited = sum(asked.cited for asked in landed.asked)
    opened = f"Opened {many(cited, 'cited link')}"
    drawn = len(landed.asked) - cited
    if landed.others:
        if drawn == landed.others:
            opened += f" and all {many(drawn, 'other')}"
        else:
            opened += f" and {drawn} of {many(landed.others, 'other')} (seed {landed.seed})"
    yield f"{opened} in {', '.join(landed.browsers)}."
    if landed.by_block:
        yield paint(_DIM, f"By block, which the page marks: {landed.by_block} of them.")
    if landed.by_element_id:
        why = "`exactquote stats -v` says why"
        yield paint(_DIM, f"By section only, not judged: {landed.by_element_id}; {why}.")
    if landed.refused:
        yield f"{many(landed.refused, 'citation')} refused; `exactquote check` says why."
    if not landed.results:
        yield paint(_RED, "There was no link to open.")
        return
    exact = sum(found == "exact" for _, _, found in landed.landings())
    line = f"{exact} of {many(len(landed.results), 'landing')} exact"
    yield paint(_RED if landed.failed else _GREEN, line)


def landing_json(landed: Landed) -> str:
    """The report as JSON text, as described by `schemas/land.schema.json`."""
    counts = _counts(landed)
    cited = sum(asked.cited for asked in landed.asked)
    value = {
        "version": VERSION,
        "build_id": landed.build_id,
        "counts": {
            "cited": cited,
            "others_opened": len(landed.asked) - cited,
            "others": landed.others,
            "by_block": landed.by_block,
            "by_element_id": landed.by_element_id,
            "refused": landed.refused,
        },
        "seed": landed.seed,
        "browsers": [
            {
                "name": name,
                "links": counts[name].total(),
                "outcomes": {kind: counts[name][kind] for kind in OUTCOMES},
                "seconds": round(landed.seconds.get(name, 0.0), 3),
                "links_per_second": round(_rate(landed, name), 2),
            }
            for name in landed.browsers
        ],
        "hazards": [
            {"page": one.page, "message": one.message, "help": one.help} for one in landed.hazards
        ],
        "landings": [_object(*one) for one in landed.landings()],
    }
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _object(asked: Asked, result: Result, found: Outcome) -> dict[str, Any]:
    return {
        "id": asked.id,
        "href": asked.link.url,
        "quote": asked.link.quote,
        "cited": asked.cited,
        "browser": result.browser,
        "outcome": found,
        "attempts": [_attempt(landing, result.link.by_block) for landing in result.landings],
    }


def _attempt(landing: Landing, by_block: bool) -> dict[str, Any]:
    text, element_id = landing.text, landing.element_id
    if by_block:
        target = landing.target
        text, element_id = (target.text, target.id) if target else (None, None)
    return {
        "text": text,
        "ranges": landing.ranges,
        "element_id": element_id,
        "before": landing.before,
        "error": landing.error,
    }
