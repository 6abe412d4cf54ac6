"""Turns the list of pages into what machines read first: sitemap, robots.txt, llms.txt."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from urllib.parse import quote, urlsplit, urlunsplit

from exactquote.emit.navigation import NavGroup, Navigation
from exactquote.emit.site import EVIDENCE_PAGE, HOME_PAGE, SiteContext, page_url

# The sitemap protocol's own limit for one file.
SITEMAP_URLS_MAX = 50_000

_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
_XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def index_files(context: SiteContext) -> dict[str, bytes]:
    """The files by path; there is no sitemap without a base URL, as it needs absolute URLs."""
    base = _ascii_url(context.base_url).rstrip("/")
    files = {
        "robots.txt": _robots_txt(base).encode(),
        "llms.txt": _llms_txt(context, base).encode(),
    }
    if base:
        pages = dict.fromkeys([HOME_PAGE, *(item.page for item in context.nav), EVIDENCE_PAGE])
        urls = [f"{base}/{'' if page == HOME_PAGE else page_url(page)}" for page in pages]
        files |= _sitemaps(base, urls)
    return files


def _ascii_url(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=quote(parts.path, safe="/%:@!$&'()*+,;=~")))


def _robots_txt(base: str) -> str:
    sitemap = f"\nSitemap: {base}/sitemap.xml\n" if base else ""
    return f"User-agent: *\nAllow: /\n{sitemap}"


def _llms_txt(context: SiteContext, base: str) -> str:
    lines = [f"# {_one_line(context.title) or 'Documentation'}", ""]
    if context.description:
        lines += [f"> {_one_line(context.description)}", ""]
    prefix = f"{base}/" if base else ""
    for group in Navigation(context.nav).groups():
        lines += [f"## {_one_line(group.title) or 'Pages'}", "", *_links(group, prefix), ""]
    lines += ["## Evidence", "", f"- [Every claim with its quote]({prefix}{EVIDENCE_PAGE})"]
    return "\n".join(lines) + "\n"


def _links(group: NavGroup, prefix: str) -> list[str]:
    pages = [(item.title, item.href, item.summary) for item in group.items]
    if group.href:
        pages.insert(0, (group.title, group.href, group.summary))
    return [
        f"- [{_label(title)}]({prefix}{href})" + (f": {_one_line(summary)}" if summary else "")
        for title, href, summary in pages
    ]


def _label(title: str) -> str:
    return _one_line(title).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _sitemaps(base: str, urls: Sequence[str]) -> dict[str, bytes]:
    parts = [urls[n : n + SITEMAP_URLS_MAX] for n in range(0, len(urls), SITEMAP_URLS_MAX)]
    if len(parts) == 1:
        return {"sitemap.xml": _sitemap("urlset", "url", parts[0])}
    files = {
        f"sitemap-{number}.xml": _sitemap("urlset", "url", part)
        for number, part in enumerate(parts, 1)
    }
    return {"sitemap.xml": _sitemap("sitemapindex", "sitemap", [f"{base}/{f}" for f in files])} | (
        files
    )


def _sitemap(root: str, entry: str, urls: Sequence[str]) -> bytes:
    lines = "".join(f"<{entry}><loc>{escape(url, quote=False)}</loc></{entry}>\n" for url in urls)
    return f"{_XML}<{root} {_XMLNS}>\n{lines}</{root}>\n".encode()
