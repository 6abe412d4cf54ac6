"""Opens links in real browsers and says which of them land exactly on their quotes."""

from __future__ import annotations

import itertools
import queue
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from exactquote.browsers.chromium import Chromium
from exactquote.browsers.firefox import Firefox
from exactquote.browsers.landing import BrowserName, Engine, Gone, Landing, Refused, Silent
from exactquote.browsers.same_text import bare, same_text
from exactquote.browsers.webkit import Webkit, mini_browser
from exactquote.deeplink.directive import DELIMITER

BROWSERS: tuple[BrowserName, ...] = ("chromium", "firefox", "webkit")
NAMED: tuple[BrowserName, ...] = (*BROWSERS, "phone")
"""All that can be asked for; a phone is asked only where it is named."""
SECONDS_MAX = 30.0

_CHROMIUM = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
_PROGRAMS: dict[BrowserName, tuple[str, ...]] = {
    "chromium": _CHROMIUM,
    "firefox": ("firefox-esr", "firefox"),
    "webkit": ("WebKitWebDriver",),
    "phone": _CHROMIUM,
}
_INSTALL: dict[BrowserName, str] = {
    "chromium": "apt-get install chromium",
    "firefox": "apt-get install firefox-esr",
    "webkit": "apt-get install webkit2gtk-driver xvfb && pip install 'exactquote[webkit]'",
    "phone": "apt-get install chromium",
}
_ENGINES: dict[BrowserName, Callable[[Path, float], Engine]] = {
    "chromium": Chromium,
    "firefox": Firefox,
    "webkit": Webkit,
    "phone": partial(Chromium, phone=True),
}
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_STARTS_MAX = 3
_TOKENS = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Found:
    """An installed browser."""

    program: Path


@dataclass(frozen=True, slots=True)
class Missing:
    """A browser that can't be asked here, and what would mend that."""

    reason: str
    install: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link to judge: it is exact if it highlights `quote`, once, and nothing else.

    A link without a text directive is exact if it leads to the element of `element_id`, in
    view, and the text of that has `quote`.

    `element_id` and `before` tell one of several equal passages from the others: the nearest
    id around it, and the page's text that ends right in front of it. Unless given, they
    are not compared. `in_sight` is `before` without what closed boxes hide, if that is another
    text, for browsers whose picture is read.
    """

    url: str
    quote: str
    element_id: str | None = None
    before: str = ""
    in_sight: str | None = None

    @property
    def by_block(self) -> bool:
        """Whether the link names an element and no text."""
        return DELIMITER not in self.url


@dataclass(frozen=True, slots=True)
class Result:
    """What one browser made of one link; a second landing if the first was not exact."""

    link: Link
    browser: BrowserName
    landings: tuple[Landing, ...]
    exact: bool
    flaky: bool

    @property
    def landing(self) -> Landing:
        """The landing that counts: the last one."""
        return self.landings[-1]


class Unavailable(Exception):
    """A browser that was asked for is not installed or does not start."""


def find_browsers() -> dict[BrowserName, Found | Missing]:
    """Every browser that can be named, where it is, and how to get those that are missing."""
    return {name: _find(name) for name in NAMED}


@contextmanager
def open_browser(name: BrowserName, *, seconds_max: float = SECONDS_MAX) -> Iterator[Browser]:
    """A running browser. Raises `Unavailable` where there is none."""
    browser = Browser(name, seconds_max)
    try:
        yield browser
    finally:
        browser.close()


def judge(
    links: Sequence[Link],
    browser_names: Sequence[BrowserName] = ("chromium", "firefox"),
    on_result: Callable[[Result], None] | None = None,
    *,
    workers: int = 1,
    seconds_max: float = SECONDS_MAX,
) -> list[Result]:
    """Open every link in every browser, in the order of links, then of browsers.

    The browsers run side by side, `workers` processes of each. `on_result` is called in
    the calling thread, as results come. A link that is not exact is tried again in a fresh
    tab: what is wrong then too is wrong, what is not is flaky, and both landings are kept.
    Raises `Unavailable` where a browser is not installed or does not start.
    """
    names = tuple(dict.fromkeys(browser_names))
    work: dict[BrowserName, queue.SimpleQueue[int]] = {name: queue.SimpleQueue() for name in names}
    for name, number in itertools.product(names, range(len(links))):
        work[name].put(number)
    done: queue.SimpleQueue[tuple[int, Result] | Exception] = queue.SimpleQueue()
    browsers = [
        Browser(name, seconds_max)
        for name in names
        for _ in range(min(max(workers, 1), len(links)))
    ]
    threads = [
        threading.Thread(target=_work, args=(browser, links, work[browser.name], done), daemon=True)
        for browser in browsers
    ]
    results: dict[tuple[int, BrowserName], Result] = {}
    try:
        for thread in threads:
            thread.start()
        while len(results) < len(links) * len(names):
            answer = done.get()
            if isinstance(answer, Exception):
                raise answer
            number, result = answer
            results[number, result.browser] = result
            if on_result is not None:
                on_result(result)
    finally:
        # Also on an interrupt: a closed browser's thread comes to its end by itself.
        for browser in browsers:
            browser.close()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
    return [results[number, name] for number in range(len(links)) for name in names]


def judge_one(browser: Browser, link: Link) -> Result:
    """Open one link in a running browser, and again in a fresh tab unless it was exact."""
    first = browser.land(link.url)
    if is_exact(first, link, pixels=browser.pixels):
        return Result(link, browser.name, (first,), exact=True, flaky=False)
    browser.fresh_tab()
    second = browser.land(link.url)
    exact = is_exact(second, link, pixels=browser.pixels)
    flaky = exact or _seen(first) != _seen(second)
    return Result(link, browser.name, (first, second), exact, flaky)


def is_exact(landing: Landing, link: Link, *, pixels: bool) -> bool:
    """Whether a landing is the one that the link promises."""
    if link.by_block:
        return _shows_block(landing, link)
    if not landing.matched or landing.ranges != 1 or landing.error is not None:
        return False
    if link.element_id is not None and landing.element_id != link.element_id:
        return False
    before = link.in_sight if pixels and link.in_sight is not None else link.before
    if before and not _ends_alike(landing.before, before):
        return False
    return same_text(landing.text or "", link.quote, pixels=pixels)


def _seen(landing: Landing) -> tuple[object, ...]:
    return landing.matched, landing.text, landing.target


def _shows_block(landing: Landing, link: Link) -> bool:
    target = landing.target
    if target is None or not target.shown or landing.error is not None:
        return False
    return target.id == link.element_id and bare(link.quote) in bare(target.text)


class Browser:
    """A browser that is started when first needed, and again whenever it freezes or dies."""

    def __init__(self, name: BrowserName, seconds_max: float = SECONDS_MAX) -> None:
        """Name the browser; nothing is started yet."""
        self.name = name
        self.pixels = name == "webkit"
        self._seconds_max = seconds_max
        self._engine: Engine | None = None
        self._closed = False
        self._lock = threading.Lock()

    @property
    def version(self) -> str:
        """Version of the running browser."""
        return self._running().version

    def land(self, url: str) -> Landing:
        """Open `url` as a reader would, and say what is highlighted.

        Never raises for what a page does: a page that freezes or kills the browser has a
        landing that says so, and the next one gets a new browser.
        """
        marked, token = _marked(url)
        for last in (False, True):
            engine = self._running()
            try:
                return engine.visit(marked, token)
            except Silent as silence:
                self._drop()
                error = f"no answer within {self._seconds_max:g} s"
                if not silence.frozen:
                    error = "the page never finished loading"
                return Landing(error=error, frozen=silence.frozen, slow=not silence.frozen)
            except Refused as refusal:
                return Landing(error=str(refusal))
            except Gone as end:
                # It may have died of something that has nothing to do with this page.
                self._drop()
                if last:
                    return Landing(error=str(end))
        raise AssertionError("unreachable")

    def watch(self, url: str) -> tuple[tuple[str, str], ...]:
        """What a page does against links into it as it loads, in words, each with a cure.

        Only Chromium can be asked; a page at which it fails is told by its landings.
        """
        marked, token = _marked(url)
        engine = self._running()
        if not isinstance(engine, Chromium):
            return ()
        try:
            return engine.watch(marked, token)
        except (Silent, Refused, Gone):
            self._drop()
            return ()

    def fresh_tab(self) -> None:
        """Go on in a tab that never saw a page, of a new browser if need be."""
        if self._engine is None:
            return
        try:
            self._engine.fresh_tab()
        except (Silent, Refused, Gone):
            self._drop()

    def close(self) -> None:
        """End the browser for good; may be called from another thread."""
        self._closed = True
        self._drop()

    def _running(self) -> Engine:
        with self._lock:
            if self._engine is None:
                self._engine = self._start()
            return self._engine

    def _start(self) -> Engine:
        found = _find(self.name)
        if isinstance(found, Missing):
            raise Unavailable(f"{found.reason}; install it with: {found.install}")
        reason = "it was closed"
        for _ in range(_STARTS_MAX):
            if self._closed:
                break
            try:
                return _ENGINES[self.name](found.program, self._seconds_max)
            except Gone as end:
                reason = str(end)
        raise Unavailable(f"{self.name} does not start: {reason}")

    def _drop(self) -> None:
        with self._lock:
            engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()


def _work(
    browser: Browser,
    links: Sequence[Link],
    work: queue.SimpleQueue[int],
    done: queue.SimpleQueue[tuple[int, Result] | Exception],
) -> None:
    try:
        while True:
            number = work.get_nowait()
            done.put((number, judge_one(browser, links[number])))
    except queue.Empty:
        browser.close()
    except Exception as fault:
        done.put(fault)


def _find(name: BrowserName) -> Found | Missing:
    program = next(filter(None, map(shutil.which, _PROGRAMS[name])), None)
    if program is None:
        return Missing(f"no {_PROGRAMS[name][0]} on the search path", _INSTALL[name])
    if name == "webkit":
        needed = {
            "Xvfb": shutil.which("Xvfb"),
            "MiniBrowser": mini_browser(),
            "Pillow": find_spec("PIL"),
        }
        absent = [part for part, path in needed.items() if path is None]
        if absent:
            return Missing(f"WebKit can't be asked without {', '.join(absent)}", _INSTALL[name])
    return Found(Path(program))


def _marked(url: str) -> tuple[str, str]:
    """The address with a token in its query, where the server is known to ignore queries."""
    if urlsplit(url).hostname not in _LOOPBACK:
        return url, ""
    token = f"landing={next(_TOKENS)}."
    address, hash_sign, fragment = url.partition("#")
    return f"{address}{'&' if '?' in address else '?'}{token}{hash_sign}{fragment}", token


def _ends_alike(before: str, wanted: str) -> bool:
    found, expected = bare(before), bare(wanted)
    return found.endswith(expected[-len(found) :]) if found else not expected
