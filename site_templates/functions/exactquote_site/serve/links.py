"""Takes URLs out of words that a model wrote: a reader is led nowhere but by a citation."""

from __future__ import annotations

import re
import unicodedata

LINK_REMOVED = "[link removed]"

# With these a browser or a mail program would go somewhere, whatever follows.
_SCHEMES = (
    *("https?", "ftps?", "wss?", "file", "javascript", "vbscript", "data", "blob", "mailto"),
    *("tel", "sms", "about", "view-source", "intent", "ipfs", "magnet", "ssh", "git", "irc"),
)
# `example.com` is an address by itself; `main.rs`, `socket.io` and `self.app` are names in
# programs, and addresses only with a path behind them.
_SURE_ENDINGS = "com|org|net|edu|gov|info|biz|xyz"
_LABELS = r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}"
_URL = re.compile(
    rf"""(?<![^\W_]) (?:
        (?:{"|".join(_SCHEMES)}) [:：] (?=\S)
      | [a-z][a-z0-9+.-]{{0,30}} [:：] [/／\\]{{2}}
      | [/／\\]{{2}} {_LABELS} [^\W\d_]{{2,}}
      | www\d{{0,3}} [.．。] \S
      | (?<![@\w.-]) {_LABELS} (?:
            (?:{_SURE_ENDINGS}) (?![\w-])
          | [^\W\d_]{{2,}} (?: :\d{{2,5}} )? [/?\#]\S
        )
      # `10.0.0.0/8` is a range of addresses, and no page.
      | (?<![\w.-]) \d{{1,3}} (?:\.\d{{1,3}}){{3}} (?: :\d{{2,5}} )? [/?\#][^\W\d]
      )""",
    re.IGNORECASE | re.VERBOSE,
)
_STARTS = re.compile(r"(?:https?|ftp|wss?|file)[:：][/／\\]*", re.IGNORECASE)
_STARTS_GLUED = re.compile(
    r"(?:https?|ftp|wss?|file|javascript|vbscript)[:：][/／\\]*", re.IGNORECASE
)
# A full stop that ends the sentence belongs to the sentence.
_TAIL = re.compile(r"[.,;:!?…*]*\Z")


def without_links(word: str, glued: bool = False) -> tuple[str, int]:
    """A word with its URL replaced, if it has one, and how many were; linear in its length.

    `glued` tells that a bracket or a quote stands right behind it.
    """
    found = _URL.search(word)
    if found is None:
        return (LINK_REMOVED, 1) if _only_starts(word, glued) or _in_disguise(word) else (word, 0)
    tail = _TAIL.search(word, found.end())
    return word[: found.start()] + LINK_REMOVED + (tail[0] if tail else ""), 1


def _only_starts(word: str, glued: bool) -> bool:
    """Whether a URL starts here that goes on behind a bracket, as in `http://[::1]/`."""
    starts = _STARTS_GLUED if glued else _STARTS
    return starts.fullmatch(word) is not None


def _in_disguise(word: str) -> bool:
    """Whether a browser would read the word as a URL: it folds full-width forms and stops."""
    if word.isascii():
        return False
    plain = unicodedata.normalize("NFKC", word).replace("。", ".")
    return plain != word and _URL.search(plain) is not None
