"""Turns the URL of a store into transactions on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

Row = Sequence[Any]
# The end of the year 9999, behind which there is no date.
LAST_SECOND = 253_402_300_799.0


class StoreDown(Exception):
    """The store can't be reached, or was busy for too long; the message names no secret."""


class Damaged(StoreDown):
    """A table holds what was never put there; the message names where, and no content."""

    def __init__(self, table: str, column: str) -> None:
        """Where it was found."""
        super().__init__(f"the table {table} is damaged, in {column}")


class WrongStore(ValueError):
    """The URL names no store that can be opened; the message says what would."""


class Transaction(Protocol):
    """Statements that happen together or not at all."""

    def execute(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        """The rows that a statement gives; `?` in it stands for a value."""
        ...


class Database(Protocol):
    """A store that is open."""

    first_of_all: str
    """A statement that lets one process alone go on with its transaction, where one is needed."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """A transaction, which commits at its end and rolls back when it raises.

        Raises `StoreDown`.
        """
        ...

    def scrub(self) -> None:
        """Leave nothing of what was deleted in any file that we could clear of it.

        Raises `StoreDown`.
        """
        ...

    def close(self) -> None:
        """Give back what was opened."""
        ...


# Times are seconds since 1970 in UTC; money is in nano-dollars.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS budget (
    day TEXT PRIMARY KEY, spent BIGINT NOT NULL, reserved BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS reservation (
    id TEXT PRIMARY KEY, day TEXT NOT NULL, amount BIGINT NOT NULL,
    expires DOUBLE PRECISION NOT NULL, state TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS reservation_due ON reservation (state, expires);
CREATE TABLE IF NOT EXISTS exchange (
    id TEXT PRIMARY KEY, at DOUBLE PRECISION NOT NULL, session TEXT, build_id TEXT NOT NULL,
    language TEXT NOT NULL, kind TEXT NOT NULL, outcome TEXT NOT NULL, question TEXT,
    answer TEXT, found TEXT NOT NULL, cited TEXT NOT NULL, lost TEXT NOT NULL,
    cost BIGINT NOT NULL);
CREATE INDEX IF NOT EXISTS exchange_at ON exchange (at);
CREATE INDEX IF NOT EXISTS exchange_session ON exchange (session);
CREATE TABLE IF NOT EXISTS feedback (
    answer TEXT PRIMARY KEY, at DOUBLE PRECISION NOT NULL, good INTEGER NOT NULL,
    words TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS lead (
    id TEXT PRIMARY KEY, session TEXT NOT NULL UNIQUE, at DOUBLE PRECISION NOT NULL,
    body TEXT NOT NULL, state TEXT NOT NULL, claimed TEXT NOT NULL,
    lease DOUBLE PRECISION NOT NULL, attempts INTEGER NOT NULL, due DOUBLE PRECISION NOT NULL);
CREATE INDEX IF NOT EXISTS lead_due ON lead (state, due);
"""
SCHEMA_VERSION = "1"


def open_database(url: str) -> Database:
    """The store at `sqlite:///PATH` or `postgresql://…`, its tables made if they are missing.

    Raises `WrongStore` for another URL or a missing package, `StoreDown` where it can't be
    opened, and `WrongStore` for tables of another version.
    """
    scheme, _, rest = url.partition(":")
    if scheme == "sqlite" and rest.startswith("///") and rest[3:] not in ("", ":memory:"):
        from exactquote_site.serve.store.sqlite import Sqlite

        database: Database = Sqlite(Path(rest[3:]))
    elif scheme in ("postgresql", "postgres"):
        try:
            from exactquote_site.serve.store.postgres import Postgres
        except ImportError as missing:
            raise WrongStore("a PostgreSQL store needs the package psycopg") from missing
        database = Postgres(url)
    else:
        raise WrongStore("a store is sqlite:///PATH or postgresql://HOST/NAME")
    _make_tables(database)
    return database


def storable(values: Sequence[object]) -> tuple[object, ...]:
    """Values as any store takes them: PostgreSQL has no NUL in a text, and neither has what
    isn't UTF-8; a model may write both.
    """
    return tuple(
        value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
        if isinstance(value, str)
        else value
        for value in values
    )


def number_in(value: object, table: str, column: str, most: float = 2.0**63) -> float:
    """A number from 0 to `most`, as a column should have it. Raises `Damaged`."""
    if not isinstance(value, int | float) or not 0 <= value <= most:
        raise Damaged(table, column)
    return value


def whole_in(value: object, table: str, column: str) -> int:
    """A whole number, as a column should have it. Raises `Damaged`."""
    if not isinstance(value, int):
        raise Damaged(table, column)
    return value


def text_in(value: object, table: str, column: str) -> str:
    """A text, as a column should have it. Raises `Damaged`."""
    if not isinstance(value, str):
        raise Damaged(table, column)
    return value


def _make_tables(database: Database) -> None:
    with database.transaction() as transaction:
        if database.first_of_all:
            # Processes that start together would make the same table at once.
            transaction.execute(database.first_of_all)
        for statement in _statements():
            transaction.execute(statement)
        transaction.execute(
            "INSERT INTO meta (name, value) VALUES ('schema', ?) ON CONFLICT (name) DO NOTHING",
            (SCHEMA_VERSION,),
        )
        rows = transaction.execute("SELECT value FROM meta WHERE name = 'schema'")
    if rows[0][0] != SCHEMA_VERSION:
        raise WrongStore(f"the store has tables of version {rows[0][0]}, not {SCHEMA_VERSION}")


def _statements() -> Iterator[str]:
    for statement in _SCHEMA.split(";"):
        if statement.strip():
            yield statement.strip()
