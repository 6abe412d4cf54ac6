"""The preview server: files of one folder, and nothing else."""

from __future__ import annotations

import http.client
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from exactquote_site.serve.static import make_server

FILES = {
    "index.html": b"home",
    "guide/index.html": b"guide",
    "guide/a.html": b"a",
    "name with space.html": b"space",
    "größe.html": b"size",
    "100%.html": b"percent",
    "a.css": b"p{}",
    "a.js": b"1",
    "a.json": b"{}",
    "a.svg": b"<svg/>",
    "A.PNG": b"png",
    "a.unknown": b"?",
    "empty.txt": b"",
    "bare/a.txt": b"x",
    "404.html": b"not here",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("serve") / "dist"
    for path, content in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    (root.parent / "secret.txt").write_bytes(b"secret")
    (root.parent / "dist-secret.txt").write_bytes(b"secret")
    (root / "out.txt").symlink_to("../secret.txt")
    (root / "in.txt").symlink_to("a.css")
    os.mkfifo(root / "pipe.txt")
    return root


@pytest.fixture(scope="module")
def port(site: Path) -> Iterator[int]:
    server = make_server(site)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join()


def get(port: int, path: str, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.putrequest(method, path, skip_accept_encoding=True)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


FOUND = [
    ("/", "index.html", "text/html; charset=utf-8"),
    ("/index.html", "index.html", "text/html; charset=utf-8"),
    ("/index.html?x=1", "index.html", "text/html; charset=utf-8"),
    ("/guide/", "guide/index.html", "text/html; charset=utf-8"),
    ("/guide/a.html", "guide/a.html", "text/html; charset=utf-8"),
    ("/guide%2Fa.html", "guide/a.html", "text/html; charset=utf-8"),
    ("/name%20with%20space.html", "name with space.html", "text/html; charset=utf-8"),
    ("/gr%C3%B6%C3%9Fe.html", "größe.html", "text/html; charset=utf-8"),
    ("/100%25.html", "100%.html", "text/html; charset=utf-8"),
    ("/a.css", "a.css", "text/css; charset=utf-8"),
    ("/in.txt", "a.css", "text/plain; charset=utf-8"),
    ("/a.js", "a.js", "text/javascript; charset=utf-8"),
    ("/a.json", "a.json", "application/json; charset=utf-8"),
    ("/a.svg", "a.svg", "image/svg+xml"),
    ("/A.PNG", "A.PNG", "image/png"),
    ("/a.unknown", "a.unknown", "application/octet-stream"),
    ("/empty.txt", "empty.txt", "text/plain; charset=utf-8"),
]


@pytest.mark.parametrize(("path", "file", "kind"), FOUND)
def test_a_file_of_the_site_is_answered_with_its_type(
    port: int, path: str, file: str, kind: str
) -> None:
    status, headers, body = get(port, path)
    assert (status, body) == (200, FILES[file])
    assert headers["Content-Type"] == kind
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    status, head, body = get(port, path, "HEAD")
    assert (status, body) == (200, b"")
    assert head["Content-Length"] == headers["Content-Length"] == str(len(FILES[file]))


OUTSIDE = [
    "/../secret.txt",
    "/guide/../../secret.txt",
    "/%2e%2e/secret.txt",
    "/..%2fsecret.txt",
    "/guide/..%2f..%2fsecret.txt",
    "/%2e%2e%2fdist-secret.txt",
    "//secret.txt",
    "/..\\secret.txt",
    "/..%5csecret.txt",
    "/%252e%252e/secret.txt",
    "/out.txt",
    "/./index.html",
    "/guide//a.html",
    "/index.html/",
    "/index.html%00.css",
    "/%ff",
    "/pipe.txt",
    "/bare/",
    "/bare",
    "/absent",
    "/absent/",
    "/" + "a" * 3000,
    "secret.txt",
    "/etc/passwd",
    "/%2fetc/passwd",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_prevents_an_answer_from_outside_of_the_site(port: int, path: str) -> None:
    status, headers, body = get(port, path)
    assert (status, body) == (404, b"not here")
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Cache-Control"] == "no-store"


def test_a_folder_is_left_for_its_own_address(port: int) -> None:
    status, headers, body = get(port, "/guide")
    assert (status, headers["Location"], body) == (301, "./guide/", b"")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "X"])
def test_other_methods_are_refused(port: int, method: str) -> None:
    assert get(port, "/", method)[0] == 501


def test_without_a_404_page_a_plain_one_is_made(tmp_path: Path) -> None:
    server = make_server(tmp_path)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
    try:
        status, _, body = get(server.server_port, "/")
        assert status == 404
        assert b"no such page" in body
        assert get(server.server_port, "/", "HEAD")[2] == b""
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    "raw", [b"\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x00", b"GET / HTTP/9\r\n\r\n"]
)
def test_prevents_a_broken_request_from_ending_the_server(port: int, raw: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(raw)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1000)
    assert get(port, "/")[0] == 200


def test_a_slow_reader_holds_up_nobody(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(b"GET / HT")
        assert get(port, "/")[0] == 200


def test_an_address_of_the_new_kind_is_served(site: Path) -> None:
    try:
        server = make_server(site, "::1")
    except OSError:
        pytest.skip("this machine has no IPv6")
    server.server_close()
    assert server.server_port
