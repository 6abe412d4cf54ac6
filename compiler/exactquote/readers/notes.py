"""Gathers what one parse brings to light besides its tokens: faults, places, raw HTML, citations.

markdown-it hands one `env` to every rule of a parse; a `Notes` travels in it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any

from markdown_it.token import Token

from exactquote.codes import fault
from exactquote.model import Diagnostic, Place

_KEY = "exactquote"


@dataclass(slots=True)
class Notes:
    """What rules note down while they read one page.

    `line` is the source line of the body's first line, so front matter counts.
    `tokens` and `index` say which block the inline rules are in; `base` is where the text
    being read begins in it, which is not 0 in a note written inline.
    """

    path: str = ""
    document: str = ""
    line: int = 1
    language: str = "en"
    nesting_max: int = 100
    lines: list[str] = field(default_factory=list)
    tokens: list[Token] = field(default_factory=list)
    index: int = 0
    base: int = 0
    html: bool = False
    cited: bool = False
    deep_index: int = -1
    open_tags: dict[str, int] = field(default_factory=dict)
    open_tag_count: int = 0
    endless_in: str = ""
    endless: set[str] = field(default_factory=set)
    deep_tags: bool = False
    line_marks: bool = False
    html_ids: set[str] = field(default_factory=set)
    expanded_chars: int = 0
    expanded_chars_max: int = 0
    flooded: bool = False
    too_deep_lines: set[int] = field(default_factory=set)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    _located: int = -1
    _starts: list[int] = field(default_factory=list)
    _columns: dict[int, int] = field(default_factory=dict)
    _cells: dict[int, tuple[int, bool]] = field(default_factory=dict)

    def at(self, line: int, column: int = 0) -> Place:
        """The place of a line and column of the body, both counted from 0."""
        return Place(self.path, self.line + line, column + 1)

    def place(self, offset: int) -> Place:
        """The place of an offset into the inline text that is being read."""
        return self.place_in(self.index, self.base + offset)

    def place_in(self, index: int, offset: int) -> Place:
        """The place of an offset into the inline text of block token `index`.

        A block's text has lost the marks and indent before it and the blanks after it, so
        each of its lines is sought from the end of its source line.
        """
        token = self.tokens[index]
        if not token.map:
            return self.at(0)
        if index and self.tokens[index - 1].type in ("td_open", "th_open"):
            return self.at(token.map[0], self._cell_column(index, offset))
        if self._located != index:
            self._located = index
            self._starts = [0, *(found.end() for found in re.finditer("\n", token.content))]
            self._columns.clear()
        row = bisect_right(self._starts, offset) - 1
        line = token.map[0] + row
        if row not in self._columns:
            source = self.lines[line] if line < len(self.lines) else ""
            start = self._starts[row]
            end = token.content.find("\n", start)
            written = token.content[start : end if end >= 0 else len(token.content)]
            indent = len(written) - len(written.lstrip())
            self._columns[row] = max(source.rfind(written.strip()), 0) - indent
        return self.at(line, max(self._columns[row] + offset - self._starts[row], 0))

    def _cell_column(self, index: int, offset: int) -> int:
        """Column of an offset into a cell's text, in which `\\|` has lost its backslash."""
        if index not in self._cells:
            self._locate_row(index)
        column, escaped = self._cells[index]
        if not escaped:
            return column + offset
        token = self.tokens[index]
        source = self.lines[token.map[0]] if token.map else ""
        for _ in range(offset):
            column += 2 if source.startswith("\\|", column) else 1
        return column

    def _locate_row(self, index: int) -> None:
        """Find where the text of each cell of a row begins."""
        token = self.tokens[index]
        source = self.lines[token.map[0]] if token.map else ""
        # Quote marks before the row would be read as text of its first cell.
        first_bar = source.find("|")
        lead = len(source[:first_bar]) - len(source[:first_bar].lstrip("> \t"))
        starts = [lead + start for start in cell_starts(source[lead:])]
        while self.tokens[index].type != "tr_open":
            index -= 1
        escaped = "\\|" in source
        cell = 0
        while self.tokens[index].type != "tr_close":
            if self.tokens[index].type == "inline":
                column = starts[cell] if cell < len(starts) else lead
                while source[column : column + 1] in (" ", "\t"):
                    column += 1
                self._cells[index] = (column, escaped)
                cell += 1
            index += 1

    def add(self, code: str, place: Place, message: str, help: str = "") -> None:
        """Note a fault."""
        self.diagnostics.append(fault(code, place, message, help))

    def too_deep(self, line: int) -> None:
        """Note that nesting ended at a line of the body, once a line."""
        if line in self.too_deep_lines:
            return
        self.too_deep_lines.add(line)
        self.add(
            "EQ028",
            self.at(line),
            f"nesting is deeper than {self.nesting_max} levels and can't be shown as written",
            "flatten the lists, quotes, brackets or emphasis, or raise `limits.nesting_max`",
        )


def notes_of(env: MutableMapping[str, Any]) -> Notes:
    """The notes of a parse; a parse that was started without has its own."""
    notes = env.get(_KEY)
    if notes is None:
        notes = env[_KEY] = Notes()
    assert isinstance(notes, Notes)
    return notes


def env_with(notes: Notes) -> dict[str, Any]:
    """The `env` to start a parse with, so that its rules write into `notes`."""
    return {_KEY: notes}


def cell_starts(row: str) -> list[int]:
    """Where each cell of a table row begins, as the table rule splits it."""
    start = len(row) - len(row.lstrip())
    end = len(row.rstrip())
    bars = [i for i in range(start, end) if row[i] == "|" and (i == start or row[i - 1] != "\\")]
    starts = [start, *(i + 1 for i in bars)]
    if bars and bars[0] == start:
        starts.pop(0)
    if bars and bars[-1] == end - 1:
        starts.pop()
    return starts
