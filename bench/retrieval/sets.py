"""Makes each set of the bench: its questions, and which chunks and documents answer them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.corpora import proved, settings_for, shared, unpacked
from bench.retrieval.questions import CORPORA, PATH, Gold, read_questions, shares_no_word
from exactquote.chunks import corpus_chunks
from exactquote.pipeline import Proof
from exactquote_site.knowledge.chunk import Chunk

TRIGSIGHT = "trigsight"
SETS = (TRIGSIGHT, *CORPORA)
_HANDBOOK = Path(__file__).resolve().parents[2] / "corpus"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and what answers it; `chunks` is empty where only documents are known.

    Any one of `chunks`, or of `docs`, is enough. Neither is there for a question that the
    corpus has no answer to.
    """

    text: str
    language: str
    half: str
    wordless: bool
    docs: frozenset[str]
    chunks: frozenset[int]

    @property
    def answerable(self) -> bool:
        return bool(self.docs)


@dataclass(frozen=True, slots=True)
class Set:
    """A corpus cut as a build cuts it, with the questions that it is asked.

    `quotes` are the texts of all passages by id.
    """

    name: str
    chunks: tuple[Chunk, ...]
    quotes: Mapping[str, str]
    asked: tuple[Asked, ...]


def read_set(name: str, questions: Path = PATH) -> Set:
    with _root(name) as root:
        _, proof = proved(root, name)
    chunks = corpus_chunks(
        proof.pages.values(),
        proof.passages,
        settings_for(name).knowledge.chunk_chars,
        aliases={doc: article.aliases for doc, article in proof.articles.items()},
        faq=proof.answers,
    )
    asked = _of_trigsight() if name == TRIGSIGHT else _ours(name, proof, chunks, questions)
    quotes = {passage.id: passage.quote for passage in proof.passages}
    return Set(name, chunks, quotes, tuple(asked))


@contextmanager
def _root(name: str) -> Iterator[Path]:
    if name == "handbook":
        yield _HANDBOOK
    elif name == TRIGSIGHT:
        yield shared("data/trigsight/content")
    else:
        with unpacked(name) as root:
            yield root


def _of_trigsight() -> Iterator[Asked]:
    """Its own 30 questions, whose answers are documents. They have no halves."""
    path = shared("data/trigsight/bench/retrieval/golden.json")
    for query in json.loads(path.read_text(encoding="utf-8"))["queries"]:
        yield Asked(query["q"], "en", "all", False, frozenset(query["docs"]), frozenset())


def _ours(name: str, proof: Proof, chunks: Sequence[Chunk], questions: Path) -> Iterator[Asked]:
    ids: dict[Gold, set[str]] = {}
    for passage in proof.passages:
        ids.setdefault(Gold(passage.doc, passage.quote), set()).add(passage.id)
    owner = {id: number for number, chunk in enumerate(chunks) for id in chunk.passages}
    for question in read_questions(questions):
        if question.corpus != name:
            continue
        golds = [id for gold in question.gold for id in ids.get(gold, ())]
        if question.gold and not golds:
            raise ValueError(f"{question.id}: no answer is on its page any more")
        yield Asked(
            question.question,
            question.language,
            question.half,
            shares_no_word(question),
            frozenset(gold.doc for gold in question.gold),
            frozenset(owner[id] for id in golds),
        )
