"""The data of server-sent events is read alike wherever the network cuts their bytes."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from exactquote_site.serve.event_stream import DataReader

CASES: dict[str, tuple[bytes, list[bytes]]] = {
    "one event": (b"data: {}\n\n", [b"{}"]),
    "line feeds": (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
    "returns": (b"data: a\r\rdata: b\r\r", [b"a", b"b"]),
    "both": (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"]),
    "of each kind": (b"data: a\r\n\ndata: b\n\rdata: c\r\r\n", [b"a", b"b", b"c"]),
    "a return and two line feeds": (b"data: a\r\n\n", [b"a"]),
    "two lines of data": (b"data: a\ndata: b\n\n", [b"a\nb"]),
    "two lines of data that end by both": (b"data: a\r\ndata: b\r\n\r\n", [b"a\nb"]),
    "without a space": (b"data:a\n\n", [b"a"]),
    "of two spaces one is data": (b"data:  a\n\n", [b" a"]),
    "a colon in the data": (b"data: a: b\n\n", [b"a: b"]),
    "a name alone": (b"data\n\n", [b""]),
    "names and ids": (b"id: 7\nevent: x\nretry: 1\ndata: a\nmore: b\n\n", [b"a"]),
    "another name that begins alike": (b"database: a\n data: b\nDATA: c\n\n", []),
    "comments": (b": waiting\n\n:data: a\ndata: b\n: more\n\n", [b"b"]),
    "an event without data": (b"event: ping\n\ndata: a\n\n", [b"a"]),
    "empty lines": (b"\n\n\r\n\rdata: a\n\n\n\n", [b"a"]),
    "a mark of the byte order": (b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n", [b"a"]),
    "no other character ends a line": (
        "data: a\u2028b\u0085\x0b\x0c\x1e\n\n".encode(),
        ["a\u2028b\u0085\x0b\x0c\x1e".encode()],
    ),
    "no end": (b"data: a\n\ndata: b", [b"a"]),
    "no empty line": (b"data: a\n\ndata: b\n", [b"a"]),
    "nothing": (b"", []),
}


def read(pieces: Sequence[bytes]) -> list[bytes]:
    reader = DataReader()
    return [data for piece in pieces for data in reader.feed(piece)]


@pytest.mark.parametrize("name", CASES)
def test_an_event_is_read_wherever_it_is_cut(name: str) -> None:
    stream, wanted = CASES[name]
    assert read([stream]) == wanted
    assert read([stream[at : at + 1] for at in range(len(stream))]) == wanted
    for at in range(len(stream) + 1):
        assert read([stream[:at], stream[at:]]) == wanted, at
        assert read([stream[:at], b"", stream[at:]]) == wanted, at


def test_prevents_a_line_that_takes_for_ever() -> None:
    count = 1_500_000
    began = time.process_time()
    assert read([b"data: ", *[b"x"] * count, b"\n\n"]) == [b"x" * count]
    assert time.process_time() - began < 15
