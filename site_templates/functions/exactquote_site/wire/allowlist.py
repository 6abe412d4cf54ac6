"""Reads `allowlist.json` and its shards into the one table of links that may be shown.

Whatever is wrong with a file is an error here, never an entry less: a list that was half
read would silently turn true citations into dropped ones.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from exactquote_site.wire.tokens import is_id

ALLOWLIST_VERSION = 1
ALLOWLIST_PATH = "allowlist.json"
SHARD_FOLDER = "allowlist"

_SHARD_PATH = re.compile(rf"{SHARD_FOLDER}/[0-9a-f]{{2,8}}\.json", re.ASCII)
# A scheme, a host, a root or a step up would lead away from the site that the build proved;
# browsers read `%2e` as a dot and a backslash as a slash.
_LEADS_AWAY = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:|/|(?:[^#?]*/)?(?:\.|%2e){2}(?:[/#?]|\Z)", re.ASCII | re.IGNORECASE
)
_NOT_IN_A_URL = re.compile(r"[\x00-\x20\x7f\"<>`\\]")
_ENTRY_KEYS = frozenset(("href", "quote", "doc", "title", "cited"))
_FILE_KEYS = frozenset(("version", "build_id", "entries"))


class WireError(ValueError):
    """A file of the build isn't what this code was shipped to read."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A passage that may be cited; `href` is relative to the root of the site."""

    id: str
    href: str
    quote: str
    doc: str
    title: str
    cited: bool


@dataclass(frozen=True, slots=True)
class Allowlist:
    """Every entry of one build, by id."""

    build_id: str
    entries: Mapping[str, Entry]


def load_allowlist(read: Callable[[str], bytes]) -> Allowlist:
    """The allowlist with all its shards; `read` gives the bytes of a path under the site.

    Raises `WireError` for a malformed file, a shard of another build, or an id given twice.
    """
    build_id, entries, shards = _read_file(ALLOWLIST_PATH, read(ALLOWLIST_PATH))
    for path in shards:
        shard_build, more, deeper = _read_file(path, read(path))
        if shard_build != build_id:
            raise WireError(f"{path}: is of build {shard_build!r}, not of {build_id!r}")
        if deeper:
            raise WireError(f"{path}: a shard can't name shards")
        twice = min(entries.keys() & more.keys(), default=None)
        if twice is not None:
            raise WireError(f"{path}: id {twice!r} was already given")
        entries.update(more)
    return Allowlist(build_id, entries)


def shard_path(id: str, shards: int) -> str:
    """Which of so many shards holds an id that `allowlist.json` itself doesn't hold."""
    return f"{SHARD_FOLDER}/{zlib.crc32(id.encode('ascii')) % shards:02x}.json"


def _read_file(path: str, data: bytes) -> tuple[str, dict[str, Entry], tuple[str, ...]]:
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_unique_keys)
    except (ValueError, RecursionError) as error:
        raise WireError(f"{path}: {error}") from error
    if not isinstance(value, dict) or value.keys() - {"shards"} != _FILE_KEYS:
        raise WireError(f"{path}: wants the keys version, build_id, entries and maybe shards")
    version, build_id, entries = value["version"], value["build_id"], value["entries"]
    if type(version) is not int or version != ALLOWLIST_VERSION:
        raise WireError(f"{path}: version {version!r} can't be read, only {ALLOWLIST_VERSION}")
    if not isinstance(build_id, str) or not build_id:
        raise WireError(f"{path}: build_id must be a non-empty string")
    if not isinstance(entries, dict):
        raise WireError(f"{path}: entries must be an object")
    shards = value.get("shards", [])
    if not isinstance(shards, list) or not all(
        isinstance(shard, str) and _SHARD_PATH.fullmatch(shard) for shard in shards
    ):
        raise WireError(f"{path}: shards must name files such as {SHARD_FOLDER}/00.json")
    if len(set(shards)) != len(shards):
        raise WireError(f"{path}: names a shard twice")
    read = {id: _read_entry(path, id, entry) for id, entry in entries.items()}
    return build_id, read, tuple(shards)


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise WireError("a key is given twice in one object")
    return table


def _read_entry(path: str, id: str, value: object) -> Entry:
    where = f"{path}: entry {id!r}"
    if not is_id(id):
        raise WireError(f"{where}: isn't a passage id")
    if not isinstance(value, dict) or value.keys() != _ENTRY_KEYS:
        raise WireError(f"{where}: wants the keys href, quote, doc, title and cited")
    cited = value["cited"]
    href, quote, doc, title = (value[key] for key in ("href", "quote", "doc", "title"))
    if not isinstance(cited, bool):
        raise WireError(f"{where}: cited must be true or false")
    if not all(isinstance(text, str) for text in (href, quote, doc, title)):
        raise WireError(f"{where}: href, quote, doc and title must be strings")
    if not (href and quote and doc):
        raise WireError(f"{where}: href, quote and doc can't be empty")
    if _LEADS_AWAY.match(href) or _NOT_IN_A_URL.search(href):
        raise WireError(f"{where}: href must be relative to the root of the site")
    return Entry(id, href, quote, doc, title, cited)
