"""Turns the files of a build into the chat function: one ASGI app, with or without the site.

`create_app` reads everything once; a build that can't be read is an error at the start and
no half-working function. What comes from outside is checked in one order: size, type and
shape of the body, the visitor's rate, the day's budget; only then is a model called.
"""

from __future__ import annotations

import gc
import logging
import math
import os
import threading
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp

from exactquote_site.knowledge.base import KnowledgeBase
from exactquote_site.knowledge.embedders import (
    ASKING,
    Embedder,
    EmbedderDown,
    EmbedderUnfit,
    LoadsWeights,
    open_embedder,
)
from exactquote_site.knowledge.stored import CHUNKS_PATH, Header
from exactquote_site.knowledge.vectors import Vectors, VectorStore
from exactquote_site.serve import status
from exactquote_site.serve.admin import TOKEN_CHARS_MIN, Admin, Answer
from exactquote_site.serve.answer import Desk, Done, Event, Failed, Start, answered
from exactquote_site.serve.config import CHAT_PATH, ChatConfig, Limits, Rates, read_config
from exactquote_site.serve.environment import key_in, variable
from exactquote_site.serve.figures import Figures
from exactquote_site.serve.files import site_files
from exactquote_site.serve.guarded import PATIENCE, GuardedEmbedder
from exactquote_site.serve.leads import leads
from exactquote_site.serve.logs import write_logs
from exactquote_site.serve.mail import Mailer, open_mailer
from exactquote_site.serve.postman import carry_on, letter
from exactquote_site.serve.provider import OpenAIModel
from exactquote_site.serve.rates import RatesDown, VisitorRates
from exactquote_site.serve.requests import (
    Question,
    Refused,
    read_question,
    read_rating,
    require_json,
    too_long,
)
from exactquote_site.serve.settling import settle_again, settle_on
from exactquote_site.serve.store.database import Database, StoreDown, open_database
from exactquote_site.serve.store.exchanges import DAY_SECONDS, Exchanges
from exactquote_site.serve.store.feedback import Feedback, FeedbackBox
from exactquote_site.serve.store.ledger import Ledger
from exactquote_site.serve.store.outbox import Outbox
from exactquote_site.serve.store.place import store_url
from exactquote_site.serve.store.salts import DaySalts
from exactquote_site.serve.streaming import StreamedAnswer, WholeAnswer
from exactquote_site.serve.texts import language_of, phrase, wait
from exactquote_site.serve.visitors import bucket, visitor_address
from exactquote_site.wire.allowlist import WireError, load_allowlist

DATA_FOLDER = "data"
_LOG = logging.getLogger("exactquote")
_NO_STORE = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_SWEEP_SECONDS = 3_600.0
# Of one visitor, whatever the limits of questions are.
_RATINGS = Rates(per_minute=30, per_day=500)
# Mail about a visitor who told no session of its own.
_CALLERS = Rates(per_minute=0, per_day=1)
# A body of a few kilobytes takes no longer; whoever sends a byte now and then is let go.
_BODY_SECONDS = 10.0


@dataclass
class Site:
    """A chat function that is ready: what it answers with, and what it counts in."""

    config: ChatConfig
    desk: Desk
    rates: VisitorRates
    ratings: VisitorRates
    callers: VisitorRates
    salts: DaySalts
    database: Database
    outbox: Outbox
    feedback: FeedbackBox
    mailer: Mailer | None = None
    figures: Figures | None = None
    admin_token: str = ""
    clock: Callable[[], float] = time.time

    def bucket(self, request: Request) -> str:
        """The name under which whoever sent a request is counted today. Raises `StoreDown`."""
        peer = request.client.host if request.client is not None else ""
        forwarded = request.headers.getlist("x-forwarded-for")
        address = visitor_address(peer, forwarded, self.config.trusted_hops)
        return bucket(address, self.salts.of_day(self.clock()))


def create_app(
    folder: Path,
    environ: Mapping[str, str] | None = None,
    *,
    site: Path | None = None,
    clock: Callable[[], float] = time.time,
) -> Starlette:
    """The app for the `functions` folder of a build; with `site`, its pages too.

    Raises `WireError` for files that can't be read or aren't of one build, and `WrongStore`
    or `StoreDown` for the store.
    """
    made = open_site(folder, os.environ if environ is None else environ, clock)
    routes: list[BaseRoute] = [
        Route("/api/chat", _chat, methods=["POST"]),
        Route("/api/status", _status, methods=["GET"]),
        Route("/api/feedback", _feedback, methods=["POST"]),
    ]
    figures: Answer = _metrics
    if made.admin_token:
        admin = Admin(made.desk, made.database, made.admin_token, made.bucket)
        routes += admin.routes()
        # What is spent is nobody else's business, where there is a way to tell who asks.
        figures = admin.guarded(_metrics)
    if made.figures is not None:
        routes.append(Route("/metrics", figures, methods=["GET"]))
    if site is not None:
        files: ASGIApp = site_files(site)
        routes.append(Mount("/", files))
    app = Starlette(routes=routes, lifespan=_lifespan)
    app.state.site = made
    return app


def open_site(
    folder: Path, environ: Mapping[str, str], clock: Callable[[], float] = time.time
) -> Site:
    """Read a build and open what its function needs. Raises as `create_app` does."""
    data = folder / DATA_FOLDER
    config = read_config(_read(folder, CHAT_PATH))
    allowlist = load_allowlist(lambda path: _read(data, path))
    base = KnowledgeBase.load(lambda path: _read(data, path), _placed(config, environ))
    ids = {config.build_id, allowlist.build_id, base.header.build_id}
    if len(ids) != 1:
        raise WireError(f"the files are of different builds: {', '.join(sorted(ids))}")
    for chunk in base.chunks:
        unknown = next((id for id in chunk.passages if id not in allowlist.entries), None)
        if unknown is not None:
            raise WireError(f"{CHUNKS_PATH}: names {unknown}, which the allowlist lacks")
    database = open_database(store_url(folder, config.store, environ))
    key = key_in(environ, config.provider.key_env)
    ready = bool(key and config.provider.model)
    model = OpenAIModel(config.provider, config.timeouts, key) if ready else None
    desk = Desk(
        config=config,
        base=base,
        entries=allowlist.entries,
        ledger=Ledger(database),
        exchanges=Exchanges(database),
        model=model,
        embedder=_embedder(config, base, environ),
        clock=clock,
    )
    counts = variable(environ, "EXACTQUOTE_RATES_URL") or config.rates.storage_url
    token = variable(environ, config.admin_token_env)
    if token and len(token) < TOKEN_CHARS_MIN:
        raise WireError(f"{config.admin_token_env} must have {TOKEN_CHARS_MIN} characters or more")
    return Site(
        config=config,
        desk=desk,
        rates=VisitorRates(config.rates, counts),
        ratings=VisitorRates(_RATINGS, counts, "rating"),
        callers=VisitorRates(_CALLERS, counts, "caller"),
        salts=DaySalts(database),
        database=database,
        outbox=Outbox(database),
        feedback=FeedbackBox(database),
        mailer=open_mailer(config.leads, environ),
        figures=Figures(config.build_id) if config.metrics else None,
        admin_token=token,
        clock=clock,
    )


def _placed(
    config: ChatConfig, environ: Mapping[str, str]
) -> Callable[[Header, Vectors], VectorStore] | None:
    """Where vectors are searched, if not in the memory of this process."""
    name = config.embedding.postgres_env
    if not name:
        return None
    url = variable(environ, name)
    if not url:
        raise WireError(f"{name} isn't set; vectors are configured to be searched there")
    try:
        from exactquote_site.knowledge.pg_vectors import placed
    except ImportError as missing:
        raise WireError("vectors in PostgreSQL need the packages psycopg and pgvector") from missing
    place = placed(url)

    def loaded(header: Header, vectors: Vectors) -> VectorStore:
        try:
            return place(header, vectors)
        except EmbedderDown as down:
            raise StoreDown(str(down)) from None

    return loaded


def _read(folder: Path, path: str) -> bytes:
    try:
        return (folder / path).read_bytes()
    except OSError as error:
        raise WireError(f"{path}: {error.strerror}") from error


def _embedder(
    config: ChatConfig, base: KnowledgeBase, environ: Mapping[str, str]
) -> Embedder | None:
    """What made the vectors of the build; None where there are none or it can't be had."""
    if base.vectors is None or base.header.embedder is None:
        return None
    told = config.embedding
    far = told.kind == "endpoint"
    try:
        opened = open_embedder(
            told.kind,
            base_url=told.base_url,
            model=told.model,
            key_env=told.key_env if variable(environ, told.key_env) else "",
            patience=PATIENCE if far else ASKING,
        )
    except EmbedderUnfit as error:
        _LOG.warning("embedder", extra={"detail": str(error)})
        return None
    return GuardedEmbedder(opened) if far and opened is not None else opened


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    site: Site = app.state.site
    write_logs()
    # What was read at the start stays. Looking through it for garbage would hold up all answers
    # for a tenth of a second, now and then.
    gc.collect()
    gc.freeze()
    # A daemon, so that whoever stops the server needn't wait for it.
    threading.Thread(target=_warm, args=(site.desk,), name="warming", daemon=True).start()
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_sweep, site)
            group.start_soon(settle_on, site.desk.ledger, site.clock)
            if site.mailer is not None:
                group.start_soon(carry_on, site.outbox, site.mailer, site.clock)
            yield
            group.cancel_scope.cancel()
    finally:
        gc.unfreeze()
        with anyio.CancelScope(shield=True):
            await _close(site)


def _warm(desk: Desk) -> None:
    """Load what the first question needs, while nobody waits for it.

    A question that comes meanwhile waits for the same load. Where nothing runs a lifespan, and
    for an embedder that is far away, all is as late as it was.
    """
    try:
        at_home = desk.embedder if isinstance(desk.embedder, LoadsWeights) else None
        if isinstance(at_home, LoadsWeights):
            at_home.load()
        # The first search reads tables of words, and the first vector allocates its memory.
        desk.base.search(desk.config.title or "site", 1, embedder=at_home)
    except Exception as error:
        # Each question meets the same fault, and goes on without vectors where it can.
        detail = str(error) if isinstance(error, EmbedderDown) else type(error).__name__
        _LOG.warning("warming", extra={"detail": detail})


async def _close(site: Site) -> None:
    """Settle what is left, and give back all connections."""
    await anyio.to_thread.run_sync(settle_again, site.desk.ledger, site.clock())
    if isinstance(site.desk.model, OpenAIModel):
        await site.desk.model.aclose()
    if isinstance(site.desk.embedder, GuardedEmbedder):
        await anyio.to_thread.run_sync(site.desk.embedder.close)
    await anyio.to_thread.run_sync(site.database.close)


async def _sweep(site: Site) -> None:
    """Forget what is older than it may be."""
    while True:
        before = site.clock() - site.config.store.days * DAY_SECONDS
        try:
            await anyio.to_thread.run_sync(site.desk.exchanges.forget_before, before)
            # Where nobody asks for a day, the salt of the day before goes all the same.
            await anyio.to_thread.run_sync(site.salts.of_day, site.clock())
        except StoreDown as error:
            _LOG.warning("store", extra={"detail": str(error)})
        await anyio.sleep(_SWEEP_SECONDS)


async def _chat(request: Request) -> ASGIApp:
    site: Site = request.app.state.site
    limits = site.config.limits
    try:
        question = read_question(await _posted(request, limits), limits)
    except Refused as refused:
        return _refused(refused, request, site)
    language = language_of(question.question, question.locale, site.config.languages)
    try:
        seconds = await anyio.to_thread.run_sync(_count, site.rates, site, request)
    except (RatesDown, StoreDown) as error:
        _LOG.warning("counting", extra={"detail": str(error)})
        return _error(503, "unavailable", phrase("unavailable", language, site.config.texts))
    if seconds:
        text = phrase(
            "too_many", language, site.config.texts, wait=wait(seconds, language, site.config.texts)
        )
        return _error(429, "too_many", text, seconds)
    if site.mailer is not None:
        try:
            await anyio.to_thread.run_sync(_spot, site, request, question)
        except (RatesDown, StoreDown) as error:
            _LOG.warning("store", extra={"detail": str(error)})
            return _error(503, "unavailable", phrase("unavailable", language, site.config.texts))
    streams = "text/event-stream" in request.headers.get("accept", "")
    heard = _Heard(site)

    def begin() -> AsyncGenerator[Event, None]:
        return answered(question, site.desk, streams)

    return (StreamedAnswer if streams else WholeAnswer)(begin, heard)


def _spot(site: Site, request: Request, question: Question) -> None:
    """Store a letter to the owner before anything else may fail, if the visitor asks for it."""
    found = leads(question.question, site.config.suggestions)
    if not found:
        return
    body, now = letter(question.question, found, site.config.title), site.clock()
    if question.session:
        site.outbox.put(question.session, body, now)
        return
    # What a visitor is counted by is never stored, so one without a session is counted.
    visitor = site.bucket(request)
    if not site.callers.wait(visitor):
        site.outbox.put(uuid.uuid4().hex, body, now)
        site.callers.count(visitor)


async def _posted(request: Request, limits: Limits) -> bytes:
    """The body of a request that posts JSON. Raises `Refused`, for its length first."""
    body = await _body(request, limits.body_bytes)
    if body is None:
        raise too_long(limits)
    require_json(request.headers.get("content-type", ""))
    return body


async def _body(request: Request, limit: int) -> bytes | None:
    """The body, or None as soon as it is longer than the limit. Raises `Refused`."""
    told = request.headers.get("content-length", "")
    if told.isascii() and told.isdigit() and int(told[:20]) > limit:
        return None
    body = b""
    try:
        with anyio.fail_after(_BODY_SECONDS):
            async for piece in request.stream():
                body += piece
                if len(body) > limit:
                    return None
    except TimeoutError as slow:
        raise Refused(408, "too_slow", "The body took too long.") from slow
    except ClientDisconnect as left:
        raise Refused(400, "not_json", "The body broke off.") from left
    return body


def _count(rates: VisitorRates, site: Site, request: Request) -> float:
    return rates.count(site.bucket(request))


def _refused(refused: Refused, request: Request, site: Site) -> Response:
    accepted = request.headers.get("accept-language", "")[:2].lower()
    language = accepted if accepted in site.config.languages else site.config.languages[0]
    if refused.code == "question_too_long":
        text = phrase(
            "question_too_long",
            language,
            site.config.texts,
            chars=site.config.limits.question_chars,
        )
    else:
        text = phrase("bad_request", language, site.config.texts)
    return _error(refused.status, refused.code, text, detail=refused.detail)


def _error(
    code: int, name: str, text: str, retry_after: float | None = None, detail: str = ""
) -> Response:
    told: dict[str, object] = {"code": name, "text": text}
    headers = dict(_NO_STORE)
    if detail:
        told["detail"] = detail
    if retry_after is not None:
        # Rounded up: whoever comes back then isn't refused once more.
        told["retry_after"] = max(1, math.ceil(retry_after))
        headers["Retry-After"] = str(told["retry_after"])
    return JSONResponse({"error": told}, code, headers)


async def _status(request: Request) -> Response:
    site: Site = request.app.state.site
    told = await anyio.to_thread.run_sync(status.told, site.desk)
    return JSONResponse(told, 200, _NO_STORE)


async def _feedback(request: Request) -> Response:
    site: Site = request.app.state.site
    limits = site.config.limits
    try:
        told = read_rating(await _posted(request, limits), limits)
    except Refused as refused:
        return _refused(refused, request, site)
    words = told.words.strip() if status.keeps_words(site.config.store) else ""
    rating = Feedback(told.answer, site.clock(), told.good, words)
    try:
        seconds = await anyio.to_thread.run_sync(_count, site.ratings, site, request)
        if seconds:
            return _error(
                429,
                "too_many",
                phrase(
                    "too_many", "en", site.config.texts, wait=wait(seconds, "en", site.config.texts)
                ),
                seconds,
            )
        kept = await anyio.to_thread.run_sync(site.feedback.put, rating)
    except (RatesDown, StoreDown) as error:
        _LOG.warning("store", extra={"detail": str(error)})
        return _error(503, "unavailable", phrase("unavailable", "en", site.config.texts))
    if not kept:
        return _error(404, "no_such_answer", phrase("bad_request", "en", site.config.texts))
    return Response(status_code=204, headers=_NO_STORE)


async def _metrics(request: Request) -> Response:
    site: Site = request.app.state.site
    assert site.figures is not None
    try:
        spending = await anyio.to_thread.run_sync(site.desk.ledger.today, site.clock())
    except StoreDown as error:
        _LOG.warning("store", extra={"detail": str(error)})
        return Response(status_code=503, headers=_NO_STORE)
    return Response(site.figures.exposed(spending), 200, _NO_STORE, site.figures.content_type)


class _Heard:
    """Counts and logs one answer by its events: figures and codes, none of anybody's words."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._began = time.monotonic()
        self._first = 0.0

    def __call__(self, event: Event) -> None:
        if not self._first and not isinstance(event, Start):
            self._first = time.monotonic() - self._began
        if not isinstance(event, Done | Failed):
            return
        outcome = event.outcome if isinstance(event, Done) else event.code
        took = time.monotonic() - self._began
        told: dict[str, object] = {
            "outcome": outcome,
            "seconds": round(took, 3),
            "first_seconds": round(self._first, 3),
        }
        if isinstance(event, Done):
            told |= {
                "cited": len(event.sources),
                "dropped": event.dropped,
                "links_removed": event.links_removed,
            }
        elif event.detail:
            told["detail"] = event.detail
        level = logging.ERROR if outcome == "internal" else logging.INFO
        _LOG.log(level, "answer", extra=told)
        if self._site.figures is not None:
            self._site.figures.heard(outcome, took, self._first, event)
