"""What is checked before a model is called, over real HTTP and in its order."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
import pytest

from exactquote_site.serve import app as app_module
from exactquote_site.serve.store.database import open_database
from exactquote_site.serve.store.ledger import NANO, Ledger
from tests.chat import FRIDAY, KEY, Chat, start_chat, studio, token, write_functions
from tests.provider import Provider, reply, says, start_provider
from tests.servers import free_port, start_postgres, start_redis

QUESTION = "When is the kiln fired?"
# 600 new input tokens at 1, 400 cached at 0.5 and 50 output tokens at 2 dollars a million.
COST = 900_000
ANSWER = says(reply(f"On Fridays {token(FRIDAY)}."))


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with start_provider(ANSWER) as started:
        yield started


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> Iterator[Chat]:
    """A function that answers one question a day, and that one only when it can be paid."""
    folder = tmp_path_factory.mktemp("closed")
    rates = {"per_minute": 0, "per_day": 1}
    with start_chat(folder, provider.url, rates=rates, budget_usd_per_day=0.0) as chat:
        yield chat


def sent(chat: Chat, request: bytes, wait: float = 60.0) -> tuple[int, dict[str, Any]]:
    """The status and the JSON that bytes on the wire are answered with."""
    host, _, port = chat.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=wait) as connection:
        connection.sendall(request)
        return received(connection)


def received(connection: socket.socket) -> tuple[int, dict[str, Any]]:
    # The server may close without having read all that was sent.
    data = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(65_536):
            data += piece
            head, _, body = data.partition(b"\r\n\r\n")
            length = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
            if length and len(body) >= int(length):
                break
    head, _, body = data.partition(b"\r\n\r\n")
    value = json.loads(body) if body.startswith(b"{") else {}
    return int(head.split()[1]), value


def request(body: bytes, *headers: str, content_type: str = "application/json") -> bytes:
    told = [f"Content-Type: {content_type}", *headers]
    if not any(header.lower().startswith(("content-length", "transfer-")) for header in headers):
        told.append(f"Content-Length: {len(body)}")
    lines = "".join(f"{header}\r\n" for header in ["Host: x", *told])
    return b"POST /api/chat HTTP/1.1\r\n" + lines.encode() + b"\r\n" + body


def asked(**more: object) -> bytes:
    return json.dumps({"question": QUESTION, **more}).encode()


CHUNKED = "Transfer-Encoding: chunked"
LONG = b'{"question": "' + b"a" * 20_000 + b'"}'
ENDLESS = b"".join(b"1000\r\n" + b"a" * 4_096 + b"\r\n" for _ in range(8))
BAD: dict[str, tuple[bytes, int]] = {
    "declared too long": (request(b"{", "Content-Length: 16385"), 413),
    "declared far too long": (request(b"{", f"Content-Length: {10**18}"), 413),
    "too long": (request(LONG), 413),
    "too long and of no type": (request(LONG, content_type="text/plain"), 413),
    "too long in chunks": (request(ENDLESS, CHUNKED), 413),
    "text": (request(asked(), content_type="text/plain"), 415),
    "a form": (request(b"question=x", content_type="application/x-www-form-urlencoded"), 415),
    "another charset": (request(asked(), content_type="application/json; charset=latin-1"), 415),
    "no type": (b"POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", 415),
    "nothing": (request(b""), 400),
    "half": (request(b'{"question": "x'), 400),
    "no UTF-8": (request(b'{"question": "\xff"}'), 400),
    "UTF-16": (request('{"question": "x"}'.encode("utf-16")), 400),
    "half a surrogate": (request(b'{"question": "\\ud800"}'), 400),
    "NaN": (request(b'{"question": NaN}'), 400),
    "infinity": (request(b'{"question": "x", "style": {"humour": Infinity}}'), 400),
    "deep": (request(b"[" * 8_000 + b"]" * 8_000), 400),
    "honesty": (request(asked(honesty=0)), 400),
    "honesty in style": (request(asked(style={"honesty": 50})), 400),
    "a list": (request(b"[]"), 422),
    "null": (request(b"null"), 422),
    "no question": (request(b"{}"), 422),
    "an empty question": (request(b'{"question": " "}'), 422),
    "a number": (request(b'{"question": 1}'), 422),
    "a huge number": (request(b'{"question": 1' + b"0" * 9_000 + b"}"), 400),
    "unknown key": (request(asked(model="dear")), 422),
    "a system turn": (request(asked(history=[{"role": "system", "content": "x"}])), 422),
    "four pairs": (request(asked(history=[{"role": "user", "content": "x"}] * 8)), 422),
    "too long a question": (request(b'{"question": "' + b"a" * 501 + b'"}'), 422),
    "a step between": (request(asked(style={"humour": 33})), 422),
    "a locale of code": (request(asked(locale="../../etc")), 422),
    "a session of another": (request(asked(session="' OR 1=1 --")), 422),
}


@pytest.mark.parametrize(("sends", "status"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_refused_before_it_costs_anything(
    closed: Chat, provider: Provider, sends: bytes, status: int
) -> None:
    calls = len(provider.asked)
    got, value = sent(closed, sends)
    assert got == status
    assert set(value["error"]) <= {"code", "text", "detail"}
    assert len(provider.asked) == calls
    assert closed.spent == (0, 0)


def test_checks_come_in_their_order(tmp_path: Path, provider: Provider) -> None:
    """Shape before rate, rate before budget; a refused request takes nobody's turn."""
    rates = {"per_minute": 0, "per_day": 2}
    with start_chat(tmp_path, provider.url, rates=rates, budget_usd_per_day=0.0) as chat:
        calls = len(provider.asked)
        for sends, status in BAD.values():
            assert sent(chat, sends)[0] == status
        for _ in range(2):
            got = chat.ask(QUESTION, stream=False)
            assert (got.status, got.end["code"]) == (503, "paused")
            assert 0 < int(got.headers["retry-after"]) <= 86_400
        got = chat.ask(QUESTION, stream=False)
        assert (got.status, got.end["code"]) == (429, "too_many")
        assert 86_000 < int(got.headers["retry-after"]) <= 86_400
        assert got.end["retry_after"] == int(got.headers["retry-after"])
        # A stream that never began is refused by its status, too.
        assert chat.ask(QUESTION).status == 429
        for sends, status in BAD.values():
            assert sent(chat, sends)[0] == status
        assert len(provider.asked) == calls
        assert chat.status()["state"] == "paused"


@pytest.mark.parametrize(
    "sends",
    [
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET /api/chat HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Length: 1e3\r\n\r\n",
        b"POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
        b"POST /api/chat HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /api/chat HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
        b"POST /api/chat\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /api/../api/chat%00 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_prevents_a_server_error_by_what_is_no_request(closed: Chat, sends: bytes) -> None:
    assert 400 <= sent(closed, sends)[0] < 500


def test_prevents_slow_bodies_from_holding_the_function(
    closed: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many bodies that never end: others are answered meanwhile, and each is let go."""
    monkeypatch.setattr(app_module, "_BODY_SECONDS", 3.0)
    host, _, port = closed.url.removeprefix("http://").partition(":")
    with contextlib.ExitStack() as stack:
        slow = []
        for number in range(100):
            connection = stack.enter_context(socket.create_connection((host, int(port)), 60))
            head = request(b"", CHUNKED if number % 2 else "Content-Length: 100")
            connection.sendall(head + (b"1\r\n{\r\n" if number % 2 else b"{"))
            slow.append(connection)
        assert closed.status()["state"] == "paused"
        for connection in slow:
            status, value = received(connection)
            assert (status, value["error"]["code"]) == (408, "too_slow")


def test_whoever_hangs_up_within_a_body_is_forgotten(closed: Chat) -> None:
    host, _, port = closed.url.removeprefix("http://").partition(":")
    for _ in range(20):
        with socket.create_connection((host, int(port)), 60) as connection:
            connection.sendall(request(b"{", "Content-Length: 100"))
    assert closed.status()["state"] == "paused"


def test_ratings_are_counted_apart_from_questions(tmp_path: Path, provider: Provider) -> None:
    """Whoever asked the last question may still say what it was worth; not without end."""
    rates = {"per_minute": 0, "per_day": 1}
    with start_chat(tmp_path, provider.url, rates=rates) as chat:
        answer = chat.ask(QUESTION).end["receipt"]["answer"]
        assert chat.ask(QUESTION).status == 429

        def rate(**body: object) -> int:
            told = {"answer": answer, "good": True, **body}
            url = f"{chat.url}/api/feedback"
            return httpx2.post(url, json=told, timeout=60, trust_env=False).status_code

        assert rate(words="Thanks") == 204
        assert rate(good="yes") == 422
        assert [rate(answer="0" * 32) for _ in range(29)] == [404] * 29
        assert rate() == 429


VISITOR = "198.51.100.77"
FORGED = [f"203.0.{number // 250}.{number % 250}" for number in range(1_000)]


def test_prevents_a_bucket_for_each_forged_header(tmp_path: Path) -> None:
    """The server's own belief in such headers is on here, as it is by default."""
    with start_chat(tmp_path, key="", rates={"per_minute": 5, "per_day": 0}) as chat:
        statuses = forge(chat.url, FORGED)
    assert sorted(set(statuses)) == [200, 429]
    # One for the minute that may have ended meanwhile.
    assert statuses.count(200) <= 10
    assert statuses[:7] == [200] * 5 + [429] * 2


def test_prevents_a_bucket_for_each_forged_header_behind_a_proxy(tmp_path: Path) -> None:
    rates = {"per_minute": 5, "per_day": 0}
    with (
        start_chat(tmp_path, key="", rates=rates, trusted_hops=1) as chat,
        start_proxy(chat.url) as url,
    ):
        statuses = forge(url, FORGED)
        assert statuses[:7] == [200] * 5 + [429] * 2
        assert statuses.count(200) <= 10
        # Not vacuous: whoever the proxy reports as another is another.
        assert chat.post({"question": QUESTION}, **{"x-forwarded-for": VISITOR}).status == 200


def forge(url: str, addresses: Sequence[str]) -> list[int]:
    host, _, port = url.removeprefix("http://").partition(":")
    connection = HTTPConnection(host, int(port), timeout=60)
    statuses = []
    for number, address in enumerate(addresses):
        spelt = (address, f"{address}, 10.0.0.1", f"[2001:db8:{number:x}::1]:80")[number % 3]
        headers = {"Content-Type": "application/json", "X-Forwarded-For": spelt}
        connection.request("POST", "/api/chat", asked(), {**headers, "X-Real-IP": address})
        answer = connection.getresponse()
        answer.read()
        statuses.append(answer.status)
    connection.close()
    return statuses


@contextlib.contextmanager
def start_proxy(target: str) -> Iterator[str]:
    """A proxy that appends whom it sees to X-Forwarded-For, as real ones do."""
    host, _, port = target.removeprefix("http://").partition(":")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        onward: HTTPConnection

        def setup(self) -> None:
            super().setup()
            self.onward = HTTPConnection(host, int(port), timeout=60)

        def finish(self) -> None:
            super().finish()
            self.onward.close()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen = ", ".join([*self.headers.get_all("X-Forwarded-For", []), self.client_address[0]])
            told = {"Content-Type": self.headers["Content-Type"], "X-Forwarded-For": seen}
            self.onward.request("POST", self.path, body, told)
            answer = self.onward.getresponse()
            data = answer.read()
            self.send_response(answer.status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(60)
        server.server_close()


@pytest.mark.parametrize("conversations", [False, True])
def test_prevents_an_address_in_the_store_or_in_a_log(
    tmp_path: Path, provider: Provider, caplog: pytest.LogCaptureFixture, conversations: bool
) -> None:
    """Nor a question, an answer or a session in a log, whatever happens to them."""
    session = "0123456789abcdef-zanzibar"
    secret = ("xylophone", session, VISITOR, "owner@kiln.studio", "kiln.studio", "On Fridays")
    told = {
        "trusted_hops": 1,
        "rates": {"per_minute": 4, "per_day": 0},
        "store": {"conversations": conversations},
        "leads": {"to": "owner@kiln.studio", "sender": "site@kiln.studio"},
        "metrics": True,
    }
    environ = {"EXACTQUOTE_SMTP_URL": "smtp://127.0.0.1:9", "EXACTQUOTE_ADMIN_TOKEN": "t" * 16}
    head = {"x-forwarded-for": VISITOR}
    with (
        caplog.at_level(logging.DEBUG),
        start_chat(tmp_path, provider.url, environ=environ, **told) as chat,
    ):
        question = "Does the xylophone kiln write to jane@kiln.studio?"
        for body in (
            {"question": question, "session": session},
            {"question": question},
            {"question": "xylophone " * 80},
            {"question": question, "session": session, "extra": "xylophone"},
            {"question": question},
            {"question": question},
            {"question": question},
        ):
            chat.post(body, **head)
        httpx2.get(f"{chat.url}/admin", headers={"authorization": "Basic eDp5", **head})
        database = chat.site.database
        with database.transaction() as transaction:
            letters = transaction.execute("SELECT session, body FROM lead")
        database.scrub()
        kept = b"".join(file.read_bytes() for file in tmp_path.glob("store.db*"))
    assert len(letters) == 2
    assert VISITOR.encode() not in kept
    # By the session a visitor's own words are found again, and forgotten.
    assert session.encode() in kept
    logged = "\n".join(f"{vars(record)} {record.getMessage()}" for record in caplog.records)
    assert "answer" in logged
    assert [word for word in secret if word in logged] == []


@pytest.fixture(scope="module")
def redis() -> Iterator[str]:
    with start_redis() as url:
        yield url


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    with start_postgres(pgvector=False) as url:
        yield url


SERVE = """
import sys, uvicorn
from pathlib import Path
from exactquote_site.serve.app import create_app
app = create_app(Path(sys.argv[1]))
uvicorn.run(app, port=int(sys.argv[2]), proxy_headers=False, access_log=False, log_level="warning")
"""


@contextlib.contextmanager
def start_processes(folder: Path, count: int, **environ: str) -> Iterator[list[str]]:
    """So many servers of one function, as processes of their own that start at once."""
    ports = [free_port() for _ in range(count)]
    told = {**os.environ, "EXACTQUOTE_API_KEY": KEY, **environ}
    told["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SERVE, str(folder), str(port)],
            env=told,
            stderr=open(folder / f"log-{port}", "wb"),  # noqa: SIM115
        )
        for port in ports
    ]
    try:
        for port, process in zip(ports, processes, strict=True):
            ends = time.monotonic() + 120
            while True:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                assert process.poll() is None, (folder / f"log-{port}").read_text()
                assert time.monotonic() < ends
                time.sleep(0.1)
        yield [f"http://127.0.0.1:{port}" for port in ports]
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def logs(folder: Path) -> str:
    return "".join(file.read_text() for file in folder.glob("log-*"))


PROCESSES = 5
CALLS = 64


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_prevents_processes_from_overspending_by_a_nano(
    kind: str, tmp_path: Path, provider: Provider, request: pytest.FixtureRequest
) -> None:
    """5 servers, 64 calls at once on each, and one budget that is enough for some of them."""
    store = f"sqlite:///{tmp_path / 'store.db'}"
    if kind == "postgres":
        store = request.getfixturevalue("postgres")
    budget = 0.05
    write_functions(tmp_path, provider.url, studio(), budget_usd_per_day=budget)
    calls = len(provider.asked)
    with start_processes(tmp_path, PROCESSES, EXACTQUOTE_STORE_URL=store) as urls:
        ended = asyncio.run(ask_all([url for url in urls for _ in range(CALLS)]))
        assert len(ended) == PROCESSES * CALLS
        # A call that finds the rest of the budget set aside for others is told to come again.
        assert "answered" in ended
        assert set(ended) <= {"answered", "busy", "paused"}
        # What was only set aside is free again; now to the end of what can be paid.
        while (one := asyncio.run(ask_all([urls[0]])))[0] == "answered":
            ended += one
        ended += one
        for url in urls:
            status = httpx2.get(f"{url}/api/status", trust_env=False).json()
            assert status["state"] == "paused"
        assert set(asyncio.run(ask_all(urls))) == {"paused"}
    database = open_database(store)
    day = Ledger(database).today(time.time())
    database.close()
    assert day.spent == ended.count("answered") * COST <= budget * NANO
    assert day.reserved == 0
    assert len(provider.asked) - calls == ended.count("answered")
    assert ended.count("answered") > 10
    lines = [json.loads(line) for line in logs(tmp_path).splitlines()]
    told = [line["outcome"] for line in lines if line["event"] == "answer"]
    assert sorted(told) == sorted(ended + ["paused"] * PROCESSES)
    assert "kiln" not in logs(tmp_path)


async def ask_all(urls: Sequence[str]) -> list[str]:
    """How each question ended, all of them asked at once."""
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(timeout=300, trust_env=False, limits=limits) as client:

        async def ask(url: str) -> str:
            got = await client.post(f"{url}/api/chat", json={"question": QUESTION})
            value = got.json()
            return str(value["error"]["code"] if "error" in value else value["outcome"])

        return list(await asyncio.gather(*(ask(url) for url in urls)))


def test_processes_count_a_visitor_together_in_redis(
    tmp_path: Path, provider: Provider, redis: str
) -> None:
    rates = {"per_minute": 0, "per_day": 7}
    write_functions(tmp_path, provider.url, studio(), rates=rates)
    environ = {"EXACTQUOTE_STORE_URL": f"sqlite:///{tmp_path / 'store.db'}"}
    with start_processes(tmp_path, 3, EXACTQUOTE_RATES_URL=redis, **environ) as urls:
        ended = asyncio.run(ask_all(urls * 10))
    assert ended.count("answered") == 7
    assert ended.count("too_many") == 23
    assert "Traceback" not in logs(tmp_path)


@pytest.mark.parametrize("fault", ["ended", "hangs"])
def test_prevents_a_model_call_that_nobody_counts(
    fault: str, tmp_path: Path, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    """With the counting storage gone, there is no answer, and no error of ours."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        url = f"redis://:hunter2@127.0.0.1:{listener.getsockname()[1]}/0"
        if fault == "ended":
            listener.close()
        environ = {"EXACTQUOTE_RATES_URL": url}
        rates = {"per_minute": 5, "per_day": 5}
        calls = len(provider.asked)
        with (
            caplog.at_level(logging.DEBUG),
            start_chat(tmp_path, provider.url, rates=rates, environ=environ) as chat,
        ):
            got = chat.ask(QUESTION)
            assert (got.status, got.end["code"]) == (503, "unavailable")
            assert len(provider.asked) == calls
            assert chat.spent == (0, 0)
    logged = "\n".join(f"{vars(record)}" for record in caplog.records)
    assert "counting" in logged
    assert "hunter2" not in logged
    assert "Traceback" not in logged
