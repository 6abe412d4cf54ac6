"""Splits a document into its front matter, YAML or TOML, and its body.

YAML scalars stay text: no dates, numbers or truth values are guessed. TOML types are explicit;
its dates become their ISO text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from exactquote.codes import fault
from exactquote.languages import is_language_tag
from exactquote.model import NO_FRONT_MATTER, Diagnostic, Place
from exactquote.readers.nodes import Malformed, Node
from exactquote.settings import LimitSettings

_FENCES = {
    "---": re.compile(r"^---[ \t]*$", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*$", re.MULTILINE),
}
_FLAGS = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """A document's front matter and what is left of its text.

    `body_line` is the line of the source that the body begins in; `places` tells where each
    key at the top is written.
    """

    values: Mapping[str, object]
    body: str
    body_line: int
    diagnostics: tuple[Diagnostic, ...] = ()
    places: Mapping[str, Place] = field(default_factory=dict)
    path: str = ""

    def place(self, key: str) -> Place:
        """Where a key is written."""
        return self.places.get(key, Place(self.path))


def split_front_matter(text: str, path: str, limits: LimitSettings) -> FrontMatter:
    """Read the front matter that `text` begins with, if it does.

    An opening that is never closed is a thematic break. Front matter that can't be read is
    a fault, and no part of the body all the same.
    """
    text = text.removeprefix("\ufeff")
    mark = text[:3]
    opening = _FENCES[mark].match(text) if mark in _FENCES else None
    closing = _FENCES[mark].search(text, opening.end() + 1) if opening else None
    if not opening or not closing:
        return FrontMatter(NO_FRONT_MATTER, text, 1, path=path)
    # The opening line stays, empty, so that lines keep their numbers.
    source = "\n" + text[opening.end() + 1 : closing.start()]
    body = text[closing.end() + 1 :]
    body_line = source.count("\n") + 2
    try:
        node = _node(source, mark, limits)
    except Malformed as problem:
        place = Place(path, problem.line, problem.column)
        wrong = fault("EQ017", place, problem.message, _CURES[mark])
        return FrontMatter(NO_FRONT_MATTER, body, body_line, (wrong,), path=path)
    values = node.unplaced() if node else {}
    assert isinstance(values, dict)
    places = {key: Place(path, *at) for key, at in node.keys.items()} if node else {}
    return FrontMatter(values, body, body_line, places=places, path=path)


def as_text(front: FrontMatter, key: str, faults: list[Diagnostic]) -> str:
    """The text of a field, "" when it isn't there; anything but text is a fault."""
    value = front.values.get(key)
    if value is None:
        return ""
    if isinstance(value, str):
        return " ".join(value.split())
    faults.append(
        fault("EQ017", front.place(key), f"`{key}` must be text", f'write `{key}` as "…"')
    )
    return ""


def as_language(front: FrontMatter, key: str, faults: list[Diagnostic]) -> str:
    """A field that names a language, "" when it isn't there or names none."""
    tag = as_text(front, key, faults)
    if not tag or is_language_tag(tag):
        return tag
    message = f"`{key}` is {tag!r}, which is no language tag"
    faults.append(fault("EQ017", front.place(key), message, "write a tag such as de or pt-BR"))
    return ""


def as_texts(front: FrontMatter, key: str, faults: list[Diagnostic]) -> tuple[str, ...]:
    """A field that lists texts, or is one; () when it isn't there, and none of them is empty."""
    value = front.values.get(key)
    listed = [value] if isinstance(value, str) else value
    if listed is None and value is None:
        return ()
    if isinstance(listed, list) and all(isinstance(text, str) and text.strip() for text in listed):
        return tuple(" ".join(text.split()) for text in listed)
    message = f"`{key}` must be a list of texts"
    faults.append(fault("EQ017", front.place(key), message, f'write `{key}` as ["…", "…"]'))
    return ()


def as_flag(front: FrontMatter, key: str, faults: list[Diagnostic]) -> bool:
    """A field that is exactly true, false, yes or no; False when it isn't there."""
    value = front.values.get(key)
    if value is None and key not in front.values:
        return False
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value in _FLAGS:
        return _FLAGS[value]
    faults.append(
        fault("EQ017", front.place(key), f"`{key}` must be true or false", f"write `{key}: true`")
    )
    return False


# What front matter may say, wherever it is read.
KEYS = (
    *("title", "summary", "description", "language", "lang", "draft", "order", "aliases"),
    *("reviewed_by", "reviewed_on"),
)
_ALIKE_MIN = 0.8
_KEY_CHARS_MAX = 40


def misspelt_keys(front: FrontMatter) -> Iterator[Diagnostic]:
    """EQ040: keys that are nearly one of `KEYS`. Any other key is another program's."""
    unknown = [key for key in front.values if key not in KEYS and len(key) <= _KEY_CHARS_MAX]
    if not unknown:
        return
    # Slow to load, and mostly not needed.
    from difflib import get_close_matches

    for key in unknown:
        near = get_close_matches(key.lower(), KEYS, 1, _ALIKE_MIN)
        if near and near[0] not in front.values:
            yield fault(
                "EQ040",
                front.place(key),
                f"the key `{key}` says nothing here",
                f"did you mean `{near[0]}`?",
            )


_CURES = {
    "---": "write plain `key: value` lines; put text with `: `, `#`, `*`, `&` or `!` in quotes",
    "+++": 'write `key = "value"` lines',
}


def _node(source: str, mark: str, limits: LimitSettings) -> Node | None:
    size = len(source.encode(errors="surrogatepass")) - 1
    if size > limits.front_matter_bytes_max:
        limit = limits.front_matter_bytes_max
        raise Malformed(f"front matter of {size} bytes is over the limit of {limit}", 1, 1)
    if mark == "+++":
        from exactquote.readers.toml_nodes import toml_node

        return toml_node(source, limits.front_matter_depth_max)
    from exactquote.readers.yaml_nodes import yaml_node

    node = yaml_node(source, limits.front_matter_depth_max)
    if node is None or node.value is None:
        return None
    if not isinstance(node.value, dict):
        raise Malformed("front matter must be `key: value` lines", node.line, node.column)
    doubled = node.any_doubled()
    if doubled:
        raise Malformed(f"the key `{doubled[0]}` is given twice", doubled[1], doubled[2])
    return node
