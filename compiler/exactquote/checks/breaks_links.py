"""EQ036: a site undoes the links into a cited page, by script or by what its server is told."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import unquote

from exactquote.codes import fault
from exactquote.model import Diagnostic, Place, Verdict
from exactquote.rendered.hazards import linked_scripts, script_hazards
from exactquote.rendered.page import Page

# Files in which hosts are told which headers and redirects to send.
SERVER_FILES = frozenset(
    {
        "_headers",
        "_redirects",
        ".htaccess",
        "firebase.json",
        "netlify.toml",
        "staticwebapp.config.json",
        "vercel.json",
        "web.config",
    }
)
SCRIPT_SUFFIXES = (".js", ".mjs")

_POLICY, _AT_TOP = r"document-policy(?!-report)\b", r"force-load-at-top(?!=\?0)"
_LINE = r"[^\n]{0,200}"
# Where a header is an object, name and value may stand on lines of their own, in any order.
_LINES = rf"{_LINE}(?:\n{_LINE}){{0,3}}?"
_IN_A_LINE = re.compile(_POLICY + _LINE + _AT_TOP, re.IGNORECASE)
_IN_LINES = re.compile(
    rf"{_POLICY}{_LINES}{_AT_TOP}|{_AT_TOP}[^\n{{}}]*(?:\n[^\n{{}}]*){{0,3}}?{_POLICY}",
    re.IGNORECASE,
)
# Of files in lines, a line that begins so says nothing.
_REMARK = re.compile(r"^[ \t]*#[^\n]*", re.MULTILINE)
_CURE = "let links be plain <a href>, and leave address, scroll and text alone on load"


def check(
    verdicts: Sequence[Verdict], pages: Mapping[str, Page], files: Mapping[str, bytes]
) -> Iterator[Diagnostic]:
    """A warning for each hazard of each cited page, of its script files, and of the server's.

    `files` are the site's scripts and server files by path, among others.
    """
    cited = [pages[doc] for doc in sorted({verdict.doc for verdict in verdicts if verdict.bound})]
    loaded: dict[str, int] = {}
    for page in cited:
        for hazard, line in page.hazards:
            yield fault("EQ036", Place(page.path, line), hazard, _CURE)
        for script in dict.fromkeys(linked_scripts(page.html, page.path, files)):
            loaded[script] = loaded.get(script, 0) + 1
    for script, count in sorted(loaded.items()):
        for words, line in script_hazards(files[script].decode("utf-8", "replace")):
            many = "a cited page loads" if count == 1 else f"{count} cited pages load"
            yield fault("EQ036", Place(script, line), f"{words}; {many} this file", _CURE)
    if cited:
        yield from _server(cited, files)


def _server(cited: Sequence[Page], files: Mapping[str, bytes]) -> Iterator[Diagnostic]:
    for path, data in sorted(files.items()):
        name = path.rpartition("/")[2]
        if name not in SERVER_FILES:
            continue
        text = data.decode("utf-8", "replace")
        in_lines = not name.endswith((".json", ".config"))
        if in_lines:
            text = _REMARK.sub("", text)
        if found := (_IN_A_LINE if in_lines else _IN_LINES).search(text):
            yield fault(
                "EQ036",
                Place(path, text.count("\n", 0, found.start()) + 1),
                "the server tells browsers to load pages at the top: a passage is highlighted"
                " out of view",
                "remove force-load-at-top from the Document-Policy header",
            )
        if name == "_redirects":
            yield from _redirects(path, text, cited)


def _redirects(path: str, text: str, cited: Sequence[Page]) -> Iterator[Diagnostic]:
    """A fragment is kept over a redirect, unless the new address has its own."""
    wanted = {name for page in cited for name in _addresses(page.path)}
    for number, line in enumerate(text.split("\n"), 1):
        source, target, status, *_ = [*line.partition(" #")[0].split(), "", "", ""]
        # With 200 the server shows the other page at this address.
        if "#" in target and status.rstrip("!") != "200" and unquote(source).rstrip("/") in wanted:
            yield fault(
                "EQ036",
                Place(path, number),
                f"the redirect of {source} has a fragment of its own, which drops the text to find",
                "redirect to an address without #, or cite the page it leads to",
            )


def _addresses(path: str) -> Iterator[str]:
    """The addresses at which hosts show a page."""
    yield f"/{path}"
    yield f"/{path.removesuffix('.html')}"
    if path.rpartition("/")[2] == "index.html":
        yield f"/{path.removesuffix('index.html')}".rstrip("/")
