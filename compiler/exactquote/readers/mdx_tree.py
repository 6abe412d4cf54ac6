"""Match opening with closing JSX tags, which may not cross the Markdown around them.

Where a tag has no partner the fault is noted and the element is closed with whatever it
stands in, so that all text is kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from markdown_it.rules_core.state_core import StateCore
from markdown_it.token import Token

from exactquote.codes import fault
from exactquote.model import Related
from exactquote.readers.jsx import words
from exactquote.readers.jsx_attributes import VOID
from exactquote.readers.mdx_elements import Element, Elements, elements_of

_COMMENT_ID = re.compile(r"\s*/\*\s*#?([\w.:-]+)\s*\*/\s*\Z")
_BLOCK_NAMES = words(
    "address article aside blockquote center dd details dialog dl dt fieldset figure footer form "
    "h1 h2 h3 h4 h5 h6 header hgroup hr li main menu nav ol p pre search section summary table "
    "tbody td tfoot th thead tr ul div figcaption caption"
)
_JSX = ("mdx_open", "mdx_close", "mdx_alone")
_EMPTY = ("mdx_comment", "mdx_nothing")


@dataclass(slots=True)
class _Open:
    """The elements open at a point of the page; a `None` is Markdown between them."""

    elements: Elements
    stack: list[Element | None] = field(default_factory=list)
    depth: int = 0
    orphans: dict[str, int] = field(default_factory=dict)
    too_deep: bool = False


def match_tags(state: StateCore) -> None:
    """Core rule: give each closing tag its element, and unwrap paragraphs of JSX alone."""
    _take_comment_ids(state.tokens)
    elements = elements_of(state.env)
    if not elements.used:
        return
    state.tokens = _matched(state.tokens, _Open(elements))
    for tokens in state.env.get("inline_notes", {}).values():
        tokens[:] = _matched(tokens, _Open(elements))


def _matched(tokens: list[Token], opened: _Open, inline: bool = False) -> list[Token]:
    """The tokens with every element closed in what it was opened in."""
    out: list[Token] = []
    stack = opened.stack
    base = len(stack)
    hiding = False
    for index, token in enumerate(tokens):
        kind = token.type
        if kind == "inline":
            if token.children and any(map(_is_mdx, token.children)):
                stack.append(None)
                token.children = _matched(token.children, opened, inline=True)
                stack.pop()
                hiding = (
                    index > 0
                    and tokens[index - 1].type == "paragraph_open"
                    and _stands_alone(token.children)
                )
                if hiding:
                    out.pop()
                    token.children = _on_lines(token.children, inside=_inside(opened))
        elif kind == "mdx_open":
            _open(token, opened)
            token.block = False
        elif kind == "mdx_close":
            if not _close(token, opened, base, out):
                continue
            _set_line_end(token, opened)
        elif kind in ("mdx_alone", "mdx_text"):
            _set_line_end(token, opened)
        elif token.nesting > 0:
            if kind == "paragraph_open" and token.hidden and _inside(opened):
                # The paragraphs of a tight list are bare only as its items' own children.
                token.hidden = False
                tokens[index + 2].hidden = False
            stack.append(None)
        elif token.nesting < 0:
            while len(stack) > base and stack[-1] is not None:
                out.append(_forced_close(opened, inline))
            if len(stack) > base:
                stack.pop()
            if hiding and kind == "paragraph_close":
                token = Token("mdx_text", "", 0, block=True)
                _set_line_end(token, opened)
                hiding = False
        out.append(token)
    while len(stack) > base:
        if stack[-1] is None:
            stack.pop()
        else:
            out.append(_forced_close(opened, inline))
    return out


def _set_line_end(token: Token, opened: _Open) -> None:
    """Blocks of a page or quote stand on lines of their own; children of an element don't."""
    token.block = token.block and not _inside(opened)


def _inside(opened: _Open) -> bool:
    """Whether what comes next is a child of an element."""
    return bool(opened.stack) and opened.stack[-1] is not None


def _open(token: Token, opened: _Open) -> None:
    element: Element = token.meta["element"]
    if element.kind == "html" and element.name in VOID:
        # `<br>` is right in HTML, but JSX wants every element closed.
        opened.elements.notes.add(
            "EQ025",
            element.place,
            f"`<{element.name}>` is never closed",
            f"write <{element.name} />",
        )
        token.type = "mdx_alone"
        opened.orphans[element.name] = opened.orphans.get(element.name, 0) + 1
        return
    opened.stack.append(element)
    opened.depth += 1
    notes = opened.elements.notes
    if opened.depth > notes.nesting_max and element.kind != "cite":
        element.kind, element.opening, element.closing, element.number = "transparent", "", "", -1
        if not opened.too_deep:
            opened.too_deep = True
            notes.add(
                "EQ028",
                element.place,
                f"JSX elements nest deeper than {notes.nesting_max} levels here",
                "unnest them, or raise `limits.nesting_max`",
            )


def _close(token: Token, opened: _Open, base: int, out: list[Token]) -> bool:
    """Whether a closing tag closes an element; it may close some inside it by force."""
    closing: Element = token.meta["element"]
    stack = opened.stack
    at = len(stack) - 1
    while at >= base and stack[at] is not None:
        element = stack[at]
        if element is not None and element.name == closing.name:
            break
        at -= 1
    else:
        forced = _stray(closing, opened, base)
        if forced:
            out.append(forced)
        return False
    inner = stack[-1]
    if at < len(stack) - 1 and inner is not None:
        opened.elements.notes.diagnostics.append(
            fault(
                "EQ025",
                closing.place,
                f"`</{closing.name}>` closes an element inside which `{inner.label}` is open",
                f"close it with </{inner.name}> before",
                (Related(inner.place, f"`{inner.label}` is opened here"),),
            )
        )
        while len(stack) - 1 > at:
            out.append(_forced_close(opened, noted=True))
    token.meta["element"] = stack.pop()
    opened.depth -= 1
    return True


def _stray(closing: Element, opened: _Open, base: int) -> Token | None:
    """Note a closing tag without its opening tag, unless that was noted as unclosed.

    It is taken to close the element that is open, so that one slip is one fault.
    """
    waiting = opened.orphans.get(closing.name, 0)
    if waiting:
        opened.orphans[closing.name] = waiting - 1
        return None
    top = opened.stack[-1] if len(opened.stack) > base else None
    opened.elements.notes.diagnostics.append(
        fault(
            "EQ025",
            closing.place,
            f"`</{closing.name}>` closes nothing"
            + (f": `{top.label}` is open here" if top else " that was opened in this block"),
            f"write </{top.name}>" if top else "remove it, or open it in the same block",
            (Related(top.place, f"`{top.label}` is opened here"),) if top else (),
        )
    )
    if top is None:
        return None
    opened.orphans[top.name] = opened.orphans.get(top.name, 0) + 1
    return _forced_close(opened, noted=True)


def _forced_close(opened: _Open, inline: bool = True, noted: bool = False) -> Token:
    """The end of an element that its author didn't close."""
    element = opened.stack.pop()
    assert element is not None
    opened.depth -= 1
    if not noted:
        name = element.name
        opened.orphans[name] = opened.orphans.get(name, 0) + 1
        opened.elements.notes.add(
            "EQ025",
            element.place,
            f"`{element.label}` is not closed before the end of "
            + ("the text it stands in" if inline else "the block it stands in"),
            f"put <{name}> and </{name}> on lines of their own, or both into one paragraph"
            if inline
            else f"close it with </{name}>",
        )
    return Token("mdx_close", "", 0, meta={"element": element}, block=not inline)


def _is_mdx(token: Token) -> bool:
    return token.type in _JSX or token.type in _EMPTY or token.info == "mdx"


def _stands_alone(children: list[Token]) -> bool:
    """Whether a paragraph is nothing but JSX, so that it is no paragraph of its own.

    One whose text would then stand bare, since a component's children take its place,
    remains a paragraph: text of two blocks must not run together.
    """
    depth = 0
    bare = block = found = False
    for token in children:
        if token.type == "mdx_close":
            depth -= 1
            continue
        if token.type in _JSX:
            element: Element = token.meta["element"]
            found = True
            block = block or element.name in _BLOCK_NAMES
            if not depth and element.name and element.kind in ("transparent", "cite"):
                bare = True
            depth += token.type == "mdx_open"
        elif depth or token.type == "softbreak":
            continue
        elif _is_mdx(token):
            found = True
        elif token.type != "text" or token.content.strip():
            return False
    return found and (block or not bare)


def _on_lines(children: list[Token], inside: bool) -> list[Token]:
    """The elements of an unwrapped paragraph as blocks, without the blanks between them."""
    out: list[Token] = []
    depth = 0
    for token in children:
        if token.type == "mdx_close":
            depth -= 1
        elif not depth:
            if token.type in ("softbreak", "text", *_EMPTY):
                continue
            if out and not inside:
                out.append(Token("softbreak", "br", 0))
        depth += token.type == "mdx_open"
        out.append(token)
    return out


def _take_comment_ids(tokens: list[Token]) -> None:
    """`## Title {/*id*/}` has the id `id`."""
    for index, token in enumerate(tokens):
        if token.type != "heading_open" or "id" in token.attrs:
            continue
        children = tokens[index + 1].children
        if not children or children[-1].type != "mdx_comment":
            continue
        found = _COMMENT_ID.match(children[-1].content)
        if found:
            token.attrs["id"] = found[1]
            children.pop()
            if children and children[-1].type == "text":
                children[-1].content = children[-1].content.rstrip()
