"""Turns a claim and a knowledge base into the passages of the build that support the claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from exactquote_site.knowledge.base import KnowledgeBase
from exactquote_site.knowledge.chunk import Chunk
from exactquote_site.knowledge.support import Source, Support, support
from exactquote_site.knowledge.words import query_words
from exactquote_site.wire.allowlist import Entry

# A passage with all words of a claim is near the top by words alone; further down nothing
# was found in any corpus of bench/evidence.
CHUNKS = 24


def find_support(
    claim: str,
    base: KnowledgeBase,
    entries: Mapping[str, Entry],
    *,
    language: str = "",
    chunks: int = CHUNKS,
) -> Support:
    """Judge every passage of the `chunks` chunks that have most of the claim's words.

    `entries` are those of the allowlist of the same build. Raises `NoClaim` for a text that
    says too little or too much, and `KeyError` for a passage that the allowlist lacks.
    """
    return support(claim, sources_near(claim, base, entries, chunks), language)


def sources_near(
    claim: str, base: KnowledgeBase, entries: Mapping[str, Entry], chunks: int = CHUNKS
) -> list[Source]:
    """The passages of the chunks that have most of the claim's words, best chunk first."""
    languages = base.header.languages or ("",)
    terms = dict.fromkeys(term for tongue in languages for term in query_words(claim, tongue))
    top = base.postings.top(tuple(terms), chunks)
    return [source for i, _ in top for source in sources_of(base.chunks[i], entries)]


def sources_of(chunk: Chunk, entries: Mapping[str, Entry]) -> Iterator[Source]:
    """The passages of a chunk under their headings. A heading itself states nothing."""
    trail = chunk.trail
    for id in chunk.passages:
        entry = entries[id]
        if id in chunk.headings:
            if entry.quote not in (chunk.title, *chunk.trail):
                trail = (*chunk.trail, entry.quote)
            continue
        yield Source(id, entry.quote, entry.doc, chunk.title, entry.href, chunk.language, trail)
