"""Turn a line and a column of it into the piece around them, and a caret that points there."""

from __future__ import annotations

from exactquote.report.visible import visible_character, width

TAB = 4
CUT = "…"
# Of a long line, what stands before the caret says less than what comes after it.
_BEFORE = 0.3


def caret(line: str, column: int, columns: int) -> tuple[str, str]:
    """The source line as shown in at most `columns`, and the line with the caret below it.

    `column` counts code points from 1; one behind the end of the line is its end.
    """
    column = min(max(column, 1), len(line) + 1)
    # A caret far into a very long line needs only its neighbourhood to be measured; tab
    # stops are counted from where that begins.
    start = max(0, column - 1 - 2 * columns)
    cells = _cells(line[start : column - 1 + 2 * columns])
    at = column - 1 - start
    first, last = _window(cells, at, max(columns, 8), start > 0, start + len(cells) < len(line))
    before = CUT if start + first > 0 else ""
    after = CUT if start + last < len(line) else ""
    shown = before + "".join(text for text, _ in cells[first:last]) + after
    indent = len(before) + sum(size for _, size in cells[first:at])
    return shown.rstrip(), " " * indent + "^"


def _cells(text: str) -> list[tuple[str, int]]:
    cells: list[tuple[str, int]] = []
    reached = 0
    for character in text:
        if character == "\t":
            size = TAB - reached % TAB
            cells.append((" " * size, size))
        else:
            drawn = visible_character(character)
            size = len(drawn) if drawn != character else width(character)
            cells.append((drawn, size))
        reached += size
    return cells


def _window(
    cells: list[tuple[str, int]], at: int, columns: int, more_before: bool, more_after: bool
) -> tuple[int, int]:
    total = sum(size for _, size in cells)
    if total + 1 <= columns and not more_before and not more_after:
        return 0, len(cells)
    room = columns - 2 * len(CUT)
    first, used = at, 0
    while first > 0 and used + cells[first - 1][1] <= room * _BEFORE:
        first -= 1
        used += cells[first][1]
    last = at
    while last < len(cells) and used + cells[last][1] < room:
        used += cells[last][1]
        last += 1
    # What is left of the room behind the caret goes to what stands before it.
    while first > 0 and used + cells[first - 1][1] < room:
        first -= 1
        used += cells[first][1]
    # A mark that has no width of its own stays with the character that carries it.
    while 0 < first < at and cells[first][1] == 0:
        first += 1
    return first, last
