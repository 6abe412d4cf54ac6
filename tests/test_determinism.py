"""The same input makes the same bytes, whatever the machine, the folder and the time."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CORPUS = Path(__file__).parent / "golden" / "handbook" / "corpus"
ROOT = Path(__file__).parents[1]

KNOWLEDGE = ("header.json", "chunks.json", "words.bin", "vectors.bin", "bridge.bin")

# Each of these has made two builds of one input differ somewhere.
SURROUNDINGS = (
    {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "4242", "TZ": "America/St_Johns", "LC_ALL": "tr_TR.UTF-8"},
    {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "POSIX", "PYTHONUTF8": "0"},
    {"PYTHONHASHSEED": "99", "LANG": "de_DE.ISO-8859-1", "COLUMNS": "40", "PYTHONOPTIMIZE": "1"},
)


def run(
    args: list[str], cwd: Path, surroundings: dict[str, str]
) -> subprocess.CompletedProcess[bytes]:
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    paths = [str(ROOT / "compiler"), str(ROOT / "site_templates" / "functions")]
    environment = {**kept, "PYTHONPATH": os.pathsep.join(paths), **surroundings}
    command = [sys.executable, "-m", "exactquote", *args]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, timeout=120)


def copied(into: Path, seed: int) -> Path:
    """The corpus, its files made in another order and with other times."""
    files = [p for p in sorted(CORPUS.rglob("*")) if p.is_file()]
    random.Random(seed).shuffle(files)
    for number, file in enumerate(files):
        target = into / file.relative_to(CORPUS)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
        os.utime(target, (1_000_000_000 + seed * 86_400 + number,) * 2)
    return into


def output_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_two_builds_of_one_corpus_have_the_same_bytes(tmp_path: Path) -> None:
    outputs = []
    for seed, surroundings in enumerate(SURROUNDINGS):
        folder = copied(tmp_path / f"at {seed}" / ("deep/" * seed) / "corpus", seed)
        # Once from afar, by a whole path, and once from within, by a dot.
        cwd, name = (folder, ".") if seed % 2 else (tmp_path, str(folder))
        out = tmp_path / f"out-{seed}"
        done = run(["build", name, "--output", str(out), "--quiet"], cwd, surroundings)
        assert done.returncode == 0, done.stderr.decode()
        outputs.append(output_of(out))
    assert len(outputs[0]) > 10
    assert {f"knowledge/{name}" for name in KNOWLEDGE} <= outputs[0].keys()
    for other in outputs[1:]:
        assert other == outputs[0]


def test_the_cache_of_vectors_and_the_day_change_no_byte(tmp_path: Path) -> None:
    folder, cache = copied(tmp_path / "corpus", 3), str(tmp_path / "cache")
    outputs = []
    for number, more in enumerate(([cache], [cache], [])):
        out = tmp_path / f"out-{number}"
        kept = ["--cache", *more] if more else ["--no-cache"]
        day = {"SOURCE_DATE_EPOCH": str(1_000_000_000 * (number + 1))}
        command = ["build", str(folder), "--output", str(out), *kept]
        done = run(command, tmp_path, {**SURROUNDINGS[number], **day})
        assert done.returncode == 0, done.stderr.decode()
        told = b"0 embedded" if number == 1 else b", 0 from the cache"
        assert told in done.stdout
        outputs.append(output_of(out))
    assert outputs[0] == outputs[1] == outputs[2]


def test_building_again_over_a_build_changes_no_byte(tmp_path: Path) -> None:
    folder, out = copied(tmp_path / "corpus", 7), tmp_path / "out"
    command = ["build", str(folder), "--output", str(out), "--quiet"]
    assert run(command, tmp_path, SURROUNDINGS[0]).returncode == 0
    first = output_of(out)
    assert run(command, tmp_path, SURROUNDINGS[1]).returncode == 0
    assert output_of(out) == first


@pytest.mark.parametrize("form", ["text", "json"])
def test_two_reports_on_one_corpus_have_the_same_bytes(tmp_path: Path, form: str) -> None:
    reports = set()
    for seed, surroundings in enumerate(SURROUNDINGS):
        folder = copied(tmp_path / f"{seed}", seed)
        page = folder / "index.md"
        page.write_text(page.read_text(encoding="utf-8") + "\n[No](cite:index 'Never said.')\n")
        surroundings = {**surroundings, "NO_COLOR": "1", "COLUMNS": "80"}
        done = run(["check", ".", "--format", form], folder, surroundings)
        assert done.returncode == 1, done.stderr.decode()
        reports.add(done.stdout)
    assert len(reports) == 1


def test_prevents_a_build_that_depends_on_what_was_built_before(tmp_path: Path) -> None:
    changed, plain = copied(tmp_path / "changed", 1), copied(tmp_path / "plain", 2)
    out = tmp_path / "out"
    page = changed / "index.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(text + "\nA line more.\n", encoding="utf-8")
    command = ["build", str(changed), "--output", str(out), "--quiet"]
    assert run(command, tmp_path, SURROUNDINGS[0]).returncode == 0
    first = output_of(out)
    page.write_text(text, encoding="utf-8")
    assert run(command, tmp_path, SURROUNDINGS[0]).returncode == 0
    fresh = tmp_path / "fresh"
    command = ["build", str(plain), "--output", str(fresh), "--quiet"]
    assert run(command, tmp_path, SURROUNDINGS[0]).returncode == 0
    assert output_of(out) == output_of(fresh) != first
