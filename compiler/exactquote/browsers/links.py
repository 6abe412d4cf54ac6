"""Turns the links of a site into what browsers make of them, and of the pages they lead to."""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser

from exactquote.browsers.landing import BrowserName
from exactquote.browsers.oracle import Link, Result, Unavailable, judge
from exactquote.browsers.same_text import bare
from exactquote.browsers.server import Server
from exactquote.browsers.telling import promised
from exactquote.browsers.watch_pages import watch_pages
from exactquote.deeplink.directive import parse
from exactquote.disk.refusal import Refusal
from exactquote.emit.blocks import BLOCKS
from exactquote.emit.manifest import MANIFEST_PATH
from exactquote.rendered.page import Page, read_page
from exactquote.report.landing import Asked, Hazard
from exactquote_site.wire.allowlist import WireError, load_allowlist

# Processes of each browser; more of them only wait for one another.
_WORKERS_MAX = 4
# A page of which nothing runs can't do anything to its links.
_ACTIVE = re.compile(rb"<script\b|\son[a-z]+\s*=|http-equiv=.?refresh", re.IGNORECASE)


class Pages:
    """The pages that links lead to; each is read once, when it is asked for."""

    def __init__(self, read: Callable[[str], Page | None]) -> None:
        """`read` gives the page of a path in the site, None where there is none."""
        self._read = read
        self._pages: dict[str, Page | None] = {}

    def of(self, href: str) -> Page | None:
        """The page that an href leads to."""
        path = unquote(href.partition("#")[0])
        if path not in self._pages:
            self._pages[path] = self._read(path)
        return self._pages[path]


@dataclass(frozen=True, slots=True)
class Links:
    """The links of a site; `by_element_id` counts those that show no more than a section.

    `refused` counts citations that have no link at all.
    """

    build_id: str
    pages: Pages
    cited: tuple[Asked, ...]
    others: tuple[Asked, ...] = ()
    by_element_id: int = 0
    refused: int = 0

    def told_apart(self, asked: Iterable[Asked]) -> tuple[Asked, ...]:
        """Links with what must stand before each highlight, where its page has the quote again."""
        return tuple(
            one
            if one.link.by_block
            else replace(
                one, link=promised(self.pages.of(one.link.url), one.link.url, one.link.quote)
            )
            for one in asked
        )


def links_of_build(build_id: str, files: Mapping[str, bytes]) -> Links:
    """The links that a build's allowlist promises, by id. Raises `Refusal` for a broken one."""
    try:
        allowlist = load_allowlist(lambda path: files[path])
    except KeyError as error:
        raise Refusal(f"the build lacks {error.args[0]}; build again") from None
    except WireError as error:
        raise Refusal(str(error)) from None
    if allowlist.build_id != build_id:
        raise Refusal(
            f"allowlist.json is of build {allowlist.build_id}, and {MANIFEST_PATH} of {build_id};"
            " build again"
        )
    found: dict[bool, list[Asked]] = {True: [], False: []}
    by_element_id = 0
    opened = set()
    texts = _Texts(files)
    for entry in sorted(allowlist.entries.values(), key=lambda entry: (not entry.cited, entry.id)):
        element_id, directives = parse(entry.href.partition("#")[2])
        if not directives and not texts.has(entry.href, element_id, entry.quote):
            by_element_id += 1
            continue
        # A sentence that is cited under an id of its own has one as a passage, too.
        if (entry.href, entry.quote) not in opened:
            opened.add((entry.href, entry.quote))
            link = Link(entry.href, entry.quote, None if directives else element_id)
            asked = Asked(entry.id, link, entry.cited)
            found[entry.cited].append(asked)
    pages = Pages(lambda path: _own_page(path, files))
    return Links(build_id, pages, tuple(found[True]), tuple(found[False]), by_element_id)


class _Texts:
    """The text of each element that has an id, by page; a page is parsed when asked for."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files
        self._texts: dict[str, dict[str, str]] = {}

    def has(self, href: str, element_id: str, quote: str) -> bool:
        """Whether the element that an href leads to is a block with the quote in it."""
        path = unquote(href.partition("#")[0])
        if path not in self._texts:
            html = self._files.get(path, b"").decode("utf-8", "replace")
            nodes = [node for node in LexborHTMLParser(html).css("[id]") if node.tag in BLOCKS]
            self._texts[path] = {node.id or "": bare(node.text()) for node in reversed(nodes)}
        return bare(quote) in self._texts[path].get(element_id, "")


def _own_page(path: str, files: Mapping[str, bytes]) -> Page | None:
    data = files.get(path)
    if data is None:
        return None
    html = data.decode("utf-8", "replace")
    return read_page(html, doc=path.removesuffix(".html"), path=path, article_only=True)


def draw(others: Sequence[Asked], count: int, seed: int) -> tuple[Asked, ...]:
    """So many of the links, in their order; the same ones for the same seed."""
    if count >= len(others):
        return tuple(others)
    kept = random.Random(seed).sample(range(len(others)), count)
    return tuple(others[number] for number in sorted(kept))


def hazards_seen(
    site: Path | Mapping[str, bytes],
    asked: Iterable[Asked],
    browsers: Sequence[BrowserName],
    heard: Callable[[int, int], None] | None = None,
) -> tuple[Hazard, ...]:
    """What pages with scripts do against the links into them; only Chromium can be asked.

    Raises `Refusal` when it does not start.
    """
    first: dict[str, str] = {}
    for one in asked:
        first.setdefault(unquote(one.link.url.partition("#")[0]), one.link.url)
    if "chromium" not in browsers:
        return ()
    with Server(site) as server:
        hrefs = {
            page: href
            for page, href in first.items()
            if _ACTIVE.search(server.respond("/" + href.partition("#")[0])[2])
        }
        if not hrefs:
            return ()
        try:
            seen = watch_pages([server.url(href) for href in hrefs.values()], heard)
        except Unavailable as missing:
            raise Refusal(str(missing)) from None
    return tuple(
        Hazard(page, message, cure)
        for page, told in zip(hrefs, seen, strict=True)
        for message, cure in told
    )


def open_links(
    site: Path | Mapping[str, bytes],
    asked: Iterable[Asked],
    browsers: Sequence[BrowserName],
    heard: Callable[[int, int], None] | None = None,
) -> tuple[tuple[Result, ...], dict[BrowserName, float]]:
    """What each browser made of each link, and the seconds until its last one was opened.

    Raises `Refusal` when a browser does not start.
    """
    hrefs = [one.link for one in asked]
    seconds: dict[BrowserName, float] = dict.fromkeys(browsers, 0.0)
    done = 0

    def on_result(result: Result) -> None:
        nonlocal done
        done += 1
        seconds[result.browser] = time.monotonic() - started
        if heard is not None:
            heard(done, len(hrefs) * len(browsers))

    with Server(site) as server:
        links = [replace(link, url=server.url(link.url)) for link in hrefs]
        started = time.monotonic()
        try:
            workers = max(1, min(_WORKERS_MAX, (os.cpu_count() or 1) // len(browsers)))
            results = judge(links, browsers, on_result, workers=workers) if links else []
        except Unavailable as missing:
            raise Refusal(str(missing)) from None
    return tuple(results), seconds
