"""Turn a claim into the passages of a built site that support it; `exactquote evidence`."""

from __future__ import annotations

from pathlib import Path

import click

from exactquote.cli.options import Options, dist_option, with_options
from exactquote.cli.speak import say
from exactquote.disk.refusal import Refusal
from exactquote.languages import is_language_tag
from exactquote_site.wire.plain import is_blank

_COUNT = 5

_EPILOG = """\b
Support needs the claim's words, or words near in meaning, and its names and
figures in one sentence, with no negation, bound or quantity that differs. It
shows that the words stand there, not that they are true. English and German are
compared word by word; in other languages a claim has to stand as a whole clause.

\b
Examples:
  exactquote evidence "The build id is derived from the content alone."
  exactquote evidence "The report has two columns." --dist public --json

\b
Exit codes: 0 supported, 1 not supported, 2 wrong use or no such build, 3 a bug
of ours
"""


@click.command("evidence", epilog=_EPILOG)
@click.argument("claim")
@dist_option()
@click.option(
    "-n",
    "--count",
    default=_COUNT,
    show_default=True,
    type=click.IntRange(1, 100),
    help="How many passages to show as text; JSON has all.",
)
@click.option(
    "--language", default="", help="Language of the claim, such as de; it is guessed otherwise."
)
@click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
@with_options
def command(
    claim: str, dist: Path, count: int, language: str, as_json: bool, options: Options
) -> int:
    """Find the passages of a built site that support CLAIM, or say that there is none."""
    # numpy is slow to load, and a claim that says nothing needs none of it.
    if is_blank(claim):
        raise Refusal("the claim is empty")
    if language and not is_language_tag(language):
        raise Refusal(f"{language!r} is no language tag, as en, de or pt-BR are")
    from exactquote.cli.knowledge import open_knowledge
    from exactquote.report.supporting import supporting_json, supporting_text
    from exactquote_site.knowledge.embedders import EmbedderDown
    from exactquote_site.knowledge.evidence import find_support
    from exactquote_site.knowledge.support import NoClaim

    base, allowlist = open_knowledge(dist)
    try:
        found = find_support(claim, base, allowlist.entries, language=language)
    except (NoClaim, EmbedderDown) as error:
        raise Refusal(str(error)) from None
    if options.json or as_json:
        say(supporting_json(found, base.header.build_id))
    else:
        say(
            supporting_text(
                found,
                color=options.color,
                columns=options.columns,
                limit=not options.quiet,
                count=count,
            )
        )
    return 0 if found.supported else 1
