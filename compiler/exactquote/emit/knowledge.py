"""Turns the chunks of a build into its knowledge base: the files that questions are asked of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from exactquote.settings import KnowledgeSettings
from exactquote_site.knowledge.bridge import BRIDGED, Bridge, bridge_words
from exactquote_site.knowledge.chunk import Chunk, indexed_text
from exactquote_site.knowledge.embedders import Embedder
from exactquote_site.knowledge.postings import Postings
from exactquote_site.knowledge.stored import (
    BRIDGE_PATH,
    CHUNKS_PATH,
    HEADER_PATH,
    VECTORS_PATH,
    WORDS_PATH,
    EmbedderNote,
    Header,
    chunks_json,
    header_json,
    sealed,
)
from exactquote_site.knowledge.tokens import estimated_tokens
from exactquote_site.knowledge.vectors import Vectors
from exactquote_site.knowledge.words import corpus_words, fingerprint

# A progress line moves, and several cores or an endpoint get many texts at once.
_EMBEDDED_AT_ONCE = 128


def knowledge_files(
    chunks: Sequence[Chunk],
    embedder: Embedder | None,
    settings: KnowledgeSettings,
    build_id: str,
    progress: Callable[[str, int, int], None] | None = None,
    *,
    quotes: Mapping[str, str] | None = None,
) -> dict[str, bytes]:
    """The files by path; without an embedder there are no vectors among them.

    With `quotes`, the texts of passages by id, each sentence has a vector, too; and so has each
    word that a question may be led to, where the embedder can tell. Passes on what it raises.
    """
    terms = corpus_words((indexed_text(chunk), chunk.language) for chunk in chunks)
    vectors, bridge = None, None
    if embedder is not None and settings.embedder != "none" and chunks:
        bridged = settings.embedder in BRIDGED
        vectors, bridge = _embedded(chunks, quotes, embedder, progress, bridged=bridged)
    files = {
        HEADER_PATH: header_json(_header(chunks, vectors, settings, build_id)),
        CHUNKS_PATH: chunks_json(chunks, build_id),
        WORDS_PATH: sealed("words", build_id, Postings.build(terms).to_bytes()),
    }
    if vectors is not None:
        files[VECTORS_PATH] = sealed("vectors", build_id, vectors.to_bytes())
    if bridge is not None:
        files[BRIDGE_PATH] = sealed("bridge", build_id, bridge.to_bytes())
    return files


def _embedded(
    chunks: Sequence[Chunk],
    quotes: Mapping[str, str] | None,
    embedder: Embedder,
    progress: Callable[[str, int, int], None] | None,
    *,
    bridged: bool,
) -> tuple[Vectors, Bridge | None]:
    """The vectors of chunks and sentences, and those of words where they say something."""
    texts = [indexed_text(chunk) for chunk in chunks]
    words = bridge_words(texts) if bridged else ()
    if quotes is not None:
        texts += [quotes[passage] for chunk in chunks for passage in chunk.passages]
    count = len(texts)
    texts += words
    rows = []
    for start in range(0, len(texts), _EMBEDDED_AT_ONCE):
        if progress is not None:
            progress("embedding", start, len(texts))
        rows.append(embedder.embed(texts[start : start + _EMBEDDED_AT_ONCE]))
    matrix = np.concatenate(rows)
    bridge = Bridge(embedder.id, words, matrix[count:]) if bridged else None
    return Vectors(embedder.id, matrix[:count]), bridge


def _header(
    chunks: Sequence[Chunk],
    vectors: Vectors | None,
    settings: KnowledgeSettings,
    build_id: str,
) -> Header:
    tokens = sum(estimated_tokens(indexed_text(chunk)) for chunk in chunks)
    note = None
    if vectors is not None and settings.embedder != "none":
        note = EmbedderNote(settings.embedder, settings.model, vectors.embedder, vectors.dimension)
    return Header(
        build_id=build_id,
        mode="whole" if tokens <= settings.whole_notes_tokens_max else "retrieve",
        chunks=len(chunks),
        passages=sum(len(chunk.passages) for chunk in chunks),
        tokens=tokens,
        languages=tuple(sorted({chunk.language for chunk in chunks if chunk.language})),
        words_weight=settings.words_weight,
        meaning_weight=settings.meaning_weight,
        words=fingerprint(),
        embedder=note,
    )
