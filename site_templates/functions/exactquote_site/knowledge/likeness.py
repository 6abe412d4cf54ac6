"""Turns words into how near they are in meaning, by the vectors of the encoder that ships.

The encoder is no language model: it has one vector for a text, here for a single word, and
vectors of words that are used alike are near. Opposites are, too; `opposites.py` tells them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from exactquote_site.knowledge.use_multilingual import Multilingual

# How many words a process remembers: 512 numbers each.
_WORDS_MAX = 1 << 13

_vectors: dict[str, NDArray[np.float32]] = {}


def learn(words: Iterable[str]) -> None:
    """Make the vectors of words in one go, which is faster than one by one.

    Raises `EmbedderUnfit`.
    """
    words = list(dict.fromkeys(words))
    if len(_vectors) + len(words) > _WORDS_MAX:
        _vectors.clear()
    new = [word for word in words if word not in _vectors]
    if new:
        _vectors.update(zip(new, _embedder().embed(new), strict=True))


def nearest(words: Sequence[str], others: Sequence[str]) -> list[float]:
    """For each word the cosine of its vector with that of the nearest other word, 0 for none.

    Raises `EmbedderUnfit`.
    """
    if not words or not others:
        return [0.0] * len(words)
    learn((*words, *others))
    rows = np.stack([_vectors[word] for word in words])
    cosines = rows @ np.stack([_vectors[word] for word in others]).T
    return [float(one) for one in cosines.max(axis=1)]


@cache
def _embedder() -> Multilingual:
    return Multilingual()
