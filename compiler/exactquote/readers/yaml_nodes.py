"""Turns strict YAML into nodes: every scalar stays text, and nothing means two things.

Aliases, anchors, tags, keys that aren't text and second documents are refused; a key given
twice is noted on its mapping.
An empty value is null. It is built from events, so no depth of input can exhaust the stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from exactquote.readers.nodes import Malformed, Node, line_and_column, surrogate_at


def yaml_node(text: str, depth_max: int) -> Node | None:
    """The one document of `text`, or None if it is empty. Raises `Malformed`."""
    surrogate = surrogate_at(text)
    if surrogate >= 0:
        raise Malformed("half a surrogate pair is not text", *line_and_column(text, surrogate))
    import yaml

    builder = _Builder(depth_max)
    try:
        for event in _events(text):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        reason = error.problem or error.context or "not YAML"
        raise Malformed(f"not YAML: {reason}", line, column) from None
    except yaml.reader.ReaderError as error:
        raise Malformed(f"not YAML: {error.reason}", 1, 1) from None
    except yaml.YAMLError as error:
        raise Malformed(f"not YAML: {error}", 1, 1) from None
    return builder.root


def _events(text: str) -> Iterator[Any]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.parse(text, Loader=loader)


class _Builder:
    """Takes parser events and grows one tree of nodes."""

    def __init__(self, depth_max: int) -> None:
        self.root: Node | None = None
        self._depth_max = depth_max
        self._documents = 0
        self._open: list[Node] = []
        self._keys: list[tuple[str, tuple[int, int]] | None] = []

    def take(self, event: Any) -> None:
        kind = type(event).__name__
        if kind in ("StreamStartEvent", "StreamEndEvent", "DocumentEndEvent"):
            return
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        if kind == "DocumentStartEvent":
            self._documents += 1
            if self._documents > 1:
                raise Malformed("a second document begins here", line, column)
            return
        if kind in ("MappingEndEvent", "SequenceEndEvent"):
            self._open.pop()
            self._keys.pop()
            return
        self._refuse(event, kind, line, column)
        if kind == "ScalarEvent":
            plain = event.style in (None, "")
            value = None if plain and event.value == "" else event.value
            self._place(Node(value, line, column, plain=plain))
            return
        if len(self._open) >= self._depth_max:
            raise Malformed(f"nesting is deeper than {self._depth_max} levels", line, column)
        node = Node({} if kind == "MappingStartEvent" else [], line, column)
        self._place(node)
        self._open.append(node)
        self._keys.append(None)

    def _refuse(self, event: Any, kind: str, line: int, column: int) -> None:
        if kind == "AliasEvent":
            raise Malformed(f"the alias `*{event.anchor}` is refused", line, column)
        if event.anchor is not None:
            raise Malformed(f"the anchor `&{event.anchor}` is refused", line, column)
        if event.tag is not None:
            raise Malformed(f"the tag `{event.tag}` is refused", line, column)

    def _place(self, node: Node) -> None:
        """Put a node where it belongs: at the root, in a list, or as a key or its value."""
        if not self._open:
            self.root = node
            return
        parent = self._open[-1]
        if isinstance(parent.value, list):
            parent.value.append(node)
            return
        assert isinstance(parent.value, dict)
        key = self._keys[-1]
        if key is not None:
            parent.put(key[0], key[1], node)
            self._keys[-1] = None
            return
        if not isinstance(node.value, str):
            raise Malformed("a key must be text", node.line, node.column)
        self._keys[-1] = (node.value, (node.line, node.column))
