"""Tells what may name a language from what can't."""

from __future__ import annotations

import re

_TAG = re.compile(r"[a-z]{2,3}(-[a-z0-9]{1,8})*", re.IGNORECASE)


def is_language_tag(text: str) -> bool:
    """Whether `text` has the look of a tag of RFC 5646 (BCP 47): `de`, `pt-BR`, `zh-Hans`.

    Its language is two or three letters; longer ones are allowed there, but none is registered.
    """
    return _TAG.fullmatch(text) is not None
