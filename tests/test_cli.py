"""The command line as its users meet it: output, exit codes, and what is left on the disk."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import threading
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exactquote import __version__, cli
from exactquote.cli.demo import _made_up
from exactquote.cli.schema import NAMES
from exactquote.cli.starter import CORPUS
from exactquote.codes import CODES
from tests.shared_data import shared

ROOT = Path(__file__).parents[1]
SCHEMAS = ROOT / "compiler/exactquote/schemas"
TRUE = '[{"doc": "index", "quote": "The kiln is fired on Fridays only."}]'
FALSE = '[{"doc": "index", "quote": "The kiln is fired on Mondays only."}]'
PAGE = "<!doctype html><title>T</title><p>The kiln is fired on Fridays only.</p>"


@dataclass(frozen=True)
class Ran:
    """What a run left: its exit code and what it printed."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Any:
    """Runs the command line in an empty folder, in this process."""
    monkeypatch.chdir(tmp_path)

    def run(*args: str) -> Ran:
        capfdbinary.readouterr()
        code = cli.main(args)
        out, err = capfdbinary.readouterr()
        return Ran(code, out.decode(), err.decode())

    return run


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def held(root: Path) -> dict[str, bytes]:
    files = (file for file in root.rglob("*") if file.is_file())
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in files}


def process(*args: str, cwd: Path, **options: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "exactquote", *args],
        cwd=cwd,
        env=options.pop("env", dict(os.environ)) | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=options.pop("stderr", subprocess.PIPE),
        **options,
    )


# files, arguments, exit code, parts of the output, parts that must not be there
CHECKS: dict[str, tuple[dict[str, str], list[str], int, list[str], list[str]]] = {
    "clean": (CORPUS, ["check"], 0, ["2 of 2 citations bound in 1 document"], ["EQ0"]),
    "in a folder named": (
        {f"docs/{path}": text for path, text in CORPUS.items()},
        ["check", "docs"],
        0,
        ["2 of 2 citations bound"],
        [],
    ),
    "corpus is preferred to the working folder": (
        {"index.md": "x", **{f"corpus/{path}": text for path, text in CORPUS.items()}},
        ["check"],
        0,
        ["in 1 document"],
        [],
    ),
    "a passage that is not there": (
        {**CORPUS, "index.citations.json": FALSE},
        ["check"],
        1,
        ["index.citations.json:1:2 EQ00", "    1 | [{", "      |  ^", "1 of 2 citations bound"],
        [],
    ),
    "quiet says findings only": (
        {**CORPUS, "index.citations.json": FALSE},
        ["check", "-q"],
        1,
        ["index.citations.json:1:2 EQ00"],
        ["citations bound", "not that it supports"],
    ),
    "quiet and clean says nothing": (CORPUS, ["check", "--quiet"], 0, [], ["b", "e"]),
    "verbose lists the bound": (
        CORPUS,
        ["check", "--verbose"],
        0,
        ["index.citations.json:2:3 bound kiln-day index.html#"],
        [],
    ),
    "nothing to check": ({"index.md": "# T\n\nText.\n"}, ["check"], 1, ["EQ016"], []),
    "an empty folder": ({}, ["check"], 1, ["EQ016"], []),
    "nothing to check, and that is meant": (
        {"index.md": "# T\n\nText.\n", "exactquote.toml": "allow_empty = true"},
        ["check"],
        0,
        ["0 of 0 citations bound"],
        ["EQ016"],
    ),
    "a stray citation file": (
        {**CORPUS, "gone.citations.json": FALSE},
        ["check"],
        1,
        ["gone.citations.json:1:1 EQ021", "cure: name it after its document", "EQ00"],
        [],
    ),
    "a built site, seen by itself": (
        {"a/index.html": PAGE.replace("T<", "A<"), "index.html": PAGE, "c.json": TRUE},
        ["check", ".", "--citations", "c.json"],
        0,
        ["1 of 1 citation bound in 2 documents"],
        ["EQ0"],
    ),
    "a built site beside Markdown": (
        {"README.md": "x", "index.html": PAGE, "c.json": TRUE},
        ["check", "--site", ".", "--citations", "c.json"],
        0,
        ["1 of 1 citation bound in 1 document"],
        [],
    ),
    "several citation files in a row": (
        {"index.html": PAGE, "c/a.json": TRUE, "c/b.json": TRUE, "c/d.json": FALSE},
        ["check", ".", "--citations", "c/a.json", "c/b.json", "--citations", "c/d.json"],
        1,
        ["2 of 3 citations bound", "c/d.json:1:2 EQ00"],
        ["c/a.json"],
    ),
    "citation files before the folder": (
        {"site/index.html": PAGE, "a.json": TRUE},
        ["check", "--citations", "a.json", "site"],
        0,
        ["1 of 1 citation bound"],
        [],
    ),
    "a malformed citation file": (
        {"index.html": PAGE, "a.json": "[null]"},
        ["check", ".", "--citations", "a.json"],
        1,
        ["a.json:1:2 EQ020"],
        ["Traceback"],
    ),
}


@pytest.mark.parametrize("name", CHECKS)
def test_check(run: Any, tmp_path: Path, name: str) -> None:
    files, args, code, parts, absent = CHECKS[name]
    write(tmp_path, files)
    before = held(tmp_path)
    ran = run(*args)
    assert (ran.code, ran.err.replace("configuration: none, all defaults\n", "")) == (code, "")
    for part in parts:
        assert part in ran.out
    for part in absent:
        assert part not in ran.out
    assert held(tmp_path) == before, "a check wrote to the disk"


@pytest.mark.parametrize("name", CHECKS)
def test_json_is_one_valid_object_with_the_same_verdict(
    run: Any, tmp_path: Path, name: str
) -> None:
    files, args, code, _, _ = CHECKS[name]
    write(tmp_path, files)
    ran = run(
        *(word for word in args if not word.startswith(("-q", "-v", "--q", "--v"))), "--format=json"
    )
    assert (ran.code, ran.err) == (code, "")
    report = json.loads(ran.out)
    schema = json.loads((SCHEMAS / "report.schema.json").read_text())
    jsonschema.validate(report, schema, cls=jsonschema.Draft202012Validator)
    errors = [found for found in report["diagnostics"] if found["severity"] == "error"]
    assert bool(errors) is (code == 1)
    bound = sum(citation["status"] == "bound" for citation in report["citations"])
    assert report["counts"]["bound"] == bound
    assert report["counts"]["refused"] == len(report["citations"]) - bound


# files, arguments, part of the message
WRONG_USE: dict[str, tuple[dict[str, str], list[str], str]] = {
    "no command": ({}, [], "Usage: exactquote"),
    "an unknown command": ({}, ["chek"], "no such command 'chek'; did you mean check?"),
    "an unknown option": (CORPUS, ["check", "--frmat", "json"], "--format"),
    "an unknown format": (CORPUS, ["check", "--format", "xml"], "'xml'"),
    "quiet and verbose": (CORPUS, ["check", "-q", "-v"], "exclude each other"),
    "two folders": (CORPUS, ["check", "a", "b"], "unexpected extra argument"),
    "no such folder": ({}, ["check", "absent"], "absent: no such folder"),
    "a file as folder": (CORPUS, ["check", "index.md"], "index.md is a file"),
    "no such configuration": (CORPUS, ["check", "--config", "x.toml"], "x.toml: no such"),
    "a bad configuration": (
        {**CORPUS, "exactquote.toml": "titel = 'x'"},
        ["check"],
        "exactquote.toml:1:1: unknown key titel; did you mean title?",
    ),
    "a silenced promise": (
        {**CORPUS, "exactquote.toml": "[severity]\nEQ002 = 'off'"},
        ["check"],
        "exactquote.toml:2:1: EQ002 (absent) is part of the promise",
    ),
    "no such citations": (CORPUS, ["check", "--citations", "x.json"], "x.json: no such"),
    "citations of no known kind": (
        {**CORPUS, "x.txt": "[]"},
        ["check", "--citations", "x.txt"],
        "x.txt: a citation file ends in .json, .yaml, .yml, .toml",
    ),
    "a folder with a control character": ({}, ["check", "a\x1b[2Jb"], "a\\x1b[2Jb: no such"),
    "a folder not named in UTF-8": ({}, ["check", os.fsdecode(b"a\xff")], "a\\udcff: no such"),
    "output over the corpus": (CORPUS, ["build", ".", "-o", "."], ". is the corpus or holds it"),
    "output over what is not ours": (
        {**{f"corpus/{path}": text for path, text in CORPUS.items()}, "dist/thesis.md": "x"},
        ["build"],
        "dist is not empty and has no build.json of ours",
    ),
    "output at a file": (
        {**{f"corpus/{path}": text for path, text in CORPUS.items()}, "dist": "x"},
        ["build"],
        "dist is a file",
    ),
    "a built site built": ({"index.html": PAGE}, ["build", "."], "exactquote check ."),
    "sources served": (CORPUS, ["serve", ".", "--port", "0"], ". has no build.json, so it is no"),
    "nothing to serve": ({}, ["serve"], "dist: no such folder"),
    "an unknown code": ({}, ["explain", "repeatd"], "near are EQ004 (repeated)"),
    "a code that is none": ({}, ["explain", "zzzz"], "`exactquote explain` lists all"),
    "an unknown schema": ({}, ["schema", "chat"], "'chat'"),
    "init over a file": ({"exactquote.toml": "x"}, ["init"], "exactquote.toml exists already"),
    "a demo of nothing": ({"a.md": "Text."}, ["demo", "."], "needs a corpus that is clean"),
    "a demo of faults": (
        {**CORPUS, "index.citations.json": FALSE},
        ["demo", "."],
        "needs a corpus that is clean",
    ),
}


@pytest.mark.parametrize("name", WRONG_USE)
def test_wrong_use_ends_with_2_and_one_message(run: Any, tmp_path: Path, name: str) -> None:
    files, args, message = WRONG_USE[name]
    write(tmp_path, files)
    before = held(tmp_path)
    ran = run(*args)
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert "\x1b" not in ran.err
    if args[:1] != ["demo"]:
        assert ran.out == ""
    assert held(tmp_path) == before


def test_a_new_corpus_builds_and_nothing_is_overwritten(run: Any, tmp_path: Path) -> None:
    assert run("init", "new").code == 0
    made = held(tmp_path / "new")
    assert sorted(made) == [
        "corpus/index.citations.json",
        "corpus/index.md",
        "exactquote.toml",
    ]
    again = run("init", "new")
    assert (again.code, held(tmp_path / "new")) == (2, made)
    ran = run("build", "new/corpus", "--output", "new/dist")
    assert ran.code == 0
    assert "2 of 2 citations bound" in ran.out
    assert "Wrote " in ran.out
    assert (tmp_path / "new/dist/index.html").is_file()


def test_the_new_configuration_names_only_keys_that_exist(tmp_path: Path, run: Any) -> None:
    run("init")
    text = (tmp_path / "exactquote.toml").read_text()
    settable = [line[2:] for line in text.split("\n") if " = " in line or line.startswith("# [")]
    assert len(settable) > 12
    (tmp_path / "exactquote.toml").write_text("\n".join(settable))
    assert run("check").code == 0


def test_prevents_a_failed_build_from_touching_the_site(run: Any, tmp_path: Path) -> None:
    run("init")
    assert run("build").code == 0
    before = held(tmp_path / "dist")
    assert {"index.html", "allowlist.json", "build.json"} <= set(before)
    write(tmp_path, {"corpus/index.citations.json": FALSE})
    ran = run("build")
    assert ran.code == 1
    assert "Nothing was written; dist is as it was before." in ran.out
    assert held(tmp_path / "dist") == before
    assert sorted(os.listdir(tmp_path)) == ["corpus", "dist", "exactquote.toml"]


def test_a_failed_first_build_leaves_no_output(run: Any, tmp_path: Path) -> None:
    write(tmp_path, {**CORPUS, "index.citations.json": FALSE})
    ran = run("build", ".", "-o", "out")
    assert ran.code == 1
    assert "Nothing was written.\n" in ran.out
    assert not (tmp_path / "out").exists()


def test_build_json_is_as_that_of_check(run: Any, tmp_path: Path) -> None:
    run("init")
    built, checked = run("build", "--format", "json"), run("check", "--format", "json")
    told, proved = json.loads(built.out), json.loads(checked.out)
    # A check makes no index, and what is no part of it is no part of its id.
    assert told | {"build_id": ""} == proved | {"build_id": ""}
    record = json.loads((tmp_path / "dist/build.json").read_text())
    assert record["build_id"] == json.loads(built.out)["build_id"]


def test_prevents_the_output_of_one_build_from_being_the_corpus_of_the_next(
    run: Any, tmp_path: Path
) -> None:
    write(tmp_path, CORPUS)
    for _ in range(2):
        assert run("build", ".", "--output", "site/out").code == 0
        first = held(tmp_path / "site/out")
    assert run("build", ".", "--output", "site/out").code == 0
    assert held(tmp_path / "site/out") == first
    assert "in 1 document " in run("check", ".").out


@pytest.mark.parametrize("where", ["given", "found", "shipped", "site"])
def test_the_demo_refuses_exactly_the_made_up_passage(run: Any, tmp_path: Path, where: str) -> None:
    files = {
        "given": CORPUS,
        "shipped": {},
        "site": {"index.html": PAGE, "index.citations.json": TRUE},
    }
    write(tmp_path, files.get(where) or {f"corpus/{p}": t for p, t in CORPUS.items()})
    if where == "shipped":
        shutil.rmtree(tmp_path / "corpus", ignore_errors=True)
    before = held(tmp_path)
    args = ["."] if where in ("given", "site") else []
    ran = run("demo", *args)
    assert ran.code == 0, ran.out
    assert 'nobody wrote: "The kiln is never fired on Fridays only."' in ran.out
    assert "EQ002" in ran.out
    assert "cure:" in ran.out
    assert "Passed:" in ran.out
    report = json.loads(run("demo", *args, "--format", "json").out)
    assert report["passed"] is True
    counts = report["before"]["counts"], report["after"]["counts"]
    assert counts[1]["bound"] == counts[0]["bound"] > 0
    assert (counts[0]["refused"], counts[1]["refused"]) == (0, 1)
    assert held(tmp_path) == before


def test_prevents_a_demo_that_passes_while_the_gate_is_open(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The "made-up" passage is a true one here, so that the gate rightly binds it.
    monkeypatch.setattr("exactquote.cli.demo._made_up", lambda quote: quote)
    ran = run("demo")
    assert ran.code == 1
    assert "FAILED" in ran.out


@given(st.text(min_size=1).filter(str.strip))
def test_a_made_up_passage_is_another_one(quote: str) -> None:
    assert _made_up(quote) != " ".join(quote.split())
    assert "never" in _made_up(quote).split()


@pytest.mark.parametrize("name", ["EQ004", "eq4", "4", "004", "repeated", "Repeated", "EQ-004"])
def test_a_code_is_explained_by_any_of_its_names(run: Any, name: str) -> None:
    ran = run("explain", name)
    assert ran.code == 0
    assert ran.out.startswith("# EQ004 repeated\n")
    assert "\n---\n" not in ran.out
    assert "summary:" not in ran.out


@pytest.mark.parametrize("code", CODES.values(), ids=list(CODES))
def test_every_code_is_explained_and_listed(run: Any, code: Any) -> None:
    ran = run("explain", code.name)
    assert ran.out.startswith(f"# {code.code} {code.name}\n")
    assert len(ran.out) > 200
    listed = run("explain").out
    assert f"\n{code.code}  {code.severity}" in f"\n{listed}"
    assert json.loads(run("explain", code.code, "--format", "json").out)["core"] is code.core


@pytest.mark.parametrize("name", NAMES)
def test_every_schema_is_printed(run: Any, name: str) -> None:
    ran = run("schema", name)
    assert ran.code == 0
    jsonschema.Draft202012Validator.check_schema(json.loads(ran.out))


def test_the_version_is_printed(run: Any) -> None:
    for flag in ("--version", "-V"):
        assert run(flag) == Ran(0, f"exactquote {__version__}\n", "")


@pytest.mark.parametrize("command", ["", *cli.exactquote.commands])
def test_help_teaches(run: Any, command: str) -> None:
    args = [command] if command else []
    ran = run(*args, "--help")
    assert ran.code == 0
    assert ran.err == ""
    if command in ("", "check", "build", "demo", "gaps", "forget", "replay"):
        assert "Exit codes" in ran.out
    if command in ("", "check", "build", "serve", "explain", "gaps", "forget", "replay"):
        assert "Examples:" in ran.out
    assert run(*args, "-h") == ran


def test_a_bug_of_ours_says_so_and_shows_its_trace_only_when_asked(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, CORPUS)

    def broken(*args: object, **named: object) -> None:
        raise RuntimeError("a wire is \x1b[31mloose")

    monkeypatch.setattr("exactquote.pipeline.check", broken)
    ran = run("check")
    assert (ran.code, ran.out) == (3, "")
    assert "this is a bug of ours" in ran.err
    assert "RuntimeError: a wire is \\x1b[31mloose" in ran.err
    assert __version__ in ran.err
    assert "Traceback" not in ran.err
    loud = run("check", "-v")
    assert loud.code == 3
    assert "Traceback" in loud.err


def test_ctrl_c_ends_a_run_without_a_trace(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, CORPUS)

    def interrupted(*args: object, **named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("exactquote.pipeline.check", interrupted)
    assert run("check") == Ran(130, "", "\nexactquote: interrupted\n")


def test_a_reader_that_has_gone_changes_no_exit_code(tmp_path: Path) -> None:
    for files, code in ((CORPUS, 0), ({**CORPUS, "index.citations.json": FALSE}, 1)):
        write(tmp_path, files)
        reading, writing = os.pipe()
        os.close(reading)
        run = process("check", "-v", cwd=tmp_path, stdout=writing)
        os.close(writing)
        _, err = run.communicate(timeout=60)
        assert run.returncode == code
        assert err in (b"configuration: none, all defaults\n",)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_report_that_cannot_be_printed_is_no_success(tmp_path: Path) -> None:
    write(tmp_path, CORPUS)
    with open("/dev/full", "wb") as full:
        run = process("check", cwd=tmp_path, stdout=full)
        _, err = run.communicate(timeout=60)
    assert (run.returncode, err) == (
        2,
        b"exactquote: the report can't be printed: No space left on device\n",
    )


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_any_locale_prints_the_same_bytes(tmp_path: Path, locale: str) -> None:
    write(tmp_path, {"größe.md": '# 日本\n\n[x](cite:größe "fehlt – 日本")\n'})
    plain = dict(os.environ) | {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    outputs = []
    for env in (plain, dict(os.environ) | {"PYTHONUTF8": "1"}):
        run = process("check", cwd=tmp_path, env=env)
        out, err = run.communicate(timeout=60)
        assert (run.returncode, err) == (1, b"")
        outputs.append(out)
    assert outputs[0].decode() == outputs[1].decode()
    assert "größe.md:3:1 EQ002".encode() in outputs[1]


def on_terminal(cwd: Path, *args: str, **variables: str) -> str:
    ours, theirs = pty.openpty()
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"}
    run = process(*args, cwd=cwd, stdout=theirs, stderr=theirs, env=env | variables)
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    run.wait(timeout=60)
    os.close(ours)
    return seen.decode()


def test_colour_and_progress_are_for_terminals_that_want_them(run: Any, tmp_path: Path) -> None:
    write(tmp_path, {**CORPUS, "index.citations.json": FALSE})
    seen = on_terminal(tmp_path, "check")
    assert "\x1b[31mEQ002\x1b[0m" in seen or "\x1b[31mEQ003\x1b[0m" in seen
    assert "\r\x1b[K" in seen
    for args, variables in (
        (["--no-color", "-q"], {}),
        (["-q"], {"NO_COLOR": "1"}),
        (["-q"], {"TERM": "dumb"}),
        (["-q", "--format", "json", "--no-color"], {}),
    ):
        assert "\x1b" not in on_terminal(tmp_path, "check", *args, **variables)
    piped = run("check")
    assert "\x1b" not in piped.out + piped.err


def test_serve_answers_until_ctrl_c(tmp_path: Path) -> None:
    write(tmp_path, {"dist/index.html": PAGE, "dist/build.json": '{"files": {}}'})
    server = process("serve", "--port", "0", cwd=tmp_path)
    timer = threading.Timer(120, server.kill)
    timer.start()
    try:
        assert server.stdout is not None
        line = server.stdout.readline().decode()
        url = line.split(" at ")[1].split(" ")[0]
        assert url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(url, timeout=10) as answer:
            assert answer.read().decode() == PAGE
        busy = process("serve", "--port", url.rstrip("/").rpartition(":")[2], cwd=tmp_path)
        _, err = busy.communicate(timeout=60)
        assert busy.returncode == 2
        assert b"can't listen on 127.0.0.1" in err
        server.send_signal(signal.SIGINT)
        _, err = server.communicate(timeout=30)
        assert (server.returncode, err) == (0, b"stopped\n")
    finally:
        timer.cancel()
        server.kill()


def test_the_56_citations_of_a_published_site_are_bound(run: Any) -> None:
    ran = run("check", str(shared("data/trigsight/content")))
    assert ran.code == 0
    assert "56 of 56 citations bound in 9 documents" in ran.out


def naughty() -> list[str]:
    strings: list[str] = json.loads(shared("suites/blns/blns.json").read_text(encoding="utf-8"))
    return [text for text in strings if text]


def only_known_ends(ran: Ran) -> None:
    assert ran.code in (0, 1, 2), ran.err
    assert "Traceback" not in ran.err
    assert not set(ran.out + ran.err) & set("\x1b\x00\x07\u202e\u2066\u200f")


@pytest.mark.parametrize("part", range(4))
def test_prevents_a_trace_for_any_naughty_text(run: Any, tmp_path: Path, part: int) -> None:
    entries = []
    for i, text in enumerate(naughty()[part::4]):
        title = json.dumps(text)
        body = f"---\ntitle: {title}\n---\n\n# {text}\n\nBefore {text} after.\n\n{text}\n"
        cited = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
        body += f'\n[{text}](cite:p{i} "{cited}")\n'
        write(tmp_path / "corpus", {f"p{i}.md": body, f"q{i}.mdx": f"{text}\n"})
        entries.append({"doc": f"p{i}", "quote": text, "claim": text})
    write(tmp_path / "corpus", {"p0.citations.json": json.dumps(entries)})
    built, checked = run("build"), run("check", "--format", "json")
    only_known_ends(built)
    only_known_ends(Ran(checked.code, "", checked.err))
    assert built.code == checked.code == 1
    assert len(json.loads(checked.out)["citations"]) >= len(entries)


def test_prevents_a_trace_for_any_json_file_as_citations(run: Any, tmp_path: Path) -> None:
    files = sorted(shared("suites/JSONTestSuite").glob("test_*/*.json"))
    assert len(files) > 300
    for i, file in enumerate(files):
        write(tmp_path, {f"n{i}.md": "# T\n\nText.\n"})
        shutil.copyfile(file, tmp_path / f"n{i}.citations.json")
    ran = run("check", ".", "--format", "json")
    only_known_ends(Ran(ran.code, "", ran.err))
    told = {found["path"] for found in json.loads(ran.out)["diagnostics"]}
    for i, file in enumerate(files):
        # Not one of them is a list of citations; only the empty list is a valid one.
        empty = file.read_bytes().strip() == b"[]"
        assert (f"n{i}.citations.json" in told) is not empty, file.name


def test_prevents_a_trace_for_any_naughty_file_name(run: Any, tmp_path: Path) -> None:
    made = 0
    for i, text in enumerate(naughty()):
        for name in (f"{text}.md", f"{text}/x.md", f"{text}.citations.json"):
            try:
                file = tmp_path / f"n{i}" / name.lstrip("/")
                if not file.resolve().is_relative_to(tmp_path):
                    continue
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("# T\n\nThe kiln is fired on Fridays only.\n")
                made += 1
            except (OSError, ValueError):
                # The operating system itself doesn't allow such a name.
                continue
    assert made > 1000
    ran = run("check", ".")
    only_known_ends(ran)
    assert ran.code == 1
    assert ran.out.count("EQ0") > 500
    only_known_ends(run("build", ".", "-o", str(tmp_path.parent / "naughty-dist")))


def test_prevents_a_trace_for_any_naughty_argument(run: Any, tmp_path: Path) -> None:
    write(tmp_path, CORPUS)
    for text in naughty():
        only_known_ends(run("explain", "--", text))
        only_known_ends(run("check", "--", text))
        only_known_ends(run("check", "--config", text))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80), st.data())
def test_prevents_a_trace_for_any_text_and_citation(
    run: Any, tmp_path: Path, text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text)))
    quote = text[start : data.draw(st.integers(start, len(text)))]
    sidecar = json.dumps([{"doc": "a", "quote": quote}])
    write(tmp_path, {"a.md": f"# T\n\n{text}\n", "a.citations.json": sidecar})
    only_known_ends(run("check", "."))
