"""Turn JSX tags into the elements of a page: HTML, a configured component, or a citation.

markdown-it hands one `env` to every rule of a parse; an `Elements` travels in it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Literal

from exactquote.codes import fault
from exactquote.model import Diagnostic, Place, Written
from exactquote.readers.cite_links import CITE_ID
from exactquote.readers.jsx import Fault, Tag, words
from exactquote.readers.jsx_attributes import VOID, html_attributes, props_of
from exactquote.readers.notes import Notes
from exactquote.settings import Settings

ElementKind = Literal["html", "transparent", "drop", "template", "cite"]

_KEY = "exactquote-mdx"
_CITE_PROPS = words("cite doc from id key occurrence prefix quote suffix to")
_CITE_FORMS = (
    'write <Cite doc="…" quote="…">claim</Cite>, <Cite doc="…" from="…" to="…">claim</Cite> '
    'or <Cite cite="#id">claim</Cite>'
)
_HTML_NAME = re.compile(r"[a-z][A-Za-z0-9-]*(?::[A-Za-z0-9-]+)?\Z")
_EXPRESSION_CURE = (
    'write the text itself or a string, or set `mdx.expressions = "drop"` if it matters to nobody'
)
_SHOWN_MAX = 40


@dataclass(slots=True)
class Element:
    """One JSX element: where it was written, and what its tags and children become.

    `number` marks it in rendered HTML when more than its tags has to be replaced.
    """

    name: str
    place: Place
    kind: ElementKind
    opening: str = ""
    closing: str = ""
    inside: str = ""
    props: Mapping[str, object] = field(default_factory=dict)
    written: Written | None = None
    number: int = -1
    shown: bool = False

    @property
    def label(self) -> str:
        """The opening tag as a message shows it."""
        return f"<{self.name}>"


@dataclass(slots=True)
class Elements:
    """The JSX of one page. `unclosed` is the last inline text with an expression left open."""

    settings: Settings
    notes: Notes
    line_marks: bool = False
    marked: list[Element] = field(default_factory=list)
    unknown: dict[str, list[Place]] = field(default_factory=dict)
    failures: set[tuple[str, str]] = field(default_factory=set)
    unclosed: tuple[str, int, Fault] | None = None
    unclosed_blocks: int = 0
    used: bool = False

    def element(self, tag: Tag, place_of: Callable[[int], Place], block: bool) -> Element:
        """What a tag stands for; of a closing tag only the name and place count."""
        self.used = True
        place = place_of(tag.start)
        if tag.kind == "close" or not tag.name:
            return Element(tag.name, place, "transparent")
        if tag.name == "Cite":
            return self._marked(self._cite(tag, place))
        if tag.component:
            return self._component(tag, place, place_of)
        if tag.name.startswith("eq-") or not _HTML_NAME.match(tag.name):
            self.notes.add("EQ025", place, f"`<{tag.name}>` is no HTML element", "rename it")
            return Element(tag.name, place, "transparent")
        return self._html(tag, place, place_of, block)

    def no_text(self, source: str, place: Place, what: str = "this expression has no text") -> None:
        """Note an expression whose text is unknown, unless the project allows that."""
        if self.settings.mdx.expressions == "drop":
            return
        shown = " ".join(source.split())
        if len(shown) > _SHOWN_MAX:
            shown = shown[: _SHOWN_MAX - 1] + "…"
        self.notes.add("EQ027", place, f"{what} at build time: `{{{shown}}}`", _EXPRESSION_CURE)

    def failed(self, element: Element, message: str, help: str) -> None:
        """Note that a component's template failed, once for each way it fails."""
        if (element.name, message) not in self.failures:
            self.failures.add((element.name, message))
            self.notes.add("EQ033", element.place, message, help)

    def unknown_components(self) -> list[Diagnostic]:
        """A fault for each component that isn't configured, with the count of its uses."""
        return [
            fault(
                "EQ026",
                min(places),
                f"the component `{name}` isn't configured; it is used "
                + ("once" if len(places) == 1 else f"{len(places)} times")
                + " on this page",
                f'add {_toml_key(name)} = "transparent", "drop" or a template to '
                "[mdx.components], or set mdx.unknown",
            )
            for name, places in sorted(self.unknown.items())
        ]

    def _html(
        self, tag: Tag, place: Place, place_of: Callable[[int], Place], block: bool
    ) -> Element:
        props, unread = props_of(tag)
        if tag.name == "cite" and {"doc", "quote", "cite", "from"} & props.keys():
            wrong = "`<cite>` with a small c names a work; nobody would check this citation"
            self.notes.add("EQ032", place, wrong, _CITE_FORMS)
        for attribute in unread:
            self._unread(attribute.name, attribute.value, place_of(attribute.start))
        for name in ("dangerouslySetInnerHTML", "innerHTML"):
            if name in props or any(each.name == name for each in unread):
                self.notes.add(
                    "EQ027",
                    place,
                    f"`{name}` on {tag.name} is not read, so its text is on no page",
                    "write the text as children",
                )
        id = props.get("id")
        if isinstance(id, str):
            self.notes.html_ids.add(id)
        mark = f' data-eq-line="{place.line}"' if block and self.line_marks else ""
        children = props.get("children")
        return Element(
            tag.name,
            place,
            "html",
            opening=f"<{tag.name}{html_attributes(props)}{mark}>",
            closing="" if tag.name in VOID else f"</{tag.name}>",
            inside=html.escape(children) if isinstance(children, str) else "",
        )

    def _component(self, tag: Tag, place: Place, place_of: Callable[[int], Place]) -> Element:
        known = self.settings.mdx.components.get(tag.name)
        if known is None:
            if self.settings.mdx.unknown == "error":
                self.unknown.setdefault(tag.name, []).append(place)
            known = "drop" if self.settings.mdx.unknown == "drop" else "transparent"
        if known == "transparent":
            return Element(tag.name, place, "transparent")
        if known == "drop":
            return self._marked(Element(tag.name, place, "drop"))
        props, unread = props_of(tag)
        for attribute in unread:
            self._unread(attribute.name, attribute.value, place_of(attribute.start))
        return self._marked(Element(tag.name, place, "template", props=props))

    def _unread(self, name: str, source: str, place: Place) -> None:
        if name in ("key", "ref", "dangerouslySetInnerHTML", "innerHTML"):
            return
        what = f"`{name}` has no value" if name else "this spread has no value"
        self.no_text(source if name else f"...{source}", place, what)

    def _cite(self, tag: Tag, place: Place) -> Element:
        props, unread = props_of(tag)
        wrong = (
            f"`{unread[0].name or '...'}` of Cite is an expression, which has no value yet"
            if unread
            else _wrong(props)
        )
        if wrong:
            self.notes.add("EQ032", place, wrong, _CITE_FORMS)
            return Element(tag.name, place, "cite")

        def text(name: str) -> str:
            return str(props.get(name, ""))

        occurrence = props.get("occurrence")
        written = Written(
            place=place,
            doc=text("doc"),
            quote=text("quote") or text("from"),
            id=text("id"),
            ref=text("cite").removeprefix("#"),
            occurrence=None if occurrence is None else int(str(occurrence).removesuffix(".0")),
            prefix=text("prefix"),
            suffix=text("suffix"),
            quote_end=text("to"),
            source=self.notes.document,
        )
        return Element(tag.name, place, "cite", written=written)

    def _marked(self, element: Element) -> Element:
        element.number = len(self.marked)
        self.marked.append(element)
        return element


def elements_of(env: MutableMapping[str, Any]) -> Elements:
    """The elements of a parse that was given some with `keep_elements`."""
    elements = env[_KEY]
    assert isinstance(elements, Elements)
    return elements


def keep_elements(env: MutableMapping[str, Any], elements: Elements) -> None:
    """Let the rules of a parse with this `env` write into `elements`."""
    env[_KEY] = elements


def _wrong(props: Mapping[str, object]) -> str:
    """What is wrong with the attributes of a `Cite`, or nothing."""
    for name, value in props.items():
        if name not in _CITE_PROPS:
            return f"Cite has no attribute `{name}`"
        if name == "occurrence":
            if not re.fullmatch(r"[0-9]{1,6}(?:\.0)?", str(value)) or isinstance(value, bool):
                return "`occurrence` of Cite must be a number that counts from 0"
        elif not isinstance(value, str):
            return f"`{name}` of Cite must be text"
    if "id" in props and not CITE_ID.match(str(props["id"])):
        return f"`{props['id']}` is not an id: a-z, 0-9 and `-`, at most 64"
    if "cite" in props:
        other = sorted(set(props) - {"cite", "key"})
        if other:
            return f"`cite` names a passage by its id, so `{other[0]}` says too much"
        if not CITE_ID.match(str(props["cite"])[1:]) or str(props["cite"])[0] != "#":
            return f"`{props['cite']}` is not `#` and an id: a-z, 0-9 and `-`, at most 64"
        return ""
    if not str(props.get("doc", "")).strip():
        return "this citation names no document"
    if ("from" in props) != ("to" in props):
        return "a range needs both `from` and `to`"
    if "from" in props and "quote" in props:
        return "this citation has both a `quote` and a range"
    if not str(props.get("quote", props.get("from", ""))).strip():
        return "this citation quotes no passage"
    if "to" in props and not str(props["to"]).strip():
        return "the end of this range is empty"
    return ""


def _toml_key(name: str) -> str:
    return f'"{name}"' if "." in name or not name.isascii() else name
