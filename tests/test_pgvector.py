"""Vectors in a real PostgreSQL: the same answers as in memory, whole builds, and failures."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from exactquote import cli
from exactquote.cli import knowledge
from exactquote_site.knowledge import pg_vectors
from exactquote_site.knowledge.base import KnowledgeBase
from exactquote_site.knowledge.best import best_passages
from exactquote_site.knowledge.embedders import EmbedderDown
from exactquote_site.knowledge.pg_vectors import PgVectors, StoreDown, load_vectors, placed
from exactquote_site.knowledge.vectors import OtherEmbedder, Vectors, nearest
from exactquote_site.wire.allowlist import load_allowlist
from tests.servers import free_port, start_postgres
from tests.test_knowledge import Topical, built

D = 64


def drawn(n: int, seed: int) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=(n, D)).astype(np.float32)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with start_postgres() as url:
        yield url


@pytest.fixture
def database(server: str, request: pytest.FixtureRequest) -> str:
    """A database that no other test has."""
    name = f"d{abs(hash(request.node.name))}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"create database {name}")  # type: ignore[arg-type]
    return f"{server.rpartition('/')[0]}/{name}"


def ask(url: str, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(query).fetchall()  # type: ignore[arg-type]


def tables(url: str) -> int:
    found = ask(url, "select count(*) from pg_tables where tablename like 'exactquote\\_%'")
    return int(str(found[0][0])) - 1


def test_a_database_finds_what_memory_finds(database: str) -> None:
    # Rows that are alike, and blank ones, are there too.
    matrix = np.concatenate([drawn(300, 1), np.zeros((3, D)), drawn(300, 1)[:50]])
    vectors = Vectors("toy@1", matrix)
    load_vectors(database, "build-1", vectors)
    store = PgVectors(database, "build-1")
    assert (store.embedder, store.dimension, len(store)) == ("toy@1", D, 353)
    for asked in drawn(20, 2):
        found, wanted = store.top(asked, 30), vectors.top(asked, 30)
        assert [row for row, _ in found] == [row for row, _ in wanted]
        assert [s for _, s in found] == pytest.approx([s for _, s in wanted], abs=1e-5)
    store.close()


def test_an_index_finds_nearly_all(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pg_vectors, "INDEXED_FROM", 1000)
    vectors = Vectors("toy@1", drawn(2000, 3))
    load_vectors(database, "build-1", vectors)
    assert ask(database, "select count(*) from pg_indexes where indexdef like '%hnsw%'") == [(1,)]
    store = PgVectors(database, "build-1")
    met = [
        len({r for r, _ in store.top(q, 10)} & {r for r, _ in vectors.top(q, 10)})
        for q in drawn(20, 4)
    ]
    assert sum(met) >= 0.8 * 10 * 20
    store.close()


@pytest.mark.parametrize("count", [0, -1])
def test_nothing_asked_for_is_nothing_found(database: str, count: int) -> None:
    load_vectors(database, "b", Vectors("toy@1", drawn(3, 5)))
    store = PgVectors(database, "b")
    assert store.top(drawn(1, 6)[0], count) == []
    assert store.top(np.zeros(D, np.float32), 3) == []
    with pytest.raises(ValueError, match="shape"):
        store.top(np.ones(D + 1, np.float32), 3)
    with pytest.raises(ValueError, match="finite"):
        store.top(np.full(D, np.nan, np.float32), 3)
    store.close()


def test_each_program_searches_the_build_it_was_shipped_with(database: str) -> None:
    first, second = Vectors("toy@1", drawn(9, 1)), Vectors("toy@2", drawn(9, 2))
    load_vectors(database, "b1", first)
    old = PgVectors(database, "b1")
    load_vectors(database, "b2", second)
    new = PgVectors(database, "b2")
    for number in range(9):
        assert old.top(first.matrix[number], 1)[0][0] == number
        assert new.top(second.matrix[number], 1)[0][0] == number
    assert (old.embedder, new.embedder) == ("toy@1", "toy@2")
    # The one before the last is kept; then it goes, and says so.
    load_vectors(database, "b3", second)
    assert tables(database) == 2
    with pytest.raises(StoreDown, match="newer ones"):
        old.top(first.matrix[0], 1)
    with pytest.raises(StoreDown, match="load them"):
        PgVectors(database, "b1")
    for store in (old, new):
        store.close()


def test_loading_again_changes_nothing(database: str) -> None:
    for _ in range(2):
        load_vectors(database, "b1", Vectors("toy@1", drawn(9, 1)))
    assert ask(database, "select build_id, rows from exactquote_builds") == [("b1", 9)]


def test_prevents_a_load_that_failed_from_leaving_half_a_build(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_vectors(database, "b1", Vectors("toy@1", drawn(9, 1)))

    def fails(connection: psycopg.Connection[object], kept: int) -> None:
        connection.execute("select 1/0")

    monkeypatch.setattr(pg_vectors, "_retire", fails)
    with pytest.raises(StoreDown):
        load_vectors(database, "b2", Vectors("toy@1", drawn(9, 2)))
    assert tables(database) == 1
    assert ask(database, "select build_id from exactquote_builds") == [("b1",)]


def test_loads_at_the_same_time_are_done_one_after_the_other(database: str) -> None:
    failures: list[BaseException] = []

    def load(build_id: str) -> None:
        try:
            load_vectors(database, build_id, Vectors("toy@1", drawn(50, 1)))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=load, args=(f"b{i % 2}",)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert tables(database) == 2


def test_threads_share_one_store_and_get_their_own_answers(database: str) -> None:
    vectors = Vectors("toy@1", drawn(40, 1))
    load_vectors(database, "b", vectors)
    store = PgVectors(database, "b")
    found: dict[int, int] = {}

    def asks(number: int) -> None:
        found[number] = store.top(vectors.matrix[number], 1)[0][0]

    threads = [threading.Thread(target=asks, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: number for number in range(40)}
    store.close()


def test_a_connection_that_was_cut_is_opened_again(database: str) -> None:
    vectors = Vectors("toy@1", drawn(9, 1))
    load_vectors(database, "b", vectors)
    store = PgVectors(database, "b")
    ask(
        database,
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where datname = current_database() and pid <> pg_backend_pid()",
    )
    assert store.top(vectors.matrix[4], 1)[0][0] == 4
    store.close()


def test_prevents_a_question_from_meeting_vectors_of_another_embedder(database: str) -> None:
    load_vectors(database, "b", Vectors("toy@1", drawn(9, 1)))

    class Other:
        id = "toy@2"
        dimension = D

        def embed(self, texts: list[str]) -> NDArray[np.float32]:
            raise AssertionError("it was asked")

    store = PgVectors(database, "b")
    with pytest.raises(OtherEmbedder):
        nearest(store, Other(), "x", 1)
    store.close()


def test_prevents_a_password_from_being_shown() -> None:
    url = f"postgresql://ann:hunter2@127.0.0.1:{free_port()}/secretbase"
    for attempt in (
        lambda: PgVectors(url, "b"),
        lambda: load_vectors(url, "b", Vectors("toy@1", drawn(2, 1))),
    ):
        with pytest.raises(EmbedderDown) as caught:
            attempt()
        assert "hunter2" not in repr(caught.value) + str(caught.value)
        assert caught.value.__suppress_context__


def test_a_user_without_the_right_is_told() -> None:
    with start_postgres() as url:
        with psycopg.connect(url) as connection:
            connection.execute("create role ann login")
            connection.execute("revoke create on database postgres from public")
        with pytest.raises(StoreDown, match="right"):
            load_vectors(url.replace("tester", "ann"), "b", Vectors("toy@1", drawn(2, 1)))


def test_a_part_of_the_rows_is_searched_as_in_memory(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = Vectors("toy@1", drawn(600, 5))
    # The whole is indexed, and the part of the first 50 would hardly be among the nearest.
    monkeypatch.setattr(pg_vectors, "INDEXED_FROM", 500)
    load_vectors(database, "build-1", vectors)
    store = PgVectors(database, "build-1")
    for asked in drawn(5, 6):
        for start, stop in ((0, 50), (50, 300), (590, 600), (7, 7), (600, 700)):
            found = store.top(asked, 20, start=start, stop=stop)
            wanted = vectors.top(asked, 20, start=start, stop=stop)
            assert [row for row, _ in found] == [row for row, _ in wanted]
        rows = [5, 599, 5, 0]
        assert store.cosines(asked, rows) == pytest.approx(vectors.cosines(asked, rows), abs=1e-5)
        assert store.cosines(asked, []) == []
    with pytest.raises(KeyError):
        store.cosines(asked, [600])
    store.close()


def test_a_knowledge_base_searches_the_database_as_it_does_memory(database: str) -> None:
    embedder = Topical()
    files = built(embedder=embedder).files
    here = KnowledgeBase.load(files.__getitem__)
    for _ in range(2):
        # The first to start loads the build, the second finds it there.
        there = KnowledgeBase.load(files.__getitem__, placed(database))
        assert isinstance(there.vectors, PgVectors)
        quotes = {id: e.quote for id, e in load_allowlist(files.__getitem__).entries.items()}
        for question in ("When is the oven hot?", "money back", "Brennofen"):
            found, wanted = (base.search(question, embedder=embedder) for base in (there, here))
            assert found.legs == wanted.legs == ("words", "meaning")
            assert [hit.index for hit in found.hits] == [hit.index for hit in wanted.hits]
            best = [
                [one.passages for one in best_passages(base, heard, quotes, embedder=embedder)]
                for base, heard in ((there, found), (here, wanted))
            ]
            assert best[0] == best[1]
        there.vectors.close()
    assert tables(database) == 1


def test_ask_is_told_by_the_configuration_where_the_vectors_are(
    database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(knowledge, "opened", lambda *_: Topical())
    Path("corpus").mkdir()
    Path("corpus/index.md").write_text("# Kiln\n\nIt is hot. A refund takes a week.\n")
    Path("exactquote.toml").write_text(
        'allow_empty = true\n[chat]\nenabled = false\n[knowledge]\npostgres_env = "VECTORS"\n'
    )
    assert cli.main(["build", "-q"]) == 0
    monkeypatch.delenv("VECTORS", raising=False)
    assert cli.main(["ask", "oven"]) == 2
    assert b"set $VECTORS to the URL" in capfdbinary.readouterr().err
    monkeypatch.setenv("VECTORS", database)
    assert cli.main(["ask", "oven", "--explain"]) == 0
    assert b"meaning 1 (" in capfdbinary.readouterr().out
    assert tables(database) == 1
    monkeypatch.setenv("VECTORS", f"postgresql://tester:secret@127.0.0.1:{free_port()}/x")
    assert cli.main(["ask", "oven"]) == 2
    told = capfdbinary.readouterr().err
    assert b"the database of vectors failed" in told
    assert b"secret" not in told
