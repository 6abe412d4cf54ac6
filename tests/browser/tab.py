"""Turns a page into one that a test works like a reader, in a Chromium that tells all it does."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from exactquote.browsers.chromium import _FLAGS
from exactquote.browsers.devtools import DevTools
from exactquote.browsers.landing import BrowserName, Refused
from exactquote.browsers.oracle import Missing, find_browsers
from exactquote.browsers.processes import Program

SECONDS = 20.0
# Keys by the name that a page hears: what they type, and their code.
_KEYS = {"Enter": ("\r", 13), "Escape": ("", 27), "Tab": ("", 9), "ArrowRight": ("", 39)}


def program_of(name: BrowserName) -> Path:
    """The browser's program; an absent one fails the test under CI and skips it elsewhere."""
    found = find_browsers()[name]
    if isinstance(found, Missing):
        reason = f"{found.reason}; install it with: {found.install}"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found.program


class Tab(DevTools):
    """One tab, and what it did: the URLs it asked for, its dialogs, what its console holds."""

    def __init__(self, pipe: tuple[int, int], downloads: Path) -> None:
        super().__init__(pipe)
        self.downloads = downloads.resolve()
        self._session = self._target = ""
        self.fresh()

    def fresh(self) -> None:
        """Go on in a new tab, which has kept nothing, in a window of 1000 by 800."""
        self.requests: list[str] = []
        self.posted: list[str] = []
        self.dialogs: list[str] = []
        self.console: list[tuple[str, str]] = []
        old, self._session = self._target, ""
        self._target = self.tell("Target.createTarget", url="about:blank")["targetId"]
        attached = self.tell("Target.attachToTarget", targetId=self._target, flatten=True)
        self.tell("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads))
        if old:
            self.tell("Target.closeTarget", targetId=old)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "DOM", "Accessibility"):
            self.tell(f"{domain}.enable")
        self.look(1000, 800)

    def tell(self, method: str, **parameters: object) -> dict[str, Any]:
        return self.call(method, parameters, self._session, time.monotonic() + SECONDS)

    def open(self, url: str) -> None:
        """Go to a page, and wait until it is loaded."""
        result = self.tell("Page.navigate", url=url)
        assert "errorText" not in result, result
        self.until("document.readyState === 'complete'")

    def js(self, script: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        result = self.tell(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in result:
            raise Refused(json.dumps(result["exceptionDetails"])[:800])
        return result["result"].get("value")

    def until(self, script: str, seconds: float = SECONDS) -> None:
        """Wait until an expression is true; what is between two pages is no fault."""
        end = time.monotonic() + seconds
        while True:
            with contextlib.suppress(Refused):
                if self.js(f"Boolean({script})"):
                    return
            assert time.monotonic() < end, f"never true: {script}\n{self.console}"
            time.sleep(0.03)

    def click(self, selector: str) -> None:
        """Press the mouse on the first element that matches, where it stands in the window."""
        place = json.dumps(selector)
        x, y = self.js(
            f"(() => {{ const at = document.querySelector({place});"
            " at.scrollIntoView({block: 'nearest', behavior: 'instant'});"
            " const box = at.getClientRects()[0];"
            " return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        there = self.js(
            f"document.elementFromPoint({x}, {y})?.closest({place})"
            f" === document.querySelector({place})"
        )
        assert there, f"{selector} is covered at {x}, {y}"
        for kind in ("mousePressed", "mouseReleased"):
            self.tell("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, text: str) -> None:
        self.tell("Input.insertText", text=text)

    def key(self, name: str, *, shift: bool = False) -> None:
        text, code = _KEYS[name]
        told = {"key": name, "code": name, "windowsVirtualKeyCode": code, "modifiers": 8 * shift}
        down = "keyDown" if text else "rawKeyDown"
        self.tell("Input.dispatchKeyEvent", type=down, **told, **({"text": text} if text else {}))
        self.tell("Input.dispatchKeyEvent", type="keyUp", **told)

    def look(self, width: int, height: int, **features: str) -> None:
        """Take the window's size, and what a reader prefers (`prefers_color_scheme="dark"`)."""
        self.tell(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        told = [{"name": k.replace("_", "-"), "value": v} for k, v in features.items()]
        self.tell("Emulation.setEmulatedMedia", features=told)

    def spoken(self) -> list[dict[str, str]]:
        """What a screen reader is told: role, name and description of each thing, in order."""
        nodes = self.tell("Accessibility.getFullAXTree")["nodes"]
        return [
            {
                key: str(node.get(key, {}).get("value", ""))
                for key in ("role", "name", "description", "value")
            }
            for node in nodes
            if not node.get("ignored")
        ]

    def settle(self) -> None:
        """Hear what the browser has told by now."""
        self.js("new Promise((end) => setTimeout(end, 60))")

    def _heed(self, message: dict[str, Any], session: str) -> None:
        told = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(told["request"]["url"])
                self.posted += filter(None, [told["request"].get("postData")])
            case "Page.javascriptDialogOpening":
                self.dialogs.append(told["message"])
            case "Log.entryAdded":
                self.console.append((told["entry"]["source"], told["entry"]["text"]))
            case "Runtime.exceptionThrown":
                self.console.append(("exception", json.dumps(told["exceptionDetails"])[:400]))
            case "Runtime.consoleAPICalled" if told["type"] in ("error", "warning", "assert"):
                self.console.append(("console", json.dumps(told["args"])[:400]))
        super()._heed(message, session)


@contextlib.contextmanager
def open_tab(downloads: Path) -> Iterator[Tab]:
    """A tab of a new Chromium that wants no motion."""
    program = program_of("chromium")
    running = Program(
        lambda folder: [str(program), *_FLAGS, f"--user-data-dir={folder}/profile"],
        {},
        piped=True,
    )
    try:
        yield Tab(running.pipe, downloads)
    finally:
        running.close()
