"""An answer is sent while it is made, and no longer made when nobody listens."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import httpx2
import pytest
from starlette.types import Message

from exactquote_site.serve import streaming
from exactquote_site.serve.answer import Event, Said
from tests.chat import FRIDAY, Chat, read_events, start_chat, token
from tests.provider import STREAM, Asked, Provider, Steps, chunk, delta, reply, says, start_provider

QUESTION = "When is the kiln fired?"
GOOD = reply(f"On Fridays {token(FRIDAY)}, as far as one can tell.")


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with start_provider(says(GOOD)) as started:
        yield started


@pytest.fixture(scope="module")
def chat(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chat]:
    times = {"connect": 60, "first_byte": 60, "idle": 60, "total": 120}
    with start_chat(tmp_path_factory.mktemp("chat"), provider.url, timeouts=times) as started:
        yield started


@pytest.fixture(autouse=True)
def fresh(provider: Provider) -> None:
    provider.script = says(GOOD)
    provider.asked.clear()


def stalls_after(text: str) -> Callable[[Asked], Steps]:
    """A script that says a text and then nothing, and doesn't end either."""
    return lambda asked: [STREAM, chunk(delta(text)), 120.0]


def eventually(holds: Callable[[], bool]) -> None:
    ends = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < ends, "it never came to that"
        time.sleep(0.02)


def opened(chat: Chat, accept: str) -> socket.socket:
    """A connection over which a question was sent, and nothing read yet."""
    host, _, port = chat.url.removeprefix("http://").partition(":")
    body = json.dumps({"question": QUESTION}).encode()
    head = (
        f"POST /api/chat HTTP/1.1\r\nHost: {host}\r\nAccept: {accept}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    connection = socket.create_connection((host, int(port)), timeout=60)
    connection.sendall(head.encode() + body)
    return connection


def until(connection: socket.socket, words: bytes) -> bytes:
    read = b""
    while words not in read:
        piece = connection.recv(4_096)
        assert piece, read
        read += piece
    return read


def test_words_come_while_the_model_still_writes(chat: Chat, provider: Provider) -> None:
    provider.script = stalls_after(GOOD[: GOOD.index(", as")])
    with opened(chat, "text/event-stream") as connection:
        read = until(connection, b"event: cite")
    assert b"event: start" in read
    assert b'{"text":"On' in read
    assert b"[[" not in read
    eventually(provider.asked[0].gone.is_set)


@pytest.mark.parametrize("accept", ["text/event-stream", "application/json"])
@pytest.mark.parametrize("hard", [False, True])
def test_a_visitor_who_leaves_ends_the_call(
    accept: str, hard: bool, chat: Chat, provider: Provider
) -> None:
    provider.script = stalls_after(GOOD[:30])
    before = chat.spent[0]
    connection = opened(chat, accept)
    eventually(lambda: bool(provider.asked))
    if accept == "text/event-stream":
        until(connection, b"event: text")
    if hard:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    connection.close()
    eventually(provider.asked[0].gone.is_set)
    eventually(lambda: chat.spent[1] == 0)
    # What it cost wasn't told any more, so it counts as the most that it can have cost.
    assert chat.spent[0] > before
    provider.script = says(GOOD)
    assert chat.ask(QUESTION).end["outcome"] == "answered"


def test_many_who_leave_at_any_moment_leave_nothing_behind(chat: Chat, provider: Provider) -> None:
    provider.script = says(GOOD, cut=3, pause=0.01)
    for number in range(24):
        connection = opened(chat, ("text/event-stream", "application/json")[number % 2])
        time.sleep(number * 0.01)
        connection.close()
    eventually(lambda: chat.spent[1] == 0)
    assert chat.ask(QUESTION).end["outcome"] == "answered"


def test_a_slow_answer_is_kept_alive(
    chat: Chat, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "HEARTBEAT_SECONDS", 0.05)
    provider.script = says(GOOD, cut=20, pause=0.3)
    answer = chat.ask(QUESTION)
    assert answer.comments >= 3
    assert answer.shown == "On Fridays <1>, as far as one can tell."
    assert answer.end["outcome"] == "answered"


def test_prevents_an_answer_cut_short_for_who_reads_slowly(chat: Chat, provider: Provider) -> None:
    words = " ".join(f"word{number}" for number in range(1_200))
    provider.script = says(reply(f"{words} {token(FRIDAY)}"), cut=40)
    with opened(chat, "text/event-stream") as connection:
        time.sleep(1.0)
        read = b""
        while b"event: done" not in read:
            read += connection.recv(512)
    assert read.count(b"event: done") == 1
    assert b"word1199" in read


def test_prevents_an_answer_that_goes_on_for_who_takes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streaming, "TAKE_SECONDS", 0.1)
    ended: list[bool] = []

    async def events() -> AsyncGenerator[Event, None]:
        try:
            while True:
                yield Said("word ")
        finally:
            ended.append(True)

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body":
            await anyio.sleep_forever()

    async def receive() -> Message:
        await anyio.sleep_forever()
        raise AssertionError

    async def answer() -> None:
        with anyio.fail_after(60):
            await streaming.StreamedAnswer(events, lambda event: None)({}, receive, send)

    anyio.run(answer)
    assert ended == [True]


def test_events_that_are_there_at_once_are_sent_at_once() -> None:
    words = [f"word{number} " for number in range(40)]
    bodies: list[bytes] = []

    async def events() -> AsyncGenerator[Event, None]:
        for word in words:
            yield Said(word)

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body":
            bodies.append(message["body"])

    async def receive() -> Message:
        await anyio.sleep_forever()
        raise AssertionError

    anyio.run(streaming.StreamedAnswer(events, lambda event: None), {}, receive, send)
    told, comments = read_events(b"".join(bodies).decode())
    assert [value["text"] for _, value in told] == words
    assert comments == 0
    # Each message costs a call of the system, and what it takes to get there.
    assert len(bodies) < len(words) / 4


def test_answers_at_once_each_have_one_end(chat: Chat, provider: Provider) -> None:
    count = 20
    provider.script = says(GOOD, pause=0.01)
    with ThreadPoolExecutor(count) as pool:
        answers = list(pool.map(lambda number: chat.ask(QUESTION, number % 4 > 0), range(count)))
    assert {answer.end["outcome"] for answer in answers} == {"answered"}
    assert {answer.shown for answer in answers} == {"On Fridays <1>, as far as one can tell."}
    assert len(provider.asked) == count
    assert chat.spent[1] == 0


def test_events_are_one_line_of_json_each(chat: Chat, provider: Provider) -> None:
    provider.script = says(reply(f"Two\nlines\r\n\n\u2028: data: x {token(FRIDAY)}"))
    url = f"{chat.url}/api/chat"
    headers = {"accept": "text/event-stream"}
    got = httpx2.post(url, json={"question": QUESTION}, headers=headers, trust_env=False)
    assert got.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert got.headers["x-accel-buffering"] == "no"
    events, _ = read_events(got.text)
    assert {name for name, _ in events} == {"start", "text", "cite", "done"}
    shown = "".join(told["text"] for name, told in events if name == "text")
    assert shown.startswith("Two\nlines\n\n")


def test_what_isnt_switched_on_isnt_there(tmp_path: Path) -> None:
    with start_chat(tmp_path, key="") as chat:
        got = httpx2.get(f"{chat.url}/api/chat", trust_env=False)
        assert got.status_code == 405
        assert httpx2.get(f"{chat.url}/metrics", trust_env=False).status_code == 404
        assert httpx2.get(f"{chat.url}/admin", trust_env=False).status_code == 404
