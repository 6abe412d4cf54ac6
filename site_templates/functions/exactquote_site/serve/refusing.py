"""Finds the refusal sentence in what would be shown, however it is spaced, accented or wrapped."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from exactquote_site.serve.disguises import MARKS, without_marks

T = TypeVar("T")

_ATOM = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}])*|[\W_]+")
_ENDS_SENTENCE = re.compile(r"[.!?…。！？｡]|\n\s*\n")
# What may stand around a sentence and says nothing: space, brackets, quotes, marks of Markdown.
_WRAPPING = re.compile(r"[\s\"'`´“”„‚‘’‹›«»<>*_#~|+=\\/\[({【「『（［｛-]*")
_WRAPS_MAX = 16


@dataclass(frozen=True, slots=True)
class Refusal:
    """The letters and digits of a refusal, and whether a mark ends it."""

    letters: str
    closed: bool


def refusals_of(sentences: Iterable[str]) -> tuple[Refusal, ...]:
    """The sentences as they are looked for: marks, case and all that is no letter are skipped."""
    made = (
        Refusal(_letters(one), bool(_ENDS_SENTENCE.search(one.rstrip()[-2:]))) for one in sentences
    )
    return tuple(refusal for refusal in made if refusal.letters)


@dataclass
class _Begun:
    """A refusal that what is held may turn out to be, from a part of it on."""

    refusal: Refusal
    start: int
    matched: int = 0


@dataclass
class RefusalWatch(Generic[T]):
    """Passes on what is no refusal and holds what may be one; `found` tells that one was there.

    What goes through is text, or anything else that stands between words. From the refusal on
    nothing is passed, so that nothing can be glued to it: there is no more to say.
    """

    refusals: tuple[Refusal, ...]
    found: bool = False
    _held: list[str | T] = field(default_factory=list)
    _begun: list[_Begun] = field(default_factory=list)
    # How many atoms at the end of what is held would wrap a word that follows.
    _wraps: int = 0

    def passed(self, part: str | T) -> list[str | T]:
        """What is certain to be no part of a refusal now that this followed."""
        if self.found:
            return []
        for atom in _ATOM.findall(part) if isinstance(part, str) else (part,):
            if not isinstance(atom, str):
                self._wraps = 0
            elif atom[0].isalnum():
                self._advance(_letters(atom))
                self._wraps = 0
                self._close(b.start for b in self._begun if _is_whole(b) and not b.refusal.closed)
            else:
                self._wraps = min(self._wraps + 1, _WRAPS_MAX) if _WRAPPING.fullmatch(atom) else 0
                if _ENDS_SENTENCE.search(atom):
                    self._close(b.start for b in self._begun if _is_whole(b))
            if self.found:
                return self._release(len(self._held))
            self._held.append(atom)
        wrapped = len(self._held) - self._wraps
        return self._release(min((b.start for b in self._begun), default=wrapped))

    def finish(self) -> list[str | T]:
        """What is left, when nothing follows."""
        self._close(begun.start for begun in self._begun if _is_whole(begun))
        return self._release(len(self._held))

    def _advance(self, word: str) -> None:
        if not word:
            return
        # What wraps the word goes with it.
        start = len(self._held) - self._wraps
        new = (_Begun(refusal, start) for refusal in self.refusals)
        going = [b for b in (*self._begun, *new) if b.refusal.letters.startswith(word, b.matched)]
        for begun in going:
            begun.matched += len(word)
        self._begun = going

    def _close(self, starts: Iterable[int]) -> None:
        start = min(starts, default=None)
        if start is not None:
            self.found = True
            del self._held[start:]

    def _release(self, until: int) -> list[str | T]:
        if not until:
            return []
        released, self._held = self._held[:until], self._held[until:]
        for begun in self._begun:
            begun.start -= until
        return released


def _is_whole(begun: _Begun) -> bool:
    return begun.matched == len(begun.refusal.letters)


def _letters(text: str) -> str:
    if text.isascii():
        return "".join(char for char in text.lower() if char.isalnum())
    folded = without_marks(unicodedata.normalize("NFKD", text)).casefold()
    return "".join(char for char in folded if char.isalnum())
