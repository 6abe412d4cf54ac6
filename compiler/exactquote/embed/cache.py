"""Keeps vectors on the disk, by the hash of what they were made of.

One SQLite file holds them all. It may be used by several runs at once, be cut short, or be
removed at any time: what is damaged is made again, and what is lost was only time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from exactquote.disk.refusal import Refusal

# Of another name when its table changes.
FILE_NAME = "vectors-1.sqlite3"
# A hundred thousand vectors of 512 dimensions take about 70 MB.
BYTES_MAX = 256_000_000
_WAIT_SECONDS = 30.0
_KEY_BYTES = 16
_CHECK_BYTES = 8
_ASKED_AT_ONCE = 500
_SECONDS_A_DAY = 86_400
_TABLE = """
create table if not exists vectors (
    key blob primary key, day integer not null, codes blob not null, mark blob not null
) without rowid
"""

_T = TypeVar("_T")


def default_cache_folder(environment: Mapping[str, str]) -> Path | None:
    """Where a user's caches are, by the XDG base directory specification; None for nowhere.

    https://specifications.freedesktop.org/basedir-spec/latest/: a relative path is ignored.
    """
    for name, below in (("XDG_CACHE_HOME", ""), ("HOME", ".cache")):
        folder = environment.get(name, "")
        if os.path.isabs(folder):
            return Path(folder, below, "exactquote")
    return None


class VectorCache:
    """Vectors of any embedder, as codes: a byte for each number.

    What isn't used is dropped, the longest unused first, when more than `bytes_max` are
    kept. `mended` tells whether a damaged file was begun anew.
    """

    def __init__(
        self,
        folder: Path,
        *,
        bytes_max: int = BYTES_MAX,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Raises `Refusal` when nothing can be kept in `folder`, which is made if need be."""
        self.folder = folder
        self.mended = False
        self._file = folder / FILE_NAME
        self._bytes_max = bytes_max
        self._now = now
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise self._refusal(error.strerror or str(error)) from None
        self._run(lambda connection: None)

    def find(self, embedder: str, texts: Sequence[str], dimension: int) -> dict[str, bytes]:
        """The codes of those texts that were kept; what is damaged isn't among them.

        A `dimension` of 0 fits any.
        """
        keys = {_key(embedder, text): text for text in texts}
        return self._run(lambda connection: self._find(connection, keys, dimension))

    def keep(self, embedder: str, made: Mapping[str, bytes]) -> None:
        """Keep the codes of texts, all of them or, if the run is stopped here, none."""
        day = self._day()
        rows = [
            (key, day, codes, _mark(key, codes))
            for key, codes in ((_key(embedder, text), codes) for text, codes in made.items())
        ]
        self._run(lambda connection: self._keep(connection, rows))

    def _find(
        self, connection: sqlite3.Connection, keys: Mapping[bytes, str], dimension: int
    ) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        old: list[tuple[int, bytes]] = []
        day, asked = self._day(), list(keys)
        for start in range(0, len(asked), _ASKED_AT_ONCE):
            some = asked[start : start + _ASKED_AT_ONCE]
            marks = ",".join("?" * len(some))
            query = f"select key, day, codes, mark from vectors where key in ({marks})"
            for key, used, codes, mark in connection.execute(query, some):
                whole = isinstance(codes, bytes) and mark == _mark(key, codes)
                if whole and len(codes) == (dimension or len(codes)):
                    found[keys[key]] = codes
                    if used != day:
                        old.append((day, key))
        # Once a day is enough to know what is still in use.
        connection.executemany("update vectors set day = ? where key = ?", old)
        return found

    def _keep(
        self, connection: sqlite3.Connection, rows: Sequence[tuple[bytes, int, bytes, bytes]]
    ) -> None:
        connection.executemany("insert or replace into vectors values (?, ?, ?, ?)", rows)
        pages, free, size = (
            connection.execute(f"pragma {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
        if (pages - free) * size > self._bytes_max:
            # A quarter at once, so that not every run has to drop a few.
            connection.execute(
                "delete from vectors where key in (select key from vectors order by day, key"
                " limit (select count(*) / 4 + 1 from vectors))"
            )

    def _day(self) -> int:
        return int(self._now() // _SECONDS_A_DAY)

    def _run(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """Do the work in one transaction, on a new file if this one is damaged."""
        try:
            try:
                return self._once(work)
            except sqlite3.DatabaseError as error:
                # Locked or unwritable isn't damaged: others may be using it.
                if isinstance(error, sqlite3.OperationalError):
                    raise
                self._begin_anew()
                return self._once(work)
        except (sqlite3.Error, OSError) as error:
            raise self._refusal(str(error)) from None

    def _once(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        with self._open() as connection:
            connection.execute("begin immediate")
            connection.execute(_TABLE)
            done = work(connection)
            connection.execute("commit")
            return done

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self._file, timeout=_WAIT_SECONDS, isolation_level=None)
        # Damage can make a text of a blob, and not every byte is UTF-8.
        connection.text_factory = bytes
        try:
            yield connection
        finally:
            # What wasn't committed is rolled back.
            connection.close()

    def _begin_anew(self) -> None:
        self.mended = True
        for suffix in ("", "-journal"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{self._file}{suffix}")

    def _refusal(self, why: str) -> Refusal:
        return Refusal(
            f"vectors can't be kept in {self.folder}: {why}; name another folder with --cache,"
            " or go without with --no-cache"
        )


def _key(embedder: str, text: str) -> bytes:
    named = f"{len(embedder)} {embedder} {text}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(named).digest()[:_KEY_BYTES]


def _mark(key: bytes, codes: bytes) -> bytes:
    return hashlib.sha256(key + codes).digest()[:_CHECK_BYTES]
