"""Tell a folder that a build of ours wrote from any other, by its `build.json`."""

from __future__ import annotations

import json
import os

_MARK = b"build.json"
_BYTES_MAX = 64_000_000


def is_our_output(folder: bytes) -> bool:
    """Whether `folder` holds a whole build: a `build.json` that names a build id."""
    file = os.path.join(folder, _MARK)
    try:
        if not os.path.isfile(file) or os.path.getsize(file) > _BYTES_MAX:
            return False
        with open(file, "rb") as stream:
            record = json.load(stream)
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(record, dict) and isinstance(record.get("build_id"), str)
