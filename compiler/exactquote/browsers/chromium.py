"""Turns a link into a `Landing` by asking Chromium for the range that its own finder made."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from exactquote.browsers.devtools import DevTools
from exactquote.browsers.landing import Gone, Landing, Refused, Silent
from exactquote.browsers.processes import Program
from exactquote.browsers.reading import DESCRIBE, is_about, landing
from exactquote.browsers.watching import LEFT, SEEN, WATCH, told
from exactquote.rendered.style_media import DESKTOP_WIDTH, PHONE_HEIGHT, PHONE_WIDTH

_START_SECONDS = 30.0
# What a browser does about each page for the person in front of it: no one is.
_FEATURES_OFF = (
    "AutofillServerCommunication",
    "BackForwardCache",
    "DialMediaRouteProvider",
    "GlobalMediaControls",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "OptimizationGuideModelDownloading",
    "OptimizationHints",
    "PageContentAnnotations",
    "PaintHolding",
    "RenderDocument",
    "SegmentationPlatform",
    "SpareRendererForSitePerProcess",
    "Translate",
)
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-default-apps",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-field-trial-config",
    "--password-store=basic",
    "--metrics-recording-only",
    f"--disable-features={','.join(_FEATURES_OFF)}",
    # Frames of an animated scroll cost more than the page, and change nothing of what is found.
    "--force-prefers-reduced-motion",
    "--hide-scrollbars",
    "--mute-audio",
    f"--window-size={DESKTOP_WIDTH},1600",
    "--lang=en-US",
    # Only the tests of Chromium itself see the finder's ranges otherwise.
    "--enable-blink-features=TextFragmentAPI",
    # Without a window there is no mouse, and style sheets would take the screen for a touch screen.
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,"
    "availablePointerTypes=4",
    "--remote-debugging-pipe",
)
_PHONE = {"width": PHONE_WIDTH, "height": PHONE_HEIGHT, "deviceScaleFactor": 3, "mobile": True}
# The finder tries again for half a second after the load and then says NotFoundError.
# Where no directive came with the navigation, it never says anything.
_READ = """
new Promise((answer) => {
  %s
  const found = [], faults = [];
  const read = async () => {
    const items = document.fragmentDirective ? [...document.fragmentDirective.items] : [];
    const late = new Promise((end, fail) =>
      setTimeout(() => fail(new Error("the search for the text never ended")), 2500));
    late.catch(() => {});
    for (const item of items) {
      try {
        found.push(await Promise.race([item.getMatchingRange(), late]));
      } catch (fault) {
        if (fault.name !== "NotFoundError") faults.push(String(fault.message || fault));
      }
    }
    if (found.length && !scrollX && !scrollY)
      await Promise.race([
        new Promise((end) => requestAnimationFrame(() => requestAnimationFrame(end))),
        new Promise((end) => setTimeout(end, 100))]);
    answer(summary(found, faults));
  };
  if (document.readyState === "complete") read(); else addEventListener("load", read);
})
""" % (DESCRIBE,)  # noqa: UP031 - the script is full of braces


class Chromium:
    """A running Chromium with one tab."""

    def __init__(self, program: Path, seconds_max: float, *, phone: bool = False) -> None:
        """Start `program`, with the screen of a phone if wanted. Raises `Gone` if it does not."""
        self._seconds_max = seconds_max
        self._phone = phone
        self._program = Program(
            lambda folder: [str(program), *_FLAGS, f"--user-data-dir={folder}/profile"],
            {},
            piped=True,
        )
        try:
            self._tools = DevTools(self._program.pipe)
            self._tab = self._session = ""
            self.version = self._browser("Browser.getVersion")["product"].rpartition("/")[2]
            self.fresh_tab()
        except (Silent, Refused, LookupError, TypeError) as fault:
            self.close()
            raise Gone(f"Chromium did not start: {fault}") from fault
        except BaseException:
            self.close()
            raise

    def visit(self, url: str, token: str) -> Landing:
        """Open `url` as a new document and say what is highlighted."""
        deadline = time.monotonic() + self._seconds_max
        try:
            if not token:
                self._navigate("about:blank", deadline)
            fault = self._navigate(url, deadline)
            if fault:
                return Landing(error=fault)
            answer = self._evaluate(_READ, deadline)
        except Silent as silence:
            raise Silent(str(silence), frozen=not self._answers()) from silence
        if not is_about(answer, token):
            raise Refused("the tab shows another page than the one asked for")
        return landing(answer)

    def watch(self, url: str, token: str) -> tuple[tuple[str, str], ...]:
        """Open `url` and say what the page does against links into it, each with a cure."""
        deadline = time.monotonic() + self._seconds_max
        script = self._page("Page.addScriptToEvaluateOnNewDocument", deadline, source=WATCH)
        try:
            if self._navigate(url, deadline):
                return ()
            return told(self._evaluate(SEEN, deadline), token)
        except Refused:
            # The document ended while it was watched.
            return (LEFT,)
        finally:
            self._page("Page.removeScriptToEvaluateOnNewDocument", deadline, **script)

    def fresh_tab(self) -> None:
        """Go on in a new tab that never saw a page."""
        old = self._tab
        self._tab = self._browser("Target.createTarget", url="about:blank")["targetId"]
        attached = self._browser("Target.attachToTarget", targetId=self._tab, flatten=True)
        self._session = attached["sessionId"]
        deadline = time.monotonic() + _START_SECONDS
        self._page("Page.enable", deadline)
        if self._phone:
            self._page("Emulation.setDeviceMetricsOverride", deadline, **_PHONE)
            self._page("Emulation.setTouchEmulationEnabled", deadline, enabled=True)
        if old:
            self._browser("Target.closeTarget", targetId=old)

    def close(self) -> None:
        """End every process and remove every file that the browser was given."""
        self._program.close()

    def _navigate(self, url: str, deadline: float) -> str | None:
        result = self._page("Page.navigate", deadline, url=url)
        if "errorText" in result:
            return str(result["errorText"])
        # Without a loader the document has stayed, and the answer would be about a former visit.
        return None if "loaderId" in result else "the browser did not load the page anew"

    def _evaluate(self, script: str, deadline: float) -> dict[str, Any]:
        result = self._page(
            "Runtime.evaluate",
            deadline,
            expression=script,
            awaitPromise=True,
            returnByValue=True,
        )
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Refused(str(details.get("exception", {}).get("description", details["text"])))
        value: dict[str, Any] = result["result"]["value"]
        return value

    def _answers(self) -> bool:
        try:
            probe = time.monotonic() + self._seconds_max / 2
            self._page("Runtime.evaluate", probe, expression="1")
        except (Silent, Refused, Gone):
            return False
        return True

    def _page(self, method: str, deadline: float, **parameters: object) -> dict[str, Any]:
        return self._tools.call(method, parameters, self._session, deadline)

    def _browser(self, method: str, **parameters: object) -> dict[str, Any]:
        return self._tools.call(method, parameters, "", time.monotonic() + _START_SECONDS)
