"""Turns links to `cite:` into citations, with the place where each was written.

`[claim](cite:doc "exact passage")` cites a passage of a document, `[claim](cite:#id)` a passage
that was given an id. The document may be URL-encoded or the address stand in `<…>`; the link may
be a reference. Links from one document to another get the name of the page it becomes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote

from markdown_it.rules_core.state_core import StateCore
from markdown_it.rules_inline import autolink as base_autolink
from markdown_it.rules_inline import image as base_image
from markdown_it.rules_inline import link as base_link
from markdown_it.rules_inline.state_inline import StateInline
from markdown_it.token import Token

from exactquote.model import Place, Written
from exactquote.readers.headings import plain_text
from exactquote.readers.notes import Notes, notes_of

CITE_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}\Z")
FORMS = 'write `[claim](cite:doc-id "exact passage")` or `[claim](cite:#id)`'

_DOCUMENT_LINK = re.compile(
    r"(?![a-zA-Z][a-zA-Z0-9+.\-]*:|//)([^?#]+)\.(?:md|mdx|markdown)((?:[?#].*)?)\Z", re.DOTALL
)
# No file system has longer paths; a long address that is used often is looked at but once.
_PATH_CHARS_MAX = 4096
_STRAY = re.compile(r"\]\(\s*<?cite:", re.IGNORECASE)
# A short page may name a long address very often; cmark bounds what that may grow to as well.
_EXPANDED_CHARS_FREE = 1_000_000
_EXPANDED_TIMES_MAX = 10


def page_href(href: str) -> str:
    """Where a link between documents leads once both are pages; other links stay as they are."""
    if len(href) > _PATH_CHARS_MAX or ".m" not in href:
        return href
    found = _DOCUMENT_LINK.match(href)
    return f"{found[1]}.html{found[2]}" if found else href


def link(state: StateInline, silent: bool) -> bool:
    """Inline rule: markdown-it's link, noting citations and bounding references."""
    start = state.pos
    if state.html_terminator_last("]") < start:
        return False
    before = len(state.tokens)
    if not base_link(state, silent):
        return False
    if silent:
        return True
    token = state.tokens[before]
    if token.type != "link_open":
        token = state.tokens[before + 1]
    href = str(token.attrs["href"])
    if _is_cite(href):
        _note_cite(token, start, state)
    else:
        token.attrs["href"] = page_href(href)
    if not _is_cite(href):
        _bound(token, state, start)
    return True


def image(state: StateInline, silent: bool) -> bool:
    """Inline rule: markdown-it's image; one that cites is a fault."""
    start = state.pos
    if state.html_terminator_last("]") < start or not base_image(state, silent):
        return False
    if not silent:
        token = state.tokens[-1]
        if _is_cite(str(token.attrs["src"])) or any("cite" in t.meta for t in token.children or ()):
            _note_cite(token, start, state)
        _bound(token, state, start)
    return True


def autolink(state: StateInline, silent: bool) -> bool:
    """Inline rule: markdown-it's autolink; `<cite:doc>` is a fault."""
    start = state.pos
    before = len(state.tokens)
    if not base_autolink(state, silent):
        return False
    if not silent:
        token = next(t for t in state.tokens[before:] if t.type == "link_open")
        if _is_cite(str(token.attrs["href"])):
            _note_cite(token, start, state)
    return True


def stray_citation(state: StateInline, silent: bool) -> bool:
    """Inline rule: `](cite:` that is left as text would be a citation that nobody checks."""
    if not silent and state.src.startswith("](", state.pos) and _STRAY.match(state.src, state.pos):
        notes_of(state.env).add(
            "EQ032",
            notes_of(state.env).place(state.pos),
            "this citation can't be read as a link, so it would show as text",
            FORMS + '; write a `"` in the passage as `\\"`, and a blank in a document id as `%20`',
        )
    return False


def take_citations(state: StateCore) -> None:
    """Core rule: make chips of the citations; `env["written"]` lists them in page order."""
    notes = notes_of(state.env)
    if not notes.cited:
        return
    written: list[Written] = []
    for token in state.tokens:
        if token.type == "inline" and token.children:
            token.children = _cited(token.children, written, notes)
    state.env["written"] = tuple(written)


def _cited(tokens: list[Token], written: list[Written], notes: Notes) -> list[Token]:
    out: list[Token] = []
    ends: list[tuple[Token, Token | None]] = []
    for index, token in enumerate(tokens):
        place = token.meta.get("cite")
        if place is not None and token.type == "image":
            notes.add("EQ032", place, "an image can't cite or hold a citation", FORMS)
            out.extend(t for t in token.children or () if t.type in ("text", "code_inline"))
            continue
        if place is not None:
            claim = _claim(tokens, index)
            citation = _written(token, place, plain_text(claim), len(written), notes)
            if citation is None:
                ends.append((token, None))
                continue
            written.append(citation)
            close = Token("cite_close", "", -1, meta={"n": citation.inline})
            ends.append((token, close))
            out.append(Token("cite_open", "span", 1, attrs={"class": "eq-claim"}))
            continue
        if ends and token.type == "link_close" and token.level == ends[-1][0].level:
            close_token = ends.pop()[1]
            if close_token is not None:
                out.append(close_token)
            continue
        out.append(token)
    return out


def _claim(tokens: Sequence[Token], opened: int) -> Sequence[Token]:
    level = tokens[opened].level
    for index in range(opened + 1, len(tokens)):
        if tokens[index].type == "link_close" and tokens[index].level == level:
            return tokens[opened + 1 : index]
    return tokens[opened + 1 :]


def _written(token: Token, place: Place, claim: str, n: int, notes: Notes) -> Written | None:
    """The citation that a link makes, or None with its fault noted."""
    raw = str(token.attrs["href"])[len("cite:") :]
    quote = str(token.attrs.get("title", ""))
    source = notes.document
    wrong = _wrong(raw, quote)
    if wrong:
        notes.add("EQ032", place, wrong, FORMS)
        return None
    if raw.startswith("#"):
        return Written(place, "", "", claim, ref=raw[1:], source=source, inline=n)
    return Written(place, unquote(raw), quote, claim, source=source, inline=n)


def _wrong(target: str, quote: str) -> str:
    if target.startswith("#"):
        if not CITE_ID.match(target[1:]):
            return f"`{unquote(target)}` is not an id: a-z, 0-9 and `-`, at most 64"
        if quote:
            return "this cites a passage by its id and quotes another passage as well"
        return ""
    if not unquote(target).strip():
        return "this citation names no document"
    if "#" in target:
        return "a document id has no `#` part"
    if not quote.strip():
        return "this citation quotes no passage"
    return ""


def render_cite_close(
    self: object, tokens: Sequence[Token], idx: int, options: object, env: object
) -> str:
    """Render rule: the end of a claim, and its chip."""
    return f'</span><eq-chip n="{tokens[idx].meta["n"]}"></eq-chip>'


def _is_cite(href: str) -> bool:
    return href[:5].lower() == "cite:"


def _note_cite(token: Token, start: int, state: StateInline) -> None:
    notes = notes_of(state.env)
    notes.cited = True
    token.meta["cite"] = notes.place(start)


def _bound(token: Token, state: StateInline, start: int) -> None:
    """Drop the addresses of links once they would make the page many times its source."""
    notes = notes_of(state.env)
    for value in token.attrs.values():
        notes.expanded_chars += len(str(value))
    if notes.expanded_chars < _EXPANDED_CHARS_FREE:
        return
    if not notes.expanded_chars_max:
        source_chars = sum(map(len, notes.lines))
        notes.expanded_chars_max = max(_EXPANDED_CHARS_FREE, _EXPANDED_TIMES_MAX * source_chars)
    if notes.expanded_chars > notes.expanded_chars_max:
        if not notes.flooded:
            notes.flooded = True
            notes.add(
                "EQ024",
                notes.place(start),
                f"the addresses of this page's links come to more than "
                f"{notes.expanded_chars_max} characters",
                "use shorter addresses in link reference definitions",
            )
        token.attrs = {"src": "", "alt": ""} if token.type == "image" else {}
