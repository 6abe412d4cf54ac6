"""What of a text that a visitor sees he shouldn't: URLs, tokens and their like, ids.

Written apart from the rules that are tested, after what browsers and mail programs open.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

URLS = re.compile(
    r"[a-z][a-z0-9+.-]*://|(?<![^\W_])//[a-z0-9-]+[./:?#]\w|\bwww\d*\.\w|[^\W_]\.(?:com|org|net)(?![^\W_])"
    r"|\w\.example[/?#]|\w\.app[/?#]\S|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?/[a-z]|\bxn--[a-z0-9]"
    r"|\b(?:javascript|vbscript|blob|file|mailto|tel|view-source):[a-z0-9/+]|\bdata:[a-z0-9/;,]",
    re.IGNORECASE,
)
TOKENS = re.compile(
    r"\[\s*\[\s*c\s*i\s*t\s*e(?![^\W_])|(?<![^\W_])cite:[^\s\"'`´\\)\]>»]|\[\s?cite\s*:",
    re.IGNORECASE,
)
HALF_TOKEN = re.compile(r"\[\[\s*cit?\Z", re.IGNORECASE)
# The host of a mail address isn't opened as a page.
_MAIL = re.compile(r"(?<=[^\W_]@)[\w.-]+")
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_ALIKE = str.maketrans("сіеｃ【】［］⟦⟧〚〛{}<>。", "cieс[][][][][][].")


def leaks(shown: str, ids: Iterable[str] = (), whole: bool = True) -> Iterator[str]:
    """What is wrong with a text, in words; `whole` tells that nothing follows it."""
    folded = unicodedata.normalize("NFKC", _UNSEEN.sub("", shown)).translate(_ALIKE)
    plain = "".join(char for char in folded if not unicodedata.combining(char))
    for name, pattern in (("URL", URLS), ("token", TOKENS)):
        for found in pattern.finditer(_MAIL.sub("", plain)):
            yield f"{name} {plain[max(0, found.start() - 20) : found.end() + 20]!r}"
    if whole and HALF_TOKEN.search(plain):
        yield f"half a token {plain[-20:]!r}"
    yield from (f"id {id}" for id in ids if id in plain.lower())
