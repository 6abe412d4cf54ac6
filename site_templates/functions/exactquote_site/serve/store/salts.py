"""Gives all processes of a site the same secret for a day, under which visitors are counted."""

from __future__ import annotations

import secrets

from exactquote_site.serve.store.database import Damaged, Database, text_in
from exactquote_site.serve.store.ledger import utc_day

_NAME = "salt:"


class DaySalts:
    """The salts of a store, each asked for once by a process."""

    def __init__(self, database: Database) -> None:
        """Salts are kept in the tables of this store."""
        self._database = database
        self._known = ("", b"")

    def of_day(self, now: float) -> bytes:
        """The salt of the UTC day of a time. Raises `StoreDown`."""
        day, salt = self._known
        if day != utc_day(now):
            salt = day_salt(self._database, now)
            self._known = (utc_day(now), salt)
        return salt


def day_salt(database: Database, now: float) -> bytes:
    """The salt of the UTC day; made on first use, and those of former days are deleted.

    Raises `StoreDown`.
    """
    name = _NAME + utc_day(now)
    with database.transaction() as transaction:
        transaction.execute(
            "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
            (name, secrets.token_hex(32)),
        )
        rows = transaction.execute("SELECT value FROM meta WHERE name = ?", (name,))
        transaction.execute(
            "DELETE FROM meta WHERE substr(name, 1, 5) = ? AND name < ?", (_NAME, name)
        )
    try:
        return bytes.fromhex(text_in(rows[0][0], "meta", "value"))
    except ValueError:
        raise Damaged("meta", "value") from None
