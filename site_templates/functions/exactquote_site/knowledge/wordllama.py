"""Turns English texts into vectors, by averaging those of their tokens; needs an extra.

The model is WordLlama's `l2_supercat` of 256 dimensions, whose weights are in its package.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactquote_site.knowledge.embedders import clean
from exactquote_site.knowledge.vectors import unit
from exactquote_site.knowledge.weights import checked_folder, installed_version

PACKAGE = "wordllama"
_WEIGHTS = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
_TOKENIZER = "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"
SHA256 = {
    "weights/l2_supercat_256.safetensors": _WEIGHTS,
    "tokenizers/l2_supercat_tokenizer_config.json": _TOKENIZER,
}
DIMENSION = 256

_HASH = hashlib.sha256("\n".join(SHA256.values()).encode()).hexdigest()[:8]
_CURE = "pip install --force-reinstall 'exactquote[wordllama]'"

_loading = threading.Lock()
_loaded: list[Any] = []


class Wordllama:
    """An embedder that is small and quick, and knows no word order."""

    id = f"wordllama@l2_supercat_256:{_HASH}"
    dimension = DIMENSION

    def __init__(self) -> None:
        """Raises `EmbedderUnfit` when the package isn't installed."""
        installed_version(PACKAGE, _CURE)

    def load(self) -> None:
        """Load the weights. Raises `EmbedderUnfit`."""
        _model()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row of length 1 for each text, shape (n, 256); a blank text has a row of zeros.

        A row depends on its own text alone. Raises `EmbedderUnfit`.
        """
        made = np.zeros((len(texts), DIMENSION), np.float32)
        for row, text in zip(made, map(clean, texts), strict=True):
            if text:
                row[:] = _vector(text)
        return made


def _vector(text: str) -> Any:
    model = _model()
    # Its own pooling adds in single precision, in an order that numpy chooses.
    (tokens,) = model.tokenize([text])
    summed = model.embedding[tokens.ids].astype(np.float64).sum(axis=0, keepdims=True)
    return unit(summed)[0]


def _model() -> Any:
    """The model, loaded and checked once in a process."""
    if not _loaded:
        with _loading:
            if not _loaded:
                _loaded.append(_load())
    return _loaded[0]


def _load() -> Any:
    folder = checked_folder("wordllama", SHA256, _CURE)
    root = logging.getLogger()
    before = root.level, list(root.handlers)
    from wordllama import WordLlama  # type: ignore[import-untyped,import-not-found,unused-ignore]

    # Importing it turns on the log of the whole program.
    root.setLevel(before[0])
    root.handlers[:] = before[1]
    # It looks for its tokenizer in a folder that its own package doesn't have, unless the
    # package is named as the place of downloads; nothing is downloaded.
    return WordLlama.load("l2_supercat", folder, dim=DIMENSION, disable_download=True)
