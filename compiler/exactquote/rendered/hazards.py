"""Find what the scripts of a page do against text-fragment links into that page.

Scripts aren't run: these are the calls that were measured to lose a highlight or its
scroll position, looked for in inline scripts and event handlers, and in script files.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping

from selectolax.lexbor import LexborHTMLParser, LexborNode

from exactquote.rendered.hrefs import base_of, find_file
from exactquote.rendered.scripted import parse

# Scripts, event handlers, and what may name a router: most pages of most sites have none.
_ACTIVE = re.compile(
    r"<(?:script|meta)\b|[\s/\"'](?:on[a-z]+|hx-boost|data-(?:barba|swup|turbo))\b", re.IGNORECASE
)
# What these run happens as the page comes; other handlers wait for the reader.
_ON_LOAD = frozenset({"onload", "onpageshow", "onerror", "onhashchange", "onpopstate", "onscroll"})
_HANDLER = re.compile(r"[\s/\"']on[a-z]+\s*=", re.IGNORECASE)
# After the seconds, the address of another page: without one the same page is loaded again.
_ELSEWHERE = re.compile(r"[\d.]\s*[;,\s]\s*[^\s;,\d.]")
# An import that the browser follows at once; `import()` waits for a reason.
_IMPORT = re.compile(r"""\b(?:from|import)\s*["']((?:\.{0,2}/)[^"'\s]+)["']""")
_IMPORTED = re.compile(r"""\b(?:from|import)\s*\(?\s*["']([^"'\s]+)["']""")
# Of any other type a script is data, which runs nothing; WHATWG MIME Sniffing, section 4.6.
_CODE = re.compile(
    r"|module|(?:text|application)/(?:x-)?(?:java|ecma)script"
    r"|text/(?:javascript1\.[0-5]|jscript|livescript)",
    re.IGNORECASE,
)
_TEXT = (
    re.compile(
        r"(?:\.|\[[\"'`])(?:innerHTML|outerHTML)(?:[\"'`]\])?\s*\+?=(?!=)"
        r"|\.(?:replaceChildren|replaceWith|insertAdjacentHTML)\(|document\.write"
    ),
    "a script puts in or replaces text of the page, which loses the highlight",
)
_CALLS = (
    (
        re.compile(
            r"history\s*(?:\?\s*)?(?:\.|\[\s*[\"'`])\s*(?:push|replace)State\b"
            r"(?:[\"'`]\s*\])?\s*(?:(?:\?\.\s*)?\(|\.\s*(?:call|apply)\()"
        ),
        "a script changes the address, which makes Firefox forget the text to find",
    ),
    (
        re.compile(
            r"\bscroll(?:To|By)(?:[\"'`]\s*\]\s*)?\("
            # Of other things it adds a listener, or is a method of their own.
            r"|(?:(?<![\w$.])(?<!function )|\bwindow\s*\.\s*)scroll(?:[\"'`]\s*\]\s*)?\("
            r"(?!\s*(?:function|async)\b)"
            r"|\.scrollIntoView(?:\?\.)?\("
            r"|\blocation(?:\.hash|\[[\"'`]hash[\"'`]\])\s*=(?!=)"
            # A part of an object, as in `this.log.scrollTop`, is a box that scrolls by itself,
            # unless it is one of the elements that scroll the page.
            r"|(?:(?<![\w$.])[\w$]+|[)\]!]|\.\s*(?:body|documentElement|scrollingElement))"
            r"\s*\.\s*scrollTop\s*=(?!=)"
        ),
        "a script scrolls the page, which leaves the passage out of view",
    ),
    (
        re.compile(
            r"\bdocument\s*\.\s*(?:body|documentElement)\s*\.\s*style\s*\.\s*"
            r"(?:display|visibility)\s*=\s*[\"'](?:none|hidden)"
        ),
        "a script hides the page at first, and Firefox finds no text on it then",
    ),
    (
        re.compile(
            r"\blocation\.(?:replace|assign)\(|\blocation(?:\.href|\[[\"'`]href[\"'`]\])\s*=(?!=)"
            # Other things have a location, too.
            r"|(?:(?:^|[;{})?:&|\n])\s*|\b(?:window|document|self|top|parent|globalThis)\s*\.\s*)"
            r"location\s*=(?![=>])"
        ),
        "a script leads to another address, which drops the text to find",
    ),
    (
        re.compile(r"\bnavigation\.addEventListener\(\s*[\"']navigate"),
        "a script puts itself in the place of the browser's navigation, which finds no text then",
    ),
)
# What a page itself says to a router that takes over the clicks on its links.
_ROUTERS = (
    "[hx-boost=true], [data-hx-boost=true], [data-barba], [data-swup], [data-turbo=true],"
    " [data-turbo-track], [data-turbo=''], meta[name=astro-view-transitions-enabled]"
)
# Libraries that are such a router as soon as they are loaded, from wherever that is.
_ROUTER = re.compile(
    r"@hotwired/turbo\b|@barba/|@swup/|@unpoly\b"
    r"|(?<![\w.-])(?:turbo|turbolinks|barba|swup|instantclick|pjax|jquery\.pjax|flamethrower-router)"
    # A version or a hash, what it is made for, and that it is small.
    r"(?:@[\w.]+(?=$|[/?])|(?:-(?:\d[\w.]*|[0-9a-f]{6,}))?(?:[.-](?:es\d+[\w-]*|umd|modern|esm|min))*"
    r"\.m?js\b)",
    re.IGNORECASE,
)
_LEADS_ON = "the page leads on by itself, which drops the text to find"
_TAKEN_OVER = (
    "a router takes over clicks on links between pages, and the browser then looks for no text"
)
_INSTANT = re.compile(r"\"navigation\.instant\"")


def hazards(html: str) -> tuple[tuple[str, int], ...]:
    """Each kind of hazard once, in words, with the line that it is first met in.

    Empty for a page that leaves its links alone.
    """
    if not _ACTIVE.search(html):
        return ()
    tree = parse(html)
    found: dict[str, int] = {}
    handlers = tuple(_handlers(tree)) if _HANDLER.search(html) else ()
    at_once = [*_scripts(tree), *(text for name, text in handlers if name in _ON_LOAD)]
    # A link that only sets the address, when clicked, is one that no browser follows.
    later = [text for name, text in handlers if name not in _ON_LOAD]
    for codes, calls in ((at_once, (_TEXT, *_CALLS)), (later, _CALLS[:1])):
        for code, (call, words) in itertools.product(codes, calls):
            if words not in found and (at := call.search(code)):
                found[words] = _line(html, code, at.start())
    for meta in filter(_leads_on, tree.css("meta[http-equiv]")):
        content = meta.attributes.get("content") or ""
        found.setdefault(_LEADS_ON, _line(html, content, 0))
    if _has_router(tree):
        found[_TAKEN_OVER] = 1
    return tuple(found.items())


def _line(html: str, text: str, at: int) -> int:
    """The line of a page that an offset of a script or an attribute in it stands in."""
    start = html.find(text)
    return html.count("\n", 0, start + at) + 1 if start >= 0 else 1


def _has_router(tree: LexborHTMLParser) -> bool:
    """Whether the page says that a router takes over clicks on links, or loads a known one."""
    if tree.css_first(_ROUTERS) is not None:
        return True
    settings = (node.text() or "" for node in tree.css("script[type='application/json']"))
    loaded = [node.attributes.get("src") or "" for node in tree.css("script[src]")]
    loaded += [name for code in _scripts(tree) for name in _IMPORTED.findall(code)]
    return any(map(_INSTANT.search, settings)) or any(map(_ROUTER.search, loaded))


def _leads_on(meta: LexborNode) -> bool:
    """Whether a page that runs scripts is left by itself for another."""
    attributes = meta.attributes
    is_refresh = (attributes.get("http-equiv") or "").strip().lower() == "refresh"
    return is_refresh and _ELSEWHERE.search(attributes.get("content") or "") is not None


def _scripts(tree: LexborHTMLParser) -> Iterator[str]:
    """The code of the scripts that stand in a page itself."""
    for node in tree.css("script:not([src])"):
        if _CODE.fullmatch((node.attributes.get("type") or "").strip()):
            yield node.text() or ""


def _handlers(tree: LexborHTMLParser) -> Iterator[tuple[str, str]]:
    """The names and the code of the event handlers in attributes."""
    for node in tree.css("*"):
        for name, value in node.attributes.items():
            if name[:2].lower() == "on" and value:
                yield name.lower(), value


def script_hazards(code: str) -> tuple[tuple[str, int], ...]:
    """Each kind of hazard of a script file, in words, with the line it is first met in.

    Nearly every file puts text in somewhere, such as the results of a search, so that alone
    says nothing of the article.
    """
    found = ((words, call.search(code)) for call, words in _CALLS)
    return tuple((words, code.count("\n", 0, at.start()) + 1) for words, at in found if at)


def linked_scripts(html: str, path: str, files: Mapping[str, bytes]) -> Iterator[str]:
    """Paths of the script files among `files` that a page loads, in order, with their imports."""
    if "<script" not in html.lower():
        return
    tree = parse(html)
    base = base_of(tree, path)
    waiting = [(base, node.attributes.get("src")) for node in tree.css("script[src]")]
    waiting.reverse()
    known = set()
    while waiting:
        found = find_file(*waiting.pop(), files)
        if found is None or found.path in known:
            continue
        known.add(found.path)
        yield found.path
        imports = _IMPORT.findall(found.data.decode("utf-8", "replace"))
        waiting += [(base.of(found), href) for href in reversed(imports)]
