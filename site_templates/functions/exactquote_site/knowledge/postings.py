"""Turns the terms of each document into an index, and terms into the documents that rank best.

The score is BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) with
the idf of Lucene, ln(1 + (n - df + 0.5) / (df + 0.5)), which is never negative.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactquote_site.knowledge.arrays import pack, unpack
from exactquote_site.wire.allowlist import WireError

K1 = 1.2
B = 0.75
KIND = "words"
# One byte a count: in a document of average length, more repeats than this add less than one
# in 200 to a term's share.
_REPEATS_MAX = 255
# Up to about here, adding all postings at once is faster than term by term.
_FEW_POSTINGS = 50_000
_DOCUMENTS_IN_TWO_BYTES = 1 << 16
_ARRAYS = frozenset(("documents", "lengths", "repeats", "starts", "terms"))


class Postings:
    """For each term the documents that it is in, with its share of their score."""

    __slots__ = (
        "_arrays",
        "_b",
        "_documents",
        "_k1",
        "_norms",
        "_shares",
        "_starts",
        "_terms",
        "count",
    )

    def __init__(self, arrays: dict[str, NDArray[Any]], k1: float, b: float) -> None:
        """Takes arrays that were proved; use `build` or `from_bytes`."""
        self._arrays, self._k1, self._b = arrays, k1, b
        self._terms = {term: i for i, term in enumerate(_read_terms(arrays["terms"]))}
        self._starts: list[int] = arrays["starts"].tolist()
        self._documents = arrays["documents"]
        self._norms = _norms(arrays["lengths"], k1, b)
        self._shares = _shares(arrays, self._norms, k1)
        self.count = len(arrays["lengths"])

    @classmethod
    def build(cls, documents: Sequence[Sequence[str]], *, k1: float = K1, b: float = B) -> Postings:
        """The index of documents, each given as its terms with repeats.

        A term can't have a line break or a lone surrogate in it.
        """
        ids: dict[str, int] = {}
        terms, owners, repeats = array("L"), array("L"), array("B")
        for owner, document in enumerate(documents):
            for term, times in Counter(document).items():
                terms.append(ids.setdefault(term, len(ids)))
                owners.append(owner)
                repeats.append(min(times, _REPEATS_MAX))
        names = sorted(ids)
        if any("\n" in name for name in names):
            raise ValueError("a term has a line break in it")
        place = np.empty(len(ids), np.int64)
        place[[ids[name] for name in names]] = np.arange(len(ids))
        placed = place[np.asarray(terms, np.int64)]
        order = np.argsort(placed, kind="stable")
        narrow = np.uint16 if len(documents) <= _DOCUMENTS_IN_TWO_BYTES else np.uint32
        starts = np.zeros(len(ids) + 1, np.uint32)
        np.cumsum(np.bincount(placed, minlength=len(ids)), out=starts[1:])
        arrays: dict[str, NDArray[Any]] = {
            "documents": np.asarray(owners, narrow)[order],
            "lengths": np.asarray([len(document) for document in documents], np.uint32),
            "repeats": np.asarray(repeats, np.uint8)[order],
            "starts": starts,
            "terms": np.frombuffer("\n".join(names).encode("utf-8"), np.uint8),
        }
        return cls(arrays, k1, b)

    def __contains__(self, term: object) -> bool:
        """Whether any document has the term."""
        return term in self._terms

    def scores(self, terms: Sequence[str]) -> NDArray[np.float32]:
        """The score of every document, shape (n,); a term that is asked twice counts twice."""
        asked = [i for term in terms if (i := self._terms.get(term)) is not None]
        places = [slice(self._starts[i], self._starts[i + 1]) for i in asked]
        if 0 < sum(place.stop - place.start for place in places) < _FEW_POSTINGS:
            documents = np.concatenate([self._documents[place] for place in places])
            shares = np.concatenate([self._shares[place] for place in places])
            return np.bincount(documents, shares, self.count).astype(np.float32)
        found = np.zeros(self.count, np.float32)
        for i, times in Counter(asked).items():
            place = slice(self._starts[i], self._starts[i + 1])
            np.add.at(found, self._documents[place], self._shares[place] * np.float32(times))
        return found

    def top(self, terms: Sequence[str], count: int) -> list[tuple[int, float]]:
        """The best documents with their scores; equal ones in their order, none without a term."""
        if count <= 0:
            return []
        scores = self.scores(terms)
        cut = self.count - count
        least = np.partition(scores, cut)[cut] if cut > 0 else 0.0
        candidates = np.flatnonzero(scores >= least if least > 0 else scores > 0)
        found = scores[candidates]
        order = np.argsort(-found, kind="stable")[:count]
        return list(zip(candidates[order].tolist(), found[order].tolist(), strict=True))

    def pooled(self, groups: Sequence[Mapping[str, float]]) -> tuple[NDArray[np.float32], float]:
        """The score of every document, shape (n,), and what none exceeds, by groups of terms.

        The terms of a group count as one word: their repeats are added up, and so are the
        numbers of documents that have them, each by its weight from 0 to 1. After Pirkola,
        "The Effects of Query Structure and Dictionary Setups in Dictionary-Based
        Cross-Language Information Retrieval", SIGIR 1998.
        """
        found = np.zeros(self.count, np.float64)
        ceiling = 0.0
        for group in groups:
            repeats = np.zeros(self.count, np.float64)
            held = 0.0
            for term, weight in group.items():
                if (i := self._terms.get(term)) is not None:
                    place = slice(self._starts[i], self._starts[i + 1])
                    repeats[self._documents[place]] += weight * self._arrays["repeats"][place]
                    held += weight * (place.stop - place.start)
            held = min(held or 0.5, self.count)
            idf = math.log1p((self.count - held + 0.5) / (held + 0.5))
            found += (self._k1 + 1) * idf * repeats / (repeats + self._norms)
            ceiling += (self._k1 + 1) * idf
        return found.astype(np.float32), ceiling

    def ceiling(self, terms: Sequence[str]) -> float:
        """What no document's score exceeds; a term that is nowhere counts as a rare one."""
        held = (self._held(term) or 0.5 for term in terms)
        idfs = (math.log1p((self.count - df + 0.5) / (df + 0.5)) for df in held)
        return (self._k1 + 1) * sum(idfs)

    def grouped(self, owners: Sequence[int]) -> Postings:
        """The index of what the documents are parts of: document i is a part of `owners[i]`.

        Owners are numbered from 0, none left out.
        """
        owner = np.asarray(owners, np.int64)
        count = int(owner.max()) + 1 if len(owner) else 0
        terms = np.repeat(np.arange(len(self._starts) - 1), np.diff(self._starts))
        keys, parts = np.unique(terms * count + owner[self._documents], return_inverse=True)
        repeats = np.bincount(parts, self._arrays["repeats"], len(keys))
        lengths = np.bincount(owner, self._arrays["lengths"], count)
        narrow = np.uint16 if count <= _DOCUMENTS_IN_TWO_BYTES else np.uint32
        starts = np.searchsorted(keys, np.arange(len(self._starts)) * count)
        arrays: dict[str, NDArray[Any]] = {
            "documents": (keys % max(count, 1)).astype(narrow),
            "lengths": lengths.astype(np.uint32),
            "repeats": np.minimum(repeats, _REPEATS_MAX).astype(np.uint8),
            "starts": starts.astype(np.uint32),
            "terms": self._arrays["terms"],
        }
        return Postings(arrays, self._k1, self._b)

    def _held(self, term: str) -> int:
        i = self._terms.get(term)
        return 0 if i is None else self._starts[i + 1] - self._starts[i]

    def to_bytes(self) -> bytes:
        """The index as a file; the same documents give the same bytes."""
        return pack(KIND, self._arrays, {"b": float(self._b), "k1": float(self._k1)})

    @classmethod
    def from_bytes(cls, data: bytes) -> Postings:
        """The index that a file holds. Raises `WireError` for anything but a whole one."""
        arrays, settings = unpack(KIND, data)
        k1, b = settings.get("k1"), settings.get("b")
        if type(k1) is not float or type(b) is not float or not (0 <= k1 < 100 and 0 <= b <= 1):
            raise WireError(f"{KIND}: k1 {k1!r} and b {b!r} are no settings of BM25")
        _prove(arrays)
        return cls(arrays, k1, b)


def _read_terms(terms: NDArray[np.uint8]) -> list[str]:
    return terms.tobytes().decode("utf-8").split("\n") if len(terms) else []


def _norms(lengths: NDArray[np.uint32], k1: float, b: float) -> NDArray[np.float32]:
    """How many repeats of a term are worth half of what it can add, for each document."""
    terms = lengths.astype(np.float32)
    average = float(terms.mean()) if len(terms) and terms.any() else 1.0
    norms: NDArray[np.float32] = (k1 * (1 - b + b * terms / average)).astype(np.float32)
    return norms


def _shares(
    arrays: dict[str, NDArray[Any]], norms: NDArray[np.float32], k1: float
) -> NDArray[np.float32]:
    """What each posting adds to the score of its document."""
    starts, n = arrays["starts"].astype(np.int64), len(arrays["lengths"])
    held = np.diff(starts)
    idf = np.log1p((n - held + 0.5) / (held + 0.5)).astype(np.float32)
    repeats = arrays["repeats"].astype(np.float32)
    parts: NDArray[np.float32] = repeats / (repeats + norms[arrays["documents"]])
    return parts * np.repeat(idf, held) * np.float32(k1 + 1)


def _prove(arrays: dict[str, NDArray[Any]]) -> None:
    """Raises `WireError` unless the arrays are what `build` makes."""
    if arrays.keys() != _ARRAYS or any(a.ndim != 1 for a in arrays.values()):
        raise WireError(f"{KIND}: wants the lists {', '.join(sorted(_ARRAYS))}")
    documents, starts, repeats = arrays["documents"], arrays["starts"], arrays["repeats"]
    wide = "<u2" if len(arrays["lengths"]) <= _DOCUMENTS_IN_TWO_BYTES else "<u4"
    types = {"documents": wide, "lengths": "<u4", "repeats": "|u1", "starts": "<u4", "terms": "|u1"}
    if any(arrays[name].dtype.str != kind for name, kind in types.items()):
        raise WireError(f"{KIND}: a list holds numbers of another kind")
    try:
        names = _read_terms(arrays["terms"])
    except UnicodeDecodeError as error:
        raise WireError(f"{KIND}: terms: {error}") from error
    if any(a >= b for a, b in pairwise(names)) or len(starts) != len(names) + 1:
        raise WireError(f"{KIND}: terms aren't sorted, or have no postings")
    if starts[0] != 0 or starts[-1] != len(documents) or len(documents) != len(repeats):
        raise WireError(f"{KIND}: postings are missing or left over")
    if np.any(starts[1:] <= starts[:-1]) or np.any(repeats == 0):
        raise WireError(f"{KIND}: a term is in no document")
    if len(documents) and int(documents.max()) >= len(arrays["lengths"]):
        raise WireError(f"{KIND}: a posting names a document that isn't there")
    rising = documents[1:] > documents[:-1]
    rising[starts[1:-1].astype(np.int64) - 1] = True
    if not rising.all():
        raise WireError(f"{KIND}: documents of a term aren't in order")
