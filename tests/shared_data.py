"""Finds the conformance data and corpora that tests read but that the project doesn't ship."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).resolve().parents[2] / "shared"


def shared(name: str) -> Path:
    """Path of `name` in the shared data; absent data fails under CI and skips elsewhere."""
    path = Path(os.environ.get("EXACTQUOTE_SHARED") or _BESIDE) / name
    if not path.exists():
        reason = f"shared data not found: {name} (set EXACTQUOTE_SHARED to its folder)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return path
