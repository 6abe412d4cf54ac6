"""Turn a corpus or a built site into a report; `exactquote check`."""

from __future__ import annotations

from pathlib import Path

import click

from exactquote.cli.options import (
    ManyCitations,
    Options,
    default_folder,
    folder_argument,
    with_options,
)
from exactquote.cli.run import check_folder, settings_for
from exactquote.cli.speak import say_report

_EPILOG = """\b
A folder with Markdown or MDX is a corpus; one with HTML only is a built site,
whose citations are in sidecars beside its pages or in the files given. There,
`doc` is the page's path, with or without .html or /index.html.

\b
Examples:
  exactquote check                           corpus/, or the folder you are in
  exactquote check docs --format json        for a program to read
  exactquote check site --citations c.json   pages of any generator

\b
Exit codes: 0 clean, 1 findings, 2 wrong use or unreadable input, 3 a bug of ours
"""


@click.command("check", cls=ManyCitations, epilog=_EPILOG)
@folder_argument()
@click.option(
    "--citations",
    multiple=True,
    metavar="FILE...",
    type=click.Path(path_type=Path),
    help="Citation files that lie elsewhere (.json, .yaml, .toml).",
)
@click.option("--site", is_flag=True, help="Take DIR for a built site, whatever else is in it.")
@with_options
def command(folder: Path | None, citations: tuple[Path, ...], site: bool, options: Options) -> int:
    """Check every citation in DIR; needs no configuration and no network, writes nothing."""
    root = default_folder(folder)
    settings = settings_for(root, options)
    build = check_folder(root, settings, options, citations, True if site else None)
    say_report(build, root, options)
    return 1 if build.failed else 0
