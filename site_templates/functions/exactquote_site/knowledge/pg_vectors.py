"""Keeps the vectors of builds in PostgreSQL with pgvector, and finds the nearest there.

For corpora that are too large for the memory of each process that serves them. Every build
has a table of its own, which is there whole or not at all; a program searches the table of
the build that it was shipped with, so that neither a new nor an old one comes between.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector.psycopg import register_vector
from psycopg import sql

from exactquote_site.knowledge.embedders import EmbedderDown
from exactquote_site.knowledge.stored import Header
from exactquote_site.knowledge.vectors import Vectors, unit

# From so many rows on an index (Malkov and Yashunin 2016, https://arxiv.org/abs/1603.09320)
# finds nearly all of the nearest; below, all rows are compared, and all of them are found.
INDEXED_FROM = 50_000
# pgvector indexes vectors up to so many dimensions.
_INDEXED_DIMENSION_MAX = 2_000
_EF_SEARCH_MAX = 1_000
# A build that is being replaced still has visitors.
BUILDS_KEPT = 2
_CONNECT_SECONDS = 5
_QUERY_MILLISECONDS = 2_000
# Any number that others hardly lock: the first letters of our name.
_LOCK = int.from_bytes(b"exactq", "big")
_BUILDS = """
create table if not exists exactquote_builds (
    build_id text primary key, embedder text not null, dimension integer not null,
    rows integer not null, loaded timestamptz not null default clock_timestamp()
)
"""


class StoreDown(EmbedderDown):
    """The database can't be asked, or doesn't hold the build."""


def load_vectors(url: str, build_id: str, vectors: Vectors, *, kept: int = BUILDS_KEPT) -> None:
    """Put the vectors of a build into a database, in one transaction, and drop old builds.

    The `kept` builds loaded last stay. A build that is there already is left as it is.
    Raises `StoreDown`.
    """
    try:
        with psycopg.connect(url, connect_timeout=_CONNECT_SECONDS) as connection:
            connection.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
            connection.execute("create extension if not exists vector")
            register_vector(connection)
            connection.execute(_BUILDS)
            known = "select 1 from exactquote_builds where build_id = %s"
            if connection.execute(known, (build_id,)).fetchone() is None:
                _create(connection, build_id, vectors)
            _retire(connection, kept)
    except psycopg.Error as error:
        raise _down(error) from None


def placed(url: str) -> Callable[[Header, Vectors], PgVectors]:
    """For `KnowledgeBase.load`: the vectors of a build are searched in the database at `url`.

    They are loaded into it unless they are there already, so whoever starts first with a new
    build does that, once. Raises `StoreDown` when it is called.
    """

    def place(header: Header, vectors: Vectors) -> PgVectors:
        load_vectors(url, header.build_id, vectors)
        return PgVectors(url, header.build_id)

    return place


class PgVectors:
    """The vectors of one build in a database. Several threads may ask at once, in turn."""

    def __init__(self, url: str, build_id: str) -> None:
        """Raises `StoreDown` when the build isn't there."""
        self._url = url
        self._table = _table(build_id)
        self._asking = threading.Lock()
        self._connection: psycopg.Connection[Any] | None = None
        asked = "select embedder, dimension, rows from exactquote_builds where build_id = %s"
        found = self._ask(lambda connection: connection.execute(asked, (build_id,)).fetchall())
        if not found:
            raise StoreDown(f"the database has no vectors of build {build_id}; load them")
        self.embedder, self.dimension, self._rows = found[0]

    def __len__(self) -> int:
        """How many rows there are."""
        return int(self._rows)

    def top(
        self, query: NDArray[np.float32], count: int, *, start: int = 0, stop: int | None = None
    ) -> list[tuple[int, float]]:
        """The rows of the highest cosine with `query`, as (row, cosine), best first.

        Of all rows, or of those from `start` to before `stop`. Rows of equal cosine come in
        their order. With an index some of the nearest may be missing. Raises `StoreDown`, and
        `ValueError` unless `query` has shape (d,) and is finite.
        """
        exact = self._unit(query)
        first, last, _ = slice(start, stop).indices(len(self))
        if count <= 0 or last <= first or not exact.any():
            return []
        # The index orders by distance alone; who is first among equals is settled after. It
        # finds the nearest of all rows, which are too few of a part that is small.
        indexed = _wants_index(last - first, self.dimension)
        inner = "order by vector <#> %s" + ("" if indexed else ", number")
        asked = sql.SQL(
            "select number, -distance from (select number, vector <#> %s as distance from {}"
            f" where number >= %s and number < %s {inner} limit %s)"
            " as nearest order by distance, number"
        ).format(self._table)

        def work(connection: psycopg.Connection[Any]) -> list[Any]:
            breadth = str(min(max(2 * count, 40), _EF_SEARCH_MAX))
            connection.execute("select set_config('hnsw.ef_search', %s, true)", (breadth,))
            return connection.execute(asked, (exact, first, last, exact, count)).fetchall()

        return [(int(number), float(cosine)) for number, cosine in self._ask(work)]

    def cosines(self, query: NDArray[np.float32], rows: Sequence[int]) -> list[float]:
        """The cosine of each of these rows with `query`.

        Raises `StoreDown`, `ValueError` as `top` does, and `KeyError` for a row that isn't
        there.
        """
        exact, wanted = self._unit(query), [int(row) for row in rows]
        asked = sql.SQL("select number, -(vector <#> %s) from {} where number = any(%s)").format(
            self._table
        )
        found = dict(
            self._ask(lambda connection: connection.execute(asked, (exact, wanted)).fetchall())
        )
        return [float(found[row]) for row in wanted]

    def close(self) -> None:
        """Close the connection; the next question opens another."""
        with self._asking:
            self._drop()

    def _unit(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        if np.shape(query) != (self.dimension,):
            raise ValueError(f"a query of shape {np.shape(query)} for rows of {self.dimension}")
        row: NDArray[np.float32] = unit(np.asarray(query)[np.newaxis])[0].astype(np.float32)
        return row

    def _ask(self, work: Any) -> list[Any]:
        with self._asking:
            # A connection that was open may have been closed at the other end since.
            for fresh in (False, True) if self._connection is not None else (True,):
                if fresh:
                    self._drop()
                try:
                    connection = self._open()
                    with connection.transaction():
                        found: list[Any] = work(connection)
                    return found
                except psycopg.Error as error:
                    broken = self._connection is None or self._connection.broken
                    if fresh or not broken:
                        raise _down(error) from None
        raise AssertionError

    def _open(self) -> psycopg.Connection[Any]:
        if self._connection is None:
            opened = psycopg.connect(
                self._url,
                connect_timeout=_CONNECT_SECONDS,
                autocommit=True,
                options=f"-c statement_timeout={_QUERY_MILLISECONDS}",
            )
            try:
                register_vector(opened)
            except BaseException:
                opened.close()
                raise
            self._connection = opened
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _create(connection: psycopg.Connection[Any], build_id: str, vectors: Vectors) -> None:
    table = _table(build_id)
    connection.execute(
        sql.SQL("create table {} (number integer primary key, vector vector({}) not null)").format(
            table, sql.Literal(vectors.dimension)
        )
    )
    copying = sql.SQL("copy {} (number, vector) from stdin (format binary)").format(table)
    with connection.cursor().copy(copying) as copy:
        copy.set_types(["int4", "vector"])
        for number, row in enumerate(vectors.matrix):
            copy.write_row((number, row))
    if _wants_index(len(vectors), vectors.dimension):
        connection.execute("set local maintenance_work_mem = '1GB'")
        connection.execute(
            sql.SQL("create index on {} using hnsw (vector vector_ip_ops)").format(table)
        )
    connection.execute(sql.SQL("analyze {}").format(table))
    connection.execute(
        "insert into exactquote_builds (build_id, embedder, dimension, rows)"
        " values (%s, %s, %s, %s)",
        (build_id, vectors.embedder, vectors.dimension, len(vectors)),
    )


def _retire(connection: psycopg.Connection[Any], kept: int) -> None:
    old = connection.execute(
        "delete from exactquote_builds where build_id not in (select build_id from"
        " exactquote_builds order by loaded desc limit %s) returning build_id",
        (kept,),
    ).fetchall()
    for (build_id,) in old:
        connection.execute(sql.SQL("drop table if exists {}").format(_table(build_id)))


def _wants_index(rows: int, dimension: int) -> bool:
    return rows >= INDEXED_FROM and dimension <= _INDEXED_DIMENSION_MAX


def _table(build_id: str) -> sql.Identifier:
    return sql.Identifier(f"exactquote_{hashlib.sha256(build_id.encode()).hexdigest()[:24]}")


def _down(error: psycopg.Error) -> StoreDown:
    # What the library says may hold the address of the database, and who asks there.
    kind = type(error).__name__
    cure = ""
    if isinstance(error, psycopg.errors.FeatureNotSupported | psycopg.errors.UndefinedFile):
        cure = "; install pgvector on its server"
    elif isinstance(error, psycopg.errors.UndefinedTable):
        cure = "; the build was never loaded, or newer ones replaced it"
    elif isinstance(error, psycopg.errors.InsufficientPrivilege):
        cure = "; its user may need the right to create tables and the extension vector"
    return StoreDown(f"the database of vectors failed ({kind}){cure}")
