"""Wraps markdown-it's block rules so that what they lose is noted: open fences, extra cells.

Admonitions are read strictly: a line that merely begins with `!!!` keeps all its words.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import fence as base_fence
from markdown_it.rules_block import html_block as base_html_block
from markdown_it.rules_block import table as base_table
from markdown_it.rules_block.state_block import StateBlock
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.admon.index import admonition as base_admonition

from exactquote.readers.notes import cell_starts, notes_of
from exactquote.readers.sanitise import settle

_ADMONITION = re.compile(
    r'(?:!!!|\?\?\?\+?)[ \t]+[a-z][\w-]*(?:[ \t]+[a-z][\w-]*)*[ \t]*(?:".*")?\s*\Z'
)
_TERMINATES: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}


def noted_blocks(md: MarkdownIt) -> None:
    """Put the noting rules in place of markdown-it's own, and add admonitions."""
    ruler = md.block.ruler
    ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    ruler.at("fence", _fence, _TERMINATES)
    ruler.at("html_block", _html_block, {"alt": ["paragraph", "reference", "blockquote"]})
    admon_plugin(md)
    ruler.at("admonition", _admonition, _TERMINATES)


def _fence(state: StateBlock, startLine: int, endLine: int, silent: bool) -> bool:
    if not base_fence(state, startLine, endLine, silent):
        return False
    if not silent and not _is_closed(state, startLine):
        markup = state.tokens[-1].markup
        notes = notes_of(state.env)
        notes.add(
            "EQ030",
            notes.at(startLine, _column(state, startLine)),
            f"the code fence {markup} is never closed, so what follows is all code",
            f"add a line {markup} where the code ends",
        )
    return True


def _is_closed(state: StateBlock, opened: int) -> bool:
    last = state.line - 1
    if last <= opened or state.sCount[last] - state.blkIndent >= 4:
        return False
    markup = state.tokens[-1].markup
    text = state.src[state.bMarks[last] + state.tShift[last] : state.eMarks[last]].rstrip(" \t")
    return len(text) >= len(markup) and text == markup[0] * len(text)


def _column(state: StateBlock, line: int) -> int:
    """Column of a line's first mark in the source."""
    start = state.bMarks[line] + state.tShift[line]
    return start - (state.src.rfind("\n", 0, start) + 1)


def _table(state: StateBlock, startLine: int, endLine: int, silent: bool) -> bool:
    rule_line = startLine + 1
    if rule_line >= endLine:
        return False
    start = state.bMarks[rule_line] + state.tShift[rule_line]
    if state.src[start : start + 1] not in ("|", "-", ":"):
        return False
    before = len(state.tokens)
    if not base_table(state, startLine, endLine, silent):
        return False
    if not silent:
        columns = 0
        for token in state.tokens[before + 3 :]:
            if token.type == "tr_close":
                break
            columns += token.type == "th_open"
        for line in range(startLine + 2, state.line):
            _note_lost_cells(state, line, columns)
    return True


def _note_lost_cells(state: StateBlock, line: int, columns: int) -> None:
    start = state.bMarks[line] + state.tShift[line]
    end = state.eMarks[line]
    if state.src.count("|", start, end) < columns:
        return
    row = state.src[start:end]
    starts = cell_starts(row)
    lost = len(starts) - columns
    if lost <= 0 or not row[starts[columns] :].strip(" \t|"):
        return
    first = starts[columns]
    first += len(row[first:]) - len(row[first:].lstrip())
    last = "the last isn't" if lost == 1 else f"the last {lost} aren't"
    notes = notes_of(state.env)
    notes.add(
        "EQ034",
        notes.at(line, _column(state, line) + first),
        f"this row has {len(starts)} cells and its head {columns}; {last} shown",
        "add cells to the head, or write a `|` inside a cell as `\\|`",
    )


def _html_block(state: StateBlock, startLine: int, endLine: int, silent: bool) -> bool:
    if not base_html_block(state, startLine, endLine, silent):
        return False
    if not silent:
        token = state.tokens[-1]
        notes = notes_of(state.env)
        token.content = settle(token.content, notes, lambda: notes.at(startLine))
    return True


def _admonition(state: StateBlock, startLine: int, endLine: int, silent: bool) -> bool:
    start = state.bMarks[startLine] + state.tShift[startLine]
    if not _ADMONITION.match(state.src[start : state.eMarks[startLine]]):
        return False
    before = len(state.tokens)
    if not base_admonition(state, startLine, endLine, silent):
        return False
    opened = None if silent else state.tokens[before]
    if opened is not None and opened.markup.startswith("?"):
        opened.tag = state.tokens[-1].tag = "details"
        if opened.markup.endswith("+"):
            opened.attrs["open"] = ""
        for token in state.tokens[before + 1 : before + 4]:
            if token.type.startswith("admonition_title"):
                token.tag = "summary"
    return True
