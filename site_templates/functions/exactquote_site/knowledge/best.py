"""Turns chunks that were found into the sentences in them that answer the question best."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactquote_site.knowledge.base import MEANING, WORDS, Found, Hit, KnowledgeBase
from exactquote_site.knowledge.embedders import Embedder
from exactquote_site.knowledge.fuse import fuse
from exactquote_site.knowledge.postings import Postings
from exactquote_site.knowledge.words import words

# A reader can't tell what a shorter sentence is about; what follows it is shown as well.
_SHORT_CHARS = 40
# Of the strongest passage. Asked 18 questions, of which two were none of its business, the
# handbook showed 1 to 7 passages with it, 3.4 on average, and 8 without. Where one passage was
# the answer, what followed was mostly between 0.5 and 0.75.
_CUT = 0.8
_SENTENCE_END = re.compile(r"[.!?…:;。！？：；]['\"’”»)\]）」』]*\Z")


@dataclass(frozen=True, slots=True)
class Best:
    """The best passages of a chunk, ids in reading order, and where each leg ranked them.

    Ranks, from 1, are among all passages of all chunks that were found. With `row`, they are
    the cells of one row of a table, or a term and what is said of it.
    """

    hit: Hit
    passages: tuple[str, ...]
    ranks: Mapping[str, int]
    scores: Mapping[str, float]
    row: bool = False

    @property
    def target(self) -> str:
        """The passage that a link leads to: the first, and of a row the one behind its name."""
        return self.passages[1 if self.row else 0]


def best_passages(
    base: KnowledgeBase,
    found: Found,
    quotes: Mapping[str, str],
    *,
    embedder: Embedder | None,
) -> tuple[Best, ...]:
    """The best passage of each chunk that was found, in the order of the chunks.

    A short one comes with what follows it, and a cell with all of its row. Chunks whose
    best passage is far weaker than the strongest one of all are left out, but never the first.
    `quotes` are the texts of passages by id, as the allowlist has them; the embedder is the one
    of the search. A heading, a title or a list's scrap is chosen only in a chunk that has
    nothing else. Raises `KeyError` for a passage without a quote, and what the embedder raises.
    """
    offers = [one for hit in found.hits for one in _candidates(hit, quotes)]
    tops = _tops(base, found, offers, embedder)
    fused = dict(fuse({leg: [i for i, _ in top] for leg, top in tops.items()}, base.weights))
    first: dict[int, int] = {}
    for number, one in enumerate(offers):
        rival = first.setdefault(one.hit.index, number)
        fits = (not one.bare, fused.get(number, 0.0))
        if fits > (not offers[rival].bare, fused.get(rival, 0.0)):
            first[one.hit.index] = number
    ranks = {leg: {i: rank for rank, (i, _) in enumerate(top, 1)} for leg, top in tops.items()}
    scores = {leg: dict(top) for leg, top in tops.items()}
    strong = _strong(found, first, scores, base.weights)
    return tuple(
        Best(
            hit,
            tuple(_shown(offers[first[hit.index]], quotes)),
            {leg: by[first[hit.index]] for leg, by in ranks.items() if first[hit.index] in by},
            {leg: by[first[hit.index]] for leg, by in scores.items() if first[hit.index] in by},
            offers[first[hit.index]].row,
        )
        for hit in found.hits
        if hit.index in strong
    )


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A passage, or all those of a row."""

    hit: Hit
    passages: tuple[str, ...]
    quote: str
    heading: str

    @property
    def row(self) -> bool:
        return len(self.passages) > 1

    @property
    def bare(self) -> bool:
        """A title, a lone cell or a scrap of a list: too short, and not ended as sentences are."""
        short = len(self.quote) < _SHORT_CHARS
        return short and not self.row and not _SENTENCE_END.search(self.quote)

    @property
    def searched(self) -> str:
        """A sentence is about what it stands under, too."""
        return f"{self.heading}\n{self.quote}"


def _candidates(hit: Hit, quotes: Mapping[str, str]) -> Iterator[_Candidate]:
    chunk = hit.chunk
    heading = chunk.trail[-1] if chunk.trail else chunk.title
    lone = set(chunk.passages) <= set(chunk.headings)
    rows = [row for row in chunk.rows if len(row) > 1]
    inside = {passage for row in rows for passage in row}
    behind = {row[1]: row for row in rows}
    for passage in chunk.passages:
        if passage in chunk.headings:
            heading = quotes[passage]
            if not lone:
                continue
        row = behind.get(passage)
        if row is not None:
            yield _Candidate(hit, row, "\n".join(quotes[cell] for cell in row), heading)
        elif passage not in inside:
            yield _Candidate(hit, (passage,), quotes[passage], heading)


def _tops(
    base: KnowledgeBase, found: Found, candidates: Sequence[_Candidate], embedder: Embedder | None
) -> dict[str, list[tuple[int, float]]]:
    tops: dict[str, list[tuple[int, float]]] = {}
    if WORDS in found.legs:
        terms = [
            words(one.searched, one.hit.chunk.language, known=base.postings) for one in candidates
        ]
        tops[WORDS] = Postings.build(terms).top(found.terms, len(candidates))
    cosines = _cosines(base, found.vector, candidates, embedder)
    if cosines:
        tops[MEANING] = sorted(enumerate(cosines), key=lambda scored: (-scored[1], scored[0]))
    return tops


def _cosines(
    base: KnowledgeBase,
    vector: NDArray[np.float32] | None,
    candidates: Sequence[_Candidate],
    embedder: Embedder | None,
) -> list[float]:
    """How near each passage is, by its own vector where the build has one; nothing unsearched."""
    if vector is None or base.vectors is None or not candidates:
        return []
    if base.has_sentences:
        rows = [
            base.sentence_row(one.hit.index) + one.hit.chunk.passages.index(passage)
            for one in candidates
            for passage in one.passages
        ]
        nearest = iter(base.vectors.cosines(vector, rows))
        return [max(next(nearest) for _ in one.passages) for one in candidates]
    if embedder is None:
        return []
    matrix = embedder.embed([one.searched for one in candidates])
    return [float(cosine) for cosine in matrix @ vector]


def _strong(
    found: Found,
    first: Mapping[int, int],
    scores: Mapping[str, Mapping[int, float]],
    weights: Mapping[str, float],
) -> frozenset[int]:
    """The chunks that are shown, by index: the first one, and whose best passage is strong."""
    strengths = _strengths(found, first, scores, weights)
    least = _CUT * max(strengths.values(), default=0.0)
    kept = {index for index, strength in strengths.items() if strength >= least}
    return frozenset((*kept, *list(strengths)[:1]))


def _strengths(
    found: Found,
    first: Mapping[int, int],
    scores: Mapping[str, Mapping[int, float]],
    weights: Mapping[str, float],
) -> dict[int, float]:
    """How strong the best passage of each chunk is, from 0 to 1, in the order of the chunks.

    One half is the score of its chunk and one half the passage's own by each leg, each as a
    share of the highest, since no two have a scale in common.
    """
    most = max((hit.score for hit in found.hits), default=0.0)
    strengths: dict[int, float] = {}
    for hit in found.hits:
        if hit.index not in first:
            continue
        own = total = 0.0
        for leg, by in scores.items():
            highest = max((by.get(number, 0.0) for number in first.values()), default=0.0)
            total += weights[leg]
            if highest > 0:
                own += weights[leg] * max(by.get(first[hit.index], 0.0), 0.0) / highest
        chunk = hit.score / most if most > 0 else 1.0
        strengths[hit.index] = (chunk + own / total) / 2 if total else chunk
    return strengths


def _shown(first: _Candidate, quotes: Mapping[str, str]) -> Iterator[str]:
    """The passages of a candidate; a short sentence comes with what follows it.

    A scrap follows only what announces it with a colon, or another scrap; behind scraps comes no
    sentence, and no row follows anything.
    """
    yield from first.passages
    if first.row:
        return
    candidates = list(_candidates(first.hit, quotes))
    chars, last = len(first.quote), first
    for one in candidates[candidates.index(first) + 1 :]:
        if chars >= _SHORT_CHARS or one.row or one.heading != first.heading:
            return
        if one.bare and not last.bare and not last.quote.endswith((":", "：")):
            return
        if last.bare and not one.bare:
            return
        yield from one.passages
        chars, last = chars + len(one.quote), one
