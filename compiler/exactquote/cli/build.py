"""Turn a corpus into its site, when nothing is wrong with it; `exactquote build`."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from exactquote.cli.options import Options, default_folder, folder_argument, with_options
from exactquote.cli.run import build_folder, require_apart, settings_for
from exactquote.cli.speak import say, say_report
from exactquote.disk.refusal import Refusal
from exactquote.report.text import many
from exactquote.report.visible import visible
from exactquote.settings import KnowledgeSettings

if TYPE_CHECKING:
    from exactquote.embed.remembering import Remembering

_EPILOG = """\b
The output changes as a whole, and only when there is no error: a build that
fails, is killed or finds the disk full leaves the former output as it was.

\b
Examples:
  exactquote build                      corpus/ into dist/
  exactquote build docs -o public       any corpus, any output

\b
Exit codes: 0 clean, 1 findings, 2 wrong use or unreadable input, 3 a bug of ours
"""


@click.command("build", epilog=_EPILOG)
@folder_argument()
@click.option(
    "-o",
    "--output",
    default=Path("dist"),
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder for the site.",
)
@click.option("--force", is_flag=True, help="Replace a folder that isn't a build of ours.")
@click.option(
    "--cache",
    type=click.Path(path_type=Path),
    help="Folder that keeps vectors from one build to the next.",
)
@click.option("--no-cache", is_flag=True, help="Make every vector anew, and keep none.")
@with_options
def command(
    folder: Path | None,
    output: Path,
    force: bool,
    cache: Path | None,
    no_cache: bool,
    options: Options,
) -> int:
    """Check the corpus in DIR and write its site, when every citation is bound."""
    if cache is not None and no_cache:
        raise click.UsageError(
            "--cache and --no-cache exclude each other", click.get_current_context()
        )
    root = default_folder(folder)
    settings = settings_for(root, options)
    require_apart(root, output)
    with contextlib.ExitStack() as until_built:
        embedder, kept = _embedder(settings.knowledge, cache, no_cache, until_built)
        build = build_folder(root, settings, options, output, embedder)
    if not build.failed:
        from exactquote.disk.output import write_output

        write_output(build.files, output, force=force)
    say_report(build, root, options)
    if not options.quiet and not options.json:
        name = visible(str(output))
        if build.failed:
            kept = f"; {name} is as it was before" if output.exists() else ""
            say(f"Nothing was written{kept}.\n")
        else:
            say(f"Wrote {len(build.files)} files to {name}.\n")
            say(_told(embedder, kept))
    return 1 if build.failed else 0


def _embedder(
    settings: KnowledgeSettings,
    cache: Path | None,
    no_cache: bool,
    until_built: contextlib.ExitStack,
) -> tuple[Remembering | None, str]:
    """What makes the vectors, and why it keeps none of them when it was meant to.

    Raises `Refusal` for an embedder that can't be had, and for a cache that was named and
    can't be used. A machine without a folder for caches can build all the same.
    """
    if settings.embedder == "none":
        # Words alone need no vectors, and not the time that their libraries take to load.
        return None, ""
    from exactquote.cli.knowledge import opened
    from exactquote.embed.all_cores import on_all_cores
    from exactquote.embed.cache import VectorCache, default_cache_folder
    from exactquote.embed.remembering import Remembering
    from exactquote_site.knowledge.embedders import EmbedderDown

    try:
        shared = on_all_cores(settings.embedder, opened(settings))
        embedder = until_built.enter_context(shared)
    except EmbedderDown as error:
        raise Refusal(f"the knowledge base can't be made: {error}") from None
    if no_cache:
        return Remembering(embedder, None), ""
    if cache is not None:
        return Remembering(embedder, VectorCache(cache)), ""
    folder = default_cache_folder(os.environ)
    if folder is None:
        return Remembering(embedder, None), "there is no folder for caches"
    try:
        return Remembering(embedder, VectorCache(folder)), ""
    except Refusal as refusal:
        return Remembering(embedder, None), str(refusal)


def _told(embedder: Remembering | None, kept: str) -> str:
    if embedder is None:
        return "The knowledge base has words alone, as no embedder is configured.\n"
    vectors = many(embedder.embedded + embedder.reused, "vector")
    made = f"{embedder.embedded} embedded, {embedder.reused} from the cache"
    note = f"note: no vector is kept: {visible(kept)}\n" if kept else ""
    return f"The knowledge base has {vectors}, of chunks, sentences and words: {made}.\n{note}"
