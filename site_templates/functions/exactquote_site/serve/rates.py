"""Counts the questions of each visitor, and says when the next one may come.

Counting is done by the limits package: in memory for one process, in Redis for several.
"""

from __future__ import annotations

import time
from urllib.parse import urlsplit

from limits import RateLimitItem, RateLimitItemPerDay, RateLimitItemPerMinute
from limits.errors import ConfigurationError
from limits.storage import storage_from_string
from limits.strategies import MovingWindowRateLimiter

from exactquote_site.serve.config import Rates
from exactquote_site.wire.allowlist import WireError

_NAMESPACE = "exactquote"
# A store of counts that hangs mustn't hold a visitor, nor the thread that asks it.
_PATIENCE = {"socket_timeout": 3.0, "socket_connect_timeout": 3.0}


class RatesDown(Exception):
    """What counts can't be reached; the message names no secret."""


class VisitorRates:
    """The limits of one kind of request, for visitors by bucket."""

    def __init__(self, rates: Rates, storage_url: str = "", kind: str = "") -> None:
        """`storage_url` replaces the configured one; kinds are counted apart from each other.

        Connects to nothing yet. Raises `WireError` for a URL that is wrong.
        """
        space = _NAMESPACE + (f"-{kind}" if kind else "")
        self._items: list[RateLimitItem] = []
        if rates.per_minute:
            self._items.append(RateLimitItemPerMinute(rates.per_minute, namespace=space))
        if rates.per_day:
            self._items.append(RateLimitItemPerDay(rates.per_day, namespace=space))
        url = storage_url or rates.storage_url
        patience = {} if urlsplit(url).scheme == "memory" else _PATIENCE
        try:
            self._storage = storage_from_string(url, **patience)
        except Exception as error:
            # As with `RatesDown`; and the URL, which may hold a password, is told by none.
            known = isinstance(error, ConfigurationError)
            why = "there is no such storage, or its package is missing" if known else "wrong URL"
            raise WireError(f"rates.storage_url: {why}") from None
        self._limiter = MovingWindowRateLimiter(self._storage)

    def wait(self, bucket: str) -> float:
        """0.0 if a request may be answered now, else the seconds until one may be.

        Nothing is counted. Raises `RatesDown`.
        """
        try:
            return max((self._until(item, bucket) for item in self._items), default=0.0)
        except Exception as error:
            # The drivers behind the package have no error in common.
            raise RatesDown(type(error).__name__) from None

    def count(self, bucket: str) -> float:
        """As `wait`, and the request is counted if it may be answered. Raises `RatesDown`."""
        seconds = self.wait(bucket)
        if seconds:
            return seconds
        try:
            # Between the test and the hit another process may have taken the last one.
            taken = [self._limiter.hit(item, bucket) for item in self._items]
        except Exception as error:
            raise RatesDown(type(error).__name__) from None
        return 0.0 if all(taken) else max(1.0, self.wait(bucket))

    def _until(self, item: RateLimitItem, bucket: str) -> float:
        if self._limiter.test(item, bucket):
            return 0.0
        window = self._limiter.get_window_stats(item, bucket)
        return min(max(1.0, window.reset_time - time.time()), float(item.get_expiry()))
