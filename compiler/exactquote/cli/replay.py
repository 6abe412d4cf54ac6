"""Turn the receipt of an answer into whether a build still says it; `exactquote replay`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from exactquote.cli.kept import counted, json_line
from exactquote.cli.knowledge import open_allowlist
from exactquote.cli.options import dist_option
from exactquote.cli.speak import say
from exactquote.disk.refusal import Refusal
from exactquote.report.visible import visible
from exactquote_site.serve.receipts import BadReceipt, Receipt, read_receipt, replayed, sha256
from exactquote_site.wire.allowlist import Allowlist

_BYTES_MAX = 10_000_000
_EPILOG = """\b
A receipt names the build that an answer stood on and the hash of each passage
that it cites. It is verified when every passage is in the build's allowlist and
reads as it did. FILE is the receipt that the chat panel offers, or a whole
answer as JSON, which holds one.

\b
Examples:
  exactquote replay receipt.json                  against the site in dist/
  exactquote replay receipt.json --dist public    against another build
  exactquote replay receipt.json --question "…"   was it this question?

\b
Exit codes: 0 verified, 1 something differs, 2 wrong use or no receipt, 3 a bug
of ours
"""


@click.command("replay", epilog=_EPILOG)
@click.argument("file", type=click.Path(path_type=Path))
@dist_option()
@click.option("--question", help="Verify that the answer was to this question.")
@click.option("--json", "as_json", is_flag=True, help="One object on standard output.")
def command(file: Path, dist: Path, question: str | None, as_json: bool) -> int:
    """Verify the receipt in FILE against a build: are its passages there, word for word?"""
    receipt = _receipt(file)
    allowlist = open_allowlist(dist)
    faults = replayed(receipt, allowlist.build_id, allowlist.entries)
    if question is not None and sha256(question.strip()) != receipt.question_sha256:
        faults.append("the question was another one")
    say((_json if as_json else _text)(receipt, allowlist, faults))
    return 1 if faults else 0


def _receipt(file: Path) -> Receipt:
    try:
        with file.open("rb") as stream:
            data = stream.read(_BYTES_MAX + 1)
    except OSError as error:
        raise Refusal(f"{file} can't be read: {error.strerror}") from None
    if len(data) > _BYTES_MAX:
        raise Refusal(f"{file} is larger than {_BYTES_MAX:,} bytes, and no receipt")
    try:
        return read_receipt(data)
    except BadReceipt as error:
        raise Refusal(f"{file} is no receipt: {error}") from None


def _json(receipt: Receipt, allowlist: Allowlist, faults: list[str]) -> str:
    return json_line(
        {
            "verified": not faults,
            "answer": receipt.answer,
            "build_id": allowlist.build_id,
            "receipt_build_id": receipt.build_id,
            "passages": len(receipt.passages),
            "faults": faults,
        }
    )


def _text(receipt: Receipt, allowlist: Allowlist, faults: list[str]) -> str:
    lines = [
        f"Answer {visible(receipt.answer)} of {_day(receipt.at)}: {visible(receipt.kind)},"
        f" {visible(receipt.outcome)}, {counted(len(receipt.passages), 'passage')}."
    ]
    for passage in receipt.passages:
        entry = allowlist.entries.get(passage.id)
        if entry is not None and sha256(entry.quote) == passage.sha256:
            lines += [f"  {passage.id} {visible(entry.quote)}", f"    {visible(entry.href)}"]
    lines += [f"  {visible(fault)}" for fault in faults]
    if receipt.build_id != allowlist.build_id:
        lines.append(f"note: it was given by build {visible(receipt.build_id)}, which is another")
    lines.append("Not verified." if faults else f"Verified against build {allowlist.build_id}.")
    return "\n".join(lines) + "\n"


def _day(at: float) -> str:
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):
        return "a day that is none"
