"""What becomes of a question: the events of its answer, what is paid for it, what is kept."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from numpy.typing import NDArray

from bench.chat import cuts
from bench.chat.answers import encodings
from bench.chat.cuts import faults
from exactquote.pipeline import build
from exactquote.settings import KnowledgeSettings, Settings
from exactquote_site.knowledge.embedders import EmbedderDown
from exactquote_site.serve.answer import (
    QUOTES_MAX,
    Cited,
    Desk,
    Done,
    Event,
    Failed,
    Quoted,
    Said,
    Start,
    answered,
)
from exactquote_site.serve.prompt import Prompt
from exactquote_site.serve.provider import ProviderFault, Usage, worst_cost
from exactquote_site.serve.receipts import replayed, sha256
from exactquote_site.serve.requests import Question
from exactquote_site.serve.segments import Text
from exactquote_site.serve.status import state
from exactquote_site.serve.store.database import StoreDown
from exactquote_site.serve.store.exchanges import Exchange
from exactquote_site.serve.texts import phrase
from tests.chat import (
    FREITAG,
    FRIDAY,
    PAGES,
    REFUSAL,
    REFUSAL_DE,
    SATURDAY,
    Spoken,
    entries,
    heard,
    id_of,
    open_desk,
    studio,
    studio_with,
    token,
)
from tests.compiling import TODAY, corpus_of, theme
from tests.provider import reply

QUESTION = "When is the kiln fired?"
FRAGE = "Wann wird der Ofen gebrannt?"
UNRELATED = "Qwertz zxcvb?"
USED = Usage(1_000, 400, 50)
PAID = 900_000


def shown(events: Sequence[Event]) -> str:
    """What a visitor sees: `<n>` for a citation, the sentence and `<n>` for a quote."""
    told = []
    for event in events:
        match event:
            case Said(text):
                told.append(text)
            case Cited(_, number):
                told.append(f"<{number}>")
            case Quoted(entry, number):
                told.append(f"{entry.quote}<{number}>")
    return "".join(told)


def outcome(events: Sequence[Event]) -> str:
    """How it ended; there is one end, and it is the last event."""
    ends = [event for event in events if isinstance(event, Done | Failed)]
    assert ends == [events[-1]]
    return ends[0].outcome if isinstance(ends[0], Done) else ends[0].code


def told(desk: Desk, question: str = QUESTION, **more: Any) -> tuple[str, str]:
    events = heard(desk, question, **more)
    return shown(events), outcome(events)


# What the model wrote, whether it says that it answered, what is shown, how it ended.
ENDS = [
    (f"On Fridays {token(FRIDAY)}.", True, "On Fridays <1>.", "answered"),
    (f"A {token(FRIDAY)} {token(SATURDAY)} {token(FRIDAY)}", True, "A <1> <2> <1>", "answered"),
    # A visitor is told once that there is no answer, in the same words, at the end.
    ("On Fridays [[cite:nope]].", True, f"On Fridays. {REFUSAL}", "unanswered"),
    ("On Fridays.", True, f"On Fridays. {REFUSAL}", "unanswered"),
    ("The price is missing.", False, f"The price is missing. {REFUSAL}", "unanswered"),
    (f"Half {token(FRIDAY)}.", False, f"Half <1>. {REFUSAL}", "unanswered"),
    ("", True, REFUSAL, "unanswered"),
    ("", False, REFUSAL, "unanswered"),
    (REFUSAL, False, REFUSAL, "unanswered"),
    (REFUSAL, True, REFUSAL, "unanswered"),
    (f"{REFUSAL_DE} No.", True, REFUSAL, "unanswered"),
    (f"No. {REFUSAL}", False, f"No. {REFUSAL}", "unanswered"),
    (f"{REFUSAL} {REFUSAL}", False, REFUSAL, "unanswered"),
    (f"{REFUSAL} Or {token(FRIDAY)}", True, REFUSAL, "unanswered"),
    ("No.\n\n", False, f"No. {REFUSAL}", "unanswered"),
    (f"{REFUSAL[:-1]}", False, REFUSAL, "unanswered"),
]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(("answer", "yes", "wanted", "ended"), ENDS)
def test_how_an_answer_ends(
    answer: str, yes: bool, wanted: str, ended: str, stream: bool, tmp_path: Path
) -> None:
    raw = reply(answer, answered=yes)
    for pieces in ([raw], list(raw)):
        desk = open_desk(tmp_path, *pieces, USED)
        events = heard(desk, QUESTION, stream)
        assert (shown(events), outcome(events)) == (wanted, ended)
        assert shown(events).count(REFUSAL) == (ended == "unanswered")


def test_the_refusal_is_in_the_language_of_the_question(tmp_path: Path) -> None:
    desk = open_desk(tmp_path, reply(f"Nein. {REFUSAL_DE}", answered=False))
    assert told(desk, FRAGE) == (f"Nein. {REFUSAL_DE}", "unanswered")
    desk = open_desk(tmp_path, reply("Kiln?", answered=False))
    assert told(desk, "Kiln?", locale="de-AT") == (f"Kiln? {REFUSAL_DE}", "unanswered")
    assert told(desk, "Kiln?", locale="fr") == (f"Kiln? {REFUSAL}", "unanswered")
    assert told(desk, FRAGE) == (f"Kiln? {REFUSAL_DE}", "unanswered")
    desk = open_desk(tmp_path, reply(f"Freitags {token(FREITAG)}."))
    assert told(desk, FRAGE) == ("Freitags <1>.", "answered")


# A long one has as many pairs of cuts as all of these; the benchmark takes them all.
SHORT = [raw for raw in encodings() if len(raw) < 80]


@pytest.mark.parametrize("raw", SHORT[:: len(SHORT) // 10])
def test_prevents_a_cut_that_shows_part_of_a_token(raw: str) -> None:
    count, wrong = faults(raw)
    assert count == (len(raw) + 1) * (len(raw) + 2) // 2
    assert wrong == []


def test_prevents_a_benchmark_of_cuts_that_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = next(raw for raw in SHORT if "cite:x-1" in raw)
    monkeypatch.setattr(cuts.Resolver, "feed", lambda self, piece: [Text(piece)])
    assert faults(raw)[1]


def test_prevents_half_a_surrogate_that_ends_an_answer(tmp_path: Path) -> None:
    raw = reply(f"\U0001f980 {token(FRIDAY)}")
    at = raw.index("\U0001f980")
    halves = raw[:at], "\ud83e", "\udd80" + raw[at + 1 :]
    assert told(open_desk(tmp_path, *halves, USED)) == ("\U0001f980 <1>", "answered")
    lone = raw[:at], "\ud83e", raw[at + 1 :]
    assert told(open_desk(tmp_path, *lone, USED)) == ("\ufffd <1>", "answered")


# Topics that the owner won't discuss.
DECLINED = [{"topic": "pay", "words": ["salary", "day rate", "Gehalt"]}]


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("What SALARY do you want?", "en"),
        ("And your day-rate?", "en"),
        ("Your ｓａｌａｒｙ?", "en"),
        ("Wie hoch ist das Gehalt?", "de"),
    ],
)
def test_a_topic_is_declined_by_its_words_without_a_call(
    question: str, language: str, tmp_path: Path
) -> None:
    desk = open_desk(tmp_path, reply("x"), declined=DECLINED)
    events = heard(desk, question)
    assert (shown(events), outcome(events)) == (phrase("declined", language), "declined")
    assert isinstance(events[0], Start)
    assert events[0].kind == "declined"
    assert isinstance(desk.model, Spoken)
    assert desk.model.given == []
    assert money(desk) == (0, 0)


@pytest.mark.parametrize("answer", ["", f"My pay is {REFUSAL}", REFUSAL, "[[cite:nope]]"])
def test_a_topic_is_declined_by_the_model(answer: str, tmp_path: Path) -> None:
    raw = reply(answer, answered=False, sources=["declined"])
    text, ended = told(open_desk(tmp_path, raw, declined=DECLINED))
    assert ended == "declined"
    assert text.endswith(phrase("declined", "en"))
    assert REFUSAL not in text
    # Where nothing is declined, a model can't decline.
    text, ended = told(open_desk(tmp_path, raw))
    assert (ended, text.endswith(REFUSAL)) == ("unanswered", True)


def test_a_topic_is_no_part_of_a_word(tmp_path: Path) -> None:
    desk = open_desk(tmp_path, reply(f"Yes {token(FRIDAY)}"), declined=DECLINED)
    assert told(desk, "Is salarying a word, day by rate?")[1] == "answered"


def test_prevents_words_of_the_model_in_a_quote(tmp_path: Path) -> None:
    said = f"Listen: {token(SATURDAY)}, so {token(FRIDAY)} and {token(SATURDAY)} evil.com <b>"
    desk = open_desk(tmp_path, *reply(said), USED, mode="quotes")
    events = heard(desk, QUESTION)
    assert shown(events) == f"{SATURDAY}<1>{FRIDAY}<2>"
    assert outcome(events) == "answered"
    assert not [event for event in events if isinstance(event, Said | Cited)]
    desk = open_desk(tmp_path, reply("I know it by heart."), mode="quotes")
    assert told(desk) == (REFUSAL, "unanswered")
    many = " ".join(f"[[cite:{id}]]" for id in chain(entries(), entries()))
    quotes = [one for one in heard(open_desk(tmp_path, reply(many), mode="quotes"), QUESTION)
              if isinstance(one, Quoted)]  # fmt: skip
    assert [one.number for one in quotes] == list(range(1, len(quotes) + 1))
    assert len({one.entry.id for one in quotes}) == len(quotes) <= QUOTES_MAX


@pytest.mark.parametrize(("question", "quote"), [(QUESTION, FRIDAY), (FRAGE, FREITAG)])
@pytest.mark.parametrize("mode", ["answer", "quotes"])
@pytest.mark.parametrize("whole", [True, False])
def test_without_a_key_the_passages_answer(
    question: str, quote: str, mode: str, whole: bool, tmp_path: Path
) -> None:
    desk = open_desk(tmp_path, mode=mode, made=studio(whole))
    events = heard(desk, question)
    assert isinstance(events[0], Start)
    assert (events[0].kind, outcome(events), money(desk)) == ("passages", "passages", (0, 0))
    first = next(event for event in events if isinstance(event, Quoted))
    assert (first.entry.quote, first.number) == (quote, 1)
    assert phrase("passages", events[0].language) in shown(events)
    assert REFUSAL not in shown(events)


def test_without_a_key_what_nothing_was_found_for_is_a_gap(tmp_path: Path) -> None:
    desk = open_desk(tmp_path)
    assert told(desk, UNRELATED) == (REFUSAL, "unanswered")
    (gap,) = desk.exchanges.gaps([REFUSAL])
    assert (gap.question, gap.found) == (UNRELATED, ())


class Blind:
    """An embedder that sees the same in every text."""

    dimension = 4

    def __init__(self, id: str = "blind", why: str = "") -> None:
        self.id = id
        self.why = why

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.why == "bug":
            raise KeyError(texts[0])
        if self.why:
            raise EmbedderDown(self.why)
        return np.full((len(texts), 4), 0.5, np.float32)


@dataclass(frozen=True)
class Eyes:
    """What there is to search by meaning with, and whether answers do without."""

    embedder: Blind | None
    words_only: bool


EYES = [
    Eyes(Blind(), False),
    Eyes(Blind(why="out of order"), True),
    Eyes(Blind(id="another"), True),
    Eyes(None, True),
]


@pytest.mark.parametrize("eyes", EYES)
def test_without_vectors_answers_go_on_by_words(eyes: Eyes, tmp_path: Path) -> None:
    made = studio_with(Blind(), whole=False)
    raw = reply(f"On Fridays {token(FRIDAY)}.")
    for pieces in ([raw], []):
        desk = open_desk(tmp_path, *pieces, made=made, embedder=eyes.embedder)
        events = heard(desk, QUESTION)
        assert isinstance(events[0], Start)
        assert events[0].words_only == eyes.words_only
        assert FRIDAY in shown(events) or shown(events) == "On Fridays <1>."
        wanted = "passages" if not pieces else "words" if eyes.words_only else "ready"
        assert state(desk) == wanted
    # It is back with the first question that could use it.
    desk = open_desk(tmp_path, raw, made=made, embedder=Blind(why="out of order"))
    heard(desk, QUESTION)
    desk.embedder = Blind()
    heard(desk, QUESTION)
    assert state(desk) == "ready"


@pytest.mark.parametrize("eyes", EYES)
def test_with_all_of_the_corpus_given_no_vectors_are_missed(eyes: Eyes, tmp_path: Path) -> None:
    made = studio_with(Blind(), whole=True)
    desk = open_desk(tmp_path, reply("x"), made=made, embedder=eyes.embedder)
    assert state(desk) == "ready"
    start = heard(desk, QUESTION)[0]
    assert isinstance(start, Start)
    assert (start.words_only, state(desk)) == (False, "ready")


def test_the_model_is_given_everything_or_what_was_found(tmp_path: Path) -> None:
    raw = reply(f"So {token(FRIDAY)} and {token(FREITAG)}")
    desk = open_desk(tmp_path, raw, made=studio(whole=True))
    assert told(desk) == ("So <1> and <2>", "answered")
    assert isinstance(desk.model, Spoken)
    sentences = {entry.quote for entry in desk.model.given[0].given.values()}
    assert {FRIDAY, SATURDAY, FREITAG} <= sentences
    assert "Kiln" not in sentences, "a heading is no sentence"
    desk = open_desk(tmp_path, raw, made=studio(whole=False), limits={"passages": 1})
    # Both are in the allowlist; one wasn't given in this request.
    assert told(desk) == ("So <1> and", "answered")
    assert isinstance(desk.model, Spoken)
    given = desk.model.given[0].given
    assert id_of(FRIDAY) in given
    assert id_of(FREITAG) not in given
    assert (desk.exchanges.kept()[-1].lost) == (id_of(FREITAG),)


def test_a_receipt_says_what_an_answer_stood_on(tmp_path: Path) -> None:
    raw = reply(f"On Fridays {token(FRIDAY)}.")
    for pieces, mode in (([raw], "answer"), ([raw], "quotes"), ([], "answer")):
        desk = open_desk(tmp_path, *pieces, mode=mode)
        end = heard(desk, QUESTION)[-1]
        assert isinstance(end, Done)
        receipt = end.receipt
        assert [one.id for one in receipt.passages] == [entry.id for entry in end.sources]
        assert receipt.question_sha256 == sha256(QUESTION)
        assert replayed(receipt, receipt.build_id, entries()) == []
        changed = {
            **entries(),
            id_of(FRIDAY): replace(entries()[id_of(FRIDAY)], quote="On Mondays."),
        }
        assert replayed(receipt, "b", changed) != []  # fmt: skip
        (kept,) = [one for one in desk.exchanges.kept() if one.id == receipt.answer]
        assert (kept.outcome, kept.kind) == (receipt.outcome, receipt.kind)


# Which words are kept: of an answer that was given, and of one that wasn't.
KEPT = [
    ({"conversations": False, "gaps": False}, False, False),
    ({"conversations": False, "gaps": True}, False, True),
    ({"conversations": True, "gaps": False}, True, True),
    ({"conversations": True, "gaps": True}, True, True),
]


@pytest.mark.parametrize(("store", "given", "gap"), KEPT)
def test_what_is_kept(store: dict[str, bool], given: bool, gap: bool, tmp_path: Path) -> None:
    session = "s" * 20
    raws = [
        (reply(f"On Fridays {token(FRIDAY)}."), QUESTION, given),
        (reply("x", answered=False), QUESTION, gap),
        ("no JSON", QUESTION, given),
        (reply("x"), "Your salary?", given),
    ]
    for raw, question, words in raws:
        desk = open_desk(tmp_path, raw, USED, store=store, declined=DECLINED)
        known = {one.id for one in desk.exchanges.kept()}
        ended = outcome(heard(desk, question, session=session))
        (kept,) = [one for one in desk.exchanges.kept() if one.id not in known]
        assert kept.question == (question if words else None)
        assert (kept.answer is not None) == words
        assert kept.session == (session if store["conversations"] else None)
        assert kept.outcome == ("failed" if ended == "broken" else ended)
        assert kept.cost == (0 if question != QUESTION else PAID)
        assert kept.found == (() if question != QUESTION else kept.found)


@pytest.mark.parametrize("conversations", [False, True])
def test_prevents_words_that_are_kept_as_lost_tokens(conversations: bool, tmp_path: Path) -> None:
    said = ("salary-of-zanzibar", "published", "zanzibar|The visitor said so.", "pabcdefg2", "p-1")
    raw = reply("So " + " ".join(f"[[cite:{one}]]" for one in said))
    store = {"conversations": conversations, "gaps": False}
    desk = open_desk(tmp_path, raw, store=store)
    heard(desk, QUESTION)
    (kept,) = desk.exchanges.kept()
    # A word may look like an id by chance; a sentence can't.
    assert kept.lost == (said if conversations else ("published", "pabcdefg2"))


@pytest.mark.parametrize(
    "used",
    [
        Usage(10**18, 0, 50),
        Usage(1_000, 0, 10**18),
        Usage(-1_000, 0, 50),
        Usage(1_000, -1, 50),
        Usage(1_000, 0, -1),
        Usage(1_000, 1_001, 50),
        Usage(0, 0, 0),
    ],
)
def test_prevents_a_usage_that_cannot_be_from_being_paid(used: Usage, tmp_path: Path) -> None:
    desk = open_desk(tmp_path, reply(f"On Fridays {token(FRIDAY)}."), used)
    assert outcome(heard(desk, QUESTION)) == "answered"
    assert isinstance(desk.model, Spoken)
    assert money(desk) == (worst_cost(desk.model.given[0], desk.config.provider), 0)


def money(desk: Desk) -> tuple[int, int]:
    day = desk.ledger.today(desk.clock())
    return day.spent, day.reserved


# What the model does, and what that costs: nothing, what was told, or the worst case.
COSTS: list[tuple[list[str | Usage | Exception], str, str]] = [
    ([reply("x"), USED], "told", "unanswered"),
    ([USED, reply("x")], "told", "unanswered"),
    ([reply("x")], "worst", "unanswered"),
    ([ProviderFault("busy", "", free=True)], "free", "busy"),
    ([ProviderFault("timeout", "")], "worst", "timeout"),
    (["{", USED, ProviderFault("broken", "")], "told", "broken"),
    (["{", USED], "told", "broken"),
    ([KeyError("zanzibar")], "worst", "internal"),
]


@pytest.mark.parametrize(("pieces", "paid", "ended"), COSTS)
def test_what_is_paid(
    pieces: list[str | Usage | Exception], paid: str, ended: str, tmp_path: Path
) -> None:
    desk = open_desk(tmp_path, *pieces)
    events = heard(desk, QUESTION)
    assert outcome(events) == ended
    assert "zanzibar" not in str(events[-1])
    assert isinstance(desk.model, Spoken)
    worst = worst_cost(desk.model.given[0], desk.config.provider)
    assert money(desk) == ({"free": 0, "told": PAID, "worst": worst}[paid], 0)


def test_prevents_money_that_stays_reserved_when_nobody_listens(tmp_path: Path) -> None:
    raw = reply(f"On Fridays {token(FRIDAY)}, it seems to me.")

    async def leave_after(desk: Desk, count: int) -> None:
        async with aclosing(answered(Question(QUESTION), desk, True)) as events:
            for _ in range(count):
                await anext(events)

    async def cancelled_at(desk: Desk, awaits: int) -> None:
        # Every await is a place where a task can be told to stop.
        async def listen() -> None:
            async with aclosing(answered(Question(QUESTION), desk, True)) as events:
                async for _ in events:
                    pass

        async with anyio.create_task_group() as group:
            group.start_soon(listen)
            for _ in range(awaits):
                await anyio.sleep(0.0005)
            group.cancel_scope.cancel()

    desk = open_desk(tmp_path, *raw, USED)
    for count in range(1, 9):
        before = money(desk)[0]
        anyio.run(leave_after, desk, count)
        spent, reserved = money(desk)
        assert reserved == 0
        # What hadn't begun when the visitor left costs nothing.
        assert (spent > before) == (count > 1), count
    for awaits in range(0, 60, 3):
        anyio.run(cancelled_at, desk, awaits)
        assert money(desk)[1] == 0


@pytest.mark.parametrize("broken", ["reserve", "settle", "keep_in"])
def test_a_store_that_fails_ends_an_answer_once(
    broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = open_desk(tmp_path, reply(f"On Fridays {token(FRIDAY)}."), USED)

    def fails(*_: object) -> None:
        raise StoreDown("store.db: disk is full")

    monkeypatch.setattr(desk.exchanges if broken == "keep_in" else desk.ledger, broken, fails)
    assert outcome(heard(desk, QUESTION)) == "unavailable"


@pytest.mark.parametrize("raw", [reply(f"On Fridays {token(FRIDAY)}."), reply("So."), "{"])
def test_an_answer_is_two_transactions(
    raw: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each waits for the disk, and all answers for each other: 200 stream at once."""
    desk = open_desk(tmp_path, raw, USED)
    heard(desk, QUESTION)
    (database,) = {desk.ledger._database, desk.exchanges._database}
    works, begun = database.transaction, []

    def counted() -> Any:
        begun.append(1)
        return works()

    monkeypatch.setattr(database, "transaction", counted)
    heard(desk, QUESTION)
    assert len(begun) == 2
    assert len(desk.exchanges.kept()) == 2
    assert money(desk) == (2 * PAID, 0)


class Unclosable(Spoken):
    """A model whose connection breaks while it is closed."""

    async def written(self, prompt: Prompt, stream: bool) -> AsyncGenerator[str | Usage, None]:
        try:
            for piece in self.pieces:
                assert isinstance(piece, str)
                yield piece
        finally:
            raise ProviderFault("broken", "it broke while it was closed")


@pytest.mark.parametrize("settles", [True, False])
def test_who_has_left_is_told_of_no_fault(
    settles: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def leave_after(desk: Desk, count: int) -> None:
        async with aclosing(answered(Question(QUESTION), desk, True)) as events:
            for _ in range(count):
                await anext(events)

    def fails(*_: object) -> None:
        raise StoreDown("store.db: disk is full")

    desk = open_desk(tmp_path, "x")
    desk.model = Unclosable(reply(f"On Fridays {token(FRIDAY)}."))
    if not settles:
        monkeypatch.setattr(desk.ledger, "settle", fails)
    for count in (1, 2, 3, 4):
        anyio.run(leave_after, desk, count)
    assert (money(desk)[1] == 0) == settles
    assert outcome(heard(desk, QUESTION)) == ("broken" if settles else "unavailable")


def test_prevents_an_answer_without_an_end_when_there_is_a_bug(tmp_path: Path) -> None:
    made = studio_with(Blind(), whole=False)
    desk = open_desk(tmp_path, reply("x"), made=made, embedder=Blind(why="bug"))
    end = heard(desk, QUESTION)[-1]
    assert isinstance(end, Failed)
    assert end.code == "internal"
    assert end.text == phrase("broken", "en")
    # Where it was, and no word of what was asked.
    assert end.detail.startswith("KeyError at test_answer.py:")
    assert money(desk) == (0, 0)


def test_the_budget_ends_at_its_last_cent(tmp_path: Path) -> None:
    desk = open_desk(tmp_path, reply(f"On Fridays {token(FRIDAY)}."))
    heard(desk, QUESTION)
    (worst, _) = money(desk)
    # Enough for two worst cases, and a nano-dollar less than for three.
    desk = replace(desk, config=replace_budget(desk, 3 * worst - 1))
    assert outcome(heard(desk, QUESTION)) == "answered"
    events = heard(desk, QUESTION)
    assert outcome(events) == "paused"
    assert len(events) == 1
    assert isinstance(events[0], Failed)
    assert 0 < (events[0].retry_after or 0) <= 86_400
    assert state(desk) == "paused"
    assert money(desk) == (2 * worst, 0)


def replace_budget(desk: Desk, nano: int) -> Any:
    import msgspec

    return msgspec.structs.replace(desk.config, budget_usd_per_day=nano / 1e9)


def test_an_exchange_that_failed_keeps_what_it_cost(tmp_path: Path) -> None:
    desk = open_desk(tmp_path, "{", USED, ProviderFault("broken", "it broke"))
    heard(desk, QUESTION)
    (kept,) = desk.exchanges.kept()
    assert isinstance(kept, Exchange)
    assert (kept.outcome, kept.cost, kept.question) == ("failed", PAID, None)


def test_without_a_model_a_row_is_shown_as_one(tmp_path: Path) -> None:
    page = "# Year\n\n| Month | Work |\n| --- | --- |\n| March | wheel oiled |\n| May | weigh |\n"
    settings = Settings(knowledge=KnowledgeSettings(embedder="none"))
    made = build(corpus_of({**PAGES, "year.md": page}), settings, theme(), today=TODAY)
    events = heard(open_desk(tmp_path, made=made), "When is the wheel oiled?")
    said = "".join(one.text for one in events if isinstance(one, Said))
    assert said.endswith(":\nMarch: ")
    assert [one.entry.quote for one in events if isinstance(one, Quoted)] == ["wheel oiled"]
