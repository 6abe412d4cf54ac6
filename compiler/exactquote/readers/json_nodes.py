"""Turns JSON into nodes with places; strict, and no depth of input can exhaust the stack."""

from __future__ import annotations

import json
import re
from bisect import bisect_right

from exactquote.readers.nodes import Malformed, Node

_BLANKS = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORD = re.compile(r"-?[A-Za-z]+")
_WORDS = {"true": True, "false": False, "null": None}
# Longer whole numbers than any count are read as floating point.
_INT_CHARS_MAX = 18


def json_node(text: str, depth_max: int) -> Node:
    """The value of `text`. Raises `Malformed`."""
    scan = _Scan(text, depth_max)
    node, end = scan.value(scan.blanks(0), 0)
    end = scan.blanks(end)
    if end < len(text):
        raise scan.malformed("something follows the value", end)
    return node


class _Scan:
    """One text and where its lines begin."""

    def __init__(self, text: str, depth_max: int) -> None:
        self._text = text
        self._depth_max = depth_max
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def blanks(self, position: int) -> int:
        found = _BLANKS.match(self._text, position)
        return found.end() if found else position

    def at(self, position: int) -> tuple[int, int]:
        line = bisect_right(self._starts, position)
        return line, position - self._starts[line - 1] + 1

    def malformed(self, message: str, position: int) -> Malformed:
        return Malformed(f"not JSON: {message}", *self.at(position))

    def value(self, position: int, depth: int) -> tuple[Node, int]:
        char = self._text[position : position + 1]
        if char in ("{", "[") and char:
            if depth >= self._depth_max:
                raise self.malformed(f"nesting is deeper than {self._depth_max} levels", position)
            return (self._object if char == "{" else self._array)(position, depth)
        if char == '"':
            text, end = self._string(position)
            return Node(text, *self.at(position)), end
        return self._scalar(position)

    def _scalar(self, position: int) -> tuple[Node, int]:
        word = _WORD.match(self._text, position)
        if word:
            if word[0] not in _WORDS:
                raise self.malformed(f"`{word[0][:40]}` is no value", position)
            return Node(_WORDS[word[0]], *self.at(position)), word.end()
        found = _NUMBER.match(self._text, position)
        if not found:
            if position >= len(self._text):
                raise self.malformed("a value is missing at the end", position)
            raise self.malformed(f"`{self._text[position]}` begins no value", position)
        whole = found[1] is None and found[2] is None and len(found[0]) <= _INT_CHARS_MAX
        value = int(found[0]) if whole else float(found[0])
        if value in (float("inf"), float("-inf")):
            raise self.malformed(f"`{found[0][:40]}` is too large", position)
        return Node(value, *self.at(position)), found.end()

    def _string(self, position: int) -> tuple[str, int]:
        found = _STRING.match(self._text, position)
        if not found:
            raise self.malformed(
                "this text has no end, or a character or escape not allowed", position
            )
        text: str = json.loads(found[0])
        return text, found.end()

    def _array(self, position: int, depth: int) -> tuple[Node, int]:
        items: list[Node] = []
        node = Node(items, *self.at(position))
        position = self.blanks(position + 1)
        if self._text.startswith("]", position):
            return node, position + 1
        while True:
            item, position = self.value(position, depth + 1)
            items.append(item)
            position, more = self._next(position, "]")
            if not more:
                return node, position

    def _object(self, position: int, depth: int) -> tuple[Node, int]:
        items: dict[str, Node] = {}
        node = Node(items, *self.at(position))
        position = self.blanks(position + 1)
        if self._text.startswith("}", position):
            return node, position + 1
        while True:
            if not self._text.startswith('"', position):
                raise self.malformed("a key in double quotes is missing", position)
            place = self.at(position)
            key, position = self._string(position)
            position = self.blanks(position)
            if not self._text.startswith(":", position):
                raise self.malformed("a `:` is missing", position)
            item, position = self.value(self.blanks(position + 1), depth + 1)
            node.put(key, place, item)
            position, more = self._next(position, "}")
            if not more:
                return node, position

    def _next(self, position: int, end: str) -> tuple[int, bool]:
        """Behind a comma with True, or behind the end of the list or object with False."""
        position = self.blanks(position)
        if self._text.startswith(end, position):
            return position + 1, False
        if not self._text.startswith(",", position):
            raise self.malformed(f"a `,` or `{end}` is missing", position)
        return self.blanks(position + 1), True
