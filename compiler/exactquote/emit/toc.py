"""Reads the table of contents, and the page's own title, from an article's HTML."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from urllib.parse import quote

# Beyond this a list of every h3 is no longer an overview, as on a page of release notes.
ENTRIES_MAX = 120

# A heading that is never closed ends before the next, so that no page takes long to read.
_TAG = r"(?:[^\"'>]++|\"[^\"]*+\"|'[^']*+')*+>"
_INSIDE = r"((?:[^<]++|<(?!/?h[1-6][\s>]))*+)"
_HEADING = re.compile(rf"<h([23])(?=[\s>])({_TAG}){_INSIDE}</h\1>")
_H1 = re.compile(rf"<h1(?=[\s>]){_TAG}{_INSIDE}</h1>")
_ID = re.compile(r"\sid=\"([^\"]+)\"")
_NOTE_MARK = re.compile(r'<sup class="footnote-ref">(?:[^<]++|<(?!/?sup\b))*+</sup>')
_ANY_TAG = re.compile(rf"<!--(?:.*?-->|.*+)|</?[A-Za-z]{_TAG}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TocEntry:
    """A section of the page and the subsections below it."""

    href: str
    label: str
    below: tuple[TocEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class Heading1:
    """The first h1 of an article: its words, and where its element ends."""

    text: str
    end: int


def table_of_contents(html: str) -> tuple[TocEntry, ...]:
    """The h2 headings that have an id, each with its h3s; only h2s on a very long page."""
    found = [
        (match[1], f"#{quote(unescape(id_[1]))}", text)
        for match in _HEADING.finditer(html)
        if (id_ := _ID.search(match[2])) and (text := _words(match[3]))
    ]
    if len(found) > ENTRIES_MAX:
        found = [entry for entry in found if entry[0] == "2"]
    sections: list[tuple[str, str, list[TocEntry]]] = []
    for level, href, label in found:
        if level == "2" or not sections:
            sections.append((href, label, []))
        else:
            sections[-1][2].append(TocEntry(href, label))
    return tuple(TocEntry(href, label, tuple(below)) for href, label, below in sections)


def first_h1(html: str) -> Heading1 | None:
    """The article's own h1, if it has one."""
    match = _H1.search(html) if "<h1" in html else None
    return Heading1(_words(match[1]), match.end()) if match else None


def _words(html: str) -> str:
    """Text of a heading without its tags, chips and note marks."""
    if "<" in html:
        html = _ANY_TAG.sub("", _NOTE_MARK.sub("", html))
    return " ".join(unescape(html).split())
