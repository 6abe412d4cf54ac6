"""Turns the words of a question into the words of the corpus that mean about the same.

The embedder is asked for the vector of each word of the corpus when a site is built. A word
of a question is looked for under the nearest of them as well: of its own language, as
`concurrent` for `simultaneous`, or of another, as `file` for `Datei`. That makes a dictionary
for any two languages that the embedder knows, of the words that the corpus has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from exactquote_site.knowledge.arrays import pack, unpack
from exactquote_site.knowledge.shapes import stretches
from exactquote_site.knowledge.vectors import codes, rows, unit
from exactquote_site.knowledge.words import says_something, spellings
from exactquote_site.wire.allowlist import WireError

# Embedders whose vectors of single words are near where the words mean the same. The limits
# below were chosen for this one.
BRIDGED = ("multilingual",)
_KIND = "bridge"
# A word that one chunk alone has is as well found by the vector of that chunk.
_CHUNKS_MIN = 2
_CHARS = range(3, 31)
# With 512 numbers each they take 10 MB in the file and 40 MB in memory.
_WORDS_MAX = 20_000
# How many words one may be looked for under, how near each must be at least, and how much
# farther than the nearest it may be.
_NEAR_MAX = 8
_COSINE_MIN = 0.3
_FARTHER_MAX = 0.1
# With the numbers of a row that are searched, and the rows of which all numbers are compared,
# the same words are found as by comparing all, in a twentieth of the time.
_AXES = 48
_LOOKED_AT = 16
# Words of questions whose vectors are remembered: asking for one is a third of a search. They
# take 8 MB.
_MET_MAX = 4_096
# A long question has more words; by then it has enough of them.
_UNMET_MAX = 12


class Bridge:
    """Words of a corpus, each with its vector from the embedder of the build."""

    __slots__ = (
        "_axes", "_coded", "_matrix", "_mean", "_met", "_places", "_short", "embedder", "words",
    )  # fmt: skip

    embedder: str
    words: tuple[str, ...]

    def __init__(self, embedder: str, words: Sequence[str], matrix: NDArray[np.float32]) -> None:
        """`matrix` has a row for each word. Raises `ValueError` as `vectors.codes` does."""
        self._take(embedder, words, codes(matrix))

    def _take(self, embedder: str, words: Sequence[str], coded: NDArray[np.int8]) -> None:
        self.embedder, self.words, self._coded = embedder, tuple(words), coded
        self._places = {word.casefold(): row for row, word in enumerate(self.words)}
        made = rows(coded)
        # All vectors of words have much in common, most of all those of words that the
        # embedder hardly knows, which would be near everything.
        self._mean = made.mean(axis=0) if len(made) else np.zeros(coded.shape[1], np.float32)
        self._matrix = unit(made - self._mean).astype(np.float32)
        self._met: dict[str, NDArray[np.float32]] = {}
        # Along the axes on which they differ most, short rows tell which are worth a look.
        _, axes = np.linalg.eigh(self._matrix.T @ self._matrix)
        self._axes = np.ascontiguousarray(axes[:, -_AXES:])
        self._short = np.ascontiguousarray((self._matrix @ self._axes).T)

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(self._coded.shape[1])

    def unmet(self, asked: Iterable[str]) -> tuple[str, ...]:
        """Those words of a question whose vector isn't here, but worth asking for."""
        wanted = (
            word
            for word in asked
            if word not in self._met and word.casefold() not in self._places and _fit(word)
        )
        return tuple(wanted)[:_UNMET_MAX] if self.words else ()

    def widened(
        self,
        asked: Mapping[str, tuple[str, ...]],
        vectors: Mapping[str, NDArray[np.float32]],
        languages: Sequence[str],
    ) -> list[dict[str, float]]:
        """For each word of a question the terms to look for, with what each counts for.

        Its own terms, given in `asked`, count for 1; those of words that mean about the same
        count for the square of their cosine. `vectors` are those of the words that were unmet,
        and `languages` those of the pages.
        """
        heard = {word: self._centred(vector) for word, vector in vectors.items()}
        for word in heard:
            if len(self._met) < _MET_MAX:
                self._met[word] = heard[word]
        known = {word: row for word in asked if (row := self._row(word, heard)) is not None}
        meant = dict(zip(known, self._nearest(list(known.values())), strict=True))
        return [
            self._weights(terms, meant.get(word, ()), languages) for word, terms in asked.items()
        ]

    def _row(
        self, word: str, heard: Mapping[str, NDArray[np.float32]]
    ) -> NDArray[np.float32] | None:
        place = self._places.get(word.casefold())
        return heard.get(word, self._met.get(word)) if place is None else self._matrix[place]

    def _weights(
        self,
        terms: Sequence[str],
        meant: Iterable[tuple[str, float]],
        languages: Sequence[str],
    ) -> dict[str, float]:
        weights: dict[str, float] = {}
        for word, cosine in meant:
            for term in spellings(word.casefold(), tuple(languages)):
                weights[term] = max(cosine * cosine, weights.get(term, 0.0))
        return {**weights, **dict.fromkeys(terms, 1.0)}

    def _centred(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        made: NDArray[np.float32] = unit((vector - self._mean)[np.newaxis])[0].astype(np.float32)
        return made

    def _nearest(self, vectors: Sequence[NDArray[np.float32]]) -> list[list[tuple[str, float]]]:
        if not vectors or not self.words:
            return [[] for _ in vectors]
        looked = np.stack(vectors)
        count = min(_LOOKED_AT, len(self.words))
        rough = (looked @ self._axes) @ self._short
        places = np.argpartition(rough, -count, axis=1)[:, -count:]
        cosines = np.matmul(self._matrix[places], looked[:, :, np.newaxis])[:, :, 0]
        order = np.lexsort((places, -cosines))[:, :_NEAR_MAX]
        near = np.take_along_axis(cosines, order, axis=1)
        placed = np.take_along_axis(places, order, axis=1)
        least = np.maximum(near[:, :1] - _FARTHER_MAX, _COSINE_MIN)
        found = []
        for row, cosine, kept in zip(placed, near, near >= least, strict=True):
            named = (self.words[place] for place in row[kept].tolist())
            found.append(list(zip(named, cosine[kept].tolist(), strict=True)))
        return found

    def to_bytes(self) -> bytes:
        """The words and their vectors as a file; the same ones give the same bytes."""
        words = np.frombuffer("\n".join(self.words).encode("utf-8"), np.uint8)
        arrays = {"codes": self._coded.view(np.uint8), "words": words}
        return pack(_KIND, arrays, {"by": self.embedder})

    @staticmethod
    def from_bytes(data: bytes) -> Bridge:
        """Read what `to_bytes` wrote. Raises `WireError` for anything else."""
        arrays, settings = unpack(_KIND, data)
        embedder = settings.get("by")
        if arrays.keys() != {"codes", "words"} or not isinstance(embedder, str):
            raise WireError(f"{_KIND}: wants words, their codes and the embedder that made them")
        kept = arrays["codes"]
        if kept.dtype != np.uint8 or kept.ndim != 2 or not kept.shape[1]:
            raise WireError(f"{_KIND}: codes must be bytes in rows, not {kept.dtype}{kept.shape}")
        try:
            text = arrays["words"].tobytes().decode("utf-8")
        except UnicodeDecodeError as error:
            raise WireError(f"{_KIND}: words: {error}") from error
        words = text.split("\n") if text else []
        if len(words) != len(kept):
            raise WireError(f"{_KIND}: {len(words)} words have {len(kept)} rows of codes")
        read = Bridge.__new__(Bridge)
        read._take(embedder, words, kept.view(np.int8))
        return read


def bridge_words(texts: Iterable[str]) -> tuple[str, ...]:
    """The words of some texts that are worth a vector, in order, as they are mostly written.

    Of a larger vocabulary, those that most texts have.
    """
    held: Counter[str] = Counter()
    written: dict[str, Counter[str]] = {}
    for text in texts:
        here = Counter(word for _, word, _ in stretches(text) if _fit(word))
        held.update({word.casefold() for word in here})
        for word, times in here.items():
            written.setdefault(word.casefold(), Counter())[word] += times
    kept = [word for word, chunks in held.items() if chunks >= _CHUNKS_MIN]
    kept = sorted(kept, key=lambda word: (-held[word], word))[:_WORDS_MAX]
    return tuple(min(written[word].items(), key=_most)[0] for word in sorted(kept))


def _most(written: tuple[str, int]) -> tuple[int, str]:
    return -written[1], written[0]


def _fit(word: str) -> bool:
    return len(word) in _CHARS and word.isalpha() and says_something(word)
