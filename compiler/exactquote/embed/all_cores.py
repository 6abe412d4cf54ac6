"""Turns an embedder that computes on this machine into one that does so on all its cores."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import numpy as np
from numpy.typing import NDArray

from exactquote_site.knowledge.embedders import Embedder, EmbedderDown, open_embedder

# A process loads the weights first, which takes as long as embedding about so many sentences.
ALONE_MAX = 400
# Fewer at once are made before they are shared out.
_TEXTS_MIN = 16
# Each holds a copy of the weights, of about 200 MB.
_PROCESSES_MAX = 8


class AllCores:
    """An embedder that shares many texts out to processes, and makes few by itself.

    Only for one whose rows depend on their texts alone: they are the same either way.
    """

    def __init__(self, kind: str, embedder: Embedder, processes: int = 0) -> None:
        """`embedder` is the one of that kind; `processes` are as many as there are cores."""
        self._kind, self._embedder = kind, embedder
        self._processes = processes or min(_cores(), _PROCESSES_MAX)
        self._pool: ProcessPoolExecutor | None = None
        self._alone = 0

    @property
    def id(self) -> str:
        """That of the embedder."""
        return self._embedder.id

    @property
    def dimension(self) -> int:
        """That of the embedder."""
        return self._embedder.dimension

    def close(self) -> None:
        """End the processes; many texts would start others."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row for each text, shape (n, d). Raises `EmbedderDown`."""
        few = self._alone + len(texts) <= ALONE_MAX or len(texts) < _TEXTS_MIN
        if self._processes < 2 or few:
            self._alone += len(texts)
            return self._embedder.embed(texts)
        made = np.empty((len(texts), self.dimension), np.float32)
        # Neighbours are of about one length, so every so manyth is a fair share.
        shares = [texts[n :: self._processes] for n in range(self._processes)]
        try:
            for n, rows in enumerate(self._started().map(_embed, shares)):
                made[n :: self._processes] = rows
        except BrokenProcessPool:
            raise EmbedderDown(
                "a process that made vectors was ended, perhaps for want of memory"
            ) from None
        return made

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            # A fork would copy the locks of threads that aren't there.
            fresh = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(
                self._processes, mp_context=fresh, initializer=_open_here, initargs=(self._kind,)
            )
        return self._pool


@contextlib.contextmanager
def on_all_cores(kind: str, embedder: Embedder) -> Iterator[Embedder]:
    """The embedder for as long as a build takes; an endpoint is asked by one process alone."""
    if kind != "multilingual":
        yield embedder
        return
    shared = AllCores(kind, embedder)
    try:
        yield shared
    finally:
        shared.close()


def _cores() -> int:
    with contextlib.suppress(AttributeError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_here: list[Embedder] = []


def _open_here(kind: str) -> None:
    embedder = open_embedder(kind)
    if embedder is not None:
        _here.append(embedder)


def _embed(texts: Sequence[str]) -> NDArray[np.float32]:
    return _here[0].embed(texts)
