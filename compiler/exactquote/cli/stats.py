"""Turn a corpus into figures on how its passages can be linked; `exactquote stats`."""

from __future__ import annotations

from pathlib import Path

import click

from exactquote.cli.options import Options, default_folder, folder_argument, with_options
from exactquote.cli.run import progress, settings_for
from exactquote.cli.speak import say, shown_from
from exactquote.disk.refusal import Refusal

_EPILOG = """\b
The pages are made in memory, and nothing is written. Whether citations are
bound is not looked at; `exactquote check` says that.

\b
Examples:
  exactquote stats              corpus/, or the folder you are in
  exactquote stats docs -v      with passages that can't be linked, where written

\b
Exit codes: 0 counted, 1 there is no passage, 2 wrong use or a file that can't be
read, 3 a bug of ours
"""


@click.command("stats", epilog=_EPILOG)
@folder_argument()
@with_options
def command(folder: Path | None, options: Options) -> int:
    """Count the passages of the corpus in DIR by how they can be linked."""
    from exactquote.checks.places import Places
    from exactquote.disk.corpus import read_corpus
    from exactquote.disk.site_dir import is_site
    from exactquote.disk.theme import load_theme
    from exactquote.pipeline import prove
    from exactquote.report.stats import count, stats_json, stats_text

    root = default_folder(folder)
    settings = settings_for(root, options)
    if is_site(root):
        raise Refusal(f"{root} has HTML pages only; the passages of a corpus are counted")
    corpus = read_corpus(root, settings)
    # Faults of citations are for `check` to tell.
    unread = [found for found in corpus.diagnostics if found.code == "EQ024"]
    for found in unread:
        click.echo(f"{root / found.place.path}: {found.message}", err=True)
    with progress(options) as line:
        proof = prove(corpus, settings, load_theme(), line)
        places = Places({document.id: document for document in corpus.documents}, settings)
        total = len(proof.passages)
        stats = count(
            proof.pages,
            proof.passages,
            places.locate,
            lambda number: line("linking", number, total),
            proof.raw,
        )
    shown = shown_from(root)
    if options.json:
        say(stats_json(stats, shown))
    else:
        say(
            stats_text(
                stats,
                shown,
                color=options.color,
                documents=not options.quiet,
                examples=options.verbose,
            )
        )
    if unread:
        return 2
    return 0 if proof.passages else 1
