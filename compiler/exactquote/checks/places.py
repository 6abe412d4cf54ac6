"""Find where in a source file a stretch of a rendered page was written.

Rendering keeps no map, since most pages never need one: when a diagnostic has to point at
a page's text, its document is rendered once more with the source line on every block.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping

from exactquote.model import Document, Place, Span
from exactquote.readers.locate import line_marked_html
from exactquote.rendered.page import CUT, Kind, Page
from exactquote.settings import Settings

_MARK = re.compile(r'data-eq-line="(\d+)"[^>]*>')
_TAG = re.compile(r"<[^>]*>")
_WORDS_COMPARED = 6
_SHOWN = re.compile(r"(?:title|summary|description)\s*[:=]\s*(.*)")
# What of a built page is no text: none of it stands in the page's runs.
_UNREAD = re.compile(
    r"<!--(?:.*?-->|.*)"
    r"|<(script|style|title|template|noscript|noframes)\b(?:.*?</\1\s*>|.*)"
    r"|<[^<>]*>",
    re.IGNORECASE | re.DOTALL,
)
_IN_ATTRIBUTES = frozenset({Kind.ALT, Kind.VALUE, Kind.LABEL})
_NOT_WORDS = re.compile(r"[\W_]+")


class Places:
    """Looks places up, rendering each document at most once."""

    def __init__(self, documents: Mapping[str, Document], settings: Settings) -> None:
        """`documents` by id."""
        self._documents = documents
        self._settings = settings
        self._blocks: dict[str, list[tuple[int, str]]] = {}

    def locate(self, page: Page, span: Span) -> Place:
        """The source place of the span's first words; its file's start when they aren't there."""
        document = self._documents[page.doc]
        built = document.format == "html"
        lines = (_UNREAD.sub(_blanks, document.text) if built else document.text).split("\n")
        words = _words(page.text[span.start : span.end].split(CUT)[0])[:_WORDS_COMPARED]
        first = self._line(document, page, span)
        # A built page has no marked lines to begin at: equal words are counted from its top.
        since = 0 if built else page.runs[page.run_at(span.start)].start
        before = (
            page.text[run.start : min(run.end, span.start)]
            for run in page.runs
            if since <= run.start < span.start and run.kind not in _IN_ATTRIBUTES
        )
        skipped = _copies(_words(" ".join(before)), words)
        for number in range(first, len(lines) + 1):
            for column in _columns(lines, number, words):
                if not skipped:
                    return Place(document.path, number, column)
                skipped -= 1
        return Place(document.path, first, 1)

    def _line(self, document: Document, page: Page, span: Span) -> int:
        """Source line of the block that holds the span."""
        if document.format == "html":
            return 1
        run = page.runs[page.run_at(span.start)]
        whole = "".join(_words(page.text[run.start : run.end]))
        # Equal blocks are told apart by their number on the page.
        copies = sum(
            1
            for other in page.runs
            if other.start < run.start
            and other.main
            and "".join(_words(page.text[other.start : other.end])) == whole
        )
        lines = [line for line, text in self._marked(document) if text == whole]
        if not lines:
            lines = [line for line, text in self._marked(document) if whole and whole in text]
        return lines[min(copies, len(lines) - 1)] if lines else 1

    def _marked(self, document: Document) -> list[tuple[int, str]]:
        blocks = self._blocks.get(document.id)
        if blocks is None:
            marked = line_marked_html(document, self._settings)
            pieces = _MARK.split(marked)
            blocks = [
                (int(line), "".join(_words(html.unescape(_TAG.sub("", text.rsplit("<", 1)[0])))))
                for line, text in zip(pieces[1::2], pieces[2::2], strict=True)
            ]
            blocks = [*_front_matter(document.text), *blocks]
            self._blocks[document.id] = [block for block in blocks if block[1]]
        return self._blocks[document.id]


def _blanks(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _words(text: str) -> list[str]:
    return [word for word in _NOT_WORDS.split(text) if word]


def _front_matter(text: str) -> list[tuple[int, str]]:
    """The front matter's title and summary, which the page shows above the body."""
    lines = text.split("\n")
    if lines[0].strip() not in ("---", "+++"):
        return []
    found: list[tuple[int, str]] = []
    for number, line in enumerate(lines[1:], 2):
        if line.strip() == lines[0].strip():
            return found
        shown = _SHOWN.match(line)
        if shown:
            found.append((number, "".join(_words(shown[1]))))
    return []


def _copies(before: list[str], words: list[str]) -> int:
    """How often the words stand in a row in what comes before them."""
    return sum(before[at : at + len(words)] == words for at in range(len(before)))


def _columns(lines: list[str], number: int, words: list[str]) -> Iterator[int]:
    """Columns at which the words begin on a line, markup between them allowed."""
    if not words:
        return
    line = lines[number - 1]
    at = line.find(words[0])
    while at >= 0:
        rest = _words(" ".join([line[at:], *lines[number : number + len(words)]]))
        if rest[: len(words)] == words:
            yield at + 1
        at = line.find(words[0], at + 1)
