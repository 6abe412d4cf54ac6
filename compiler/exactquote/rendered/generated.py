"""Turns style sheets and tags into the words that a browser writes into a page by itself.

Firefox meets them as it searches: what `content` says, the marks of lists, the labels of form
fields. Where a browser fills something in, a sign that no text has stands for it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import tinycss2  # type: ignore[import-untyped]
from selectolax.lexbor import LexborHTMLParser

Token = Any

# They stand for any run of figures, of letters and figures, of quotation marks.
FIGURES, LETTERS, QUOTES = "\ufdd0", "\ufdd1", "\ufdd2"
_FILLED_IN = frozenset(FIGURES + LETTERS + QUOTES)
_QUOTE_SIGNS = frozenset("'\"«»‹›「」『』《》〈〉")

_VALUE = r"\s*:((?:[^;}\"']|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')+)"
_CONTENT = re.compile(rf"(?<![\w-])content{_VALUE}", re.IGNORECASE)
_LIST_STYLE = re.compile(rf"(?<![\w-])list-style(?:-type)?{_VALUE}", re.IGNORECASE)
_CUSTOM = re.compile(rf"(?<![\w-])(--[\w-]+){_VALUE}")
_COUNTER_STYLE = re.compile(r"@counter-style\s+[\w-]+\s*\{([^}]*)\}", re.IGNORECASE)
_DESCRIPTOR = re.compile(
    rf"(?<![\w-])(prefix|suffix|symbols|additive-symbols){_VALUE}", re.IGNORECASE
)
_COUNTED = re.compile(
    r"(?<![\w-])counter-(?:reset|set|increment)\s*:[^;}]*\blist-item\b", re.IGNORECASE
)
_ITEMS = re.compile(r"(?<![\w-])display\s*:[^;}]*\blist-item\b", re.IGNORECASE)

_BULLETS = frozenset({"disc", "circle", "square", "disclosure-open", "disclosure-closed"})
_FIGURES = frozenset({"decimal", "decimal-leading-zero"})
_NUMERALS = frozenset(
    "lower-alpha upper-alpha lower-latin upper-latin lower-roman upper-roman lower-greek".split()
)
_NO_MARKS = frozenset(
    "none inside outside initial inherit unset revert revert-layer important".split()
)
_VARIABLES_DEEP_MAX = 20
_TEXTS_MAX = 4096
_TEXT_CHARS_MAX = 1000
# An attribute that a selector can ask for as it is written.
_NAME = re.compile(r"[a-z_][a-z0-9_-]*")

# In English: which language a reader's browser speaks isn't known.
_LABELS: Mapping[str, tuple[str, ...]] = {
    "submit": ("Submit", "Submit Query"),
    "reset": ("Reset",),
    "file": ("Choose File", "No file chosen", "Browse…", "No file selected."),
    "date": ("mm / dd / yyyy",),
    "datetime-local": ("mm / dd / yyyy", "-- : -- --"),
    "time": ("-- : -- --",),
    "details": ("Details",),
}
BUTTONS = frozenset({"submit", "reset", "button"})
"""Types of `<input>` that are buttons."""
_LABELLED = "input, textarea, option, optgroup, details, video, audio"
_HAS_LABELS = re.compile(
    r"<(?:input|textarea|option|optgroup|details|video|audio)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Written:
    """What one style sheet writes, whatever the selector.

    Each text is what a `content` says, in its parts: words, or the name of an attribute or of
    a custom property. `marks` says of lists, when the sheet speaks of them, what stands
    before their items: bullets, figures, numerals of letters such as "b" and "iv", or letters
    of any number.
    """

    texts: frozenset[tuple[tuple[str, str], ...]] = frozenset()
    properties: Mapping[str, frozenset[str]] = field(default_factory=dict)
    marks: frozenset[str] = frozenset()


def written_by(css: str) -> Written:
    """What a style sheet may write into a page."""
    texts = {parts for found in _CONTENT.finditer(css) if (parts := _parts(found[1]))}
    marks = set()
    for found in _LIST_STYLE.finditer(css):
        kinds, words = _marks(found[1])
        marks |= kinds
        texts |= {(("words", word),) for word in words}
    for found in _COUNTER_STYLE.finditer(css):
        marks.add("letters")
        texts |= {(("words", text),) for text in _counter_style(found[1])}
    if _COUNTED.search(css):
        marks.add("figures")
    if _ITEMS.search(css):
        marks.add("bullets")
    return Written(frozenset(texts), properties_of(css), frozenset(marks))


def properties_of(css: str) -> Mapping[str, frozenset[str]]:
    """Every value that a sheet, or the declarations of one element, give to custom properties."""
    properties: dict[str, set[str]] = {}
    for found in _CUSTOM.finditer(css):
        properties.setdefault(found[1], set()).add(found[2])
    return {name: frozenset(values) for name, values in properties.items()}


def texts_of(sheets: Sequence[Written], tree: LexborHTMLParser) -> frozenset[str]:
    """The texts that style sheets may write into one page, with what its attributes say."""
    properties: dict[str, frozenset[str]] = {}
    for one in sheets:
        for name, values in one.properties.items():
            properties[name] = properties.get(name, frozenset()) | values
    filler = _Filler(properties, tree)
    found: set[str] = set()
    for one in sheets:
        for parts in one.texts:
            found.update(filler.texts(parts))
    return frozenset(text for text in found if text.strip())


def labels_of(html: str, tree: LexborHTMLParser) -> frozenset[str]:
    """The texts that browsers write into the form fields of a page."""
    if not _HAS_LABELS.search(html):
        return frozenset()
    found: set[str] = set()
    for node in tree.css(_LABELLED):
        attributes = node.attributes
        found.update(attributes.get(name) or "" for name in ("placeholder", "label"))
        shape = (attributes.get("type") or "").lower() if node.tag == "input" else ""
        if shape in BUTTONS and attributes.get("value"):
            found.add(attributes["value"] or "")
        elif shape:
            found.update(_LABELS.get(shape, ()))
        elif node.tag in ("video", "audio"):
            found.add("No video with supported format and MIME type found.")
        elif node.tag == "details" and node.css_first("summary") is None:
            found.update(_LABELS["details"])
    return frozenset(text for text in found if text.strip())


def default_label(name: str) -> str:
    """What a field of that type shows when nothing is given to it, "" for nothing."""
    return _LABELS.get(name.lower(), ("",))[0]


def may_hold(written: str, part: str) -> bool:
    """Whether a written text may have a part in it; both folded."""
    if _FILLED_IN.isdisjoint(written):
        return part in written
    # Where in the written text the part may have got to, character by character.
    places = _with_skipped(range(len(written)), written)
    for character in part:
        on = (
            at if written[at] in _FILLED_IN else at + 1
            for at in places
            if at < len(written) and _fits(written[at], character)
        )
        places = _with_skipped(on, written)
    return bool(places)


def _with_skipped(places: Any, written: str) -> set[int]:
    """The places, and those behind what may be filled in with nothing."""
    found = set()
    for at in places:
        found.add(at)
        while at < len(written) and written[at] in _FILLED_IN:
            at += 1
            found.add(at)
    return found


def _fits(sign: str, character: str) -> bool:
    if sign == FIGURES:
        return character.isdigit()
    if sign == LETTERS:
        return character.isalnum()
    if sign == QUOTES:
        return character in _QUOTE_SIGNS
    return sign == character


def _parts(value: str) -> tuple[tuple[str, str], ...]:
    tokens = tinycss2.parse_component_value_list(value, skip_comments=True)
    return tuple(part for token in tokens if (part := _part(token)) is not None)


def _part(token: Token) -> tuple[str, str] | None:
    if token.type == "string":
        return "words", token.value
    if token.type == "ident" and token.lower_value in ("open-quote", "close-quote"):
        return "words", QUOTES
    if token.type != "function":
        return None
    arguments = [one for one in token.arguments if one.type not in ("whitespace", "comment")]
    names = [one.value for one in arguments if one.type == "ident"]
    styles = {name.lower() for name in names[1:]}
    if token.lower_name == "attr" and names:
        return "attribute", names[0].lower()
    if token.lower_name == "var" and names:
        return "property", names[0]
    if token.lower_name == "counter":
        return "words", FIGURES if styles <= _FIGURES else LETTERS
    if token.lower_name == "counters":
        between = next((one.value for one in arguments if one.type == "string"), "")
        sign = FIGURES if styles <= _FIGURES else LETTERS
        # As deep as lists are nested.
        return "words", between.join([sign] * 4)
    return None


class _Filler:
    """Puts attributes and custom properties of one page into the texts of its style sheets."""

    def __init__(self, properties: Mapping[str, frozenset[str]], tree: LexborHTMLParser) -> None:
        self._properties = properties
        self._tree = tree
        self._known: dict[tuple[str, str], list[str]] = {}
        self._depth = 0

    def texts(self, parts: tuple[tuple[str, str], ...]) -> Iterator[str]:
        """The texts that the parts of a `content` make."""
        choices = [self._choices(kind, name) for kind, name in parts]
        if math.prod(max(1, len(one)) for one in choices) > _TEXTS_MAX:
            # Too many to put together: each part is looked at by itself.
            for one in choices:
                yield from one
            return
        for chosen in product(*(one or [""] for one in choices)):
            yield "".join(chosen)[:_TEXT_CHARS_MAX]

    def _choices(self, kind: str, name: str) -> list[str]:
        if kind == "words":
            return [name]
        if (kind, name) not in self._known:
            # A property that is made of itself says nothing.
            self._known[kind, name] = []
            texts = self._attributes(name) if kind == "attribute" else self._values(name)
            self._known[kind, name] = sorted(set(texts))[:_TEXTS_MAX]
        return self._known[kind, name]

    def _attributes(self, name: str) -> Iterator[str]:
        if _NAME.fullmatch(name):
            for node in self._tree.css(f"[{name}]"):
                yield node.attributes.get(name) or ""

    def _values(self, name: str) -> Iterator[str]:
        if self._depth == _VARIABLES_DEEP_MAX:
            return
        self._depth += 1
        for value in sorted(self._properties.get(name, ())):
            parts = _parts(value)
            if parts:
                yield from self.texts(parts)
        self._depth -= 1


def _marks(value: str) -> tuple[set[str], list[str]]:
    """What marks a `list-style` asks for, and the words of them that it has itself."""
    kinds: set[str] = set()
    words = []
    for token in tinycss2.parse_component_value_list(value, skip_comments=True):
        if token.type == "string":
            words.append(token.value)
        elif token.type == "function" and token.lower_name != "url":
            kinds.add("letters")
        elif token.type == "ident":
            name = token.lower_value
            if name in _BULLETS:
                kinds.add("bullets")
            elif name in _FIGURES:
                kinds.add("figures")
            elif name in _NUMERALS:
                kinds.add("numerals")
            elif name not in _NO_MARKS:
                kinds.add("letters")
    return kinds, words


def _counter_style(block: str) -> Iterator[str]:
    """The marks of a `@counter-style`, with what stands around each."""
    found: dict[str, list[str]] = {}
    for name, value in _DESCRIPTOR.findall(block):
        tokens = tinycss2.parse_component_value_list(value, skip_comments=True)
        found[name.lower()] = [t.value for t in tokens if t.type in ("string", "ident")]
    before = "".join(found.get("prefix", ()))
    after = "".join(found.get("suffix", ()))
    symbols = [*found.get("symbols", ()), *found.get("additive-symbols", ()), LETTERS]
    for symbol in symbols:
        yield f"{before}{symbol}{after}"
