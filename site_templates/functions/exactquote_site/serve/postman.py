"""Carries letters from the outbox to the owner, again and again until each was taken."""

from __future__ import annotations

import logging
from collections.abc import Callable

import anyio
import anyio.to_thread

from exactquote_site.serve.leads import Lead
from exactquote_site.serve.mail import SECONDS_IN_ALL, MailDown, Mailer
from exactquote_site.serve.store.database import StoreDown
from exactquote_site.serve.store.outbox import Outbox

LEASE_SECONDS = 2 * SECONDS_IN_ALL
_REST_SECONDS = 15.0
_QUOTED_CHARS_MAX = 2_000
_LOG = logging.getLogger("exactquote")


def letter(message: str, found: tuple[Lead, ...], title: str) -> str:
    """The body of a mail to the owner about one visitor's message."""
    signs = "\n".join(f"- {lead.kind}: {lead.words}" for lead in found)
    quoted = "\n".join(f"> {line}" for line in message[:_QUOTED_CHARS_MAX].splitlines())
    return (
        f"A visitor of {title} left a way to be reached, or spoke of hiring.\n\n"
        f"What was found:\n{signs}\n\nThe message, as it was written:\n{quoted}\n\n"
        "The visitor's words are not verified; take care with links.\n"
        "There is one mail for each conversation.\n"
    )


def carry(outbox: Outbox, mailer: Mailer, now: Callable[[], float]) -> bool:
    """Carry one letter that is due; False when none is. Raises `StoreDown`."""
    held = outbox.claim(now(), LEASE_SECONDS)
    if held is None:
        return False
    try:
        mailer.hand_over(held.body, held.id)
    except MailDown as error:
        _LOG.warning("mail", extra={"detail": str(error)})
        outbox.failed(held, now())
        return True
    except Exception as bug:
        # One letter that can't be sent mustn't keep the others.
        _LOG.error("mail", extra={"detail": type(bug).__name__})
        outbox.failed(held, now())
        return True
    outbox.sent(held)
    return True


async def carry_on(outbox: Outbox, mailer: Mailer, now: Callable[[], float]) -> None:
    """Carry letters for as long as the function runs."""
    while True:
        try:
            while await anyio.to_thread.run_sync(carry, outbox, mailer, now):
                pass
        except StoreDown as error:
            _LOG.warning("store", extra={"detail": str(error)})
        await anyio.sleep(_REST_SECONDS)
