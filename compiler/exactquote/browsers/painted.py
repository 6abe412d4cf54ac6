"""Turns pictures of a page, and where its characters stand, into the text that is painted."""

from __future__ import annotations

import io
import unicodedata
from typing import Any, ClassVar

from exactquote.browsers.landing import BETWEEN_RANGES, Landing

_BEFORE_CHARS = 400
_NEAR_EDGE_PX = 60
# A picture is exact but at the rim of a box, where colours are mixed.
_TOLERANCE = 6
_RIM_PX = 1.5
_CANDIDATES = ((0.5, 0.5), (0.5, 0.1), (0.5, 0.9), (0.25, 0.25), (0.75, 0.75))

Box = tuple[float, float, float, float]
"""Left, top, width and height in the window."""


class Picture:
    """A screenshot of a window, decoded; coordinates are those of the window."""

    def __init__(self, png: bytes, wide: float, high: float) -> None:
        """Decode a PNG file that shows a window `wide` and `high`."""
        # Only here, so that the other browsers can be asked without it.
        from PIL import Image

        image = Image.open(io.BytesIO(png)).convert("RGB")
        self.high = high
        self._columns, self._rows = image.size
        self._scale_x, self._scale_y = self._columns / wide, self._rows / high
        self._pixels = image.tobytes()

    def shows(self, colour: bytes) -> bool:
        """Whether any pixel has a colour."""
        return colour in self._pixels

    def has(self, colour: bytes, x: float, y: float) -> bool:
        """Whether the pixel there has nearly a colour."""
        column, row = int(x * self._scale_x), int(y * self._scale_y)
        if not (0 <= column < self._columns and 0 <= row < self._rows):
            return False
        at = 3 * (row * self._columns + column)
        pixel = self._pixels[at : at + 3]
        return all(abs(a - b) <= _TOLERANCE for a, b in zip(pixel, colour, strict=True))

    def share(self, colour: bytes, box: Box) -> tuple[int, int]:
        """How many pixels along the middle of a box have a colour, and how many there are.

        What lies beyond the picture has none.
        """
        left, top, width, height = box
        row = int((top + height / 2) * self._scale_y)
        first = int((left + _RIM_PX) * self._scale_x)
        last = max(int((left + width - _RIM_PX) * self._scale_x), first + 1)
        seen_from, seen_to = max(first, 0), min(last, self._columns)
        if not 0 <= row < self._rows or seen_to <= seen_from:
            return 0, last - first
        at = 3 * row * self._columns
        return self._pixels[at + 3 * seen_from : at + 3 * seen_to].count(colour), last - first


class Painted:
    """What was painted so far, over all positions that the page was scrolled to.

    Characters are numbered in document order over the whole page, so that pictures taken
    at different scroll positions add up.
    """

    # Says what text stands in the window, in pieces with the box of each of their lines; of
    # text elsewhere only where it begins, so that the numbers agree from one position to the
    # next. For the pieces whose numbers are in the first argument, it says the box of every
    # character instead: too slow a thing to do for a whole window.
    SCRIPT: ClassVar[str] = """
const wanted = new Set(arguments[0] || []);
const piece = 100;
const out = [];
let number = 0;
const one = document.createRange();
const edge = () => out.push([number, null]);
const beyond = (at) => wanted.size || out.push([at, ""]);
const flat = (rect) => [rect.left, rect.top, rect.width, rect.height];
function text(node, id) {
  const first = number;
  number += node.length;
  if (wanted.size && ![...wanted].some((at) => at >= first && at < number)) return;
  one.selectNodeContents(node);
  const all = one.getBoundingClientRect();
  if (!(all.height || all.width)) return;
  if (all.bottom < 0 || all.top > innerHeight) return beyond(first);
  const visible = !node.parentElement || node.parentElement.checkVisibility(
    {opacityProperty: true, visibilityProperty: true});
  for (let from = 0, to; from < node.length; from = to) {
    to = Math.min(from + piece, node.length);
    if (to < node.length && node.data.codePointAt(to - 1) > 0xffff) to += 1;
    if (wanted.size && !wanted.has(first + from)) continue;
    one.setStart(node, from);
    one.setEnd(node, to);
    const part = one.getBoundingClientRect();
    if (part.bottom < 0 || part.top > innerHeight) {
      beyond(first + from);
      continue;
    }
    let boxes = [...one.getClientRects()].filter((box) => box.width > 0).map(flat);
    if (wanted.size) {
      boxes = [];
      for (let at = from, wide; at < to; at += wide) {
        wide = node.data.codePointAt(at) > 0xffff ? 2 : 1;
        one.setStart(node, at);
        one.setEnd(node, at + wide);
        // At a line break a character can have an empty box at the end of the line before.
        const box = [...one.getClientRects()].filter((box) => box.width > 0).pop();
        boxes.push(box ? flat(box) : null);
      }
    }
    out.push([first + from, node.data.slice(from, to), id, visible, boxes]);
  }
}
function visit(node, id) {
  if (node.nodeType === 3) return text(node, id);
  if (node.nodeType !== 1) return;
  if (/^(SCRIPT|STYLE|TEMPLATE|NOSCRIPT)$/.test(node.tagName)) return;
  if (node.tagName === "BR") return edge();
  if (node.id) id = node.id;
  const block = !/^(inline|contents|ruby|none)/.test(getComputedStyle(node).display);
  if (block) edge();
  for (const child of (node.shadowRoot || node).childNodes) visit(child, id);
  if (node.shadowRoot) for (const child of node.childNodes) visit(child, id);
  if (block) edge();
}
visit(document.body, "");
return {nodes: out, wide: innerWidth, high: innerHeight, x: scrollX, y: scrollY};
"""

    def __init__(self, colour: str) -> None:
        """Look for `colour`, given as RRGGBB."""
        self.colour = bytes.fromhex(colour)
        self._characters: dict[int, tuple[str, str]] = {}
        self._drawn: set[int] = set()
        self._hits: set[int] = set()
        self._edges: set[int] = set()
        self._beyond: set[int] = set()
        self._top = self._bottom = self._high = 0.0
        self.leave()

    @property
    def found(self) -> bool:
        """Whether any character is painted."""
        return bool(self._hits)

    @property
    def edges(self) -> tuple[float, float]:
        """How far the paint goes up and down in the window that was last read."""
        return self._top, self._bottom

    @edges.setter
    def edges(self, edges: tuple[float, float]) -> None:
        self._top, self._bottom = edges

    def leave(self) -> None:
        """Forget how far the paint goes in the window that was last read."""
        self._top, self._bottom = float("inf"), 0.0

    def read(self, pieces: list[Any], picture: Picture) -> list[int]:
        """Add what the picture shows of some pieces of text.

        Gives the numbers of those pieces that are painted in part: of these, the boxes of
        all characters are needed.
        """
        self._high = picture.high
        partly = []
        for first, *piece in pieces:
            if piece[0] is None:
                self._edges.add(first)
                continue
            if not piece[0]:
                self._beyond.add(first)
                continue
            text, name, visible, boxes = piece
            if not visible:
                continue
            shares = [picture.share(self.colour, box) for box in boxes]
            painted = sum(share for share, _ in shares)
            if 0 < painted < sum(of for _, of in shares):
                partly.append(first)
                continue
            numbers = [number for number, _ in _numbered(first, text)]
            self._characters.update((n, (c, name)) for n, c in _numbered(first, text))
            if boxes:
                self._drawn.update(numbers)
            if painted:
                self._hits.update(numbers)
                for box in boxes:
                    self._note(box)
        return partly

    def read_characters(self, pieces: list[Any], picture: Picture) -> None:
        """Add what the picture shows of pieces that were given with a box a character."""
        for first, *piece in pieces:
            if piece[0] is None:
                continue
            text, name, _, boxes = piece
            for (number, character), box in zip(_numbered(first, text), boxes, strict=True):
                self._characters[number] = (character, name)
                if box is None:
                    continue
                self._drawn.add(number)
                x, y, width, height = box
                points = ((x + width * a, y + height * b) for a, b in _CANDIDATES)
                if any(picture.has(self.colour, *point) for point in points):
                    self._hits.add(number)
                    self._note(box)

    def reaches_edge(self, direction: int) -> bool:
        """Whether the paint comes near the lower (1) or upper (-1) edge of the window."""
        if self._top > self._bottom:
            return False
        if direction > 0:
            return self._bottom > self._high - _NEAR_EDGE_PX
        return self._top < _NEAR_EDGE_PX

    def landing(self, scrolled: bool) -> Landing:
        """The landing that all pictures together tell of."""
        if not self._hits:
            return Landing(scrolled=scrolled)
        stretches = self._stretches()
        first = min(self._hits)
        # What was never in the window may stand between, as the top of an article does
        # between a menu that stays in view and the highlight.
        unseen = (n for n in self._beyond if n < first and n not in self._characters)
        since = max(unseen, default=-1)
        before = "".join(c for n, (c, _) in sorted(self._characters.items()) if since < n < first)
        return Landing(
            matched=True,
            text=BETWEEN_RANGES.join(stretches),
            element_id=self._characters[first][1] or None,
            ranges=len(stretches),
            scrolled=scrolled,
            before=" ".join(before.split())[-_BEFORE_CHARS:],
        )

    def _note(self, box: Box) -> None:
        self._top = min(self._top, box[1])
        self._bottom = max(self._bottom, box[1] + box[3])

    def _stretches(self) -> list[str]:
        stretches: list[str] = []
        text = between = ""
        hole = False
        last, edges = max(self._hits), sorted(self._edges, reverse=True)
        for number in sorted(n for n in self._characters if n >= min(self._hits)):
            character = self._characters[number][0]
            while edges and edges[-1] <= number:
                between += "\n" if edges.pop() > min(self._hits) and number <= last else ""
            if number in self._hits:
                if hole:
                    stretches.append(text)
                    text = between = ""
                text, between, hole = text + between + character, "", False
            elif number > last:
                # A mark or joiner without a box of its own belongs to the letter before.
                if number in self._drawn or unicodedata.category(character)[0] not in "MC":
                    break
                text += character
            elif number in self._drawn and not character.isspace():
                hole = True
            else:
                # White space and invisible characters have no box that could be painted.
                between += character
        return [*stretches, text]


def _numbered(first: int, text: str) -> list[tuple[int, str]]:
    """Each character with its number; scripts count those beyond the first plane twice."""
    numbered = []
    for character in text:
        numbered.append((first, character))
        first += 2 if ord(character) > 0xFFFF else 1
    return numbered
