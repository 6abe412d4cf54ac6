"""Turns a question into the chunks that answer it best: by words, by meaning, and fused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from exactquote_site.knowledge.chunk import Chunk
from exactquote_site.knowledge.embedders import Embedder, EmbedderDown, question_vector
from exactquote_site.knowledge.fuse import fuse
from exactquote_site.knowledge.postings import Postings
from exactquote_site.knowledge.stored import (
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
from exactquote_site.knowledge.words import fingerprint, query_words
from exactquote_site.wire.allowlist import WireError

WORDS, MEANING = "words", "meaning"
# A leg ranks chunks by what is in them, and once more: by the words of the whole page, and by
# the one sentence that is nearest. Each ranking counts in the fusion as much as its leg does.
PAGES, SENTENCES = "pages", "sentences"
RANKINGS = {WORDS: (WORDS, PAGES), MEANING: (MEANING, SENTENCES)}
# What each ranking hands to the fusion. Far below, a rank adds next to nothing.
CANDIDATES = 100


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

    `found` counts what each leg that ran handed to the fusion, and `off` says why another
    didn't run. `terms` are what the words leg looked for, with repeats, and `vector` is what the
    other one did.
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
    _pages: Postings = field(init=False, compare=False, repr=False)
    _page_of: NDArray[np.int64] = field(init=False, compare=False, repr=False)
    _first_sentences: tuple[int, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Index the pages, and note whose each vector is."""
        numbers: dict[str, int] = {}
        page_of = [numbers.setdefault(chunk.doc, len(numbers)) for chunk in self.chunks]
        object.__setattr__(self, "_pages", self.postings.grouped(page_of))
        object.__setattr__(self, "_page_of", np.asarray(page_of, np.int64))
        counts = (len(chunk.passages) for chunk in self.chunks)
        firsts = tuple(accumulate(counts, initial=len(self.chunks)))
        object.__setattr__(self, "_first_sentences", firsts)

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
        return KnowledgeBase(chunks, postings, store, header)

    @property
    def weights(self) -> Mapping[str, float]:
        """What each leg counts in the fusion, unless a search says otherwise."""
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
        tops: dict[str, list[tuple[int, float]]] = {}
        off: dict[str, str] = {}
        terms: tuple[str, ...] = ()
        vector = None
        if weighed[WORDS] <= 0:
            off[WORDS] = "its weight is 0"
        elif self.header.words != fingerprint():
            off[WORDS] = "the words of this build were cut otherwise than is done here; build again"
        else:
            languages = self.header.languages
            terms = tuple(query_words(question, known=self.postings, languages=languages))
            tops[WORDS], tops[PAGES] = self._by_words(terms)
        why = self._why_no_vectors(weighed[MEANING], embedder)
        if embedder is not None and self.vectors is not None and not why:
            try:
                made = question_vector(embedder, question)
                tops |= self._by_meaning(self.vectors, made)
                vector = made
            except EmbedderDown as error:
                why = str(error)
        if why:
            off[MEANING] = why
        hits = self._hits(tops, self._shared(weighed, tops, terms), count)
        found = {leg: len(top) for leg, top in tops.items() if leg in RANKINGS}
        return Found(hits, found, off, terms, vector)

    @property
    def has_sentences(self) -> bool:
        """Whether each sentence has a vector, beside that of its chunk."""
        return self.vectors is not None and len(self.vectors) > len(self.chunks)

    def sentence_row(self, index: int) -> int:
        """The row of the vector of a chunk's first sentence; those of its others follow."""
        return self._first_sentences[index]

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

    def _by_words(
        self, terms: Sequence[str]
    ) -> tuple[list[tuple[int, float]], list[tuple[int, float]]]:
        """The best chunks by their own words, and by those of their page and then their own."""
        own = self.postings.scores(terms)
        page = self._pages.scores(terms)[self._page_of]
        order = np.lexsort((-own, -page))[:CANDIDATES]
        by_page = [(int(i), float(page[i])) for i in order if page[i] > 0]
        return self.postings.top(terms, CANDIDATES), by_page

    def _by_meaning(
        self, vectors: VectorStore, vector: NDArray[np.float32]
    ) -> dict[str, list[tuple[int, float]]]:
        """The best chunks by their own cosine, and the same ones by their nearest sentence's.

        Comparing the sentences of all chunks takes ten times as long and finds as much.
        """
        top = vectors.top(vector, CANDIDATES, start=0, stop=len(self.chunks))
        tops = {MEANING: top}
        if self.has_sentences:
            firsts = self._first_sentences
            owners = [(row, chunk) for chunk, _ in top for row in range(*firsts[chunk : chunk + 2])]
            nearest: dict[int, float] = {}
            cosines = vectors.cosines(vector, [row for row, _ in owners])
            for (_, chunk), cosine in zip(owners, cosines, strict=True):
                nearest[chunk] = max(cosine, nearest.get(chunk, -1.0))
            tops[SENTENCES] = sorted(nearest.items(), key=lambda found: (-found[1], found[0]))
        return tops

    def _shared(
        self,
        weights: Mapping[str, float],
        tops: Mapping[str, Sequence[tuple[int, float]]],
        terms: Sequence[str],
    ) -> Mapping[str, float]:
        """The weights, words counting for as much as they found of what was asked.

        A question in other words than the page's still finds some chunk with one of them; by
        rank alone it would stand as high as one that has them all.
        """
        words = weights[WORDS]
        if MEANING in tops and tops.get(WORDS):
            words *= tops[WORDS][0][1] / self.postings.ceiling(terms)
        of_leg = {WORDS: words, MEANING: weights[MEANING]}
        return {ranking: of_leg[leg] for leg, both in RANKINGS.items() for ranking in both}

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
        self,
        tops: Mapping[str, Sequence[tuple[int, float]]],
        weights: Mapping[str, float],
        count: int,
    ) -> tuple[Hit, ...]:
        ranks = {leg: {i: rank for rank, (i, _) in enumerate(top, 1)} for leg, top in tops.items()}
        scores = {leg: dict(top) for leg, top in tops.items()}
        fused = fuse({leg: [i for i, _ in top] for leg, top in tops.items()}, weights)
        return tuple(
            Hit(
                index,
                self.chunks[index],
                score,
                {leg: places[index] for leg, places in ranks.items() if index in places},
                {leg: by[index] for leg, by in scores.items() if index in by},
            )
            for index, score in fused[:count]
        )


def rows_of(chunks: Sequence[Chunk]) -> tuple[int, ...]:
    """Of which chunk each vector is, where sentences have one: first the chunks', then theirs."""
    sentences = (number for number, chunk in enumerate(chunks) for _ in chunk.passages)
    return (*range(len(chunks)), *sentences)
