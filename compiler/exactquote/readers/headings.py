"""Gives every heading an id: the one its author wrote, or a slug of its text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from markdown_it.rules_core.state_core import StateCore
from markdown_it.token import Token

from exactquote.readers.notes import notes_of

_WRITTEN_ID = re.compile(r"(?<!\\)[ \t]*\{#([^\s{}]+)\}\s*\Z")
# Footnotes and their marks have such ids.
_NOTE_ID = re.compile(r"fn(?:ref)?-\d")
_ASCII_OTHER = re.compile(r"[^a-z0-9_\- ]")


def take_written_ids(state: StateCore) -> None:
    """Core rule: `## Title {#id}` has the id `id` and the text `Title`."""
    tokens = state.tokens
    for index, token in enumerate(tokens):
        if token.type != "heading_open":
            continue
        inline = tokens[index + 1]
        if not inline.content.endswith("}"):
            continue
        found = _WRITTEN_ID.search(inline.content)
        if found:
            token.attrs["id"] = found[1]
            inline.content = inline.content[: found.start()]


def give_ids(state: StateCore) -> None:
    """Core rule: make heading ids unique on the page, whatever the case of their letters.

    Written ids are taken first, and ids in raw HTML; then each heading, in order, takes its
    slug or else the first of `slug-1`, `slug-2`, … that is free.
    """
    tokens = state.tokens
    headings = [i for i, token in enumerate(tokens) if token.type == "heading_open"]
    if not headings:
        return
    ids = Ids(notes_of(state.env).html_ids)
    for index in headings:
        written = tokens[index].attrs.get("id")
        if written is not None:
            tokens[index].attrs["id"] = ids.take(str(written))
    for index in headings:
        if "id" not in tokens[index].attrs:
            text = plain_text(tokens[index + 1].children or ())
            tokens[index].attrs["id"] = ids.take(slug(text))


class Ids:
    """The ids of one page, in which two that differ only by case are the same."""

    def __init__(self, taken: set[str]) -> None:
        """Start from the ids already `taken`."""
        self._taken = {id.casefold() for id in taken}
        self._next: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """`wanted`, or the first of `wanted-1`, `wanted-2`, … that is free."""
        key = wanted.casefold()
        if key not in self._taken:
            self._taken.add(key)
            return wanted
        number = self._next.get(key, 1)
        while f"{key}-{number}" in self._taken:
            number += 1
        self._next[key] = number + 1
        self._taken.add(f"{key}-{number}")
        return f"{wanted}-{number}"


def slug(text: str) -> str:
    """The id of a heading without one: lower case, letters of any script, words joined by `-`."""
    text = " ".join(unicodedata.normalize("NFC", text).lower().split())
    if text.isascii():
        kept = _ASCII_OTHER.sub("", text)
    else:
        kept = "".join(c for c in text if c in "_- " or unicodedata.category(c)[0] in "LMN")
    joined = "-".join(kept.split()) or "section"
    return f"section-{joined}" if _NOTE_ID.match(joined) else joined


def plain_text(tokens: Sequence[Token]) -> str:
    """The text of inline tokens as a reader sees it, on one line."""
    parts = []
    for token in tokens:
        if token.type in ("text", "code_inline", "text_special"):
            parts.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
    return " ".join("".join(parts).split())
