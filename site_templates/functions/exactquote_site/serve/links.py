"""Takes URLs out of words that a model wrote: a reader is led nowhere but by a citation."""

from __future__ import annotations

import re

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
      )""",
    re.IGNORECASE | re.VERBOSE,
)
# A full stop that ends the sentence belongs to the sentence.
_TAIL = re.compile(r"[.,;:!?…*]*\Z")


def without_links(word: str) -> tuple[str, int]:
    """A word with its URL replaced, if it has one, and how many were; linear in its length."""
    found = _URL.search(word)
    if found is None:
        scheme = _bare_scheme(word)
        return (LINK_REMOVED, 1) if scheme else (word, 0)
    tail = _TAIL.search(word, found.end())
    return word[: found.start()] + LINK_REMOVED + (tail[0] if tail else ""), 1


def _bare_scheme(word: str) -> bool:
    # A bracket behind it, as in `http://[::1]/`, starts the next word.
    return re.fullmatch(r"(?:https?|ftp|wss?|file)[:：][/／\\]*", word, re.IGNORECASE) is not None
