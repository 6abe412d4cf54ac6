"""Turn the support that was found for a claim into text for a terminal, or into JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import Any

from exactquote.report.visible import visible
from exactquote_site.knowledge.support import Judged, Support

VERSION = 1

_BOLD, _DIM, _OFF = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_INDENT = "   "
_COLUMNS_MIN = 40


def supporting_json(found: Support, build_id: str) -> str:
    """What was found, as described by `schemas/evidence.schema.json`."""
    value = {
        "version": VERSION,
        "build_id": build_id,
        "claim": found.claim,
        "supported": found.supported,
        "supporting": [_passage(one) for one in found.supporting],
        "nearest": [_passage(one) for one in found.nearest],
        "limit": found.limit,
    }
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def supporting_text(found: Support, *, color: bool, columns: int, limit: bool, count: int) -> str:
    """What was found for a reader: at most `count` passages, best first, and the limit."""
    lines = [_paint(_BOLD, _headline(found), color)]
    shown = found.supporting or found.nearest
    for number, one in enumerate(shown[:count], 1):
        lines += ["", *_shown(number, one, color, columns)]
    if len(shown) > count:
        lines += ["", f"{len(shown) - count} more; --count shows them."]
    if limit:
        lines += ["", *textwrap.wrap(found.limit, max(columns, _COLUMNS_MIN))]
    return "\n".join(lines) + "\n"


def _passage(one: Judged) -> dict[str, Any]:
    source = one.source
    return {
        "id": source.id,
        "quote": source.quote,
        "doc": source.doc,
        "title": source.title,
        "trail": list(source.trail),
        "href": source.href,
        "found": list(one.found),
        "in_headings": list(one.above),
        "missing": list(one.missing),
        "differs": list(one.differs),
    }


def _headline(found: Support) -> str:
    if found.supporting:
        return f"Supported by {_counted(len(found.supporting))}."
    if found.nearest:
        return "Not supported. No passage says this; the nearest are:"
    return "Not supported. No passage is near."


def _counted(number: int) -> str:
    return f"{number} passage{'' if number == 1 else 's'}"


def _shown(number: int, one: Judged, color: bool, columns: int) -> Iterator[str]:
    source = one.source
    yield _paint(_BOLD, f"{number}. {visible(' > '.join((source.title, *source.trail)))}", color)
    yield from _wrapped(visible(" ".join(source.quote.split())), columns)
    yield _INDENT + _paint(_DIM, source.href, color)
    yield f"{_INDENT}id: {source.id}"
    told = {"found": one.found, "in headings": one.above, "missing": one.missing}
    for name, words in told.items():
        if words:
            yield from _wrapped(f"{name}: {visible(', '.join(words))}", columns)
    for difference in one.differs:
        yield from _wrapped(f"differs: {visible(difference)}", columns)


def _wrapped(text: str, columns: int) -> Iterator[str]:
    yield from textwrap.wrap(
        text,
        max(columns, _COLUMNS_MIN),
        initial_indent=_INDENT,
        subsequent_indent=_INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _paint(style: str, text: str, color: bool) -> str:
    return f"{style}{text}{_OFF}" if color else text
