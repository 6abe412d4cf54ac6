"""Keeps mail until it was certainly handed over: stored first, claimed, sent, marked.

A claim is a lease: when its holder dies, the mail is due again. Between the server's 250 and
the mark lies a moment in which a crash makes the mail go out twice; none makes it go lost.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from exactquote_site.serve.store.database import Database, text_in, whole_in

# The wait before another attempt doubles from one to the other.
_FIRST_WAIT_SECONDS = 30.0
_WAIT_SECONDS_MAX = 3_600.0


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail to the owner that is held by one claim; `attempts` counts this one."""

    id: str
    body: str
    attempts: int
    claim: str


class Outbox:
    """The mail in a store; one letter for each session."""

    def __init__(self, database: Database) -> None:
        """Mail is kept in the tables of this store."""
        self._database = database

    def put(self, session: str, body: str, now: float) -> bool:
        """Store a letter; False when this session has one already. Raises `StoreDown`."""
        with self._database.transaction() as transaction:
            made = transaction.execute(
                "INSERT INTO lead (id, session, at, body, state, claimed, lease, attempts, due)"
                " VALUES (?, ?, ?, ?, 'waiting', '', 0, 0, ?)"
                " ON CONFLICT (session) DO NOTHING RETURNING id",
                (uuid.uuid4().hex, session, now, body, now),
            )
        return bool(made)

    def claim(self, now: float, lease_seconds: float) -> Letter | None:
        """A letter that is due, held until the lease ends; None when there is none."""
        with self._database.transaction() as transaction:
            rows = transaction.execute(
                "SELECT id, body, attempts, claimed FROM lead WHERE state = 'waiting'"
                " AND due <= ? AND lease <= ? ORDER BY due, id LIMIT 1",
                (now, now),
            )
            if not rows:
                return None
            id, body, former = (
                text_in(rows[0][at], "lead", name)
                for at, name in ((0, "id"), (1, "body"), (3, "claimed"))
            )
            attempts = whole_in(rows[0][2], "lead", "attempts")
            claim = uuid.uuid4().hex
            won = transaction.execute(
                "UPDATE lead SET claimed = ?, lease = ?, attempts = attempts + 1"
                " WHERE id = ? AND state = 'waiting' AND claimed = ? RETURNING id",
                (claim, now + lease_seconds, id, former),
            )
        return Letter(id, body, attempts + 1, claim) if won else None

    def sent(self, letter: Letter) -> bool:
        """Mark it as handed over, whose words are kept no longer.

        False when the lease ran out and another holds it now.
        """
        with self._database.transaction() as transaction:
            marked = transaction.execute(
                "UPDATE lead SET state = 'sent', body = '', lease = 0 WHERE id = ? AND claimed = ?"
                " AND state = 'waiting' RETURNING id",
                (letter.id, letter.claim),
            )
        return bool(marked)

    def failed(self, letter: Letter, now: float) -> None:
        """Give it back to be tried again, later each time; it is never given up."""
        wait = min(_FIRST_WAIT_SECONDS * 2 ** min(letter.attempts - 1, 20), _WAIT_SECONDS_MAX)
        with self._database.transaction() as transaction:
            transaction.execute(
                "UPDATE lead SET claimed = '', lease = 0, due = ? WHERE id = ? AND claimed = ?"
                " AND state = 'waiting'",
                (now + wait, letter.id, letter.claim),
            )

    def counts(self) -> dict[str, int]:
        """How many letters wait and how many were sent."""
        with self._database.transaction() as transaction:
            rows = transaction.execute("SELECT state, COUNT(*) FROM lead GROUP BY state")
        return {"waiting": 0, "sent": 0} | {str(state): int(count) for state, count in rows}
