"""Turns a question into the chunks that answer it best: by words, by meaning, and fused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from exactquote_site.knowledge.bridge import BRIDGED, Bridge
from exactquote_site.knowledge.chunk import Chunk
from exactquote_site.knowledge.embedders import Embedder, EmbedderDown, question_vectors
from exactquote_site.knowledge.postings import Postings
from exactquote_site.knowledge.stored import (
    BRIDGE_PATH,
    CHUNKS_PATH,
    HEADER_PATH,
    VECTORS_PATH,
    WORDS_PATH,
    Header,
    read_chunks,
    read_header,
    unsealed,
)
from exactquote_site.knowledge.vectors import Vectors, VectorStore
from exactquote_site.knowledge.weigh import by_spread, by_words
from exactquote_site.knowledge.words import fingerprint, query_words, topics
from exactquote_site.wire.allowlist import WireError

WORDS, MEANING = "words", "meaning"
# A leg ranks chunks by what is in them, and once more: by the words of the whole page, and by
# the one sentence that is nearest. What each counts for in its leg was chosen by
# `bench/retrieval/questions.jsonl`, the half for tuning, and `choosing.jsonl`.
PAGES, SENTENCES = "pages", "sentences"
RANKINGS = {WORDS: {WORDS: 0.5, PAGES: 1.0}, MEANING: {MEANING: 1.0, SENTENCES: 0.5}}
# The best of each ranking by words and by cosine; only these are compared by all rankings.
CANDIDATES = 30
# So many cosines tell the spread of all of them to a twentieth.
_SAMPLE = 256


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that was found. `ranks`, from 1, and `scores` are those of the legs that did.

    Under "pages" are those by the words of the whole page, which the words leg ranks as well,
    and under "sentences" those by the nearest sentence, which the meaning leg does.
    """

    index: int
    chunk: Chunk
    score: float
    ranks: Mapping[str, int]
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Found:
    """The best chunks, best first, and how they were found.

    `found` counts the chunks that each leg that ran put forward, and `off` says why another
    didn't run. `terms` are the words of the question as terms, with repeats, and `vector` is
    what the meaning leg looked for.
    """

    hits: tuple[Hit, ...]
    found: Mapping[str, int]
    off: Mapping[str, str]
    terms: tuple[str, ...] = ()
    vector: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)

    @property
    def legs(self) -> tuple[str, ...]:
        """The legs that ran."""
        return tuple(self.found)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of how this was found, a sentence each."""
        off = [f"{leg} is off: {why}" for leg, why in self.off.items()]
        none = [f"{leg} found nothing" for leg, count in self.found.items() if not count]
        return (*off, *none)


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """The chunks of one build, with an index of their words and, maybe, of their meaning."""

    chunks: tuple[Chunk, ...]
    postings: Postings
    vectors: VectorStore | None
    header: Header
    bridge: Bridge | None = None
    _pages: Postings = field(init=False, compare=False, repr=False)
    _page_of: NDArray[np.int64] = field(init=False, compare=False, repr=False)
    _first_sentences: NDArray[np.int64] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Index the pages, and note whose each vector is."""
        numbers: dict[str, int] = {}
        page_of = [numbers.setdefault(chunk.doc, len(numbers)) for chunk in self.chunks]
        object.__setattr__(self, "_pages", self.postings.grouped(page_of))
        object.__setattr__(self, "_page_of", np.asarray(page_of, np.int64))
        counts = (len(chunk.passages) for chunk in self.chunks)
        firsts = list(accumulate(counts, initial=len(self.chunks)))
        object.__setattr__(self, "_first_sentences", np.asarray(firsts, np.int64))

    @staticmethod
    def load(
        read: Callable[[str], bytes],
        place: Callable[[Header, Vectors], VectorStore] | None = None,
    ) -> KnowledgeBase:
        """The knowledge base of a build; `read` gives the bytes of a path under the site.

        `place` may put the vectors elsewhere than into memory, as `pg_vectors.placed` does.
        Raises `WireError` for a file that is malformed or of another build than the header,
        and what `place` raises.
        """
        header = read_header(read(HEADER_PATH))
        chunks = read_chunks(read(CHUNKS_PATH), header.build_id)
        if len(chunks) != header.chunks:
            raise WireError(f"{CHUNKS_PATH}: {len(chunks)} chunks, not {header.chunks}")
        words = unsealed(WORDS_PATH, "words", header.build_id, read(WORDS_PATH))
        postings = Postings.from_bytes(words)
        if postings.count != len(chunks):
            raise WireError(f"{WORDS_PATH}: indexes {postings.count} chunks, not {len(chunks)}")
        if header.embedder is None:
            return KnowledgeBase(chunks, postings, None, header)
        data = unsealed(VECTORS_PATH, "vectors", header.build_id, read(VECTORS_PATH))
        vectors = Vectors.from_bytes(data)
        noted = (header.embedder.dimension, header.embedder.id)
        counted = len(vectors) in (len(chunks), len(rows_of(chunks)))
        if not counted or (vectors.dimension, vectors.embedder) != noted:
            raise WireError(f"{VECTORS_PATH}: isn't what {HEADER_PATH} says")
        store = place(header, vectors) if place else vectors
        bridge = None
        if header.embedder.kind in BRIDGED:
            data = unsealed(BRIDGE_PATH, "bridge", header.build_id, read(BRIDGE_PATH))
            bridge = Bridge.from_bytes(data)
            if (bridge.dimension, bridge.embedder) != noted:
                raise WireError(f"{BRIDGE_PATH}: isn't what {HEADER_PATH} says")
        return KnowledgeBase(chunks, postings, store, header, bridge)

    @property
    def weights(self) -> Mapping[str, float]:
        """What each leg counts for, unless a search says otherwise."""
        return {WORDS: self.header.words_weight, MEANING: self.header.meaning_weight}

    def search(
        self,
        question: str,
        count: int = 8,
        *,
        embedder: Embedder | None,
        weights: Mapping[str, float] | None = None,
    ) -> Found:
        """The best `count` chunks for a question.

        `embedder` must be the one that made the vectors; the meaning leg is off otherwise,
        or when it fails, and a note says why. `weights` replace those of the header.
        Raises `ValueError` for a question without text.
        """
        if not question.strip():
            raise ValueError("the question is empty")
        weighed = weights or self.weights
        off: dict[str, str] = {}
        asked: dict[str, tuple[str, ...]] = {}
        terms: tuple[str, ...] = ()
        if weighed[WORDS] <= 0:
            off[WORDS] = "its weight is 0"
        elif self.header.words != fingerprint():
            off[WORDS] = "the words of this build were cut otherwise than is done here; build again"
        else:
            languages = self.header.languages
            asked = topics(question, known=self.postings, languages=languages)
            terms = tuple(query_words(question, known=self.postings, languages=languages))
        why = self._why_no_vectors(weighed[MEANING], embedder)
        vector = None
        unmet: dict[str, NDArray[np.float32]] = {}
        if embedder is not None and not why:
            try:
                vector, unmet = self._vectors(embedder, question, asked)
            except EmbedderDown as error:
                why = str(error)
        if why:
            off[MEANING] = why
        ranked: list[_Ranking] = []
        if WORDS not in off:
            ranked += self._by_words(asked, unmet, widen=vector is not None)
        if vector is not None and self.vectors is not None:
            ranked += self._by_meaning(self.vectors, vector, ranked)
        hits = self._hits(ranked, weighed, count)
        found = {one.name: len(one.top) for one in ranked if one.name in RANKINGS}
        return Found(hits, found, off, terms, vector)

    @property
    def has_sentences(self) -> bool:
        """Whether each sentence has a vector, beside that of its chunk."""
        return self.vectors is not None and len(self.vectors) > len(self.chunks)

    def sentence_row(self, index: int) -> int:
        """The row of the vector of a chunk's first sentence; those of its others follow."""
        return int(self._first_sentences[index])

    def all_chunks(self) -> tuple[Chunk, ...]:
        """The whole corpus, in the order of its pages."""
        return self.chunks

    def for_model(
        self, question: str, count: int = 8, *, embedder: Embedder | None
    ) -> tuple[Chunk, ...]:
        """What a model is given to answer from: everything in whole mode, else the best."""
        if self.header.mode == "whole":
            return self.all_chunks()
        return tuple(hit.chunk for hit in self.search(question, count, embedder=embedder).hits)

    def _vectors(
        self, embedder: Embedder, question: str, asked: Mapping[str, tuple[str, ...]]
    ) -> tuple[NDArray[np.float32], dict[str, NDArray[np.float32]]]:
        """The vector of the question, and those of its words that the corpus doesn't have."""
        unmet = self.bridge.unmet(asked) if self.bridge else ()
        first, *others = question_vectors(embedder, [question, *unmet])
        return first, dict(zip(unmet, others, strict=True))

    def _by_words(
        self,
        asked: Mapping[str, tuple[str, ...]],
        unmet: Mapping[str, NDArray[np.float32]],
        *,
        widen: bool,
    ) -> list[_Ranking]:
        """The best chunks by their own words, and by those of their page and then their own."""
        groups = [dict.fromkeys(terms, 1.0) for terms in asked.values()]
        if widen and self.bridge:
            groups = self.bridge.widened(asked, unmet, self.header.languages)
        own, own_most = self.postings.pooled(groups)
        of_pages, pages_most = self._pages.pooled(groups)
        page = of_pages[self._page_of]
        tops = [[(int(i), float(scores[i])) for i in _best(scores, own)] for scores in (own, page)]
        return [
            _Ranking(WORDS, WORDS, tops[0], by_words(own, own_most)),
            _Ranking(WORDS, PAGES, tops[1], by_words(page, pages_most)),
        ]

    def _by_meaning(
        self, vectors: VectorStore, vector: NDArray[np.float32], others: Sequence[_Ranking]
    ) -> list[_Ranking]:
        """The best chunks by their own cosine, and all candidates by their nearest sentence's.

        Comparing the sentences of all chunks takes ten times as long and finds as much.
        """
        count = len(self.chunks)
        top = vectors.top(vector, CANDIDATES, start=0, stop=count)
        proposed = {i for one in (top, *(other.top for other in others)) for i, _ in one}
        candidates = np.asarray(sorted(proposed), np.int64)
        sample = np.arange(0, count, -(-count // _SAMPLE))
        sentences, owners = self._sentences(candidates)
        rows = np.concatenate((sample, candidates, sentences))
        cosines = np.asarray(vectors.cosines(vector, rows.tolist()), np.float32)
        spread, own, of_sentences = np.split(cosines, np.cumsum((len(sample), len(candidates))))
        units = np.zeros(count, np.float64)
        units[candidates] = by_spread(own, spread)
        ranked = [_Ranking(MEANING, MEANING, top, units)]
        if len(sentences):
            nearest = np.full(count, -1.0, np.float32)
            np.maximum.at(nearest, owners, of_sentences)
            best = candidates[np.argsort(-nearest[candidates], kind="stable")]
            units = np.zeros(count, np.float64)
            units[candidates] = by_spread(nearest[candidates], spread)
            listed = list(zip(best.tolist(), nearest[best].tolist(), strict=True))
            ranked.append(_Ranking(MEANING, SENTENCES, listed, units))
        return ranked

    def _sentences(self, chunks: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows of the vectors of all sentences of some chunks, and whose each is."""
        firsts = self._first_sentences[chunks]
        counts = self._first_sentences[chunks + 1] - firsts
        if not self.has_sentences:
            counts = np.zeros_like(counts)
        ends = np.cumsum(counts)
        total = int(ends[-1]) if len(ends) else 0
        return np.arange(total) + np.repeat(firsts - ends + counts, counts), np.repeat(
            chunks, counts
        )

    def _why_no_vectors(self, weight: float, embedder: Embedder | None) -> str:
        if weight <= 0:
            return "its weight is 0"
        if self.vectors is None:
            return "this build has no vectors"
        if embedder is None:
            return "there is no embedder to make a vector of the question"
        if embedder.id != self.vectors.embedder:
            return (
                f"the vectors of this build were made by {self.vectors.embedder},"
                f" and the question's would be by {embedder.id}"
            )
        return ""

    def _hits(
        self, ranked: Sequence[_Ranking], weights: Mapping[str, float], count: int
    ) -> tuple[Hit, ...]:
        total = np.zeros(len(self.chunks), np.float64)
        for one in ranked:
            total += weights[one.leg] * RANKINGS[one.leg][one.name] * one.units
        ranks = {one.name: {i: rank for rank, (i, _) in enumerate(one.top, 1)} for one in ranked}
        scores = {one.name: dict(one.top) for one in ranked}
        candidates = {i for top in ranks.values() for i in top}
        order = sorted(candidates, key=lambda i: (-total[i], i))
        return tuple(
            Hit(
                index,
                self.chunks[index],
                float(total[index]),
                {name: places[index] for name, places in ranks.items() if index in places},
                {name: by[index] for name, by in scores.items() if index in by},
            )
            for index in order[:count]
        )


def _best(scores: NDArray[np.float32], then: NDArray[np.float32]) -> NDArray[np.int64]:
    """The candidates of a ranking, best first: what has a score, equal ones by another."""
    cut = len(scores) - CANDIDATES
    least = np.partition(scores, cut)[cut] if cut > 0 else 0.0
    near = np.flatnonzero(scores >= least if least > 0 else scores > 0)
    order = np.lexsort((near, -then[near], -scores[near]))[:CANDIDATES]
    best: NDArray[np.int64] = near[order]
    return best


@dataclass(frozen=True, slots=True)
class _Ranking:
    """What one ranking of a leg puts forward, best first, and what it says of every chunk."""

    leg: str
    name: str
    top: Sequence[tuple[int, float]]
    units: NDArray[np.float64]


def rows_of(chunks: Sequence[Chunk]) -> tuple[int, ...]:
    """Of which chunk each vector is, where sentences have one: first the chunks', then theirs."""
    sentences = (number for number, chunk in enumerate(chunks) for _ in chunk.passages)
    return (*range(len(chunks)), *sentences)
