"""Whatever a provider does wrong, a visitor hears one friendly end, and money is settled."""

from __future__ import annotations

import gzip
import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

import anyio
import pytest

from exactquote_site.serve.app import open_site
from exactquote_site.serve.config import Prices, Provider, Timeouts
from exactquote_site.serve.prompt import Prompt
from exactquote_site.serve.provider import OpenAIModel, ProviderFault, worst_cost
from exactquote_site.serve.texts import SHIPPED
from exactquote_site.wire.allowlist import WireError
from tests.chat import (
    FRIDAY,
    KEY,
    PRICES,
    Answer,
    Chat,
    start_chat,
    studio,
    token,
    write_functions,
)
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
# The same without any of the cache.
NEW_NANO = 1_100_000
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
    """A fault and how it must end: by a code ("" is an answer), and what was paid."""

    name: str
    script: Script
    code: str
    paid: str
    retry_after: float | None = None
    hasty: bool = False


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


def joined(end: bytes, cut: int = 400) -> Script:
    """A good answer whose lines have another end, its bytes cut without regard to its events."""

    def streams() -> Steps:
        body = b": waiting\n\n" + b"".join(_said(GOOD)).replace(b"data: ", b"id: 1\ndata:")
        body = body.replace(b"\n", end)
        return streamed(*(body[at : at + cut] for at in range(0, len(body), cut)))

    return both(streams, lambda: [whole(_completion())])


def squeezed(streams: Callable[[], bytes], answers: Callable[[], object]) -> Script:
    """A body that comes compressed, whether it was asked for or not."""

    def script(asked: Asked) -> Steps:
        body = streams() if asked.streams else json.dumps(answers()).encode()
        kind = "text/event-stream" if asked.streams else "application/json"
        told = {"Content-Type": kind, "Content-Encoding": "gzip"}
        return [whole(gzip.compress(body), headers=told)]

    return script


def slow(first: bytes, piece: bytes) -> Iterator[bytes | float]:
    yield first
    while True:
        yield piece
        yield 0.1


def shaped_usage(change: object) -> Script:
    """A good answer with another usage, or with parts of it changed."""
    used = {**_completion()["usage"], **change} if isinstance(change, dict) else change

    def streams() -> Steps:
        last = event({"choices": [], "usage": used})
        return streamed(delta(GOOD), delta("", "stop"), last, b"data: [DONE]\n\n")

    return both(streams, lambda: [whole({**_completion(), "usage": used})])


def _completion() -> dict[str, Any]:
    message = {"role": "assistant", "content": GOOD}
    used = {
        "prompt_tokens": 1_000,
        "completion_tokens": 50,
        "prompt_tokens_details": {"cached_tokens": 400},
    }
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": used}


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
    ),
    Kind(
        "reset in the body",
        both(lambda: [*streamed(PART, end=b""), 0.2, "reset"], lambda: [HEAD, 0.2, "reset"]),
        "broken",
        "worst",
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
    Kind(
        "an error in the middle",
        both(
            lambda: streamed(PART, event({"error": {"message": SECRET}}), *_said(GOOD[12:])),
            lambda: [whole({"error": {"message": SECRET}})],
        ),
        "broken",
        "worst",
    ),
    Kind(
        "an event that is none",
        both(lambda: streamed(PART, event([SECRET])), lambda: [whole([SECRET])]),
        "broken",
        "worst",
    ),
    Kind(
        "events in another encoding",
        both(
            lambda: streamed("data: {}\n\n".encode("utf-16")),
            lambda: [whole(json.dumps(_completion()).encode("utf-16"))],
        ),
        "broken",
        "worst",
    ),
    Kind(
        "a letter that is none",
        both(
            lambda: streamed(PART.replace(b"answer", b"\xff"), *_said(GOOD)),
            lambda: [whole(json.dumps(_completion()).encode().replace(b"zanzi", b"\xff"))],
        ),
        "broken",
        "worst",
    ),
    Kind("lines that end otherwise", joined(b"\r\n"), "", "told"),
    Kind("lines that end by returns", joined(b"\r"), "", "told"),
    Kind("events without a seam", joined(b"\n", cut=10**6), "", "told"),
    Kind("events in little pieces", joined(b"\n", cut=7), "", "told"),
    Kind("a compressed answer", squeezed(lambda: b"".join(_said(GOOD)), _completion), "", "told"),
    Kind(
        "a compressed body without end",
        squeezed(
            lambda: b"".join((b":", b"x" * 30_000_000, b"\n", *_said(GOOD))),
            lambda: {**_completion(), "more": "x" * 30_000_000},
        ),
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
    *(
        Kind(f"usage of {name} {count!r}", says(GOOD, usage={**USAGE, name: count}), "", "worst")
        for name in USAGE
        for count in (10**18, -1, True, 1.5, float("nan"), "7", [7], {}, 1e3)
    ),
    # More than the request can have come to, or than was asked for.
    Kind("one token too many", says(GOOD, usage={**USAGE, "output": 801}), "", "worst"),
    Kind("more cached than read", says(GOOD, usage={**USAGE, "cached": 1_001}), "", "worst"),
    Kind("usage of null", says(GOOD, usage=dict.fromkeys(USAGE)), "", "worst"),
    Kind("nothing told of the cache", shaped_usage({"prompt_tokens_details": None}), "", "new"),
    Kind("a cache of words", shaped_usage({"prompt_tokens_details": SECRET}), "", "worst"),
    Kind("usage of words", shaped_usage(SECRET), "", "worst"),
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
    worst = worst_of(provider.asked[0])
    paid = {"free": 0, "told": TOLD_NANO, "new": NEW_NANO, "worst": worst}
    assert (spent - before, reserved) == (paid[kind.paid], 0)
    check_end(answer, kind, stream)
    return answer


def check_end(answer: Answer, kind: Kind, stream: bool) -> None:
    end = answer.end
    code = kind.code
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


def prompt_of(text: str) -> Prompt:
    return Prompt("rules", text, {})


def fault_of(model: OpenAIModel, stream: bool) -> ProviderFault:
    """The fault in which a call ends."""

    async def ask() -> ProviderFault:
        try:
            async with aclosing(model.written(prompt_of("Why?"), stream)) as pieces:
                async for _ in pieces:
                    pass
        except ProviderFault as fault:
            return fault
        finally:
            await model.aclose()
        raise AssertionError("it had no fault")

    return anyio.run(ask)


def test_prevents_a_call_that_is_kept_open_by_what_is_no_event(provider: Scripted) -> None:
    """Some endpoints send comments for as long as a model is stuck."""
    provider.script = lambda asked: slow(STREAM + chunk(PART), chunk(b": waiting\n\n"))
    settings = Provider(base_url=provider.url, model="m", prices_usd_per_million=Prices(**PRICES))
    began = time.monotonic()
    fault = fault_of(OpenAIModel(settings, Timeouts(idle=0.5, total=60), KEY), stream=True)
    assert (fault.code, fault.free) == ("timeout", False)
    assert time.monotonic() - began < 30


# What a header can't hold, if it ever got past the start.
UNSENDABLE = ("sk-é", "sk-\x00", "sk-a\nb", "sk-\U0001f980", "sk-\x7f\r")


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("key", UNSENDABLE, ids=ascii)
def test_prevents_a_charge_for_what_was_never_sent(
    key: str, stream: bool, provider: Scripted
) -> None:
    provider.asked.clear()
    settings = Provider(base_url=provider.url, model="m", prices_usd_per_million=Prices(**PRICES))

    fault = fault_of(OpenAIModel(settings, Timeouts(), key), stream)
    assert (fault.code, fault.free, provider.asked) == ("unavailable", True, [])
    assert key not in fault.detail


@pytest.mark.parametrize("key", [f" {KEY}\n", f"{KEY}\r\n", f"\t{KEY}"])
def test_a_key_is_sent_without_the_space_around_it(
    key: str, provider: Scripted, tmp_path_factory: pytest.TempPathFactory
) -> None:
    provider.script = says(GOOD)
    provider.asked.clear()
    with start_chat(tmp_path_factory.mktemp("key"), provider.url, key=key) as chat:
        assert chat.ask(QUESTION, False).value["outcome"] == "answered"
    assert provider.asked[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_prevents_another_key_of_the_environment_from_being_sent(
    stream: bool,
    provider: Scripted,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, f"sk-{SECRET}")
    provider.script = says(GOOD)
    provider.asked.clear()
    with start_chat(tmp_path_factory.mktemp("key"), provider.url) as chat:
        assert chat.ask(QUESTION, stream).end["outcome"] == "answered"
    assert provider.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert SECRET not in str(provider.asked[0].headers)


@pytest.mark.parametrize("name", ["EXACTQUOTE_API_KEY", "EXACTQUOTE_MAIL_KEY"])
@pytest.mark.parametrize("value", [*UNSENDABLE, "two words"], ids=ascii)
def test_prevents_a_start_with_a_key_that_no_header_holds(
    name: str, value: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("key")
    leads = {"to": "a@example.org", "sender": "b@example.org", "api_url": "http://127.0.0.1:9/"}
    write_functions(folder, "http://127.0.0.1:9/v1", studio(), leads=leads)
    told = {"EXACTQUOTE_STORE_URL": f"sqlite:///{folder / 'store.db'}"}
    value = value.rstrip("\r")
    with pytest.raises(WireError, match=f"^.{name} holds characters that no key has$") as caught:
        open_site(folder, {**told, name: value})
    assert value not in str(caught.value)


@pytest.mark.parametrize("text", [" \n", "\t"])
def test_a_key_of_white_space_is_none(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    with start_chat(tmp_path_factory.mktemp("key"), key=text) as chat:
        assert chat.status()["state"] == "passages"


# A variable of another use, each with a line break behind it, and one within it.
VARIABLES = ("EXACTQUOTE_STORE_URL", "EXACTQUOTE_RATES_URL", "EXACTQUOTE_ADMIN_TOKEN")


@pytest.mark.parametrize("name", VARIABLES)
def test_what_a_variable_holds_ends_before_its_line_break(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("variable")
    write_functions(folder, "http://127.0.0.1:9/v1", studio())
    told = {
        "EXACTQUOTE_STORE_URL": f"sqlite:///{folder / 'store.db'}",
        "EXACTQUOTE_RATES_URL": "memory://",
        "EXACTQUOTE_ADMIN_TOKEN": "zanzibar-zanzibar",
    }
    site = open_site(folder, {**told, name: f"{told[name]}\n"})
    assert site.admin_token == told["EXACTQUOTE_ADMIN_TOKEN"]
    assert {file.name for file in folder.glob("store.db*")} <= {
        *("store.db", "store.db-wal", "store.db-shm")
    }
    site.database.close()
    with pytest.raises(WireError, match=f"^.{name} holds control characters$"):
        open_site(folder, {**told, name: f"{told[name]}\0\x1b{SECRET}"})


def test_the_connections_of_a_model_are_closed_with_the_function(
    provider: Scripted, tmp_path_factory: pytest.TempPathFactory
) -> None:
    provider.script = says(GOOD)
    with start_chat(tmp_path_factory.mktemp("closed"), provider.url) as chat:
        chat.ask(QUESTION)
        model = chat.site.desk.model
        assert isinstance(model, OpenAIModel)
        assert not model._client.is_closed()
    assert model._client.is_closed()


def test_after_a_fault_the_next_question_is_answered(provider: Scripted, patient: Chat) -> None:
    fault = Kind("reset", lambda asked: ["reset"], "unavailable", "worst")
    for stream in (True, False):
        check(patient, provider, fault, stream)
        check(patient, provider, replace(fault, script=says(GOOD), code="", paid="told"), stream)
