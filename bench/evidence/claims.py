"""Reads the claims, and makes the knowledge base that each is judged against."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from bench.corpora import proved, settings_for, unpacked
from exactquote.chunks import corpus_chunks
from exactquote.config import load_config
from exactquote.emit.knowledge import knowledge_files
from exactquote_site.knowledge.base import KnowledgeBase
from exactquote_site.wire.allowlist import Entry

CORPORA = ("rustbook", "otel-en", "fastapi-de", "react-en", "handbook")
HALVES = ("tune", "held")
TRUE = "true"
_CLAIMS = Path(__file__).parent / "claims.jsonl"
_HANDBOOK = Path(__file__).resolve().parents[2] / "corpus"
_BUILD = "bench"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim by hand. `kind` is "true", or what is wrong with it.

    `doc` and `passage` are where it was written from, None for one that was invented.
    """

    corpus: str
    language: str
    part: str
    kind: str
    claim: str
    doc: str | None
    passage: str | None

    @property
    def true(self) -> bool:
        return self.kind == TRUE


def read_claims() -> tuple[Claim, ...]:
    lines = _CLAIMS.read_text(encoding="utf-8").splitlines()
    return tuple(Claim(**json.loads(line)) for line in lines)


def base_of(name: str) -> tuple[KnowledgeBase, Mapping[str, Entry]]:
    """The knowledge base of a corpus, through its files, and all its passages as entries.

    Links aren't made: whether a passage supports a claim doesn't depend on them.
    """
    corpus = nullcontext(_HANDBOOK) if name == "handbook" else unpacked(name)
    with corpus as root:
        _, proof = proved(root, name)
    settings = load_config(_HANDBOOK)[0] if name == "handbook" else settings_for(name)
    chunks = corpus_chunks(
        proof.pages.values(),
        proof.passages,
        settings.knowledge.chunk_chars,
        aliases={doc: article.aliases for doc, article in proof.articles.items()},
        faq=proof.answers,
    )
    files = knowledge_files(chunks, None, settings.knowledge, _BUILD)
    entries = {
        one.id: Entry(
            one.id, f"{one.doc}.html", one.quote, one.doc, proof.pages[one.doc].title, False
        )
        for one in proof.passages
    }
    return KnowledgeBase.load(files.__getitem__), entries
