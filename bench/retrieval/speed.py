"""Times a question against the index, beside rank-bm25, in one thread.

    python bench/retrieval/speed.py [--large] [--write]

Asks: what does a question cost, by words, by meaning and in all, and how large is the index?
The questions are those of `questions.jsonl`; rank-bm25 gets the same texts cut into words
without stems, which gives it half as many terms as ours. They take turns by rounds. Times are
of the processor; on an idle machine they are those of the clock. `--large` adds 100,000
chunks: those of the two corpora, repeated, with a tenth of the terms of each copy replaced by
terms drawn from both.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import re
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

# Read when numpy is imported.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from bench.corpora import proved, unpacked
from bench.results import keep
from bench.retrieval.questions import read_questions
from exactquote.chunks import corpus_chunks
from exactquote.settings import KnowledgeSettings
from exactquote_site.knowledge.base import KnowledgeBase, rows_of
from exactquote_site.knowledge.bridge import Bridge, bridge_words
from exactquote_site.knowledge.chunk import Chunk, indexed_text
from exactquote_site.knowledge.embedders import open_embedder, question_vector
from exactquote_site.knowledge.postings import Postings
from exactquote_site.knowledge.stored import Header
from exactquote_site.knowledge.vectors import Vectors
from exactquote_site.knowledge.words import corpus_words, fingerprint, forget_words, query_words

CORPORA = ("fastapi-de", "rustbook")
CHUNKS = 2_680
LARGE = 100_000
LANGUAGES = ("de", "en")
SEED = 7
Documents = Sequence[Sequence[str]]
QUESTIONS = 40
LARGE_QUESTIONS = 5
DIMENSION = 1_024
# What must hold at 2,680 chunks.
PEER_RATIO_MIN = 30.0
COSINE_MS_MAX = 1.0
QUERY_MS_MAX = 10.0


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--large", action="store_true", help="100,000 chunks as well")
    arguments.add_argument("--write", action="store_true", help="keep the result, dated")
    options = arguments.parse_args()
    # The two corpora have fewer; some are there twice.
    chunks = random.Random(SEED).choices(chunks_of(CORPORA), k=CHUNKS)
    texts = [(indexed_text(chunk), chunk.language) for chunk in chunks]
    terms = corpus_words(texts)
    peer_terms = [peer_words(text) for text, _ in texts]
    result: dict[str, object] = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "load_average": round(os.getloadavg()[0], 1),
        "words": [words_leg(terms, peer_terms, QUESTIONS, rounds=3)],
        "cosine": cosine(),
        "whole_query": whole_query(chunks, terms),
    }
    if options.large:
        copies = varied(terms, LARGE), varied(peer_terms, LARGE)
        result["words"].append(words_leg(*copies, LARGE_QUESTIONS, rounds=1))  # type: ignore[attr-defined]
    print(json.dumps(result, indent=1))
    if options.write:
        keep(__file__, f"speed-{result['date']}", result)
    held = (
        result["words"][0]["peer_ratio_p50"] >= PEER_RATIO_MIN  # type: ignore[index]
        and result["cosine"]["p50_ms"] <= COSINE_MS_MAX  # type: ignore[index]
        and result["whole_query"]["p50_ms"] <= QUERY_MS_MAX  # type: ignore[index]
    )
    return 0 if held else 1


def chunks_of(names: Sequence[str]) -> list[Chunk]:
    """The chunks of some corpora, cut as a build cuts them."""
    found: list[Chunk] = []
    for name in names:
        with unpacked(name) as root:
            _, proof = proved(root, name)
        chars = KnowledgeSettings().chunk_chars
        found += corpus_chunks(proof.pages.values(), proof.passages, chars, aliases={})
    return found


def varied(documents: Documents, count: int) -> list[list[str]]:
    """So many documents: repetitions of a few, each with some terms of others."""
    rng = random.Random(SEED)
    pool = [term for document in documents for term in document]
    found = []
    for number in range(count):
        copy = list(documents[number % len(documents)])
        if number >= len(documents):
            for at in rng.sample(range(len(copy)), len(copy) // 10):
                copy[at] = rng.choice(pool)
        found.append(copy)
    return found


def asked(count: int) -> list[str]:
    found = [each.question for each in read_questions()]
    return random.Random(SEED).sample(found, count)


def words_leg(
    terms: Documents, peer_terms: Documents, questions: int, rounds: int
) -> dict[str, object]:
    """From the question's text to the 100 best chunks, ours and the peer's."""
    started = time.process_time()
    data = Postings.build(terms).to_bytes()
    built = time.process_time() - started
    started = time.process_time()
    postings = Postings.from_bytes(data)
    loaded = time.process_time() - started
    peer_index = BM25Okapi(peer_terms)

    def peer(question: str) -> object:
        # As the package's own `get_top_n` sorts.
        return np.argsort(peer_index.get_scores(peer_words(question)))[::-1][:100]

    def ours(question: str) -> object:
        return postings.top(query_words(question, known=postings, languages=LANGUAGES), 100)

    texts = asked(questions)
    our_ms, peer_ms = in_turn((ours, peer), texts, rounds)
    # A word that was met before has its stems ready; a service soon met most of them.
    first_ms = []
    for text in texts:
        forget_words()
        first_ms += in_turn((ours,), [text], 1)[0]
    return {
        "chunks": len(terms),
        "questions": len(texts),
        "index_bytes_per_chunk": round(len(data) / len(terms)),
        "build_seconds": round(built, 2),
        "load_ms": round(loaded * 1e3, 1),
        "ours": spread(our_ms),
        "ours_no_word_met_before": spread(first_ms),
        "rank_bm25": spread(peer_ms),
        "peer_ratio_p50": round(statistics.median(peer_ms) / statistics.median(our_ms), 1),
    }


def peer_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def cosine() -> dict[str, object]:
    """The 100 nearest of 2,680 vectors of 1,024 numbers; what they are of doesn't matter."""
    vectors = Vectors("bench", random_vectors(CHUNKS, DIMENSION))
    queries = random_vectors(50, DIMENSION)
    (ms,) = in_turn((lambda query: vectors.top(query, 100),), list(queries), 5)
    return {"vectors": CHUNKS, "dimension": DIMENSION, **spread(ms)}


def random_vectors(count: int, dimension: int) -> NDArray[np.float32]:
    matrix = np.random.default_rng(SEED).standard_normal((count, dimension), np.float32)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def whole_query(chunks: Sequence[Chunk], terms: Documents) -> dict[str, object]:
    """A search of the knowledge base, the embedder's part with it."""
    embedder = open_embedder(KnowledgeSettings().embedder)
    if embedder is None:
        raise RuntimeError("the default embedder is off")
    postings = Postings.build(terms)
    # What they are of changes no time, and to embed the chunks would take minutes.
    vectors = Vectors(embedder.id, random_vectors(len(rows_of(chunks)), embedder.dimension))
    settings = KnowledgeSettings()
    header = Header(
        build_id="bench",
        mode="retrieve",
        chunks=len(chunks),
        passages=0,
        tokens=0,
        languages=LANGUAGES,
        words_weight=settings.words_weight,
        meaning_weight=settings.meaning_weight,
        words=fingerprint(),
    )
    words = bridge_words(indexed_text(chunk) for chunk in chunks)
    bridge = Bridge(embedder.id, words, embedder.embed(words))
    base = KnowledgeBase(tuple(chunks), postings, vectors, header, bridge)
    base.search("warm", embedder=embedder)
    searches = (
        lambda question: base.search(question, embedder=embedder),
        lambda question: question_vector(embedder, question),
    )
    # A word of a question that was met before has its vector ready, but not in the first round.
    (first,) = in_turn(searches[:1], asked(QUESTIONS), 1)
    whole, embedding = in_turn(searches, asked(QUESTIONS), 3)
    return {
        "chunks": len(chunks),
        "vectors": len(vectors),
        "vector_bytes_per_chunk": round(len(vectors.to_bytes()) / len(chunks)),
        "bridge_words": len(words),
        "bridge_bytes_per_chunk": round(len(bridge.to_bytes()) / len(chunks)),
        "embedder": embedder.id,
        **spread(whole),
        "no_word_met_before": spread(first),
        "of_which_embedding": spread(embedding),
    }


def in_turn(
    searches: Sequence[Callable[..., object]], questions: Sequence[object], rounds: int
) -> list[list[float]]:
    """Milliseconds of each search for each question; the best of so many rounds."""
    best = [[float("inf")] * len(questions) for _ in searches]
    for _ in range(rounds):
        # Not one after the other for each question: the peer's data would drive ours out of
        # the processor's caches.
        for number, search in enumerate(searches):
            for at, question in enumerate(questions):
                started = time.process_time()
                search(question)
                spent = (time.process_time() - started) * 1e3
                best[number][at] = min(best[number][at], spent)
    return best


def spread(ms: Sequence[float]) -> dict[str, float]:
    ordered = sorted(ms)
    return {
        "p50_ms": round(statistics.median(ordered), 3),
        "p95_ms": round(ordered[max(0, -(-len(ordered) * 95 // 100) - 1)], 3),
    }


if __name__ == "__main__":
    sys.exit(main())
