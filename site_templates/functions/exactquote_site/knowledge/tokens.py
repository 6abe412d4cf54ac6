"""Turns a text into an estimate of how many tokens a language model makes of it."""

from __future__ import annotations

import math
import re

# Scripts that models cut into about one token a character: Thai, Lao, Khmer and Burmese, kana,
# Han (with the planes beyond U+FFFF), hangul and full-width forms.
_DENSE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f"
    "\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)
_CHARS_PER_TOKEN = 4


def estimated_tokens(text: str) -> int:
    """One token for each character of a dense script, and one for each four others.

    An estimate: every model has a tokeniser of its own, and none of them is shipped.
    """
    dense = len(_DENSE.findall(text))
    return dense + math.ceil((len(text) - dense) / _CHARS_PER_TOKEN)
