"""Turns what a page does as it loads into words: what of it undoes text-fragment links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Text that comes later than this is found by no browser but WebKit.
WATCH_MILLISECONDS = 1500

# Runs before any script of the page. The parser has put in its last node when the document is
# "interactive", and only then do deferred scripts run.
WATCH = """
(() => {
  const seen = {inserted: 0, replaced: 0, scrolled: 0, address: 0};
  Object.defineProperty(window, Symbol.for("exactquote"), {value: seen});
  const count = (owner, name, what) => {
    const own = owner && owner[name];
    if (own) owner[name] = function (...all) { seen[what] += 1; return own.apply(this, all); };
  };
  for (const name of ["pushState", "replaceState"]) count(History.prototype, name, "address");
  for (const name of ["scroll", "scrollTo", "scrollBy"]) count(window, name, "scrolled");
  // What scrolls a box of its own leaves the page where it is.
  const boxed = (one) => {
    for (let box = one.parentElement; box && box !== document.body; box = box.parentElement)
      if (/auto|scroll/.test(getComputedStyle(box).overflowY)) return true;
    return false;
  };
  const moving = (owner, name) => {
    const own = owner[name];
    if (own) owner[name] = function (...all) {
      const before = scrollY;
      const answer = own.apply(this, all);
      const root = this === document.scrollingElement || this === document.body;
      const shown = name === "scrollIntoView" && !boxed(this);
      if (scrollY !== before || shown || (root && name !== "focus")) seen.scrolled += 1;
      return answer;
    };
  };
  for (const name of ["scrollIntoView", "scroll", "scrollTo", "scrollBy"])
    moving(Element.prototype, name);
  moving(HTMLElement.prototype, "focus");
  const top = Object.getOwnPropertyDescriptor(Element.prototype, "scrollTop");
  Object.defineProperty(Element.prototype, "scrollTop", {...top, set(to) {
    if (this === document.scrollingElement) seen.scrolled += 1;
    top.set.call(this, to);
  }});
  addEventListener("hashchange", () => { seen.address += 1; });
  // Buttons, permalinks, contents and clocks come and go beside the text, which stays as it is.
  const ASIDE = "button, nav, time, [role=button], [aria-hidden=true], script, style, template";
  const aside = (node) => {
    const element = node.nodeType === 1 ? node : node.parentElement;
    return element && element.closest(ASIDE) !== null;
  };
  const texts = (node) => {
    const found = [], walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    for (let one = node.nodeType === 3 ? node : walker.nextNode(); one; one = walker.nextNode())
      if (one.data.trim() && !aside(one)) found.push(one);
    return found;
  };
  document.addEventListener("readystatechange", () => {
    if (document.readyState !== "interactive") return;
    const articles = [...document.querySelectorAll("article, main, [role=main]")];
    const roots = articles.length ? articles : [document.body];
    const served = new WeakSet(roots.flatMap(texts));
    const inside = (node) => roots.some((root) => root.contains(node));
    const words = (node) => texts(node).map((one) => one.data).join("").trim();
    new MutationObserver((records) => {
      for (const one of records) {
        const gone = one.type === "characterData" ? [one.target] : [...one.removedNodes];
        if (gone.flatMap(texts).some((text) => served.has(text))) seen.replaced += 1;
        else if ([...one.addedNodes].some((node) =>
          inside(node) && !aside(node) && words(node).length > 2)) seen.inserted += 1;
      }
    }).observe(document.documentElement, {childList: true, characterData: true, subtree: true});
  });
})();
"""
SEEN = """
new Promise((answer) => {
  const later = () => setTimeout(() => {
    const entry = performance.getEntriesByType("navigation")[0] || {};
    answer({...window[Symbol.for("exactquote")], addresses: [location.href, entry.name || ""]});
  }, %d);
  if (document.readyState === "complete") later(); else addEventListener("load", later);
})
""" % (WATCH_MILLISECONDS,)  # noqa: UP031 - the script is full of braces

LEFT = (
    "the page leads on to another address as it loads, which drops the text to find",
    "cite the page that it leads to",
)
_WORDS = {
    "replaced": (
        "text of its article is replaced after it was parsed, which loses the highlight",
        "leave the article's nodes as they were served",
    ),
    "inserted": (
        "text comes into its article after it was parsed, and Firefox doesn't find it",
        "serve the text with the page",
    ),
    "scrolled": (
        "a script scrolls it as it loads, which leaves the passage out of view",
        "scroll only when a reader asks for it",
    ),
    "address": (
        "a script changes its address as it loads, which makes Firefox forget the text to find",
        "change the address only when a reader does something",
    ),
}


def told(seen: Mapping[str, Any], token: str) -> tuple[tuple[str, str], ...]:
    """What was seen, in words, each with its cure."""
    if not any(token in address for address in seen["addresses"]):
        return (LEFT,)
    return tuple(words for kind, words in _WORDS.items() if seen.get(kind))
