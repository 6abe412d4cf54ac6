"""Turns text into markdown-it tokens by the rules that its first character allows.

markdown-it tries every rule at every mark. A rule that can only begin with one character is
tried there alone, which gives the same tokens in less time; a rule with an unknown name is
tried everywhere. What markdown-it would drop because it is nested too deep is noted, and read
as paragraphs.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from markdown_it.parser_block import ParserBlock
from markdown_it.parser_inline import ParserInline
from markdown_it.ruler import Rule, Ruler
from markdown_it.rules_block.state_block import StateBlock
from markdown_it.rules_core.state_core import StateCore
from markdown_it.rules_inline.state_inline import StateInline
from markdown_it.token import Token

from exactquote.readers.notes import notes_of

InlineRule = Callable[[StateInline, bool], bool]
BlockRule = Callable[[StateBlock, int, int, bool], bool]

_STARTS = {
    "newline": "\n",
    "escape": "\\",
    "backticks": "`",
    "strikethrough": "~",
    "emphasis": "*_",
    "link": "[",
    "image": "!",
    "autolink": "<",
    "html_inline": "<",
    "entity": "&",
    "footnote_inline": "^",
    "footnote_ref": "[",
    "stray_citation": "]",
}
_BLOCK_STARTS = {
    "fence": "`~",
    "blockquote": ">",
    "hr": "*-_",
    "list": "*+-0123456789",
    "html_block": "<",
    "heading": "#",
    "admonition": "!?",
    "footnote_def": "[",
    "reference": "[",
}


class InlineTokenizer(ParserInline):
    """markdown-it's inline tokenizer, looking up rules by character."""

    def __init__(self) -> None:
        """Begin with markdown-it's own rules."""
        super().__init__()
        self._rules: list[InlineRule] = []
        self._by_char: dict[str, tuple[InlineRule, ...]] = {}
        self._everywhere: tuple[InlineRule, ...] = ()
        self.stop: re.Pattern[str] = self.terminator_re

    def prepare(self) -> None:
        """Sort the rules by first character, again whenever one was added or switched."""
        rules = self.ruler.getRules("")
        if rules is self._rules:
            return
        self._rules = rules
        active = [r for r in self.ruler.__rules__ if r.enabled and r.name != "text"]
        chars = sorted({"]", *(c for r in active for c in _STARTS.get(r.name, ""))})
        self._by_char = {
            char: tuple(r.fn for r in active if char in _STARTS.get(r.name, char)) for char in chars
        }
        self._everywhere = tuple(r.fn for r in active if r.name not in _STARTS)
        self.stop = (
            self.terminator_re
            if self._everywhere
            else re.compile("[" + re.escape("".join(chars)) + "]")
        )

    def tokenize(self, state: StateInline) -> None:
        """Read `state.src` up to `state.posMax` into tokens."""
        self.prepare()
        by_char, everywhere, find = self._by_char, self._everywhere, self.stop.search
        src, end = state.src, state.posMax
        if state.level >= state.md.options["maxNesting"]:
            _note_depth(state)
            state.append_pending(src[state.pos : end])
            state.pos = end
        while state.pos < end:
            pos = state.pos
            found = find(src, pos, end)
            stop = found.start() if found else end
            if stop > pos:
                state.append_pending(src[pos:stop])
                state.pos = stop
                continue
            for rule in by_char.get(src[pos], everywhere):
                if rule(state, False):
                    break
            else:
                state.append_pending(src[pos])
                state.pos = pos + 1
        if state.pending:
            state.pushPending()

    def skipToken(self, state: StateInline) -> None:
        """Move `state.pos` over one token without making it."""
        pos = state.pos
        cache = state.cache
        if pos in cache:
            state.pos = cache[pos]
            return
        src = state.src
        if state.level >= state.md.options["maxNesting"]:
            _note_depth(state)
            state.pos = state.posMax
        else:
            found = self.stop.search(src, pos)
            stop = found.start() if found else state.posMax
            if stop > pos:
                state.pos = stop
            else:
                state.level += 1
                for rule in self._by_char.get(src[pos], self._everywhere):
                    if rule(state, True):
                        break
                else:
                    state.pos = pos + 1
                state.level -= 1
        cache[pos] = state.pos


class _BlockRules(Ruler[BlockRule]):
    """Block rules by name, each chain of which is one rule that looks others up by character."""

    def __init__(self, rules: list[Rule[BlockRule]]) -> None:
        """Begin with markdown-it's own rules."""
        super().__init__()
        self.__rules__ = rules
        self._chains: dict[str, tuple[list[BlockRule], list[BlockRule]]] = {}

    def getRules(self, chainName: str = "") -> list[BlockRule]:
        """The rules of a chain, as one."""
        rules = super().getRules(chainName)
        known = self._chains.get(chainName)
        if known is None or known[0] is not rules:
            known = self._chains[chainName] = (rules, [self._by_character(chainName)])
        return known[1]

    def _by_character(self, chain: str) -> BlockRule:
        active = [r for r in self.__rules__ if r.enabled and (not chain or chain in r.alt)]
        chars = sorted({c for r in active for c in _BLOCK_STARTS.get(r.name, "")})
        by_char = {
            char: tuple(r.fn for r in active if char in _BLOCK_STARTS.get(r.name, char))
            for char in chars
        }
        everywhere = tuple(r.fn for r in active if r.name not in _BLOCK_STARTS)

        def try_rules(state: StateBlock, line: int, end: int, silent: bool) -> bool:
            start = state.bMarks[line] + state.tShift[line]
            char = state.src[start : start + 1]
            for rule in by_char.get(char, everywhere):  # noqa: SIM110 - a generator costs a frame
                if rule(state, line, end, silent):
                    return True
            return False

        return try_rules


class BlockTokenizer(ParserBlock):
    """markdown-it's block tokenizer, looking up rules by character and noting lost text."""

    def __init__(self) -> None:
        """Begin with markdown-it's own rules."""
        super().__init__()
        self.ruler = _BlockRules(self.ruler.__rules__)

    def tokenize(self, state: StateBlock, startLine: int, endLine: int) -> None:
        """Read lines `startLine` to `endLine` into tokens; too deep, all is paragraphs."""
        if state.level < state.md.options["maxNesting"]:
            super().tokenize(state, startLine, endLine)
            return
        line = state.skipEmptyLines(startLine)
        while line < endLine and state.sCount[line] >= state.blkIndent:
            notes_of(state.env).too_deep(line)
            start = line
            while line < endLine and not state.isEmpty(line):
                if line > start and state.sCount[line] < state.blkIndent:
                    break
                line += 1
            state.push("paragraph_open", "p", 1).map = [start, line]
            inline = state.push("inline", "", 0)
            inline.content = state.getLines(start, line, state.blkIndent, False).strip()
            inline.map = [start, line]
            state.push("paragraph_close", "p", -1)
            line = state.skipEmptyLines(line)
        state.line = min(line, endLine)


def read_inlines(state: StateCore) -> None:
    """Core rule: read the text of every block; text without any mark is one token."""
    inline = state.md.inline
    assert isinstance(inline, InlineTokenizer)
    inline.prepare()
    find = inline.stop.search
    notes = notes_of(state.env)
    if not notes.lines:
        notes.lines = state.src.split("\n")
    notes.tokens = state.tokens
    for index, token in enumerate(state.tokens):
        if token.type != "inline":
            continue
        content = token.content
        if not find(content):
            token.children = [Token("text", "", 0, content=content)] if content else []
            continue
        notes.index = index
        children: list[Token] = []
        inline.parse(content, state.md, state.env, children)
        token.children = children
        if len(children) > 2 * notes.nesting_max:
            _cut_depth(children, index, state)


def _note_depth(state: StateInline) -> None:
    notes = notes_of(state.env)
    if notes.deep_index != notes.index:
        notes.deep_index = notes.index
        notes.too_deep(notes.place(state.pos).line - notes.line)


def _cut_depth(children: list[Token], index: int, state: StateCore) -> None:
    """Take away the tags of emphasis that is nested too deep; its text stays."""
    notes = notes_of(state.env)
    depth = 0
    for token in children:
        if token.nesting < 0:
            depth -= 1
        if depth >= notes.nesting_max and token.nesting and token.type != "text":
            if not token.hidden:
                notes.too_deep(notes.place_in(index, 0).line - notes.line)
            token.hidden = True
        if token.nesting > 0:
            depth += 1
