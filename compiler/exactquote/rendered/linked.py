"""Find the style sheets of a page: its own `<style>` elements and the local files it links."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from urllib.parse import unquote, urlsplit

from selectolax.lexbor import LexborHTMLParser


def linked_styles(
    html: str, path: str, files: Mapping[str, bytes]
) -> Iterator[tuple[str, str, str]]:
    """(key, CSS, media) of each sheet in document order; `files` are by path in the site.

    A sheet that isn't among the files is passed over: nothing is ever fetched.
    """
    if "<style" not in html and "<link" not in html and "<STYLE" not in html:
        return
    tree = LexborHTMLParser(html)
    for node in tree.css("style, link"):
        media = node.attributes.get("media") or ""
        if node.tag == "style":
            css = node.text() or ""
            yield css, css, media
            continue
        if "stylesheet" not in (node.attributes.get("rel") or "").lower().split():
            continue
        href = urlsplit(node.attributes.get("href") or "")
        if href.scheme or href.netloc or not href.path:
            continue
        name = unquote(href.path)
        found = (
            name.lstrip("/")
            if name.startswith("/")
            else posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        )
        data = files.get(found)
        if data is not None:
            yield found, data.decode("utf-8", "replace"), media
