"""Searches chunks as a peer would: rank-bm25 over plain words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from rank_bm25 import BM25Okapi

from exactquote_site.knowledge.chunk import Chunk, indexed_text

_WORD = re.compile(r"\w+")


def rank_bm25(chunks: Sequence[Chunk]) -> Callable[[str], Sequence[int]]:
    """BM25 of the package over what we index, its words in lower case."""
    index = BM25Okapi([_words(indexed_text(chunk)) for chunk in chunks])

    def search(question: str) -> Sequence[int]:
        scores = index.get_scores(_words(question))
        order = np.argsort(-scores, kind="stable")
        return [int(i) for i in order if scores[i] > 0]

    return search


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
