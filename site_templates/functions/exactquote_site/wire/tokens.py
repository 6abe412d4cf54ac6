"""Finds the cite tokens `[[cite:ID]]` and `[[cite:docId|passage]]` in what a model wrote.

A pair's document id holds no `|`, no line break and no double bracket. Its passage runs to
the first `]]` that no further `]` follows, so that a passage may end with a bracket.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

ID_CHARS_MAX = 64
# Longer than any document id or passage that is sensible to copy into an answer; the limits
# keep an unclosed token from being searched to the end of an endless answer.
DOC_CHARS_MAX = 512
PASSAGE_CHARS_MAX = 8_000

_ID = rf"[a-z0-9][a-z0-9-]{{0,{ID_CHARS_MAX - 1}}}"
_IS_ID = re.compile(_ID)
# What the compiler makes of a passage: eight letters of a hash, and four more where ids clash.
_MADE_ID = re.compile(r"p[a-z2-7]{8}(?:[a-z2-7]{4}){0,10}")
_DOC = rf"(?:(?!\[\[|\]\])[^|\r\n]){{1,{DOC_CHARS_MAX}}}"
_PASSAGE = rf"(?:(?!\[\[cite:|\]\](?!\])).){{1,{PASSAGE_CHARS_MAX}}}"
_TOKEN = re.compile(
    rf"\[\[cite:(?:(?P<id>{_ID})|(?P<doc>{_DOC})\|(?P<passage>{_PASSAGE}))\]\]", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class CiteToken:
    """A cite token at `text[start:end]`: either `id`, or `doc` and `passage`, is not empty."""

    start: int
    end: int
    id: str = ""
    doc: str = ""
    passage: str = ""


def find_tokens(text: str) -> tuple[CiteToken, ...]:
    """Every well-formed cite token in the text, in order; anything else is plain text."""
    return tuple(
        CiteToken(
            match.start(),
            match.end(),
            match["id"] or "",
            match["doc"] or "",
            match["passage"] or "",
        )
        for match in _TOKEN.finditer(text)
    )


def is_id(text: str) -> bool:
    """Whether the text is a passage id, and nothing besides."""
    return _IS_ID.fullmatch(text) is not None


def is_made_id(text: str) -> bool:
    """Whether the text has the shape of an id that the compiler makes, which no words have."""
    return _MADE_ID.fullmatch(text) is not None


def id_token(id: str) -> str:
    """The token that names a passage by its id. Raises `ValueError` for what isn't an id."""
    if not is_id(id):
        raise ValueError(f"not a passage id: {id!r}")
    return f"[[cite:{id}]]"
