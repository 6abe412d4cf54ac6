"""Opens what turns texts into vectors, by the name that it has in the configuration.

A module of an embedder is imported when that one is opened, and its weights are loaded with
the first text, so that whoever needs no vectors pays for none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

KINDS = ("multilingual", "wordllama", "endpoint", "none")


class EmbedderDown(Exception):
    """No vectors can be had; the message says why and what mends it, and holds no secret."""


class EmbedderUnfit(EmbedderDown):
    """Nor will trying again help: something is missing here, or isn't what it should be."""


class Embedder(Protocol):
    """Turns texts into vectors. It may be used by several threads at once."""

    @property
    def id(self) -> str:
        """Changes whenever the same text could get another vector."""

    @property
    def dimension(self) -> int:
        """Numbers in a vector; 0 while an endpoint hasn't said it yet."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row of length 1 for each text, shape (n, d); a blank text has a row of zeros.

        Raises `EmbedderDown`.
        """


@runtime_checkable
class EmbedsQuestions(Protocol):
    """An embedder that has a quicker way to the vectors of a question and its words."""

    def embed_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Rows of shape (n, d) that may differ from `embed`'s in their last digits."""


@runtime_checkable
class LoadsWeights(Protocol):
    """An embedder on this machine, which needs time before its first vector."""

    def load(self) -> None:
        """Load for questions what isn't loaded yet, once in a process whoever calls.

        Raises `EmbedderUnfit`.
        """


@dataclass(frozen=True, slots=True)
class Patience:
    """How long an endpoint may take: seconds for one request, and for all its tries."""

    connect_seconds: float
    read_seconds: float
    total_seconds: float
    tries: int
    wait_seconds_max: float
    """The longest wait before another try, whatever the endpoint asks for."""


# A build had rather wait for a busy endpoint than begin again; a visitor had rather read an
# answer found by words alone.
BUILDING = Patience(10.0, 60.0, 300.0, 6, 60.0)
ASKING = Patience(1.0, 3.0, 4.0, 2, 0.5)


def open_embedder(
    kind: str,
    *,
    base_url: str = "",
    model: str = "",
    key_env: str = "",
    dimension: int = 0,
    patience: Patience = BUILDING,
) -> Embedder | None:
    """The embedder of a kind, or nothing for "none".

    All but the first are for an endpoint: `key_env` names the environment variable with its
    key, if it wants one, and `dimension` asks for shorter vectors where the model can.
    Raises `EmbedderUnfit` for what is missing, and `ValueError` for an unknown kind.
    """
    if kind == "multilingual":
        from exactquote_site.knowledge.use_multilingual import Multilingual

        return Multilingual()
    if kind == "wordllama":
        from exactquote_site.knowledge.wordllama import Wordllama

        return Wordllama()
    if kind == "endpoint":
        from exactquote_site.knowledge.openai_endpoint import Endpoint, OpenAIEndpoint

        return OpenAIEndpoint(Endpoint(base_url, model, key_env, dimension), patience)
    if kind == "none":
        return None
    raise ValueError(f"no embedder is called {kind!r}; there are {', '.join(KINDS)}")


def question_vector(embedder: Embedder, question: str) -> NDArray[np.float32]:
    """The vector of a question, shape (d,). Raises `EmbedderDown`."""
    vector: NDArray[np.float32] = question_vectors(embedder, [question])[0]
    return vector


def question_vectors(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """The vectors of what is asked at once, shape (n, d). Raises `EmbedderDown`."""
    if isinstance(embedder, EmbedsQuestions):
        return embedder.embed_questions(texts)
    return embedder.embed(texts)


def clean(text: str) -> str:
    """The text as it can be written in UTF-8, with no white space around it."""
    return text.encode("utf-8", "replace").decode("utf-8").strip()
