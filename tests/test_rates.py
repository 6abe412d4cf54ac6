"""How many requests a visitor has, and when the next one may come."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from limits.storage import memory as memory_storage

from exactquote_site.serve.config import Rates
from exactquote_site.serve.rates import RatesDown, VisitorRates
from exactquote_site.wire.allowlist import WireError
from tests.servers import start_redis


@pytest.fixture(scope="module")
def redis() -> Iterator[str]:
    with start_redis() as url:
        yield url


@pytest.fixture(params=["memory", "redis"])
def storage(request: pytest.FixtureRequest) -> str:
    if request.param == "memory":
        return "memory://"
    import redis

    url: str = request.getfixturevalue("redis")
    redis.from_url(url).flushall()
    return url


def test_a_visitor_has_so_many_in_a_minute(storage: str) -> None:
    rates = VisitorRates(Rates(per_minute=3, per_day=0), storage)
    assert [rates.count("a") for _ in range(3)] == [0.0] * 3
    seconds = rates.count("a")
    assert 1 <= seconds <= 60
    assert rates.wait("a") <= seconds
    assert rates.count("b") == 0.0


def test_the_longer_wait_is_told(storage: str) -> None:
    rates = VisitorRates(Rates(per_minute=2, per_day=2), storage)
    assert [rates.count("a") for _ in range(2)] == [0.0] * 2
    assert 86_000 < rates.count("a") <= 86_400


def test_refused_requests_and_looks_cost_nothing(storage: str) -> None:
    """Whoever keeps on asking isn't kept out for longer by that."""
    rates = VisitorRates(Rates(per_minute=0, per_day=2), storage)
    assert [rates.wait("a") for _ in range(9)] == [0.0] * 9
    assert rates.count("a") == 0.0
    assert rates.count("a") == 0.0
    first = rates.count("a")
    assert all(rates.count("a") <= first for _ in range(20))


def test_kinds_of_requests_are_counted_apart(storage: str) -> None:
    questions = VisitorRates(Rates(per_minute=1, per_day=1), storage)
    ratings = VisitorRates(Rates(per_minute=1, per_day=1), storage, "rating")
    assert questions.count("a") == 0.0
    assert ratings.count("a") == 0.0
    assert questions.count("a")
    assert ratings.count("a")


def test_prevents_requests_at_once_from_all_being_the_last(storage: str) -> None:
    rates = VisitorRates(Rates(per_minute=0, per_day=10), storage)
    with ThreadPoolExecutor(32) as pool:
        waits = list(pool.map(lambda _: rates.count("a"), range(200)))
    assert waits.count(0.0) == 10
    assert all(1 <= seconds <= 86_400 for seconds in waits if seconds)


def test_prevents_a_clock_set_back_from_shutting_a_visitor_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rates = VisitorRates(Rates(per_minute=1, per_day=0))
    assert rates.count("a") == 0.0
    real = memory_storage.time.time
    monkeypatch.setattr(memory_storage.time, "time", lambda: real() - 10**6)
    assert 1 <= rates.count("a") <= 60


def test_without_limits_nothing_is_counted() -> None:
    rates = VisitorRates(Rates(per_minute=0, per_day=0), "redis://127.0.0.1:9")
    assert [rates.count("a") for _ in range(99)] == [0.0] * 99


def test_a_storage_that_is_gone_is_told() -> None:
    rates = VisitorRates(Rates(), "redis://:hunter2@127.0.0.1:9/0")
    for count in (rates.count, rates.wait):
        with pytest.raises(RatesDown) as told:
            count("a")
        assert "hunter2" not in str(told.value)


@pytest.mark.parametrize("url", ["", "nowhere", "tape://x", "redis://:hunter2@h:port/x"])
def test_prevents_a_storage_that_nobody_meant(url: str) -> None:
    with pytest.raises(WireError, match="storage_url") as told:
        VisitorRates(Rates(storage_url=url))
    assert "hunter2" not in str(told.value)
