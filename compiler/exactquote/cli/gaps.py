"""Turn what a chat function has kept into the questions it couldn't answer; `exactquote gaps`."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import click

from exactquote.cli.kept import counted, json_line, opened_store, with_store
from exactquote.cli.speak import say
from exactquote.report.visible import visible
from exactquote_site.serve.config import ChatConfig
from exactquote_site.serve.store.exchanges import DAY_SECONDS, Exchanges, Gap

_EPILOG = """\b
An answer that the pages can't give ends in one fixed sentence. Gaps are the
questions whose answer ends in it, or in one that was in force before; strings
are compared, and no model is asked. "found" are the pages that retrieval had:
where there are some, the answer may have been missed; where there are none, a
page may be missing.

\b
Examples:
  exactquote gaps                          all that is kept
  exactquote gaps --days 7 --json          of the last week, for a program
  exactquote gaps --store sqlite:///q.db   of a store that lies elsewhere

\b
Exit codes: 0 no gap, 1 gaps are listed, 2 wrong use or no such store, 3 a bug of
ours
"""


@click.command("gaps", epilog=_EPILOG)
@with_store
@click.option("--days", type=click.IntRange(1), help="Only what was asked in so many days.")
@click.option("--json", "as_json", is_flag=True, help="One object on standard output.")
def command(dist: Path, store: str | None, days: int | None, as_json: bool) -> int:
    """List the questions that the chat function couldn't answer, most asked first."""
    since = time.time() - days * DAY_SECONDS if days else 0.0
    with opened_store(dist, store) as (config, database):
        exchanges = Exchanges(database)
        gaps = exchanges.gaps(_sentences(config), since)
        asked = sum(exchanges.outcomes(since).values())
    say(_json(gaps, asked, config) if as_json else _text(gaps, asked, config))
    return 1 if gaps else 0


def _sentences(config: ChatConfig) -> list[str]:
    return [text for refusal in config.refusals for text in refusal.texts.values()]


def _json(gaps: list[Gap], asked: int, config: ChatConfig) -> str:
    listed = [
        {
            "question": gap.question,
            "times": gap.times,
            "last": _moment(gap).isoformat(timespec="seconds"),
            "found": list(gap.found),
        }
        for gap in gaps
    ]
    return json_line({"build_id": config.build_id, "asked": asked, "gaps": listed})


def _text(gaps: list[Gap], asked: int, config: ChatConfig) -> str:
    lines = []
    for gap in gaps:
        found = ", ".join(visible(doc) for doc in gap.found) or "nothing; a page may be missing"
        lines += [
            f"{gap.times}x {visible(gap.question)}",
            f"   last asked {_moment(gap):%Y-%m-%d}; found: {found}",
        ]
    lines.append(f"{counted(len(gaps), 'gap')} in {counted(asked, 'question')}.")
    if not (config.store.gaps or config.store.conversations):
        lines.append("note: no question is kept, since chat.store.gaps is false")
    return "\n".join(lines) + "\n"


def _moment(gap: Gap) -> datetime:
    return datetime.fromtimestamp(gap.last, UTC)
