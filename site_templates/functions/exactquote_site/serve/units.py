"""Cuts what a model writes, piece by piece, into units that are judged each as a whole.

A unit is a word without its URL, a stretch of space, one other character, the passage that a
token cites, or None for what is dropped: tokens that can't be resolved, and look-alikes.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field

from exactquote_site.serve.disguises import readings, visible
from exactquote_site.serve.links import LINK_REMOVED, without_links
from exactquote_site.serve.lookalikes import (
    BODY,
    BROKEN_HEAD,
    CLOSER,
    CLOSERS,
    HALF_HEAD,
    HALF_NAMED,
    HALF_TOKEN,
    HEAD,
    LOOSE_BODY,
    NAMED,
    OPENERS,
    STARTS,
    find_id,
    is_bare_token,
)
from exactquote_site.wire.allowlist import Entry
from exactquote_site.wire.tokens import DOC_CHARS_MAX, PASSAGE_CHARS_MAX, is_id

LOST_MAX = 20
LOST_CHARS_MAX = 200
_PASSAGE_END = re.compile(r"\]\](?!\])|\[\[cite:")
_TOKEN_START = "[[cite:"
# Scripts that write no spaces are no part of a URL as models write them, and must stream.
# Their stops and the full-width forms of ASCII are: browsers take those for the plain ones.
_UNSPACED = (
    "\u0e00-\u109f\u1780-\u17ff\u2e80-\u3001\u3003-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f"
    "\uff00\uff5f\uff60\uff62-\uffef"
)
# Longer is no word, and goes as a whole: what is cut could hide something across the cut.
WORD_CHARS_MAX = 512
_WORD = re.compile(rf"[^\s\"'`´|\\{OPENERS}{CLOSERS}{_UNSPACED}]*")
_SPACE = re.compile(r"\s+")

Unit = str | Entry | None
_Decided = tuple[int, Unit] | None


@dataclass
class UnitReader:
    """Reads one answer. The units are the same wherever its pieces were cut.

    `given` are the passages that tokens may cite, `known` the ids of the whole site.
    """

    given: Mapping[str, Entry]
    known: Container[str] = frozenset()
    dropped: int = 0
    lost: list[str] = field(default_factory=list)
    links_removed: int = 0
    _last: str = ""
    _held: str = ""
    # How far what is held was searched in vain, and the character that stood before it.
    _searched: int = 0
    _prior: str = ""
    _overlong: bool = False

    def units(self, piece: str) -> Iterator[Unit]:
        """The units that are decided now that this piece was written."""
        seen = visible(self._last + piece)
        self._held += seen[len(self._last) :]
        self._last = seen[-1:]
        return self._decided(final=False)

    def rest(self) -> Iterator[Unit]:
        """The units that are left, when nothing follows."""
        return self._decided(final=True)

    def _decided(self, final: bool) -> Iterator[Unit]:
        """Take from what is held every unit that is decided; None stands for a dropped one."""
        held, at = self._held, 0
        while at < len(held):
            if self._overlong:
                at = _word_end(held, at)
                self._overlong = at == len(held)
                self._prior = held[at - 1]
                continue
            decided = self._unit(held, at, final)
            if decided is None:
                break
            at, unit = decided
            self._searched = 0
            yield unit
            self._prior = held[at - 1]
        self._held = held[at:]

    def _unit(self, held: str, at: int, final: bool) -> _Decided:
        """Where the next unit ends, and the unit; None while that is undecided."""
        if STARTS.match(held, at):
            return self._bracket(held, at, final)
        space = _SPACE.match(held, at)
        if space is not None:
            return space.end(), space[0]
        end = _word_end(held, max(at, self._searched))
        return self._word(held, at, end, final) if end > at else (at + 1, held[at])

    def _bracket(self, held: str, at: int, final: bool) -> _Decided:
        half = HALF_HEAD.fullmatch(held, at)
        if not final and (half or HALF_NAMED.fullmatch(held, at)):
            return None
        head = HEAD.match(held, at)
        if head is not None:
            return self._token(held, at, head, final)
        named = NAMED.match(held, at)
        if named is not None and (named[1] in self.given or named[1] in self.known):
            return self._drop(named.end())
        broken = BROKEN_HEAD.match(held, at)
        if broken is not None:
            return self._drop(broken.end())
        if half and HALF_TOKEN.match(held, at):
            return self._drop(len(held))
        return at + 1, held[at]

    def _word(self, held: str, at: int, end: int, final: bool) -> _Decided:
        if end - at > WORD_CHARS_MAX:
            self._overlong = True
            self.links_removed += 1
            return end, LINK_REMOVED
        if end == len(held) and not final:
            self._searched = end - at
            return None
        word, behind = held[at:end], held[end : end + 1]
        read = readings(word)
        # A quote behind it may end the word, as in "cite:", which is the name of a thing.
        glued = behind if behind.isalnum() or STARTS.match(behind) else ""
        if any(is_bare_token(each + glued) for each in read):
            return self._drop(end)
        place = find_id(word, self.given, self.known)
        if place is not None:
            start, stop = place
            if start == 0:
                return self._drop(at + stop)
            # What stands before the id is a word of its own; the id comes next.
            word, end, behind = word[:start], at + start, ""
        elif any(find_id(each, self.given, self.known) for each in read[1:]):
            return self._drop(end)
        text, removed = without_links(word, self._prior, behind)
        self.links_removed += removed
        return end, text

    def _token(self, held: str, at: int, head: re.Match[str], final: bool) -> _Decided:
        openers = "".join(re.findall(f"[{OPENERS}]", head["open"] or head["double"]))
        opened = len(openers)
        if opened > 2 and openers.endswith("[["):
            # In `([[cite:x]])` the outer brackets are text.
            return at + 1, held[at]
        exact = held.startswith(_TOKEN_START, at)
        body = (BODY if exact else LOOSE_BODY).match(held, head.end())
        assert body is not None
        end = body.end()
        if end == len(held) and len(body[0]) < DOC_CHARS_MAX:
            return self._drop(end) if final else None
        if exact and held.startswith("|", end):
            return self._pair(held, at, head.end(), end, final)
        close, closed = end, 0
        while closed < opened and (closer := CLOSER.match(held, close)):
            close, closed = closer.end(), closed + 1
        if closed < opened and held[close:] in ("", "\\") and not final:
            return None
        if not closed:
            # Never closed: the mark goes, and what follows it is text like any other.
            return self._drop(head.end() + len(_first_word(body[0])))
        if exact and held.startswith("]]", end) and is_id(body[0]):
            return close, self._found(self.given.get(body[0]), body[0])
        return self._drop(close)

    def _pair(self, held: str, at: int, start: int, bar: int, final: bool) -> _Decided:
        limit = bar + 1 + PASSAGE_CHARS_MAX
        end = _PASSAGE_END.search(held, max(bar + 1, self._searched), limit)
        if end is None or end.end() >= len(held):
            if not final and len(held) <= limit:
                self._searched = max(0, len(held) - at - len(_TOKEN_START))
                return None
            if end is None:
                return self._drop(min(limit, len(held)))
        if end[0] != "]]":
            return self._drop(end.start())
        doc, passage = held[start:bar], held[bar + 1 : end.start()]
        return end.end(), self._found(self._of_pair(doc, passage), f"{doc}|{passage}")

    def _of_pair(self, doc: str, passage: str) -> Entry | None:
        """The one passage given that the pair names, if it is exactly one."""
        wanted = passage.split()
        entries = (entry for entry in self.given.values() if entry.doc == doc)
        found = [entry for entry in entries if entry.quote.split() == wanted]
        return found[0] if len(found) == 1 else None

    def _found(self, entry: Entry | None, named: str) -> Entry | None:
        if entry is None:
            self.dropped += 1
            if len(self.lost) < LOST_MAX:
                self.lost.append(named[:LOST_CHARS_MAX])
        return entry

    def _drop(self, end: int) -> tuple[int, None]:
        self.dropped += 1
        return end, None


def _word_end(held: str, at: int) -> int:
    word = _WORD.match(held, at)
    return word.end() if word else at


def _first_word(body: str) -> str:
    words = body.split(maxsplit=1)
    return body[: body.index(words[0]) + len(words[0])] if words else ""
