"""Turns what happens into lines of JSON on standard error, without anybody's words in them.

Only the fields below are written, and each is a code, a figure or the kind of an error: no
question, no answer, no address, no session.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

_FIELDS = tuple("outcome seconds first_seconds cited dropped links_removed detail".split())


class JsonLines(logging.Formatter):
    """One record as one line."""

    def format(self, record: logging.LogRecord) -> str:
        """The time in UTC, the level, what happened, and the fields that it has."""
        told: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        told |= {name: vars(record)[name] for name in _FIELDS if name in vars(record)}
        return json.dumps(told)


def write_logs() -> None:
    """Write lines from now on, unless whoever runs us has set up logging already."""
    logger = logging.getLogger("exactquote")
    if logger.hasHandlers():
        return
    lines = logging.StreamHandler()
    lines.setFormatter(JsonLines())
    logger.addHandler(lines)
    logger.setLevel(logging.INFO)
