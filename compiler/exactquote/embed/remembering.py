"""Turns an embedder into one that makes no vector twice, and counts what it made."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from exactquote.embed.cache import VectorCache
from exactquote_site.knowledge.embedders import Embedder
from exactquote_site.knowledge.vectors import codes, rows

# What a run that is stopped loses at most. Enough for several cores to share.
_TEXTS_AT_ONCE = 128


class Remembering:
    """An embedder that looks into a cache first.

    `embedded` and `reused` count the texts whose vector was made in this run, and those that
    had one from an earlier run. Its vectors are those that `Vectors` keeps, so a build has
    the same bytes whether a vector was made or found.
    """

    def __init__(
        self,
        embedder: Embedder,
        cache: VectorCache | None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """`progress` hears how many of how many texts have a vector, in each `embed`."""
        self._embedder = embedder
        self._cache = cache
        self._progress = progress or (lambda done, of: None)
        self._made: dict[str, bytes] = {}
        self.embedded = 0
        self.reused = 0

    @property
    def id(self) -> str:
        """That of the embedder within."""
        return self._embedder.id

    @property
    def dimension(self) -> int:
        """That of the embedder within."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row for each text, shape (n, d). Passes on what the embedder raises."""
        distinct = [text for text in dict.fromkeys(texts) if text not in self._made]
        kept = self._found(distinct)
        self._make([text for text in distinct if text not in kept], len(distinct))
        # An endpoint says its dimension with the first vector, and its model may have got
        # another one since.
        other = [text for text, row in kept.items() if len(row) != (self.dimension or len(row))]
        self._make(other, len(distinct))
        self._progress(len(distinct), len(distinct))
        self.embedded += sum(text in self._made for text in texts)
        self.reused += sum(text not in self._made for text in texts)
        return self._matrix([self._made.get(text) or kept[text] for text in texts])

    def _found(self, texts: Sequence[str]) -> dict[str, bytes]:
        if self._cache is None:
            return {}
        kept = self._cache.find(self.id, texts, self.dimension)
        return kept if len({len(row) for row in kept.values()}) < 2 else {}

    def _make(self, texts: Sequence[str], of: int) -> None:
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            self._progress(of - len(texts) + start, of)
            some = texts[start : start + _TEXTS_AT_ONCE]
            coded = codes(self._embedder.embed(some))
            made = {text: row.tobytes() for text, row in zip(some, coded, strict=True)}
            self._made |= made
            if self._cache is not None:
                self._cache.keep(self.id, made)

    def _matrix(self, coded: Sequence[bytes]) -> NDArray[np.float32]:
        dimension = len(coded[0]) if coded else self.dimension
        whole = np.frombuffer(b"".join(coded), np.int8).reshape(len(coded), dimension)
        return rows(whole)
