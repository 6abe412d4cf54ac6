"""Turns the address of a visitor into a name that can be counted and can't be traced."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Sequence

UNKNOWN = "unknown"
# A home or a phone has a whole /64, so one visitor could use any address of it.
_IPV6_PREFIX = 64


def visitor_address(peer: str, forwarded: Sequence[str], trusted_hops: int) -> str:
    """The network address to count: the socket's, or that which trusted proxies report.

    `forwarded` are the values of all X-Forwarded-For headers, in order. With `trusted_hops`
    N, the N-th address from the right is the one that the outermost trusted proxy saw; all to
    its left is the visitor's own claim and never used. Fewer entries than hops means that a
    proxy was bypassed: then the socket counts.
    """
    hops = [hop.strip() for value in forwarded for hop in value.split(",") if hop.strip()]
    if 0 < trusted_hops <= len(hops):
        return _network(hops[-trusted_hops])
    address = _network(peer)
    # Some servers, uvicorn with `--proxy-headers` among them, put what the header claims in
    # place of the socket's address. Whoever might be made up is counted with all the others.
    return UNKNOWN if any(_network(hop) == address for hop in hops) else address


def bucket(address: str, salt: bytes) -> str:
    """A name for an address under a day's salt; without the salt nobody can make it again."""
    return hmac.new(salt, address.encode(), hashlib.sha256).hexdigest()[:32]


def _network(written: str) -> str:
    """An IPv4 address as it is, an IPv6 one as its /64; "unknown" for what is neither."""
    host = written.strip().strip('"')
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return UNKNOWN
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped
        if inner is not None:
            return str(inner)
        return str(ipaddress.ip_network((int(address), _IPV6_PREFIX), strict=False))
    return str(address)
