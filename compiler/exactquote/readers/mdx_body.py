"""Turn rendered MDX with its elements marked into body HTML and the citations in it.

Elements whose children matter as a whole, which are components and citations, were rendered
as marks. Here their children are given to templates, dropped, or made claims, and all
citations of the page get the numbers of their order in it.
"""

from __future__ import annotations

import html
import re
from collections.abc import MutableMapping, Sequence
from dataclasses import replace
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.token import Token

from exactquote.model import Written
from exactquote.readers.mdx_elements import Element, Elements

# NUL is in no text: Markdown and expressions have it replaced.
_MARK = re.compile('\0([oc])([0-9]+)\0|<eq-chip n="([0-9]+)">')
_CHIP = re.compile(r'<eq-chip n="([0-9]+)">')
_BLOCK = re.compile(
    r"<(?:address|article|aside|blockquote|center|details|div|dl|figure|footer|h[1-6]|header|hr"
    r"|main|menu|nav|ol|p|pre|section|table|ul)\b"
)
_ONE_PARAGRAPH = re.compile(r"\s*(<p(?:\s[^>]*)?>)(.*)(</p>\s*)\Z", re.DOTALL)
_NOTE_MARK = re.compile(r'<sup class="footnote-ref">.*?</sup>', re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


def assemble(
    marked: str, elements: Elements, links: Sequence[Written]
) -> tuple[str, tuple[Written, ...]]:
    """Body HTML and its citations; `links` are those written as links, numbered in order."""
    written: list[Written] = []
    out: list[str] = []
    stack: list[tuple[Element, list[str], int]] = []
    at = 0
    for found in _MARK.finditer(marked):
        out.append(marked[at : found.start()])
        at = found.end()
        side, number, chip = found.groups()
        if chip is not None:
            out.append(f'<eq-chip n="{len(written)}">')
            written.append(replace(links[int(chip)], inline=len(written)))
        elif side == "o":
            element = elements.marked[int(number)]
            element.shown = True
            stack.append((element, out, len(written)))
            out = []
        else:
            element, outer, count = stack.pop()
            outer.append(_finished(element, "".join(out), elements, written, count))
            out = outer
    out.append(marked[at:])
    _refuse_unshown(elements)
    return "".join(out), tuple(written)


def add_render_rules(md: MarkdownIt) -> None:
    """Let a parser's renderer write MDX tokens."""
    for name, rule in (
        ("mdx_open", _render_open),
        ("mdx_close", _render_close),
        ("mdx_alone", _render_alone),
        ("mdx_text", _render_text),
        ("mdx_comment", _render_nothing),
        ("mdx_nothing", _render_nothing),
    ):
        md.add_render_rule(name, rule)


def _finished(
    element: Element, children: str, elements: Elements, written: list[Written], count: int
) -> str:
    """What an element becomes; `written[count:]` are the citations in its children."""
    if element.kind == "drop":
        del written[count:]
        return ""
    if element.kind == "cite":
        return _claim(element, children, elements, written)
    if element.kind != "template":
        return children
    # Most pages have no such component, and the template engine takes a while to load.
    from exactquote.readers.mdx_templates import TemplateFailed, rendered

    try:
        source = elements.settings.mdx.components[element.name]
        shown = rendered(source, element.props, children)
    except TemplateFailed as failure:
        message = f"the template of `{element.name}` {failure.message}"
        elements.failed(element, message, failure.help)
        return children
    left = {int(n) for n in _CHIP.findall(shown)}
    if any(n not in left for n in range(count, len(written))):
        elements.failed(
            element,
            f"the template of `{element.name}` leaves out children that hold a citation",
            "show {{ children }} in it",
        )
        return children
    return shown


def _claim(element: Element, children: str, elements: Elements, written: list[Written]) -> str:
    """A claim and its chip; a citation that is malformed leaves its claim as text."""
    if element.written is None:
        return children
    before, text, after = "", children, ""
    paragraph = _ONE_PARAGRAPH.match(children)
    if paragraph:
        before, text, after = paragraph.groups()
    if _CHIP.search(text):
        elements.notes.add(
            "EQ032",
            element.place,
            "this citation holds another citation",
            "close the first before the second begins",
        )
    number = len(written)
    chip = f'<eq-chip n="{number}"></eq-chip>'
    plain = " ".join(html.unescape(_TAG.sub("", _NOTE_MARK.sub("", text))).split())
    written.append(replace(element.written, claim=plain, inline=number))
    if _BLOCK.search(text):
        elements.notes.add(
            "EQ032",
            element.place,
            "the claim of this citation is more than one paragraph",
            "put <Cite …> and </Cite> around the sentence that makes the claim",
        )
        return f'{children}<span class="eq-claim"></span>{chip}'
    return f'{before}<span class="eq-claim">{text.strip()}</span>{chip}{after}'


def _refuse_unshown(elements: Elements) -> None:
    """A citation that is on no page would be checked by nobody."""
    for element in elements.marked:
        if element.written is not None and not element.shown:
            elements.notes.add(
                "EQ032",
                element.place,
                "no page shows this citation: it is in a footnote that nothing refers to, or in "
                "the text for a picture",
                "refer to the footnote, or move the citation",
            )


def _render_open(
    self: object, tokens: Sequence[Token], idx: int, options: object, env: MutableMapping[str, Any]
) -> str:
    element: Element = tokens[idx].meta["element"]
    text = element.opening if element.number < 0 else f"\0o{element.number}\0"
    return _on_a_line(text, tokens, idx)


def _render_close(
    self: object, tokens: Sequence[Token], idx: int, options: object, env: MutableMapping[str, Any]
) -> str:
    element: Element = tokens[idx].meta["element"]
    text = element.closing if element.number < 0 else f"\0c{element.number}\0"
    return _on_a_line(text, tokens, idx)


def _render_alone(
    self: object, tokens: Sequence[Token], idx: int, options: object, env: MutableMapping[str, Any]
) -> str:
    element: Element = tokens[idx].meta["element"]
    text = element.opening + element.inside + element.closing
    if element.number >= 0:
        text = f"\0o{element.number}\0\0c{element.number}\0"
    return _on_a_line(text, tokens, idx)


def _render_text(
    self: object, tokens: Sequence[Token], idx: int, options: object, env: MutableMapping[str, Any]
) -> str:
    return _on_a_line(escapeHtml(tokens[idx].content), tokens, idx)


def _render_nothing(
    self: object, tokens: Sequence[Token], idx: int, options: object, env: MutableMapping[str, Any]
) -> str:
    return ""


def _on_a_line(text: str, tokens: Sequence[Token], idx: int) -> str:
    """A block on a line of its own; the bare paragraph of a tight list doesn't end its line."""
    before = "\n" if idx and tokens[idx - 1].hidden else ""
    return f"{before}{text}\n" if tokens[idx].block else before + text
