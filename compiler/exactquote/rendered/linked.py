"""Find the style sheets of a page: its own `<style>` elements and the local files it links."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode
from tinycss2.bytes import decode_stylesheet_bytes  # type: ignore[import-untyped]

from exactquote.rendered.hrefs import Base, Found, base_of, find_file
from exactquote.rendered.scripted import parse
from exactquote.rendered.style_media import media as holds_on
from exactquote.rendered.styles import sheet

_STYLED = re.compile("<(?:style|link)", re.IGNORECASE)
_IMPORTS_DEEP_MAX = 20
# Sheets that are fetched without holding up the page take effect as they are loaded.
_THEN_FOR = re.compile(
    r"\bmedia[\"'`]?\s*[=,]\s*[\"'`]([^\"'`]*)|removeAttribute\([\"'`]media\b", re.IGNORECASE
)
_THEN_SHEET = re.compile(r"\brel[\"'`]?\s*[=,]\s*[\"'`]stylesheet", re.IGNORECASE)


class Linked(NamedTuple):
    """A style sheet of a page; its `key` tells it from others, `path` is its file's or the page's.

    It holds where each of `media` does. `layer` is the one that the sheet is put in as a whole,
    "" for one without a name, None for none.
    """

    key: str
    css: str
    media: tuple[str, ...] = ()
    layer: str | None = None
    path: str = ""


class Unread(NamedTuple):
    """A sheet of the page's own site that isn't there: `path` is the file that refers to it."""

    href: str
    path: str
    media: tuple[str, ...]


def linked_styles(html: str, path: str, files: Mapping[str, bytes]) -> Iterator[Linked]:
    """Each sheet in the order of the cascade.

    `files` are by path in the site. A sheet that isn't among them is passed over: nothing is
    ever fetched.
    """
    return (one for one in _every(html, path, files) if isinstance(one, Linked))


def unread_styles(html: str, path: str, files: Mapping[str, bytes]) -> tuple[Unread, ...]:
    """The sheets of its own site that a page uses, or a sheet of it, and that aren't there.

    What is for paper or the dark is left out: it hides nothing from who follows a link.
    """
    unread = (one for one in _every(html, path, files) if isinstance(one, Unread))
    return tuple(dict.fromkeys(one for one in unread if all(map(holds_on, one.media))))


def _every(html: str, path: str, files: Mapping[str, bytes]) -> Iterator[Linked | Unread]:
    if not _STYLED.search(html):
        return
    tree = parse(html)
    base = base_of(tree, path)
    for node, media in _sheets(tree):
        first = (media,) if media else ()
        if node.tag == "style":
            css = node.text() or ""
            yield from _with_imports(Linked(css, css, first, None, path), base, files, ())
            continue
        href = node.attributes.get("href")
        found = find_file(base, href, files)
        if found is not None:
            yield from _read(found, first, None, base, files, ())
        elif _is_ours(base, href):
            yield Unread(href or "", path, first)


def _is_ours(base: Base, href: str | None) -> bool:
    return (href or "").strip()[:1] not in ("", "#", "?") and base.resolved(href) is not None


def _sheets(tree: LexborHTMLParser) -> Iterator[tuple[LexborNode, str]]:
    """The elements whose sheets a browser with scripts on applies, each with its media."""
    preferred = ""
    for node in tree.css("style, link"):
        attributes = node.attributes
        onload = attributes.get("onload") or ""
        if not _applies(node, onload):
            continue
        title = (attributes.get("title") or "").strip()
        # Of sheets with titles only those of the first set are on.
        preferred = preferred or title
        if title and title != preferred:
            continue
        then = _THEN_FOR.search(onload)
        yield node, (then[1] or "") if then else attributes.get("media") or ""


def _applies(node: LexborNode, onload: str) -> bool:
    attributes = node.attributes
    kind = (attributes.get("type") or "text/css").strip().lower()
    if node.tag == "style":
        return kind == "text/css"
    rel = (attributes.get("rel") or "").lower().split()
    if "stylesheet" not in rel and not _THEN_SHEET.search(onload):
        return False
    unused = "alternate" in rel or "disabled" in attributes
    return kind.partition(";")[0].strip() == "text/css" and not unused


def _read(
    found: Found,
    media: tuple[str, ...],
    layer: str | None,
    base: Base,
    files: Mapping[str, bytes],
    importers: tuple[str, ...],
) -> Iterator[Linked | Unread]:
    """A file's sheet, in the encoding that a browser reads it in, with those it imports."""
    css, _ = decode_stylesheet_bytes(found.data)
    made = Linked(css, css, media, layer, found.path)
    yield from _with_imports(made, base.of(found), files, (*importers, found.url))


def _with_imports(
    linked: Linked, base: Base, files: Mapping[str, bytes], importers: tuple[str, ...]
) -> Iterator[Linked | Unread]:
    """A sheet behind the sheets that it imports, which stand before it in the cascade."""
    if "@import" in linked.css.lower() and len(importers) <= _IMPORTS_DEEP_MAX:
        for imported in sheet(linked.css).imports:
            found = find_file(base, imported.url, files)
            media = (*linked.media, imported.media) if imported.media else linked.media
            if found is None and _is_ours(base, imported.url):
                yield Unread(imported.url, linked.path, media)
            elif found is not None and found.url not in importers:
                layer = _inside(linked.layer, imported.layer)
                yield from _read(found, media, layer, base, files, importers)
    yield linked


def _inside(outer: str | None, inner: str | None) -> str | None:
    """The layer that an imported sheet is put in, within that of the sheet that imports it."""
    if outer and inner:
        return f"{outer}.{inner}"
    return outer if inner is None else inner
