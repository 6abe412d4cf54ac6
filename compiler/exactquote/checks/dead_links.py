"""EQ031: a link between pages of the site goes to a page or an element that isn't there."""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote, urlsplit

from exactquote.codes import fault
from exactquote.deeplink.directive import DELIMITER, parse
from exactquote.deeplink.match import land
from exactquote.model import Article, Diagnostic, Document, Place
from exactquote.rendered.page import Page

# Body HTML is our own writing: one space before each attribute, double quotes around it.
_HREF = re.compile(r' href="([^"]*)"')
_ID = re.compile(r' id="([^"]*)"')
_NAME = re.compile(r' name="([^"]*)"')


def check(
    articles: Mapping[str, Article], pages: Mapping[str, Page], documents: Mapping[str, Document]
) -> Iterator[Diagnostic]:
    """Warnings for relative links of Markdown pages that lead nowhere in the site."""
    ids = {
        doc: {*_ID.findall(articles[doc].html), *_NAME.findall(articles[doc].html)} for doc in pages
    }
    for doc, article in articles.items():
        if doc not in pages or 'href="' not in article.html:
            continue
        for href in dict.fromkeys(_HREF.findall(article.html)):
            problem = _problem(html.unescape(href), doc, ids, pages)
            if problem:
                yield fault(
                    "EQ031",
                    _written(href, documents[doc]),
                    f"the link to {href} goes nowhere: {problem}",
                    "correct the link, or remove it",
                )


def _written(href: str, document: Document) -> Place:
    """Where the link stands in the source, where a page is still named by its file."""
    name, _, identity = html.unescape(href).partition("#")
    stem = unquote(name.removesuffix(".html"))
    for number, line in enumerate(document.text.split("\n"), 1):
        if unquote(identity) not in unquote(line):
            continue
        # Behind the sign of a link or attribute, since a label may say the same.
        for opening in ("](", "](<", '"', "'", "]: ", ""):
            at = line.find(opening + (stem or f"#{identity}"))
            if at >= 0:
                return Place(document.path, number, at + len(opening) + 1)
    return Place(document.path)


def _problem(href: str, doc: str, ids: Mapping[str, set[str]], pages: Mapping[str, Page]) -> str:
    try:
        parts = urlsplit(href)
    except ValueError:
        return "it is no URL"
    if parts.scheme or parts.netloc or href.startswith("/"):
        return ""
    path = unquote(parts.path)
    target = doc
    if path:
        joined = posixpath.normpath(posixpath.join(posixpath.dirname(doc), path))
        if not path.endswith(".html"):
            # Other files may be served beside the site; only pages are ours to know.
            return ""
        target = joined.removesuffix(".html")
        if joined.startswith("../"):
            # Above the site's root lie pages of others.
            return ""
        if target not in ids:
            return f"the site has no page {joined}"
    # What follows the delimiter is for the text search, not for the id.
    identity = unquote(parts.fragment.partition(DELIMITER)[0])
    if identity and identity != "top" and target in ids and identity not in ids[target]:
        return f"that page has no element with the id {identity}"
    if target in pages and DELIMITER in parts.fragment:
        _, directives = parse(f"#{parts.fragment}")
        if not any(land(pages[target], directive, "any") for directive in directives):
            return "that page doesn't have the text it names"
    return ""
