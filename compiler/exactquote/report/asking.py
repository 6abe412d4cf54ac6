"""Turn what was found for a question into text for a terminal, or into JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from exactquote.report.visible import visible
from exactquote_site.knowledge.base import RANKINGS, Found, KnowledgeBase
from exactquote_site.knowledge.best import Best
from exactquote_site.wire.allowlist import Allowlist

VERSION = 1

_BOLD, _DIM, _OFF = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_LEGS = tuple(RANKINGS)
# Of a chunk there are two rankings for each leg, of a passage one.
_OF_CHUNKS = tuple(ranking for both in RANKINGS.values() for ranking in both)
_INDENT = "   "


@dataclass(frozen=True, slots=True)
class Answered:
    """A question, what was found for it, and the base and links that it was found with."""

    question: str
    base: KnowledgeBase
    allowlist: Allowlist
    found: Found
    best: tuple[Best, ...]


def asking_json(answered: Answered) -> str:
    """The answer as described by `schemas/ask.schema.json`."""
    header, found = answered.base.header, answered.found
    value = {
        "version": VERSION,
        "build_id": header.build_id,
        "question": answered.question,
        "mode": header.mode,
        "legs": [
            {
                "name": leg,
                "weight": answered.base.weights[leg],
                "found": found.found.get(leg),
                "off": found.off.get(leg),
            }
            for leg in _LEGS
        ],
        "terms": list(dict.fromkeys(found.terms)),
        "answers": [_answer(one, answered.allowlist) for one in answered.best],
    }
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def asking_text(
    answered: Answered, *, color: bool, columns: int, explain: bool, notes: bool
) -> str:
    """The answer for a reader: quote, source and link of each passage, best first."""
    lines: list[str] = []
    for number, one in enumerate(answered.best, 1):
        lines += [*_shown(number, one, answered.allowlist, color, columns)]
        if explain:
            lines += [f"{_INDENT}{line}" for line in _explained(one)]
        lines.append("")
    if not answered.best:
        lines += ["Nothing was found.", ""]
    if explain:
        lines += [*_searches(answered), ""]
    elif notes:
        lines += [f"note: {visible(note)}" for note in answered.found.notes]
        lines += [""] if answered.found.notes else []
    return "\n".join(lines).rstrip("\n") + "\n"


def _answer(one: Best, allowlist: Allowlist) -> dict[str, Any]:
    chunk = one.hit.chunk
    return {
        "doc": chunk.doc,
        "title": chunk.title,
        "trail": list(chunk.trail),
        "language": chunk.language,
        "faq": chunk.faq,
        "passages": [
            {"id": id, "quote": allowlist.entries[id].quote, "href": allowlist.entries[id].href}
            for id in one.passages
        ],
        "chunk": {
            "index": one.hit.index,
            "text": chunk.text,
            "score": one.hit.score,
            **_ranked(_OF_CHUNKS, one.hit.ranks, one.hit.scores),
        },
        "passage": _ranked(_LEGS, one.ranks, one.scores),
    }


def _ranked(
    names: Sequence[str], ranks: Mapping[str, int], scores: Mapping[str, float]
) -> dict[str, Any]:
    return {
        name: {"rank": ranks[name], "score": scores[name]} if name in ranks else None
        for name in names
    }


def _shown(
    number: int, one: Best, allowlist: Allowlist, color: bool, columns: int
) -> Iterator[str]:
    chunk = one.hit.chunk
    entries = [allowlist.entries[id] for id in one.passages]
    # A reviewed answer is given as it stands; of anything else, the sentence that fits.
    quotes = [entry.quote for entry in entries]
    text = _as_row(quotes) if one.row else _as_there(chunk.text, quotes)
    text = chunk.text if chunk.faq else text
    source = " > ".join((chunk.title, *chunk.trail))
    reviewed = " (reviewed answer)" if chunk.faq else ""
    yield _paint(_BOLD, f"{number}. {visible(source)}{reviewed}", color)
    for line in text.split("\n"):
        yield from textwrap.wrap(
            visible(line),
            max(columns, 40),
            initial_indent=_INDENT,
            subsequent_indent=_INDENT,
            break_long_words=False,
            break_on_hyphens=False,
        )
    yield _INDENT + _paint(_DIM, allowlist.entries[one.target].href, color)


def _as_there(text: str, quotes: Sequence[str]) -> str:
    """Neighbouring quotes of a chunk, with a space between them where it has one."""
    shown, end = "", -1
    for quote in quotes:
        at = text.find(quote, max(end, 0))
        # Scripts without spaces have none between sentences, either.
        shown += ("" if at == end or not shown else " ") + quote
        end = at + len(quote) if at >= 0 else -1
    return shown


def _as_row(quotes: Sequence[str]) -> str:
    """What a row is about, and what it says of it."""
    return f"{quotes[0]}: {'; '.join(quotes[1:])}"


def _explained(one: Best) -> Iterator[str]:
    hit = one.hit
    yield f"chunk {hit.index}: {_told(_OF_CHUNKS, hit.ranks, hit.scores)}, in all {hit.score:.5f}"
    yield f"passage {one.target}: {_told(_LEGS, one.ranks, one.scores)}"


def _told(names: Sequence[str], ranks: Mapping[str, int], scores: Mapping[str, float]) -> str:
    return ", ".join(
        f"{name} {ranks[name]} ({scores[name]:.3f})" if name in ranks else f"{name} -"
        for name in names
    )


def _searches(answered: Answered) -> Iterator[str]:
    found, header = answered.found, answered.base.header
    for leg in _LEGS:
        weight = f"weight {answered.base.weights[leg]:g}"
        if leg in found.off:
            yield f"{leg}: off, {visible(found.off[leg])}"
        else:
            yield f"{leg}: on, {weight}, {found.found[leg]} chunks in its ranking"
    yield f"terms: {visible(' '.join(dict.fromkeys(found.terms))) or '-'}"
    if header.embedder is not None:
        yield f"vectors: {visible(header.embedder.id)}, {header.embedder.dimension} numbers each"
    told = "given to a model whole" if header.mode == "whole" else "retrieved from"
    yield (
        f"corpus: {header.chunks} chunks, {header.passages} passages,"
        f" about {header.tokens:,} tokens (an estimate), {told}"
    )


def _paint(style: str, text: str, color: bool) -> str:
    return f"{style}{text}{_OFF}" if color else text
