"""Full disks, big files and deep pages: nothing is cut without a word."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .driver import OURS, cites, codes, found, run, run_build, run_check, statuses, tree, write

OK = '# Ok\n\nThe pump is off.\n\n[Said](cite:ok "The pump is off.").\n'


def _small_files_only() -> None:
    """Let every file that grows over four kilobytes fail to be written, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def _lines(count: int) -> str:
    return "\n\n".join(f"Line {n} says that pump {n} is off." for n in range(count))


def test_prevents_a_full_disk_from_leaving_half_a_site(tmp_path: Path) -> None:
    exit_code, _, out = run_build(tmp_path, {"ok.md": OK})
    before = tree(out)
    assert exit_code == 0
    write(tmp_path / "corpus", {"more.md": "# More\n\n" + _lines(900)})
    corpus = tmp_path / "corpus"
    done = run("build", corpus, "--output", out, before=_small_files_only)
    assert done.returncode not in (0, 3)
    assert "Traceback" not in done.stderr
    assert tree(out) == before
    beside = {path.name for path in tmp_path.iterdir()}
    assert beside == {"corpus", "dist"}
    exit_code, _, out = run_build(tmp_path, {})
    assert exit_code == 0
    assert "more.html" in tree(out)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("form", ["text", "json"])
def test_prevents_a_report_that_was_cut_from_counting_as_clean(tmp_path: Path, form: str) -> None:
    folder = write(tmp_path / "corpus", {"ok.md": OK})
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "exactquote", "check", str(folder), "--format", form],
            env=OURS,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr


def test_prevents_a_file_that_is_too_big_from_stopping_without_a_name(tmp_path: Path) -> None:
    files = {"ok.md": OK, "deep/huge.md": "# Huge\n\n" + "It hums along. " * 800_000}
    exit_code, report, _ = run_check(tmp_path, files, seconds=60)
    assert exit_code in (1, 2)
    (one,) = found(report, "EQ024")
    assert one["path"].endswith("deep/huge.md")
    assert report["counts"]["bound"] == 1


def test_prevents_a_large_page_from_stopping_the_build(tmp_path: Path) -> None:
    lines = [f"Line {n} says that pump {n} is off." for n in range(25_000)]
    page = "# Large\n\n" + "\n\n".join(lines) + "\n"
    assert len(page) > 900_000
    exit_code, report, _ = run_check(
        tmp_path,
        {"large.md": page, "large.citations.json": cites("large", [lines[0], lines[-1]])},
        seconds=180,
    )
    assert (exit_code, statuses(report)) == (0, {"c0": "bound", "c1": "bound"})
    assert report["counts"]["passages"] >= len(lines)


def test_prevents_a_long_page_from_being_cut_silently(tmp_path: Path) -> None:
    lines = [f"Row {n} of the log." for n in range(7_000)]
    nested = "\n".join("  " * n + f"- Level {n} of the list." for n in range(20))
    quoted = "> " * 20 + "The innermost words."
    page = "# Long\n\n" + "\n".join(lines) + f"\n\n{nested}\n\n{quoted}\n\nThe very last words.\n"
    wanted = {
        "row": lines[-1],
        "item": "Level 19 of the list.",
        "quoted": "The innermost words.",
        "last": "The very last words.",
    }
    # Vectors of so many sentences take a minute, and have no part in this.
    words = '[knowledge]\nembedder = "none"\n'
    exit_code, report, out = run_build(
        tmp_path,
        {
            "long.md": page,
            "long.citations.json": cites("long", wanted),
            "exactquote.toml": words,
        },
    )
    assert exit_code == 0, report["diagnostics"]
    assert statuses(report) == dict.fromkeys(wanted, "bound")
    html = (out / "long.html").read_text(encoding="utf-8")
    assert all(quote in html for quote in wanted.values())


def test_prevents_repeated_sentences_from_taking_squared_time(tmp_path: Path) -> None:
    page = "# Log\n\n" + "It hums. " * 5_000 + "\n"
    words = '[knowledge]\nembedder = "none"\n'
    files = {"ok.md": OK, "log.md": page, "exactquote.toml": words}
    exit_code, _, _ = run_build(tmp_path, files)
    assert exit_code == 0


def test_prevents_a_repeated_quote_from_taking_squared_time(tmp_path: Path) -> None:
    page = "# Log\n\n" + "It hums and it glows. " * 5_000 + "\n\n" + "It hums.\n\n" * 3_000
    exit_code, report, _ = run_check(
        tmp_path, {"log.md": page, "log.citations.json": cites("log", {"hum": "It hums"})}
    )
    assert (exit_code, codes(report)) == (1, {"EQ004"})


DEEP = {
    "quotes": "> " * 300 + "The innermost words.",
    "lists": "\n".join("  " * n + "- Item." for n in range(300)) + "\n" + "  " * 300 + "- Deep.",
    "emphasis": "*a **b " * 300 + "c" + "** d*" * 300,
    "html": "<div>" * 300 + "\n\nThe innermost words.\n\n" + "</div>" * 300,
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_prevents_deep_nesting_from_dropping_text_silently(tmp_path: Path, text: str) -> None:
    exit_code, report, _ = run_check(
        tmp_path,
        {
            "deep.md": f"# Deep\n\n{text}\n\nThe very last words.\n",
            "deep.citations.json": cites("deep", {"last": "The very last words."}),
        },
    )
    # Either the whole page is there, or the depth is an error.
    if "EQ028" in codes(report):
        assert exit_code == 1
        assert all(one["line"] >= 3 for one in found(report, "EQ028"))
    else:
        assert (exit_code, statuses(report)) == (0, {"last": "bound"})


def test_prevents_a_report_that_is_no_json(tmp_path: Path) -> None:
    folder = write(tmp_path / "corpus", {"ok.md": OK, "bad.md": "---\na: [\n---\n"})
    done = run("check", folder, "--format", "json")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert set(report) == {"version", "build_id", "counts", "citations", "diagnostics"}
    assert report["version"] == 1
    names = {"code", "name", "severity", "path", "line", "column", "message", "help", "related"}
    assert all(set(one) == names for one in report["diagnostics"])
