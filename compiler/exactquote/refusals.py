"""Turns the refusal sentences of a site into lines that can't be changed unnoticed.

The sentence that ends an unanswered question is how such questions are found again, so every
sentence that was ever in force stays known. A line holds the digest of its own texts; whoever
edits the texts and leaves the digest is told to add a line instead.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from exactquote.settings import ChatSettings, RefusalLine

DIGEST_CHARS = 16

# Questions that ended in one of these are in the stores of others: a line is never edited,
# the next one goes below it.
BUILT_IN = (
    RefusalLine(
        version=1,
        digest="5c4b317b1ba26d75",
        texts={
            "en": "These pages don't answer that.",
            "de": "Das steht nicht auf diesen Seiten.",
        },
    ),
)
# What a site writes itself counts from 1.
_BUILT_IN_VERSION = 0


def digest(texts: Mapping[str, str]) -> str:
    """The first digits of the SHA-256 of the texts, as JSON in UTF-8 with sorted keys."""
    canonical = json.dumps(dict(texts), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_CHARS]


def known_lines(chat: ChatSettings) -> tuple[RefusalLine, ...]:
    """Every line by which gaps may have been logged; the last is in force."""
    shipped = tuple(
        RefusalLine(version=_BUILT_IN_VERSION, digest=line.digest, texts=line.texts)
        for line in BUILT_IN
    )
    return (*shipped, *chat.refusals)


def languages_of(chat: ChatSettings, language: str) -> tuple[str, ...]:
    """The languages of fixed texts, the site's own first; `language` is that of the site.

    Where none is configured, it is the site's own if a refusal sentence is known in it, and
    else English.
    """
    if chat.languages:
        return tuple(chat.languages)
    own = language.replace("_", "-").partition("-")[0].lower()
    return (own if own in known_lines(chat)[-1].texts else "en",)
