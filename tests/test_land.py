"""`exactquote land`: which links are opened, what is made of the answers, and what it leaves."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from exactquote import cli
from exactquote.browsers import links
from exactquote.browsers.landing import Landing, Target
from exactquote.browsers.oracle import Found, Link, Missing, Result, Unavailable
from exactquote.browsers.telling import promised
from exactquote.cli import land
from exactquote.deeplink.directive import parse
from exactquote.disk.build_dir import read_build
from exactquote.model import Span
from exactquote.rendered.page import read_page
from exactquote.report.landing import Asked, outcome
from tests.browser.landing import BROWSERS

ROOT = Path(__file__).parents[1]
SCHEMA = json.loads((ROOT / "compiler/exactquote/schemas/land.schema.json").read_text())
CORPUS = {
    "index.md": (
        "# Hours\n\nThe workshop opens at nine. It is closed on Mondays. Ask at the desk.\n\n"
        "## Kiln\n\nThe kiln is hot. It is closed on Mondays. No one may touch it.\n\n"
        "- Ask first.\n- Ask first.\n- Ask first.\n- Ask first.\n"
    ),
    "index.citations.json": json.dumps(
        [
            {"id": "nine", "doc": "index", "quote": "The workshop opens at nine."},
            {"id": "second", "doc": "index", "quote": "It is closed on Mondays.", "occurrence": 1},
        ]
    ),
}
PAGE = "<!doctype html><title>T</title><p>The kiln is fired on Fridays only.</p>"
BOTH = ("chromium", "firefox")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a small corpus and its build in dist/."""
    monkeypatch.chdir(tmp_path)
    for path, text in CORPUS.items():
        (tmp_path / "corpus").mkdir(exist_ok=True)
        (tmp_path / "corpus" / path).write_text(text, encoding="utf-8")
    assert cli.main(["build", "-q"]) == 0
    return tmp_path


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., tuple[int, str, str]]:
    """Runs `land` in this process."""

    def run(*args: str) -> tuple[int, str, str]:
        capfdbinary.readouterr()
        code = cli.main(["land", *args])
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    return run


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[Link]:
    """Has every browser land exactly at once; gives the links that it was asked to open."""
    return answering(monkeypatch, lambda link: [exact(link)])


def answering(
    monkeypatch: pytest.MonkeyPatch, answer: Callable[[Link], Sequence[Landing]]
) -> list[Link]:
    opened: list[Link] = []

    def judge(
        links: Sequence[Link], names: Sequence[Any], heard: Any, *, workers: int
    ) -> list[Result]:
        assert workers >= 1
        opened.extend(links)
        results = []
        for link in links:
            for name in names:
                first, *more = answer(link)
                last = [first, *more][-1]
                good = last == exact(link)
                flaky = bool(more) and more[0] != first
                results.append(Result(link, name, (first, *more), good, flaky))
                heard(results[-1])
        return results

    monkeypatch.setattr(links, "judge", judge)
    found = {name: Found(Path(name)) for name in (*BOTH, "webkit")}
    monkeypatch.setattr(land, "find_browsers", lambda: found)
    return opened


def exact(link: Link) -> Landing:
    if link.by_block:
        return Landing(target=Target(link.element_id or "", link.quote, shown=True))
    return Landing(matched=True, text=link.quote, ranges=1, before=link.before)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def rewritten(path: str, change: Callable[[bytes], bytes], *, listed: bool = True) -> None:
    """Change a file of the build, and what build.json says of it."""
    file = Path("dist", path)
    file.write_bytes(change(file.read_bytes()))
    if listed:
        manifest = json.loads(Path("dist/build.json").read_text())
        manifest["files"][path]["sha256"] = sha256(file.read_bytes())
        Path("dist/build.json").write_text(json.dumps(manifest))


def blocks() -> int:
    """How many links of the build lead to a block; some sentence of the corpus needs one."""
    entries = json.loads(Path("dist/allowlist.json").read_text())["entries"]
    found = sum(":~:" not in entry["href"] for entry in entries.values())
    assert found
    return found


def manifest(**changes: object) -> None:
    file = Path("dist/build.json")
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def without_chromium() -> Mapping[str, Found | Missing]:
    missing = Missing("no chromium on the search path", "apt-get install chromium")
    return {"chromium": missing, "firefox": Found(Path("f")), "webkit": Missing("no w", "get w")}


# what is done to the build, arguments, part of the message
REFUSED: dict[str, tuple[Callable[[], object], list[str], str]] = {
    "no such folder": (lambda: None, ["absent"], "absent: no such folder"),
    "a file": (lambda: None, ["corpus/index.md"], "index.md is a file"),
    "no build": (lambda: None, ["corpus"], "corpus has no build.json, so it is no build of ours"),
    "a build.json that is no JSON": (
        lambda: Path("dist/build.json").write_text("{"),
        [],
        "dist/build.json is not one of ours",
    ),
    "a build.json of something else": (
        lambda: Path("dist/build.json").write_text("[1]"),
        [],
        "dist/build.json is not one of ours",
    ),
    "a build.json of another version": (lambda: manifest(version=2), [], "has version 2, and only"),
    "a page that was edited": (
        lambda: rewritten("index.html", lambda b: b + b" ", listed=False),
        [],
        "dist/index.html is not the file that build.json names; build again",
    ),
    "a page that is gone": (
        lambda: Path("dist/index.html").unlink(),
        [],
        "dist/index.html is not the file that build.json names",
    ),
    "several files that were edited": (
        lambda: [
            rewritten(path, lambda b: b + b" ", listed=False)
            for path in ("index.html", "allowlist.json", "evidence.html")
        ],
        [],
        "dist/allowlist.json is not the file that build.json names, nor are 2 more",
    ),
    "a name that leads out of the build": (
        lambda: manifest(
            files={"../corpus/index.md": {"sha256": sha256(CORPUS["index.md"].encode())}}
        ),
        [],
        "is not the file that build.json names",
    ),
    "no allowlist": (lambda: manifest(files={}), [], "the build lacks allowlist.json"),
    "an allowlist of another build": (
        lambda: rewritten(
            "allowlist.json", lambda b: json.dumps(json.loads(b) | {"build_id": "x"}).encode()
        ),
        [],
        "allowlist.json is of build x, and build.json of ",
    ),
    "an allowlist that is malformed": (
        lambda: rewritten("allowlist.json", lambda b: b"{}"),
        [],
        "allowlist.json: wants the keys",
    ),
    "a page of another build": (
        lambda: rewritten("index.html", lambda b: re.sub(b'build" content="', b"\\g<0>x", b)),
        [],
        "dist/index.html is of another build than build.json",
    ),
    "an unknown browser": (lambda: None, ["--browser", "chromium,opera"], "'opera' is none of"),
    "no browser": (lambda: None, ["--browser", ""], "webkit, phone is named"),
    "all and citations": (lambda: None, ["dist", "--all", "--citations", "x.json"], "every one is"),
    "all and a sample": (lambda: None, ["--all", "--sample", "3"], "exclude each other"),
    "no such citations": (lambda: None, ["dist", "--citations", "x.json"], "x.json: no such"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(run: Any, answers: list[Link], name: str) -> None:
    change, args, message = REFUSED[name]
    change()
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert not answers, "a link of a build that isn't one was opened"


def test_a_browser_that_is_missing_is_named_with_its_cure(
    run: Any, answers: list[Link], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(land, "find_browsers", without_chromium)
    code, out, err = run("--browser", "firefox,chromium")
    assert (code, out) == (2, "")
    assert "no chromium on the search path; install it with: apt-get install chromium" in err
    assert "get w" not in err
    assert not answers
    code, out, _ = run()
    assert code == 0
    assert "in firefox." in out
    monkeypatch.setattr(
        land, "find_browsers", lambda: {name: Missing("no", f"get {name}") for name in BOTH}
    )
    code, _, err = run()
    assert code == 2
    assert "get chromium" in err
    assert "get firefox" in err


def test_a_browser_that_does_not_start_is_no_finding(
    run: Any, answers: list[Link], monkeypatch: pytest.MonkeyPatch
) -> None:
    def judge(*args: object, **named: object) -> list[Result]:
        raise Unavailable("firefox does not start: no display")

    monkeypatch.setattr(links, "judge", judge)
    assert run() == (2, "", "exactquote: firefox does not start: no display\n")


# landings of the first cited link, what is said of it, parts of the report
ANSWERS: dict[str, tuple[list[Landing], str, list[str]]] = {
    "nothing": ([Landing()] * 2, "not found", ["got:    nothing is highlighted"]),
    "other words": (
        [Landing(matched=True, text="The workshop opens at ten.", ranges=1)] * 2,
        "other text",
        ['got:    "The workshop opens at ten."'],
    ),
    "twice": (
        [Landing(matched=True, text="The workshop opens at nine.", ranges=2)] * 2,
        "other text",
        ["in 2 places"],
    ),
    "another place": (
        [Landing(matched=True, text="The workshop opens at nine.", ranges=1, before="elsewhere")]
        * 2,
        "other place",
        ['"The workshop opens at nine." behind "elsewhere"'],
    ),
    "frozen": (
        [Landing(error="no answer within 30 s", frozen=True)] * 2,
        "frozen",
        ["got:    no answer within 30 s"],
    ),
    "slow": ([Landing(error="the page never finished loading", slow=True)] * 2, "timed out", []),
    "an error": ([Landing(error="HTTP status \x1b[31m404")] * 2, "no answer", ["\\x1b[31m404"]),
    "only the second time": (
        [Landing(), Landing(matched=True, text="The workshop opens at nine.", ranges=1)],
        "flaky",
        ["got:    nothing is highlighted", 'then:   "The workshop opens at nine."'],
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_what_is_not_exact_is_told_and_fails(
    run: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    landings, word, parts = ANSWERS[name]
    answering(
        monkeypatch,
        lambda link: landings if link.quote == "The workshop opens at nine." else [exact(link)],
    )
    code, out, err = run("--browser", "firefox", "--sample", "0")
    assert (code, err) == (1, "")
    assert f"{word} in firefox: nine index.html#" in out
    assert 'wanted: "The workshop opens at nine."' in out
    assert out.count("wanted:") == 1
    assert "1 of 2 landings exact" in out
    assert "\x1b" not in out
    for part in parts:
        assert part in out
    head, row = (
        re.split(" {2,}", line) for line in re.findall(r"^(?:browser|firefox) .*", out, re.M)
    )
    assert head[:4] == ["browser", "links", "exact", word]
    assert row[:4] == ["firefox", "2", "1", "1"]
    quiet = run("--browser", "firefox", "--sample", "0", "-q")
    assert quiet[0] == 1
    assert f"{word} in firefox" in quiet[1]
    assert "links/s" not in quiet[1]
    report = json.loads(run("--browser", "firefox", "--format", "json")[1])
    jsonschema.validate(report, SCHEMA, cls=jsonschema.Draft202012Validator)
    (wrong,) = (one for one in report["landings"] if one["outcome"] != "exact")
    assert (wrong["id"], wrong["outcome"], len(wrong["attempts"])) == ("nine", word, 2)
    assert report["browsers"][0]["outcomes"][word] == 1


def test_all_exact_is_clean(run: Any, answers: list[Link]) -> None:
    code, out, err = run()
    assert (code, err) == (0, "")
    assert "Opened 2 cited links and all 10 others in chromium, firefox, webkit." in out
    assert "36 of 36 landings exact" in out
    assert f"By block, which the page marks: {blocks()} of them." in out
    assert "not judged" not in out
    assert run("-q") == (0, "", "")
    assert run("-v")[1].count("exact chromium ") == 12
    report = json.loads(run("--format", "json", "--browser", "firefox,chromium,firefox")[1])
    jsonschema.validate(report, SCHEMA, cls=jsonschema.Draft202012Validator)
    assert [row["name"] for row in report["browsers"]] == ["chromium", "firefox"]
    assert report["counts"] == {
        "cited": 2, "others_opened": 10, "others": 10, "by_block": blocks(), "by_element_id": 0,
        "refused": 0,
    }  # fmt: skip
    assert report["build_id"] == json.loads(Path("dist/build.json").read_text())["build_id"]
    assert report["seed"] is None


def test_every_cited_link_is_opened_and_a_sample_of_the_others(
    run: Any, answers: list[Link]
) -> None:
    def opened(*args: str) -> list[str]:
        answers.clear()
        assert run("--browser", "firefox", *args)[0] == 0
        assert all(link.by_block != bool(parse(link.url.partition("#")[2])[1]) for link in answers)
        return [link.url.partition("/index")[2] for link in answers]

    every = opened("--all")
    assert len(set(every)) == len(every) == 12
    assert opened() == every
    cited = opened("--sample", "0")
    assert cited == every[:2]
    some = opened("--sample", "3")
    assert some[:2] == cited
    assert len(some) == 5
    assert some == [href for href in every if href in some]
    assert opened("--sample", "3") == some
    assert len({tuple(opened("--sample", "3", "--seed", str(n))) for n in range(6)}) > 1
    said = run("--sample", "3", "--seed", "5", "--browser", "firefox")[1]
    assert "Opened 2 cited links and 3 of 10 others (seed 5) in firefox." in said


def test_prevents_a_run_that_opened_nothing_from_passing(run: Any, answers: list[Link]) -> None:
    empty = {"version": 1, "entries": {}}
    rewritten(
        "allowlist.json",
        lambda b: json.dumps(empty | {"build_id": json.loads(b)["build_id"]}).encode(),
    )
    code, out, _ = run()
    assert code == 1
    assert "There was no link to open." in out
    report = json.loads(run("--format", "json")[1])
    jsonschema.validate(report, SCHEMA, cls=jsonschema.Draft202012Validator)


def test_what_a_page_shows_is_served_as_it_was_checked(
    run: Any, answers: list[Link], monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[Any] = []
    server = links.Server
    monkeypatch.setattr(links, "Server", lambda site: served.append(site) or server(site))
    Path("dist/stray.html").write_text("not of the build")
    assert run("--sample", "0")[0] == 0
    assert "index.html" in served[0]
    assert "stray.html" not in served[0]


# HTML, the quote, where its passage stands among equal ones, what must stand before it
TWINS = [
    ("<p>A cat sat. It is so.</p><p>A dog ran.</p>", "It is so.", 0, ""),
    ("<p>A cat sat. It is so.</p><p>A dog ran. It is so.</p>", "It is so.", 0, "A cat sat. "),
    ("<p>A cat sat. It is so.</p><p>A dog ran. It is so.</p>", "It is so.", 1, "A dog ran. "),
    ("<ul><li>One<li>Yes.<li>Two<li>Yes.</ul>", "Yes.", 1, "Two"),
    ("<p>I go. So. Yes.</p><p>You go. So. Yes.</p>", "Yes.", 1, "You go. So. "),
    ("<p>One.</p><p>So.</p><p>Yes.</p><p>Two.</p><p>So.</p><p>Yes.</p>", "Yes.", 1, "Two. So."),
    ("<p>Yes.</p><p>No.</p><p>Yes.</p>", "Yes.", 0, ""),
    # What is not rendered stands in the browser's text too, or does not.
    ("<p>Yes.<p>A<p hidden>x</p><p>Yes.</p>", "Yes.", 1, ""),
    # Of a long way back, as much as browsers are asked about.
    (f"<p>{'x y ' * 190}Yes.</p><p>{'x y ' * 190}Yes.</p>", "Yes.", 1, "x y " * 100),
]  # fmt: skip


@pytest.mark.parametrize(("html", "quote", "number", "before"), TWINS)
def test_equal_passages_are_told_apart_by_what_stands_before(
    html: str, quote: str, number: int, before: str
) -> None:
    page = read_page(html, doc="a", path="a.html")
    starts = [at for at in range(len(page.text)) if page.text.startswith(quote, at)]
    span = Span(starts[number], starts[number] + len(quote))
    assert promised(page, "a.html#", quote, span).before == before


@pytest.mark.parametrize(
    ("number", "before", "in_sight"),
    [
        (0, "One. ", "One. More "),
        (1, "Two. ", "Half. More "),
        # The box that holds the place is opened by the browser, and no other.
        (2, "Four. ", "Four. "),
    ],
)
def test_what_closed_boxes_hide_is_not_in_sight(number: int, before: str, in_sight: str) -> None:
    page = read_page(
        "<p>One.</p><details><summary>More</summary><p>One.</p></details><p>Yes.</p>"
        "<p>Half.</p><details><summary>More</summary><p>Two.</p></details><p>Yes.</p>"
        "<details><summary>Ask</summary><p>Four.</p><p>Yes.</p></details>",
        doc="a",
        path="a.html",
    )
    starts = [at for at in range(len(page.text)) if page.text.startswith("Yes.", at)]
    link = promised(page, "a.html#", "Yes.", Span(starts[number], starts[number] + 4))
    assert (link.before.split(), (link.in_sight or "").split()) == (
        before.split(),
        in_sight.split(),
    )


def test_the_place_is_where_the_directive_lands() -> None:
    page = read_page("<p>A cat. So.</p><p>A dog. So.</p>", doc="a", path="a.html")
    for directive, before in (("So.", "A cat. "), ("dog.-,So.", "A dog. "), ("absent", "")):
        assert promised(page, f"a.html#:~:text={directive}", "So.").before == before
    assert promised(None, "gone.html#:~:text=So.", "So.") == Link("gone.html#:~:text=So.", "So.")


def test_prevents_a_page_that_lost_its_passage_from_passing(run: Any) -> None:
    assert BROWSERS["chromium"]
    rewritten("index.html", lambda b: b.replace(b"opens at nine", b"opens at ten"))
    code, out, err = run("--browser", "chromium")
    assert (code, err) == (1, "")
    assert "not found in chromium: nine index.html#" in out
    assert out.count(" in chromium: ") == 1
    assert "11 of 12 landings exact" in out


def test_a_link_that_shows_no_more_than_a_section_is_counted_and_not_judged(
    run: Any, answers: list[Link]
) -> None:
    count = blocks()
    rewritten("allowlist.json", lambda b: re.sub(rb"index.html#p[a-z0-9]+", b"index.html#kiln", b))
    out = run()[1]
    assert f"By section only, not judged: {count}; `exactquote stats -v` says why." in out
    assert not any(link.by_block for link in answers)


def test_prevents_a_block_that_does_not_show_its_sentence_from_passing(run: Any) -> None:
    assert BROWSERS["chromium"]
    rewritten("index.html", lambda b: re.sub(b'<li id="', b'<li hidden id="', b, count=1))
    code, out, _ = run("--browser", "chromium", "--format", "json")
    assert code == 1
    wrong = [one for one in json.loads(out)["landings"] if one["outcome"] != "exact"]
    # Without the hidden item, there is one less to tell apart.
    assert "not found" in {one["outcome"] for one in wrong if ":~:" not in one["href"]}


def test_prevents_an_equal_passage_elsewhere_from_passing(here: Path) -> None:
    assert BROWSERS["chromium"]
    _, files = read_build(Path("dist"))
    page = read_page(
        files["index.html"].decode(), doc="index", path="index.html", article_only=True
    )
    quote = "It is closed on Mondays."
    second = page.text.rindex(quote)
    link = promised(
        page, "index.html#:~:text=It%20is%20closed%20on%20Mondays.", quote,
        Span(second, second + len(quote)),
    )  # fmt: skip
    results, seconds = links.open_links(files, [Asked("a", link, True)], ["chromium"])
    assert [outcome(result) for result in results] == ["other place"]
    assert seconds["chromium"] > 0


def another_site(root: Path) -> list[str]:
    """A site that another generator made, and the arguments that name it and its citations."""
    (root / "public/guide").mkdir(parents=True)
    (root / "public/guide/index.html").write_text(PAGE)
    entry = {"doc": "guide", "quote": "The kiln is fired on Fridays only."}
    (root / "a.json").write_text(json.dumps([entry]))
    (root / "b.json").write_text(json.dumps([entry | {"quote": "It is made up.", "id": "no"}]))
    return ["public", "--browser", "chromium", "--citations", "a.json"]


def test_pages_of_another_generator_are_opened_too(run: Any, here: Path) -> None:
    assert BROWSERS["chromium"]
    code, out, _ = run(*another_site(here))
    assert code == 0
    assert "Opened 1 cited link in chromium." in out
    assert "1 of 1 landing exact" in out


def test_prevents_a_refused_citation_from_passing_unheard(
    run: Any, here: Path, answers: list[Link]
) -> None:
    args = [*another_site(here), "b.json"]
    code, out, _ = run(*args)
    assert code == 1
    assert "1 citation refused; `exactquote check` says why." in out
    assert "1 of 1 landing exact" in out
    report = json.loads(run(*args, "--format", "json")[1])
    jsonschema.validate(report, SCHEMA, cls=jsonschema.Draft202012Validator)
    assert report["counts"]["refused"] == 1


def test_progress_is_for_terminals(
    run: Any, answers: list[Link], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run()[2] == ""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    _, out, err = run("--browser", "firefox")
    assert "\r\x1b[Kopening links in firefox: 12 of 12" in err
    assert err.endswith("\r\x1b[K")
    assert "\x1b" not in out
    assert run("-q")[2] == ""


def processes_below(pid: int) -> set[int]:
    """Every process that a process started, however far down."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            parents[int(stat.parent.name)] = int(fields[1])
    found = {pid}
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system has no /proc")
def test_prevents_an_interrupt_from_leaving_a_browser_behind(here: Path) -> None:
    assert BROWSERS["chromium"]
    running = subprocess.Popen(
        [sys.executable, "-m", "exactquote", "land", "--browser", "chromium", "--all"],
        env=dict(os.environ) | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    seen: set[int] = set()
    deadline = time.monotonic() + 60
    try:
        while len(seen) < 3 and time.monotonic() < deadline and running.poll() is None:
            seen |= processes_below(running.pid)
            time.sleep(0.02)
        assert len(seen) >= 3, "no browser was started"
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
    finally:
        running.kill()
    assert (running.returncode, err) == (130, b"\nexactquote: interrupted\n")
    while time.monotonic() < deadline and any(Path(f"/proc/{pid}").exists() for pid in seen):
        time.sleep(0.05)
    assert not [pid for pid in seen if Path(f"/proc/{pid}").exists()]
