"""Turn the name of a published file format into its JSON schema; `exactquote schema`."""

from __future__ import annotations

from importlib.resources import files

import click

from exactquote.cli.speak import say

NAMES = ("config", "allowlist", "build", "report", "land", "stats", "ask", "evidence")

_EPILOG = """\b
config      exactquote.toml, or [tool.exactquote] in pyproject.toml
allowlist   dist/allowlist.json
build       dist/build.json
report      what `check --format json` and `build --format json` print
land        what `land --format json` prints
stats       what `stats --format json` prints
ask         what `ask --json` prints
evidence    what `evidence --json` prints
"""


@click.command("schema", epilog=_EPILOG)
@click.argument("name", type=click.Choice(NAMES))
def command(name: str) -> int:
    """Print the JSON schema (draft 2020-12) of a file."""
    say((files("exactquote") / "schemas" / f"{name}.schema.json").read_text("utf-8"))
    return 0
