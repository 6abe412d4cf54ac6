"""Finds what is wrong with the addresses and the names of variables in a configuration.

What stands there is published with the site, and told when it is wrong. So nothing that may
be a secret is accepted in an address, and no message repeats what was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from ipaddress import AddressValueError, IPv6Address
from typing import cast
from urllib.parse import SplitResult, parse_qsl, urlsplit

import msgspec

from exactquote.settings import Settings

Key = tuple[str, ...]
Fault = tuple[Key, str]

RATES_VARIABLE = "EXACTQUOTE_RATES_URL"
_COUNTERS = ("redis", "rediss", "redis+sentinel", "redis+cluster", "redis+unix")
# What tells PostgreSQL how to connect, and never who one is.
_HARMLESS = frozenset(
    "application_name channel_binding connect_timeout gssencmode keepalives keepalives_count"
    " keepalives_idle keepalives_interval load_balance_hosts sslmode sslnegotiation sslrootcert"
    " target_session_attrs tcp_user_timeout".split()
)
# In capitals, as such names are by custom and keys are not; a key has no short parts either.
_VARIABLE = re.compile(r"_*[A-Z][A-Z0-9]{0,23}(?:_+[A-Z0-9]{1,24}){0,8}_*", re.ASCII)
_LABEL = re.compile(r"[\w-]{1,63}")
_NAME = re.compile(r"[\w.-]{1,63}")
_HOST_CHARS_MAX = 253
_PORT_MOST = 65_535
_PUBLISHED = "holds a user, a password, or something behind ? or #, which would be published"


def address_faults(settings: Settings) -> Iterator[Fault]:
    """Every fault of an address or of the name of a variable, with its key."""
    for key, value, usual in _texts(settings, ()):
        name = ".".join(key)
        if key[-1].endswith("_env"):
            # Where there may be none, none is the default.
            if (value or usual) and not is_variable(value):
                yield (
                    key,
                    f"{name} must be the name of an environment variable, in capitals such as"
                    " EXACTQUOTE_API_KEY; what it holds is written nowhere",
                )
        elif key[-1].endswith("url") and value:
            fault = _RULES.get(key, _web_fault)(value)
            if fault:
                yield key, f"{name} {fault}{_cure(key, settings)}"


def is_variable(name: str) -> bool:
    """Whether a text is the name of an environment variable and can't be what one holds."""
    return _VARIABLE.fullmatch(name) is not None


def _texts(part: msgspec.Struct, key: Key) -> Iterator[tuple[Key, str, str]]:
    """Every text of a table and of those in it: its key, its value, and its default."""
    for field in msgspec.structs.fields(part):
        value = getattr(part, field.name)
        if isinstance(value, msgspec.Struct):
            yield from _texts(value, (*key, field.name))
        elif isinstance(value, str):
            yield (*key, field.name), value, cast(str, field.default)


def _cure(key: Key, settings: Settings) -> str:
    """Where a secret belongs, if there is such a place."""
    if key == ("chat", "rates", "storage_url"):
        return f"; a URL with a secret belongs into {RATES_VARIABLE} where the function runs"
    if key == ("chat", "store", "url"):
        name = settings.chat.store.url_env
        told = name if is_variable(name) else "the variable of chat.store.url_env"
        return f"; a URL with a secret belongs into {told} where the function runs"
    return ""


def _web_fault(url: str) -> str:
    if "@" in url or "?" in url or "#" in url:
        return _PUBLISHED
    parts = _split(url)
    if parts is None or parts.scheme not in ("http", "https") or not _has_host(parts, 1):
        return "must be like https://example.org/path"
    return ""


def _store_fault(url: str) -> str:
    scheme, _, rest = url.partition(":")
    if scheme == "sqlite" and rest.startswith("///"):
        return _file_fault(rest[3:])
    wanted = "must be sqlite:///PATH or postgresql://HOST/NAME"
    if scheme not in ("postgresql", "postgres"):
        return wanted
    user, at, _ = url.partition("//")[2].partition("/")[0].rpartition("@")
    keys = {name for name, _ in parse_qsl(url.partition("?")[2], keep_blank_values=True)}
    secret = at and not _NAME.fullmatch(user)
    if secret or "#" in url or not keys <= _HARMLESS or ("?" in url and not keys):
        return f"{_PUBLISHED}; behind ? only {', '.join(sorted(_HARMLESS))} may stand"
    parts = _split(url)
    if parts is None or not _has_host(parts, 9) or not _NAME.fullmatch(parts.path[1:]):
        return wanted
    return ""


def _file_fault(path: str) -> str:
    if "?" in path or "#" in path:
        return _PUBLISHED
    name = path.replace("\\", "/").rpartition("/")[2]
    if ":memory:" in path or path.startswith("file:"):
        return "names no file; what is kept in memory is lost, and with it what was spent"
    if name in ("", ".", "..") or not path.isprintable() or path != path.strip():
        return "must name a file, as in sqlite:////var/lib/site/chat.db"
    return ""


def _counter_fault(url: str) -> str:
    if url == "memory://":
        return ""
    if "@" in url or "?" in url or "#" in url:
        return _PUBLISHED
    wanted = "must be memory:// or redis://HOST"
    parts = _split(url)
    if parts is None or url.partition(":")[0] not in _COUNTERS:
        return wanted
    if parts.scheme == "redis+unix":
        return "" if not parts.netloc and len(parts.path) > 1 else "must be redis+unix:///PATH"
    if parts.scheme == "redis+sentinel" and not parts.path.strip("/"):
        return "must be redis+sentinel://HOST/SERVICE"
    if not _has_host(parts, 9):
        return wanted
    if parts.scheme in ("redis", "rediss") and not re.fullmatch(r"(?:/\d{0,4})?", parts.path):
        return "must be redis://HOST, or redis://HOST/NUMBER of a database"
    return ""


_RULES: Mapping[Key, Callable[[str], str]] = {
    ("chat", "store", "url"): _store_fault,
    ("chat", "rates", "storage_url"): _counter_fault,
}


def _split(url: str) -> SplitResult | None:
    """The parts of an address; None for what programs don't read alike."""
    # `urlsplit` drops line breaks, and browsers read a backslash as a slash.
    if not url.isprintable() or " " in url or "\\" in url:
        return None
    try:
        return urlsplit(url)
    except ValueError:
        return None


def _has_host(parts: SplitResult, most: int) -> bool:
    """Whether an address names one host, or several where a cluster is meant."""
    hosts = parts.netloc.rpartition("@")[2].split(",")
    return len(hosts) <= most and all(_is_host(host) for host in hosts)


def _is_host(written: str) -> bool:
    if written.startswith("["):
        inner, closed, port = written[1:].partition("]")
        try:
            IPv6Address(inner)
        except AddressValueError:
            return False
        if not closed or (port and not port.startswith(":")):
            return False
        return not port or _is_port(port[1:])
    host, colon, port = written.partition(":")
    labels = host.removesuffix(".").split(".")
    named = len(host) <= _HOST_CHARS_MAX and all(_LABEL.fullmatch(label) for label in labels)
    return named and (not colon or _is_port(port))


def _is_port(port: str) -> bool:
    return port.isascii() and port.isdigit() and len(port) <= 5 and 1 <= int(port) <= _PORT_MOST
