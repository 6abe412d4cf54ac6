"""Finds whether a question is about a topic that the owner won't discuss, by its words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from exactquote_site.serve.config import Declined

_WORD = re.compile(r"[^\W_]+")


def declined_topic(question: str, topics: Sequence[Declined]) -> str | None:
    """The first topic whose words stand in the question, as whole words, in any case."""
    asked = f" {_plain(question)} "
    for topic in topics:
        # A phrase of several words counts when they stand together.
        if any(f" {_plain(words)} " in asked for words in topic.words if _plain(words)):
            return topic.topic
    return None


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))
