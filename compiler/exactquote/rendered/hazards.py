"""Find what the scripts of a page do against text-fragment links into that page.

Scripts aren't run: these are the calls that were measured to lose a highlight or its
scroll position, looked for in inline scripts and event handlers, and in script files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

_SITE = "http://site.invalid/"
_SCRIPT = re.compile(
    r"<script\b(?![^>]*\bsrc=)(?![^>]*type=[\"']?(?:application/(?:ld\+)?json|text/(?:template|html)))"
    r"[^>]*>(.*?)</script>",
    re.DOTALL | re.IGNORECASE,
)
_HANDLER = re.compile(r"\son[a-z]+\s*=\s*(\"[^\"]*\"|'[^']*')", re.IGNORECASE)
_REFRESH = re.compile(r"<meta\b[^>]*http-equiv=[\"']?refresh", re.IGNORECASE)
_TEXT = (
    re.compile(
        r"\.(?:innerHTML|outerHTML)\s*=|\.(?:replaceChildren|replaceWith)\(|document\.write"
    ),
    "a script puts in or replaces text of the page, which loses the highlight",
)
_CALLS = (
    (
        re.compile(r"history\.(?:push|replace)State"),
        "a script changes the address, which makes Firefox forget the text to find",
    ),
    (
        re.compile(
            r"\b(?:window\.)?scroll(?:To|By)?\(|\.scrollIntoView\(|\blocation\.hash\s*=(?!=)"
            # A part of an object, as in `this.log.scrollTop`, is a box that scrolls by itself,
            # unless it is one of the elements that scroll the page.
            r"|(?:(?<![\w$.])[\w$]+|[)\]!]|\.\s*(?:body|documentElement|scrollingElement))"
            r"\s*\.\s*scrollTop\s*=(?!=)"
        ),
        "a script scrolls the page, which leaves the passage out of view",
    ),
    (
        re.compile(r"\blocation\.(?:replace|assign)\(|\blocation(?:\.href)?\s*=[^=]"),
        "a script leads to another address, which drops the text to find",
    ),
    (
        re.compile(r"\bnavigation\.addEventListener\(\s*[\"']navigate"),
        "a script puts itself in the place of the browser's navigation, which finds no text then",
    ),
)
# What a page itself says to a router that takes over the clicks on its links.
_ROUTER = re.compile(
    r"\bhx-boost=[\"']?true|\bdata-barba=|\bdata-swup\b|\bdata-turbo(?:=[\"']?true|-track=)"
    r"|name=[\"']?astro-view-transitions-enabled|\"navigation\.instant\"",
    re.IGNORECASE,
)


def hazards(html: str) -> tuple[str, ...]:
    """Each kind of hazard once, in words; empty for a page that leaves its links alone."""
    code = "\n".join((*_SCRIPT.findall(html), *_HANDLER.findall(html)))
    found = [words for call, words in (_TEXT, *_CALLS) if call.search(code)]
    if _REFRESH.search(html):
        found.append("the page leads on by itself, which drops the text to find")
    if _ROUTER.search(html):
        found.append(
            "a router takes over clicks on links between pages, and the browser then looks for"
            " no text"
        )
    return tuple(found)


def script_hazards(code: str) -> tuple[tuple[str, int], ...]:
    """Each kind of hazard of a script file, in words, with the line it is first met in.

    Nearly every file puts text in somewhere, such as the results of a search, so that alone
    says nothing of the article.
    """
    found = ((words, call.search(code)) for call, words in _CALLS)
    return tuple((words, code.count("\n", 0, at.start()) + 1) for words, at in found if at)


def linked_scripts(html: str, path: str, files: Mapping[str, bytes]) -> Iterator[str]:
    """Paths of the script files among `files` that a page loads, in order."""
    if "<script" not in html.lower():
        return
    tree = LexborHTMLParser(html)
    base = tree.css_first("base[href]")
    here = urljoin(_SITE, path)
    root = urljoin(here, (base.attributes.get("href") or "") if base is not None else "")
    for node in tree.css("script[src]"):
        try:
            url = urljoin(root, node.attributes.get("src") or "")
            name = unquote(urlsplit(url).path).lstrip("/")
        except ValueError:
            continue
        if url.startswith(_SITE) and name in files:
            yield name
