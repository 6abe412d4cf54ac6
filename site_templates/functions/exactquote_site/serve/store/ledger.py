"""Keeps a day's spending within its limit, whatever processes do at once and wherever they die.

The worst case of a call is reserved before it and settled after it. One conditional update
decides, so no two callers can both have the last cent. A reservation whose process died
expires; one that is settled late still counts what it cost.
"""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from exactquote_site.serve.store.database import (
    Damaged,
    Database,
    Row,
    StoreDown,
    Transaction,
    whole_in,
)

NANO = 1_000_000_000
# Long enough to settle whatever is still running, and to look into what went wrong.
_KEPT_SECONDS = 3 * 86_400
_UNSETTLED_MAX = 10_000

_LATEST_DAY = "SELECT value FROM meta WHERE name = 'day'"
_NEW_DAY = """
INSERT INTO meta (name, value) VALUES ('day', ?) ON CONFLICT (name) DO UPDATE
SET value = CASE WHEN excluded.value > meta.value THEN excluded.value ELSE meta.value END"""
_RESERVE = """
UPDATE budget SET reserved = reserved + ?
WHERE day = ? AND spent + reserved + ? <= ? RETURNING day"""


@dataclass(frozen=True, slots=True)
class Reservation:
    """Money set aside for one call, in nano-dollars, on one day."""

    id: str
    day: str
    amount: int


@dataclass(frozen=True, slots=True)
class Spending:
    """A day's money in nano-dollars: paid, and set aside for calls that are running."""

    day: str
    spent: int
    reserved: int


Along = Callable[[Transaction], None]


@dataclass(frozen=True, slots=True)
class Unsettled:
    """What a call cost that the store couldn't be told at the time; `since` is in seconds."""

    reservation: Reservation
    amount: int
    since: float


class Ledger:
    """The budget of each UTC day. `unsettled` holds what a store that was down didn't take."""

    def __init__(self, database: Database) -> None:
        """Money is counted in the tables of this store."""
        self._database = database
        # What falls out at its end expires, as what a process takes along when it dies.
        self.unsettled: deque[Unsettled] = deque(maxlen=_UNSETTLED_MAX)

    def reserve(
        self, amount: int, limit: int, now: float, lifetime: float = 600.0
    ) -> Reservation | None:
        """Set `amount` aside if the day's `limit` allows it; else None, and nothing changes.

        `now` and `lifetime` are in seconds. Raises `ValueError` for a negative amount and
        `StoreDown`.
        """
        if amount < 0:
            raise ValueError("an amount can't be negative")
        with self._database.transaction() as transaction:
            day = _day(transaction, now)
            _expire(transaction, now)
            if not transaction.execute(_RESERVE, (amount, day, amount, limit)):
                return None
            made = Reservation(uuid.uuid4().hex, day, amount)
            transaction.execute(
                "INSERT INTO reservation (id, day, amount, expires, state)"
                " VALUES (?, ?, ?, ?, 'held')",
                (made.id, day, amount, now + lifetime),
            )
        return made

    def settle(
        self, reservation: Reservation, amount: int, now: float, along: Along | None = None
    ) -> bool:
        """As `count`; what the store doesn't take is noted, to be counted later.

        `along` is done in the same transaction, also when the call was settled already. A bug
        in it is raised, and the call is counted without it.
        """
        try:
            return self._counted(reservation, amount, now, along)
        except StoreDown:
            self.unsettled.append(Unsettled(reservation, amount, now))
            raise
        except Exception:
            if along is not None:
                self.settle(reservation, amount, now)
            raise

    def count(self, reservation: Reservation, amount: int, now: float) -> bool:
        """Count what the call cost, on the day of its reservation; once, however often told.

        False when it was settled already. Raises `ValueError` for a negative amount and
        `StoreDown`.
        """
        return self._counted(reservation, amount, now, None)

    def _counted(
        self, reservation: Reservation, amount: int, now: float, along: Along | None
    ) -> bool:
        if amount < 0:
            raise ValueError("an amount can't be negative")
        with self._database.transaction() as transaction:
            # First, while nobody waits yet for the row of the day.
            if along is not None:
                along(transaction)
            return _count(transaction, reservation, amount, now)

    def release(self, reservation: Reservation, now: float) -> bool:
        """Give back what was set aside for a call that cost nothing."""
        return self.settle(reservation, 0, now)

    def today(self, now: float) -> Spending:
        """The money of the day in force. Raises `StoreDown`."""
        with self._database.transaction() as transaction:
            day = _day(transaction, now)
            _expire(transaction, now)
            rows = transaction.execute("SELECT spent, reserved FROM budget WHERE day = ?", (day,))
        if not rows:
            raise Damaged("budget", "day")
        return _spending((day, *rows[0]))

    def days(self, count: int) -> list[Spending]:
        """The last days on which there was a budget, newest first."""
        with self._database.transaction() as transaction:
            rows = transaction.execute(
                "SELECT day, spent, reserved FROM budget ORDER BY day DESC LIMIT ?", (count,)
            )
        return [_spending(row) for row in rows]


def _count(transaction: Transaction, reservation: Reservation, amount: int, now: float) -> bool:
    # The row is locked by its update, so its former state can be asked for first only in the
    # same statement.
    freed = transaction.execute(
        "UPDATE reservation SET state = 'settled' WHERE id = ? AND state = 'held' RETURNING amount",
        (reservation.id,),
    )
    late = not freed and transaction.execute(
        "UPDATE reservation SET state = 'settled' WHERE id = ? AND state = 'expired'"
        " RETURNING amount",
        (reservation.id,),
    )
    if not freed and not late:
        return False
    transaction.execute(
        "UPDATE budget SET spent = spent + ?, reserved = reserved - ? WHERE day = ?",
        (amount, freed[0][0] if freed else 0, reservation.day),
    )
    transaction.execute(
        # By names, since an index finds nothing that is other than a name.
        "DELETE FROM reservation WHERE state IN ('settled', 'expired') AND expires < ?",
        (now - _KEPT_SECONDS,),
    )
    return True


def _spending(row: Row) -> Spending:
    day, spent, reserved = row
    return Spending(
        str(day), whole_in(spent, "budget", "spent"), whole_in(reserved, "budget", "reserved")
    )


def utc_day(now: float) -> str:
    """The UTC date of a time in seconds, as ISO 8601."""
    return datetime.fromtimestamp(now, UTC).date().isoformat()


def _day(transaction: Transaction, now: float) -> str:
    """The day in force: a clock that was set back reopens no former day."""
    today = utc_day(now)
    latest = transaction.execute(_LATEST_DAY)
    # Most often nothing is new, and nothing is written: the status is asked for by every page.
    if latest and str(latest[0][0]) >= today:
        return str(latest[0][0])
    transaction.execute(_NEW_DAY, (today,))
    day = str(transaction.execute(_LATEST_DAY)[0][0])
    transaction.execute(
        "INSERT INTO budget (day, spent, reserved) VALUES (?, 0, 0) ON CONFLICT (day) DO NOTHING",
        (day,),
    )
    return day


def _expire(transaction: Transaction, now: float) -> None:
    """Free what was set aside by calls that can't be running any more."""
    freed = transaction.execute(
        "UPDATE reservation SET state = 'expired' WHERE state = 'held' AND expires <= ?"
        " RETURNING day, amount",
        (now,),
    )
    # In one order, so that no two processes wait for each other.
    for day, amount in sorted((str(day), int(amount)) for day, amount in freed):
        transaction.execute(
            "UPDATE budget SET reserved = reserved - ? WHERE day = ?", (amount, day)
        )
