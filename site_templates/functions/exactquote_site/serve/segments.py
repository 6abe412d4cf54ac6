"""Turns what a model writes, piece by piece, into segments that may be shown.

A segment is plain text or a citation. A cite token becomes a citation when its passage was
given in this request; every other token, half token and look-alike is dropped and counted.
URLs become `[link removed]`. What is shown doesn't depend on where the pieces were cut: a
stretch is shown only once nothing that may still follow can change how it reads. Time is linear
in what was written, and what is held back of ordinary text is a word.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby

from exactquote_site.serve.refusing import Refusal, RefusalWatch, refusals_of
from exactquote_site.serve.units import Unit, UnitReader
from exactquote_site.wire.allowlist import Entry

_SPACE_CHARS_MAX = 64
_TIGHT = frozenset(".,;:!?…)]}")


@dataclass(frozen=True, slots=True)
class Text:
    """Words of the model, to be shown as they are: never as HTML or Markdown."""

    text: str


@dataclass(frozen=True, slots=True)
class Cite:
    """A citation of a passage that was given, numbered from 1 by first mention."""

    entry: Entry
    number: int


Segment = Text | Cite


@dataclass
class Resolver:
    """Resolves one answer against the passages that were given for it.

    `known` are the ids of the whole site, given or not: none of them is shown as a word.
    `refusals` are the sentence in all its languages. Where the model says it, however it wraps
    it, its words end and `refused` tells so: the server alone writes that sentence, and once.
    """

    given: Mapping[str, Entry]
    refusals: tuple[str, ...] = ()
    known: Container[str] = frozenset()
    numbers: dict[str, int] = field(default_factory=dict)
    _reader: UnitReader = field(init=False)
    _watch: RefusalWatch[Entry] = field(init=False)
    _before: str = ""
    _space: str = ""
    _gap: bool = False
    _begun: bool = False

    def __post_init__(self) -> None:
        """Each refusal is looked for as it would be shown."""
        self._reader = UnitReader(self.given, self.known)
        self._watch = RefusalWatch(_as_shown(self.refusals))

    @property
    def cited(self) -> tuple[Entry, ...]:
        """The passages that were cited, by first mention."""
        return tuple(self.given[id] for id in self.numbers)

    @property
    def refused(self) -> bool:
        """Whether the model said the refusal."""
        return self._watch.found

    @property
    def dropped(self) -> int:
        """How many tokens and look-alikes weren't shown."""
        return self._reader.dropped

    @property
    def lost(self) -> tuple[str, ...]:
        """What the well-formed tokens among the dropped named, for the owner to look at."""
        return tuple(self._reader.lost)

    @property
    def links_removed(self) -> int:
        """How many words weren't shown for a URL in them."""
        return self._reader.links_removed

    def feed(self, piece: str) -> list[Segment]:
        """What can be shown now that this piece was written."""
        return [] if self.refused else self._shown(self._reader.units(piece))

    def finish(self) -> list[Segment]:
        """What is left to show when nothing follows."""
        return self._shown(self._reader.rest(), final=True)

    def _shown(self, units: Iterable[Unit], final: bool = False) -> list[Segment]:
        parts: list[str | Entry] = []
        if not self.refused:
            for part in self._closed_up(units):
                parts += self._watch.passed(part)
                if self.refused:
                    break
        if final:
            parts += self._watch.finish()
        return _joined(part if isinstance(part, str) else self._cite(part) for part in parts)

    def _cite(self, entry: Entry) -> Cite:
        return Cite(entry, self.numbers.setdefault(entry.id, len(self.numbers) + 1))

    def _closed_up(self, units: Iterable[Unit]) -> Iterator[str | Entry]:
        """Close the gaps that dropped tokens left."""
        for unit in units:
            if unit is None:
                self._before = self._before or self._space
                self._space = ""
                self._gap = True
            elif not isinstance(unit, str):
                yield self._lead()
                self._begun = True
                yield unit
            elif unit.isspace():
                self._space = (self._space + unit)[:_SPACE_CHARS_MAX]
            else:
                # What stood on both sides of a dropped token must not close up to a word,
                # which could be a token or a URL that nobody has looked at.
                parted = " " if self._gap and self._begun else ""
                tight = self._gap and _TIGHT.issuperset(unit)
                lead = self._lead() or parted
                self._begun = True
                yield unit if tight else lead + unit

    def _lead(self) -> str:
        """The white space before the next unit; on both sides of a dropped one it is one gap."""
        lead = self._space if "\n" in self._space else self._before or self._space
        self._before = self._space = ""
        self._gap = False
        return lead


# A site has one set of sentences.
@lru_cache(maxsize=8)
def _as_shown(sentences: tuple[str, ...]) -> tuple[Refusal, ...]:
    told = []
    for sentence in sentences:
        resolver = Resolver({})
        segments = [*resolver.feed(sentence), *resolver.finish()]
        told.append("".join(segment.text for segment in segments if isinstance(segment, Text)))
    return refusals_of(told)


def _joined(parts: Iterable[str | Cite]) -> list[Segment]:
    """The parts as segments, with neighbouring texts put together and no empty ones."""
    segments: list[Segment] = []
    for texts, group in groupby(parts, key=lambda part: isinstance(part, str)):
        if not texts:
            segments += (part for part in group if isinstance(part, Cite))
        elif text := "".join(part for part in group if isinstance(part, str)):
            segments.append(Text(text))
    return segments
