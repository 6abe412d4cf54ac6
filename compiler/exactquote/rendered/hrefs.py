"""Resolves what a page refers to, to the files of its site, as a browser resolves it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

# Any host will do: only what stays on it is ours.
_SITE = "http://site.invalid/"


@dataclass(frozen=True, slots=True)
class Found:
    """A file of the site: its URL, against which its own references count, its path and bytes."""

    url: str
    path: str
    data: bytes


def base_of(tree: LexborHTMLParser, path: str) -> str:
    """The URL that references of the page at `path` are relative to."""
    here = urljoin(_SITE, path)
    base = tree.css_first("base[href]")
    return _joined(here, base.attributes.get("href") or "") or here if base is not None else here


def find_file(base: str, href: str | None, files: Mapping[str, bytes]) -> Found | None:
    """The file that `href` names, a query string aside; None for any other, or another host.

    `files` are by path in the site. What is no URL names nothing, as in a browser.
    """
    url = _joined(base, href or "")
    if url is None or not url.startswith(_SITE):
        return None
    path = unquote(urlsplit(url).path).lstrip("/")
    return Found(url, path, files[path]) if path in files else None


def only_without_scripts(node: LexborNode) -> bool:
    """Whether an element stands in `<noscript>`, which browsers with scripts on pass over."""
    above = node.parent
    while above is not None and above.tag != "noscript":
        above = above.parent
    return above is not None


def _joined(base: str, href: str) -> str | None:
    try:
        return urljoin(base, href)
    except ValueError:
        return None
