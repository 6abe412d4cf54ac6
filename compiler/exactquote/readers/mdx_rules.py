"""Turn MDX constructs into markdown-it tokens: statements, JSX tags and expressions.

A construct that has its lines for itself is a block, as in micromark's MDX extensions; it
ends a paragraph. Any other is part of the text around it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from markdown_it import MarkdownIt
from markdown_it.rules_block.state_block import StateBlock
from markdown_it.rules_inline.state_inline import StateInline
from markdown_it.utils import EnvType

from exactquote.model import Place
from exactquote.readers import jsx
from exactquote.readers.controls import hidden_controls
from exactquote.readers.jsx import Expression, Fault, Tag
from exactquote.readers.jsx_literal import literal, text_of
from exactquote.readers.mdx_elements import elements_of
from exactquote.readers.notes import notes_of

PlaceOf = Callable[[int], Place]

_STATEMENT = re.compile(
    r"""import\s*(?:["']|[{*]|(?:type|defer|source)\s+[\w${*]"""
    r"""|[\w$]+\s*(?:,\s*[{*]|\s+from\s*["']))"""
    r"""|export\s*[{*]|export\s+(?:type|interface|enum|declare|abstract|namespace)\s+[\w${*]"""
    r"""|export\s+(?:const|let|var)\s*(?:[\[{]|[\w$]+\s*[=:;,\n])"""
    r"""|export\s+(?:default\s+)?(?:async\s+)?function\s*\*?\s*[\w$]*\s*[(<]"""
    r"""|export\s+(?:default\s+)?class\b[^\n;]*\{"""
    r"""|export\s+default\s*(?:[({\[`'"<!/+-]|new\s|await\s|typeof\s|async\b"""
    r"""|[\w$]+[ \t]*(?:\Z|[\n;({\[`.,?=<>+*/%&|-]|(?:as|satisfies|in|instanceof)\s))"""
)
_BEGINS_STATEMENT = re.compile(r"(?:import|export)(?=[ \t{*\"'])")
_LOOSE_STATEMENT = re.compile(
    r"(?:async|await|break|class|const|do|for|function|if|let|return|switch|throw|try|var|while)\b"
)
_CONTINUES = re.compile(
    r"""[ \t]*(?:\Z|//|/\*|[)\]};,.?:]|=(?!=)|&&|\|\|"""
    r"""|(?:from|as|with|assert|extends|implements|in|instanceof|of|else|catch|finally"""
    r"""|satisfies)\b)"""
)
_BLANK_LINE = re.compile(r"\n[ \t]*(?=\n)")
_LINES_FIRST = 4
# The end of a block that has none is looked for to the end of the page. After so many on one
# page it is looked for up to a blank line only, so that the time stays linear.
_UNCLOSED_MAX = 100


@dataclass(slots=True)
class Flow:
    """What stands at the start of a line: tags and expressions, then perhaps text.

    `line` is the first line after them; `whole` says that nothing else is on their lines.
    """

    items: list[Tag | Expression | Fault] = field(default_factory=list)
    line: int = 0
    whole: bool = False


def use_mdx(md: MarkdownIt) -> None:
    """Make a Markdown parser read MDX: JSX in place of HTML, and no indented code."""
    md.disable(["html_block", "html_inline", "autolink", "code", "lheading"], True)
    md.block.ruler.before("table", "mdx_statements", _statements)
    md.block.ruler.before(
        "table", "mdx_flow", _flow, {"alt": ["paragraph", "reference", "blockquote"]}
    )
    md.block.ruler.at("paragraph", _paragraph)
    md.inline.ruler.before("link", "mdx_tag", _tag)
    md.inline.ruler.before("link", "mdx_expression", _expression)


def _statements(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Block rule: `import` and `export` vanish, up to a blank line outside their brackets."""
    at = state.bMarks[start]
    if silent or state.level or state.blkIndent or state.tShift[start]:
        return False
    source = state.src
    if source[at : at + 2] not in ("im", "ex") or not _BEGINS_STATEMENT.match(source, at):
        return False
    notes = notes_of(state.env)
    if not _STATEMENT.match(source, at):
        notes.add(
            "EQ025",
            notes.at(start),
            f"a block that begins with `{source[at : at + 6]}` is JavaScript in MDX, "
            "but this is none",
            "begin the sentence with another word, or mend the statement",
        )
        return False
    found = jsx.read_statements(source, at, _reach(state, at))
    if isinstance(found, Fault):
        elements_of(state.env).unclosed_blocks += found.cut
        line, column = _line_column(state, found.at)
        notes.add(found.code, notes.at(line, column), found.message, found.help)
        state.line = start + 1
        while state.line < end and not state.isEmpty(state.line):
            state.line += 1
        return True
    stop, lines = found
    for offset in lines:
        line_text = source[offset : _line_end(source, offset)]
        if _CONTINUES.match(line_text) or _STATEMENT.match(source, offset):
            continue
        line = _line_column(state, offset)[0]
        if _LOOSE_STATEMENT.match(line_text):
            notes.add(
                "EQ025",
                notes.at(line),
                "only `import` and `export` can stand outside braces in MDX",
                "write export before it",
            )
            continue
        notes.add(
            "EQ025",
            notes.at(line),
            "text follows an `import` or `export` without an empty line between them",
            "put an empty line before it",
        )
        state.line = line
        return True
    state.line = _line_column(state, max(stop - 1, at))[0] + 1
    return True


def _flow(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Block rule: tags and expressions with their lines for themselves."""
    at = state.bMarks[start] + state.tShift[start]
    if at >= state.eMarks[start] or state.src[at] not in "<{":
        return False
    flow = _read_flow(state, start, end)
    if not flow.whole:
        return False
    if silent:
        return True
    notes = notes_of(state.env)
    elements = elements_of(state.env)

    def place_of(offset: int) -> Place:
        return notes.at(*_line_column(state, offset))

    for item in flow.items:
        if isinstance(item, Fault):
            notes.add(item.code, place_of(item.at), item.message, item.help)
            continue
        line = _line_column(state, item.start)[0]
        if isinstance(item, Tag):
            token = state.push(f"mdx_{item.kind}", "", 0)
            token.meta = {"element": elements.element(item, place_of, block=True)}
        else:
            token = state.push("mdx_text", "", 0)
            token.content = _text_of(item, place_of, state.env)
        token.map = [line, max(flow.line, line + 1)]
    state.line = flow.line
    return True


def _paragraph(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Block rule: a paragraph, or a heading when `===` or `---` underlines it.

    A tag at the start of a line may run over lines that would be blocks without it. With
    indented code gone from MDX, indentation keeps no block from ending a paragraph.
    """
    source, first, last = state.src, state.bMarks, state.eMarks
    shift, indents, indent = state.tShift, state.sCount, state.blkIndent
    terminators = state.md.block.ruler.getRules("paragraph")
    old_parent = state.parentType
    state.parentType = "paragraph"
    marker = ""
    line, end = start, state.lineMax
    while line < end:
        at = first[line] + shift[line]
        if at >= last[line]:
            break
        character = source[at]
        if line > start and indents[line] >= 0:
            underlines = character in "-=" and indents[line] >= indent
            if underlines and not source[at : last[line]].strip(" \t").strip(character):
                marker = character
                break
            if any(rule(state, line, end, True) for rule in terminators):
                break
        if character in "<{" and indents[line] >= indent:
            after = _read_flow(state, line, end).line
            line += 1
            while line < after and not state.isEmpty(line):
                line += 1
        else:
            line += 1
    content = state.getLines(start, line, indent, False).strip()
    state.parentType = old_parent
    state.line = line + 1 if marker else line
    name, tag = ("heading", "h1" if marker == "=" else "h2") if marker else ("paragraph", "p")
    token = state.push(f"{name}_open", tag, 1)
    token.markup = marker
    token.map = [start, state.line]
    token = state.push("inline", "", 0)
    token.content = content
    token.map = [start, line]
    token.children = []
    state.push(f"{name}_close", tag, -1).markup = marker
    return True


def _tag(state: StateInline, silent: bool) -> bool:
    """Inline rule: a JSX tag in text."""
    if state.src[state.pos] != "<":
        return False
    found = jsx.read_tag(state.src, state.pos, state.posMax)
    if found is None:
        return False
    notes = notes_of(state.env)
    if isinstance(found, Fault):
        if not silent:
            notes.add(found.code, notes.place(found.at), found.message, found.help)
        # What was meant as a comment is no text, whatever else is wrong.
        stop = state.src.find("-->", state.pos, state.posMax)
        if stop < 0 or not state.src.startswith("<!--", state.pos):
            return False
        state.pos = stop + 3
        return True
    if not silent:
        element = elements_of(state.env).element(found, notes.place, block=False)
        state.push(f"mdx_{found.kind}", "", 0).meta = {"element": element}
    state.pos = found.end
    return True


def _expression(state: StateInline, silent: bool) -> bool:
    """Inline rule: an expression in text; one without an end leaves its braces as text."""
    if state.src[state.pos] != "{":
        return False
    notes = notes_of(state.env)
    elements = elements_of(state.env)
    known = elements.unclosed
    if known and known[0] is state.src and state.pos > known[1]:
        return False
    if known and known[0] is state.src and state.pos == known[1]:
        found: Expression | Fault = known[2]
    else:
        found = jsx.read_expression(state.src, state.pos, state.posMax)
    if isinstance(found, Fault):
        if found.cut:
            elements.unclosed = (state.src, state.pos, found)
        if not silent:
            notes.add(found.code, notes.place(found.at), found.message, found.help)
        return False
    if not silent:
        text = _text_of(found, notes.place, state.env)
        if text:
            token = state.push("text_special", "", 0)
            token.content = text
            token.markup = state.src[found.start : found.end]
            token.info = "mdx"
        elif not jsx.without_comments(found.source):
            state.push("mdx_comment", "", 0).content = found.source
        else:
            state.push("mdx_nothing", "", 0)
    state.pos = found.end
    return True


def _text_of(expression: Expression, place_of: PlaceOf, env: EnvType) -> str:
    """The text of an expression that is a literal; any other has none and is a fault."""
    notes, elements = notes_of(env), elements_of(env)
    elements.used = True
    if expression.depth > notes.nesting_max:
        notes.add(
            "EQ028",
            place_of(expression.start),
            f"brackets nest deeper than {notes.nesting_max} levels in this expression",
            "unnest them, or raise `limits.nesting_max`",
        )
        return ""
    value = literal(expression.source)
    if isinstance(value, str | float) and not isinstance(value, bool):
        place = place_of(expression.start)
        text = text_of(value)
        if "\\" in expression.source:
            # What is written as an escape is hidden from the look at the source.
            found = hidden_controls(text, notes.path, elements.settings)
            notes.diagnostics.extend(replace(each, place=place) for each in found)
        return text
    if value is not None and not isinstance(value, bool):
        elements.no_text(expression.source, place_of(expression.start))
    return ""


def _read_flow(state: StateBlock, start: int, end: int) -> Flow:
    """The tags and expressions at the start of a line, with offsets into `state.src`."""
    elements = elements_of(state.env)
    at = state.bMarks[start] + state.tShift[start]
    if not (state.level or state.blkIndent) or state.sCount[start] < state.blkIndent:
        flow, cut, stop = _scan(state.src, at, _reach(state, at))
        elements.unclosed_blocks += cut
        flow.line = _line_column(state, max(stop - 1, at))[0] + 1
        return flow
    # In a container a construct is read from its lines without the marks before them, of
    # which more are taken while it isn't closed.
    count = _LINES_FIRST
    limit = start + 1
    while True:
        while limit < min(start + count, end) and _belongs(state, limit):
            limit += 1
        text = state.getLines(start, limit, state.blkIndent, False)
        flow, cut, stop = _scan(text, len(text) - len(text.lstrip()), len(text))
        if not cut or limit < start + count or elements.unclosed_blocks > _UNCLOSED_MAX:
            break
        count *= 4
    elements.unclosed_blocks += cut
    flow.line = start + text.count("\n", 0, stop) + 1
    flow.items = [_moved(item, text, state, start) for item in flow.items]
    return flow


def _reach(state: StateBlock, at: int) -> int:
    """How far the end of what begins at `at` is looked for."""
    if elements_of(state.env).unclosed_blocks <= _UNCLOSED_MAX:
        return len(state.src)
    blank = _BLANK_LINE.search(state.src, at)
    return blank.start() if blank else len(state.src)


def _belongs(state: StateBlock, line: int) -> bool:
    return state.isEmpty(line) or state.sCount[line] >= state.blkIndent


def _scan(text: str, start: int, end: int) -> tuple[Flow, bool, int]:
    """Constructs up to the end of a line; whether more text might add some; where they end."""
    flow = Flow()
    at = start
    while True:
        if text.startswith("<!--", at):
            stop = text.find("-->", at, end)
            if stop < 0:
                return flow, True, at
            flow.items.append(jsx.html_comment(at))
            at = stop + 3
        else:
            found = (
                jsx.read_expression(text, at, end)
                if text[at] == "{"
                else jsx.read_tag(text, at, end)
            )
            if found is None or isinstance(found, Fault):
                return flow, found is not None and found.cut, at
            flow.items.append(found)
            at = found.end
        after = at
        while after < end and text[after] in " \t":
            after += 1
        if after >= end or text[after] == "\n":
            flow.whole = True
            return flow, False, at
        if text[after] != "<" and (text[after] != "{" or isinstance(flow.items[-1], Expression)):
            # Two expressions side by side are text; between tags, one stands alone.
            return flow, False, at
        at = after


def _moved(
    item: Tag | Expression | Fault, text: str, state: StateBlock, first: int
) -> Tag | Expression | Fault:
    """An item of a container's text with its offsets moved to those in `state.src`."""

    def moved(offset: int) -> int:
        line = text.count("\n", 0, offset)
        return state.eMarks[first + line] - (_line_end(text, offset) - offset)

    if isinstance(item, Fault):
        return replace(item, at=moved(item.at))
    if isinstance(item, Expression):
        return replace(item, start=moved(item.start))
    attributes = tuple(replace(each, start=moved(each.start)) for each in item.attributes)
    return replace(item, start=moved(item.start), attributes=attributes)


def _line_column(state: StateBlock, offset: int) -> tuple[int, int]:
    line = min(bisect_left(state.eMarks, offset), state.lineMax)
    return line, offset - state.src.rfind("\n", 0, offset) - 1


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return end if end >= 0 else len(text)
