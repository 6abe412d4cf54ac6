"""Turns the selector list of a CSS rule into selectors that can be asked of a parsed page.

A page is judged at rest: it has no hovered, focused or targeted element, so a selector that
needs such a state matches nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tinycss2  # type: ignore[import-untyped]
from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from exactquote.rendered.style_media import split

Token = Any
Specificity = tuple[int, int, int]

_DEPTH_MAX = 20
_STATES = """
    hover focus focus-within focus-visible active target target-within visited local-link
    fullscreen -webkit-full-screen picture-in-picture popover-open modal autofill
    -webkit-autofill user-valid user-invalid playing paused seeking buffering stalled muted
    current past future -webkit-drag
"""
_OTHERS = """
    is where has not any-link link root empty lang dir first-child last-child only-child
    first-of-type last-of-type only-of-type nth-child nth-last-child nth-of-type
    nth-last-of-type checked open defined placeholder-shown disabled enabled read-only
    read-write required optional valid invalid in-range out-of-range default indeterminate
    host host-context state
"""
LANGUAGE, DIRECTION = "eq-lang", "eq-dir"
"""What a page is asked for in the place of `:lang()` and `:dir()`, which Lexbor can't match."""
_NEVER_AT_REST = frozenset(_STATES.split())
_KNOWN = _NEVER_AT_REST | frozenset(_OTHERS.split())
# Scripts that define custom elements have run before a reader reads.
_ALWAYS_AT_REST = frozenset({"defined"})
_LISTS = frozenset({"is", "where", "has", "not"})
_OLD_NAMES = {"-webkit-any": "is", "-webkit-any-link": "any-link", "scope": "root"}
_LEGACY_ELEMENTS = frozenset({"before", "after", "first-line", "first-letter"})
_DROPPED_BY_CHROMIUM = ("-moz-", "-ms-", "-o-")


@dataclass(frozen=True, slots=True)
class Selector:
    """One selector of a list; `key` is the rarest name it needs."""

    text: str
    specificity: Specificity
    key: str
    needs: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Simple:
    """`kind` is one of: type, id, class, attribute, pseudo-class, pseudo-element."""

    kind: str
    name: str
    text: str
    arguments: tuple[Token, ...] | None = None


_Compound = tuple[str, list[_Simple]]
"""The combinator before it ("" for the first of a selector), and its simple selectors."""


class _InvalidSelector(Exception):
    """Raised inside this module for a list that browsers drop as a whole."""


_PROBE = LexborHTMLParser("<!doctype html><p></p>")


def selectors(
    prelude: Sequence[Token], parent: str = "", pseudo_element: str = ""
) -> tuple[list[Selector], list[str]]:
    """The selectors of a rule, and the texts of those that Lexbor can't match.

    `parent` is the selector that a nested rule stands in, as `nesting` gives it. A list that
    browsers drop gives nothing at all. Of elements, or of those with the `pseudo_element`.
    """
    found: list[Selector] = []
    skipped: list[str] = []
    try:
        for part in _parts(prelude):
            tokens = _nested(part, parent) if parent else part
            compounds = _compounds(tokens, 0)
            if _pseudo_elements(compounds) != ([pseudo_element] if pseudo_element else []):
                continue
            compounds = [
                (combinator, [one for one in simples if one.kind != "pseudo-element"])
                for combinator, simples in compounds
            ]
            text = _at_rest(compounds)
            if text is None:
                continue
            if _lexbor_reads(text):
                found.append(_selector(text, compounds))
            else:
                skipped.append(text)
    except _InvalidSelector:
        return [], []
    return found, skipped


def _pseudo_elements(compounds: list[_Compound]) -> list[str]:
    return [
        simple.name
        for _, simples in compounds
        for simple in simples
        if simple.kind == "pseudo-element"
    ]


def nesting(prelude: Sequence[Token], parent: str = "") -> str:
    """The selector that `&` stands for inside this rule; "" for a list that can't be one."""
    texts = []
    for part in _parts(prelude):
        try:
            tokens = _nested(part, parent) if parent else part
            _compounds(tokens, 0)
        except _InvalidSelector:
            return ""
        text = tinycss2.serialize(tokens).strip()
        texts.append(text)
    return texts[0] if len(texts) == 1 else f":is({', '.join(texts)})"


def _parts(prelude: Sequence[Token]) -> list[list[Token]]:
    return [_trim(part) for part in split(prelude, ",")]


def _trim(tokens: list[Token]) -> list[Token]:
    tokens = [token for token in tokens if token.type != "comment"]
    while tokens and tokens[0].type == "whitespace":
        tokens = tokens[1:]
    while tokens and tokens[-1].type == "whitespace":
        tokens = tokens[:-1]
    return tokens


def _depth(tokens: Sequence[Token]) -> int:
    """How deep brackets nest, counted without recursion: hostile CSS nests without end."""
    deepest = 0
    waiting = [(tokens, 0)]
    while waiting:
        inside, depth = waiting.pop()
        deepest = max(deepest, depth)
        for token in inside:
            content = getattr(token, "arguments", None) or getattr(token, "content", None)
            if content and deepest <= _DEPTH_MAX:
                waiting.append((content, depth + 1))
    return deepest


def _nested(part: list[Token], parent: str) -> list[Token]:
    if not part or _depth(part) > _DEPTH_MAX:
        raise _InvalidSelector
    if not _has_ampersand(part):
        text = f"{parent} {tinycss2.serialize(part)}"
    else:
        text, rest = parent, part[1:]
        if not _is_ampersand(part[0]):
            text, rest = "", part
        elif rest and rest[0].type == "ident":
            # A tag has to come first: `div&` is a selector, `&div` is none.
            raise _InvalidSelector
        text += "".join(_with_parent(token, parent) for token in rest)
    if len(text) > 10_000:
        raise _InvalidSelector
    return _trim(tinycss2.parse_component_value_list(text))


def _has_ampersand(tokens: Sequence[Token]) -> bool:
    return any(
        _is_ampersand(token) or (token.type == "function" and _has_ampersand(token.arguments))
        for token in tokens
    )


def _is_ampersand(token: Token) -> bool:
    return bool(token.type == "literal" and token.value == "&")


def _with_parent(token: Token, parent: str) -> str:
    if _is_ampersand(token):
        return f":is({parent})"
    if token.type == "function":
        inner = "".join(_with_parent(one, parent) for one in token.arguments)
        return f"{token.name}({inner})"
    return str(token.serialize())


def _compounds(tokens: list[Token], depth: int) -> list[_Compound]:
    """Cut one complex selector at its combinators; inside `:has()` one may come first."""
    if not tokens or (depth == 0 and _depth(tokens) > _DEPTH_MAX):
        raise _InvalidSelector
    found: list[_Compound] = []
    combinator, run = "", list[Token]()
    for token in [*tokens, None]:
        is_sign = token is not None and token.type == "literal" and token.value in (">", "+", "~")
        if token is not None and token.type != "whitespace" and not is_sign:
            run.append(token)
            continue
        if run:
            found.append((combinator, _simples(run)))
            combinator, run = "", []
        if is_sign and combinator.strip():
            raise _InvalidSelector
        if is_sign:
            combinator = f" {token.value} "
        elif token is not None and (found or combinator):
            combinator = combinator or " "
    if not found or combinator.strip() or (depth == 0 and found[0][0].strip()):
        raise _InvalidSelector
    return found


def _simples(tokens: list[Token]) -> list[_Simple]:
    found: list[_Simple] = []
    at = 0
    while at < len(tokens):
        simple, length = _simple(tokens[at:])
        if found and simple.kind == "type":
            raise _InvalidSelector
        found.append(simple)
        at += length
    return found


def _simple(tokens: list[Token]) -> tuple[_Simple, int]:
    first = tokens[0]
    sign = first.value if first.type == "literal" else ""
    following = tokens[1] if len(tokens) > 1 else None
    if first.type == "hash" and first.is_identifier:
        return _Simple("id", first.value, first.serialize()), 1
    if first.type == "[] block":
        inner = [token for token in first.content if token.type != "whitespace"]
        if not inner or inner[0].type != "ident":
            raise _InvalidSelector
        return _Simple("attribute", inner[0].lower_value, first.serialize()), 1
    if sign == "." and following is not None and following.type == "ident":
        return _Simple("class", following.value, "." + following.serialize()), 2
    if sign == ":" and following is not None:
        if following.type == "literal" and following.value == ":" and len(tokens) > 2:
            return _pseudo_element(tokens[2]), 3
        return _pseudo_class(following), 2
    if (first.type == "ident" or sign in ("*", "|")) and sign != ":":
        return _type(tokens)
    raise _InvalidSelector


def _pseudo_element(token: Token) -> _Simple:
    name = getattr(token, "lower_value", None) or getattr(token, "lower_name", "")
    if not name or name.startswith(_DROPPED_BY_CHROMIUM):
        raise _InvalidSelector
    return _Simple("pseudo-element", name, f"::{name}")


def _pseudo_class(token: Token) -> _Simple:
    if token.type == "ident":
        name, arguments = token.lower_value, None
    elif token.type == "function":
        name, arguments = token.lower_name, tuple(token.arguments)
    else:
        raise _InvalidSelector
    if name in _LEGACY_ELEMENTS:
        return _Simple("pseudo-element", name, f":{name}")
    name = _OLD_NAMES.get(name, name)
    if name not in _KNOWN:
        raise _InvalidSelector
    inner = "" if arguments is None else f"({tinycss2.serialize(arguments)})"
    return _Simple("pseudo-class", name, f":{name}{inner}", arguments)


def _type(tokens: list[Token]) -> tuple[_Simple, int]:
    """A tag or `*`, with or without a namespace before it, which HTML pages don't need."""
    length = 1
    if len(tokens) > 2 and tokens[1].type == "literal" and tokens[1].value == "|":
        length = 3
    elif tokens[0].type == "literal" and tokens[0].value == "|" and len(tokens) > 1:
        length = 2
    last = tokens[length - 1]
    if last.type == "ident":
        return _Simple("type", last.lower_value, last.serialize()), length
    if last.type == "literal" and last.value == "*":
        return _Simple("type", "*", "*"), length
    raise _InvalidSelector


def _at_rest(compounds: list[_Compound], depth: int = 0) -> str | None:
    """The selector without its states; `None` where they keep it from matching anything."""
    text = ""
    for combinator, simples in compounds:
        kept = [_simple_at_rest(simple, depth) for simple in simples]
        if None in kept:
            return None
        compound = "".join(one or "" for one in kept)
        # Lexbor misses descendants of what begins with a pseudo-class but for its children.
        text += combinator + (f"*{compound}" if compound[:1] in ("", ":") else compound)
    return text


def _simple_at_rest(simple: _Simple, depth: int) -> str | None:
    """The text of a simple selector; "" where it always matches, `None` where it never does."""
    if simple.kind != "pseudo-class":
        return simple.text
    if simple.name in _NEVER_AT_REST:
        return None
    if simple.name in _ALWAYS_AT_REST:
        return ""
    if simple.name == "open":
        return "[open]"
    if simple.name in ("lang", "dir"):
        return _inherited(simple)
    if simple.name not in _LISTS or simple.arguments is None or depth > _DEPTH_MAX:
        return simple.text
    options = []
    for compounds in _arguments(simple, depth):
        option = _at_rest(compounds, depth + 1)
        if option is not None:
            options.append(option)
    if simple.name == "not":
        if "*" in options:
            return None
        return f":not({', '.join(options)})" if options else ""
    if not options:
        return None
    if "*" in options and simple.name != "has":
        return ""
    return f":{simple.name}({', '.join(options)})"


def _inherited(simple: _Simple) -> str:
    """A selector for the attributes that stand in for an element's language or direction."""
    words = [token for token in simple.arguments or () if token.type in ("ident", "string")]
    names = [word.value.lower() for word in words]
    if not names or not all(name.replace("-", "").isalnum() for name in names):
        return simple.text
    if simple.name == "dir":
        return f"[{DIRECTION}={names[0]}]"
    return f":is({', '.join(f'[{LANGUAGE}|={name}]' for name in names)})"


def _arguments(simple: _Simple, depth: int) -> list[list[_Compound]]:
    """The selectors inside `:is()` and its like; `:is` and `:where` forgive broken ones."""
    found = []
    for part in _parts(simple.arguments or ()):
        try:
            compounds = _compounds(part, depth + 1)
            if _pseudo_elements(compounds):
                raise _InvalidSelector
            found.append(compounds)
        except _InvalidSelector:
            if simple.name not in ("is", "where"):
                raise
    return found


def _lexbor_reads(text: str) -> bool:
    try:
        _PROBE.css(text)
    except SelectolaxError:
        return False
    return True


def _selector(text: str, compounds: list[_Compound]) -> Selector:
    needs = set()
    key = ""
    for _, simples in compounds:
        key = ""
        for simple in simples:
            name = _NAME_SIGNS.get(simple.kind, "") + simple.name.lower()
            if simple.kind in _NAME_SIGNS and simple.name != "*":
                needs.add(name)
                # Ids are rarer than classes, and classes rarer than tags.
                key = max(key, name, key=_rareness)
    return Selector(text, _specificity(compounds, 0), key, frozenset(needs))


_NAME_SIGNS = {"id": "#", "class": ".", "type": ""}


def _rareness(name: str) -> int:
    return 3 if name[:1] == "#" else 2 if name[:1] == "." else 1 if name else 0


def _specificity(compounds: list[_Compound], depth: int) -> Specificity:
    ids = classes = types = 0
    for _, simples in compounds:
        for simple in simples:
            more = _simple_specificity(simple, depth)
            ids, classes, types = ids + more[0], classes + more[1], types + more[2]
    return ids, classes, types


def _simple_specificity(simple: _Simple, depth: int) -> Specificity:
    if simple.kind == "id":
        return 1, 0, 0
    if simple.kind in ("class", "attribute"):
        return 0, 1, 0
    if simple.kind == "type":
        return 0, 0, int(simple.name != "*")
    if simple.name == "where":
        return 0, 0, 0
    if simple.name in _LISTS and simple.arguments is not None and depth <= _DEPTH_MAX:
        return max(
            (_specificity(compounds, depth + 1) for compounds in _arguments(simple, depth)),
            default=(0, 0, 0),
        )
    return 0, 1, 0
