"""Keeps an embedder that is far away from holding up answers, which go on without it.

A question waits for it for a short time only. After some failures in a row it isn't asked at
all for a while, and then by one question alone, whose success opens it for all.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from exactquote_site.knowledge.embedders import Embedder, EmbedderDown, Patience

SECONDS = 2.0
# Of the endpoint itself, so that what nobody waits for any more ends soon after.
PATIENCE = Patience(1.0, 1.5, SECONDS, 2, 0.25)
FAILURES_MAX = 3
REST_SECONDS = 30.0
# Each holds a thread until the endpoint lets go of it.
AT_ONCE = 16


class GuardedEmbedder:
    """An embedder with a limit of time and of failures; its vectors are those of the other."""

    def __init__(
        self,
        embedder: Embedder,
        *,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """A question waits for so many seconds. The clock is that of the rests alone."""
        self._embedder = embedder
        self._seconds = seconds
        self._clock = clock
        self._places = threading.Semaphore(AT_ONCE)
        self._lock = threading.Lock()
        self._failures = 0
        self._rests_until = 0.0

    @property
    def id(self) -> str:
        """That of the embedder."""
        return self._embedder.id

    @property
    def dimension(self) -> int:
        """That of the embedder."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As the embedder does. Raises `EmbedderDown`, at once while it rests."""
        self._require_rested()
        try:
            vectors = self._in_time(texts)
        except EmbedderDown:
            self._note(failed=True)
            raise
        self._note(failed=False)
        return vectors

    def close(self) -> None:
        """Close what the embedder has open."""
        close = getattr(self._embedder, "close", None)
        if close is not None:
            close()

    def _require_rested(self) -> None:
        now = self._clock()
        with self._lock:
            if self._failures < FAILURES_MAX:
                return
            if now < self._rests_until:
                raise EmbedderDown("the embedder failed several times, and isn't asked for a while")
            # This question tries it; the others go on without it until that is known.
            self._rests_until = now + REST_SECONDS

    def _note(self, failed: bool) -> None:
        now = self._clock()
        with self._lock:
            self._failures = self._failures + 1 if failed else 0
            self._rests_until = now + REST_SECONDS

    def _in_time(self, texts: Sequence[str]) -> NDArray[np.float32]:
        ends = time.monotonic() + self._seconds
        if not self._places.acquire(timeout=self._seconds):
            raise EmbedderDown("the embedder is still busy with former questions")
        made: Future[NDArray[np.float32]] = Future()
        # No limit of a socket holds for a name that is looked up, or for bytes that drip.
        threading.Thread(target=self._make, args=(texts, made), daemon=True).start()
        try:
            return made.result(max(0.0, ends - time.monotonic()))
        except TimeoutError:
            raise EmbedderDown("the embedder took too long") from None

    def _make(self, texts: Sequence[str], made: Future[NDArray[np.float32]]) -> None:
        try:
            made.set_result(self._embedder.embed(texts))
        except BaseException as error:
            with suppress(Exception):
                made.set_exception(error)
        finally:
            self._places.release()
