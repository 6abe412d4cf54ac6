"""Turn a built site into what real browsers make of its links; `exactquote land`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from exactquote.browsers.landing import BrowserName
from exactquote.browsers.links import (
    Links,
    Pages,
    draw,
    hazards_seen,
    links_of_build,
    open_links,
)
from exactquote.browsers.oracle import BROWSERS, NAMED, Link, Missing, find_browsers
from exactquote.cli.options import ManyCitations, Options, with_options
from exactquote.cli.run import progress, settings_for
from exactquote.cli.speak import say
from exactquote.disk.build_dir import read_build
from exactquote.disk.corpus import require_folder
from exactquote.disk.refusal import Refusal
from exactquote.rendered.page import Page, read_page
from exactquote.report.landing import Asked, Landed

SAMPLE = 100
SEED = 1

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


def _browser_names(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[BrowserName, ...]:
    words = [word.strip().lower() for value in values for word in value.split(",")]
    wanted = [word for word in words if word]
    unknown = [word for word in wanted if word not in NAMED]
    if values and not wanted:
        raise click.BadParameter(f"none of {', '.join(NAMED)} is named", ctx=ctx, param=param)
    if unknown:
        raise click.BadParameter(
            f"{unknown[0]!r} is none of {', '.join(NAMED)}", ctx=ctx, param=param
        )
    return tuple(name for name in NAMED if name in wanted)


@click.command("land", cls=ManyCitations, epilog=_EPILOG)
@click.argument("dist", required=False, default=Path("dist"), type=click.Path(path_type=Path))
@click.option(
    "--browser",
    "names",
    metavar="NAMES",
    multiple=True,
    callback=_browser_names,
    help="chromium, firefox, webkit, or several with commas between; else those found."
    " Also phone: Chromium with the screen of one.",
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
            sheet(one.css, media=one.media, layer=one.layer)
            for one in linked_styles(html, path, corpus.assets)
        ]
        return read_page(html, doc=path, path=path, sheets=sheets)

    cited = [
        Asked(verdict.id, Link(verdict.link.href, verdict.quote or ""), True)
        for verdict in build.verdicts
        if verdict.link is not None
    ]
    return Links(build.build_id, Pages(page), tuple(cited), refused=build.counts.refused)


def _available(
    names: Sequence[BrowserName],
) -> tuple[tuple[BrowserName, ...], tuple[str, ...]]:
    """The browsers asked for, or all that there are, and why each other one is left out.

    Raises `Refusal` where one that was asked for is missing.
    """
    found = {name: state for name, state in find_browsers().items() if name in (names or BROWSERS)}
    missing = {name: state for name, state in found.items() if isinstance(state, Missing)}
    wanted = tuple(names) or tuple(name for name in found if name not in missing)
    absent = tuple(
        f"{name} is left out: {state.reason}; install it with: {state.install}"
        for name, state in missing.items()
    )
    if absent and (names or not wanted):
        raise Refusal("\n".join(one.replace(" is left out", "", 1) for one in absent))
    return wanted, absent
