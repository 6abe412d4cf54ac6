"""Whatever a provider does wrong, a visitor hears one friendly end, and money is settled."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

import pytest

from exactquote_site.serve.config import Prices, Provider
from exactquote_site.serve.prompt import Prompt
from exactquote_site.serve.provider import worst_cost
from exactquote_site.serve.texts import SHIPPED
from tests.chat import FRIDAY, KEY, PRICES, Answer, Chat, start_chat, token
from tests.provider import (
    LAST_CHUNK,
    STREAM,
    USAGE,
    Asked,
    Script,
    Steps,
    chunk,
    delta,
    event,
    reply,
    says,
    start_provider,
    whole,
)
from tests.provider import Provider as Scripted
from tests.servers import free_port

QUESTION = "When is the xylophone kiln fired?"
# In all that the provider says; it is no business of a visitor or of a log.
SECRET = "zanzibar"
GOOD = reply(f"On Fridays {token(FRIDAY)}. {SECRET}")
# 600 new input tokens at 1, 400 cached at 0.5 and 50 output tokens at 2 dollars a million.
TOLD_NANO = 900_000
STATUS = {
    "unavailable": 503,
    "busy": 503,
    "timeout": 504,
    "broken": 502,
    "refused_by_provider": 502,
    "": 200,
}


@dataclass(frozen=True)
class Kind:
    """A fault and how it must end: by a code ("" is an answer), and what was paid.

    `whole` is the code of an answer that isn't streamed, where it is another.
    """

    name: str
    script: Script
    code: str
    paid: str
    retry_after: float | None = None
    hasty: bool = False
    whole: str = ""

    def of(self, stream: bool) -> str:
        return self.code if stream else self.whole or self.code


def status(line: str, retry_after: str | None = None) -> Script:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    error = {"error": {"message": SECRET, "type": SECRET, "code": SECRET}}
    return lambda asked: [whole(error, line, headers)]


def busy(retry_after: str) -> Script:
    return status("429 Too Many Requests", retry_after)


def both(streamed: Callable[[], Steps], unstreamed: Callable[[], Steps]) -> Script:
    return lambda asked: streamed() if asked.streams else unstreamed()


def streamed(*bodies: bytes, end: bytes = LAST_CHUNK) -> list[Any]:
    return [STREAM, *(chunk(body) for body in bodies), end]


def typed(content_type: str, body: bytes) -> Script:
    return lambda asked: [whole(body, headers={"Content-Type": content_type})]


def shaped(value: Mapping[str, Any]) -> Script:
    """A value in place of a completion or of an event of one."""
    return both(lambda: streamed(event(value), b"data: [DONE]\n\n"), lambda: [whole(value)])


def slow(first: bytes, piece: bytes) -> Iterator[bytes | float]:
    yield first
    while True:
        yield piece
        yield 0.1


# Without a figure for what was cached; it costs as much.
_COST_ALIKE = {"prompt_tokens": 900, "completion_tokens": 0}
HEAD = whole(b"x" * 5_000)[:-5_000]
PART = delta(GOOD[:12])
STATUSES = (
    ("400 Bad Request", "unavailable", "free"),
    ("401 Unauthorized", "unavailable", "free"),
    ("403 Forbidden", "unavailable", "free"),
    ("404 Not Found", "unavailable", "free"),
    ("408 Request Timeout", "unavailable", "free"),
    ("409 Conflict", "unavailable", "free"),
    ("422 Unprocessable Entity", "unavailable", "free"),
    ("429 Too Many Requests", "busy", "free"),
    ("500 Internal Server Error", "unavailable", "worst"),
    ("502 Bad Gateway", "unavailable", "worst"),
    ("529 Overloaded", "busy", "free"),
)
KINDS = (
    *(Kind(line, status(line), code, paid) for line, code, paid in STATUSES),
    Kind("503 and when", status("503 Unavailable", "30"), "busy", "free", 30.0),
    Kind("429 in seconds", busy("7"), "busy", "free", 7.0),
    Kind("429 by a date", busy("Fri, 01 Jan 2100 00:00:00 GMT"), "busy", "free", 3600.0),
    Kind("429 by a date of the past", busy("Fri, 01 Jan 1999 00:00:00 GMT"), "busy", "free"),
    Kind("429 by no date", busy("Fri, 99 Foo 99999 00:00:00"), "busy", "free"),
    Kind("429 negative", busy("-5"), "busy", "free"),
    Kind("429 not a number", busy("NaN"), "busy", "free"),
    Kind("429 without end", busy("inf"), "busy", "free"),
    Kind("429 huge", busy("1e300"), "busy", "free", 3600.0),
    Kind("429 garbage", busy("soon \xff"), "busy", "free"),
    Kind("closed before headers", lambda asked: [], "unavailable", "worst"),
    Kind("reset before headers", lambda asked: ["reset"], "unavailable", "worst"),
    Kind(
        "closed in the body",
        both(lambda: streamed(PART, end=b""), lambda: [HEAD, b'{"id":']),
        "broken",
        "worst",
        whole="unavailable",
    ),
    Kind(
        "reset in the body",
        both(lambda: [*streamed(PART, end=b""), 0.2, "reset"], lambda: [HEAD, 0.2, "reset"]),
        "broken",
        "worst",
        whole="unavailable",
    ),
    Kind("stall before headers", lambda asked: [60.0], "timeout", "worst", hasty=True),
    Kind(
        "stall behind headers",
        both(lambda: [STREAM, 60.0], lambda: [HEAD, 60.0]),
        "timeout",
        "worst",
        hasty=True,
    ),
    Kind(
        "stall in the middle",
        both(lambda: [STREAM, chunk(PART), 60.0], lambda: [HEAD, b"{", 60.0]),
        "timeout",
        "worst",
        hasty=True,
    ),
    Kind(
        "drip beyond the total",
        both(lambda: slow(STREAM, chunk(delta(" "))), lambda: slow(HEAD, b" ")),
        "timeout",
        "worst",
        hasty=True,
    ),
    Kind("empty body", lambda asked: [whole(b"")], "broken", "worst"),
    Kind("empty content", says(""), "broken", "told"),
    Kind("words in place of JSON", says(f"On Fridays, {SECRET}."), "broken", "told"),
    Kind("a page", typed("text/html", b"<h1>zanzibar</h1>"), "broken", "worst"),
    Kind("another type", typed("text/plain", b'{"a": "zanzibar"}'), "broken", "worst"),
    Kind("another encoding", typed("application/json", b"\xff\xfe{}"), "broken", "worst"),
    Kind(
        "malformed events",
        both(lambda: streamed(PART, b"data: {zanzibar\n\n"), lambda: [whole(b"{zanzibar")]),
        "broken",
        "worst",
    ),
    Kind("error in the body", shaped({"error": {"message": SECRET}}), "broken", "worst"),
    Kind("no choices", shaped({"choices": []}), "broken", "worst"),
    Kind("choices of another type", shaped({"choices": {"a": SECRET}}), "broken", "worst"),
    Kind("nothing but null", shaped({"choices": None, "usage": None}), "broken", "worst"),
    Kind(
        "words that are none",
        shaped({"choices": [{"delta": {"content": [SECRET]}, "message": {"content": [SECRET]}}]}),
        "broken",
        "worst",
    ),
    Kind("cut JSON", says(GOOD[:20]), "broken", "told"),
    Kind("JSON of another shape", says(f'["{SECRET}"]'), "broken", "told"),
    Kind("JSON without keys", says(f'{{"answer": "{SECRET}"}}'), "broken", "told"),
    Kind(
        "JSON of other types",
        says('{"answer": 5, "answered": "yes", "sources": {}}'),
        "broken",
        "told",
    ),
    Kind("deep JSON", says("[" * 5_000, cut=999), "broken", "told"),
    Kind("two answers", says(f'{{"answer": "zanzibar", {GOOD[1:]}'), "broken", "told"),
    Kind("cut by length", says(GOOD[:40], finish="length"), "broken", "told"),
    Kind("filtered", says(GOOD[:40], finish="content_filter"), "refused_by_provider", "told"),
    Kind("calls a tool", says("", finish="tool_calls"), "broken", "told"),
    Kind("an end of its own", says(GOOD, finish=SECRET), "broken", "told"),
    Kind("refused", says("", refusal=f"I won't, {SECRET}."), "refused_by_provider", "told"),
    Kind("no end", says(GOOD, finish=None), "broken", "told"),
    Kind("no usage", says(GOOD, usage=None), "", "worst"),
    Kind("negative usage", says(GOOD, usage={**USAGE, "output": -5_000}), "", "worst"),
    Kind("usage in words", says(GOOD, usage={**USAGE, "input": SECRET}), "", "worst"),
    Kind("usage not a number", says(GOOD, usage={**USAGE, "input": float("inf")}), "", "worst"),
    Kind("no token used", says(GOOD, usage={**USAGE, "input": 0, "cached": 0}), "", "worst"),
    Kind(
        "two ends",
        both(
            lambda: streamed(
                *(delta(GOOD[at : at + 9]) for at in range(0, len(GOOD), 9)),
                delta("", "stop"),
                delta("", "stop"),
                event({"choices": [], "usage": _COST_ALIKE}),
                b"data: [DONE]\n\ndata: [DONE]\n\n",
            ),
            lambda: [whole({**_completion(), "usage": _COST_ALIKE})],
        ),
        "",
        "told",
    ),
    Kind(
        "an end without an end",
        both(lambda: [*streamed(*_said(GOOD), end=b""), 60.0], lambda: [whole(_completion())]),
        "",
        "told",
    ),
    Kind(
        "an answer without end",
        both(
            lambda: iter((STREAM, *repeat(chunk(delta("x" * 90)), 2_000))),
            lambda: iter((HEAD.replace(b"5000", b"500000000"), *repeat(b" " * 60_000, 2_000))),
        ),
        "broken",
        "worst",
    ),
    Kind(
        "a line without end",
        both(
            lambda: iter((STREAM, *repeat(chunk(b"x" * 60_000), 2_000))),
            lambda: [whole({**_completion(), "more": "x" * 9_000_000})],
        ),
        "broken",
        "worst",
    ),
)  # fmt: skip


def _completion() -> dict[str, Any]:
    message = {"role": "assistant", "content": GOOD}
    used = {
        "prompt_tokens": 1_000,
        "completion_tokens": 50,
        "prompt_tokens_details": {"cached_tokens": 400},
    }
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": used}


def _said(text: str) -> list[bytes]:
    used = _completion()["usage"]
    last = event({"choices": [], "usage": used})
    return [delta(text), delta("", "stop"), last, b"data: [DONE]\n\n"]


@pytest.fixture(scope="module")
def provider() -> Iterator[Scripted]:
    with start_provider(says(GOOD)) as started:
        yield started


@pytest.fixture(scope="module")
def patient(provider: Scripted, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chat]:
    times = {"connect": 60, "first_byte": 60, "idle": 60, "total": 120}
    folder = tmp_path_factory.mktemp("patient")
    with start_chat(folder, provider.url, timeouts=times) as chat:
        yield chat


@pytest.fixture(scope="module")
def hasty(provider: Scripted, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chat]:
    times = {"connect": 60, "first_byte": 0.8, "idle": 0.6, "total": 1.5}
    folder = tmp_path_factory.mktemp("hasty")
    with start_chat(folder, provider.url, timeouts=times) as chat:
        yield chat


def worst_of(asked: Asked) -> int:
    """The most that the request as it was sent can cost."""
    prices = Provider(prices_usd_per_million=Prices(**PRICES))
    return worst_cost(Prompt(asked.rules, asked.request, {}), prices)


def check(chat: Chat, provider: Scripted, kind: Kind, stream: bool) -> Answer:
    provider.script = kind.script
    provider.asked.clear()
    before, _ = chat.spent
    answer = chat.ask(QUESTION, stream)
    spent, reserved = chat.spent
    assert len(provider.asked) == 1, "a question is one call"
    paid = {"free": 0, "told": TOLD_NANO, "worst": worst_of(provider.asked[0])}
    assert (spent - before, reserved) == (paid[kind.paid], 0)
    check_end(answer, kind, stream)
    return answer


def check_end(answer: Answer, kind: Kind, stream: bool) -> None:
    end = answer.end
    code = kind.of(stream)
    assert answer.status == (200 if stream else STATUS[code])
    if not code:
        assert end["outcome"] == "answered"
        return
    assert end["code"] == code
    assert end["text"] == SHIPPED["en"][code]
    assert end.get("retry_after") == kind.retry_after
    assert set(end) <= {"code", "text", "retry_after"}
    if not stream and kind.retry_after is not None:
        assert answer.headers["retry-after"] == str(round(kind.retry_after))


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_fault_has_one_end(
    kind: Kind,
    stream: bool,
    provider: Scripted,
    request: pytest.FixtureRequest,
    caplog: pytest.LogCaptureFixture,
) -> None:
    chat: Chat = request.getfixturevalue("hasty" if kind.hasty else "patient")
    with caplog.at_level(logging.INFO):
        answer = check(chat, provider, kind, stream)
    assert_quiet(caplog)
    if kind.code:
        assert SECRET not in str(answer.end)


def assert_quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Nobody's words are logged, nor a secret, and no bug was met."""
    logged = "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
    for word in ("xylophone", SECRET, KEY, "Traceback"):
        assert word not in logged
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
    (told,) = [record for record in caplog.records if record.getMessage() == "answer"]
    assert told.name == "exactquote"


# Of the other protocol, those that are read otherwise.
FAILED = {"type": "response.failed", "response": {"status": "failed"}}
OTHERWISE = (
    Kind("a good answer", says(GOOD), "", "told"),
    Kind("no usage", says(GOOD, usage=None), "", "worst"),
    Kind("cut by length", says(GOOD[:40], finish="max_output_tokens"), "broken", "told"),
    Kind("filtered", says(GOOD[:40], finish="content_filter"), "refused_by_provider", "told"),
    Kind("refused", says("", refusal="No."), "refused_by_provider", "told"),
    Kind("words in place of JSON", says("On Fridays."), "broken", "told"),
    Kind("empty content", says(""), "broken", "told"),
    Kind("error event", shaped({"type": "error", "message": SECRET}), "broken", "worst"),
    Kind("failed", shaped(FAILED), "broken", "worst"),
    Kind("no output", shaped({"status": "completed"}), "broken", "worst"),
    Kind("429 in seconds", busy("7"), "busy", "free", 7.0),
)  # fmt: skip


@pytest.fixture(scope="module")
def other(provider: Scripted, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chat]:
    folder = tmp_path_factory.mktemp("responses")
    with start_chat(folder, provider.url, provider={"api": "responses"}) as chat:
        yield chat


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("kind", OTHERWISE, ids=lambda kind: kind.name)
def test_a_fault_of_a_response_has_one_end(
    kind: Kind, stream: bool, provider: Scripted, other: Chat
) -> None:
    check(other, provider, kind, stream)
    assert provider.asked[0].responses


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_a_provider_that_isnt_there_costs_nothing(
    stream: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("alone")
    with start_chat(folder, f"http://127.0.0.1:{free_port()}/v1") as chat:
        answer = chat.ask(QUESTION, stream)
        assert chat.spent == (0, 0)
        check_end(answer, Kind("refused", says(""), "unavailable", "free"), stream)


@pytest.mark.parametrize("line", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
def test_prevents_a_redirect_that_takes_the_question_elsewhere(
    line: str, provider: Scripted, patient: Chat
) -> None:
    with start_provider(says(GOOD)) as elsewhere:

        def script(asked: Asked) -> Steps:
            return [whole({}, line, {"Location": f"{elsewhere.url}/chat/completions"})]

        kind = Kind(line, script, "unavailable", "free")
        for stream in (True, False):
            check(patient, provider, kind, stream)
        assert elsewhere.asked == []


def test_after_a_fault_the_next_question_is_answered(provider: Scripted, patient: Chat) -> None:
    fault = Kind("reset", lambda asked: ["reset"], "unavailable", "worst")
    for stream in (True, False):
        check(patient, provider, fault, stream)
        check(patient, provider, replace(fault, script=says(GOOD), code="", paid="told"), stream)
