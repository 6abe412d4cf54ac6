"""Keeps what a bench measured beside it, as a dated file."""

from __future__ import annotations

import json
from pathlib import Path


def keep(bench: str, name: str, result: object) -> None:
    """Write `results/<name>.json` into the folder of a bench, of which `bench` is a file."""
    path = Path(bench).parent / "results" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
