"""Gives all processes of a site the same secret for a day, under which visitors are counted."""

from __future__ import annotations

import secrets

from exactquote_site.serve.store.database import Database
from exactquote_site.serve.store.ledger import utc_day

_NAME = "salt:"


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
    return bytes.fromhex(rows[0][0])
