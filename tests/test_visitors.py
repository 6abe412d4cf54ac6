"""By which address a visitor is counted, and that it can be read nowhere."""

from __future__ import annotations

import hashlib

import pytest

from exactquote_site.serve.visitors import UNKNOWN, bucket, visitor_address

PEER = "203.0.113.9"

# The socket's address, and what is counted.
NETWORKS = {
    "203.0.113.9": "203.0.113.9",
    "203.0.113.9:4711": "203.0.113.9",
    " 203.0.113.9 ": "203.0.113.9",
    '"203.0.113.9"': "203.0.113.9",
    "::ffff:203.0.113.9": "203.0.113.9",
    "[::ffff:203.0.113.9]:443": "203.0.113.9",
    "::FFFF:cb00:7109": "203.0.113.9",
    "2001:db8:1:2::1": "2001:db8:1:2::/64",
    "2001:DB8:1:2:ffff:ffff:ffff:ffff": "2001:db8:1:2::/64",
    "[2001:db8:1:2::1]": "2001:db8:1:2::/64",
    "[2001:db8:1:2::1]:8080": "2001:db8:1:2::/64",
    '"[2001:db8:1:2::1]:8080"': "2001:db8:1:2::/64",
    "2001:db8:1:3::1": "2001:db8:1:3::/64",
    "fe80::1%eth0": "fe80::/64",
    "": UNKNOWN,
    "unknown": UNKNOWN,
    "_hidden": UNKNOWN,
    "203.0.113": UNKNOWN,
    "203.0.113.999": UNKNOWN,
    "0203.0.113.9": UNKNOWN,
    "203.0.113.9/8": UNKNOWN,
    "[2001:db8::1": "2001:db8::/64",
    "2001:db8::1::2": UNKNOWN,
    "for=203.0.113.9": UNKNOWN,
    "testserver": UNKNOWN,
    "\x00": UNKNOWN,
    "٢٠٣.0.113.9": UNKNOWN,
    "9" * 5_000: UNKNOWN,
}


@pytest.mark.parametrize(("written", "counted"), NETWORKS.items())
def test_an_address_is_read_however_it_is_written(written: str, counted: str) -> None:
    assert visitor_address(written, [], 0) == counted
    # A header without an address names nobody.
    reported = counted if written else "198.51.100.1"
    assert visitor_address("198.51.100.7", ["198.51.100.1", written], 1) == reported


# Hops that are trusted, the headers, and what is counted where the socket is PEER.
HOPS: list[tuple[int, list[str], str]] = [
    (0, [], PEER),
    (0, ["1.1.1.1"], PEER),
    (0, ["1.1.1.1, 2.2.2.2", "3.3.3.3"], PEER),
    (1, [], PEER),
    (1, ["", " , "], PEER),
    (1, ["1.1.1.1"], "1.1.1.1"),
    (1, ["9.9.9.9, 1.1.1.1"], "1.1.1.1"),
    (1, ["9.9.9.9", "1.1.1.1"], "1.1.1.1"),
    (1, ["9.9.9.9,", ",1.1.1.1,"], "1.1.1.1"),
    (2, ["1.1.1.1"], PEER),
    (2, ["1.1.1.1, 2.2.2.2"], "1.1.1.1"),
    (2, ["8.8.8.8, 9.9.9.9", "1.1.1.1", "2.2.2.2"], "1.1.1.1"),
    (2, ["9.9.9.9, garbage", "2.2.2.2"], UNKNOWN),
]


@pytest.mark.parametrize(("hops", "forwarded", "counted"), HOPS)
def test_only_trusted_hops_are_heard(hops: int, forwarded: list[str], counted: str) -> None:
    assert visitor_address(PEER, forwarded, hops) == counted


@pytest.mark.parametrize("hops", [0, 2])
def test_prevents_a_server_that_believes_the_header_from_making_visitors(hops: int) -> None:
    """uvicorn puts the header's address in place of the socket's, unless it is told not to."""
    for number in range(256):
        forged = f"198.51.100.{number}"
        assert visitor_address(forged, [forged], hops) == UNKNOWN
    assert visitor_address("2001:db8::5", ["9.9.9.9, [2001:db8::5]:1"], 0) == UNKNOWN


def test_a_name_of_a_day_tells_no_address() -> None:
    name = bucket(PEER, b"a" * 32)
    assert name == bucket(PEER, b"a" * 32)
    assert name != bucket(PEER, b"b" * 32)
    assert name != bucket("203.0.113.8", b"a" * 32)
    assert len(name) == 32
    assert name != hashlib.sha256(PEER.encode()).hexdigest()[:32]
