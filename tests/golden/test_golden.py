"""Whole builds, file by file; `pytest --update` writes them anew, and the diff is to be read."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from exactquote.cli import main
from exactquote_site.knowledge.base import KnowledgeBase, rows_of
from exactquote_site.knowledge.stored import BRIDGE_PATH, VECTORS_PATH, WORDS_PATH

HERE = Path(__file__).parent
# The build id follows from every input, the style sheet of the site included, so it says
# nothing in a diff; the same is true of what hashes it.
BUILD_ID = re.compile(r'((?:build_id"\s*:\s*|exactquote-build" content=)")[0-9a-f]{16}')


def test_handbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update: bool) -> None:
    monkeypatch.chdir(HERE / "handbook")
    out = tmp_path / "out"
    assert main(["build", "corpus", "--output", str(out), "--quiet"]) == 0
    made = {str(p.relative_to(out)): p.read_bytes() for p in sorted(out.rglob("*")) if p.is_file()}
    hashes = json.loads(made.pop("build.json"))["files"]
    assert hashes == {
        path: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        for path, content in made.items()
    }
    base = KnowledgeBase.load(lambda path: made[path])
    assert base.vectors is not None
    assert len(base.chunks) == base.postings.count
    assert len(base.vectors) == len(rows_of(base.chunks))
    # How the site looks is no matter of this test; all that its pages say is. The indexes are
    # made of the chunks, and say nothing in a diff.
    apart = ("assets/", WORDS_PATH, VECTORS_PATH, BRIDGE_PATH)
    texts = {p: c.decode() for p, c in made.items() if not p.startswith(apart)}
    assert (
        len({found[0][-16:] for text in texts.values() for found in BUILD_ID.finditer(text)}) == 1
    )
    compare(texts, HERE / "handbook" / "expected", update)


def test_chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update: bool) -> None:
    """A site that can be asked: what its pages and its function are told, not how that is done."""
    monkeypatch.chdir(HERE / "chat")
    out = tmp_path / "out"
    assert main(["build", "corpus", "--output", str(out), "--quiet"]) == 0
    made = ("index.html", "404.html", "functions/chat.json", "functions/requirements.txt")
    compare(
        {path: (out / path).read_text("utf-8") for path in made}, HERE / "chat/expected", update
    )


@pytest.mark.parametrize("form", ["text", "json"])
def test_foreign(
    form: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], update: bool
) -> None:
    monkeypatch.chdir(HERE / "foreign")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    before = {p: p.stat().st_mtime_ns for p in sorted(Path("site").rglob("*"))}
    assert main(["check", "site", "--format", form]) == 1
    said = capsys.readouterr()
    assert said.err == ""
    assert {p: p.stat().st_mtime_ns for p in sorted(Path("site").rglob("*"))} == before
    compare({f"report.{form}": said.out}, HERE / "foreign" / f"expected-{form}", update)


def compare(made: dict[str, str], expected: Path, update: bool) -> None:
    made = {path: BUILD_ID.sub(r"\g<1>0000000000000000", text) for path, text in made.items()}
    if update:
        for path in sorted(expected.rglob("*"), reverse=True):
            if path.is_file() and str(path.relative_to(expected)) not in made:
                path.unlink()
        for name, text in made.items():
            (expected / name).parent.mkdir(parents=True, exist_ok=True)
            (expected / name).write_text(text, encoding="utf-8", newline="")
    wanted = {
        str(path.relative_to(expected)): path.read_bytes().decode()
        for path in sorted(expected.rglob("*"))
        if path.is_file()
    }
    assert made.keys() == wanted.keys()
    for name, text in made.items():
        assert text == wanted[name], name
