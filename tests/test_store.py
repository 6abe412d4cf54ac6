"""What the store keeps: the same on SQLite and on a real PostgreSQL."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from exactquote_site.serve.settling import GIVEN_UP_SECONDS, settle_again, settle_on
from exactquote_site.serve.store.database import (
    Database,
    StoreDown,
    Transaction,
    WrongStore,
    open_database,
)
from exactquote_site.serve.store.exchanges import Exchange, Exchanges
from exactquote_site.serve.store.feedback import Feedback, FeedbackBox
from exactquote_site.serve.store.ledger import Ledger
from exactquote_site.serve.store.outbox import Outbox
from exactquote_site.serve.store.salts import DaySalts, day_salt
from tests.servers import start_postgres

NOON = 1_800_000_000.0 - 1_800_000_000.0 % 86_400 + 43_200
DAY = 86_400.0
REFUSAL = "These pages don't answer that."


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    with start_postgres(pgvector=False) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'kept' / 'store.db'}"
    server: str = request.getfixturevalue("postgres")
    import psycopg

    name = f"test_{os.getpid()}_{random.randrange(10**9)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.rpartition("/")[0] + f"/{name}"


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    opened = open_database(url)
    yield opened
    opened.close()


def test_a_day_is_spent_to_its_limit_and_not_beyond(database: Database) -> None:
    ledger = Ledger(database)
    first = ledger.reserve(60, 100, NOON)
    assert first is not None
    assert ledger.reserve(41, 100, NOON) is None
    assert ledger.today(NOON).reserved == 60
    assert ledger.settle(first, 10, NOON)
    assert ledger.today(NOON).spent == 10
    assert ledger.reserve(91, 100, NOON) is None
    assert ledger.reserve(90, 100, NOON) is not None
    assert ledger.reserve(0, 100, NOON) is not None


def test_prevents_a_call_that_is_settled_twice(database: Database) -> None:
    ledger = Ledger(database)
    held = ledger.reserve(60, 100, NOON)
    assert held is not None
    assert ledger.settle(held, 50, NOON)
    assert not ledger.settle(held, 50, NOON)
    assert not ledger.release(held, NOON)
    assert (ledger.today(NOON).spent, ledger.today(NOON).reserved) == (50, 0)


def test_a_reservation_whose_process_died_expires(database: Database) -> None:
    ledger = Ledger(database)
    lost = ledger.reserve(100, 100, NOON, lifetime=60)
    assert lost is not None
    assert ledger.reserve(1, 100, NOON + 59) is None
    assert ledger.reserve(100, 100, NOON + 60) is not None
    # It wasn't dead but slow: what it cost is counted all the same.
    assert ledger.settle(lost, 30, NOON + 90)
    assert ledger.today(NOON + 90).spent == 30
    assert ledger.today(NOON + 90).reserved == 100
    assert not ledger.settle(lost, 30, NOON + 91)


def test_prevents_a_call_from_being_paid_by_nobody_while_its_store_is_down(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = Ledger(database)
    held = [ledger.reserve(10, 100, NOON, lifetime=600) for _ in range(3)]
    works = database.transaction

    def down() -> Any:
        raise StoreDown("disk is full")

    monkeypatch.setattr(database, "transaction", down)
    for one in held:
        assert one is not None
        with pytest.raises(StoreDown):
            ledger.settle(one, 7, NOON)
    assert settle_again(ledger, NOON + 1)
    assert settle_again(ledger, NOON + 2)
    assert len(ledger.unsettled) == 3
    monkeypatch.setattr(database, "transaction", works)
    assert not settle_again(ledger, NOON + 3)
    assert not ledger.unsettled
    assert (ledger.today(NOON).spent, ledger.today(NOON).reserved) == (21, 0)
    # Told twice, it counts once.
    assert not ledger.settle(held[0], 7, NOON)  # type: ignore[arg-type]

    late = ledger.reserve(10, 100, NOON, lifetime=600)
    assert late is not None
    monkeypatch.setattr(database, "transaction", down)
    with pytest.raises(StoreDown):
        ledger.settle(late, 7, NOON)
    assert settle_again(ledger, NOON + GIVEN_UP_SECONDS)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    assert not settle_again(ledger, NOON + GIVEN_UP_SECONDS + 1)
    (told,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert "given up" in vars(told)["detail"]
    monkeypatch.setattr(database, "transaction", works)
    # Then it expires.
    assert ledger.today(NOON + GIVEN_UP_SECONDS + 1).spent == 21
    assert ledger.today(NOON + GIVEN_UP_SECONDS + 1).reserved == 0


def test_settling_again_waits_longer_while_the_store_is_down(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(database)
    held = ledger.reserve(10, 100, NOON)
    assert held is not None
    works, waits = database.transaction, list[float]()

    def down() -> Any:
        raise StoreDown("disk is full")

    async def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 9:
            monkeypatch.setattr(database, "transaction", works)
        if len(waits) == 11:
            raise EOFError

    monkeypatch.setattr(database, "transaction", down)
    with pytest.raises(StoreDown):
        ledger.settle(held, 7, NOON)
    with pytest.raises(EOFError):
        anyio.run(settle_on, ledger, lambda: NOON, wait)
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60, 1, 1]
    assert ledger.today(NOON).spent == 7


def test_what_happens_along_with_a_settlement_happens_with_it(database: Database) -> None:
    ledger, kept = Ledger(database), Exchanges(database)
    first, second, third = (ledger.reserve(10, 100, NOON) for _ in range(3))
    assert first is not None
    assert second is not None
    assert third is not None
    assert ledger.settle(first, 7, NOON, lambda one: kept.keep_in(one, exchange("a")))
    # Whoever settled it already kept nothing.
    assert not ledger.settle(first, 7, NOON, lambda one: kept.keep_in(one, exchange("b")))
    assert [one.id for one in kept.kept()] == ["a", "b"]

    def down(transaction: Transaction) -> None:
        kept.keep_in(transaction, exchange("c"))
        raise StoreDown("disk is full")

    with pytest.raises(StoreDown):
        ledger.settle(second, 7, NOON, down)
    assert (ledger.today(NOON).spent, ledger.today(NOON).reserved) == (7, 20)
    assert not settle_again(ledger, NOON)

    def bug(transaction: Transaction) -> None:
        kept.keep_in(transaction, exchange("d"))
        raise KeyError("d")

    # A bug is no reason to count nothing.
    with pytest.raises(KeyError):
        ledger.settle(third, 7, NOON, bug)
    assert (ledger.today(NOON).spent, ledger.today(NOON).reserved) == (21, 0)
    assert [one.id for one in kept.kept()] == ["a", "b"]


def test_each_utc_day_has_its_own_budget(database: Database) -> None:
    ledger = Ledger(database)
    midnight = NOON + DAY / 2
    held = ledger.reserve(100, 100, midnight - 1)
    assert held is not None
    assert ledger.reserve(1, 100, midnight - 0.001) is None
    assert ledger.reserve(100, 100, midnight) is not None
    # Settled after midnight, it counts on the day that it was reserved for.
    assert ledger.settle(held, 70, midnight + 1)
    assert [day.spent for day in ledger.days(2)] == [0, 70]


def test_prevents_a_clock_that_is_set_back_from_reopening_a_day(database: Database) -> None:
    ledger = Ledger(database)
    assert ledger.reserve(100, 100, NOON) is not None
    assert ledger.reserve(100, 100, NOON - DAY) is None
    assert ledger.reserve(100, 100, NOON - 300 * DAY) is None
    assert ledger.today(NOON - DAY).day == ledger.today(NOON).day


@pytest.mark.parametrize("amount", [-1, -100])
def test_prevents_money_from_thin_air(database: Database, amount: int) -> None:
    ledger = Ledger(database)
    with pytest.raises(ValueError, match="negative"):
        ledger.reserve(amount, 100, NOON)
    held = ledger.reserve(5, 100, NOON)
    assert held is not None
    with pytest.raises(ValueError, match="negative"):
        ledger.settle(held, amount, NOON)


def _cost(seed: int, number: int) -> int:
    return random.Random(seed * 1_000 + number).randrange(300, 1_001)


def _spend(url: str, seed: int) -> int:
    """One process of 64 threads on one budget; what all its calls cost."""
    database = open_database(url)
    ledger = Ledger(database)

    def call(number: int) -> int:
        cost = _cost(seed, number)
        held = ledger.reserve(1_000, LIMIT, NOON)
        return cost if held is not None and ledger.settle(held, cost, NOON) else 0

    with ThreadPoolExecutor(64) as pool:
        total = sum(pool.map(call, range(64)))
    database.close()
    return total


LIMIT = 100_000


def test_prevents_processes_at_once_from_overspending_by_a_cent(url: str) -> None:
    open_database(url).close()
    with multiprocessing.get_context("spawn").Pool(5) as pool:
        paid = sum(pool.starmap(_spend, [(url, seed) for seed in range(5)]))
    database = open_database(url)
    spending = Ledger(database).today(NOON)
    database.close()
    assert spending.spent == paid <= LIMIT
    assert spending.reserved == 0
    # Not vacuous: what all of them would have cost was far more than there was.
    assert paid > LIMIT / 2
    assert sum(_cost(seed, number) for seed in range(5) for number in range(64)) > LIMIT


def _die_around_settle(url: str, ready: str) -> None:
    ledger = Ledger(open_database(url))
    while True:
        held = ledger.reserve(10, 10**9, NOON, lifetime=60)
        assert held is not None
        ledger.settle(held, 7, NOON)
        Path(ready).touch()


def test_prevents_money_lost_or_spent_twice_by_a_kill(url: str, tmp_path: Path) -> None:
    """Kills around settle: spent is a whole number of calls, and what was held expires."""
    open_database(url).close()
    context = multiprocessing.get_context("fork")
    for number in range(20):
        ready = tmp_path / f"ready{number}"
        process = context.Process(target=_die_around_settle, args=(url, str(ready)))
        process.start()
        while not ready.exists() and process.is_alive():
            time.sleep(0.002)
        time.sleep(random.Random(number).random() * 0.03)
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        assert process.exitcode == -signal.SIGKILL
    database = open_database(url)
    ledger = Ledger(database)
    before = ledger.today(NOON)
    assert before.spent > 0
    assert before.spent % 7 == 0
    assert before.reserved % 10 == 0
    assert before.reserved <= 20 * 10
    after = ledger.today(NOON + 61)
    assert (after.spent, after.reserved) == (before.spent, 0)
    with database.transaction() as transaction:
        settled = transaction.execute("SELECT COUNT(*) FROM reservation WHERE state = 'settled'")
    assert settled[0][0] * 7 == after.spent
    database.close()


def exchange(id: str, **changes: object) -> Exchange:
    values: dict[str, object] = {
        "at": NOON,
        "session": None,
        "build_id": "b1",
        "language": "en",
        "kind": "answer",
        "outcome": "answered",
        "question": None,
        "answer": None,
    }
    return Exchange(id, **(values | changes))  # type: ignore[arg-type]


def test_gaps_are_found_by_comparing_strings(database: Database) -> None:
    kept = Exchanges(database)
    kept.keep(exchange("a", question="What of it?", answer=f"No. {REFUSAL}", found=("x", "y")))
    kept.keep(exchange("b", question="what  of it", answer=REFUSAL, at=NOON + 1, found=("z",)))
    kept.keep(exchange("c", question="Where?", answer="Alte Fassung.", at=NOON + 2))
    kept.keep(exchange("d", question="Who?", answer=f"{REFUSAL} But so.", at=NOON + 3))
    kept.keep(exchange("e", question="How?", answer=REFUSAL[:-1] + "!", at=NOON + 4))
    kept.keep(exchange("f", outcome="unanswered"))
    gaps = kept.gaps([REFUSAL, "Alte Fassung."])
    assert [(gap.question, gap.times, gap.found) for gap in gaps] == [
        ("what  of it", 2, ("z",)),
        ("Where?", 1, ()),
    ]
    assert kept.gaps([REFUSAL], since=NOON + 2) == []
    assert kept.gaps([""]) == []


def test_what_was_asked_and_lost(database: Database) -> None:
    kept = Exchanges(database)
    kept.keep(exchange("a", question="A?", lost=("p1", "doc|text"), cost=3))
    kept.keep(exchange("b", question="a", outcome="unanswered"))
    kept.keep(exchange("b", question="twice"))
    kept.keep(exchange("c", question="Ünï 🦀", cited=("p2",)))
    kept.keep(exchange("d"))
    assert [(gap.question, gap.times) for gap in kept.most_asked(5)] == [("a", 2), ("Ünï 🦀", 1)]
    assert [one.lost for one in kept.unresolved(5)] == [("p1", "doc|text")]
    assert kept.outcomes() == {"answered": 3, "unanswered": 1}
    assert {one.id: one.cited for one in kept.kept()}["c"] == ("p2",)


def test_what_is_forgotten_is_gone(database: Database) -> None:
    kept, box, mail = Exchanges(database), FeedbackBox(database), Outbox(database)
    kept.keep(exchange("a", session="s1", question="A"))
    kept.keep(exchange("b", session="s2", question="B", at=NOON - 100 * DAY))
    assert box.put(Feedback("a", NOON, True, "good"))
    assert mail.put("s1", "write to me", NOON)
    assert mail.put("s2", "write to me", NOON - 100 * DAY)
    assert kept.forget("s1") == 1
    assert kept.forget("s1") == 0
    assert box.latest(9) == []
    assert mail.counts() == {"waiting": 1, "sent": 0}
    assert kept.forget_before(NOON - 90 * DAY) == 1
    assert kept.kept() == []
    # A mail that nobody has got yet is never thrown away for its age.
    assert mail.counts() == {"waiting": 1, "sent": 0}


def test_feedback_is_of_an_answer_that_was_given(database: Database) -> None:
    box = FeedbackBox(database)
    assert not box.put(Feedback("never", NOON, True, ""))
    Exchanges(database).keep(exchange("a"))
    assert box.put(Feedback("a", NOON, True, "fine"))
    assert box.put(Feedback("a", NOON + 1, False, "it isn't"))
    assert box.latest(9) == [Feedback("a", NOON + 1, False, "it isn't")]
    assert box.counts() == (0, 1)


def test_mail_is_claimed_sent_and_marked(database: Database) -> None:
    mail = Outbox(database)
    assert mail.put("s1", "first", NOON)
    assert not mail.put("s1", "second", NOON)
    letter = mail.claim(NOON, 60)
    assert letter is not None
    assert (letter.body, letter.attempts) == ("first", 1)
    assert mail.claim(NOON + 59, 60) is None
    assert mail.sent(letter)
    assert mail.claim(NOON + 10 * DAY, 60) is None
    assert mail.counts() == {"waiting": 0, "sent": 1}


def test_prevents_mail_lost_with_whoever_claimed_it(database: Database) -> None:
    mail = Outbox(database)
    mail.put("s1", "first", NOON)
    dead = mail.claim(NOON, 60)
    again = mail.claim(NOON + 60, 60)
    assert dead is not None
    assert again is not None
    assert again.attempts == 2
    assert not mail.sent(dead)
    mail.failed(dead, NOON + 61)
    assert mail.claim(NOON + 62, 60) is None
    mail.failed(again, NOON + 61)
    assert mail.claim(NOON + 61 + 59, 60) is None
    last = mail.claim(NOON + 61 + 61, 60)
    assert last is not None
    assert mail.sent(last)


def test_all_processes_count_under_one_salt_for_a_day(database: Database) -> None:
    salt = day_salt(database, NOON)
    assert len(salt) == 32
    assert day_salt(database, NOON + 60) == salt
    assert day_salt(database, NOON + DAY) != salt
    with database.transaction() as transaction:
        names = transaction.execute("SELECT name FROM meta WHERE substr(name, 1, 5) = 'salt:'")
    assert len(names) == 1


def test_a_process_asks_for_the_salt_of_a_day_once(database: Database) -> None:
    salts = DaySalts(database)
    assert salts.of_day(NOON) == day_salt(database, NOON)
    with database.transaction() as transaction:
        transaction.execute("DELETE FROM meta WHERE substr(name, 1, 5) = 'salt:'")
    first = salts.of_day(NOON + 60)
    assert first == salts.of_day(NOON)
    assert first != salts.of_day(NOON + DAY)


def test_prevents_words_that_one_store_takes_and_the_other_refuses(database: Database) -> None:
    kept = Exchanges(database)
    kept.keep(exchange("a", question="a\0b \ud800 🦀", answer="\udfff", lost=("\0",)))
    (one,) = kept.kept()
    assert (one.question, one.answer) == ("a\ufffdb ? 🦀", "?")


# A column of each table that SQLite lets anything be put into, and what can't be used there.
DAMAGE: list[tuple[str, str, object]] = [
    *(("exchange", column, "no list") for column in ("found", "cited", "lost")),
    *(("exchange", column, "[1]") for column in ("found", "cited", "lost")),
    ("exchange", "found", '"text"'),
    ("exchange", "found", "[" * 9_000),
    ("exchange", "at", "soon"),
    ("exchange", "at", 1e300),
    ("exchange", "question", b"\xff"),
    ("exchange", "answer", b"\xff"),
    ("exchange", "cost", "much"),
    ("feedback", "at", 1e300),
    ("feedback", "words", b"\xff"),
    ("lead", "attempts", "many"),
    ("lead", "body", b"\xff"),
    ("budget", "spent", "much"),
    ("meta", "value", "zz"),
]


@pytest.mark.parametrize(("table", "column", "value"), DAMAGE)
def test_prevents_damage_from_passing_for_a_bug(
    table: str, column: str, value: object, tmp_path: Path
) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'store.db'}")
    kept, box, mail, ledger = (sort(database) for sort in (Exchanges, FeedbackBox, Outbox, Ledger))  # type: ignore[misc]
    kept.keep(exchange("a", question="A", answer=REFUSAL))
    box.put(Feedback("a", NOON, True, "good"))
    mail.put("s1", "first", NOON)
    ledger.today(NOON)
    day_salt(database, NOON)
    where = " WHERE name LIKE 'salt:%'" if table == "meta" else ""
    with database.transaction() as transaction:
        transaction.execute(f"UPDATE {table} SET {column} = ?{where}", (value,))
    uses = {
        "exchange": lambda: kept.gaps([REFUSAL]),
        "feedback": lambda: box.latest(9),
        "lead": lambda: mail.claim(NOON, 60),
        "budget": lambda: ledger.today(NOON),
        "meta": lambda: day_salt(database, NOON),
    }
    with pytest.raises(StoreDown, match=f"^the table {table} is damaged, in {column}$"):
        uses[table]()
    database.close()


def test_prevents_words_from_being_told_when_they_cannot_be_read(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'store.db'}")
    Exchanges(database).keep(exchange("a", question="A", answer=REFUSAL))
    with database.transaction() as transaction:
        transaction.execute("UPDATE exchange SET question = CAST(? AS TEXT)", (b"zanzibar \xff",))
    with pytest.raises(StoreDown, match="damaged") as caught:
        Exchanges(database).kept()
    assert "zanzibar" not in str(caught.value)
    database.close()


def _open(url: str) -> None:
    open_database(url).close()


def test_prevents_processes_that_start_together_from_failing(url: str) -> None:
    with multiprocessing.get_context("fork").Pool(8) as pool:
        pool.map(_open, [url] * 8, chunksize=1)


def test_prevents_a_status_that_writes(database: Database) -> None:
    """Every page of the site asks for it, and each write waits for the disk."""
    ledger = Ledger(database)
    ledger.today(NOON)
    with database.transaction() as transaction:
        real = transaction.execute
        statements: list[str] = []

        class Watched:
            def execute(self, statement: str, values: object = ()) -> object:
                statements.append(statement)
                return real(statement, values)  # type: ignore[arg-type]

        class Kept:
            @contextmanager
            def transaction(self) -> Iterator[Watched]:
                yield Watched()

        Ledger(Kept()).today(NOON + 1)  # type: ignore[arg-type]
    assert [one.split()[0] for one in statements] == ["SELECT", "UPDATE", "SELECT"]


def test_prevents_a_settlement_that_reads_all_of_the_last_days(tmp_path: Path) -> None:
    """While one writes, all others wait."""
    database = open_database(f"sqlite:///{tmp_path / 'store.db'}")
    statements: list[tuple[str, Any]] = []

    class Watched:
        def __init__(self, real: Transaction) -> None:
            self.real = real

        def execute(self, statement: str, values: Any = ()) -> Any:
            statements.append((statement, values))
            return self.real.execute(statement, values)

    class Kept:
        @contextmanager
        def transaction(self) -> Iterator[Watched]:
            with database.transaction() as real:
                yield Watched(real)

    ledger = Ledger(Kept())  # type: ignore[arg-type]
    held = ledger.reserve(10, 100, NOON)
    assert held is not None
    assert ledger.settle(held, 5, NOON)
    assert len(statements) > 4
    with database.transaction() as transaction:
        for statement, values in statements:
            for row in transaction.execute(f"EXPLAIN QUERY PLAN {statement}", values):
                assert not str(row[3]).startswith("SCAN"), statement
    database.close()


def test_the_threads_of_a_process_take_turns(tmp_path: Path) -> None:
    """SQLite would have them sleep and ask again, and some wait very long."""
    file = tmp_path / "store.db"
    database = open_database(f"sqlite:///{file}")
    ledger = Ledger(database)
    with ThreadPoolExecutor(40) as pool:
        held = list(pool.map(lambda _: ledger.reserve(1, 100, NOON), range(120)))
    assert sum(one is not None for one in held) == 100
    assert ledger.today(NOON).reserved == 100
    opened = [os.path.realpath(link) for link in Path("/proc/self/fd").iterdir()]
    assert opened.count(str(file.resolve())) == 1
    database.close()


def test_what_is_forgotten_stands_in_no_file(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'store.db'}")
    kept = Exchanges(database)
    for number in range(200):
        session = "zanzibar" if number % 2 else "other"
        kept.keep(exchange(f"{number}", session=session, question=f"{session} pots {number}"))
    assert kept.forget("zanzibar") == 100
    data = b"".join(file.read_bytes() for file in tmp_path.glob("store.db*"))
    database.close()
    assert b"other pots" in data
    assert b"zanzibar" not in data


def test_prevents_others_from_reading_the_store(tmp_path: Path) -> None:
    path = tmp_path / "mine" / "store.db"
    before = os.umask(0)
    try:
        database = open_database(f"sqlite:///{path}")
        Exchanges(database).keep(exchange("a"))
        modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
        database.close()
    finally:
        os.umask(before)
    assert modes == {"store.db": 0o600, "store.db-wal": 0o600, "store.db-shm": 0o600}
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_prevents_a_store_that_another_user_planted(tmp_path: Path) -> None:
    public = tmp_path / "public"
    public.mkdir()
    public.chmod(0o1777)
    for planted in (public / "folder", public / "folder2" / "store.db"):
        planted.parent.mkdir(exist_ok=True)
        planted.mkdir() if planted.name == "folder" else planted.touch()
        os.chown(planted, 12_345, 12_345)
    os.chown(public / "folder2", 12_345, 12_345)
    for path in (public / "folder" / "store.db", public / "folder2" / "store.db"):
        with pytest.raises(StoreDown, match="another user"):
            open_database(f"sqlite:///{path}")


def test_a_file_that_is_no_store_is_told(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(b"not a database, but a letter to one" * 100)
    with pytest.raises(StoreDown, match="not a database"):
        open_database(f"sqlite:///{tmp_path / 'store.db'}")


def test_a_transaction_happens_whole_or_not_at_all(database: Database) -> None:
    def half() -> None:
        with database.transaction() as transaction:
            transaction.execute("INSERT INTO meta (name, value) VALUES ('x', 'y')")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    with database.transaction() as transaction:
        assert transaction.execute("SELECT value FROM meta WHERE name = 'x'") == []


def test_prevents_a_store_of_another_version(url: str) -> None:
    database = open_database(url)
    with database.transaction() as transaction:
        transaction.execute("UPDATE meta SET value = '99' WHERE name = 'schema'")
    database.close()
    with pytest.raises(WrongStore, match="99"):
        open_database(url)


@pytest.mark.parametrize(
    "url", ["", "mysql://x/y", "sqlite:relative.db", "store.db", "sqlite:///", "sqlite:///:memory:"]
)
def test_prevents_a_store_that_nobody_meant(url: str) -> None:
    with pytest.raises(WrongStore, match="sqlite:///PATH"):
        open_database(url)


def test_prevents_a_password_in_an_error() -> None:
    with pytest.raises(StoreDown) as told:
        open_database("postgresql://user:hunter2@127.0.0.1:1/none")
    assert "hunter2" not in str(told.value)
    with pytest.raises(WrongStore) as wrong:
        open_database("postgresql://user:hunter2%zz@127.0.0.1/none?hunter2=x")
    assert "hunter2" not in str(wrong.value)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreDown):
        open_database(f"sqlite:///{tmp_path / 'file' / 'store.db'}")


def test_prevents_a_start_from_failing_while_another_makes_the_file(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    other = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    # Not ahead in its log yet, it writes: now SQLite waits for nobody.
    other.execute("BEGIN IMMEDIATE")
    done = threading.Timer(0.3, other.execute, ["ROLLBACK"])
    done.start()
    open_database(f"sqlite:///{file}").close()
    done.join()
    other.close()
