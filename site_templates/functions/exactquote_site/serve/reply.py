"""Turns the JSON that a model writes, piece by piece, into the words of its answer."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field

import jiter
import msgspec


class Reply(msgspec.Struct, frozen=True):
    """The structured output of the model."""

    answer: str
    answered: bool
    sources: list[str]


@dataclass
class ReplyReader:
    """Reads one reply. What it gives doesn't depend on where the pieces were cut."""

    _raw: str = ""
    _read: str = ""
    # Some endpoints cut a pair of surrogates in two; the second half completes the first.
    _pairs: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-16-le")("replace")
    )

    def feed(self, piece: str) -> str:
        """The words of the answer that this piece adds, as far as they are certain."""
        self._raw += self._pairs.decode(piece.encode("utf-16-le", "surrogatepass"))
        answer = _answer_so_far(self._raw)
        if len(answer) <= len(self._read) or not answer.startswith(self._read):
            return ""
        added = answer[len(self._read) :]
        self._read = answer
        return added

    def finish(self) -> tuple[str, Reply] | None:
        """The words that are left, and the reply; None if it isn't the JSON that was asked for,
        or reads otherwise now than it did while it was written.
        """
        raw = self._raw + self._pairs.decode(b"", final=True)
        try:
            # Of an answer that is there twice, the first was shown already.
            value = jiter.from_json(raw.encode("utf-8"), catch_duplicate_keys=True)
            reply = msgspec.convert(value, Reply, strict=True)
        except (ValueError, msgspec.ValidationError):
            return None
        if not reply.answer.startswith(self._read):
            return None
        return reply.answer[len(self._read) :], reply


def _answer_so_far(raw: str) -> str:
    """The answer as far as it was written; "" while that can't be told."""
    try:
        value = jiter.from_json(raw.encode("utf-8"), partial_mode="trailing-strings")
    except ValueError:
        return ""
    answer = value.get("answer") if isinstance(value, dict) else None
    return answer if isinstance(answer, str) else ""
