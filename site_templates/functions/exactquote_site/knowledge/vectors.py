"""Keeps the vectors of a build, and finds those nearest to that of a question.

A vector is kept as whole numbers from -127 to 127, the largest being 127, and is that row
divided by its length. A scale isn't stored, so nothing is lost in keeping what was read,
and the last bits of what an embedder computes hardly ever reach a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from exactquote_site.knowledge.arrays import pack, unpack
from exactquote_site.knowledge.embedders import Embedder, question_vector
from exactquote_site.wire.allowlist import WireError

_KIND = "vectors"
_CODE_MAX = 127
# Far more than sums of single precision are off by, for vectors of a few thousand numbers.
_SUMS_ARE_OFF = 1e-4
# Equal rows must have equal scores, in whichever order their products were summed.
_SCORE_DECIMALS = 9
# Work in double precision takes eight times the memory of a file.
_ROWS_AT_ONCE = 4096


class OtherEmbedder(Exception):
    """A question was to be compared with vectors that another embedder made."""


class VectorStore(Protocol):
    """Rows of one embedder, wherever they are kept."""

    @property
    def embedder(self) -> str:
        """Id of the embedder that made the rows."""

    @property
    def dimension(self) -> int:
        """Numbers in a row."""

    def __len__(self) -> int:
        """How many rows there are."""

    def top(
        self, query: NDArray[np.float32], count: int, *, start: int = 0, stop: int | None = None
    ) -> list[tuple[int, float]]:
        """The rows of the highest cosine with `query`, as (row, cosine), best first.

        Of all rows, or of those from `start` to before `stop`.
        """

    def cosines(self, query: NDArray[np.float32], rows: Sequence[int]) -> list[float]:
        """The cosine of each of these rows with `query`."""


class Vectors:
    """Rows of shape (n, d), of length 1 or, for blank texts, 0; kept in memory."""

    __slots__ = ("embedder", "matrix")

    embedder: str
    matrix: NDArray[np.float32]

    def __init__(self, embedder: str, matrix: NDArray[np.float32]) -> None:
        """Keep the rows as a file would: those read from `to_bytes` are equal to these.

        Raises `ValueError` for another shape, or a number that isn't finite.
        """
        self._take(embedder, codes(matrix))

    def _take(self, embedder: str, coded: NDArray[np.int8]) -> None:
        self.embedder = embedder
        self.matrix = rows(coded)
        self.matrix.flags.writeable = False

    @property
    def dimension(self) -> int:
        """Numbers in a row."""
        return int(self.matrix.shape[1])

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.matrix)

    def top(
        self, query: NDArray[np.float32], count: int, *, start: int = 0, stop: int | None = None
    ) -> list[tuple[int, float]]:
        """The `count` rows of the highest cosine with `query`, as (row, cosine), best first.

        Of all rows, or of those from `start` to before `stop`. Rows of equal cosine come in
        their order. A query of zeros is near nothing. Raises `ValueError` unless `query` has
        shape (d,) and is finite.
        """
        exact = self._unit(query)
        matrix = self.matrix[start:stop]
        count = min(count, len(matrix))
        if count <= 0 or not exact.any():
            return []
        # Single precision reads half as much memory, which is what a search costs; it only
        # says which rows are worth a second look.
        rough = matrix @ exact.astype(np.float32)
        last = np.partition(rough, len(rough) - count)[len(rough) - count]
        near = np.flatnonzero(rough >= last - _SUMS_ARE_OFF)
        scores = _cosines(matrix[near], exact)
        order = np.lexsort((near, -scores))[:count]
        return [(start + int(near[i]), float(scores[i])) for i in order]

    def cosines(self, query: NDArray[np.float32], rows: Sequence[int]) -> list[float]:
        """The cosine of each of these rows with `query`, to six places.

        Raises `ValueError` as `top` does, and `IndexError` for a row that isn't there.
        """
        single = self._unit(query).astype(np.float32)
        cosines = self.matrix[np.asarray(rows, np.int64)] @ single
        rounded: list[float] = np.round(cosines.astype(np.float64), 6).tolist()
        return rounded

    def _unit(self, query: NDArray[np.float32]) -> NDArray[np.float64]:
        if np.shape(query) != (self.dimension,):
            raise ValueError(f"a query of shape {np.shape(query)} for rows of {self.dimension}")
        row: NDArray[np.float64] = unit(np.asarray(query)[np.newaxis])[0]
        return row

    def to_bytes(self) -> bytes:
        """The rows as a file; the same rows give the same bytes on any machine."""
        return pack(_KIND, {"codes": codes(self.matrix).view(np.uint8)}, {"by": self.embedder})

    @staticmethod
    def from_bytes(data: bytes) -> Vectors:
        """Read what `to_bytes` wrote. Raises `WireError` for anything else."""
        arrays, settings = unpack(_KIND, data)
        embedder = settings.get("by")
        if arrays.keys() != {"codes"} or settings.keys() != {"by"} or not isinstance(embedder, str):
            raise WireError(f"{_KIND}: wants an array of codes and the embedder that made them")
        kept = arrays["codes"]
        if kept.dtype != np.uint8 or kept.ndim != 2 or not kept.shape[1]:
            raise WireError(f"{_KIND}: codes must be bytes in rows, not {kept.dtype}{kept.shape}")
        largest = np.abs(kept.view(np.int8).astype(np.int16)).max(axis=1, initial=0)
        if not np.isin(largest, (0, _CODE_MAX)).all():
            raise WireError(f"{_KIND}: the largest code of a row must be {_CODE_MAX}")
        read = Vectors.__new__(Vectors)
        read._take(embedder, kept.view(np.int8))
        return read


def nearest(
    store: VectorStore, embedder: Embedder, text: str, count: int
) -> list[tuple[int, float]]:
    """The rows of a store that are nearest to a text.

    Raises `OtherEmbedder` when the store's rows are of another embedder, since cosines
    between the two mean nothing; and `EmbedderDown`.
    """
    if store.embedder != embedder.id:
        raise OtherEmbedder(f"the vectors are of {store.embedder}, not of {embedder.id}")
    return store.top(question_vector(embedder, text), count)


def codes(matrix: NDArray[np.floating]) -> NDArray[np.int8]:
    """Each row as whole numbers, of which the largest is 127; a row of zeros stays one.

    Raises `ValueError` unless the matrix has two dimensions, columns, and is finite.
    """
    if matrix.ndim != 2 or not matrix.shape[1]:
        raise ValueError(f"wants rows of numbers, not an array of shape {matrix.shape}")
    coded = np.empty(matrix.shape, np.int8)
    for start in range(0, len(matrix), _ROWS_AT_ONCE):
        exact = matrix[start : start + _ROWS_AT_ONCE].astype(np.float64)
        scaled = _by_largest(exact)
        coded[start : start + _ROWS_AT_ONCE] = np.rint(scaled * _CODE_MAX)
    return coded


def rows(coded: NDArray[np.int8]) -> NDArray[np.float32]:
    """The vectors that codes stand for: of length 1, or 0 for a row of zeros."""
    made = np.empty(coded.shape, np.float32)
    for start in range(0, len(coded), _ROWS_AT_ONCE):
        made[start : start + _ROWS_AT_ONCE] = unit(coded[start : start + _ROWS_AT_ONCE])
    return made


def unit(matrix: NDArray[np.generic]) -> NDArray[np.float64]:
    """Each row brought to length 1; a row of zeros stays one.

    Raises `ValueError` for a number that isn't finite.
    """
    scaled = _by_largest(matrix.astype(np.float64))
    length = np.sqrt(np.sum(scaled * scaled, axis=1, keepdims=True))
    np.divide(scaled, length, out=scaled, where=length > 0)
    return scaled


def _cosines(matrix: NDArray[np.float32], exact: NDArray[np.float64]) -> NDArray[np.float64]:
    cosines = np.einsum("ij,j->i", matrix.astype(np.float64), exact)
    rounded: NDArray[np.float64] = np.round(cosines, _SCORE_DECIMALS)
    return rounded


def _by_largest(exact: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each row by its largest number: squares of very small or large ones aren't doubles."""
    if not np.isfinite(exact).all():
        raise ValueError("a vector holds a number that isn't finite")
    largest = np.abs(exact).max(axis=1, keepdims=True, initial=0.0)
    scaled = np.zeros_like(exact)
    np.divide(exact, largest, out=scaled, where=largest > 0)
    return scaled
