"""Turns the JSON that a model writes, piece by piece, into the words of its answer."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field

import jiter
import msgspec

from exactquote_site.serve.provider import ProviderFault

# More than the most tokens that can be configured make.
REPLY_CHARS_MAX = 500_000
# An answer that begins later than this isn't shown before it is complete.
_LEAD_CHARS_MAX = 4_096
_ESCAPE_CHARS_MAX = 12
_HEX = "[0-9a-fA-F]"
# As much of a JSON string as is complete; both halves of an escaped pair come together.
_WRITTEN = re.compile(
    rf"""(?: [^"\\\x00-\x1f]++ | \\["\\/bfnrt] | \\u(?![dD][89a-fA-F]){_HEX}{{4}}
      | \\u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}} )*+""",
    re.VERBOSE,
)


class Reply(msgspec.Struct, frozen=True):
    """The structured output of the model."""

    answer: str
    answered: bool
    sources: list[str]


@dataclass
class ReplyReader:
    """Reads one reply, in linear time. What it gives doesn't depend on where pieces were cut."""

    _pieces: list[str] = field(default_factory=list)
    _chars: int = 0
    _read: list[str] = field(default_factory=list)
    # What of the reply isn't read yet: all before the answer's first word, then half escapes.
    _rest: str = ""
    _looked: int = 0
    _begun: bool = False
    _ended: bool = False
    # Some endpoints cut a pair of surrogates in two; the second half completes the first.
    _pairs: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-16-le")("replace")
    )

    def feed(self, piece: str) -> str:
        """The words of the answer that this piece adds, as far as they are certain.

        Raises `ProviderFault` for a reply longer than `REPLY_CHARS_MAX`.
        """
        self._chars += len(piece)
        if self._chars > REPLY_CHARS_MAX:
            raise ProviderFault("broken", "an answer without end")
        text = self._pairs.decode(piece.encode("utf-16-le", "surrogatepass"))
        self._pieces.append(text)
        if self._ended:
            return ""
        self._rest += text
        if not self._begun and not self._begins():
            return ""
        written = _WRITTEN.match(self._rest)
        assert written is not None
        self._rest = self._rest[written.end() :]
        # Behind the answer, or behind what is no JSON, there is nothing more to show.
        self._ended = self._rest[:1] == '"' or len(self._rest) >= _ESCAPE_CHARS_MAX
        added: str = jiter.from_json(f'"{written[0]}"'.encode())
        self._read.append(added)
        return added

    def _begins(self) -> bool:
        """Whether the answer begins in what wasn't read yet, which then begins with it."""
        while not self._ended:
            at = self._rest.find('"', self._looked)
            self._looked = at + 1 if at >= 0 else len(self._rest)
            self._ended = self._looked > _LEAD_CHARS_MAX
            if at < 0:
                return False
            if not self._ended and _has_answer(self._rest[: self._looked]):
                self._begun = True
                self._rest = self._rest[self._looked :]
                return True
        return False

    def finish(self) -> tuple[str, Reply] | None:
        """The words that are left, and the reply; None if it isn't the JSON that was asked for,
        or reads otherwise now than it did while it was written.
        """
        raw = "".join(self._pieces) + self._pairs.decode(b"", final=True)
        read = "".join(self._read)
        try:
            # Of an answer that is there twice, the first was shown already.
            value = jiter.from_json(raw.encode("utf-8"), catch_duplicate_keys=True)
            reply = msgspec.convert(value, Reply, strict=True)
        except (ValueError, msgspec.ValidationError):
            return None
        if not reply.answer.startswith(read):
            return None
        return reply.answer[len(read) :], reply


def _has_answer(raw: str) -> bool:
    """Whether the answer's text has begun in what was written so far."""
    try:
        value = jiter.from_json(raw.encode("utf-8"), partial_mode="trailing-strings")
    except ValueError:
        return False
    return isinstance(value, dict) and isinstance(value.get("answer"), str)
