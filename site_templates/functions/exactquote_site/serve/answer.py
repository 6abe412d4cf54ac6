"""Turns a question into the events of its answer: one retrieval, at most one model call.

Whatever happens, the last event is one `Done` or one `Failed`, and money that was set aside
is settled: by what the provider told, by nothing where it can't have charged, and else by the
worst case.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import anyio
import anyio.to_thread

from exactquote_site.knowledge.base import MEANING, Found, KnowledgeBase
from exactquote_site.knowledge.best import Best, best_passages
from exactquote_site.knowledge.chunk import Chunk
from exactquote_site.knowledge.embedders import Embedder, EmbedderDown
from exactquote_site.serve.config import ChatConfig
from exactquote_site.serve.declined import declined_topic
from exactquote_site.serve.prompt import DECLINED, Prompt, prompt
from exactquote_site.serve.provider import Model, ProviderFault, Usage, told_cost, worst_cost
from exactquote_site.serve.receipts import Receipt, make_receipt
from exactquote_site.serve.reply import Reply, ReplyReader
from exactquote_site.serve.requests import Question
from exactquote_site.serve.segments import Cite, Resolver, Segment
from exactquote_site.serve.store.database import StoreDown, Transaction
from exactquote_site.serve.store.exchanges import DAY_SECONDS, Exchange, Exchanges, kept_tokens
from exactquote_site.serve.store.ledger import NANO, Ledger, Reservation
from exactquote_site.serve.texts import Texts, language_of, phrase
from exactquote_site.wire.allowlist import Entry

Kind = Literal["answer", "quotes", "passages", "declined"]
Outcome = Literal["answered", "unanswered", "declined", "passages"]

QUOTES_MAX = 8
# A visitor who reads slowly holds up a call; only what died may expire.
# What other calls hold comes back, mostly, when they end.
_BUSY_SECONDS = 10.0
_LEASE_BEYOND_SECONDS = 300.0
_LOG = logging.getLogger("exactquote")


@dataclass(frozen=True, slots=True)
class Start:
    """An answer begins; `words_only` tells that retrieval had to do without vectors."""

    kind: Kind
    build_id: str
    language: str
    words_only: bool


@dataclass(frozen=True, slots=True)
class Said:
    """Words to show as they are."""

    text: str


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation beside the words before it."""

    entry: Entry
    number: int


@dataclass(frozen=True, slots=True)
class Quoted:
    """A sentence of the site, word for word, that is the answer or a part of it."""

    entry: Entry
    number: int


@dataclass(frozen=True, slots=True)
class Done:
    """The answer is complete."""

    outcome: Outcome
    sources: tuple[Entry, ...]
    receipt: Receipt
    dropped: int = 0
    links_removed: int = 0


@dataclass(frozen=True, slots=True)
class Failed:
    """There is no answer, or no end of it; `text` is for the visitor, `detail` for the log."""

    code: str
    text: str
    retry_after: float | None = None
    detail: str = ""


Event = Start | Said | Cited | Quoted | Done | Failed


@dataclass
class Desk:
    """All that answering needs: what was built, what is configured, and what is kept.

    `model` is None without a key, `embedder` None without vectors; `clock` gives seconds
    since 1970. `opening_cost` is the most that the first question of a conversation can cost,
    once that was worked out, and `words_only` tells that retrieval has to do without vectors,
    by what the last question met.
    """

    config: ChatConfig
    base: KnowledgeBase
    entries: Mapping[str, Entry]
    ledger: Ledger
    exchanges: Exchanges
    model: Model | None = None
    embedder: Embedder | None = None
    clock: Callable[[], float] = time.time
    opening_cost: int | None = None
    words_only: bool = False

    def __post_init__(self) -> None:
        """Before the first question, the embedder at hand tells whether vectors can be used."""
        vectors, embedder = self.base.vectors, self.embedder
        fits = vectors is not None and embedder is not None and embedder.id == vectors.embedder
        self.words_only = self.retrieves_by_meaning and not fits

    @property
    def retrieves_by_meaning(self) -> bool:
        """Whether answers depend on vectors; with all of the corpus in the prompt none does."""
        if self.base.vectors is None or self.base.weights[MEANING] <= 0:
            return False
        return self.model is None or self.base.header.mode != "whole"

    @property
    def limit(self) -> int:
        """The budget of a day, in nano-dollars."""
        return round(self.config.budget_usd_per_day * NANO)

    def refusal(self, language: str) -> str:
        """The sentence that ends what can't be answered, the same for every such answer."""
        return self.config.refusals[-1].texts[language]

    @property
    def refusals(self) -> tuple[str, ...]:
        """That sentence in all languages, and in all wordings that it had."""
        return tuple(
            text for refusal in self.config.refusals for text in refusal.texts.values() if text
        )


@dataclass
class _Told:
    """What an answer has come to so far."""

    id: str
    question: Question
    language: str
    kind: Kind
    shown: list[str] = field(default_factory=list)
    cited: dict[str, Entry] = field(default_factory=dict)
    found: tuple[str, ...] = ()
    lost: Sequence[str] = ()
    dropped: int = 0
    links_removed: int = 0
    cost: int = 0

    @property
    def text(self) -> str:
        return "".join(self.shown)


async def answered(question: Question, desk: Desk, stream: bool) -> AsyncGenerator[Event, None]:
    """The events of an answer; the last is a `Done` or a `Failed`, and nothing is raised
    but the cancellation of whoever stopped listening.
    """
    language = language_of(question.question, question.locale, desk.config.languages)
    told = _Told(uuid.uuid4().hex, question, language, "answer")
    listening = True
    try:
        async with aclosing(_events(told, desk, stream)) as events:
            async for event in events:
                # Whoever doesn't come back from here has left, and can be told nothing more.
                listening = False
                yield event
                listening = True
    except Exception as error:
        failed = _unforeseen(error, language, desk.config.texts)
        if listening:
            yield failed
        else:
            _LOG.warning("left", extra={"detail": failed.detail})


def _unaffordable(language: str, desk: Desk, soon: bool, now: float) -> Failed:
    """Without money there is no call: for today, or while other calls hold what is left."""
    if soon:
        return Failed("busy", phrase("busy", language, desk.config.texts), _BUSY_SECONDS)
    text = phrase("paused", language, desk.config.texts)
    return Failed("paused", text, DAY_SECONDS - now % DAY_SECONDS)


def _unforeseen(error: Exception, language: str, texts: Texts) -> Failed:
    """The end of an answer whose store is down, or which met a bug of ours."""
    if isinstance(error, StoreDown):
        return Failed("unavailable", phrase("unavailable", language, texts), detail=str(error))
    # Where it was tells nothing of anybody's words; what is in an error may.
    return Failed("internal", phrase("broken", language, texts), detail=_place(error))


def _place(bug: Exception) -> str:
    trace = bug.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return type(bug).__name__
    return (
        f"{type(bug).__name__} at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
    )


async def _events(told: _Told, desk: Desk, stream: bool) -> AsyncGenerator[Event, None]:
    build_id = desk.config.build_id
    if declined_topic(told.question.question, desk.config.declined) is not None:
        told.kind = "declined"
        yield Start("declined", build_id, told.language, words_only=False)
        yield _say(told, phrase("declined", told.language, desk.config.texts))
        yield await _kept(told, desk, "declined")
        return
    ready = await anyio.to_thread.run_sync(_ready, told, desk)
    desk.words_only = words_only = desk.retrieves_by_meaning and MEANING in ready.found.off
    told.found = tuple(dict.fromkeys(hit.chunk.doc for hit in ready.found.hits))
    if ready.asked is None:
        told.kind = "passages"
        yield Start("passages", build_id, told.language, words_only)
        async with aclosing(_passages(told, desk, ready.found)) as events:
            async for event in events:
                yield event
        return
    if ready.held is None:
        yield _unaffordable(told.language, desk, ready.soon, ready.at)
        return
    told.kind = "quotes" if desk.config.mode == "quotes" else "answer"
    start = Start(told.kind, build_id, told.language, words_only)
    async with aclosing(_modelled(told, desk, ready.asked, ready.held, start, stream)) as events:
        async for event in events:
            yield event


@dataclass(frozen=True, slots=True)
class _Ready:
    """What stands before an answer: passages, and with a model what it is asked.

    `held` is None where there is no money for it at the time `at`; `soon` tells that there
    will be when other calls have ended.
    """

    found: Found
    asked: Prompt | None = None
    held: Reservation | None = None
    soon: bool = False
    at: float = 0.0


def _ready(told: _Told, desk: Desk) -> _Ready:
    """Search, write the prompt and set its worst case aside.

    All on one visit to another thread: under load, each waits for its turn to compute.
    """
    found = desk.base.search(
        told.question.question, count=desk.config.limits.passages, embedder=desk.embedder
    )
    if desk.model is None:
        return _Ready(found)
    asked = prompt(told.question, _given(desk, found), desk.entries, desk.config)
    now, worst = desk.clock(), worst_cost(asked, desk.config.provider)
    lifetime = desk.config.timeouts.total + _LEASE_BEYOND_SECONDS
    held = desk.ledger.reserve(worst, desk.limit, now, lifetime)
    if held is not None:
        return _Ready(found, asked, held)
    soon = desk.ledger.today(now).spent + worst <= desk.limit
    return _Ready(found, asked, soon=soon, at=now)


def _given(desk: Desk, found: Found) -> tuple[Chunk, ...]:
    """All chunks of a small corpus, and the best ones of another."""
    if desk.base.header.mode == "whole":
        return desk.base.all_chunks()
    return tuple(hit.chunk for hit in found.hits)


async def _modelled(
    told: _Told, desk: Desk, asked: Prompt, held: Reservation, start: Start, stream: bool
) -> AsyncGenerator[Event, None]:
    """One model call, from the reservation to its settlement."""
    assert desk.model is not None
    resolver = Resolver(asked.given, desk.refusals, desk.entries)
    reader = ReplyReader()
    fault: ProviderFault | None = None
    paid = 0
    closing: list[Event] = []
    exchange: Exchange | None = None
    try:
        yield start
        # Until something else is known, the worst case is what it cost.
        paid = held.amount
        try:
            async with aclosing(desk.model.written(asked, stream)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Usage):
                        paid = told_cost(piece, asked, desk.config.provider)
                        continue
                    for event in _shown(told, resolver.feed(reader.feed(piece))):
                        yield event
        except ProviderFault as broken:
            if broken.free:
                paid = 0
            fault = broken
        told.cost = paid
        closing, outcome = _closing(told, desk, reader, resolver, fault)
        exchange = _exchange(told, desk, outcome, resolver)
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(_settle, desk, held, paid, exchange)
    for event in closing:
        yield event


def _closing(
    told: _Told, desk: Desk, reader: ReplyReader, resolver: Resolver, fault: ProviderFault | None
) -> tuple[list[Event], Outcome | Literal["failed"]]:
    """What is left to tell when the model has ended or failed, and what it came to."""
    read = reader.finish()
    if fault is None and read is None:
        fault = ProviderFault("broken", "not the JSON that was asked for")
    if fault is not None or read is None:
        assert fault is not None
        return [_failed(fault, told.language, desk.config.texts)], "failed"
    rest, reply = read
    events = list(_shown(told, [*resolver.feed(rest), *resolver.finish()]))
    outcome = _outcome(reply, resolver, desk)
    if outcome == "declined":
        phrased = phrase("declined", told.language, desk.config.texts)
        events.append(_say(told, _gap(told.text) + phrased))
    elif outcome == "unanswered":
        events.append(_say(told, _gap(told.text) + desk.refusal(told.language)))
    return [*events, _done(told, desk, outcome, resolver)], outcome


def _settle(desk: Desk, held: Reservation, paid: int, exchange: Exchange | None) -> None:
    """Count what the call cost and keep the exchange, if it came to its end, in one transaction.

    Each transaction waits for the disk, and for all others.
    """
    if exchange is None:
        desk.ledger.settle(held, paid, desk.clock())
        return

    def keep(transaction: Transaction) -> None:
        desk.exchanges.keep_in(transaction, exchange)

    desk.ledger.settle(held, paid, desk.clock(), keep)


def _outcome(reply: Reply, resolver: Resolver, desk: Desk) -> Outcome:
    """An answer without a source that survived is none, whatever the model says of it."""
    if desk.config.declined and DECLINED in reply.sources and not resolver.cited:
        return "declined"
    if not reply.answered or resolver.refused or not resolver.cited:
        return "unanswered"
    return "answered"


def _shown(told: _Told, segments: Sequence[Segment]) -> Iterator[Event]:
    """The events of resolved segments; in quote mode nothing of the model's wording is one."""
    for segment in segments:
        if isinstance(segment, Cite):
            new = segment.entry.id not in told.cited
            if told.kind == "quotes":
                if new and len(told.cited) < QUOTES_MAX:
                    yield _quote(told, segment.entry)
                continue
            told.cited.setdefault(segment.entry.id, segment.entry)
            told.shown.append(f"[{segment.number}]")
            yield Cited(segment.entry, segment.number)
        elif told.kind != "quotes":
            yield _say(told, segment.text)


def _say(told: _Told, text: str) -> Said:
    told.shown.append(text)
    return Said(text)


def _quote(told: _Told, entry: Entry) -> Quoted:
    told.cited[entry.id] = entry
    told.shown.append(f"{entry.quote} [{len(told.cited)}]\n")
    return Quoted(entry, len(told.cited))


def _gap(text: str) -> str:
    return "" if not text or text[-1].isspace() else " "


async def _passages(told: _Told, desk: Desk, found: Found) -> AsyncGenerator[Event, None]:
    """The best sentences themselves, for a site without a model."""
    best = await anyio.to_thread.run_sync(_best, desk, found)
    if not best:
        yield _say(told, desk.refusal(told.language))
        yield await _kept(told, desk, "unanswered")
        return
    yield _say(told, phrase("passages", told.language, desk.config.texts))
    for one in best:
        shown = [desk.entries[id] for id in one.passages]
        if one.row:
            # Its name stands before what a row says, as words: what is linked is the rest.
            begun = "" if told.cited else "\n"
            yield _say(told, f"{begun}{shown.pop(0).quote}: ")
        for entry in shown[: QUOTES_MAX - len(told.cited)]:
            yield _quote(told, entry)
        if len(told.cited) == QUOTES_MAX:
            break
    yield await _kept(told, desk, "passages")


def _best(desk: Desk, found: Found) -> Sequence[Best]:
    embedder = None if MEANING in found.off else desk.embedder
    quotes = {id: entry.quote for id, entry in desk.entries.items()}
    try:
        return best_passages(desk.base, found, quotes, embedder=embedder)
    except EmbedderDown:
        return best_passages(desk.base, found, quotes, embedder=None)


def _failed(fault: ProviderFault, language: str, texts: Texts) -> Failed:
    text = phrase(fault.code, language, texts)
    return Failed(fault.code, text, fault.retry_after, fault.detail)


async def _kept(told: _Told, desk: Desk, outcome: Outcome) -> Done:
    """The end of an answer without a model, once it is kept."""
    done = _done(told, desk, outcome)
    exchange = _exchange(told, desk, outcome)
    with anyio.CancelScope(shield=True):
        await anyio.to_thread.run_sync(desk.exchanges.keep, exchange)
    return done


def _done(told: _Told, desk: Desk, outcome: Outcome, resolver: Resolver | None = None) -> Done:
    receipt = make_receipt(
        told.id,
        desk.clock(),
        desk.config.build_id,
        told.kind,
        outcome,
        told.question.question,
        told.text,
        tuple(told.cited.values()),
    )
    sources = tuple(told.cited.values())
    return Done(
        outcome,
        sources,
        receipt,
        resolver.dropped if resolver else 0,
        resolver.links_removed if resolver else 0,
    )


def _exchange(
    told: _Told,
    desk: Desk,
    outcome: Outcome | Literal["failed"],
    resolver: Resolver | None = None,
) -> Exchange:
    """What the owner said may be kept of the exchange."""
    store = desk.config.store
    words = store.conversations or (outcome == "unanswered" and store.gaps)
    return Exchange(
        id=told.id,
        at=desk.clock(),
        session=told.question.session if store.conversations else None,
        build_id=desk.config.build_id,
        language=told.language,
        kind=told.kind,
        outcome=outcome,
        question=told.question.question if words else None,
        answer=told.text if words else None,
        found=told.found,
        cited=tuple(told.cited),
        lost=kept_tokens(resolver.lost if resolver else (), store.conversations),
        cost=told.cost,
    )
