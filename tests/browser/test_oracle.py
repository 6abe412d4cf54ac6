"""Known answers: pages of which it is certain what each browser highlights."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote, urlsplit
from urllib.request import urlopen

import pytest

from exactquote.browsers.landing import BrowserName, Landing
from exactquote.browsers.oracle import BROWSERS as NAMES
from exactquote.browsers.oracle import (
    Link,
    Missing,
    Result,
    find_browsers,
    is_exact,
    judge,
    open_browser,
)
from exactquote.browsers.same_text import same_text
from exactquote.browsers.server import Server
from tests.browser.landing import Browsers, assert_lands
from tests.browser.rows import Row, agrees, freezes, page_of, read_rows
from tests.shared_data import shared

THUMB = "\N{THUMBS UP SIGN}"
SKIN = "\N{EMOJI MODIFIER FITZPATRICK TYPE-4}"
SPACER = "<div style='height:3000px'></div>"
MATRIX_SEED, MATRIX_ROWS = 20260, 40
MEASURED = Path(__file__).with_name("measured.jsonl")
MEASURED_SEED, MEASURED_ROWS = 2026, 30


def page(body: str) -> bytes:
    return f"<!doctype html><meta charset=utf-8><title>t</title>{SPACER}{body}{SPACER}".encode()


SITE = {
    "plain.html": page(
        "<p id=one>First comes <b>one</b> thing.</p><p id=two>Then another one.</p>"
    ),
    "other.html": page("<p id=other>Here stands quite another text.</p>"),
    "twin.html": page("<p id=steals>A CAFE stands here.</p><p id=wanted>A cafe stands here.</p>"),
    "alike.html": page(
        f"<nav style='position:sticky;top:0'>A menu that stays.</nav><p>A top.</p>{SPACER}"
        + "".join(
            f"<h2>{head} list</h2><script>0</script><ul>{'<li>Each item is alike.</li>' * 12}"
            "<li>It ends here.</li></ul>"
            for head in ("First", "Second")
        )
    ),
    "range.html": page("<h2 id=head>The head</h2><p>First par.<br>Broken.</p><p>Last par.</p>"),
    "details.html": page(
        "<details><summary>More</summary><p id=in>Words in the dark.</p></details>"
    ),
    "hidden.html": page("<p id=p>quick <span style='display:none'>secret</span> brown fox</p>"),
    "twice.html": page("<p id=a>One thing twice.</p><p id=b>One thing twice.</p>"),
    "long.html": page(f"<p id=long>Begin. {'Many words stand in here. ' * 150}Finish.</p>"),
    "freeze.html": page(f"<p>good {THUMB}{SKIN} work</p>"),
    "spins.html": page("<p>Words.</p><script>for (;;);</script>"),
    "guide/index.html": page("<p id=g>In a folder.</p>"),
    "wide.html": page(
        f"<pre id=code style='overflow-x:auto;width:600px'>{'many words in a line ' * 20}end\n"
        "short = 1\n"
        f"{'other words in a line ' * 20}stop</pre><p>Beside.</p>"
    ),
}
ALL = dict.fromkeys(NAMES, True)

# page, directive, the quote that is highlighted ("" for none), its id
KNOWN = [
    ("plain.html", "comes%20one%20thing", "comes one thing", "one"),
    ("plain.html", "Then%20another", "Then another", "two"),
    ("plain.html", "nowhere%20at%20all", "", None),
    ("other.html", "quite%20another", "quite another", "other"),
    ("plain.html", "comes%20one%20thing", "comes one thing", "one"),
    ("other.html", "comes%20one%20thing", "", None),
    ("range.html", "The%20head,Broken.", "The head First par. Broken.", "head"),
    ("range.html", "First%20par.,Last%20par.", "First par. Broken. Last par.", None),
    ("details.html", "in%20the%20dark", "in the dark", "in"),
    ("hidden.html", "quick%20brown%20fox", "quick brown fox", "p"),
    ("twice.html", "twice.-,One%20thing%20twice.", "One thing twice.", "b"),
    ("long.html", "Begin.,Finish.", f"Begin. {'Many words stand in here. ' * 150}Finish.", "long"),
    ("guide/", "In%20a%20folder.", "In a folder.", "g"),
    (
        "wide.html",
        "line%20end%0Ashort%20%3D%201%0Aother%20words",
        "line end\nshort = 1\nother words",
        "code",
    ),
    (
        "wide.html",
        "many%20words,stop",
        f"{'many words in a line ' * 20}end\nshort = 1\n{'other words in a line ' * 20}stop",
        "code",
    ),
]


@pytest.mark.parametrize("name", NAMES)
def test_known_answers(browsers: Browsers, name: BrowserName) -> None:
    with Server(SITE) as server:
        for path, directive, wanted, element_id in KNOWN:
            landing = browsers[name].land(server.url(f"{path}#:~:text={directive}"))
            story = (path, directive, landing)
            assert landing.error is None, story
            assert landing.matched == bool(wanted), story
            if wanted:
                assert same_text(landing.text or "", wanted, pixels=name == "webkit"), story
                assert landing.scrolled, story
                assert landing.ranges == 1, story
                assert element_id in (None, landing.element_id), story


@pytest.mark.parametrize("name", NAMES)
def test_prevents_a_look_alike_that_passes_for_the_quote(
    browsers: Browsers, name: BrowserName
) -> None:
    with Server(SITE) as server:
        url = server.url("twin.html#:~:text=A%20cafe%20stands%20here.")
        landing = browsers[name].land(url)
    assert (landing.element_id, landing.text) == ("steals", "A CAFE stands here.")
    assert not is_exact(landing, Link(url, "A cafe stands here."), pixels=name == "webkit")


@pytest.mark.parametrize("name", NAMES)
def test_prevents_one_of_two_like_lists_that_passes_for_the_other(
    browsers: Browsers, name: BrowserName
) -> None:
    with Server(SITE) as server:
        url = server.url("alike.html#:~:text=It%20ends%20here.")
        landing = browsers[name].land(url)
    for head, exact in (("First", True), ("Second", False)):
        before = f"{head} list {'Each item is alike. ' * 12}"
        link = Link(url, "It ends here.", before=before)
        assert is_exact(landing, link, pixels=name == "webkit") is exact, landing


@pytest.mark.parametrize("name", NAMES)
def test_prevents_the_answer_of_the_page_before(browsers: Browsers, name: BrowserName) -> None:
    site = {f"{n}.html": page(f"<p id=p{n}>The page of number {n} it is.</p>") for n in range(2)}
    with Server(site) as server:
        for visit in range(4):
            n = visit % 2
            link = f"{n}.html#:~:text=page%20of%20number%20{n}"
            landing = browsers[name].land(server.url(link))
            assert (landing.text, landing.element_id) == (f"page of number {n}", f"p{n}")
            absent = browsers[name].land(server.url(f"{n}.html#:~:text=number%20{1 - n}%20it"))
            assert absent == Landing()


@pytest.mark.parametrize("name", NAMES)
def test_two_fragments_of_one_page_in_turn_are_two_loads(
    browsers: Browsers, name: BrowserName
) -> None:
    with Server(SITE) as server:
        for _ in range(3):
            for text, element_id in (("comes%20one", "one"), ("another%20one", "two")):
                landing = browsers[name].land(server.url(f"plain.html#one:~:text={text}"))
                assert landing.element_id == element_id


def test_a_frozen_tab_is_survived_and_reported() -> None:
    needs("chromium", "firefox")
    seen: list[Result] = []
    with Server(SITE) as server:
        links = [
            Link(server.url(f"freeze.html#:~:text={quote(THUMB)}"), THUMB),
            Link(server.url("plain.html#:~:text=Then%20another"), "Then another"),
        ]
        results = judge(links, ("chromium", "firefox"), seen.append, seconds_max=4)
    frozen, quiet, *after = results
    assert [(r.browser, r.exact) for r in results] == [
        ("chromium", False),
        ("firefox", False),
        ("chromium", True),
        ("firefox", True),
    ]
    assert [landing.frozen for landing in frozen.landings] == [True, True]
    assert not frozen.flaky
    # On a busy machine Firefox may not be there in time at first.
    assert quiet.landing == Landing()
    assert len(seen) == len(results)
    assert [len(result.landings) for result in after] == [1, 1]


def test_a_page_that_spins_is_told_from_one_that_never_loads() -> None:
    needs(*NAMES)
    with socket.socket() as deaf, Server(SITE) as server:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        picture = f"http://127.0.0.1:{deaf.getsockname()[1]}/"
        hangs = {"a.html": page(f"<p>Words.</p><img src='{picture}'>")}

        def land(name: BrowserName) -> list[Landing]:
            with open_browser(name, seconds_max=5) as browser:
                # The first page of all waits for the browser's processes.
                browser.land(server.url("plain.html#:~:text=Then%20another"))
                return [
                    browser.land(server.url("spins.html#:~:text=Words.")),
                    browser.land(other.url("a.html#:~:text=Words.")),
                    browser.land(server.url("plain.html#:~:text=Then%20another")),
                ]

        with Server(hangs) as other, ThreadPoolExecutor(len(NAMES)) as threads:
            for spins, loads, after in threads.map(land, NAMES):
                assert (spins.matched, spins.frozen) == (False, True), spins
                assert (loads.matched, loads.frozen) == (False, False), loads
                assert "never finished loading" in (loads.error or "")
                assert loads.slow
                assert after.text == "Then another"


def test_a_killed_browser_is_started_again() -> None:
    needs("chromium")
    others = programs_of(os.getpid())
    with Server(SITE) as server, open_browser("chromium") as browser:
        url = server.url("plain.html#:~:text=Then%20another")
        assert browser.land(url).matched
        mine = programs_of(os.getpid()) - others
        assert len(mine) == 1
        os.killpg(mine.pop(), signal.SIGKILL)
        assert browser.land(url).text == "Then another"
        assert len(programs_of(os.getpid()) - others) == 1
    assert programs_of(os.getpid()) <= others


def test_prevents_browsers_that_outlive_a_killed_run() -> None:
    needs(*NAMES)
    script = f"""
        import time
        from exactquote.browsers.oracle import Browser
        browsers = [Browser(name) for name in {NAMES!r}]
        print([browser.version for browser in browsers], flush=True)
        time.sleep(60)
    """
    # Not pytest's own folder: the path of a socket below it would be too long.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {**os.environ, "TMPDIR": name, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", textwrap.dedent(script)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as run:
            assert run.stdout is not None
            started = run.stdout.readline()
            programs = list(folder.glob("exactquote-*"))
            run.kill()
        end = time.monotonic() + 30
        while (left := leftovers(folder)) and time.monotonic() < end:
            time.sleep(0.1)
    assert started.startswith(b"['")
    # One each, and the display that WebKit needs.
    assert len(programs) == len(NAMES) + 1
    assert not left


def test_an_unreachable_page_is_an_error_and_no_landing() -> None:
    needs(*NAMES)
    with socket.socket() as taken, ThreadPoolExecutor(len(NAMES)) as threads:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/a.html#:~:text=words"

        def land(name: BrowserName) -> Landing:
            with open_browser(name, seconds_max=10) as browser:
                return browser.land(url)

        for landing in threads.map(land, NAMES):
            assert not landing.matched, landing
            assert landing.error, landing
            assert not landing.frozen, landing


def test_a_missing_page_is_an_error_and_no_landing(browsers: Browsers) -> None:
    with Server(SITE) as server:
        for name in NAMES:
            landing = browsers[name].land(server.url("missing.html#:~:text=words"))
            assert not landing.matched
            assert landing.error


def test_assert_lands_tells_what_was_highlighted_instead(browsers: Browsers) -> None:
    assert_lands(SITE, [("plain.html#:~:text=comes%20one%20thing", "comes one thing")])
    second = Link("twice.html#:~:text=One%20thing%20twice.", "One thing twice.", "b")
    with pytest.raises(AssertionError, match=r"#a\)"):
        assert_lands(SITE, [second])
    with pytest.raises(AssertionError, match="'comes one'"):
        assert_lands(SITE, [("plain.html#:~:text=comes%20one", "comes one thing")], ("firefox",))
    with pytest.raises(AssertionError, match="no link was judged"):
        assert_lands(SITE, [])


# highlighted, quote, read from pixels, same
SAME = [
    ("one two", "one two", False, True),
    ("one\n  two", "one two", False, True),
    ("one\u00a0two", "one two", False, True),
    ("Head\nPar", "Head Par", False, True),
    ("now here", "nowhere", False, False),
    ("HeadPar", "Head Par", False, False),
    ("so\u00adft", "soft", False, True),
    ("a\u200bb\u2060c\ufeff", "abc", False, True),
    ("a\u200db", "ab", False, False),
    ("One two", "one two", False, False),
    ("caf\u00e9", "cafe", False, False),
    ("one two.", "one two", False, False),
    ("one two.", "one two", True, True),
    ("(one) two", "one) two", True, True),
    ("one two", "one two.", True, False),
    ("one, two", "one two", True, False),
    ("so one two", "one two", True, False),
    (".", "", True, False),
]


@pytest.mark.parametrize(("highlighted", "wanted", "pixels", "same"), SAME)
def test_same_text(highlighted: str, wanted: str, pixels: bool, same: bool) -> None:
    assert same_text(highlighted, wanted, pixels=pixels) is same


def test_server_serves_a_folder_and_nothing_beyond(tmp_path: Path) -> None:
    (tmp_path / "site/deep").mkdir(parents=True)
    (tmp_path / "site/deep/index.html").write_bytes(page("here"))
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "site/link.txt").symlink_to(tmp_path / "secret.txt")
    with Server(tmp_path / "site") as server:
        with urlopen(server.url("deep?landing=1")) as answer:
            assert urlsplit(answer.url).path == "/deep/"
            assert answer.read() == page("here")
        painted = server.respond("/deep/index.html?paint=ff00ff")[2]
        assert painted.startswith(page("here"))
        assert b"::target-text" in painted
        for path in ("/link.txt", "/../secret.txt", "/%2e%2e/secret.txt", "/deep/%00", "/none"):
            assert server.respond(path)[0] == 404
        assert server.respond("/deep/index.html?paint=red;}")[2] == page("here")


def test_agrees_with_the_answers_recorded_before(browsers: Browsers) -> None:
    rows = read_rows(shared("cases/browser-matrix.jsonl"))
    # The others were opened by a click or read some time after the load.
    rows = [row for row in rows if not ({"nav", "wait", "raw"} & row.keys() or freezes(row))]
    differ = disagreements(browsers, random.Random(MATRIX_SEED).sample(rows, MATRIX_ROWS))
    assert len(differ) <= 0.05 * len(NAMES) * MATRIX_ROWS, "\n".join(differ)


def test_measured_answers_are_still_true(browsers: Browsers) -> None:
    rows = read_rows(MEASURED)
    assert len(rows) > 300
    rows = [row for row in rows if not freezes(row)]
    differ = disagreements(browsers, random.Random(MEASURED_SEED).sample(rows, MEASURED_ROWS))
    assert not differ, "\n".join(differ)


def disagreements(browsers: Browsers, rows: list[Row]) -> list[str]:
    asked = [browsers[name] for name in NAMES]
    site = {f"{row['id']}.html": page_of(row) for row in rows}
    headers = {f"{row['id']}.html": row.get("headers") or {} for row in rows}
    differ: list[str] = []
    with Server(site, headers) as server, ThreadPoolExecutor(len(asked)) as threads:

        def replay(name: BrowserName) -> list[str]:
            lines = []
            for row in rows:
                recorded = row["results"].get(name, {})
                if recorded.get("verdict") == "-":
                    continue
                landing = browsers[name].land(server.url(f"{row['id']}.html{row['directive']}"))
                if not agrees(recorded, landing):
                    lines.append(f"{name} {row['id']}: {recorded} but now {landing}")
            return lines

        for lines in threads.map(replay, NAMES):
            differ += lines
    return differ


def needs(*names: BrowserName) -> None:
    for name in names:
        found = find_browsers()[name]
        if isinstance(found, Missing):
            reason = f"{found.reason}; install it with: {found.install}"
            (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)


def programs_of(parent: int) -> set[int]:
    """The process groups of the browsers that a process has started."""
    found: set[int] = set()
    for line in Path(f"/proc/{parent}/task").glob("*/children"):
        # Threads and processes may end while they are looked at.
        with contextlib.suppress(OSError):
            found.update(map(int, line.read_text().split()))
    return {pid for pid in found if b"exactquote-" in command_of(pid)}


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def leftovers(folder: Path) -> list[str]:
    mine = str(folder).encode()
    found = [path.name for path in folder.glob("exactquote-*")]
    for process in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mine in process.read_bytes():
                found.append((process.parent / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found
