"""Turns the passages of a build into `allowlist.json` and, for a large site, its shards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from exactquote.model import AllowEntry
from exactquote_site.wire.allowlist import ALLOWLIST_PATH, ALLOWLIST_VERSION, shard_path

# Some 6,000 sentences. A chat function reads the file whole at each cold start, and a page
# that wants it in a browser loads it whole too: about 20 ms to parse, a second on a slow line.
SHARD_BYTES = 2_000_000


def allowlist_files(
    entries: Sequence[AllowEntry], build_id: str, shard_bytes: int = SHARD_BYTES
) -> dict[str, bytes]:
    """The files by path: one up to `shard_bytes`, and else the cited passages and shards.

    The rest is split by a hash of the id, so a changed sentence changes few files.
    Raises `ValueError` when two entries have one id.
    """
    table = {entry.id: entry for entry in sorted(entries, key=lambda entry: entry.id)}
    if len(table) != len(entries):
        raise ValueError("two entries of the allowlist have one id")
    whole = _file(table, build_id)
    rest = {id: entry for id, entry in table.items() if not entry.cited}
    if len(whole) <= shard_bytes or not rest:
        return {ALLOWLIST_PATH: whole}
    shards = _shard_count(len(_file(rest, build_id)), shard_bytes)
    split: dict[str, dict[str, AllowEntry]] = {}
    for id, entry in rest.items():
        split.setdefault(shard_path(id, shards), {})[id] = entry
    cited = {id: entry for id, entry in table.items() if entry.cited}
    files = {ALLOWLIST_PATH: _file(cited, build_id, sorted(split))}
    files |= {path: _file(split[path], build_id) for path in sorted(split)}
    return files


def _file(
    table: Mapping[str, AllowEntry], build_id: str, shards: Sequence[str] | None = None
) -> bytes:
    value: dict[str, object] = {
        "version": ALLOWLIST_VERSION,
        "build_id": build_id,
        "entries": {
            id: {
                "href": entry.href,
                "quote": entry.quote,
                "doc": entry.doc,
                "title": entry.title,
                "cited": entry.cited,
            }
            for id, entry in table.items()
        },
    }
    if shards is not None:
        value["shards"] = shards
    return msgspec.json.encode(value, order="sorted") + b"\n"


def _shard_count(bytes_total: int, shard_bytes: int) -> int:
    # Aimed at half the limit, since a hash doesn't split evenly. A power of two stays the
    # same while a corpus grows, and with it the shard that an unchanged passage is in.
    count = 1
    while count * shard_bytes < 2 * bytes_total:
        count *= 2
    return count
