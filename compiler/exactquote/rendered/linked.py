"""Find the style sheets of a page: its own `<style>` elements and the local files it links."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from selectolax.lexbor import LexborHTMLParser, LexborNode

from exactquote.rendered.hrefs import base_of, find_file, only_without_scripts
from exactquote.rendered.styles import sheet

_STYLED = re.compile("<(?:style|link)", re.IGNORECASE)
_IMPORTS_DEEP_MAX = 20


def linked_styles(
    html: str, path: str, files: Mapping[str, bytes]
) -> Iterator[tuple[str, str, str, str | None]]:
    """(key, CSS, media, layer) of each sheet in the order of the cascade.

    `files` are by path in the site. A sheet that isn't among them is passed over: nothing is
    ever fetched.
    """
    if not _STYLED.search(html):
        return
    tree = LexborHTMLParser(html)
    base = base_of(tree, path)
    for node in tree.css("style, link"):
        if not _applies(node):
            continue
        media = node.attributes.get("media") or ""
        if node.tag == "style":
            yield from _with_imports(node.text() or "", base, media, None, files, ())
        else:
            found = find_file(base, node.attributes.get("href"), files)
            if found is not None:
                css = found.data.decode("utf-8", "replace")
                yield from _with_imports(css, found.url, media, None, files, (found.url,))


def _applies(node: LexborNode) -> bool:
    """Whether a browser with scripts on applies the sheet as the page loads."""
    if only_without_scripts(node):
        return False
    attributes = node.attributes
    if (attributes.get("type") or "text/css").strip().lower() != "text/css":
        return False
    if node.tag == "style":
        return True
    rel = (attributes.get("rel") or "").lower().split()
    return "stylesheet" in rel and "alternate" not in rel and "disabled" not in attributes


def _with_imports(
    css: str,
    url: str,
    media: str,
    layer: str | None,
    files: Mapping[str, bytes],
    importers: tuple[str, ...],
) -> Iterator[tuple[str, str, str, str | None]]:
    """A sheet behind the sheets that it imports, which stand before it in the cascade."""
    if "@import" in css and len(importers) <= _IMPORTS_DEEP_MAX:
        for imported in sheet(css).imports:
            found = find_file(url, imported.url, files)
            if found is not None and found.url not in importers:
                both = " and ".join(part for part in (media, imported.media) if part)
                text, known = found.data.decode("utf-8", "replace"), (*importers, found.url)
                yield from _with_imports(
                    text, found.url, both, imported.layer or None, files, known
                )
    yield css, css, media, layer
