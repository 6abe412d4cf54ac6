"""An embedder that is far away holds nobody up: limits of time, of failures, and their end."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from exactquote_site.knowledge.embedders import Embedder, EmbedderDown
from exactquote_site.knowledge.openai_endpoint import Endpoint, OpenAIEndpoint
from exactquote_site.serve.answer import Start
from exactquote_site.serve.guarded import (
    AT_ONCE,
    FAILURES_MAX,
    PATIENCE,
    REST_SECONDS,
    GuardedEmbedder,
)
from tests.chat import heard, open_desk, start_chat, studio_with
from tests.provider import Asked, Provider, Steps, start_provider, whole

QUESTION = "When is the kiln fired?"
VECTOR = [0.5, 0.5, 0.5, 0.5]


@dataclass
class Far:
    """An embedder that does as it is told: it waits for `free`, fails, or answers."""

    fails: bool = False
    free: threading.Event = field(default_factory=threading.Event)
    asked: int = 0
    id: str = "far"
    dimension: int = 4

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += 1
        # Without a limit, a test would wait for this and find no error.
        self.free.wait(30)
        if self.fails:
            raise EmbedderDown("out of order")
        return np.full((len(texts), 4), 0.5, np.float32)


@dataclass
class Hands:
    """A clock that is set by hand."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def free(fails: bool = False) -> Far:
    far = Far(fails)
    far.free.set()
    return far


def refused(embedder: Embedder) -> str:
    with pytest.raises(EmbedderDown) as why:
        embedder.embed(["a"])
    return str(why.value)


def test_vectors_are_those_of_the_other() -> None:
    far = free()
    guarded = GuardedEmbedder(far)
    assert (guarded.id, guarded.dimension) == ("far", 4)
    assert np.array_equal(guarded.embed(["a", "b"]), far.embed(["a", "b"]))


def test_prevents_an_embedder_that_holds_a_thread() -> None:
    far = Far()
    guarded = GuardedEmbedder(far, seconds=0.05)
    assert refused(guarded) == "the embedder took too long"
    far.free.set()


def test_prevents_threads_without_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exactquote_site.serve.guarded.FAILURES_MAX", 10**9)
    far = Far()
    guarded = GuardedEmbedder(far, seconds=0.02)
    for _ in range(AT_ONCE):
        assert refused(guarded) == "the embedder took too long"
    assert "still busy" in refused(guarded)
    assert far.asked == AT_ONCE
    far.free.set()


def test_after_failures_it_is_left_alone_for_a_while() -> None:
    far, clock = free(fails=True), Hands()
    guarded = GuardedEmbedder(far, clock=clock)
    for _ in range(FAILURES_MAX):
        assert refused(guarded) == "out of order"
    for _ in range(9):
        assert "isn't asked for a while" in refused(guarded)
    assert far.asked == FAILURES_MAX
    # One question tries it again, and the rest begins anew.
    clock.now += REST_SECONDS
    assert refused(guarded) == "out of order"
    assert "isn't asked" in refused(guarded)
    clock.now += REST_SECONDS
    far.fails = False
    assert len(guarded.embed(["a"])) == 1
    assert len(guarded.embed(["a"])) == 1
    # A success ends the row.
    far.fails = True
    for _ in range(FAILURES_MAX):
        assert refused(guarded) == "out of order"
    assert "isn't asked" in refused(guarded)


def test_one_question_alone_tries_it_again() -> None:
    far, clock = free(fails=True), Hands()
    guarded = GuardedEmbedder(far, clock=clock)
    for _ in range(FAILURES_MAX):
        refused(guarded)
    clock.now += REST_SECONDS
    far.free.clear()
    trial = threading.Thread(target=refused, args=(guarded,))
    trial.start()
    while far.asked == FAILURES_MAX:
        pass
    assert "isn't asked" in refused(guarded)
    far.free.set()
    trial.join(60)
    assert far.asked == FAILURES_MAX + 1


@pytest.fixture
def provider() -> Iterator[Provider]:
    with start_provider(lambda asked: [60.0]) as started:
        yield started


def vectors(asked: Asked) -> Steps:
    made = [{"index": n, "embedding": VECTOR} for n, _ in enumerate(asked.body["input"])]
    return [whole({"data": made})]


def test_answers_go_on_by_words_while_an_endpoint_hangs(provider: Provider, tmp_path: Path) -> None:
    far = OpenAIEndpoint(Endpoint(provider.url, "m", dimension=4), PATIENCE)
    provider.script = vectors
    made = studio_with(far, whole=False)
    provider.script = lambda asked: [60.0]
    provider.asked.clear()
    clock = Hands()
    desk = open_desk(tmp_path, made=made)
    desk.embedder = GuardedEmbedder(far, seconds=0.1, clock=clock)

    def words_only() -> bool:
        start = heard(desk, QUESTION)[0]
        assert isinstance(start, Start)
        assert start.kind == "passages"
        return start.words_only

    assert all(words_only() for _ in range(FAILURES_MAX + 5))
    assert len(provider.asked) <= FAILURES_MAX
    provider.script = vectors
    assert words_only()
    clock.now += REST_SECONDS
    desk.embedder = GuardedEmbedder(far, clock=clock)
    assert not words_only()
    far.close()


def test_an_endpoint_that_is_configured_is_guarded_and_closed(
    provider: Provider, tmp_path: Path
) -> None:
    provider.script = vectors
    made = studio_with(OpenAIEndpoint(Endpoint(provider.url, "m"), PATIENCE), whole=False)
    told = {"kind": "endpoint", "base_url": provider.url, "model": "m"}
    with start_chat(tmp_path, key="", made=made, embedding=told) as chat:
        embedder = chat.site.desk.embedder
        assert isinstance(embedder, GuardedEmbedder)
        assert not chat.ask(QUESTION, False).value["words_only"]
        inner = embedder._embedder
        assert isinstance(inner, OpenAIEndpoint)
        assert not inner._client.is_closed()
    assert inner._client.is_closed()
