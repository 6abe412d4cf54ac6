"""Turn a corpus into its site, when nothing is wrong with it; `exactquote build`."""

from __future__ import annotations

from pathlib import Path

import click

from exactquote.cli.options import Options, default_folder, folder_argument, with_options
from exactquote.cli.run import build_folder, require_apart, settings_for
from exactquote.cli.speak import say, say_report
from exactquote.report.visible import visible

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
@with_options
def command(folder: Path | None, output: Path, force: bool, options: Options) -> int:
    """Check the corpus in DIR and write its site, when every citation is bound."""
    root = default_folder(folder)
    settings = settings_for(root, options)
    require_apart(root, output)
    build = build_folder(root, settings, options, output)
    if not build.failed:
        from exactquote.disk.output import write_output

        write_output(build.files, output, force=force)
    say_report(build, root, options)
    if not options.quiet and not options.json:
        name = visible(str(output))
        if build.failed:
            say(f"Nothing was written; {name} is as it was before.\n")
        else:
            say(f"Wrote {len(build.files)} files to {name}.\n")
    return 1 if build.failed else 0
