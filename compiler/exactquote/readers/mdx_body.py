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
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError
from jinja2.sandbox import SandboxedEnvironment
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.token import Token
from markupsafe import Markup

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
_MESSAGE_CHARS_MAX = 200


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
    try:
        shown = _template(elements.settings.mdx.components[element.name]).render(
            children=Markup(children), props=_Props(element.props)
        )
    except TemplateSyntaxError as error:
        elements.failed(
            element,
            f"the template of `{element.name}` is malformed: {_brief(error)}",
            f"mend line {error.lineno} of the template in [mdx.components]",
        )
        return children
    except (TemplateError, ArithmeticError, LookupError, RecursionError) as error:
        return _failed(element, children, elements, error)
    except (TypeError, ValueError, AttributeError) as error:
        return _failed(element, children, elements, error)
    left = {int(n) for n in _CHIP.findall(shown)}
    if any(n not in left for n in range(count, len(written))):
        elements.failed(
            element,
            f"the template of `{element.name}` leaves out children that hold a citation",
            "show {{ children }} in it",
        )
        return children
    return shown


def _failed(element: Element, children: str, elements: Elements, error: Exception) -> str:
    elements.failed(
        element,
        f"the template of `{element.name}` failed: {_brief(error)}",
        "mend the template in [mdx.components], or give the component what it needs",
    )
    return children


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


class _Props(dict[str, object]):
    """The attributes of a component; one that was not given is empty."""

    def __missing__(self, name: str) -> None:
        return None


def _shown(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


@lru_cache(maxsize=256)
def _template(source: str) -> Template:
    return _ENVIRONMENT.from_string(source)


_ENVIRONMENT = SandboxedEnvironment(
    autoescape=True, undefined=StrictUndefined, finalize=_shown, keep_trailing_newline=True
)


def _brief(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= _MESSAGE_CHARS_MAX else text[: _MESSAGE_CHARS_MAX - 1] + "…"


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
