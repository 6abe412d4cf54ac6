"""Turns a link into a `Landing` by asking Firefox for the ranges that its own finder made."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import Any

from exactquote.browsers.landing import Gone, Landing, Refused, Silent, is_timeout
from exactquote.browsers.marionette import Marionette
from exactquote.browsers.processes import Program
from exactquote.browsers.reading import DESCRIBE, is_about, landing
from exactquote.rendered.style_media import DESKTOP_WIDTH

_START_SECONDS = 60.0
# The driver gives up a page before we give up the driver, so that a page that never ends
# loading is told from a tab that never answers.
_PAGE_SHARE = 0.75
_RETRY_SECONDS = 0.25
_POLL_SECONDS = 0.05
_PREFERENCES: dict[str, bool | int | str] = {
    # Firefox picks a free port and writes it into the profile.
    "marionette.port": 0,
    "app.normandy.enabled": False,
    "app.update.enabled": False,
    "browser.chrome.site_icons": False,
    "browser.region.network.url": "",
    "browser.sessionhistory.max_total_viewers": 0,
    "browser.sessionstore.interval": 100_000_000,
    "browser.sessionstore.resume_from_crash": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.ipc.processPrelaunch.enabled": False,
    "extensions.systemAddon.update.enabled": False,
    # Frames cost more than the page, and change nothing of what is found.
    "layout.frame_rate": 5,
    "network.dns.disablePrefetch": True,
    "places.history.enabled": False,
    "toolkit.telemetry.enabled": False,
    # Without a window there is no mouse; this is one: it points finely, and can hover.
    "ui.allPointerCapabilities": 6,
    "ui.prefersReducedMotion": 1,
    "ui.primaryPointerCapabilities": 6,
}
# These ranges are for privileged code only, so the script runs in the system's sandbox.
_READ = (
    DESCRIBE
    + """
const directive = document.fragmentDirective;
return summary(directive ? [...directive.getTextDirectiveRanges()] : [], []);
"""
)


class Firefox:
    """A running Firefox with one tab."""

    def __init__(self, program: Path, seconds_max: float) -> None:
        """Start `program`. Raises `Gone` if it does not."""
        self._seconds_max = seconds_max
        self._program = Program(
            lambda folder: [
                str(program),
                "--headless",
                "--marionette",
                "--no-remote",
                "--profile",
                _profile(folder),
            ],
            {"MOZ_HEADLESS": "1"},
        )
        self._marionette: Marionette | None = None
        try:
            port = self._program.wait_for(self._port, _START_SECONDS)
            self._marionette = Marionette(port, time.monotonic() + _START_SECONDS)
            milliseconds = int(1000 * seconds_max * _PAGE_SHARE)
            wanted = {
                "timeouts": {"pageLoad": milliseconds, "script": milliseconds},
                "unhandledPromptBehavior": "accept",
            }
            started = self._start("WebDriver:NewSession", capabilities={"alwaysMatch": wanted})
            self.version = str(started["capabilities"]["browserVersion"])
            self._start("WebDriver:SetWindowRect", width=DESKTOP_WIDTH, height=1600)
        except (Silent, Refused) as fault:
            self.close()
            raise Gone(f"Firefox did not start: {fault}") from fault
        except BaseException:
            self.close()
            raise

    def visit(self, url: str, token: str) -> Landing:
        """Open `url` as a new document and say what is highlighted."""
        deadline = time.monotonic() + self._seconds_max
        try:
            if not token:
                self._call("WebDriver:Navigate", deadline, url="about:blank")
            self._call("WebDriver:Navigate", deadline, url=url)
            return self._read(token, ":~:" in url, deadline)
        except Silent as silence:
            raise Silent(str(silence), frozen=not self._answers()) from silence
        except Refused as refusal:
            if is_timeout(refusal):
                raise Silent(str(refusal), frozen=not self._answers()) from refusal
            raise

    def fresh_tab(self) -> None:
        """Go on in a new tab that never saw a page."""
        new = self._start("WebDriver:NewWindow", type="tab")["handle"]
        self._start("WebDriver:CloseWindow")
        self._start("WebDriver:SwitchToWindow", handle=new, focus=True)

    def close(self) -> None:
        """End every process and remove every file that the browser was given."""
        if self._marionette is not None:
            self._marionette.close()
        self._program.close()

    def _read(self, token: str, searches: bool, deadline: float) -> Landing:
        loaded = time.monotonic()
        while True:
            answer = self._call("WebDriver:ExecuteScript", deadline, **_script(_READ))
            late = not searches or time.monotonic() - loaded > _RETRY_SECONDS
            # Now and then the script runs in a document that is just being left, and is lost.
            if answer and is_about(answer, token) and (answer["ranges"] or late):
                return landing(answer)
            if time.monotonic() > deadline - self._seconds_max * (1 - _PAGE_SHARE):
                raise Refused("the tab shows another page than the one asked for")
            time.sleep(_POLL_SECONDS)

    def _answers(self) -> bool:
        probe = time.monotonic() + self._seconds_max / 2
        try:
            self._call("WebDriver:ExecuteScript", probe, **_script("return true"))
        except (Silent, Refused, Gone):
            return False
        return True

    def _port(self) -> int | None:
        with contextlib.suppress(OSError, ValueError):
            return int((self._program.folder / "profile/MarionetteActivePort").read_text("ascii"))
        return None

    def _start(self, command: str, **parameters: object) -> Any:
        return self._call(command, time.monotonic() + _START_SECONDS, **parameters)

    def _call(self, command: str, deadline: float, **parameters: object) -> Any:
        if self._marionette is None:
            raise Gone("Firefox was never reached")
        return self._marionette.call(command, parameters, deadline)


def _profile(folder: Path) -> str:
    profile = folder / "profile"
    profile.mkdir()
    lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in _PREFERENCES.items()]
    (profile / "user.js").write_text("".join(lines), "utf-8")
    return str(profile)


def _script(script: str) -> dict[str, object]:
    return {"script": script, "args": [], "sandbox": "system"}
