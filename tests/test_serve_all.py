"""`exactquote serve`: the site and its chat function as one process on one origin."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from exactquote import cli

PAGES = {
    "index.md": "# Kiln\n\nThe kiln is fired on Fridays only."
    ' [Then](cite:index "The kiln is fired on Fridays only.") it cools.\n',
    "guide/ofen.md": "---\nlanguage: de\n---\n\n# Ofen\n\nDer Ofen wird nur freitags gefeuert.\n",
    "exactquote.toml": '[knowledge]\nembedder = "none"\n[chat]\nlanguages = ["en", "de"]\n',
}
LINE = "serving {} at "


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("serve-all")
    for path, text in PAGES.items():
        (root / "docs" / path).parent.mkdir(parents=True, exist_ok=True)
        (root / "docs" / path).write_text(text)
    assert cli.main(["build", str(root / "docs"), "-o", str(root / "dist"), "-q"]) == 0
    return root / "dist"


@dataclass(frozen=True)
class Served:
    """A server of ours that runs: its port, what it said of the chat, and its process."""

    port: int
    chat: str
    process: subprocess.Popen[bytes]

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body or None, dict(headers or {}))
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()


def started(dist: Path, *args: str, **variables: str) -> subprocess.Popen[bytes]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EXACTQUOTE")}
    store = f"sqlite:///{dist.parent / 'store.db'}"
    paths = os.pathsep.join(sys.path)
    return subprocess.Popen(
        [sys.executable, "-m", "exactquote", "serve", str(dist), *args],
        env={**kept, "EXACTQUOTE_STORE_URL": store, "PYTHONPATH": paths, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@contextmanager
def serving(dist: Path, **variables: str) -> Iterator[Served]:
    process = started(dist, "--port", "0", **variables)
    try:
        assert process.stdout is not None
        line, chat = (process.stdout.readline().decode() for _ in range(2))
        assert line.startswith(LINE.format(dist)), process.communicate(timeout=60)
        yield Served(int(line.split("127.0.0.1:")[1].split("/")[0]), chat, process)
    finally:
        process.kill()
        process.communicate(timeout=60)


@pytest.fixture(scope="module")
def served(dist: Path) -> Iterator[Served]:
    with serving(dist) as server:
        yield server


def test_it_says_what_a_visitor_would_meet(served: Served) -> None:
    told = "chat: passages only: no key in EXACTQUOTE_API_KEY, no model in chat.provider.model\n"
    assert served.chat == told


@pytest.mark.parametrize(
    ("question", "language", "quote"),
    [
        ("When is the kiln fired?", "en", "The kiln is fired on Fridays only."),
        ("Wann wird der Ofen gefeuert?", "de", "Der Ofen wird nur freitags gefeuert."),
    ],
)
def test_a_question_is_answered_with_passages_and_their_links(
    served: Served, question: str, language: str, quote: str
) -> None:
    body = json.dumps({"question": question}).encode()
    status, headers, data = served.ask(
        "POST", "/api/chat", body, {"Content-Type": "application/json"}
    )
    answer = json.loads(data)
    assert (status, answer["kind"], answer["language"]) == (200, "passages", language)
    assert headers["Cache-Control"] == "no-store"
    quotes = [part for part in answer["segments"] if part["type"] == "quote"]
    assert quote in [part["quote"] for part in quotes]
    for part in quotes:
        # Each link leads to a page that is there.
        assert served.ask("GET", f"/{part['href'].partition('#')[0]}")[0] == 200


@pytest.mark.parametrize(
    ("path", "kind", "part"),
    [
        ("/", "text/html; charset=utf-8", b"The kiln is fired"),
        ("/index.html", "text/html; charset=utf-8", b'src="assets/ask.js" data-root="./"'),
        ("/guide/ofen.html", "text/html; charset=utf-8", b'src="../assets/ask.js"'),
        ("/assets/ask.js", "text/javascript; charset=utf-8", b"api/status"),
        ("/assets/ask.css", "text/css; charset=utf-8", b"eq-ask"),
        ("/assets/site.css", "text/css; charset=utf-8", b"eq-"),
        ("/allowlist.json", "application/json; charset=utf-8", b"build_id"),
        ("/api/status", "application/json", b'"passages"'),
    ],
)
def test_pages_assets_and_function_have_one_origin(
    served: Served, path: str, kind: str, part: bytes
) -> None:
    status, headers, data = served.ask("GET", path)
    assert (status, headers["Content-Type"]) == (200, kind)
    assert part in data
    assert "Server" not in headers
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "/functions",
        "/functions/",
        "/functions/chat.json",
        "/functions/main.py",
        "/functions/data/allowlist.json",
        "/functions/exactquote_site/serve/app.py",
        "//functions/chat.json",
        "/./functions/chat.json",
        "/%66unctions/chat.json",
        "/guide/../functions/chat.json",
        "/guide/..%2Ffunctions/chat.json",
        "/functions%2Fchat.json",
        "/..%2Fdocs/index.md",
        "/../docs/index.md",
        "/absent",
        "/admin",
        "/metrics",
    ],
)
def test_prevents_the_functions_own_files_from_being_served(served: Served, path: str) -> None:
    status, _, data = served.ask("GET", path)
    assert status == 404
    assert b"Page not found" in data


def test_prevents_a_visitor_from_naming_himself(dist: Path) -> None:
    """Forwarding headers are a visitor's own claim as long as no proxy is trusted."""
    with serving(dist, EXACTQUOTE_STORE_URL=f"sqlite:///{dist.parent / 'hops.db'}") as server:
        answers = [
            server.ask(
                "POST",
                "/api/chat",
                b'{"question": "When is the kiln fired?"}',
                {"Content-Type": "application/json", "X-Forwarded-For": f"192.0.2.{number}"},
            )[0]
            for number in range(8)
        ]
    assert answers == [200] * 6 + [429] * 2


def test_ctrl_c_ends_it_cleanly(dist: Path) -> None:
    with serving(dist) as server:
        busy = started(dist, "--port", str(server.port))
        out, err = busy.communicate(timeout=120)
        assert (busy.returncode, out) == (2, b"")
        at = f"127.0.0.1 port {server.port}"
        wanted = f"can't listen on {at}: Address already in use; --port takes another one\n"
        assert err.decode() == f"exactquote: {wanted}"
        server.process.send_signal(signal.SIGINT)
        out, err = server.process.communicate(timeout=60)
        assert (server.process.returncode, out, err) == (0, b"", b"stopped\n")


def mixed(dist: Path) -> None:
    value = json.loads((dist / "functions/chat.json").read_text())
    (dist / "functions/chat.json").write_text(json.dumps({**value, "build_id": "f" * 16}))


# what was done to a build, what the command says
BROKEN = {
    "a function of another build": (mixed, "and a chat function of ffffffffffffffff; build again"),
    "a configuration that is none": (
        lambda dist: (dist / "functions/chat.json").write_text("{}"),
        "chat.json: Object missing required field",
    ),
    "a part that is missing": (
        lambda dist: (dist / "functions/data/knowledge/words.bin").unlink(),
        "knowledge/words.bin: No such file or directory",
    ),
    "no build of ours": (lambda dist: (dist / "build.json").unlink(), "is no build of ours"),
    "an allowlist that was edited": (
        lambda dist: (dist / "allowlist.json").write_text("{}"),
        "is not the file that build.json names",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_build_that_cannot_be_served_is_refused(
    dist: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    breaking, message = BROKEN[name]
    shutil.copytree(dist, tmp_path / "dist")
    breaking(tmp_path / "dist")
    assert cli.main(["serve", str(tmp_path / "dist"), "--port", "0"]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.out == ""


def test_a_store_that_cannot_be_opened_is_refused(
    dist: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EXACTQUOTE_STORE_URL", "mysql://h/n")
    assert cli.main(["serve", str(dist), "--port", "0"]) == 2
    assert "the store can't be opened: a store is sqlite:///" in capsys.readouterr().err


def test_a_host_that_is_none_is_refused(dist: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["serve", str(dist), "--host", "300.1.1.1", "--port", "0"]) == 2
    assert "can't listen on 300.1.1.1 port 0: " in capsys.readouterr().err
