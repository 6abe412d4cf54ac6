"""A store in PostgreSQL, which several machines may share."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from exactquote_site.serve.store.database import Row, StoreDown, Transaction, WrongStore, storable

_CONNECT_SECONDS = 5
_STATEMENT_MS = 15_000
# Of each process; a server takes 100 of all of them unless it is told otherwise.
CONNECTIONS_MAX = 8
_WAIT_SECONDS = 15.0

# A number of our own, which nothing else in the database locks by.
_ALONE = 7_316_208_557_391

_Connection = psycopg.Connection[tuple[object, ...]]


class Postgres:
    """A database by URL, with a few connections that the threads of a process share."""

    first_of_all = f"SELECT pg_advisory_xact_lock({_ALONE})"

    def __init__(self, url: str) -> None:
        """Connects to nothing yet."""
        self._url = url
        self._pool: ConnectionPool[_Connection] | None = None
        self._process = 0

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A transaction at READ COMMITTED: what must be exact is one conditional statement."""
        try:
            with self._opened().connection(_WAIT_SECONDS) as connection:
                yield _Statements(connection)
        except (
            psycopg.OperationalError,
            psycopg.InterfaceError,
            # Such as a server that takes no writes since another took its place.
            psycopg.InternalError,
            PoolTimeout,
        ) as error:
            # What a driver says may hold the URL, and the URL a password.
            raise StoreDown(f"PostgreSQL: {type(error).__name__}") from None

    def scrub(self) -> None:
        """The server's own vacuum clears what was deleted."""

    def close(self) -> None:
        """Close the connections of this process."""
        if self._pool is not None and self._process == os.getpid():
            self._pool.close()
        self._pool = None

    def _opened(self) -> ConnectionPool[_Connection]:
        if self._pool is None or self._process != os.getpid():
            # A connection is no good on both sides of a fork.
            self._try()
            self._process = os.getpid()
            self._pool = ConnectionPool(
                self._url,
                min_size=0,
                max_size=CONNECTIONS_MAX,
                open=True,
                check=ConnectionPool.check_connection,
                kwargs={
                    "connect_timeout": _CONNECT_SECONDS,
                    "options": f"-c statement_timeout={_STATEMENT_MS}",
                },
            )
        return self._pool

    def _try(self) -> None:
        """Connect once, since a pool would only try again and again."""
        try:
            psycopg.connect(self._url, connect_timeout=_CONNECT_SECONDS).close()
        except psycopg.ProgrammingError:
            # It quotes what it couldn't read.
            raise WrongStore("the URL of the PostgreSQL store can't be read") from None


class _Statements:
    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        cursor = self._connection.execute(statement.replace("?", "%s").encode(), storable(values))
        return list(cursor.fetchall()) if cursor.description else []
