"""Whether the gate is right about each page and folder of the shared gate cases."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from exactquote.cli import main
from exactquote.model import Build, CitationFile, Corpus
from exactquote.settings import Settings
from tests.compiling import compiled, corpus_of, unproved_links
from tests.shared_data import shared

# Their `why` says that the generator of that site has routes for `work/NAME.mdx` and
# `projects/NAME.mdx` only; such a site publishes no more than that, and says so.
UNROUTED = ("notes-collection-unrouted", "md-file-unrouted", "nested-folder-unrouted")
ROUTED = Settings(publish=["work/*.mdx", "projects/*.mdx"])
# Where the plain directive goes to an earlier copy or look-alike: refused, or pinned to the
# passage itself. Each is there once for a strict reader, or named by the author.
PINNED_IS_RIGHT_TOO = "wrong-target"
# What a house thinks of a short passage is its own rule, and none is set.
BY_POLICY = "policy"

CODES = {
    # The code that says why, where a case is refused.
    "dup-in-title": "EQ004",
    "cross-paragraph": "EQ006",
    "cross-list-items": "EQ006",
    "cross-table-cells": "EQ006",
    "midword-start": "EQ008",
    "midword-end": "EQ008",
    "occurrence-out-of-range": "EQ022",
    "occurrence-on-unique": "EQ022",
    "export-multiline": "EQ002",
    "jsx-prop-gt": "EQ007",
    "hidden-attr": "EQ007",
    "display-none": "EQ007",
    "image-alt": "EQ007",
    "footnote-marker": "EQ002",
    "entity-amp-source": "EQ002",
    "escape-star-source": "EQ002",
    "math-stars-wrong": "EQ002",
    "lt-gt-prose-wrong": "EQ002",
    "eszett": "EQ003",
    "diacritic-absent": "EQ003",
    "notes-collection-unrouted": "EQ014",
    "md-file-unrouted": "EQ014",
    "nested-folder-unrouted": "EQ014",
    "bom-frontmatter": "EQ002",
    "empty-passage": "EQ020",
}


def rows(name: str) -> list[dict[str, Any]]:
    # Collected when there is no shared data too, so that its absence is one clear skip.
    try:
        path = shared(f"cases/{name}")
    except (pytest.skip.Exception, pytest.fail.Exception):
        return [{"id": "absent"}]
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def compile_row(row: dict[str, Any]) -> tuple[Corpus, Build]:
    entry = {"docId": row["file"].rpartition(".")[0], "passage": row["passage"]}
    entry |= {key: row[key] for key in ("prefix", "occurrence") if row[key] is not None}
    page = row["mdx"].removeprefix("\ufeff").replace("\r\n", "\n")
    corpus = corpus_of({row["file"]: page})
    sidecar = CitationFile(f"{entry['docId']}.citations.json", json.dumps([entry]))
    corpus = Corpus(corpus.documents, (sidecar,))
    return corpus, compiled(corpus, ROUTED if row["id"] in UNROUTED else Settings())


@pytest.mark.parametrize("row", rows("gate-passages.jsonl"), ids=lambda row: row["id"])
def test_passage(row: dict[str, Any]) -> None:
    shared("cases/gate-passages.jsonl")
    corpus, made = compile_row(row)
    codes = sorted({d.code for d in made.diagnostics})
    (bound,) = [verdict.bound for verdict in made.verdicts] or [False]
    assert unproved_links(corpus, made) == []
    if row["right_verdict"] in ("pass", BY_POLICY):
        assert (bound, codes) == (True, [])
        assert not made.failed
        (verdict,) = made.verdicts
        assert verdict.quote is not None
        assert plain(verdict.quote).replace("[1]", "1") == plain(row["passage"])
    elif bound:
        assert row["kind"] == PINNED_IS_RIGHT_TOO
        assert codes == []
    else:
        assert made.failed
        assert not made.files
        if row["id"] in CODES:
            assert set(codes) - {"EQ016"} == {CODES[row["id"]]}


def plain(text: str) -> str:
    """What is left when all is forgiven that no reader calls other wording."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def test_every_row_that_is_refused_has_its_code_listed() -> None:
    shared("cases/gate-passages.jsonl")
    refused = {
        row["id"] for row in rows("gate-passages.jsonl") if not compile_row(row)[1].counts.bound
    }
    assert refused == CODES.keys()


MANIFESTS = {
    "m-empty-array": ["EQ016 .:1:1"],
    "m-misnamed-manifest": ["EQ016 .:1:1", "EQ021 work/a.citation.json:1:1"],
    "m-string-occurrence": ["EQ020 work/a.citations.json:1:68"],
    "m-stale-allowlist-after-failure": ["EQ002 work/a.citations.json:1:2"],
    "m-null-entry": ["EQ020 work/a.citations.json:1:2", "EQ021 work/a.citations.json:1:1"],
    "m-object-manifest": ["EQ020 work/a.citations.json:1:2", "EQ021 work/a.citations.json:1:1"],
    "m-typo-key": ["EQ020 work/a.citations.json:1:20"],
}


@pytest.mark.parametrize("row", rows("gate-manifests.jsonl"), ids=lambda row: row["id"])
def test_folder(row: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shared("cases/gate-manifests.jsonl")
    for path, text in row["files"].items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert row["right_verdict"].startswith("fail")
    status = main(["check", str(tmp_path / "content"), "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    assert status == 1
    root = tmp_path / "content"
    found = [
        f"{d['code']} {Path(d['path']).relative_to(root)}:{d['line']}:{d['column']}"
        for d in report["diagnostics"]
    ]
    assert sorted(found) == MANIFESTS[row["id"]]
    assert report["counts"]["bound"] == 0
    assert all(d["message"] and d["help"] for d in report["diagnostics"])


def test_prevents_an_allowlist_of_the_last_run_being_served_after_a_failure(tmp_path: Path) -> None:
    (row,) = (r for r in rows("gate-manifests.jsonl") if "stale" in r["id"] or r["id"] == "absent")
    shared("cases/gate-manifests.jsonl")
    (passage,) = json.loads(row["files"]["content/work/a.citations.json"])
    for path, text in row["files"].items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("minutes", "seconds"), encoding="utf-8")
    out = tmp_path / "dist"
    command = ["build", str(tmp_path / "content"), "--output", str(out), "-q"]
    assert main(command) == 0
    before = {p.relative_to(out): p.read_bytes() for p in out.rglob("*") if p.is_file()}
    wrong = row["files"]["content/work/a.citations.json"]
    (tmp_path / "content/work/a.citations.json").write_text(wrong, encoding="utf-8")
    assert main(command) == 1
    # What stands is the former site as a whole, whose claims are all true of its own pages.
    after = {p.relative_to(out): p.read_bytes() for p in out.rglob("*") if p.is_file()}
    assert after == before
    assert passage["passage"] not in before[Path("allowlist.json")].decode()
    # And where there was none, none is left.
    fresh = tmp_path / "fresh"
    assert main([*command[:3], str(fresh), "-q"]) == 1
    assert not fresh.exists()
