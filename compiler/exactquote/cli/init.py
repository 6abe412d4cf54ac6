"""Turn an empty folder into a corpus that builds; `exactquote init`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from exactquote.cli.speak import say
from exactquote.cli.starter import CONFIGURATION, CORPUS
from exactquote.config import OWN_FILE
from exactquote.disk.refusal import Refusal
from exactquote.report.visible import visible

_EPILOG = """\b
Writes exactquote.toml, corpus/index.md with one citation in its text, and
corpus/index.citations.json with another. Nothing is overwritten.

\b
Then:
  exactquote build      check the corpus and write its site to dist/
  exactquote serve      look at it
"""


@click.command("init", epilog=_EPILOG)
@click.argument("folder", metavar="[DIR]", default=Path(), type=click.Path(path_type=Path))
def command(folder: Path) -> int:
    """Begin a corpus in DIR, or in the folder you are in."""
    texts = {OWN_FILE: CONFIGURATION} | {f"corpus/{path}": text for path, text in CORPUS.items()}
    there = [path for path in texts if os.path.lexists(folder / path)]
    if there:
        raise Refusal(f"{folder / there[0]} exists already, and nothing is overwritten")
    try:
        for path, text in texts.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            with open(folder / path, "x", encoding="utf-8", newline="\n") as file:
                file.write(text)
    except OSError as error:
        raise Refusal(f"{error.filename or folder} can't be written: {error.strerror}") from None
    say("".join(f"wrote {visible(str(folder / path))}\n" for path in texts))
    into = "" if folder == Path() else f"cd {visible(str(folder))} && "
    say(f"next: {into}exactquote build\n")
    return 0
