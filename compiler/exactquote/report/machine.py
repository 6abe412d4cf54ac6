"""Turn a build into the one JSON object that `--format json` prints."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from exactquote.codes import CODES
from exactquote.model import Build, Diagnostic, Place, Verdict

VERSION = 1


def json_report(build: Build, shown: Callable[[str], str]) -> str:
    """The report as JSON text; `shown` turns a path of the corpus into the reader's own."""
    return json.dumps(report_object(build, shown), ensure_ascii=False, indent=1) + "\n"


def report_object(build: Build, shown: Callable[[str], str]) -> dict[str, Any]:
    """The report as described by `schemas/report.schema.json`."""
    counts = build.counts
    return {
        "version": VERSION,
        "build_id": build.build_id,
        "counts": {
            "documents": counts.documents,
            "passages": counts.passages,
            "citations": counts.citations,
            "bound": counts.bound,
            "refused": counts.refused,
        },
        "citations": [_citation(verdict, shown) for verdict in build.verdicts],
        "diagnostics": [_diagnostic(found, shown) for found in reported(build)],
    }


def reported(build: Build) -> list[Diagnostic]:
    """The diagnostics that weren't silenced."""
    return [found for found in build.diagnostics if found.severity != "off"]


def _citation(verdict: Verdict, shown: Callable[[str], str]) -> dict[str, Any]:
    link = verdict.link
    return {
        "id": verdict.id,
        "doc": verdict.doc,
        "quote": verdict.quote if verdict.bound else None,
        "claim": verdict.written.claim,
        "written": _place(verdict.written.place, shown),
        "status": "bound" if verdict.bound else "refused",
        "code": None if verdict.bound else verdict.code,
        "href": link.href if link else None,
        "directive": link.directive if link else None,
    }


def _diagnostic(found: Diagnostic, shown: Callable[[str], str]) -> dict[str, Any]:
    return {
        "code": found.code,
        "name": CODES[found.code].name,
        "severity": found.severity,
        **_place(found.place, shown),
        "message": found.message,
        "help": found.help,
        "related": [
            {**_place(other.place, shown), "message": other.message} for other in found.related
        ],
    }


def _place(place: Place, shown: Callable[[str], str]) -> dict[str, Any]:
    return {"path": shown(place.path), "line": place.line, "column": place.column}
