"""Turns the declarations of one CSS rule into the few values that decide what text is.

Values are normalised to what matters to a text finder: `display` to six words, `position`
to in or out of flow, `white-space` to three ways of collapsing. CSS-wide keywords stay as
they are; the cascade resolves them. A declaration that browsers would drop is dropped here,
so an older fallback before it stands.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import tinycss2  # type: ignore[import-untyped]

Token = Any
"""A tinycss2 node; the library carries no types."""

Declared = Mapping[str, str]
"""Property to normalised value."""

CSS_WIDE = frozenset({"initial", "inherit", "unset", "revert", "revert-layer"})

_DISPLAY = {
    "none": "none",
    "contents": "contents",
    "inline": "inline",
    "block": "block",
    "flow": "block",
    "flow-root": "block",
    "list-item": "block",
    "table": "block",
    "table-row": "block",
    "table-cell": "block",
    "table-caption": "block",
    # What stands in a column is never shown.
    "table-column": "none",
    "table-column-group": "none",
    "table-row-group": "block",
    "table-header-group": "block",
    "table-footer-group": "block",
    "flex": "flex",
    "grid": "flex",
    # The children of an old-style box flow as in a block; it is there to clamp lines.
    "-webkit-box": "block",
    "-webkit-flex": "flex",
    "inline-block": "inline-block",
    "inline-table": "inline-block",
    "ruby": "inline-block",
    "math": "inline-block",
    "inline-flex": "inline-flex",
    "inline-grid": "inline-flex",
    "-webkit-inline-box": "inline-block",
    "-webkit-inline-flex": "inline-flex",
}
_INNER = {"flow", "flow-root", "table", "flex", "grid", "ruby", "math", "list-item"}
_FLOAT = {
    "none": "none",
    "left": "side",
    "right": "side",
    "inline-start": "side",
    "inline-end": "side",
}
_POSITION = {
    "static": "in",
    "relative": "in",
    "sticky": "in",
    "-webkit-sticky": "in",
    "absolute": "out",
    "fixed": "out",
}
_VISIBILITY = {"visible": "visible", "hidden": "hidden", "collapse": "hidden"}
_COLLAPSE = {
    "normal": "normal",
    "collapse": "normal",
    "nowrap": "normal",
    "wrap": "normal",
    "balance": "normal",
    "pre": "pre",
    "pre-wrap": "pre",
    "preserve": "pre",
    "preserve-spaces": "pre",
    "break-spaces": "pre",
    "pre-line": "pre-line",
    "preserve-breaks": "pre-line",
}
_CONTENT_VISIBILITY = {"visible": "visible", "auto": "auto", "hidden": "hidden"}
_TRANSFORM = {
    "none": "none",
    "uppercase": "changed",
    "lowercase": "changed",
    "capitalize": "changed",
    "full-width": "changed",
    "full-size-kana": "changed",
    "math-auto": "changed",
}
_SINGLE = {
    "float": _FLOAT,
    "position": _POSITION,
    "visibility": _VISIBILITY,
    "content-visibility": _CONTENT_VISIBILITY,
}
_SIZES = frozenset({"width", "height"})
_CLIPPING = frozenset({"clip", "clip-path", "overflow", "overflow-x", "overflow-y", *_SIZES})
_ALL = (
    "display",
    "float",
    "position",
    "visibility",
    "white-space",
    "content-visibility",
    "text-transform",
    "clip",
    "clip-path",
    "overflow",
    *sorted(_SIZES),
)

DECIDING = frozenset(
    {
        *_SINGLE,
        *("display", "white-space", "white-space-collapse", "text-transform", "content", "all"),
        *("clip", "clip-path", "-webkit-clip-path", "overflow", "overflow-x", "overflow-y"),
        "interactivity",
    }
)
"""Properties for whose sake a rule is kept; other sizes count only beside one of them."""

NOTHING: Declared = MappingProxyType({})


def declared(declarations: Iterable[Token]) -> tuple[Declared, Declared]:
    """The normal and the important values that one declaration block sets."""
    values: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for declaration in declarations:
        name = declaration.lower_name
        words = [t for t in declaration.value if t.type not in ("whitespace", "comment")]
        name = name.removeprefix("-webkit-") if name == "-webkit-clip-path" else name
        into = values[1 if declaration.important else 0]
        if name in _CLIPPING:
            value = _clipping(name, words)
            if value:
                into["overflow" if name in ("overflow-x", "overflow-y") else name] = value
        elif name == "all":
            value = _keyword(words)
            if value in CSS_WIDE:
                into.update(dict.fromkeys(_ALL, value))
        elif name == "interactivity":
            # Text that can't be acted upon isn't searched, either.
            inert = {"inert": "hidden", "auto": "visible"}.get(_keyword(words), "")
            into.update({"content-visibility": inert} if inert else {})
        elif name == "content":
            into["content"] = "replaced" if _is_picture(words[:1]) else "none"
        elif name in DECIDING:
            value = _value(name, words) or _variable(words)
            if value:
                into["white-space" if name == "white-space-collapse" else name] = value
    normal, important = values
    return normal or NOTHING, important or NOTHING


VARIABLE = "\0"
"""Begins a value that custom properties decide; its tokens follow as they are written."""
# What hides text, or keeps it from its neighbours, is taken for granted where sheets differ.
_WORST = ("none", "hidden", "pre", "pre-line", "side", "out", "changed")
_VARIABLES_DEEP_MAX = 4
_VALUES_MAX = 16


def _variable(words: Sequence[Token]) -> str:
    return VARIABLE + tinycss2.serialize(words) if any(map(_is_variable, words)) else ""


def _is_variable(word: Token) -> bool:
    return bool(word.type == "function" and word.lower_name == "var")


def resolved(name: str, value: str, properties: Mapping[str, Iterable[str]]) -> str:
    """The normalised value of a property that custom properties decide, "" for none.

    `properties` are all values that are given to each anywhere: of several the one is taken
    that hides most.
    """
    found = set(_resolved(name, value.removeprefix(VARIABLE), properties, 0)) - {""}
    return next((one for one in _WORST if one in found), min(found, default=""))


def _resolved(
    name: str, text: str, properties: Mapping[str, Iterable[str]], depth: int
) -> Iterator[str]:
    words = [
        token
        for token in tinycss2.parse_component_value_list(text, skip_comments=True)
        if token.type != "whitespace"
    ]
    at = next((n for n, word in enumerate(words) if _is_variable(word)), None)
    if at is None:
        yield _value(name, words)
        return
    if depth >= _VARIABLES_DEEP_MAX:
        return
    named, _, fallback = tinycss2.serialize(words[at].arguments).partition(",")
    given = sorted(properties.get(named.strip(), ()))[:_VALUES_MAX]
    for one in (*given, *filter(None, [fallback.strip()])):
        parts = (tinycss2.serialize(words[:at]), one, tinycss2.serialize(words[at + 1 :]))
        yield from _resolved(name, " ".join(parts), properties, depth + 1)


def _is_picture(words: Sequence[Token]) -> bool:
    """Whether a `content` puts a picture in the place of an element, as strings can't."""
    if words and words[0].type == "function":
        return words[0].lower_name not in ("attr", "var", "counter", "counters")
    return bool(words) and words[0].type == "url"


def declared_of(pseudo_element: str, declarations: Iterable[Token]) -> tuple[Declared, Declared]:
    """The same of a pseudo-element, under names of its own: `before-content`, `before-float`."""
    values: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for declaration in declarations:
        name = declaration.lower_name
        into = values[1 if declaration.important else 0]
        words = [t for t in declaration.value if t.type not in ("whitespace", "comment")]
        if pseudo_element == "first-letter":
            into["first-letter"] = "set"
        elif name == "content":
            into[f"{pseudo_element}-content"] = _content(words)
        elif name in ("display", "float", "position"):
            value = _value(name, words)
            if value:
                into[f"{pseudo_element}-{name}"] = "inline" if value in CSS_WIDE else value
    normal, important = values
    return normal or NOTHING, important or NOTHING


def _content(words: Sequence[Token]) -> str:
    """What a `content` ends with: "attr:" and a name where an attribute decides, else as
    `ending` says; "none" where nothing is made.
    """
    if _keyword(words) in ("none", "normal", "") and len(words) == 1 and words[0].type == "ident":
        return "none" if _keyword(words) in ("none", "normal", *CSS_WIDE) else "sign"
    last = "empty"
    for word in words:
        if word.type == "literal" and word.value == "/":
            # What follows is read aloud, not shown.
            break
        if word.type == "string":
            last = ending(word.value) if word.value else last
        elif word.type == "function" and word.lower_name == "attr":
            names = [one.lower_value for one in word.arguments if one.type == "ident"]
            last = f"attr:{names[0]}" if names else "unknown"
        elif word.type == "function" and word.lower_name in ("counter", "counters", "var"):
            last = "unknown"
        else:
            last = "sign"
    return last


def ending(text: str) -> str:
    """How a text ends that a style sheet writes: "empty", "space", "letter" or "sign"."""
    if not text:
        return "empty"
    if text[-1] in " \t\n\r\f":
        return "space"
    return "letter" if text[-1].isalnum() else "sign"


def is_display(words: Sequence[Token]) -> bool:
    """Whether a browser knows such a `display`."""
    return bool(_value("display", words))


def _value(name: str, words: Sequence[Token]) -> str:
    """The normalised value, or "" where a browser would drop the declaration."""
    keyword = _keyword(words)
    if keyword in CSS_WIDE:
        return keyword
    if name == "display":
        return _DISPLAY.get(keyword, "") if keyword else _two_word_display(words)
    if name in ("white-space", "white-space-collapse"):
        return _white_space(words)
    if name == "text-transform":
        parts = {_TRANSFORM.get(_keyword([word]), "") for word in words}
        return "" if "" in parts else "changed" if "changed" in parts else "none"
    return _SINGLE[name].get(keyword, "")


def _keyword(words: Sequence[Token]) -> str:
    if len(words) == 1 and words[0].type == "ident":
        return str(words[0].lower_value)
    return ""


def _two_word_display(words: Sequence[Token]) -> str:
    names = {_keyword([word]) for word in words}
    outer = names & {"block", "inline"}
    inner = names - outer
    if len(words) < 2 or len(outer) > 1 or not inner <= _INNER:
        return ""
    inner -= {"flow"}
    if "inline" not in outer and ("block" in outer or not inner & {"ruby", "math"}):
        return "flex" if inner & {"flex", "grid"} else "block"
    if inner & {"flex", "grid"}:
        return "inline-flex"
    return "inline-block" if inner else "inline"


def _white_space(words: Sequence[Token]) -> str:
    """`white-space` is a shorthand by now: `preserve nowrap` collapses nothing."""
    parts = [_COLLAPSE.get(_keyword([word]), "") for word in words]
    if not parts or "" in parts:
        return ""
    return next((part for part in parts if part != "normal"), "normal")


def _clipping(name: str, words: Sequence[Token]) -> str:
    """What a declaration does to text that is cut off, or ""."""
    keyword = _keyword(words)
    if keyword in CSS_WIDE:
        return keyword
    if name in ("clip", "clip-path"):
        clips = _clips_rect(words) if name == "clip" else _clips_path(words)
        return "clipped" if clips else "clear"
    if name in _SIZES:
        pixels = _pixels(words)
        return "some" if pixels is None or pixels > 1 else "tiny"
    names = {_keyword([word]) for word in words}
    return "hidden" if names & {"hidden", "clip"} else "shown"


def is_clipped(values: Mapping[str, str]) -> bool:
    """Whether the values of an element cut off all its text, as is done for screen readers."""
    if values.get("clip-path") == "clipped":
        return True
    if values.get("clip") == "clipped" and values.get("position") == "out":
        return True
    if values.get("overflow") != "hidden":
        return False
    # Of no height alone are also boxes that something else gives their height.
    return all(values.get(name) == "tiny" for name in _SIZES)


def _clips_rect(words: Sequence[Token]) -> bool:
    if len(words) != 1 or words[0].type != "function" or words[0].lower_name != "rect":
        return False
    edges = [t.value for t in words[0].arguments if t.type in ("number", "dimension")]
    if len(edges) != 4:
        return False
    top, right, bottom, left = edges
    return bool(right - left <= 1 or bottom - top <= 1)


def _clips_path(words: Sequence[Token]) -> bool:
    if len(words) != 1 or words[0].type != "function":
        return False
    kinds = ("number", "dimension", "percentage")
    # Behind these words stand places and rounded corners.
    sizes = [
        token
        for token in itertools.takewhile(
            lambda token: _keyword([token]) not in ("at", "round"), words[0].arguments
        )
        if token.type in kinds
    ]
    if words[0].lower_name == "inset" and 1 <= len(sizes) <= 4:
        top, right, bottom, left = (sizes + sizes[:1] * 3 if len(sizes) == 1 else sizes * 2)[:4]
        if len(sizes) == 3:
            left = right
        return _meet(top, bottom) or _meet(left, right)
    if words[0].lower_name in ("circle", "ellipse", "polygon"):
        return bool(sizes) and all(size.value == 0 for size in sizes)
    return False


def _meet(first: Token, second: Token) -> bool:
    """Whether two sides of a box are cut away as far as each other."""
    shares = [one.value for one in (first, second) if one.type == "percentage"]
    return bool(sum(shares) >= 100)


def _pixels(words: Sequence[Token]) -> float | None:
    if len(words) != 1:
        return None
    if words[0].type == "number" and words[0].value == 0:
        return 0.0
    if words[0].type == "dimension" and words[0].lower_unit == "px":
        return float(words[0].value)
    return None
