"""A store in one SQLite file, which several processes of one machine may share."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from exactquote_site.serve.store.database import Row, StoreDown, Transaction, storable

# A writer holds the file for about a millisecond; a queue of hundreds still gets through.
_BUSY_SECONDS = 15.0
_AGAIN_SECONDS = 0.02


class Sqlite:
    """One file in WAL mode that its user alone may read, over one connection for each process.

    The threads of a process take turns. SQLite lets one write at a time, and whoever comes
    meanwhile sleeps and asks again, up to a tenth of a second later: of 40 threads that write
    all the time, some waited three seconds for what takes a few milliseconds.
    """

    first_of_all = ""

    def __init__(self, path: Path) -> None:
        """Raises `StoreDown` where the file can't be made or may not be written."""
        self._path = path
        self._turn = threading.Lock()
        self._opened: sqlite3.Connection | None = None
        self._process = os.getpid()
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _is_planted(path.parent):
                raise StoreDown(f"{path.parent} belongs to another user")
            # The files that SQLite puts beside it have the permissions of this one.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            if _is_planted(path):
                raise StoreDown(f"{path} belongs to another user")
        except OSError as error:
            raise StoreDown(f"{path}: {error.strerror}") from error

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A transaction that writes from its first moment on, so that none is upgraded."""
        with self._taking_turns() as connection:
            try:
                # Whoever reads first and writes later could be refused in between.
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.Error as error:
                raise StoreDown(f"{self._path.name}: {error}") from error
            try:
                yield _Statements(connection)
                connection.execute("COMMIT")
            except BaseException as error:
                with suppress(sqlite3.Error):
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                # Of the others, each would be a bug of ours.
                if (
                    isinstance(error, sqlite3.OperationalError)
                    or type(error) is sqlite3.DatabaseError
                ):
                    raise StoreDown(f"{self._path.name}: {_told(error)}") from None
                raise

    def scrub(self) -> None:
        """Empty the write-ahead log, in which deleted rows stand until it is overwritten."""
        with self._taking_turns() as connection:
            try:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            except sqlite3.Error as error:
                raise StoreDown(f"{self._path.name}: {error}") from error

    def close(self) -> None:
        """Close the connection of this process."""
        with self._turn:
            if self._opened is not None and self._process == os.getpid():
                self._opened.close()
            self._opened = None

    @contextmanager
    def _taking_turns(self) -> Iterator[sqlite3.Connection]:
        if self._process != os.getpid():
            # SQLite's locks don't survive a fork, and ours may be held by a thread that didn't.
            self._turn, self._opened, self._process = threading.Lock(), None, os.getpid()
        turn = self._turn
        if not turn.acquire(timeout=_BUSY_SECONDS):
            raise StoreDown(f"{self._path.name}: busy for {_BUSY_SECONDS:g} seconds")
        try:
            yield self._connection()
        finally:
            turn.release()

    def _connection(self) -> sqlite3.Connection:
        if self._opened is None:
            try:
                self._opened = self._connected()
            except sqlite3.Error as error:
                raise StoreDown(f"{self._path.name}: {error}") from error
        return self._opened

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            _log_ahead(connection)
            connection.execute("PRAGMA synchronous = FULL")
            # What is deleted is overwritten, and not only unlinked.
            connection.execute("PRAGMA secure_delete = ON")
        except BaseException:
            connection.close()
            raise
        return connection


def _log_ahead(connection: sqlite3.Connection) -> None:
    """Write ahead from now on; where several make the file at once, each in its turn.

    SQLite refuses the change at once, whatever the time-out, where waiting could end in a
    deadlock (sqlite.org/c3ref/busy_handler.html).
    """
    ends = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > ends:
                raise
            time.sleep(_AGAIN_SECONDS)
        else:
            return


def _told(error: Exception) -> str:
    """What SQLite says; of a text that it can't read, Python would quote the words."""
    if str(error).startswith("Could not decode"):
        return "a text in it is damaged"
    return str(error)


def _is_planted(made: Path) -> bool:
    """Whether another user put it where everyone may write, to read what we would."""
    everyone_writes = made.parent.stat().st_mode & stat.S_IWOTH
    return bool(everyone_writes) and os.name == "posix" and made.lstat().st_uid != os.geteuid()


class _Statements:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        return self._connection.execute(statement, storable(values)).fetchall()
