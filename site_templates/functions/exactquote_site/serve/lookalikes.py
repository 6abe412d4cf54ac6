"""Patterns of what a reader or a model takes for a cite token, and of what one may begin as."""

from __future__ import annotations

import re
from collections.abc import Container

from exactquote_site.serve.disguises import MARKS, drawn_like, of_category
from exactquote_site.wire.tokens import DOC_CHARS_MAX, ID_CHARS_MAX

# Only `[[cite:…]]` itself is ever resolved. Low quotes open a quote and no token.
_PAIRED = of_category("Ps").replace("„", "").replace("‚", "")
OPENERS = rf"{_PAIRED}<＜﹤«"
CLOSERS = of_category("Pe") + ">＞﹥»"
_BRACKETS_MAX = 8
_COLON = "[:：﹕︓꞉∶ː]"
_LETTERS = (
    *(drawn_like("c", "сСϲϹⲥꓚ"), drawn_like("i", "іІıΙιӏꓲ")),
    *(drawn_like("t", "тТτΤꓔ"), drawn_like("e", "еЕҽεΕꓰ℮")),
)
_SPACED = [rf"{letter}\s?" for letter in _LETTERS]
_BRACKET = rf"\\?[{OPENERS}][{MARKS}]{{0,4}}+\s{{0,8}}+"
_OPEN = rf"(?:{_BRACKET}){{1,{_BRACKETS_MAX}}}+"
# Doubled, and not as programs and formulas double round brackets.
_ROUND = r"\\?[(（<＜]\s{0,8}"
_DOUBLE = rf"(?!{_ROUND}{_ROUND})(?:{_BRACKET}){{2}}"
_CITE = "".join(_SPACED)

# What each of the patterns of tokens begins with.
STARTS = re.compile(rf"[\\{OPENERS}]")
# In double brackets the word alone is enough to look like a token.
HEAD = re.compile(
    rf"(?P<open>{_OPEN}){_CITE}\s{{0,8}}{_COLON}|(?P<double>{_DOUBLE}){_CITE}(?![^\W_])"
)
# A token that another one stands in the middle of.
BROKEN_HEAD = re.compile(
    rf"{_DOUBLE}{_SPACED[0]}{_SPACED[1]}(?:{_SPACED[2]}(?:{_SPACED[3]})?)?(?=[\\{OPENERS}])"
)
_SOME_LETTERS = rf"(?:{_SPACED[0]}(?:{_SPACED[1]}(?:{_SPACED[2]}(?:{_SPACED[3]}\s{{0,8}})?)?)?)?"
HALF_HEAD = re.compile(rf"(?:{_OPEN})?\\?|{_OPEN}{_SOME_LETTERS}")
# What an answer that was cut off must not end with; a lone bracket may be meant.
HALF_TOKEN = re.compile(rf"(?:(?!{_ROUND}){_BRACKET}){{2}}|{_OPEN}{_SPACED[0]}{_SPACED[1]}")
# An id in double brackets, as of a token that forgot its word.
NAMED = re.compile(rf"\[\[\s{{0,8}}([a-z0-9-]{{1,{ID_CHARS_MAX}}})\s{{0,8}}\]\]")
HALF_NAMED = re.compile(rf"\[\[\s{{0,8}}[a-z0-9-]{{0,{ID_CHARS_MAX}}}\s{{0,8}}\]?")

BODY = re.compile(rf"[^|\r\n\[{CLOSERS}]{{0,{DOC_CHARS_MAX}}}")
LOOSE_BODY = re.compile(rf"[^\r\n\[{CLOSERS}]{{0,{DOC_CHARS_MAX}}}")
CLOSER = re.compile(rf"\\?[{CLOSERS}]")

# An encoded bracket ends with "5b", in whichever encoding.
_BARE_TOKEN = re.compile(
    rf"(?:(?<![^\W_])|(?<=5[bB])){''.join(_LETTERS)}{_COLON}\S|{_DOUBLE}{_CITE}(?![^\W_])"
)
_RUN = re.compile(r"[^\W_]*")
_RUN_END = re.compile(r"[^\W_]*\Z")
_ID_CHARS = (9, 17)
_GENERATED_ID = re.compile(rf"(?=(p[a-z2-7]{{{_ID_CHARS[0] - 1},{_ID_CHARS[1] - 1}}}))", re.I)


def is_bare_token(word: str) -> bool:
    """Whether a word is a token without its brackets, or with encoded ones."""
    return _BARE_TOKEN.search(word) is not None


def find_id(word: str, *ids: Container[str]) -> tuple[int, int] | None:
    """Where the letters stand that hold the first id that the build gave to a passage."""
    for found in _GENERATED_ID.finditer(word):
        longest = found[1].lower()
        for chars in range(len(longest), _ID_CHARS[0] - 1, -1):
            if any(longest[:chars] in known for known in ids):
                glued = _RUN_END.search(word[: found.start()])
                run = _RUN.match(word, found.start())
                assert glued is not None
                assert run is not None
                return glued.start(), run.end()
    return None
