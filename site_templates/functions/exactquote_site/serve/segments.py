"""Turns what a model writes, piece by piece, into segments that may be shown.

A segment is plain text or a citation. A cite token becomes a citation when its passage was
given in this request; every other token, half token and look-alike is dropped and counted.
URLs become `[link removed]`. What is shown doesn't depend on where the pieces were cut: a
stretch is shown only once nothing that may still follow can change how it reads.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from exactquote_site.serve.links import without_links
from exactquote_site.wire.allowlist import Entry
from exactquote_site.wire.tokens import DOC_CHARS_MAX, PASSAGE_CHARS_MAX, is_id

LOST_MAX = 20
LOST_CHARS_MAX = 200
# What a reader or a model takes for a bracket; only `[[cite:…]]` itself is ever resolved.
_OPENERS = re.escape("[({<［（｛＜【〖〔〘〚「『⟦⟨⟪⁅«")
_CLOSERS = re.escape("])}>］）｝＞】〗〕〙〛」』⟧⟩⟫⁆»")
_BRACKETS_MAX = 8
_COLON = "[:：﹕︓꞉∶]"
# The letters of "cite" with their full-width, Cyrillic and Roman-numeral doubles.
_C, _I, _T, _E = "[cCｃＣсСⅽϲ]", "[iIｉＩіІıİⅰ]", "[tTｔＴтТ]", "[eEｅＥеЕ]"
_OPEN = rf"(?:\\?[{_OPENERS}]){{1,{_BRACKETS_MAX}}}"
_CITE = f"{_C}{_I}{_T}{_E}"
# In double brackets the word alone is enough to look like a token.
_HEAD = re.compile(
    rf"(?P<open>{_OPEN})\s{{0,8}}{_CITE}\s{{0,8}}{_COLON}"
    rf"|(?P<double>(?:\\?\[){{2}})\s{{0,8}}{_CITE}(?![^\W_])"
)
_HALF_HEAD = re.compile(
    rf"(?:{_OPEN})?\\?|{_OPEN}\s{{0,8}}(?:{_C}(?:{_I}(?:{_T}(?:{_E}\s{{0,8}})?)?)?)?"
)
# A token that another one stands in the middle of.
_BROKEN_HEAD = re.compile(rf"(?:\\?\[){{2}}\s{{0,8}}{_C}{_I}(?:{_T}{_E}?)?(?=[\\{_OPENERS}])")
# What an answer that was cut off must not end with; a lone bracket may be meant.
_HALF_TOKEN = re.compile(rf"\[\[|(?:{_OPEN})\s{{0,8}}{_C}{_I}")
_BODY = re.compile(rf"[^|\r\n\[{_CLOSERS}]{{0,{DOC_CHARS_MAX}}}")
_LOOSE_BODY = re.compile(rf"[^\r\n\[{_CLOSERS}]{{0,{DOC_CHARS_MAX}}}")
_CLOSER = re.compile(rf"\\?[{_CLOSERS}]")
_PASSAGE_END = re.compile(r"\]\](?!\])|\[\[cite:")
_TOKEN_START = "[[cite:"
# Scripts that write no spaces are no part of a URL as models write them, and must stream.
# Their stops and the full-width forms of ASCII are: browsers take those for the plain ones.
_UNSPACED = (
    "\u0e00-\u0eff\u1780-\u17ff\u2e80-\u3001\u3003-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f"
    "\uff00\uff5f\uff60\uff62-\uffef"
)
_WORD_CHARS_MAX = 2_048
_WORD = re.compile(rf"[^\s\"'`´|\\{_OPENERS}{_CLOSERS}{_UNSPACED}]{{1,{_WORD_CHARS_MAX}}}")
_SPACE = re.compile(r"\s+")
# Controls, and what Unicode calls default-ignorable: they could hide a token from these
# rules. Joiners and U+FE0F stay where scripts and emoji need them, which is not behind ASCII.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff]"
)
_JOINER_BEHIND_ASCII = re.compile("(?<=[\x00-\x7f])[\u200c\u200d\ufe0f]+")
# An encoded bracket ends with "5b", in whichever encoding.
_BARE_TOKEN = re.compile(rf"(?:(?<![^\W_])|(?<=5[bB])){_CITE}{_COLON}\S")
_GENERATED_ID = re.compile(r"(?<![^\W_])p[a-z2-7]{8,}(?![\w-])")
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
    `lost` holds the well-formed tokens among the dropped, for the owner to look at. Each of the
    `refusals`, the sentence in all its languages, is taken out of the model's words wherever it
    stands, and `refused` tells that one was there: the server alone writes that sentence.
    """

    given: Mapping[str, Entry]
    refusals: tuple[str, ...] = ()
    known: Container[str] = frozenset()
    numbers: dict[str, int] = field(default_factory=dict)
    dropped: int = 0
    lost: list[str] = field(default_factory=list)
    links_removed: int = 0
    refused: bool = False
    _last: str = ""
    _held: str = ""
    _before: str = ""
    _space: str = ""
    _tail: str = ""
    _gap: bool = False
    _seam: bool = False
    _begun: bool = False

    @property
    def cited(self) -> tuple[Entry, ...]:
        """The passages that were cited, by first mention."""
        return tuple(self.given[id] for id in self.numbers)

    def feed(self, piece: str) -> list[Segment]:
        """What can be shown now that this piece was written."""
        seen = visible(self._last + piece)
        self._held += seen[len(self._last) :]
        self._last = seen[-1:]
        return _joined(self._told(self._units(final=False)))

    def finish(self) -> list[Segment]:
        """What is left to show when nothing follows."""
        segments = [*self._told(self._units(final=True)), Text(self._after_seam(self._tail))]
        self._tail = ""
        return _joined(segments)

    def _told(self, units: Iterable[Segment | None]) -> Iterator[Segment]:
        """Close the gaps that dropped tokens left, and take the refusal out."""
        for unit in units:
            if unit is None:
                self._before = self._before or self._space
                self._space = ""
                self._gap = True
            elif isinstance(unit, Cite):
                yield Text(self._after_seam(self._tail + self._lead()))
                self._tail = ""
                self._seam = False
                self._begun = True
                yield unit
            elif unit.text.isspace():
                self._space += unit.text
            else:
                tight = self._gap and _TIGHT.issuperset(unit.text)
                # What stood on both sides of a dropped token must not close up to a word,
                # which could be a token or a URL that nobody has looked at.
                parted = " " if self._gap and self._begun else ""
                lead = self._lead() or parted
                self._tail += unit.text if tight else lead + unit.text
                self._begun = True
                yield Text(self._decided())

    def _lead(self) -> str:
        """The white space before the next unit; on both sides of a dropped one it is one gap."""
        lead = self._space if "\n" in self._space else self._before or self._space
        self._before = self._space = ""
        self._gap = False
        return lead

    def _decided(self) -> str:
        """The part of the tail that can be no part of a refusal any more."""
        told, rest = "", self._tail
        while rest:
            starts = (at for sentence in self.refusals if (at := rest.find(sentence[0])) >= 0)
            at = min(starts, default=len(rest))
            told, rest = told + self._after_seam(rest[:at]), rest[at:]
            length = min((len(s) for s in self.refusals if rest.startswith(s)), default=0)
            if length:
                self.refused = self._seam = True
            elif any(sentence.startswith(rest) for sentence in self.refusals):
                break
            else:
                told, length = told + self._after_seam(rest[:1]), 1
            rest = rest[length:]
        self._tail = rest
        return told

    def _after_seam(self, text: str) -> str:
        """The text, kept apart from what stood before a sentence that was taken out."""
        if not text or not self._seam:
            return text
        self._seam = False
        return text if text[0].isspace() else f" {text}"

    def _units(self, final: bool) -> Iterator[Segment | None]:
        """Take from what is held every unit that is decided; None stands for a dropped one."""
        held, at = self._held, 0
        while at < len(held):
            decided = self._unit(held, at, final)
            if decided is None:
                break
            at, unit = decided
            yield unit
        self._held = held[at:]

    def _unit(self, held: str, at: int, final: bool) -> tuple[int, Segment | None] | None:
        """Where the next unit ends, and the unit; None while that is undecided."""
        space = _SPACE.match(held, at)
        if space is not None:
            return space.end(), Text(space[0])
        head = _HEAD.match(held, at)
        if head is not None:
            return self._token(held, at, head, final)
        word = _WORD.match(held, at)
        if word is not None:
            if word.end() == len(held) and not final and len(word[0]) < _WORD_CHARS_MAX:
                return None
            return self._word(word, held[word.end() : word.end() + 1])
        broken = _BROKEN_HEAD.match(held, at)
        if broken is not None:
            return self._drop(broken.end())
        if _HALF_HEAD.fullmatch(held, at):
            if not final:
                return None
            if _HALF_TOKEN.match(held, at):
                return self._drop(len(held))
        return at + 1, Text(held[at])

    def _word(self, found: re.Match[str], behind: str) -> tuple[int, Segment | None]:
        """A word, or what stands of it before an id; `behind` is the character after it."""
        word, end = found[0], found.end()
        if _BARE_TOKEN.search(word):
            return self._drop(end)
        for id in _GENERATED_ID.finditer(word):
            if id[0] not in self.given and id[0] not in self.known:
                continue
            if id.start() == 0:
                return self._drop(found.start() + id.end())
            word, end = word[: id.start()], found.start() + id.start()
            break
        # Of a word that is cut for its length, what is behind isn't always known yet.
        glued = len(word) < _WORD_CHARS_MAX and behind.strip() != ""
        text, removed = without_links(word, glued)
        self.links_removed += removed
        return end, Text(text)

    def _token(
        self, held: str, at: int, head: re.Match[str], final: bool
    ) -> tuple[int, Segment | None] | None:
        brackets = head["open"] or head["double"]
        opened = len(brackets.replace("\\", ""))
        if opened > 2 and brackets.endswith("[["):
            # In `([[cite:x]])` the outer brackets are text.
            return at + 1, Text(held[at])
        exact = held.startswith(_TOKEN_START, at)
        body = (_BODY if exact else _LOOSE_BODY).match(held, head.end())
        assert body is not None
        end = body.end()
        if end == len(held) and len(body[0]) < DOC_CHARS_MAX:
            return self._drop(end) if final else None
        if exact and held.startswith("|", end):
            return self._pair(held, head.end(), end, final)
        close, closed = end, 0
        while closed < opened and (closer := _CLOSER.match(held, close)):
            close, closed = closer.end(), closed + 1
        if closed < opened and held[close:] in ("", "\\") and not final:
            return None
        if not closed:
            # Never closed: the mark goes, and what follows it is text like any other.
            return self._drop(head.end() + len(_first_word(body[0])))
        if exact and held.startswith("]]", end) and is_id(body[0]):
            return close, self._cite(self.given.get(body[0]), body[0])
        return self._drop(close)

    def _pair(
        self, held: str, start: int, bar: int, final: bool
    ) -> tuple[int, Segment | None] | None:
        limit = bar + 1 + PASSAGE_CHARS_MAX
        end = _PASSAGE_END.search(held, bar + 1, limit)
        if end is None or end.end() >= len(held):
            if not final and len(held) <= limit:
                return None
            if end is None:
                return self._drop(min(limit, len(held)))
        if end[0] != "]]":
            return self._drop(end.start())
        doc, passage = held[start:bar], held[bar + 1 : end.start()]
        return end.end(), self._cite(self._of_pair(doc, passage), f"{doc}|{passage}")

    def _of_pair(self, doc: str, passage: str) -> Entry | None:
        """The one passage given that the pair names, if it is exactly one."""
        wanted = passage.split()
        entries = (entry for entry in self.given.values() if entry.doc == doc)
        found = [entry for entry in entries if entry.quote.split() == wanted]
        return found[0] if len(found) == 1 else None

    def _cite(self, entry: Entry | None, named: str) -> Cite | None:
        if entry is None:
            self.dropped += 1
            if len(self.lost) < LOST_MAX:
                self.lost.append(named[:LOST_CHARS_MAX])
            return None
        return Cite(entry, self.numbers.setdefault(entry.id, len(self.numbers) + 1))

    def _drop(self, end: int) -> tuple[int, None]:
        self.dropped += 1
        return end, None


def visible(text: str) -> str:
    """A text without characters that nobody sees and that could hide a token or a mark."""
    return _JOINER_BEHIND_ASCII.sub("", _UNSEEN.sub("", text))


def _first_word(body: str) -> str:
    words = body.split(maxsplit=1)
    return body[: body.index(words[0]) + len(words[0])] if words else ""


def _joined(segments: Iterable[Segment]) -> list[Segment]:
    """The segments with neighbouring texts put together, and no empty ones."""
    joined: list[Segment] = []
    for segment in segments:
        if isinstance(segment, Text):
            if not segment.text:
                continue
            last = joined[-1] if joined else None
            if isinstance(last, Text):
                joined[-1] = Text(last.text + segment.text)
                continue
        joined.append(segment)
    return joined
