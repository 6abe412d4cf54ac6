"""Finds whether a question is about a topic that the owner won't discuss, by its words.

A topic's words count where they stand as words. Scripts that write no spaces have no such
places: there, the words count wherever they stand. In Korean a particle may follow at once.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from exactquote_site.serve.config import Declined

# The first letters of Unicode's name of a character say which script it is of.
_UNSPACED = ("CJK", "HIRAGANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN", "BOPOMOFO", "YI")
_KATAKANA, _HANGUL = ("KATAKANA",), ("HANGUL",)
# Names such as C++ and C# end with one of these, and .NET begins with one.
_SUFFIXES = "+#"
_PREFIX = "."


def declined_topic(question: str, topics: Sequence[Declined]) -> str | None:
    """The first topic whose words stand in the question, in any case and width.

    Takes time linear in the question, for words of bounded length.
    """
    asked = _plain(question)
    for topic in topics:
        if any(_stands_in(asked, _plain(words)) for words in topic.words):
            return topic.topic
    return None


@lru_cache(4_096)
def _plain(text: str) -> str:
    """The text with one space wherever anything but words and the signs of names stands."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join("".join(_spaced(folded)).split())


def _spaced(text: str) -> Iterator[str]:
    for before, character, behind in zip(f" {text}", text, f"{text[1:]} ", strict=False):
        # What nobody sees parts no words.
        if unicodedata.category(character) == "Cf":
            continue
        begins = character == _PREFIX and not _is_word(before) and _is_word(behind)
        sign = unicodedata.category(character)[0] == "S" or character in "#&%"
        yield character if _is_word(character) or sign or begins else " "


def _stands_in(asked: str, words: str) -> bool:
    if not any(_is_word(character) for character in words):
        return False
    at = asked.find(words)
    while at >= 0:
        end = at + len(words)
        if _begins(asked[max(at - 1, 0) : at], words[0]) and _ends(words[-1], asked[end : end + 9]):
            return True
        at = asked.find(words, at + 1)
    return False


def _begins(before: str, first: str) -> bool:
    """Whether a word may begin between two characters; "" is the edge of the question."""
    return not before or not _is_word(first) or not _is_word(before) or _parts(before, first)


def _ends(last: str, rest: str) -> bool:
    """Whether a word may end behind a character; `rest` is what follows."""
    behind = rest[:1]
    if unicodedata.category(behind or " ")[0] == "M":
        # A mark belongs to the letter before it.
        return False
    if behind and behind in _SUFFIXES and last not in _SUFFIXES:
        # C isn't C++; but in "pay+bonus", pay is pay.
        return _is_word(rest.lstrip(_SUFFIXES)[:1] or " ")
    if not behind or not _is_word(behind) or not _is_word(last):
        return True
    return _parts(last, behind) or _script(last) == "HANGUL"


def _parts(one: str, other: str) -> bool:
    """Whether no word goes from the one letter on to the other."""
    scripts = _script(one), _script(other)
    return "UNSPACED" in scripts or scripts[0] != scripts[1]


@lru_cache(4_096)
def _script(character: str) -> str:
    """What of the script of a character matters here; a mark is taken for its letter."""
    name = unicodedata.name(character, "")
    if name.startswith(_UNSPACED):
        return "UNSPACED"
    if name.startswith(_KATAKANA):
        return "KATAKANA"
    return "HANGUL" if name.startswith(_HANGUL) else "SPACED"


def _is_word(character: str) -> bool:
    return bool(character) and unicodedata.category(character)[0] in "LMN"
