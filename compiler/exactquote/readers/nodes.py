"""The values of a YAML, JSON or TOML file together with the places they were written at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

Plain: TypeAlias = "str | int | float | bool | list[Plain] | dict[str, Plain] | None"


@dataclass(frozen=True, slots=True)
class Node:
    """A value at a line and column, both counted from 1; `keys` has the places of its keys."""

    value: str | int | float | bool | list[Node] | dict[str, Node] | None
    line: int
    column: int
    keys: dict[str, tuple[int, int]] = field(default_factory=dict)
    doubled: list[tuple[str, int, int]] = field(default_factory=list)
    """Keys given a second time, with their places."""
    plain: bool = False
    """Whether it is written without quotes, so that another reader may guess its type."""

    def put(self, key: str, place: tuple[int, int], item: Node) -> None:
        """Give a mapping an item; of two with one key the first stays."""
        assert isinstance(self.value, dict)
        if key in self.value:
            self.doubled.append((key, *place))
        else:
            self.value[key] = item
            self.keys[key] = place

    def any_doubled(self) -> tuple[str, int, int] | None:
        """A key given twice here or in any item."""
        if self.doubled:
            return self.doubled[0]
        items = self.value
        if isinstance(items, dict):
            items = list(items.values())
        if isinstance(items, list):
            return next((d for item in items if (d := item.any_doubled())), None)
        return None

    def unplaced(self) -> Plain:
        """The value without places."""
        if isinstance(self.value, dict):
            return {key: node.unplaced() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.unplaced() for node in self.value]
        return self.value


class Malformed(Exception):
    """Text isn't what it should be; caught where its reader makes a diagnostic of it."""

    def __init__(self, message: str, line: int, column: int) -> None:
        """Say what is wrong, and where, counted from 1."""
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


def surrogate_at(text: str) -> int:
    """Offset of the first half of a surrogate pair, or -1."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return error.start
    return -1


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, counted from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
