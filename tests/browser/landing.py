"""Lets a test say that links of a site land on their quotes in real browsers."""

from __future__ import annotations

import atexit
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from exactquote.browsers.landing import BrowserName
from exactquote.browsers.oracle import Browser, Link, Missing, Result, find_browsers, judge_one
from exactquote.browsers.server import Server


class Browsers:
    """The browsers of a test run: each is started when first asked for, and then kept."""

    def __init__(self) -> None:
        self._running: dict[BrowserName, Browser] = {}

    def __getitem__(self, name: BrowserName) -> Browser:
        """The running browser; an absent one fails the test under CI and skips it elsewhere."""
        if name not in self._running:
            found = find_browsers()[name]
            if isinstance(found, Missing):
                reason = f"{found.reason}; install it with: {found.install}"
                if os.environ.get("CI") == "true":
                    pytest.fail(reason)
                pytest.skip(reason)
            self._running[name] = Browser(name)
        return self._running[name]

    def close(self) -> None:
        for browser in self._running.values():
            browser.close()
        self._running.clear()


BROWSERS = Browsers()
# Tests elsewhere may ask without the fixture that closes them.
atexit.register(BROWSERS.close)


def judge_site(
    site: Mapping[str, bytes] | Path,
    links: Sequence[tuple[str, str] | Link],
    browsers: Sequence[BrowserName] = ("chromium", "firefox"),
) -> list[Result]:
    """What each browser makes of each link; hrefs are relative to the site's root."""
    asked = [BROWSERS[name] for name in browsers]
    wanted = [link if isinstance(link, Link) else Link(*link) for link in links]
    with Server(site) as server, ThreadPoolExecutor(max(len(asked), 1)) as threads:
        there = [replace(link, url=server.url(link.url)) for link in wanted]
        judged = threads.map(lambda browser: [judge_one(browser, link) for link in there], asked)
        return [result for results in judged for result in results]


def assert_lands(
    site: Mapping[str, bytes] | Path,
    links: Sequence[tuple[str, str] | Link],
    browsers: Sequence[BrowserName] = ("chromium", "firefox"),
) -> None:
    """Every link highlights exactly its quote in every browser, and there is a link at all."""
    results = judge_site(site, links, browsers)
    assert results, "no link was judged"
    wrong = [result for result in results if not result.exact or result.flaky]
    assert not wrong, f"{len(wrong)} of {len(results)} do not land:\n" + "\n".join(
        map(_story, wrong)
    )


def _story(result: Result) -> str:
    lines = [f"{result.browser}: {result.link.url}", f"  wanted {result.link.quote!r}"]
    for landing in result.landings:
        found = landing.error if landing.text is None else repr(landing.text)
        if result.link.by_block:
            found = repr(landing.target)
        lines.append(f"  landed {found} ({landing.ranges} ranges, #{landing.element_id})")
    return "\n".join(lines)
