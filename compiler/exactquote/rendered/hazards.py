"""Find what the scripts of a page do against text-fragment links into that page.

Scripts aren't run: these are the calls that were measured to lose a highlight or its
scroll position, looked for in inline scripts and event handlers.
"""

from __future__ import annotations

import re

_SCRIPT = re.compile(
    r"<script\b(?![^>]*\bsrc=)(?![^>]*type=[\"']?(?:application/(?:ld\+)?json|text/(?:template|html)))"
    r"[^>]*>(.*?)</script>",
    re.DOTALL | re.IGNORECASE,
)
_HANDLER = re.compile(r"\son[a-z]+\s*=\s*(\"[^\"]*\"|'[^']*')", re.IGNORECASE)
_REFRESH = re.compile(r"<meta\b[^>]*http-equiv=[\"']?refresh", re.IGNORECASE)
_CALLS = (
    (
        re.compile(
            r"\.(?:innerHTML|outerHTML)\s*=|\.(?:replaceChildren|replaceWith)\(|document\.write"
        ),
        "a script puts in or replaces text of the page, which loses the highlight",
    ),
    (
        re.compile(r"history\.(?:push|replace)State"),
        "a script changes the address, which makes Firefox forget the text to find",
    ),
    (
        re.compile(r"\b(?:window\.)?scroll(?:To|By)?\(|\.scrollTop\s*=|\.scrollIntoView\("),
        "a script scrolls the page, which leaves the passage out of view",
    ),
    (
        re.compile(r"\blocation\.(?:replace|assign)\(|\blocation(?:\.href)?\s*=[^=]"),
        "a script leads to another address, which drops the text to find",
    ),
)


def hazards(html: str) -> tuple[str, ...]:
    """Each kind of hazard once, in words; empty for a page that leaves its links alone."""
    code = "\n".join((*_SCRIPT.findall(html), *_HANDLER.findall(html)))
    found = [words for call, words in _CALLS if call.search(code)]
    if _REFRESH.search(html):
        found.append("the page leads on by itself, which drops the text to find")
    return tuple(found)
