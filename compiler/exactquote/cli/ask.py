"""Turn a question into the passages of a built site that answer it; `exactquote ask`."""

from __future__ import annotations

from pathlib import Path

import click

from exactquote.cli.options import Options, dist_option, with_options
from exactquote.cli.speak import say
from exactquote.disk.refusal import Refusal
from exactquote_site.wire.plain import is_blank

_COUNT = 5
# A page of text is no question: each of its words is looked for.
_CHARS_MAX = 4_000

_EPILOG = """\b
No model is asked: each answer is a passage of the site, as it stands there,
with the link that leads to it. What fits best comes first; that it answers
the question is for the reader to judge.

\b
Examples:
  exactquote ask "Why is my quote refused?"          the site in dist/
  exactquote ask "exit codes" --dist public -n 1     the best passage alone
  exactquote ask "exit codes" --explain              how each was found

\b
Exit codes: 0 found, 1 nothing was found, 2 wrong use or no such build, 3 a bug
of ours
"""


@click.command("ask", epilog=_EPILOG)
@click.argument("question")
@dist_option()
@click.option(
    "-n",
    "--count",
    default=_COUNT,
    show_default=True,
    type=click.IntRange(1, 100),
    help="How many passages at most.",
)
@click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
@click.option("--explain", is_flag=True, help="Show what each search found, ranks and scores.")
@with_options
def command(
    question: str, dist: Path, count: int, as_json: bool, explain: bool, options: Options
) -> int:
    """Find the passages of a built site that answer QUESTION; needs no model and no network."""
    # numpy is slow to load, and a question that can't be asked needs none of it.
    if is_blank(question):
        raise Refusal("the question is empty")
    if not any(character.isalnum() for character in question):
        # What is near it in meaning would be anything.
        raise Refusal("the question has no word")
    if len(question) > _CHARS_MAX:
        raise Refusal(f"the question is longer than {_CHARS_MAX:,} characters")
    from exactquote.cli.knowledge import answer, embedder_of, open_knowledge, postgres_url
    from exactquote.report.asking import asking_json, asking_text

    base, allowlist = open_knowledge(dist, postgres_url(options.config))
    embedder, why = embedder_of(base.header, options.config)
    answered = answer(base, allowlist, question, count, embedder, why)
    if options.json or as_json:
        say(asking_json(answered))
    else:
        say(
            asking_text(
                answered,
                color=options.color,
                columns=options.columns,
                explain=explain,
                notes=not options.quiet,
            )
        )
    return 0 if answered.best else 1
