"""Turns a word into the form that its inflections and spellings have in common."""

from __future__ import annotations

import importlib
import re
import unicodedata
from functools import cache, lru_cache
from typing import Any

# Snowball has no stemmer for other languages. https://snowballstem.org
_ALGORITHMS = {
    "ar": "arabic", "hy": "armenian", "eu": "basque", "ca": "catalan", "cs": "czech",
    "da": "danish", "nl": "dutch", "en": "english", "eo": "esperanto", "et": "estonian",
    "fi": "finnish", "fr": "french", "de": "german", "el": "greek", "hi": "hindi",
    "hu": "hungarian", "id": "indonesian", "ga": "irish", "it": "italian", "lt": "lithuanian",
    "ne": "nepali", "nb": "norwegian", "nn": "norwegian", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "es": "spanish",
    "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
# Technical pages in any language are full of English words; so are pages of no language.
_DEFAULT = "english"
# Accents of Latin, Greek and Cyrillic, points of Hebrew and Arabic. Marks of other scripts
# are letters that a word can't be without.
_ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]+")
_LETTERS = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th"}
)


def primary(language: str) -> str:
    """The first subtag of a language tag: `de` of `de-AT`."""
    return re.split("[-_]", language, maxsplit=1)[0].lower()


@lru_cache(maxsize=1 << 16)
def stem(word: str, language: str = "") -> str:
    """The stem of a case-folded word without its accents.

    German `ä`, `ae` and `a` end alike. `language` is a tag such as `de` or `de-AT`; of a
    language that Snowball doesn't know, and of none, the English stem is taken.
    """
    if word.isascii() and not word.isalpha() and "'" not in word:
        return word
    found: str = _stemmer(_ALGORITHMS.get(primary(language), _DEFAULT))().stemWord(word)
    return found if found.isascii() else without_accents(found)


def without_accents(word: str) -> str:
    """The word in its base letters; `ü` is `u`."""
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", word))
    return unicodedata.normalize("NFC", bare).translate(_LETTERS)


@cache
def _stemmer(algorithm: str) -> Any:
    # Asked for by module: the package's own `stemmer` takes another library where one is
    # installed, whose stems may be of another version. Stemmers hold state, so that each
    # word gets a new one and threads can't meet in one.
    module = importlib.import_module(f"snowballstemmer.{algorithm}_stemmer")
    return getattr(module, f"{algorithm.title()}Stemmer")
