"""Turns a folder that `exactquote build` wrote into its files, each the very one that it names."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from exactquote.disk.refusal import Refusal
from exactquote.emit.manifest import MANIFEST_PATH, MANIFEST_VERSION

_BUILD_META = re.compile(rb'<meta name="exactquote-build" content="([^"]*)">')


def read_build(root: Path) -> tuple[str, dict[str, bytes]]:
    """Build id and files of the build in a folder, each the very one that it names.

    Raises `Refusal` for a folder that is no build of ours, or no longer the one it was.
    """
    build_id, hashes = _manifest(root)
    files: dict[str, bytes] = {}
    wrong = []
    for path, wanted in sorted(hashes.items()):
        data = _file(root, path)
        if data is None or hashlib.sha256(data).hexdigest() != wanted:
            wrong.append(path)
        else:
            files[path] = data
    if wrong:
        more = f", nor are {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise Refusal(
            f"{root / wrong[0]} is not the file that {MANIFEST_PATH} names{more}; build again"
        )
    for path, data in files.items():
        found = _BUILD_META.search(data) if path.endswith(".html") else None
        if found is not None and found[1].decode("utf-8", "replace") != build_id:
            raise Refusal(f"{root / path} is of another build than {MANIFEST_PATH}; build again")
    return build_id, files


def _manifest(root: Path) -> tuple[str, dict[str, str]]:
    cure = "name the folder that `exactquote build` wrote, or the --citations of other pages"
    data = _file(root, MANIFEST_PATH)
    if data is None:
        raise Refusal(f"{root} has no {MANIFEST_PATH}, so it is no build of ours; {cure}")
    try:
        record: Any = json.loads(data)
        version, build_id, listed = record["version"], record["build_id"], record["files"]
        hashes = {path: record["sha256"] for path, record in listed.items()}
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise Refusal(f"{root / MANIFEST_PATH} is not one of ours; {cure}") from None
    if version != MANIFEST_VERSION or not isinstance(build_id, str):
        raise Refusal(
            f"{root / MANIFEST_PATH} has version {version!r}, and only {MANIFEST_VERSION} can be"
            " read; build again with this exactquote"
        )
    return build_id, hashes


def _file(root: Path, name: str) -> bytes | None:
    try:
        path = (root / name).resolve()
        # A link or ".." must not lead out of the site.
        return path.read_bytes() if path.is_relative_to(root.resolve()) else None
    except (OSError, ValueError):
        return None
