"""Keeps what was asked and what came of it, as far as the owner said that it may be kept.

Figures are kept of every exchange. Its words are kept when conversations are; and a question
that ended in the refusal sentence is kept as a gap, which is what the sentence is for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from exactquote_site.serve.store.database import (
    LAST_SECOND,
    Damaged,
    Database,
    Row,
    Transaction,
    number_in,
    text_in,
    whole_in,
)
from exactquote_site.wire.tokens import is_made_id

DAY_SECONDS = 86_400.0

_TABLE = "exchange"
_COLUMNS = (
    "id, at, session, build_id, language, kind, outcome, question, answer, found, cited, lost, cost"
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One question and its answer; `found` are the documents that retrieval gave, best first.

    `at` is in seconds since 1970, `cost` in nano-dollars; `cited` are ids of passages and
    `lost` the tokens that named none. Words that aren't kept are None.
    """

    id: str
    at: float
    session: str | None
    build_id: str
    language: str
    kind: str
    outcome: str
    question: str | None
    answer: str | None
    found: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    cost: int = 0


@dataclass(frozen=True, slots=True)
class Gap:
    """Questions alike that ended in the refusal sentence, with what retrieval had found."""

    question: str
    times: int
    last: float
    found: tuple[str, ...]


def kept_tokens(lost: Sequence[str], words: bool) -> tuple[str, ...]:
    """What may be kept of the tokens that named nothing: without `words`, ids alone.

    A model can write anything between brackets, what the visitor said among it.
    """
    return tuple(token for token in lost if words or is_made_id(token))


class Exchanges:
    """The exchanges of a store."""

    def __init__(self, database: Database) -> None:
        """Exchanges are kept in the tables of this store."""
        self._database = database

    def keep(self, exchange: Exchange) -> None:
        """Keep an exchange; the same id twice is kept once. Raises `StoreDown`."""
        with self._database.transaction() as transaction:
            self.keep_in(transaction, exchange)

    def keep_in(self, transaction: Transaction, exchange: Exchange) -> None:
        """The same, together with what else the transaction does."""
        values = (
            *(exchange.id, exchange.at, exchange.session, exchange.build_id, exchange.language),
            *(exchange.kind, exchange.outcome, exchange.question, exchange.answer),
            *(json.dumps(list(each)) for each in (exchange.found, exchange.cited, exchange.lost)),
            exchange.cost,
        )
        transaction.execute(
            f"INSERT INTO exchange ({_COLUMNS}) VALUES ({', '.join('?' * len(values))})"
            " ON CONFLICT (id) DO NOTHING",
            values,
        )

    def gaps(self, refusals: Sequence[str], since: float = 0.0) -> list[Gap]:
        """The questions whose answer ends with one of the sentences, most asked first.

        Strings are compared and no model is asked. Questions that differ only in case, space
        and closing punctuation are one.
        """
        ended = [exchange for exchange in self.kept(since) if _ends(exchange.answer, refusals)]
        alike: dict[str, list[Exchange]] = {}
        for exchange in ended:
            alike.setdefault(_plain(exchange.question or ""), []).append(exchange)
        gaps = [
            Gap(same[-1].question or "", len(same), same[-1].at, same[-1].found)
            for same in alike.values()
        ]
        return sorted(gaps, key=lambda gap: (-gap.times, -gap.last, gap.question))

    def most_asked(self, count: int, since: float = 0.0) -> list[Gap]:
        """The questions asked most often, of those whose words were kept."""
        alike: dict[str, list[Exchange]] = {}
        for exchange in self.kept(since):
            if exchange.question is not None:
                alike.setdefault(_plain(exchange.question), []).append(exchange)
        asked = [
            Gap(same[-1].question or "", len(same), same[-1].at, same[-1].found)
            for same in alike.values()
        ]
        return sorted(asked, key=lambda one: (-one.times, -one.last, one.question))[:count]

    def unresolved(self, count: int) -> list[Exchange]:
        """The latest exchanges in which a model named passages that it wasn't given."""
        return self._rows(
            f"SELECT {_COLUMNS} FROM exchange WHERE lost <> '[]' ORDER BY at DESC LIMIT ?",
            (count,),
        )

    def kept(self, since: float = 0.0) -> list[Exchange]:
        """Every exchange since a time, oldest first."""
        return self._rows(
            f"SELECT {_COLUMNS} FROM exchange WHERE at >= ? ORDER BY at, id", (since,)
        )

    def outcomes(self, since: float = 0.0) -> dict[str, int]:
        """How many exchanges had each outcome."""
        with self._database.transaction() as transaction:
            rows = transaction.execute(
                "SELECT outcome, COUNT(*) FROM exchange WHERE at >= ? GROUP BY outcome"
                " ORDER BY outcome",
                (since,),
            )
        return {str(outcome): int(count) for outcome, count in rows}

    def forget(self, session: str) -> int:
        """Delete what was kept of one session, its feedback and leads too; how many exchanges."""
        with self._database.transaction() as transaction:
            transaction.execute(
                "DELETE FROM feedback WHERE answer IN (SELECT id FROM exchange WHERE session = ?)",
                (session,),
            )
            transaction.execute("DELETE FROM lead WHERE session = ?", (session,))
            gone = transaction.execute(
                "DELETE FROM exchange WHERE session = ? RETURNING id", (session,)
            )
        self._database.scrub()
        return len(gone)

    def forget_before(self, time: float) -> int:
        """Delete what is older than a time; a lead that wasn't sent yet stays. How many."""
        with self._database.transaction() as transaction:
            transaction.execute("DELETE FROM feedback WHERE at < ?", (time,))
            transaction.execute("DELETE FROM lead WHERE at < ? AND state = 'sent'", (time,))
            gone = transaction.execute("DELETE FROM exchange WHERE at < ? RETURNING id", (time,))
        self._database.scrub()
        return len(gone)

    def forget_all(self) -> int:
        """Delete all that visitors said, mail that wasn't sent yet too; how many exchanges."""
        with self._database.transaction() as transaction:
            transaction.execute("DELETE FROM feedback")
            transaction.execute("DELETE FROM lead")
            gone = transaction.execute("DELETE FROM exchange RETURNING id")
        self._database.scrub()
        return len(gone)

    def _rows(self, statement: str, values: Sequence[object]) -> list[Exchange]:
        with self._database.transaction() as transaction:
            rows = transaction.execute(statement, values)
        return list(_exchanges(rows))


def _exchanges(rows: Sequence[Row]) -> Iterator[Exchange]:
    for row in rows:
        values = dict(zip(_COLUMNS.split(", "), row, strict=True))
        for name in ("id", "build_id", "language", "kind", "outcome"):
            text_in(values[name], _TABLE, name)
        for name in ("session", "question", "answer"):
            if values[name] is not None:
                text_in(values[name], _TABLE, name)
        number_in(values["at"], _TABLE, "at", LAST_SECOND)
        whole_in(values["cost"], _TABLE, "cost")
        values |= {name: _listed(values[name], name) for name in ("found", "cited", "lost")}
        yield Exchange(**values)


def _listed(value: object, column: str) -> tuple[str, ...]:
    try:
        listed = json.loads(text_in(value, _TABLE, column))
    except (ValueError, RecursionError):
        raise Damaged(_TABLE, column) from None
    if not isinstance(listed, list):
        raise Damaged(_TABLE, column)
    return tuple(text_in(one, _TABLE, column) for one in listed)


def _ends(answer: str | None, refusals: Sequence[str]) -> bool:
    return answer is not None and any(
        # A version without a text ends nothing, where every string ends with "".
        refusal and answer.endswith(refusal)
        for refusal in refusals
    )


def _plain(question: str) -> str:
    return " ".join(question.casefold().split()).rstrip("?!. ")
