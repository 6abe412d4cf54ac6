"""Turns the events of an answer into what is sent: server-sent events, or one JSON answer.

After the WHATWG specification of server-sent events: a name, one line of JSON, an empty line.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from exactquote_site.serve.answer import Cited, Done, Event, Failed, Quoted, Said, Start
from exactquote_site.wire.allowlist import Entry

# What a proxy or a browser hears while nothing is said; a line that begins with a colon
# is no event.
HEARTBEAT = b": waiting\n\n"

# A failure that is the visitor's turn to mend has been told with its status before.
STATUSES = {
    "paused": 503,
    "busy": 503,
    "unavailable": 503,
    "timeout": 504,
    "broken": 502,
    "internal": 500,
}
_OTHER_STATUS = 502


def server_sent(event: Event) -> bytes:
    """One event on the wire."""
    name, value = _named(event)
    return b"event: %s\ndata: %s\n\n" % (name.encode("ascii"), msgspec.json.encode(value))


def whole(events: Iterable[Event]) -> tuple[int, dict[str, Any]]:
    """The status and the JSON of an answer that isn't streamed."""
    answer: dict[str, Any] = {}
    segments: list[dict[str, Any]] = []
    for event in events:
        name, value = _named(event)
        if isinstance(event, Failed):
            return STATUSES.get(event.code, _OTHER_STATUS), {"error": value}
        if isinstance(event, Start | Done):
            answer |= value
        elif name == "text" and segments and segments[-1]["type"] == "text":
            segments[-1]["text"] += value["text"]
        else:
            segments.append({"type": name, **value})
    return 200, {**answer, "segments": segments}


def _named(event: Event) -> tuple[str, dict[str, Any]]:
    match event:
        case Start(kind, build_id, language, words_only):
            return "start", {
                "kind": kind,
                "build_id": build_id,
                "language": language,
                "words_only": words_only,
            }
        case Said(text):
            return "text", {"text": text}
        case Cited(entry, number):
            return "cite", {"n": number, **_entry(entry)}
        case Quoted(entry, number):
            return "quote", {"n": number, **_entry(entry)}
        case Done(outcome, sources, receipt, dropped, links_removed):
            return "done", {
                "outcome": outcome,
                "answered": outcome in ("answered", "passages"),
                "sources": [_entry(entry) for entry in sources],
                "dropped": dropped,
                "links_removed": links_removed,
                "receipt": msgspec.to_builtins(receipt),
            }
        case Failed(code, text, retry_after, _):
            told: dict[str, Any] = {"code": code, "text": text}
            return "error", told if retry_after is None else told | {"retry_after": retry_after}


def _entry(entry: Entry) -> dict[str, str]:
    return {
        "id": entry.id,
        "href": entry.href,
        "quote": entry.quote,
        "title": entry.title,
        "doc": entry.doc,
    }
