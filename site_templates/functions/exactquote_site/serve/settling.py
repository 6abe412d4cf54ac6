"""Settles what a store didn't take when it was due, again and again for a while.

What is given up stays reserved until it expires.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import anyio
import anyio.to_thread

from exactquote_site.serve.store.database import StoreDown
from exactquote_site.serve.store.ledger import Ledger

# A store that is down for longer is a matter for its owner.
GIVEN_UP_SECONDS = 3_600.0
_FIRST_WAIT_SECONDS = 1.0
_WAIT_SECONDS_MAX = 60.0
_LOG = logging.getLogger("exactquote")


def settle_again(ledger: Ledger, now: float) -> bool:
    """Settle what is due; whether something is left, since the store is down still."""
    for _ in range(len(ledger.unsettled)):
        due = ledger.unsettled.popleft()
        if now - due.since > GIVEN_UP_SECONDS:
            _LOG.error("settlement", extra={"detail": "given up; it is free again when it expires"})
            continue
        try:
            ledger.count(due.reservation, due.amount, now)
        except StoreDown as error:
            ledger.unsettled.append(due)
            _LOG.warning("settlement", extra={"detail": str(error)})
            return True
    return False


async def settle_on(
    ledger: Ledger,
    now: Callable[[], float],
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
) -> None:
    """Do so for as long as the function runs, more seldom while the store is down."""
    wait = _FIRST_WAIT_SECONDS
    while True:
        await sleep(wait)
        left = await anyio.to_thread.run_sync(settle_again, ledger, now())
        wait = min(2 * wait, _WAIT_SECONDS_MAX) if left else _FIRST_WAIT_SECONDS
