"""What the function loads before anybody asks: once, in the background, and at home alone."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from exactquote_site.knowledge import use_multilingual
from exactquote_site.knowledge.embedders import EmbedderUnfit, LoadsWeights
from exactquote_site.knowledge.use_multilingual import Multilingual
from tests.chat import open_desk, start_chat, studio_with
from tests.test_answer import Blind

SECONDS = 30


class Heavy(Blind):
    """An embedder at home, whose weights a test lets come."""

    def __init__(self, why: str = "") -> None:
        super().__init__()
        self.fault = why
        self.begun, self.may_end = threading.Event(), threading.Event()

    def load(self) -> None:
        self.begun.set()
        assert self.may_end.wait(SECONDS)
        if self.fault:
            raise EmbedderUnfit(self.fault)


def test_weights_are_loaded_while_nobody_asks_and_hold_up_nothing(tmp_path: Path) -> None:
    heavy = Heavy()
    with start_chat(tmp_path, key="", made=studio_with(Blind()), embedder=heavy) as chat:
        assert heavy.begun.wait(SECONDS)
        assert not heavy.may_end.is_set()
        assert chat.status()["state"] == "passages"
        heavy.may_end.set()


def test_a_load_that_fails_is_met_by_the_questions_as_ever(tmp_path: Path) -> None:
    heavy = Heavy("no such weights")
    heavy.may_end.set()
    with start_chat(tmp_path, key="", made=studio_with(Blind()), embedder=heavy) as chat:
        assert heavy.begun.wait(SECONDS)
        assert chat.ask("When is the kiln fired?").end["outcome"] == "passages"


def test_prevents_weights_from_being_loaded_where_no_app_starts(tmp_path: Path) -> None:
    heavy = Heavy()
    open_desk(tmp_path, made=studio_with(Blind()), embedder=heavy)
    assert not heavy.begun.wait(0.2)


def test_prevents_weights_from_being_loaded_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[int] = []
    entered, may_end = threading.Event(), threading.Event()

    class Model:
        def encode(self, texts: list[str]) -> NDArray[np.float32]:
            return np.ones((len(texts), use_multilingual.DIMENSION), np.float32)

    def load() -> Model:
        loads.append(1)
        entered.set()
        assert may_end.wait(SECONDS)
        return Model()

    monkeypatch.setattr(use_multilingual, "_load", load)
    monkeypatch.setattr(use_multilingual, "_loaded", [])
    embedder = Multilingual()
    assert isinstance(embedder, LoadsWeights)
    asked: list[NDArray[np.float32]] = []
    warming = threading.Thread(target=embedder.load)
    asking = threading.Thread(target=lambda: asked.append(embedder.embed_questions(["Kiln?"])))
    warming.start()
    assert entered.wait(SECONDS)
    asking.start()
    asking.join(0.1)
    assert asking.is_alive(), "the question waits for the load that is under way"
    may_end.set()
    for thread in (warming, asking):
        thread.join(SECONDS)
    assert (len(loads), len(asked)) == (1, 1)
