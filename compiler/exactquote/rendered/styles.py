"""Turns style sheets and a parsed page into the looks that decide what text a reader sees.

A cascade for the few properties that hide text or cut a sentence: a sheet is parsed once
and reduced to the rules that set one of them, then applied to each page. Selectors are
matched by Lexbor, after rules whose names don't occur on the page have been left out.

The page is judged at rest, as it looks on a desktop screen or on a phone; `Styles.responsive`
says whether that makes a difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal

import tinycss2  # type: ignore[import-untyped]
from selectolax.lexbor import LexborHTMLParser, LexborNode

from exactquote.rendered.generated import Written, properties_of, written_by
from exactquote.rendered.style_media import (
    DESKTOP,
    EVERYWHERE,
    PHONE,
    ZOOMED_OUT,
    container,
    media,
    supported,
    supported_import,
)
from exactquote.rendered.style_selectors import (
    DIRECTION,
    LANGUAGE,
    Selector,
    Specificity,
    nesting,
    selectors,
)
from exactquote.rendered.style_values import (
    CSS_WIDE,
    DECIDING,
    NOTHING,
    VARIABLE,
    Declared,
    declared,
    declared_of,
    ending,
    is_clipped,
    resolved,
)

Token = Any
Display = Literal["none", "inline", "cut-soft", "block", "contents"]
WhiteSpace = Literal["normal", "pre", "pre-line"]
ContentVisibility = Literal["visible", "auto", "hidden"]
Beside = Literal["", "letter", "space", "letter or space", "out", "block"]
"""What a pseudo-element is to the text beside it: a letter or a space that touches it, a box
out of the flow, or one that breaks the line."""

NESTED_RULES_MAX = 20


@dataclass(frozen=True, slots=True)
class Look:
    """What CSS does to one element, as computed on one screen at rest.

    `None` means that no rule speaks of it: the element looks as its tag does by itself, and
    white space is treated as in its parent. `hidden` is `visibility: hidden`, inherited.
    `clipped` and `transformed` are notes: browsers match such text, in its own case.
    `initial` says that a rule is for its `::first-letter`; `before` and `after` say what its
    `::before` and `::after` do to the text around them.
    """

    display: Display | None = None
    floated: bool = False
    positioned: bool = False
    hidden: bool = False
    white_space: WhiteSpace | None = None
    content_visibility: ContentVisibility | None = None
    clipped: bool = False
    transformed: bool = False
    initial: bool = False
    before: Beside = ""
    after: Beside = ""


PLAIN = Look()


@dataclass(frozen=True, slots=True)
class Import:
    """An `@import` that the caller may read and pass on: `sheet(text, media=…, layer=…)`.

    `layer` is "" for one without a name, and None where the sheet is put in none.
    """

    url: str
    media: str
    layer: str | None


@dataclass(frozen=True, slots=True)
class Rule:
    """One selector with the deciding values it sets, and the screens it holds on, as bits."""

    selector: str
    specificity: Specificity
    needs: frozenset[str]
    holds: int
    normal: Declared
    important: Declared
    layer: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A style sheet reduced to what decides: rules in their order, found by a name they need.

    `skipped` are selectors that can't be matched here; their rules are not applied.
    `written` is what it writes into a page.
    """

    rules: tuple[Rule, ...]
    index: Mapping[str, tuple[int, ...]] = field(repr=False)
    layers: tuple[tuple[str, ...], ...]
    imports: tuple[Import, ...]
    skipped: tuple[str, ...]
    written: Written = field(default_factory=Written)


@dataclass(frozen=True, slots=True)
class Styles:
    """The looks of one page, by `mem_id`; elements that no rule touches are not in it.

    `responsive` says that a rule makes something else of an element on another screen.
    """

    looks: Mapping[int, Look]
    skipped: tuple[str, ...] = ()
    responsive: bool = False

    def of(self, node: LexborNode) -> Look:
        """The look of an element; a plain one when no rule touches it."""
        return self.looks.get(node.mem_id, PLAIN)


def sheet(css: str, *, media: str | Sequence[str] = (), layer: str | None = None) -> Sheet:
    """Parse a style sheet; `media` and `layer` are those of the links that bring it in.

    Of several media each has to hold. Errors are skipped as browsers skip them.
    """
    reader = _Reader()
    layers = () if layer is None else reader.open_layer((), layer)
    holds = EVERYWHERE
    for query in (media,) if isinstance(media, str) else media:
        holds &= _media(query)
    where = _Where(holds, layers)
    reader.read(tinycss2.parse_stylesheet(css, True, True), where)
    index: dict[str, list[int]] = {}
    for number, (key, _) in enumerate(reader.rules):
        index.setdefault(key, []).append(number)
    return Sheet(
        rules=tuple(rule for _, rule in reader.rules),
        index={key: tuple(numbers) for key, numbers in index.items()},
        layers=tuple(reader.layers),
        imports=tuple(reader.imports),
        skipped=tuple(dict.fromkeys(reader.skipped)),
        written=written_by(css),
    )


def apply(tree: LexborHTMLParser, sheets: Sequence[Sheet], screen: int = DESKTOP) -> Styles:
    """The look of every element that a rule, its own style or the browser's defaults touch.

    `screen` is one of `style_media`.
    """
    page = _Page(tree)
    for one in sheets:
        page.name_properties(one.written.properties)
    matched = _match(tree, page, sheets)
    responsive = _cascade(page, matched, screen)
    _settle(page)
    _inherit(page)
    looks = {
        mem_id: _look(
            "none" if values.get("content") == "replaced" else values.get("display"),
            values.get("float") == "side",
            values.get("position") == "out",
            values.get("visibility") == "hidden",
            values.get("white-space"),
            values.get("content-visibility"),
            is_clipped(values),
            values.get("text-transform") == "changed",
            "first-letter" in values,
            _beside(values, "before", page.nodes[mem_id]),
            _beside(values, "after", page.nodes[mem_id]),
        )
        for mem_id, values in page.values.items()
    }
    skipped = tuple(dict.fromkeys(text for one in sheets for text in one.skipped))
    return Styles(looks, skipped, responsive)


_media = media
# `sheet` has a keyword of the same name, as the attribute of `<link>` is called.


@dataclass(frozen=True, slots=True)
class _Where:
    """What stands around a rule: screens, layer, and the rule it is nested in.

    `parent` is what `&` means; `prelude` and `outer` are the same rule as it is written.
    """

    holds: int
    layer: tuple[str, ...]
    depth: int = 0
    parent: str = ""
    prelude: tuple[Token, ...] = ()
    outer: str = ""


class _Reader:
    """Collects the deciding rules of one sheet in their order."""

    def __init__(self) -> None:
        self.rules: list[tuple[str, Rule]] = []
        self.layers: dict[tuple[str, ...], None] = {}
        self.imports: list[Import] = []
        self.skipped: list[str] = []
        # Behind any other rule an import is none.
        self._may_import = True

    def read(self, items: Sequence[Token], where: _Where) -> None:
        """Take in rules, and the bare declarations between them where rules nest."""
        loose: list[Token] = []
        for item in items:
            if item.type == "declaration":
                loose.append(item)
                continue
            self._flush(loose, where)
            if item.type == "qualified-rule":
                self._may_import = False
                self._rule(item, where)
            elif item.type == "at-rule":
                self._at_rule(item, where)
        self._flush(loose, where)

    def open_layer(self, under: tuple[str, ...], name: str) -> tuple[str, ...]:
        """Note a layer and those it lies in at their first mention; "" is one without a name."""
        steps = name.split(".", NESTED_RULES_MAX) if name else [f"\0{len(self.layers)}"]
        for step in steps:
            under = (*under, step.strip())
            self.layers.setdefault(under)
        return under

    def _flush(self, loose: list[Token], where: _Where) -> None:
        if loose and where.parent:
            self._add(where.prelude, where.outer, loose, where)
        loose.clear()

    def _rule(self, rule: Token, where: _Where) -> None:
        decides = nests = False
        for token in rule.content:
            if token.type == "ident":
                decides = decides or token.lower_value in DECIDING
            elif token.type == "{} block":
                nests = True
        if nests and where.depth < NESTED_RULES_MAX:
            parent = nesting(rule.prelude, where.parent)
            if parent:
                items = tinycss2.parse_blocks_contents(rule.content, True, True)
                self.read(
                    items,
                    _Where(
                        where.holds,
                        where.layer,
                        where.depth + 1,
                        parent,
                        tuple(rule.prelude),
                        where.parent,
                    ),
                )
        elif decides or _pseudo_elements(rule.prelude):
            declarations = tinycss2.parse_blocks_contents(rule.content, True, True)
            kept = [one for one in declarations if one.type == "declaration"]
            self._add(rule.prelude, where.parent, kept, where)

    def _add(
        self, prelude: Sequence[Token], parent: str, declarations: list[Token], where: _Where
    ) -> None:
        for name in _pseudo_elements(prelude):
            own = declared_of(name, declarations)
            if own[0] or own[1]:
                self._keep(selectors(prelude, parent, name)[0], *own, where)
        normal, important = declared(declarations)
        if not normal and not important:
            return
        found, skipped = selectors(prelude, parent)
        self.skipped.extend(skipped)
        self._keep(found, normal, important, where)

    def _keep(
        self, found: Sequence[Selector], normal: Declared, important: Declared, where: _Where
    ) -> None:
        if not where.holds:
            return
        for one in found:
            rule = Rule(
                one.text, one.specificity, one.needs, where.holds, normal, important, where.layer
            )
            self.rules.append((one.key, rule))

    def _at_rule(self, rule: Token, where: _Where) -> None:
        name = rule.lower_at_keyword
        if name not in ("import", "charset") and not (name == "layer" and rule.content is None):
            self._may_import = False
        if rule.content is None:
            if name == "import" and self._may_import:
                self._import(rule.prelude)
            elif name == "layer":
                for layer in tinycss2.serialize(rule.prelude).split(","):
                    self.open_layer(where.layer, layer.strip())
            return
        if where.depth >= NESTED_RULES_MAX:
            return
        holds, layer = where.holds, where.layer
        if name == "media":
            holds &= media(rule.prelude)
        elif name == "supports":
            holds &= EVERYWHERE if supported(rule.prelude) else 0
        elif name == "layer":
            layer = self.open_layer(layer, tinycss2.serialize(rule.prelude).strip())
        elif name == "container":
            holds &= container(rule.prelude)
        elif name == "starting-style":
            # A browser looks for text while it holds.
            pass
        elif name == "scope":
            self._scope(rule, where)
            return
        else:
            return
        if holds:
            parse = tinycss2.parse_blocks_contents if where.parent else tinycss2.parse_rule_list
            inner = replace(where, holds=holds, layer=layer, depth=where.depth + 1)
            self.read(parse(rule.content, True, True), inner)

    def _scope(self, rule: Token, where: _Where) -> None:
        """Rules of a part of the page; where a scope ends isn't looked at, so they hold longer."""
        roots = next((one.content for one in rule.prelude if one.type == "() block"), None)
        parent = nesting(roots, where.parent) if roots else "html"
        if parent:
            content = re.sub(r"(?i):scope\b", "&", tinycss2.serialize(rule.content))
            inner = replace(where, depth=where.depth + 1, parent=f":where({parent})")
            self.read(tinycss2.parse_blocks_contents(content, True, True), inner)

    def _import(self, prelude: Sequence[Token]) -> None:
        tokens = [token for token in prelude if token.type not in ("whitespace", "comment")]
        if not tokens:
            return
        first, rest = tokens[0], tokens[1:]
        url = first.value if first.type in ("url", "string") else ""
        if first.type == "function" and first.lower_name == "url":
            url = next((one.value for one in first.arguments if one.type == "string"), "")
        layer: str | None = None
        if rest and rest[0].type == "function" and rest[0].lower_name == "layer":
            layer, rest = tinycss2.serialize(rest[0].arguments).strip(), rest[1:]
        elif rest and rest[0].type == "ident" and rest[0].lower_value == "layer":
            layer, rest = "", rest[1:]
        if rest and rest[0].type == "function" and rest[0].lower_name == "supports":
            if not supported_import(rest[0].arguments):
                return
            rest = rest[1:]
        if url:
            self.imports.append(Import(url, " ".join(one.serialize() for one in rest), layer))


def _pseudo_elements(prelude: Sequence[Token]) -> frozenset[str]:
    return _PSEUDO_ELEMENTS & {one.lower_value for one in prelude if one.type == "ident"}


# --- one page ---------------------------------------------------------------------------

_UNSEEN = """
    head link meta script style title base template area datalist param rp noembed noframes
    source track noscript
"""
_BLOCKS = """
    address article aside blockquote body caption center col colgroup dd details dialog dir
    div dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup
    hr html legend li listing main menu nav ol optgroup option p plaintext pre search section
    summary table tbody td tfoot th thead tr ul xmp
"""
_NO_DISPLAY = frozenset(_UNSEEN.split())
BLOCK_TAGS = frozenset(_BLOCKS.split())
_SOFT_TAGS = frozenset({"button", "input", "textarea", "select", "meter", "progress", "marquee"})
_OBJECTS = """
    br canvas embed frame iframe img input meter object progress select textarea video audio wbr
"""
# Without a box of their own they show nothing.
_REPLACED = frozenset(_OBJECTS.split())
PRE_TAGS = frozenset({"pre", "listing", "xmp", "plaintext", "textarea"})
# Tags for which browsers set an inherited value of their own.
_KEEPERS = {"white-space": PRE_TAGS, "text-transform": _SOFT_TAGS}
_INITIAL = {
    "display": "inline",
    "float": "none",
    "position": "in",
    "visibility": "visible",
    "white-space": "normal",
    "content-visibility": "visible",
    "clip": "clear",
    "clip-path": "clear",
    "overflow": "shown",
    "width": "some",
    "height": "some",
    "text-transform": "none",
}
_PSEUDO_ELEMENTS = frozenset({"before", "after", "first-letter"})
_SCREENS = (DESKTOP, PHONE, ZOOMED_OUT)
_KEPT_SPACE: Declared = MappingProxyType({"white-space": "pre"})
_POPPED_UP: Declared = MappingProxyType({"position": "out"})
_NOT_POPPED_UP: Declared = MappingProxyType({"position": "out", "display": "none"})
_HIDDEN: Declared = MappingProxyType({"display": "none"})
_NEVER_SHOWN: Declared = MappingProxyType({"display": "none", "never": "shown"})
_INHERITED = ("visibility", "white-space", "text-transform")
_AS_BLOCK = {"inline": "block", "inline-block": "block", "inline-flex": "flex"}


class _Page:
    """The elements of a page in document order, their names, and what is known of each."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self.nodes: dict[int, LexborNode] = {}
        self.names: set[str] = {""}
        self.defaults: dict[int, Declared] = {}
        self.inline: dict[int, tuple[Declared, Declared]] = {}
        self.values: dict[int, dict[str, str]] = {}
        self.properties: dict[str, set[str]] = {}
        self._told = False
        for node in tree.css("*"):
            self._take(node, node.mem_id, node.tag or "")

    def name_properties(self, properties: Mapping[str, Iterable[str]]) -> None:
        """Take in values of custom properties, wherever they are given."""
        for name, values in properties.items():
            self.properties.setdefault(name, set()).update(values)

    def tell_inherited(self) -> None:
        """Write the language and direction of each element into it, to be asked for."""
        if self._told:
            return
        self._told = True
        known: dict[int, tuple[str, str]] = {}
        for mem_id, node in self.nodes.items():
            parent = node.parent
            language, direction = known.get(0 if parent is None else parent.mem_id, ("", "ltr"))
            attributes = node.attributes
            language = (attributes.get("lang") or language).lower()
            stated = (attributes.get("dir") or "").lower()
            direction = stated if stated in ("ltr", "rtl") else direction
            known[mem_id] = (language, direction)
            node.attrs[LANGUAGE] = language
            node.attrs[DIRECTION] = direction

    def _take(self, node: LexborNode, mem_id: int, tag: str) -> None:
        self.nodes[mem_id] = node
        self.names.add(tag.lower())
        if tag in _NO_DISPLAY:
            self.defaults[mem_id] = _NEVER_SHOWN if tag == "noscript" else _HIDDEN
        attributes = node.attributes
        if not attributes and tag != "dialog":
            return
        # Lower case on both sides: names match in any case where a page has no doctype.
        for name in (attributes.get("class") or "").lower().split():
            self.names.add("." + name)
        if attributes.get("id"):
            self.names.add("#" + (attributes["id"] or "").lower())
        defaults = _attribute_defaults(tag, attributes)
        if defaults is not NOTHING:
            self.defaults[mem_id] = {**self.defaults.get(mem_id, NOTHING), **defaults}
        style = attributes.get("style")
        if style:
            if "--" in style:
                self.name_properties(properties_of(style))
            own = _inline(style)
            if own[0] or own[1]:
                self.inline[mem_id] = own


def _attribute_defaults(tag: str, attributes: Mapping[str, str | None]) -> Declared:
    """What browsers make of attributes, unless a rule says otherwise."""
    if tag == "dialog" or "popover" in attributes:
        return _POPPED_UP if tag == "dialog" and "open" in attributes else _NOT_POPPED_UP
    if attributes.get("contenteditable") == "plaintext-only":
        return _KEPT_SPACE
    if "hidden" in attributes and (attributes["hidden"] or "").lower() != "until-found":
        return _HIDDEN
    if tag == "input" and (attributes.get("type") or "").lower() == "hidden":
        return _NEVER_SHOWN
    return NOTHING


@lru_cache(maxsize=4096)
def _inline(style: str) -> tuple[Declared, Declared]:
    return declared(
        one
        for one in tinycss2.parse_blocks_contents(style, True, True)
        if one.type == "declaration"
    )


def _match(
    tree: LexborHTMLParser, page: _Page, sheets: Sequence[Sheet]
) -> tuple[dict[int, list[Rule]], dict[int, list[Rule]]]:
    """The rules that match each element, weakest first: for normal and important values."""
    ranks = _layer_ranks(sheets)
    candidates = []
    for number, one in enumerate(sheets):
        for name in page.names & one.index.keys():
            for index in one.index[name]:
                rule = one.rules[index]
                if rule.needs <= page.names:
                    rank = ranks[_layer_name(number, rule.layer)]
                    candidates.append((rank, rule.specificity, number, index, rule))
    candidates.sort(key=lambda candidate: candidate[:4])
    found: dict[str, list[int]] = {}
    normal: dict[int, list[Rule]] = {}
    for candidate in candidates:
        rule = candidate[4]
        if rule.selector not in found:
            if LANGUAGE in rule.selector or DIRECTION in rule.selector:
                page.tell_inherited()
            found[rule.selector] = [node.mem_id for node in tree.css(rule.selector)]
        if rule.normal:
            for mem_id in found[rule.selector]:
                normal.setdefault(mem_id, []).append(rule)
    # Layers count the other way round where values are important.
    important: dict[int, list[Rule]] = {}
    pressing = [candidate for candidate in candidates if candidate[4].important]
    pressing.sort(key=lambda one: ([-step for step in one[0]], *one[1:4]))
    for candidate in pressing:
        for mem_id in found[candidate[4].selector]:
            important.setdefault(mem_id, []).append(candidate[4])
    return normal, important


def _layer_name(sheet_number: int, layer: tuple[str, ...]) -> tuple[str, ...]:
    """Layers without a name are of one sheet alone; named ones are shared by all."""
    return tuple(f"{step}\0{sheet_number}" if step[:1] == "\0" else step for step in layer)


def _layer_ranks(sheets: Sequence[Sheet]) -> dict[tuple[str, ...], tuple[float, ...]]:
    """A sort key for each layer: later is stronger, and what lies outside is strongest."""
    last = float("inf")
    ranks: dict[tuple[str, ...], tuple[float, ...]] = {(): (last,)}
    count: dict[tuple[str, ...], int] = {}
    for number, one in enumerate(sheets):
        for layer in one.layers:
            name = _layer_name(number, layer)
            if name not in ranks:
                above = name[:-1]
                count[above] = count.get(above, 0) + 1
                ranks[name] = (*ranks[above][:-1], count[above], last)
    return ranks


def _cascade(
    page: _Page, matched: tuple[dict[int, list[Rule]], dict[int, list[Rule]]], screen: int
) -> bool:
    """Fill `page.values` with each element's winning values; whether others win elsewhere."""
    responsive = False
    normal, important = matched
    touched = normal.keys() | important.keys() | page.defaults.keys() | page.inline.keys()
    for mem_id in page.nodes:
        if mem_id not in touched:
            continue
        parts = (
            page.defaults.get(mem_id, NOTHING),
            normal.get(mem_id, ()),
            page.inline.get(mem_id, (NOTHING, NOTHING)),
            important.get(mem_id, ()),
        )
        values = _winners(*parts, screen)
        if not responsive and any(rule.holds != EVERYWHERE for rule in (*parts[1], *parts[3])):
            responsive = any(values != _winners(*parts, other) for other in _SCREENS)
        for name, value in list(values.items()):
            if value[:1] == VARIABLE:
                values[name] = resolved(name, value, page.properties)
                if not values[name]:
                    del values[name]
        if "never" in parts[0]:
            values["display"] = "none"
        if values:
            page.values[mem_id] = values
    return responsive


def _winners(
    defaults: Declared,
    normal: Sequence[Rule],
    inline: tuple[Declared, Declared],
    important: Sequence[Rule],
    bit: int,
) -> dict[str, str]:
    values = dict(defaults)
    for rule in normal:
        if rule.holds & bit:
            values.update(rule.normal)
    values.update(inline[0])
    for rule in important:
        if rule.holds & bit:
            values.update(rule.important)
    values.update(inline[1])
    for name, value in list(values.items()):
        if value in ("revert", "revert-layer"):
            if name in defaults:
                values[name] = defaults[name]
            else:
                del values[name]
        elif value == "initial" or (value == "unset" and name not in _INHERITED):
            values[name] = _INITIAL[name]
    return values


def _tag_display(tag: str) -> str:
    if tag in _NO_DISPLAY:
        return "none"
    if tag in BLOCK_TAGS:
        return "block"
    return "inline-block" if tag in _SOFT_TAGS else "inline"


def _settle(page: _Page) -> None:
    """Resolve `inherit`, and make blocks of floats, positioned elements and flex items."""
    items: set[int] = set()
    for mem_id, node in page.nodes.items():
        is_item = mem_id in items
        if is_item:
            page.values.setdefault(mem_id, {})
        elif mem_id not in page.values:
            continue
        values = page.values[mem_id]
        for name, value in list(values.items()):
            if value in CSS_WIDE and name not in _INHERITED:
                values[name] = _parent_value(page, node, name)
        display = values.get("display") or _tag_display(node.tag or "")
        if display == "contents" and node.tag in _REPLACED:
            display = values["display"] = "none"
        if values.get("position") == "out":
            values["float"] = "none"
        if is_item or values.get("position") == "out" or values.get("float") == "side":
            display = _AS_BLOCK.get(display, display)
            values["display"] = display
        if display in ("flex", "inline-flex") or (is_item and display == "contents"):
            items.update(_item_ids(node))


def _item_ids(node: LexborNode) -> Iterator[int]:
    """The elements that become boxes of their own in a flex or grid container."""
    child = node.first_child
    while child is not None:
        # What `<details>` folds away lies in one box.
        if child.is_element_node and (node.tag != "details" or child.tag == "summary"):
            yield child.mem_id
        child = child.next


def _parent_value(page: _Page, node: LexborNode, name: str) -> str:
    parent = node.parent
    if parent is None or not parent.is_element_node:
        return _INITIAL[name]
    own = page.values.get(parent.mem_id, {}).get(name)
    if own is not None:
        return own
    return _tag_display(parent.tag or "") if name == "display" else _INITIAL[name]


def _inherit(page: _Page) -> None:
    """Hand inherited values down; what a descendant would have anyway isn't written down."""
    told = {name for values in page.values.values() for name in values.keys() & _INHERITED}
    used = [name for name in _INHERITED if name in told]
    if not used:
        return
    inherited: dict[str, dict[int, str]] = {name: {} for name in used}
    in_pre: set[int] = set()
    for mem_id, node in page.nodes.items():
        parent = node.parent
        above = 0 if parent is None else parent.mem_id
        tag = node.tag or ""
        if tag in PRE_TAGS or above in in_pre:
            in_pre.add(mem_id)
        own = page.values.get(mem_id, NOTHING)
        for name in used:
            natural = "pre" if name == "white-space" and mem_id in in_pre else _INITIAL[name]
            value = inherited[name].get(above, _INITIAL[name])
            if name in own:
                value = value if own[name] in CSS_WIDE else own[name]
            elif tag in _KEEPERS.get(name, ()):
                value = natural
            if value != _INITIAL[name]:
                inherited[name][mem_id] = value
            if name in own or value != natural:
                page.values.setdefault(mem_id, {})[name] = value


def _beside(values: Mapping[str, str], side: str, node: LexborNode) -> Beside:
    content = values.get(f"{side}-content", "none")
    display = values.get(f"{side}-display", "inline")
    if content.startswith("attr:"):
        content = ending(node.attributes.get(content.removeprefix("attr:")) or "")
    if "none" in (content, display):
        return ""
    floats = values.get(f"{side}-float") == "side"
    if floats or values.get(f"{side}-position") == "out":
        return "" if content == "empty" else "out"
    if display in ("block", "flex"):
        return "block"
    if content == "unknown":
        return "letter" if display.startswith("inline-") else "letter or space"
    if content == "letter":
        return "letter"
    # A box of its own keeps its white space to itself.
    return "space" if content == "space" and not display.startswith("inline-") else ""


_LOOKS = {"flex": "block", "inline-flex": "cut-soft", "inline-block": "cut-soft"}


@lru_cache(maxsize=4096)
def _look(
    display: Any,
    floated: bool,
    positioned: bool,
    hidden: bool,
    white_space: Any,
    content_visibility: Any,
    clipped: bool,
    transformed: bool,
    initial: bool,
    before: Beside,
    after: Beside,
) -> Look:
    return Look(
        _LOOKS.get(display, display),
        floated,
        positioned,
        hidden,
        white_space,
        content_visibility,
        clipped,
        transformed,
        initial,
        before,
        after,
    )
