"""Turns the files of a build into `build.json`, which names each with its hash."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import msgspec

from exactquote.model import Counts

MANIFEST_PATH = "build.json"
MANIFEST_VERSION = 1


def build_json(build_id: str, counts: Counts, files: Mapping[str, bytes]) -> bytes:
    """The manifest of all other files. Raises `ValueError` when it is already among them."""
    if MANIFEST_PATH in files:
        raise ValueError(f"{MANIFEST_PATH} can't hold its own hash")
    value = {
        "version": MANIFEST_VERSION,
        "build_id": build_id,
        "counts": msgspec.to_builtins(counts),
        "files": {
            path: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
            for path, data in files.items()
        },
    }
    return msgspec.json.format(msgspec.json.encode(value, order="sorted"), indent=1) + b"\n"
