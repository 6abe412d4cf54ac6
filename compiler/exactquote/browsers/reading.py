"""Turns the ranges that a browser's own finder made into a `Landing`.

The script is shared by the browsers that hand out those ranges.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from exactquote.browsers.landing import BETWEEN_RANGES, Landing

BEFORE_CHARS = 80

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
function describe(range) {
  const up = (node) => node.parentElement || node.getRootNode().host || null;
  let id = "";
  const start = range.startContainer;
  let node = start.nodeType === 1 ? start.childNodes[range.startOffset] || start : start;
  if (node.nodeType !== 1) node = up(node);
  for (; node && !id; node = up(node)) id = node.id;
  const before = document.createRange();
  before.selectNodeContents(start.getRootNode().body || start.getRootNode());
  before.setEnd(range.startContainer, range.startOffset);
  return {text: shown(range), id: id, before: before.toString().slice(-400)};
}
function summary(ranges, faults) {
  const entry = performance.getEntriesByType("navigation")[0] || {};
  return {
    ranges: ranges.map(describe),
    faults: faults,
    scrolled: scrollX > 0 || scrollY > 0,
    status: entry.responseStatus || 0,
    addresses: [location.href, entry.name || ""],
    ready: document.readyState === "complete",
  };
}
"""


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
    )
