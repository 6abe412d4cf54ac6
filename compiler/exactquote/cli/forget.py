"""Turn an owner's wish into what a chat function no longer keeps; `exactquote forget`."""

from __future__ import annotations

import time
from pathlib import Path

import click

from exactquote.cli.kept import counted, json_line, opened_store, with_store
from exactquote.cli.speak import say
from exactquote_site.serve.store.exchanges import DAY_SECONDS, Exchanges

_EPILOG = """\b
What is deleted: questions and answers, the feedback on them, and the mail that
was made of them. Mail that still has to be sent stays, unless its session or all
is forgotten. What was spent is no visitor's, and stays.

\b
The function forgets by itself what is older than chat.store.days.

\b
Examples:
  exactquote forget --session 3f9c2d41a7b05e68   one conversation
  exactquote forget --before 30                  what is older than 30 days
  exactquote forget --all                        everything, after a question

\b
Exit codes: 0 done, 2 wrong use or no such store, 3 a bug of ours, 130 not confirmed
"""


@click.command("forget", epilog=_EPILOG)
@with_store
@click.option("--session", help="Forget the conversation with this id.")
@click.option(
    "--before", "days", type=click.IntRange(0), help="Forget what is older than so many days."
)
@click.option("--all", "everything", is_flag=True, help="Forget all that visitors said.")
@click.option("--yes", is_flag=True, help="Don't ask before all is forgotten.")
@click.option("--json", "as_json", is_flag=True, help="One object on standard output.")
def command(
    dist: Path,
    store: str | None,
    session: str | None,
    days: int | None,
    everything: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Delete what the chat function has kept of visitors; says how many questions are gone."""
    if sum((session is not None, days is not None, everything)) != 1:
        raise click.UsageError(
            "say what to forget: one of --session, --before and --all",
            click.get_current_context(),
        )
    with opened_store(dist, store) as (_, database):
        exchanges = Exchanges(database)
        if everything and not yes:
            # Asked on standard error, so that JSON stays alone on standard output.
            click.confirm("Forget all that visitors said?", abort=True, err=True)
        if session is not None:
            gone = exchanges.forget(session)
        elif days is not None:
            gone = exchanges.forget_before(time.time() - days * DAY_SECONDS)
        else:
            gone = exchanges.forget_all()
    say(json_line({"forgotten": gone}) if as_json else f"Forgot {counted(gone, 'question')}.\n")
    return 0
