"""Takes URLs out of words that a model wrote: a reader is led nowhere but by a citation."""

from __future__ import annotations

import re

from exactquote_site.serve.disguises import readings

LINK_REMOVED = "[link removed]"

# With these a browser or a mail program would go somewhere, whatever follows.
_SCHEMES = (
    *("https?", "ftps?", "wss?", "file", "javascript", "vbscript", "data", "blob", "mailto"),
    *("tel", "sms", "about", "view-source", "intent", "ipfs", "magnet", "ssh", "git", "irc"),
    *("sips?", "xmpp", "callto", "skype", "facetime", "webcal", r"ms-[a-z-]{2,30}", "vscode"),
)
# `example.com` is an address by itself; `main.rs`, `socket.io` and `self.app` are names in
# programs, `texts.de` and its like are keys, and addresses only with a path behind them.
_SURE_ENDINGS = "com|org|net|edu|gov|info|biz|xyz|eu|uk|cn|jp|online|shop|website|club|vip|icu"
_LABELS = r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}"
# Not within the host of a mail address.
_APART = r"(?<![^\W_]@)(?<![^\W_][.-])"
_HOST = rf"{_APART} {_LABELS} [^\W\d_]{{2,}} (?: :\d{{2,5}} )?"
_URL = re.compile(
    rf"""[a-z0-9][a-z0-9+.-]{{0,30}} [:：] [/／\\]{{2}} | (?<![^\W_]) (?:
        (?:{"|".join(_SCHEMES)}) [:：] (?=\S)
      | [/／\\]{{2}} [\w-]{{1,63}} [.:/?\#]\S
      | www\d{{0,3}} [.．。] \S
      # A label that is spelled for machines.
      | xn--[a-z0-9]
      | {_APART} {_LABELS} (?:{_SURE_ENDINGS}) (?![^\W_])
      | {_HOST} [/?\#]\S
      # `10.0.0.0/8` is a range of addresses, and no page.
      | {_APART} \d{{1,3}} (?:\.\d{{1,3}}){{3}} (?: :\d{{2,5}} )? [/?\#][^\W\d]
      )""",
    re.IGNORECASE | re.VERBOSE,
)
# A URL that goes on behind a bracket or a quote, as `http://[::1]/` does; no `THIS_FILE:`.
_BEGINS = re.compile(r"(?<!\w)(?:https?|ftp|wss?|file)[:：][/／\\]*\Z", re.IGNORECASE)
_BEGINS_GLUED = re.compile(
    rf"""(?<!\w) (?:https?|ftp|wss?|file|javascript|vbscript) [:：] [/／\\]*\Z
      | (?<![^\W_]) (?: www\d{{0,3}}[.．。] | {_HOST} [/?\#]
      | [/／\\]{{2}} [\w-]{{1,63}} [.:/?\#] )\Z""",
    re.IGNORECASE | re.VERBOSE,
)
# A full stop that ends the sentence belongs to the sentence.
_TAIL = re.compile(r"[.,;:!?…*]*\Z")


def without_links(word: str, before: str = "", behind: str = "") -> tuple[str, int]:
    """A word with its URL replaced, if it has one, and how many were; linear in its length.

    `before` and `behind` are the characters right beside it, which are no part of words.
    """
    found = _url(word, behind)
    if found is None:
        if not _in_disguise(word, before, behind):
            return word, 0
        return LINK_REMOVED + _TAIL.search(word, 1)[0], 1  # type: ignore[index]
    kept = word[: found.start()]
    if _in_disguise(kept, before, ""):
        kept = ""
    tail = _TAIL.search(word, found.end())
    return kept + LINK_REMOVED + (tail[0] if tail else ""), 1


def _url(word: str, behind: str) -> re.Match[str] | None:
    glued = behind != "" and not behind.isspace()
    return _URL.search(word) or (_BEGINS_GLUED if glued else _BEGINS).search(word)


def _in_disguise(word: str, before: str, behind: str) -> bool:
    """Whether a browser or whoever decodes it would read the word as a URL."""
    # Behind a script that isn't spaced, the word may be only the end of a host. There, an
    # ideographic full stop ends a sentence, unless a small letter follows.
    ends_host = word[:1] in (".", "．") or (word[:1] in ("。", "｡") and word[1:2].islower())
    others = readings("x" + word) if ends_host and before.isalnum() else readings(word)[1:]
    return any(_url(other, behind) for other in others)
