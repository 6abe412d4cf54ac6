"""Turns the ranges that a browser's own finder made into a `Landing`.

The script is shared by the browsers that hand out those ranges.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from exactquote.browsers.landing import BETWEEN_RANGES, Landing, Target

# Lists may be alike for long: less would take one for the other.
BEFORE_CHARS = 400

# The element that the fragment names. What is in a closed `<details>` isn't visible.
TARGET = """
function target() {
  const one = document.querySelector(":target");
  if (!one) return null;
  const box = one.getBoundingClientRect();
  const inside = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  const shown = inside && box.width > 0 && box.height > 0 && one.checkVisibility();
  return {id: one.id, text: one.textContent.slice(0, 100000), shown: shown};
}
"""

# `shown` is the text of a range as a reader sees it. Range.toString() would join the words
# at either side of a block boundary, and add the words of elements that are not rendered.
DESCRIBE = """
function shown(range) {
  const parts = [];
  const line = () => { if (parts.length && parts[parts.length - 1] !== "\\n") parts.push("\\n"); };
  const visit = (node) => {
    if (!range.intersectsNode(node)) return;
    if (node.nodeType === 3) {
      if (node.parentElement && getComputedStyle(node.parentElement).visibility !== "visible")
        return;
      const start = node === range.startContainer ? range.startOffset : 0;
      const end = node === range.endContainer ? range.endOffset : node.length;
      if (end > start) parts.push(node.data.slice(start, end));
      return;
    }
    let edge = () => {};
    if (node.nodeType === 1) {
      const display = getComputedStyle(node).display;
      if (display === "none") return;
      if (node.tagName === "BR") return line();
      if (!/^(inline|contents|ruby)/.test(display)) edge = line;
    }
    edge();
    node.childNodes.forEach(visit);
    edge();
  };
  visit(range.commonAncestorContainer);
  if (parts[parts.length - 1] === "\\n") parts.pop();
  return parts.join("");
}
function before(range) {
  const start = range.startContainer;
  const root = start.getRootNode().body || start.getRootNode();
  // No node filter: a script in the system's sandbox has not its names. 4 is that of text.
  const nodes = document.createTreeWalker(root, 4);
  let text = "", node = null;
  if (start.nodeType === 3) {
    text = start.data.slice(0, range.startOffset);
    nodes.currentNode = start;
    node = nodes.previousNode();
  } else {
    let last = start;
    if (range.startOffset) {
      last = start.childNodes[range.startOffset - 1];
      while (last.lastChild) last = last.lastChild;
    }
    nodes.currentNode = last;
    node = range.startOffset && last.nodeType === 3 ? last : nodes.previousNode();
  }
  let enough = CHARS - text.replace(/\\s/g, "").length;
  for (; node && enough > 0; node = nodes.previousNode()) {
    const parent = node.parentNode;
    if (parent && /^(SCRIPT|STYLE|TEMPLATE|NOSCRIPT)$/.test(parent.tagName)) continue;
    text = node.data + text;
    enough -= node.data.replace(/\\s/g, "").length;
  }
  return text;
}
function describe(range) {
  const up = (node) => node.parentElement || node.getRootNode().host || null;
  let id = "";
  const start = range.startContainer;
  let node = start.nodeType === 1 ? start.childNodes[range.startOffset] || start : start;
  if (node.nodeType !== 1) node = up(node);
  for (; node && !id; node = up(node)) id = node.id;
  return {text: shown(range), id: id, before: before(range)};
}
TARGET
function summary(ranges, faults) {
  const entry = performance.getEntriesByType("navigation")[0] || {};
  return {
    ranges: ranges.map(describe),
    faults: faults,
    scrolled: scrollX > 0 || scrollY > 0,
    status: entry.responseStatus || 0,
    addresses: [location.href, entry.name || ""],
    target: target(),
    ready: document.readyState === "complete",
  };
}
""".replace("TARGET", TARGET, 1).replace("CHARS", str(BEFORE_CHARS), 1)


def is_about(answer: Mapping[str, Any], token: str) -> bool:
    """Whether an answer is about the page whose address holds `token`, and a whole one."""
    addresses = answer["addresses"]
    if not answer["ready"]:
        return False
    # A page may rewrite its own address, but not that of the navigation that made it.
    return any(token in address for address in addresses) and addresses[0] != "about:blank"


def landing(answer: Mapping[str, Any]) -> Landing:
    """The landing that the script's answer tells of."""
    found: list[dict[str, str]] = answer["ranges"]
    errors = list(answer["faults"])
    if answer["status"] >= 400:
        errors.insert(0, f"the page answered with HTTP status {answer['status']}")
    return Landing(
        matched=bool(found),
        text=BETWEEN_RANGES.join(one["text"] for one in found) if found else None,
        element_id=(found[0]["id"] or None) if found else None,
        ranges=len(found),
        scrolled=answer["scrolled"],
        error="; ".join(errors) or None,
        before=" ".join(found[0]["before"].split())[-BEFORE_CHARS:] if found else "",
        target=target_of(answer["target"]),
    )


def target_of(found: Mapping[str, Any] | None) -> Target | None:
    """What the script says of the element that the address names."""
    return None if found is None else Target(found["id"], found["text"], found["shown"])
