"""Find the style sheets of a page: its own `<style>` elements and the local files it links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import unquote, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from exactquote.rendered.styles import sheet

# Any host will do: URLs are resolved as a browser would, and what leaves it isn't ours.
_SITE = "http://site.invalid/"
_IMPORTS_DEEP_MAX = 20


def linked_styles(
    html: str, path: str, files: Mapping[str, bytes]
) -> Iterator[tuple[str, str, str, str | None]]:
    """(key, CSS, media, layer) of each sheet in the order of the cascade.

    `files` are by path in the site. A sheet that isn't among them is passed over: nothing is
    ever fetched.
    """
    if not any(tag in html for tag in ("<style", "<link", "<STYLE", "<LINK")):
        return
    tree = LexborHTMLParser(html)
    base = tree.css_first("base[href]")
    here = urljoin(_SITE, path)
    root = urljoin(here, (base.attributes.get("href") or "") if base is not None else "")
    for node in tree.css("style, link"):
        if not _applies(node):
            continue
        media = node.attributes.get("media") or ""
        if node.tag == "style":
            yield from _with_imports(node.text() or "", root, media, None, files, ())
        else:
            found = _file(urljoin(root, node.attributes.get("href") or ""), files)
            if found is not None:
                url, css = found
                yield from _with_imports(css, url, media, None, files, (url,))


def _applies(node: LexborNode) -> bool:
    """Whether a browser with scripts on applies the sheet as the page loads."""
    parent = node.parent
    while parent is not None:
        if parent.tag == "noscript":
            return False
        parent = parent.parent
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
            found = _file(urljoin(url, imported.url), files)
            if found is not None and found[0] not in importers:
                both = " and ".join(part for part in (media, imported.media) if part)
                yield from _with_imports(
                    found[1], found[0], both, imported.layer or None, files, (*importers, found[0])
                )
    yield css, css, media, layer


def _file(url: str, files: Mapping[str, bytes]) -> tuple[str, str] | None:
    """URL and text of a sheet of the site; a query string names no other file."""
    parts = urlsplit(url)
    data = files.get(unquote(parts.path).lstrip("/")) if url.startswith(_SITE) else None
    return None if data is None else (url, data.decode("utf-8", "replace"))
