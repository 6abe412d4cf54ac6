"""Turns chunks that were found into the sentences in them that answer the question best."""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class Best:
    """The best passages of a chunk, ids in reading order, and where each leg ranked the first.

    Ranks, from 1, are among all passages of all chunks that were found.
    """

    hit: Hit
    passages: tuple[str, ...]
    ranks: Mapping[str, int]
    scores: Mapping[str, float]


def best_passages(
    base: KnowledgeBase,
    found: Found,
    quotes: Mapping[str, str],
    *,
    embedder: Embedder | None,
) -> tuple[Best, ...]:
    """The best passage of each chunk that was found, in the order of the chunks.

    A short one comes with what follows it. `quotes` are the texts of passages by id, as the
    allowlist has them; the embedder is the one of the search. A heading is chosen only in a
    chunk of headings alone. Raises `KeyError` for a passage without a quote, and what the
    embedder raises.
    """
    candidates = [one for hit in found.hits for one in _candidates(hit, quotes)]
    tops = _tops(base, found, candidates, embedder)
    fused = dict(fuse({leg: [i for i, _ in top] for leg, top in tops.items()}, base.weights))
    first: dict[int, int] = {}
    for number, one in enumerate(candidates):
        rival = first.setdefault(one.hit.index, number)
        if fused.get(number, 0.0) > fused.get(rival, 0.0):
            first[one.hit.index] = number
    ranks = {leg: {i: rank for rank, (i, _) in enumerate(top, 1)} for leg, top in tops.items()}
    scores = {leg: dict(top) for leg, top in tops.items()}
    return tuple(
        Best(
            hit,
            tuple(_with_what_follows(candidates, first[hit.index])),
            {leg: by[first[hit.index]] for leg, by in ranks.items() if first[hit.index] in by},
            {leg: by[first[hit.index]] for leg, by in scores.items() if first[hit.index] in by},
        )
        for hit in found.hits
        if hit.index in first
    )


@dataclass(frozen=True, slots=True)
class _Candidate:
    hit: Hit
    passage: str
    quote: str
    heading: str

    @property
    def searched(self) -> str:
        """A sentence is about what it stands under, too."""
        return f"{self.heading}\n{self.quote}"


def _candidates(hit: Hit, quotes: Mapping[str, str]) -> Iterator[_Candidate]:
    chunk = hit.chunk
    heading = chunk.trail[-1] if chunk.trail else chunk.title
    lone = set(chunk.passages) <= set(chunk.headings)
    for passage in chunk.passages:
        quote = quotes[passage]
        if passage in chunk.headings:
            heading = quote
            if not lone:
                continue
        yield _Candidate(hit, passage, quote, heading)


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
            base.sentence_row(one.hit.index) + one.hit.chunk.passages.index(one.passage)
            for one in candidates
        ]
        return base.vectors.cosines(vector, rows)
    if embedder is None:
        return []
    matrix = embedder.embed([one.searched for one in candidates])
    return [float(cosine) for cosine in matrix @ vector]


def _with_what_follows(candidates: Sequence[_Candidate], number: int) -> Iterator[str]:
    first = candidates[number]
    yield first.passage
    chars = len(first.quote)
    for one in candidates[number + 1 :]:
        if chars >= _SHORT_CHARS or one.hit is not first.hit or one.heading != first.heading:
            return
        yield one.passage
        chars += len(one.quote)
