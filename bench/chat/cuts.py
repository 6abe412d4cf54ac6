"""Cuts the JSON of each answer at all pairs of points, and looks at what would be shown.

    python bench/chat/cuts.py [--answers 200] [--processes 1] [--write]

Asks: does a visitor ever see a token or a part of one, and does it matter where a model's
words are cut? Each stream goes from its three pieces through the reading of the JSON and the
resolution of tokens to segments, as in an answer. What was shown after each piece must be the
beginning of what the whole answer shows.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.chat.answers import GIVEN, REFUSAL, encodings
from bench.results import keep
from exactquote_site.serve.reply import ReplyReader
from exactquote_site.serve.segments import Resolver, Segment, Text

# What no visitor should see: a token or what looks like one, half of one, and a bare id.
PARTIAL = re.compile(
    r"\[\[\s*cite\b|\[\[\s*c?i?t?e?\Z|\[\[\s*x-1|[\[【{<(]\s*[cｃс][iｉ][tｔ][eｅ]\s*[:：](?!\s)"
    r"|cite:\S|p7f3k2abc",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Shown:
    """What a visitor saw after each piece, and how it came out."""

    stages: tuple[str, ...]
    outcome: tuple[object, ...]

    @property
    def last(self) -> str:
        return self.stages[-1]


def shown(*pieces: str) -> Shown:
    """What is shown of a reply that comes in these pieces; `<n>` stands for a citation."""
    reader, resolver = (
        ReplyReader(),
        Resolver(GIVEN, (REFUSAL, "These pages have no [word].", "Sorry")),
    )
    stages = [""]
    for piece in pieces:
        stages.append(stages[-1] + _seen(resolver.feed(reader.feed(piece))))
    read = reader.finish()
    assert read is not None, "a reply that can't be read"
    rest, reply = read
    stages.append(stages[-1] + _seen([*resolver.feed(rest), *resolver.finish()]))
    told = (resolver.dropped, resolver.links_removed, resolver.refused)
    return Shown(tuple(stages), (reply, resolver.cited, *told, *resolver.lost))


def faults(raw: str) -> tuple[int, list[str]]:
    """How many streams a reply makes, and what is wrong with them, a line each."""
    uncut = shown(raw)
    wrong = []
    if PARTIAL.search(uncut.last):
        wrong.append(f"a part of a token is shown: {uncut.last!r}")
    count = 0
    for pieces in _cut(raw):
        count += 1
        made = shown(*pieces)
        if (made.last, made.outcome) != (uncut.last, uncut.outcome):
            wrong.append(f"cut as {pieces!r} it reads {made.last!r}")
        elif not all(uncut.last.startswith(stage) for stage in made.stages):
            wrong.append(f"cut as {pieces!r} something else was shown on the way")
    return count, wrong


def _cut(raw: str) -> Iterator[tuple[str, str, str]]:
    for first in range(len(raw) + 1):
        for second in range(first, len(raw) + 1):
            yield raw[:first], raw[first:second], raw[second:]


def _seen(segments: list[Segment]) -> str:
    return "".join(
        segment.text if isinstance(segment, Text) else f"<{segment.number}>" for segment in segments
    )


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--answers", type=int, default=0, help="only so many of them")
    arguments.add_argument("--processes", type=int, default=os.cpu_count(), help="at once")
    arguments.add_argument("--write", action="store_true", help="keep the result, dated")
    options = arguments.parse_args()
    replies = list(encodings())[: options.answers or None]
    began = time.monotonic()
    with multiprocessing.Pool(options.processes) as pool:
        made = list(pool.imap_unordered(faults, replies))
    wrong = [line for _, lines in made for line in lines]
    for line in wrong[:20]:
        print(line, file=sys.stderr)
    result = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "answers": len(replies),
        "streams": sum(count for count, _ in made),
        "faults": len(wrong),
        "seconds": round(time.monotonic() - began, 1),
        "processes": options.processes,
    }
    print(json.dumps(result, indent=1))
    if options.write:
        keep(__file__, f"cuts-{result['date']}", result)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
