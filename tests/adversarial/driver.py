"""Runs the command on a small tree of files, as a user would, and reads its report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
OURS = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(
        [
            str(PROJECT / "compiler"),
            str(PROJECT / "site_templates" / "functions"),
            os.environ.get("PYTHONPATH", ""),
        ]
    ),
}
Report = dict[str, Any]


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write a tree of files; text is written as it is, without a byte-order mark."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def run(
    *arguments: str | Path, seconds: float = 120, before: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command line with this checkout's code."""
    return subprocess.run(
        [sys.executable, "-m", "exactquote", *map(str, arguments)],
        env=OURS,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=seconds,
        preexec_fn=before,
        check=False,
    )


def run_check(
    tmp_path: Path, files: Mapping[str, str | bytes], *args: str | Path, seconds: float = 120
) -> tuple[int, Report, str]:
    """`check` a corpus or built site of these files: exit code, JSON report, standard error."""
    folder = write(tmp_path / "corpus", files)
    done = run("check", folder, "--format", "json", *args, seconds=seconds)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


def run_build(
    tmp_path: Path, files: Mapping[str, str | bytes], *args: str | Path, seconds: float = 120
) -> tuple[int, Report, Path]:
    """`build` a corpus of these files: exit code, JSON report, the folder of the site."""
    folder = write(tmp_path / "corpus", files)
    out = tmp_path / "dist"
    done = run("build", folder, "--output", out, "--format", "json", *args, seconds=seconds)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, json.loads(done.stdout), out


def cites(doc: str, quotes: Iterable[str] | Mapping[str, str]) -> str:
    """A sidecar that cites each quote; ids are c0, c1… unless the quotes have names."""
    named = quotes if isinstance(quotes, Mapping) else dict(_numbered(quotes))
    return json.dumps([{"id": id, "doc": doc, "quote": quote} for id, quote in named.items()])


def _numbered(quotes: Iterable[str]) -> Iterable[tuple[str, str]]:
    return ((f"c{number}", quote) for number, quote in enumerate(quotes))


def statuses(report: Report) -> dict[str, str]:
    """By citation id: "bound", or the code it was refused with."""
    return {
        one["id"]: "bound" if one["status"] == "bound" else one["code"]
        for one in report["citations"]
    }


def quotes(report: Report) -> dict[str, str | None]:
    """By citation id: the text cut from the page."""
    return {one["id"]: one["quote"] for one in report["citations"]}


def found(report: Report, code: str) -> list[Report]:
    """The diagnostics with a code."""
    return [one for one in report["diagnostics"] if one["code"] == code]


def codes(report: Report) -> set[str]:
    """The codes of all diagnostics."""
    return {one["code"] for one in report["diagnostics"]}


def tree(folder: Path) -> dict[str, bytes]:
    """Every file under a folder by its relative path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
