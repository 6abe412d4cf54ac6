"""Asks each set's questions of its knowledge base, and counts how far up the answers stand.

    python bench/retrieval/run.py [--set handbook]… [--embedder multilingual]… [--write]

Asks: do the words, the meaning, or both together put the passage that answers among the
first few? Chunks, index, vectors and search are those of a build. A row for the endpoint is
added where EXACTQUOTE_BENCH_ENDPOINT and EXACTQUOTE_BENCH_MODEL are set; the key, if it
wants one, is in EXACTQUOTE_BENCH_KEY.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.results import keep
from bench.retrieval.measure import figures, first_rank, separation
from bench.retrieval.peers import rank_bm25
from bench.retrieval.questions import CHOOSING, PATH
from bench.retrieval.sets import SETS, TRIGSIGHT, Asked, Set, read_set
from bench.retrieval.table import told
from exactquote.embed.cache import VectorCache, default_cache_folder
from exactquote.embed.remembering import Remembering
from exactquote.emit.knowledge import knowledge_files
from exactquote.settings import KnowledgeSettings
from exactquote_site.knowledge.base import MEANING, WORDS, KnowledgeBase
from exactquote_site.knowledge.embedders import open_embedder

EMBEDDERS = ("multilingual", "wordllama")
_DEFAULT = KnowledgeSettings()
FUSIONS = (
    (1.0, 1.0),
    (_DEFAULT.words_weight, _DEFAULT.meaning_weight),
    (1.0, 0.3),
    (0.3, 1.0),
)
DEPTH = 50
# Of others' systems, as they published them: other corpora and other questions than ours,
# except that the first is for the same 30 questions as our set of that name.
OTHERS = (
    {"system": "trigsight", "corpus": "its own 9 documents", "recall@5": 0.967, "mrr": 0.889},
    {"system": "a documentation chat", "corpus": "another", "hit@5": 0.92, "hit@8": 0.96},
    {"system": "that chat, keywords only", "corpus": "another", "hit@5": 0.67},
)

Search = Callable[[str], Sequence[int]]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--set", action="append", choices=SETS, help="this one only")
    arguments.add_argument("--embedder", action="append", choices=EMBEDDERS, help="this one only")
    arguments.add_argument("--half", choices=("tune", "held", "choosing"), help="of ours")
    arguments.add_argument("--write", action="store_true", help="keep the result, dated")
    options = arguments.parse_args()
    questions = CHOOSING if options.half == "choosing" else PATH
    sets = [read_set(name, questions) for name in options.set or SETS]
    result = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "half": options.half or "both",
        "chunk_chars": KnowledgeSettings().chunk_chars,
        "sets": [{"set": one.name, "chunks": len(one.chunks)} for one in sets],
        **measured(sets, options.embedder or EMBEDDERS, options.half),
        "others": OTHERS,
    }
    print(told(result))
    if options.write:
        keep(__file__, str(result["date"]), result)
    return 0


def measured(
    sets: Sequence[Set], embedders: Sequence[str], half: str | None
) -> dict[str, list[dict[str, object]]]:
    """A row for each set and way to search, and one for all of ours together."""
    ranks: dict[tuple[str, str], dict[str, list[tuple[Asked, int, int]]]] = {}
    scores: dict[tuple[str, str], list[tuple[Asked, float]]] = {}
    for one in sets:
        asked = [a for a in one.asked if half is None or a.half in (half, "all")]
        print(f"{one.name}: {len(one.chunks)} chunks", file=sys.stderr)
        for backend, fusion, search in searches(one, embedders):
            rows = ranks.setdefault((backend, fusion), {})
            rows[one.name] = [ranked(a, search(a.text), one) for a in asked if a.answerable]
        if one.name != TRIGSIGHT:
            for leg, best in best_scores(one, embedders):
                scores.setdefault(leg, []).extend((a, best(a.text)) for a in asked)
    return {
        "rows": [
            {"set": name, "backend": backend, "fusion": fusion, **row(name, answers)}
            for (backend, fusion), by_set in ranks.items()
            for name, answers in (*by_set.items(), *ours_together(by_set))
        ],
        "unanswerable": [
            {
                "backend": backend,
                "score": score,
                **separation(
                    [best for a, best in heard if a.answerable],
                    [best for a, best in heard if not a.answerable],
                ),
            }
            for (backend, score), heard in scores.items()
        ],
    }


def ours_together(
    by_set: dict[str, list[tuple[Asked, int, int]]],
) -> list[tuple[str, list[tuple[Asked, int, int]]]]:
    ours = [rows for name, rows in by_set.items() if name != TRIGSIGHT]
    return [("ours", [answer for rows in ours for answer in rows])] if len(ours) > 1 else []


def ranked(asked: Asked, order: Sequence[int], one: Set) -> tuple[Asked, int, int]:
    """The rank of the first chunk with an answer, and of the first of a document with one."""
    docs = [one.chunks[index].doc for index in order]
    return asked, first_rank(order, asked.chunks), first_rank(docs, asked.docs)


def row(name: str, answers: Sequence[tuple[Asked, int, int]]) -> dict[str, object]:
    if name == TRIGSIGHT:
        return {"document": figures([doc for _, _, doc in answers])}
    kinds: dict[str, Callable[[Asked], bool]] = {
        "passage": lambda asked: True,
        "passage, de": lambda asked: asked.language == "de",
        "passage, en": lambda asked: asked.language == "en",
        "passage, no common word": lambda asked: asked.wordless,
    }
    found = {
        kind: figures([rank for asked, rank, _ in answers if wanted(asked)])
        for kind, wanted in kinds.items()
    }
    return {**found, "document": figures([doc for _, _, doc in answers])}


def searches(one: Set, embedders: Sequence[str]) -> list[tuple[str, str, Search]]:
    """Every way to search a set: what finds, how it is fused, and the search itself."""
    words = base(one, None, sentences=False)
    ways = [
        ("rank-bm25", "peer", rank_bm25(one.chunks)),
        ("words", "alone", by_base(words, None, (1.0, 0.0))),
    ]
    for name, embedder in opened(embedders):
        for sentences in (False, True):
            knowledge = base(one, embedder, sentences=sentences)
            named = f"{name}, sentences too" if sentences else name
            ways.append((named, "alone", by_base(knowledge, embedder, (0.0, 1.0))))
            ways += [
                (f"words + {named}", f"{w:g}:{m:g}", by_base(knowledge, embedder, (w, m)))
                for w, m in FUSIONS
            ]
    return ways


def best_scores(
    one: Set, embedders: Sequence[str]
) -> list[tuple[tuple[str, str], Callable[[str], float]]]:
    """The best score of each leg, by which an answer might be told from none."""
    words = base(one, None, sentences=False)
    legs: list[tuple[tuple[str, str], Callable[[str], float]]] = [
        (("words", "BM25"), top_score(words, None, WORDS))
    ]
    for name, embedder in opened(embedders):
        knowledge = base(one, embedder, sentences=True)
        legs.append(((name, "cosine"), top_score(knowledge, embedder, MEANING)))
    return legs


def top_score(
    knowledge: KnowledgeBase, embedder: Remembering | None, leg: str
) -> Callable[[str], float]:
    weights = {WORDS: float(leg == WORDS), MEANING: float(leg == MEANING)}

    def best(question: str) -> float:
        hits = knowledge.search(question, 1, embedder=embedder, weights=weights).hits
        return hits[0].scores[leg] if hits else 0.0

    return best


def by_base(
    knowledge: KnowledgeBase, embedder: Remembering | None, weights: tuple[float, float]
) -> Search:
    weighed = {WORDS: weights[0], MEANING: weights[1]}

    def search(question: str) -> Sequence[int]:
        found = knowledge.search(question, DEPTH, embedder=embedder, weights=weighed)
        return [hit.index for hit in found.hits]

    return search


_opened: dict[str, Remembering] = {}
_bases: dict[tuple[str, str, bool], KnowledgeBase] = {}


def opened(names: Sequence[str]) -> list[tuple[str, Remembering]]:
    """The embedders by name, each with the user's own cache of vectors."""
    endpoint = os.environ.get("EXACTQUOTE_BENCH_ENDPOINT")
    for name in (*names, *(["endpoint"] if endpoint else [])):
        if name not in _opened:
            embedder = open_embedder(
                name,
                base_url=endpoint or "",
                model=os.environ.get("EXACTQUOTE_BENCH_MODEL", ""),
                key_env="EXACTQUOTE_BENCH_KEY" if "EXACTQUOTE_BENCH_KEY" in os.environ else "",
            )
            assert embedder is not None
            folder = default_cache_folder(os.environ)
            cache = VectorCache(folder) if folder else None
            _opened[name] = Remembering(embedder, cache)
    return list(_opened.items())


def base(one: Set, embedder: Remembering | None, *, sentences: bool) -> KnowledgeBase:
    """The knowledge base of a set, read back from the files that a build would have.

    With `sentences`, each has a vector beside that of its chunk.
    """
    key = (one.name, embedder.id if embedder else "", sentences)
    if key not in _bases:
        settings = KnowledgeSettings(embedder=_kind(embedder))
        quotes = one.quotes if sentences else None
        files = knowledge_files(one.chunks, embedder, settings, "bench", quotes=quotes)
        _bases[key] = KnowledgeBase.load(files.__getitem__)
    return _bases[key]


def _kind(embedder: Remembering | None) -> Literal["multilingual", "wordllama", "endpoint", "none"]:
    """As the configuration names it: not every embedder is asked for the words of a corpus."""
    if embedder is None:
        return "none"
    if embedder.id.startswith("multilingual@"):
        return "multilingual"
    return "wordllama" if embedder.id.startswith("wordllama@") else "endpoint"


if __name__ == "__main__":
    sys.exit(main())
