"""The unit that is retrieved: a stretch of one page under one heading."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chunk:
    """Text of one page that stands together, and the passages in it, in reading order.

    `trail` holds the headings above it, outermost first, without the page's title;
    `anchor` is the id of the nearest element before it, or "". `aliases` are other words
    that the page's author wants it found by. `headings` are those passages that are headings:
    they say where an answer stands, and are none. `faq` marks a reviewed answer, which is to
    be given nearly word for word. `rows` are passages that mean little
    alone: those of each row of a table in reading order, and each of a definition behind its term.
    """

    doc: str
    title: str
    trail: tuple[str, ...]
    anchor: str
    language: str
    text: str
    passages: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    faq: bool = False
    rows: tuple[tuple[str, ...], ...] = ()


def indexed_text(chunk: Chunk) -> str:
    """What is searched: title, heading trail and aliases stand before the text."""
    return "\n".join((chunk.title, *chunk.trail, *chunk.aliases, chunk.text))
