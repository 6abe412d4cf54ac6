"""Turns a link into a `Landing` by opening it in WebKit and finding the painted characters.

WebKit has no way to ask for the range of its finder. `Server` paints `::target-text` in a
colour that is another for each visit, so a picture of an earlier page can't be mistaken.
"""

from __future__ import annotations

import base64
import glob
import itertools
import shutil
import socket
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from exactquote.browsers.landing import Gone, Landing, Refused, Silent, is_timeout
from exactquote.browsers.painted import Painted, Picture
from exactquote.browsers.processes import Program
from exactquote.browsers.reading import TARGET, target_of
from exactquote.browsers.server import PAINT, PAINT_CLASS
from exactquote.browsers.webdriver import WebDriver
from exactquote.rendered.style_media import DESKTOP_WIDTH

_WIDTH, _HEIGHT = DESKTOP_WIDTH, 1000
_START_SECONDS = 30.0
# Shares of the time for one visit: after the first it is asked whether there is a server at
# all, after the second the page is given up, and the tab asked whether it still answers.
_ARRIVAL_SHARE = 0.25
_PAGE_SHARE = 0.75
_POLL_SECONDS = 0.005
# A found text is painted some frames after the load event.
_RETRY_SECONDS = 0.7
_LOOKS_MIN = 4
# It scrolls to an element some frames after the load event, and does not jump but glides.
_SCROLL_SECONDS = 3.0
_VIEWPORTS_MAX = 40
_COLOURS = tuple(f"ff{green:02x}{blue:02x}" for blue in (255, 215, 175) for green in (0, 40, 80))
_BOX_WIDTHS_MAX = 40
# Moves boxes that scroll by themselves to their left end, or on to the right; says whether
# any has moved, and whether any has more to show.
_SIDEWAYS = """
const boxes = [...document.body.querySelectorAll("*")].filter((one) => {
  if (one.scrollWidth <= one.clientWidth + 1) return false;
  if (!/auto|scroll/.test(getComputedStyle(one).overflowX)) return false;
  const box = one.getBoundingClientRect();
  return box.bottom > 0 && box.top < innerHeight;
});
let moved = false, more = false;
for (const one of boxes) {
  const before = one.scrollLeft;
  const to = arguments[0] ? 0 : before + one.clientWidth * 0.8;
  one.scrollTo({left: to, behavior: "instant"});
  moved = moved || one.scrollLeft !== before;
  more = more || one.scrollLeft + one.clientWidth < one.scrollWidth - 1;
}
return [moved, more];
"""
_FRAMES_SECONDS = 0.05
_PICTURES_MAX = 8
_STATE = f"""
const entry = performance.getEntriesByType("navigation")[0] || {{}};
return {{address: location.href, entry: entry.name || "", ready: document.readyState === "complete",
        x: scrollX, y: scrollY, wide: innerWidth, high: innerHeight,
        paint: [...document.querySelectorAll(".{PAINT_CLASS}")].some((one) => one.sheet)}};
"""


class Webkit:
    """A running WebKitGTK with one tab, on a display of its own that no one sees."""

    def __init__(self, driver: Path, seconds_max: float) -> None:
        """Start a display, `driver` and its browser. Raises `Gone` if one of them does not."""
        self._seconds_max = seconds_max
        self._colours = itertools.cycle(_COLOURS)
        self._display = Program(
            lambda folder: [
                shutil.which("Xvfb") or "Xvfb",
                *("-displayfd", "1", "-nolisten", "tcp"),
                *("-screen", "0", f"{_WIDTH}x{_HEIGHT + 100}x24"),
            ],
            {},
        )
        self._program: Program | None = None
        self._driver: WebDriver | None = None
        try:
            screen = self._display.wait_for(self._screen, _START_SECONDS)
            milliseconds = int(1000 * seconds_max * _PAGE_SHARE)
            options = {"binary": mini_browser(), "args": ["--automation"]}
            wanted = {
                "webkitgtk:browserOptions": options,
                "timeouts": {"pageLoad": milliseconds, "script": milliseconds},
                "unhandledPromptBehavior": "accept",
                # Otherwise the driver lets nothing be asked of a page that is still loading.
                "pageLoadStrategy": "none",
            }
            port = _free_port()
            self._program = Program(
                lambda folder: [str(driver), "--host=127.0.0.1", f"--port={port}"],
                {
                    "DISPLAY": f":{screen}",
                    # As the other browsers are told by an option.
                    **dict.fromkeys(("LANG", "LANGUAGE", "LC_ALL"), "en_US.UTF-8"),
                    "GDK_BACKEND": "x11",
                    "LIBGL_ALWAYS_SOFTWARE": "1",
                    "NO_AT_BRIDGE": "1",
                    # Its own sandbox needs rights that a container does not give.
                    "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
                },
            )
            self._program.wait_for(lambda: _listens(port), _START_SECONDS)
            deadline = time.monotonic() + _START_SECONDS
            self._driver = WebDriver(port, wanted, deadline)
            self.version = str(self._driver.capabilities["browserVersion"])
            self._size(deadline)
        except (Silent, Refused) as fault:
            self.close()
            raise Gone(f"WebKit did not start: {fault}") from fault
        except BaseException:
            self.close()
            raise

    def visit(self, url: str, token: str) -> Landing:
        """Open `url` as a new document and say what is highlighted."""
        if not token:
            raise Refused("WebKit can only be asked about pages on a loopback server of ours")
        deadline = time.monotonic() + self._seconds_max
        try:
            return self._visit(url, token, deadline)
        except Silent as silence:
            raise Silent(str(silence), frozen=not self._answers()) from silence
        except Refused as refusal:
            if is_timeout(refusal):
                raise Silent(str(refusal), frozen=not self._answers()) from refusal
            raise

    def fresh_tab(self) -> None:
        """Go on in a new tab that never saw a page."""
        deadline = time.monotonic() + _START_SECONDS
        driver = self._running()
        new = driver.call("POST", "/window/new", {"type": "tab"}, deadline)["handle"]
        driver.call("DELETE", "/window", None, deadline)
        driver.call("POST", "/window", {"handle": new}, deadline)
        self._size(deadline)

    def close(self) -> None:
        """End every process and remove every file that the browser was given."""
        if self._driver is not None:
            self._driver.close()
        if self._program is not None:
            self._program.close()
        self._display.close()

    def _visit(self, url: str, token: str, deadline: float) -> Landing:
        colour = next(self._colours)
        started = time.monotonic()
        self._running().call("POST", "/url", {"url": _painted(url, colour)}, deadline)
        state = self._arrive(url, token, deadline)
        arrived = time.monotonic()
        if not state["paint"]:
            raise Refused(
                "WebKit shows its matches by a style sheet, and the page's security policy"
                " forbids it; ask the other browsers"
            )
        scrolled = bool(state["y"] or state["x"])
        if ":~:" not in url:
            return self._block(scrolled, deadline)
        painted = Painted(colour)
        looks = 0
        while not (self._look(painted, deadline) and painted.found):
            looks += 1
            state = self._state(deadline)
            scrolled = scrolled or bool(state["y"] or state["x"])
            # A page that has scrolled has found something, if only the element of that id.
            # Where the page itself came late, its paint will too.
            patience = max(_RETRY_SECONDS, 2 * (arrived - started))
            enough = patience * (3 if scrolled else 1)
            if looks >= _LOOKS_MIN and time.monotonic() - arrived > enough:
                break
        state = self._state(deadline)
        scrolled = scrolled or bool(state["y"] or state["x"])
        if painted.found or scrolled:
            self._look_sideways(painted, deadline)
            self._look_around(painted, deadline)
        return painted.landing(scrolled)

    def _block(self, scrolled: bool, deadline: float) -> Landing:
        """The landing of a link without a directive: the element that it names."""
        end = min(time.monotonic() + _SCROLL_SECONDS, deadline)
        script = _script(f"{TARGET} return target();")
        while True:
            found = self._running().call("POST", "/execute/sync", script, deadline)
            if found is None or found["shown"] or time.monotonic() > end:
                return Landing(scrolled=scrolled, target=target_of(found))
            time.sleep(_POLL_SECONDS)

    def _arrive(self, url: str, token: str, deadline: float) -> dict[str, Any]:
        started = time.monotonic()
        while True:
            try:
                state = self._state(deadline)
            except Refused as refusal:
                if is_timeout(refusal):
                    raise
                # The question was lost in a document that is just being left.
                state = {"address": "", "entry": "", "ready": False}
            # A page may rewrite its own address, but not that of the navigation that made it.
            there = token in state["address"] or token in state["entry"]
            if there and state["ready"]:
                return state
            waited = (time.monotonic() - started) / self._seconds_max
            # That a page is late does not tell whether there is a server for it.
            if not there and waited > _ARRIVAL_SHARE and not _listens(_port_of(url)):
                raise Refused("the page can't be reached")
            if waited > _PAGE_SHARE and state["ready"] and not there:
                raise Refused("the tab shows another page than the one asked for")
            if waited > _PAGE_SHARE:
                raise Silent("the page never finished loading")
            time.sleep(_POLL_SECONDS)

    def _answers(self) -> bool:
        probe = time.monotonic() + self._seconds_max / 2
        try:
            self._running().call("POST", "/execute/sync", _script("return true"), probe)
        except (Silent, Refused, Gone):
            return False
        return True

    def _look(self, painted: Painted, deadline: float) -> bool:
        """Read one picture; says whether the page stood still meanwhile."""
        driver = self._running()
        painted.leave()
        state = self._state(deadline)
        png = base64.b64decode(driver.call("GET", "/screenshot", None, deadline))
        picture = Picture(png, state["wide"], state["high"])
        if not picture.shows(painted.colour):
            return True
        window = driver.call("POST", "/execute/sync", _script(painted.SCRIPT), deadline)
        if (state["x"], state["y"]) != (window["x"], window["y"]):
            return False
        partly = painted.read(window["nodes"], picture)
        if partly:
            script = _script(painted.SCRIPT, partly)
            window = driver.call("POST", "/execute/sync", script, deadline)
            painted.read_characters(window["nodes"], picture)
        return True

    def _look_around(self, painted: Painted, deadline: float) -> None:
        """Scroll on while the highlight may go on beyond the edge of the window."""
        above, below = painted.reaches_edge(-1), painted.reaches_edge(1)
        here = self._state(deadline)["y"]
        if below:
            self._look_further(painted, 1, deadline)
        if above:
            self._scroll(f"scrollTo({{top: {here}, behavior: 'instant'}})", deadline)
            self._look_further(painted, -1, deadline)

    def _look_further(self, painted: Painted, direction: int, deadline: float) -> None:
        for _ in range(_VIEWPORTS_MAX):
            y = self._state(deadline)["y"]
            by = f"{direction} * innerHeight * 0.8"
            self._scroll(f"scrollBy({{top: {by}, behavior: 'instant'}})", deadline)
            if self._state(deadline)["y"] == y:
                return
            self._look(painted, deadline)
            if not painted.reaches_edge(direction):
                return
            self._look_sideways(painted, deadline)

    def _look_sideways(self, painted: Painted, deadline: float) -> None:
        """See the text that boxes in the window clip, such as the long lines of code."""
        driver = self._running()
        for step in range(_BOX_WIDTHS_MAX):
            script = _script(_SIDEWAYS, step == 0)
            moved, left = driver.call("POST", "/execute/sync", script, deadline)
            if moved:
                self._settle(deadline)
                edges = painted.edges
                self._look(painted, deadline)
                painted.edges = edges
            if not left:
                return

    def _scroll(self, script: str, deadline: float) -> None:
        self._running().call("POST", "/execute/sync", _script(script), deadline)
        self._settle(deadline)

    def _settle(self, deadline: float) -> None:
        """Wait until what was scrolled is painted, or a picture would show where it was."""
        picture = ""
        for _ in range(_PICTURES_MAX):
            time.sleep(_FRAMES_SECONDS)
            last, picture = picture, self._running().call("GET", "/screenshot", None, deadline)
            if picture == last:
                return

    def _state(self, deadline: float) -> dict[str, Any]:
        state: dict[str, Any] = self._running().call(
            "POST", "/execute/sync", _script(_STATE), deadline
        )
        return state

    def _size(self, deadline: float) -> None:
        rectangle = {"x": 0, "y": 0, "width": _WIDTH, "height": _HEIGHT}
        self._running().call("POST", "/window/rect", rectangle, deadline)

    def _running(self) -> WebDriver:
        if self._driver is None:
            raise Gone("the driver was never reached")
        return self._driver

    def _screen(self) -> str | None:
        # Before the number there may be complaints about screens that others have.
        output = self._display.output
        whole = output.splitlines() if output.endswith("\n") else []
        return next((line for line in whole if line.isdigit()), None)


def mini_browser() -> str | None:
    """Path of WebKitGTK's own small browser, if it is installed."""
    found = sorted(
        glob.glob("/usr/lib*/*/webkit2gtk-4.*/MiniBrowser")
        + glob.glob("/usr/lib*/*/webkitgtk-6.*/MiniBrowser")
        + glob.glob("/usr/libexec/webkit*/MiniBrowser")
    )
    return found[0] if found else shutil.which("MiniBrowser")


def _painted(url: str, colour: str) -> str:
    address, hash_sign, fragment = url.partition("#")
    return f"{address}{'&' if '?' in address else '?'}{PAINT}={colour}{hash_sign}{fragment}"


def _script(script: str, *arguments: object) -> dict[str, object]:
    return {"script": script, "args": list(arguments)}


def _port_of(url: str) -> int:
    return urlsplit(url).port or 80


def _listens(port: int) -> bool | None:
    try:
        socket.create_connection(("127.0.0.1", port), 0.5).close()
    except OSError:
        return None
    return True


def _free_port() -> int:
    # Another program may take it before the driver does; the browser is then started again.
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
