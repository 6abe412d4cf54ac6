"""The owner's page: gaps, what is asked most, unresolved citations, spending, feedback.

It doesn't exist unless a token is set. The browser asks for it (HTTP Basic, any user name);
it is compared in constant time, attempts are limited, and nothing is stored by a browser.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import math
import secrets
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime
from html import escape
from urllib.parse import urlsplit

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from exactquote_site.serve.answer import Desk
from exactquote_site.serve.config import Rates
from exactquote_site.serve.provider import ProviderFault
from exactquote_site.serve.rates import RatesDown, VisitorRates
from exactquote_site.serve.store.database import Database, StoreDown
from exactquote_site.serve.store.exchanges import Exchanges, Gap
from exactquote_site.serve.store.feedback import FeedbackBox
from exactquote_site.serve.store.ledger import NANO
from exactquote_site.serve.store.outbox import Outbox
from exactquote_site.serve.summary import Unaffordable, summary

ROWS = 50
ATTEMPTS = Rates(per_minute=5, per_day=50)
TOKEN_CHARS_MIN = 16
_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 70rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2.2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: start; vertical-align: top; padding: .35rem .8rem .35rem 0;
  border-bottom: 1px solid color-mix(in srgb, currentcolor 20%, transparent); }
td { overflow-wrap: anywhere; } p.note { opacity: .75; } .wide { overflow-x: auto; }
button { font: inherit; padding: .4rem 1rem; } pre { white-space: pre-wrap; font: inherit; }
"""

Bucket = Callable[[Request], str]
Answer = Callable[[Request], Awaitable[Response]]


class Admin:
    """The owner's page over one store."""

    def __init__(self, desk: Desk, database: Database, token: str, bucket: Bucket) -> None:
        """`bucket` names a visitor for counting. Raises `ValueError` for a short token."""
        if len(token) < TOKEN_CHARS_MIN:
            raise ValueError(f"the admin token must have {TOKEN_CHARS_MIN} characters or more")
        self._desk = desk
        self._database = database
        self._token = token.encode()
        self._bucket = bucket
        # Never shared with the visitors' storage: failed attempts are few.
        self._attempts = VisitorRates(ATTEMPTS)
        # Guesses that come at once are looked at one after the other.
        self._one = threading.Lock()

    def routes(self) -> list[Route]:
        """The routes of the page."""
        return [
            Route("/admin", self.guarded(self._page), methods=["GET"]),
            Route("/admin/summary", self.guarded(self._summary), methods=["POST"]),
        ]

    def guarded(self, answer: Answer) -> Answer:
        """The same answer, for the owner alone."""

        async def guarded(request: Request) -> Response:
            refused = await anyio.to_thread.run_sync(self._refused, request)
            return await answer(request) if refused is None else refused

        return guarded

    async def _page(self, request: Request) -> Response:
        try:
            body = await anyio.to_thread.run_sync(self._body)
        except StoreDown as error:
            return _html("The store can't be reached", f"<p>{escape(str(error))}</p>", 503)
        return _html(f"{self._desk.config.title}: questions", body)

    async def _summary(self, request: Request) -> Response:
        # A browser sends the password with a form of any site; only our own page may ask.
        if not _is_from_here(request):
            return _html("Not from here", "<p>Ask for it on the admin page itself.</p>", 403)
        try:
            text = await summary(self._desk)
        except ProviderFault as fault:
            return _html("No summary", f"<p>The model failed: {escape(fault.code)}.</p>", 502)
        except Unaffordable as why:
            return _html("No summary", f"<p>{escape(str(why))}</p>", 409)
        except StoreDown as error:
            return _html("The store can't be reached", f"<p>{escape(str(error))}</p>", 503)
        body = f"<pre>{escape(text)}</pre><p class=note>Written by the model from kept questions."
        return _html("Summary", f'{body} Check it.</p><p><a href="../admin">Back</a></p>')

    def _refused(self, request: Request) -> Response | None:
        """None for the owner; everyone else is told to say the token, not too often."""
        headers = {"WWW-Authenticate": 'Basic realm="exactquote", charset="UTF-8"'}
        if "authorization" not in request.headers:
            return _html("The token, please", "<p>Any user name will do.</p>", 401, headers)
        try:
            visitor = self._bucket(request)
            with self._one:
                # Before the token is looked at: else a guess too many would still be a guess.
                seconds = self._attempts.wait(visitor)
                if not seconds and not self._knows(request):
                    self._attempts.count(visitor)
                    return _html("That isn't the token", "", 401, headers)
        except (RatesDown, StoreDown):
            seconds = 60.0
        if seconds:
            wait = {"Retry-After": str(math.ceil(seconds))}
            return _html("Too many attempts", "<p>Try again later.</p>", 429, wait)
        return None

    def _knows(self, request: Request) -> bool:
        scheme, _, value = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "basic":
            return False
        try:
            told = base64.b64decode(value, validate=True).partition(b":")[2]
        except (binascii.Error, ValueError):
            return False
        return hmac.compare_digest(told, self._token)

    def _body(self) -> str:
        desk = self._desk
        kept = Exchanges(self._database)
        refusals = [text for refusal in desk.config.refusals for text in refusal.texts.values()]
        gaps = kept.gaps(refusals)
        box = FeedbackBox(self._database)
        up, down = box.counts()
        mail = Outbox(self._database).counts()
        return "".join(
            (
                _spending(desk),
                _section("Gaps", _GAPS, _table(("Times", "Question", "Found"), _gap_rows(gaps))),
                _section(
                    "Asked most",
                    "Of the questions whose words are kept.",
                    _table(("Times", "Question", "Found"), _gap_rows(kept.most_asked(ROWS))),
                ),
                _section(
                    "Unresolved citations",
                    "Tokens of the model that named no passage it was given; none was shown.",
                    _table(
                        ("When", "Tokens"),
                        ((_time(one.at), ", ".join(one.lost)) for one in kept.unresolved(ROWS)),
                    ),
                ),
                _section(
                    "Feedback",
                    f"{up} helped, {down} didn't.",
                    _table(
                        ("When", "Helped", "Words"),
                        (
                            (_time(one.at), "yes" if one.good else "no", one.words)
                            for one in box.latest(ROWS)
                        ),
                    ),
                ),
                _section("Mail", f"{mail['waiting']} waiting, {mail['sent']} sent.", ""),
                _ASK_SUMMARY if desk.model is not None else "",
            )
        )


_GAPS = (
    "Questions that ended in the refusal sentence, found by comparing strings. With pages"
    " found, the answer may have been missed; without, a page may be missing."
)
_ASK_SUMMARY = (
    '<form method="post" action="admin/summary"><p><button>Summarise the kept questions'
    "</button></p><p class=note>One model call, from the day's budget.</p></form>"
)


def _spending(desk: Desk) -> str:
    rows = (
        (day.day, f"{day.spent / NANO:.4f}", f"{day.reserved / NANO:.4f}")
        for day in desk.ledger.days(14)
    )
    return _section(
        "Spending",
        f"In US dollars; {desk.config.budget_usd_per_day:.2f} may be spent on a UTC day.",
        _table(("Day", "Spent", "Reserved"), rows),
    )


def _gap_rows(gaps: Sequence[Gap]) -> Iterable[tuple[str, ...]]:
    return ((str(gap.times), gap.question, ", ".join(gap.found) or "—") for gap in gaps[:ROWS])


def _section(title: str, note: str, body: str) -> str:
    return f"<section><h2>{escape(title)}</h2><p class=note>{escape(note)}</p>{body}</section>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    made = "".join(
        f"<tr>{''.join(f'<td dir=auto>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    if not made:
        return "<p>None.</p>"
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    return f"<div class=wide><table><thead><tr>{names}</tr></thead>{made}</table></div>"


def _is_from_here(request: Request) -> bool:
    """Browsers say so; over plain HTTP by the origin alone, which a form always has."""
    told = request.headers.get("sec-fetch-site")
    if told is not None:
        return told == "same-origin"
    origin = urlsplit(request.headers.get("origin", ""))
    return bool(origin.netloc) and origin.netloc == request.headers.get("host")


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")


def _html(
    title: str, body: str, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    nonce = secrets.token_urlsafe(16)
    page = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="robots" content="noindex"><style nonce="{nonce}">{_STYLE}</style>'
        f"<h1>{escape(title)}</h1>{body}</html>"
    )
    return HTMLResponse(
        page,
        status,
        {
            "Cache-Control": "no-store",
            "Content-Security-Policy": (
                f"default-src 'none'; style-src 'nonce-{nonce}'; form-action 'self';"
                " frame-ancestors 'none'; base-uri 'none'"
            ),
            # With none at all, a form of this page would have no origin either.
            "Referrer-Policy": "same-origin",
            "X-Content-Type-Options": "nosniff",
            **(headers or {}),
        },
    )
