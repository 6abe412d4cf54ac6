"""Turns pictures of a page, and where its characters stand, into the text that is painted."""

from __future__ import annotations

import io
import itertools
import unicodedata
from typing import Any, ClassVar

from exactquote.browsers.landing import BETWEEN_RANGES, Landing

_BEFORE_CHARS = 80
_NEAR_EDGE_PX = 60
# A picture is exact but at the rim of a box, where colours are mixed.
_TOLERANCE = 6
_CANDIDATES = ((0.5, 0.5), (0.5, 0.1), (0.5, 0.9), (0.25, 0.25))


class Picture:
    """A screenshot, decoded; coordinates are parts of its width and height, from 0 to 1."""

    def __init__(self, png: bytes) -> None:
        """Decode a PNG file."""
        # Only here, so that the other browsers can be asked without it.
        from PIL import Image

        image = Image.open(io.BytesIO(png)).convert("RGB")
        self._width, self._height = image.size
        self._pixels = image.tobytes()

    def rows_of(self, colour: bytes) -> tuple[float, float] | None:
        """The highest and the lowest row that have a colour."""
        first, last = self._pixels.find(colour), self._pixels.rfind(colour)
        if first < 0:
            return None
        row = 3 * self._width
        return first // row / self._height, (last // row + 1) / self._height

    def has(self, colour: bytes, x: float, y: float) -> bool:
        """Whether the pixel there has nearly a colour."""
        column, row = int(x * self._width), int(y * self._height)
        if not (0 <= column < self._width and 0 <= row < self._height):
            return False
        at = 3 * (row * self._width + column)
        pixel = self._pixels[at : at + 3]
        return all(abs(a - b) <= _TOLERANCE for a, b in zip(pixel, colour, strict=True))


class Painted:
    """What was painted so far, over all positions that the page was scrolled to.

    Characters are numbered in document order over the whole page, so that pictures taken
    at different scroll positions add up.
    """

    # Says where each character stands in those rows of the window that have paint. Of text
    # elsewhere in the window only the characters are told, of text beyond it only the length,
    # so that the numbers agree from one scroll position to the next.
    SCRIPT: ClassVar[str] = """
const out = [];
const top = arguments[0] * innerHeight, bottom = arguments[1] * innerHeight;
let number = 0;
const one = document.createRange();
const edge = () => out.push([number, null]);
function text(node, id) {
  const first = number;
  number += node.length;
  one.selectNodeContents(node);
  const all = one.getBoundingClientRect();
  if (all.bottom < 0 || all.top > innerHeight || !(all.height || all.width)) return;
  const visible = node.parentElement ? node.parentElement.checkVisibility(
    {opacityProperty: true, visibilityProperty: true}) : true;
  for (let from = 0, to; from < node.length; from = to) {
    to = Math.min(from + 200, node.length);
    if (to < node.length && node.data.codePointAt(to - 1) > 0xffff) to += 1;
    one.setStart(node, from);
    one.setEnd(node, to);
    const part = one.getBoundingClientRect();
    if (part.bottom < 0 || part.top > innerHeight) continue;
    if (part.bottom < top || part.top > bottom) {
      out.push([first + from, node.data.slice(from, to), id, visible, null]);
      continue;
    }
    const boxes = [];
    for (let at = from; at < to;) {
      const wide = node.data.codePointAt(at) > 0xffff ? 2 : 1;
      one.setStart(node, at);
      one.setEnd(node, at + wide);
      const rects = one.getClientRects();
      const box = rects.length ? rects[rects.length - 1] : null;
      boxes.push(
        visible && box && box.width > 0 ? [box.left, box.top, box.width, box.height] : null);
      at += wide;
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
  const display = getComputedStyle(node).display;
  const block = !/^(inline|contents|ruby|none)/.test(display);
  if (block) edge();
  for (const child of (node.shadowRoot || node).childNodes) visit(child, id);
  if (node.shadowRoot) for (const child of node.childNodes) visit(child, id);
  if (block) edge();
}
visit(document.body, "");
return {nodes: out, width: innerWidth, height: innerHeight, x: scrollX, y: scrollY};
"""

    def __init__(self, colour: str) -> None:
        """Look for `colour`, given as RRGGBB."""
        self.colour = bytes.fromhex(colour)
        self._characters: dict[int, tuple[str, str]] = {}
        self._drawn: set[int] = set()
        self._hits: set[int] = set()
        self._edges: set[int] = set()
        self._top, self._bottom, self._height = 0.0, 0.0, 0.0

    @property
    def found(self) -> bool:
        """Whether any character is painted."""
        return bool(self._hits)

    def read(self, window: dict[str, Any], picture: Picture) -> None:
        """Add what one picture of the window shows."""
        wide, high = window["width"], window["height"]
        self._height = high
        self._top, self._bottom = high, 0.0
        for first, *node in window["nodes"]:
            if node[0] is None:
                self._edges.add(first)
                continue
            text, name, visible, boxes = node
            at = first
            for character, box in zip(text, boxes or itertools.repeat(None)):
                if visible:
                    self._characters[at] = (character, name)
                if boxes is None and visible:
                    self._drawn.add(at)
                if box is not None:
                    x, y, width, height = box
                    self._drawn.add(at)
                    points = ((x + width * a, y + height * b) for a, b in _CANDIDATES)
                    if any(picture.has(self.colour, x / wide, y / high) for x, y in points):
                        self._hits.add(at)
                        self._top = min(self._top, y)
                        self._bottom = max(self._bottom, y + height)
                at += 2 if ord(character) > 0xFFFF else 1

    def reaches_edge(self, direction: int) -> bool:
        """Whether the highlight comes near the lower (1) or upper (-1) edge of the window."""
        if self._top > self._bottom:
            return False
        if direction > 0:
            return self._bottom > self._height - _NEAR_EDGE_PX
        return self._top < _NEAR_EDGE_PX

    def landing(self, scrolled: bool) -> Landing:
        """The landing that all pictures together tell of."""
        if not self._hits:
            return Landing(scrolled=scrolled)
        stretches = self._stretches()
        first = min(self._hits)
        before = "".join(c for n, (c, _) in sorted(self._characters.items()) if n < first)
        return Landing(
            matched=True,
            text=BETWEEN_RANGES.join(stretches),
            element_id=self._characters[first][1] or None,
            ranges=len(stretches),
            scrolled=scrolled,
            before=" ".join(before.split())[-_BEFORE_CHARS:],
        )

    def _stretches(self) -> list[str]:
        stretches: list[str] = []
        text = between = ""
        hole = False
        last = max(self._hits)
        for number in sorted(n for n in self._characters if n >= min(self._hits)):
            character = self._characters[number][0]
            if number in self._edges and text and number <= last:
                between += "\n"
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
                between += " " if character.isspace() else character
        return [*stretches, text]
