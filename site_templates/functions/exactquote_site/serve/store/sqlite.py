"""A store in one SQLite file, which several processes of one machine may share."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from exactquote_site.serve.store.database import Row, StoreDown, Transaction

# A writer holds the file for about a millisecond; a queue of hundreds still gets through.
_BUSY_SECONDS = 15.0


class Sqlite:
    """One file in WAL mode; every thread has a connection of its own."""

    def __init__(self, path: Path) -> None:
        """Opens nothing yet. Raises `StoreDown` where the folder can't be made."""
        self._path = path
        self._mine = threading.local()
        self._lock = threading.Lock()
        self._every: list[sqlite3.Connection] = []
        self._process = os.getpid()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreDown(f"{path.parent}: {error.strerror}") from error

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A transaction that writes from its first moment on, so that none is upgraded."""
        try:
            connection = self._connection()
            # Whoever reads first and writes later could be refused in between.
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise StoreDown(f"{self._path.name}: {error}") from error
        try:
            yield _Statements(connection)
            connection.execute("COMMIT")
        except BaseException as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.OperationalError):
                raise StoreDown(f"{self._path.name}: {error}") from error
            raise

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            for connection in self._every:
                connection.close()
            self._every.clear()
        self._mine = threading.local()

    def _connection(self) -> sqlite3.Connection:
        if self._process != os.getpid():
            # SQLite's locks don't survive a fork.
            self._mine, self._every, self._process = threading.local(), [], os.getpid()
        connection: sqlite3.Connection | None = getattr(self._mine, "connection", None)
        if connection is None:
            connection = sqlite3.connect(
                self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            self._mine.connection = connection
            with self._lock:
                self._every.append(connection)
        return connection


class _Statements:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        return self._connection.execute(statement, tuple(values)).fetchall()
