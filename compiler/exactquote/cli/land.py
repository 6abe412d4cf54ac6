"""Turn a built site into what real browsers make of its links; `exactquote land`."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import click
from selectolax.lexbor import LexborHTMLParser

from exactquote.browsers.landing import BrowserName
from exactquote.browsers.oracle import (
    BROWSERS,
    Link,
    Missing,
    Result,
    Unavailable,
    find_browsers,
    judge,
)
from exactquote.browsers.reading import BEFORE_CHARS
from exactquote.browsers.same_text import bare
from exactquote.browsers.server import Server
from exactquote.browsers.watch_pages import watch_pages
from exactquote.cli.options import ManyCitations, Options, with_options
from exactquote.cli.run import progress, settings_for
from exactquote.cli.speak import say
from exactquote.deeplink.directive import parse
from exactquote.deeplink.match import land
from exactquote.disk.corpus import require_folder
from exactquote.disk.refusal import Refusal
from exactquote.emit.blocks import BLOCKS
from exactquote.emit.manifest import MANIFEST_PATH, MANIFEST_VERSION
from exactquote.model import Span
from exactquote.rendered.page import Kind, Page, Run, read_page
from exactquote.report.landing import Asked, Hazard, Landed
from exactquote_site.wire.allowlist import WireError, load_allowlist

SAMPLE = 100
SEED = 1

# Processes of each browser; more of them only wait for one another.
_WORKERS_MAX = 4
_SHOWN = frozenset({Kind.TEXT, Kind.CHROME})
_BUILD_META = re.compile(rb'<meta name="exactquote-build" content="([^"]*)">')
# A page of which nothing runs can't do anything to its links.
_ACTIVE = re.compile(rb"<script\b|\son[a-z]+\s*=|http-equiv=.?refresh", re.IGNORECASE)
_EPILOG = """\b
Serves the site on loopback and opens its links as a reader would. Every cited
link is opened, and of the others a sample. Links that lead to a section only
are counted, not judged. Pages of another generator need --citations.

\b
Examples:
  exactquote land                               dist/, in the browsers found
  exactquote land --browser firefox --all       every link of the build
  exactquote land public --citations c.yaml     pages of any generator

\b
Exit codes: 0 every link opened is exact, 1 one is not, 2 wrong use, no build,
or a browser that is missing, 3 a bug of ours
"""


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


def _browser_names(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[BrowserName, ...]:
    words = [word.strip().lower() for value in values for word in value.split(",")]
    wanted = [word for word in words if word]
    unknown = [word for word in wanted if word not in BROWSERS]
    if values and not wanted:
        raise click.BadParameter(f"none of {', '.join(BROWSERS)} is named", ctx=ctx, param=param)
    if unknown:
        raise click.BadParameter(
            f"{unknown[0]!r} is none of {', '.join(BROWSERS)}", ctx=ctx, param=param
        )
    return tuple(name for name in BROWSERS if name in wanted)


@click.command("land", cls=ManyCitations, epilog=_EPILOG)
@click.argument("dist", required=False, default=Path("dist"), type=click.Path(path_type=Path))
@click.option(
    "--browser",
    "names",
    metavar="NAMES",
    multiple=True,
    callback=_browser_names,
    help="chromium, firefox, webkit, or several with commas between; else those found.",
)
@click.option("--all", "every", is_flag=True, help="Open every link of the build.")
@click.option(
    "--sample",
    type=click.IntRange(0),
    help=f"How many links that nothing cites to open, drawn by seed.  [default: {SAMPLE}]",
)
@click.option("--seed", type=int, default=SEED, show_default=True, help="Another one, other links.")
@click.option(
    "--citations",
    multiple=True,
    metavar="FILE...",
    type=click.Path(path_type=Path),
    help="Take DIST for pages of another generator, and open these citations.",
)
@with_options
def command(
    dist: Path,
    names: tuple[BrowserName, ...],
    every: bool,
    sample: int | None,
    seed: int,
    citations: tuple[Path, ...],
    options: Options,
) -> int:
    """Open the links of the built site in DIST (dist/ unless given) in real browsers."""
    ctx = click.get_current_context()
    if every and sample is not None:
        raise click.UsageError("--all and --sample exclude each other", ctx)
    if citations and (every or sample is not None):
        raise click.UsageError("of --citations every one is opened: no --all, no --sample", ctx)
    require_folder(dist)
    if citations:
        site: Path | Mapping[str, bytes] = dist
        links = _cited_of_site(dist, citations, options)
    else:
        build_id, site = read_build(dist)
        links = links_of_build(build_id, site)
    browsers, left_out = _available(names)
    if not options.quiet:
        for note in left_out:
            click.echo(f"note: {note}", err=True)
    count = len(links.others) if every else SAMPLE if sample is None else sample
    drawn = draw(links.others, count, seed)
    asked = links.told_apart((*links.cited, *drawn))
    with progress(options) as line:
        label = f"opening links in {', '.join(browsers)}:"
        hazards = hazards_seen(
            site, asked, browsers, lambda done, of: line("watching pages in chromium:", done, of)
        )
        results, seconds = open_links(site, asked, browsers, lambda done, of: line(label, done, of))
    landed = Landed(
        links.build_id,
        browsers,
        asked,
        results,
        seconds,
        others=len(links.others),
        by_element_id=links.by_element_id,
        refused=links.refused,
        seed=seed if len(drawn) < len(links.others) else None,
        hazards=hazards,
    )
    _say(landed, options)
    return 1 if landed.failed else 0


def _say(landed: Landed, options: Options) -> None:
    from exactquote.report.landing import landing_json, landing_text

    if options.json:
        say(landing_json(landed))
    else:
        say(
            landing_text(
                landed, color=options.color, summary=not options.quiet, exact=options.verbose
            )
        )


def read_build(root: Path) -> tuple[str, dict[str, bytes]]:
    """Build id and files of the build in a folder, each the very one that it names.

    Raises `Refusal` for a folder that is no build of ours, or no longer the one it was.
    """
    build_id, hashes = _manifest(root)
    files: dict[str, bytes] = {}
    wrong = []
    for path, wanted in sorted(hashes.items()):
        data = _file(root, path)
        if data is None or hashlib.sha256(data).hexdigest() != wanted:
            wrong.append(path)
        else:
            files[path] = data
    if wrong:
        more = f", nor are {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise Refusal(
            f"{root / wrong[0]} is not the file that {MANIFEST_PATH} names{more}; build again"
        )
    for path, data in files.items():
        found = _BUILD_META.search(data) if path.endswith(".html") else None
        if found is not None and found[1].decode("utf-8", "replace") != build_id:
            raise Refusal(f"{root / path} is of another build than {MANIFEST_PATH}; build again")
    return build_id, files


def _manifest(root: Path) -> tuple[str, dict[str, str]]:
    cure = "name the folder that `exactquote build` wrote, or the --citations of other pages"
    data = _file(root, MANIFEST_PATH)
    if data is None:
        raise Refusal(f"{root} has no {MANIFEST_PATH}, so it is no build of ours; {cure}")
    try:
        record: Any = json.loads(data)
        version, build_id, listed = record["version"], record["build_id"], record["files"]
        hashes = {path: record["sha256"] for path, record in listed.items()}
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise Refusal(f"{root / MANIFEST_PATH} is not one of ours; {cure}") from None
    if version != MANIFEST_VERSION or not isinstance(build_id, str):
        raise Refusal(
            f"{root / MANIFEST_PATH} has version {version!r}, and only {MANIFEST_VERSION} can be"
            " read; build again with this exactquote"
        )
    return build_id, hashes


def _file(root: Path, name: str) -> bytes | None:
    try:
        path = (root / name).resolve()
        # A link or ".." must not lead out of the site.
        return path.read_bytes() if path.is_relative_to(root.resolve()) else None
    except (OSError, ValueError):
        return None


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


def _cited_of_site(root: Path, citations: Sequence[Path], options: Options) -> Links:
    """The links of those citations of another generator's pages that are bound."""
    from exactquote.disk.site_dir import read_site
    from exactquote.pipeline import check_site
    from exactquote.rendered.linked import linked_styles
    from exactquote.rendered.styles import sheet

    settings = settings_for(root, options)
    corpus = read_site(root, settings, extra_citations=citations)
    with progress(options) as line:
        build = check_site(corpus, settings, line)
    texts = {document.path: document.text for document in corpus.documents}

    def page(path: str) -> Page | None:
        html = texts.get(path)
        if html is None:
            return None
        sheets = [
            sheet(css, media=media, layer=layer)
            for _, css, media, layer in linked_styles(html, path, corpus.assets)
        ]
        return read_page(html, doc=path, path=path, sheets=sheets)

    cited = [
        Asked(verdict.id, Link(verdict.link.href, verdict.quote or ""), True)
        for verdict in build.verdicts
        if verdict.link is not None
    ]
    return Links(build.build_id, Pages(page), tuple(cited), refused=build.counts.refused)


def promised(page: Page | None, href: str, quote: str, span: Span | None = None) -> Link:
    """The link with what must stand before the highlight, where the page has the quote again.

    The quote stands at `span`, or else where the link's directive lands. A page that is None
    isn't there; a browser will say so.
    """
    if page is not None and span is None:
        _, directives = parse(href.partition("#")[2])
        landing = land(page, directives[0], "any") if directives else None
        span = landing.span if landing is not None else None
    if page is None or span is None:
        return Link(href, quote)
    before, in_sight = _telling(page, span, None), None
    if page.has_closed:
        in_sight = _telling(page, span, page.runs[page.run_at(span.start)].closed)
    return Link(href, quote, before=before, in_sight=in_sight)


@dataclass(frozen=True, slots=True)
class _Bare:
    """Runs of a page with their text as landings are compared: no white space, nothing unseen."""

    page: Page
    runs: tuple[Run, ...]
    text: str
    starts: tuple[int, ...]
    """Where each run begins in `text`."""

    def index(self, offset: int) -> int:
        """Which of the runs holds an offset of the page."""
        return bisect_right(self.runs, offset, key=lambda run: run.start) - 1

    def at(self, offset: int) -> int:
        """The place in `text` of an offset of the page."""
        k = self.index(offset)
        return self.starts[k] + len(bare(self.page.text[self.runs[k].start : offset]))


def _bare_page(page: Page, closed: int | None) -> _Bare:
    """All of a page, or what is seen of it while one box is open; made once for its links."""
    made: _Bare | None = page.views.get(f"bare {closed}")
    if made is None:
        runs = tuple(run for run in page.runs if closed is None or run.closed in (0, closed))
        texts = [bare(page.text[run.start : run.end]) for run in runs]
        starts = accumulate(map(len, texts), initial=0)
        made = _Bare(page, runs, "".join(texts), tuple(starts)[:-1])
        page.views[f"bare {closed}"] = made
    return made


def _telling(page: Page, span: Span, closed: int | None) -> str:
    """As much of what stands before a span as tells it from equal ones; "" if there are none."""
    whole = _bare_page(page, closed)
    runs, text, end = whole.runs, whole.text, whole.at(span.end)
    index, begin = whole.index(span.start), span.start
    while _twice(text, text[whole.at(begin) : end]):
        if begin > runs[index].start:
            begin = runs[index].start
        elif index and runs[index - 1].kind in _SHOWN and span.start - begin < BEFORE_CHARS:
            index -= 1
            begin = runs[index].start
        else:
            break
    begin = max(begin, span.start - BEFORE_CHARS)
    inside = (run for run in runs if run.start < span.start and run.end > begin)
    return " ".join(page.text[max(run.start, begin) : min(run.end, span.start)] for run in inside)


def _twice(text: str, part: str) -> bool:
    return text.find(part, text.find(part) + 1) >= 0


def _available(
    names: Sequence[BrowserName],
) -> tuple[tuple[BrowserName, ...], tuple[str, ...]]:
    """The browsers asked for, or all that there are, and why each other one is left out.

    Raises `Refusal` where one that was asked for is missing.
    """
    found = find_browsers()
    missing = {name: state for name, state in found.items() if isinstance(state, Missing)}
    wanted = tuple(names) or tuple(name for name in found if name not in missing)
    absent = tuple(
        f"{name} is left out: {state.reason}; install it with: {state.install}"
        for name, state in missing.items()
        if not names or name in names
    )
    if absent and (names or not wanted):
        raise Refusal("\n".join(one.replace(" is left out", "", 1) for one in absent))
    return wanted, absent


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
