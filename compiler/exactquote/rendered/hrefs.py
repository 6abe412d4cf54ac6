"""Resolves what a page refers to, to the files of its site, as a browser resolves it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import unquote, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

# Any host will do: only what stays on it is ours.
_SITE = "http://site.invalid/"
_SPACE = " \t\n\r\f"


@dataclass(frozen=True, slots=True)
class Base:
    """What the references of a page, or of a sheet, are relative to.

    `host` is the one that the page says it is served from, "" where it says none. `below` is the
    path that was taken off to find the file itself, and `stated` says that the page names a base.
    """

    url: str
    host: str = ""
    below: str = ""
    stated: bool = False

    def of(self, found: Found) -> Base:
        """The base of the references that stand in a file."""
        return replace(self, url=found.url, below=found.below)

    def resolved(self, href: str | None) -> str | None:
        """The URL of a reference on this site; None for another host's, or one that is none."""
        url = _joined(self.url, (href or "").strip(_SPACE).replace("\\", "/"))
        if url is None:
            return None
        if url.startswith(_SITE):
            return url
        parts = urlsplit(url)
        if not self.host or parts.netloc.lower() != self.host:
            return None
        return urljoin(_SITE, parts._replace(scheme="", netloc="").geturl() or "/")


@dataclass(frozen=True, slots=True)
class Found:
    """A file of the site: its URL, against which its own references count, its path and bytes.

    `below` is the path that the site is served below, as far as it was needed to find the file.
    """

    url: str
    path: str
    data: bytes
    below: str = ""


def base_of(tree: LexborHTMLParser, path: str) -> Base:
    """What the references of the page at `path` are relative to."""
    here = urljoin(_SITE, path)
    named = (node.attributes.get("href") for node in tree.css("head link[rel=canonical i][href]"))
    host = next((_host(href) for href in named if href), "")
    base = tree.css_first("base[href]")
    if base is None:
        return Base(here, host)
    # What a page takes for its own place is where it is served from.
    href = base.attributes.get("href") or ""
    host = _host(href) or host
    return Base(Base(here, host).resolved(href) or here, host, stated=True)


def find_file(base: Base, href: str | None, files: Mapping[str, bytes]) -> Found | None:
    """The file that `href` names, a query string aside; None for any other, or another host.

    `files` are by path in the site. What is no URL names nothing, as in a browser. Where the
    site is served below a path, as project pages are, that path is taken off.
    """
    url = base.resolved(href)
    if url is None or href is None or href.strip(_SPACE)[:1] in ("", "#", "?"):
        return None
    path = unquote(urlsplit(url).path).lstrip("/")
    for below in ("", base.below):
        if path.startswith(below) and path.removeprefix(below) in files:
            return Found(url, path.removeprefix(below), files[path.removeprefix(below)], below)
    whole = href.strip(_SPACE).replace("\\", "/")
    if not (base.stated or whole.startswith("/") or ":" in whole.partition("/")[0]):
        # A reference from where the page itself lies leads where it says.
        return None
    steps = path.split("/")
    for start in range(1, len(steps)):
        rest = "/".join(steps[start:])
        if rest in files:
            return Found(url, rest, files[rest], path.removesuffix(rest))
    return None


def _host(url: str) -> str:
    try:
        return urlsplit(url.strip(_SPACE)).netloc.lower()
    except ValueError:
        return ""


def _joined(base: str, href: str) -> str | None:
    try:
        return urljoin(base, href)
    except ValueError:
        return None
