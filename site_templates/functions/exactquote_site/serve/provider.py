"""Turns a prompt into what a model writes: one call to an endpoint of the OpenAI protocol.

Whatever goes wrong there ends in one `ProviderFault`, whose code says what a visitor is told.
There is no second attempt: a question is one call.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import AsyncExitStack, aclosing, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal, Protocol

import anyio
import httpx2
import openai

from exactquote_site.serve.config import Provider, Timeouts
from exactquote_site.serve.event_stream import DataReader
from exactquote_site.serve.prompt import ANSWER_SCHEMA, Prompt
from exactquote_site.serve.store.ledger import NANO

FaultCode = Literal["busy", "unavailable", "timeout", "broken", "refused_by_provider"]

_RETRY_SECONDS_MAX = 3_600.0
# What the package, and reading what it gives, make of another answer.
_NOT_OF_THE_PROTOCOL = (
    *(openai.OpenAIError, ValueError, TypeError, AttributeError, LookupError, RecursionError),
)
_OPENAI_URL = "https://api.openai.com/v1"
# An endpoint that ignores the limit on tokens is cut off here. Hardly any token is longer;
# in an event of a stream, a few hundred bytes stand around each.
_CHARS_A_TOKEN = 40
_BYTES_A_TOKEN = 2_000
_BYTES_BESIDES = 1_000_000
_DONE = b"[DONE]"
# An end that isn't there by then isn't coming.
_DRAIN_SECONDS = 0.1


class ProviderFault(Exception):
    """The call failed. `free` tells that the provider can't have charged for it."""

    def __init__(
        self, code: FaultCode, detail: str, *, free: bool = False, retry_after: float | None = None
    ) -> None:
        """`detail` is for the log and holds nothing that the visitor or the model wrote."""
        super().__init__(f"{code}: {detail}")
        self.code: FaultCode = code
        self.detail = detail
        self.free = free
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, as told; `cached` are those of the input that the provider had."""

    input: int
    cached: int
    output: int


class Model(Protocol):
    """Something that answers a prompt."""

    def written(self, prompt: Prompt, stream: bool) -> AsyncGenerator[str | Usage, None]:
        """The pieces of the answer's JSON as they come, and the usage once it is told.

        Raises `ProviderFault`.
        """
        ...


def cost(usage: Usage, provider: Provider) -> int:
    """What a call cost, in nano-dollars, rounded up."""
    prices = provider.prices_usd_per_million
    dollars = (
        (usage.input - usage.cached) * prices.input
        + usage.cached * prices.cached
        + usage.output * prices.output
    ) / 1_000_000
    return _up(dollars)


def told_cost(usage: Usage, prompt: Prompt, provider: Provider) -> int:
    """What a call cost by what was told of it, in nano-dollars.

    Figures that the request can't have come to are no figures, and the worst case is meant.
    """
    # Servers that don't count say 0, and no prompt of ours is empty.
    held = 0 < usage.input <= _tokens_max(prompt) and 0 <= usage.cached <= usage.input
    if held and 0 <= usage.output <= provider.output_tokens_max:
        return cost(usage, provider)
    return worst_cost(prompt, provider)


def worst_cost(prompt: Prompt, provider: Provider) -> int:
    """The most that a call can cost, in nano-dollars."""
    prices = provider.prices_usd_per_million
    dollars = (
        _tokens_max(prompt) * max(prices.input, prices.cached)
        + provider.output_tokens_max * prices.output
    )
    return _up(dollars / 1_000_000)


def _tokens_max(prompt: Prompt) -> int:
    """No token is shorter than a byte; some are set around the messages."""
    return len((prompt.rules + prompt.request).encode("utf-8", "replace")) + 1_000


def _up(dollars: float) -> int:
    return -int(-(dollars * NANO) // 1)


@dataclass
class _Call:
    """How far a call has come: whether its request was made, and whether a response began."""

    made: bool = False
    heard: bool = False


# One client serves all calls at once, each in a task of its own.
_CALL: ContextVar[_Call] = ContextVar("call")


class OpenAIModel:
    """A model behind an endpoint that speaks the OpenAI protocol."""

    def __init__(self, provider: Provider, timeouts: Timeouts, key: str) -> None:
        """The key is sent to the endpoint and nowhere else."""
        self._provider = provider
        self._timeouts = timeouts
        # All limits but that on connecting are kept here, where what they mean is known.
        patience = openai.Timeout(timeouts.total, connect=timeouts.connect)
        self._bytes_max = _BYTES_BESIDES + provider.output_tokens_max * _BYTES_A_TOKEN

        async def made(request: httpx2.Request) -> None:
            _CALL.get().made = True

        async def bounded(response: httpx2.Response) -> None:
            _CALL.get().heard = True
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _Bounded(response.stream, self._bytes_max)

        self._client = openai.AsyncOpenAI(
            api_key=key,
            # Without it, the package would take one from the environment.
            base_url=provider.base_url or _OPENAI_URL,
            max_retries=0,
            timeout=patience,
            http_client=openai.DefaultAsyncHttpxClient(
                timeout=patience,
                # Whoever is redirected to would be sent the question and the passages.
                follow_redirects=False,
                event_hooks={"request": [made], "response": [bounded]},
            ),
        )

    async def written(self, prompt: Prompt, stream: bool) -> AsyncGenerator[str | Usage, None]:
        """The pieces of the answer's JSON, and the usage. Raises `ProviderFault`."""
        call = _Call()
        _CALL.set(call)
        end = anyio.current_time() + self._timeouts.total
        try:
            async with aclosing(self._pieces(prompt, stream, end)) as pieces:
                async for piece in pieces:
                    yield piece
        except TimeoutError:
            raise ProviderFault("timeout", "the call took too long") from None
        except openai.APIStatusError as error:
            raise _of_status(error) from None
        except openai.APIConnectionError as error:
            raise _of_connection(error, call) from None
        except (*_NOT_OF_THE_PROTOCOL, httpx2.HTTPError, OSError) as error:
            if not call.made:
                detail = f"nothing could be sent: {type(error).__name__}"
                raise ProviderFault("unavailable", detail, free=True) from None
            if isinstance(error, httpx2.RequestError):
                raise _of_connection(error, call) from None
            raise ProviderFault("broken", type(error).__name__) from None

    async def aclose(self) -> None:
        """Close the connections to the endpoint."""
        await self._client.close()

    async def _pieces(
        self, prompt: Prompt, stream: bool, end: float
    ) -> AsyncGenerator[str | Usage, None]:
        """The same, by whichever form of the protocol; `end` is the clock's time for the call.

        No scope of a limit spans a yield: whoever reads slowly isn't cancelled for it.
        """
        responses = self._provider.api == "responses"
        told = _End(self._provider.output_tokens_max)
        if stream:
            read = _read_response_event if responses else _read_chat_event
            async with aclosing(self._events(prompt, end)) as events:
                async for event in events:
                    for part in read(event, told):
                        yield part
        else:
            with _until(end):
                answer = await self._whole(prompt)
            for part in (_read_response if responses else _read_chat)(answer, told):
                yield part
        told.require_whole()

    async def _whole(self, prompt: Prompt) -> dict[str, Any]:
        answer = await self._asked(prompt, stream=False)
        body = bytearray()
        async with aclosing(answer), aclosing(answer.aiter_bytes()) as pieces:
            async for piece in pieces:
                body += piece
                # Once more, since it may have come compressed.
                if len(body) > self._bytes_max:
                    raise ProviderFault("broken", "a body without end")
        return _object(bytes(body))

    async def _events(self, prompt: Prompt, end: float) -> AsyncGenerator[dict[str, Any], None]:
        """The events of a stream, none of them later than the limits allow.

        The package's own reading makes a typed object of each, and checks little of it; with
        200 streams at once that took a quarter of the time (bench/chat/load.py).
        """
        due = anyio.current_time() + self._timeouts.first_byte
        async with AsyncExitStack() as stack:
            with _until(min(due, end)):
                answer = await self._asked(prompt, stream=True)
                stack.push_async_callback(answer.aclose)
            body = await stack.enter_async_context(aclosing(answer.aiter_bytes()))
            reader, left = DataReader(), self._bytes_max
            due = anyio.current_time() + self._timeouts.first_byte
            while True:
                with _until(min(due, end)):
                    piece = await anext(body, None)
                if piece is None:
                    return
                left -= len(piece)
                if left < 0:
                    raise ProviderFault("broken", "a body without end")
                told = False
                for data in reader.feed(piece):
                    if data.startswith(_DONE):
                        await _drain(body)
                        return
                    event = _object(data)
                    if event.get("error"):
                        raise ProviderFault("broken", "an error event")
                    yield event
                    told = True
                if told:
                    # What only keeps a connection open is no event, and wins no time.
                    due = anyio.current_time() + self._timeouts.idle

    async def _asked(self, prompt: Prompt, stream: bool) -> httpx2.Response:
        """The response, its body unread. Raises as the package does."""
        chat = self._provider.api != "responses"
        body = (_chat if chat else _response)(prompt, self._provider)
        if stream:
            body["stream"] = True
            if chat:
                body["stream_options"] = {"include_usage": True}
        path = "/chat/completions" if chat else "/responses"
        # As the package documents it for what it has no method for. Its methods would look at
        # every word of the body first, which takes as long as sending it.
        answer: httpx2.Response = await self._client.post(
            path, cast_to=httpx2.Response, body=body, stream=True
        )
        return answer


@contextmanager
def _until(end: float) -> Iterator[None]:
    """A limit on what is awaited in it, by the clock's time. Raises `TimeoutError`."""
    with anyio.CancelScope(deadline=end) as scope:
        yield
    if scope.cancelled_caught:
        raise TimeoutError


async def _drain(body: AsyncIterator[bytes]) -> None:
    """Read the end of a body, if it comes: only then can its connection be used again."""
    with anyio.move_on_after(_DRAIN_SECONDS), suppress(ProviderFault, httpx2.HTTPError):
        async for _ in body:
            pass


def _object(data: bytes) -> dict[str, Any]:
    # In one encoding alone, where the module would guess.
    value = json.loads(data.decode())
    if not isinstance(value, dict):
        raise ProviderFault("broken", "a value that is no object")
    return value


def _read_chat_event(event: dict[str, Any], end: _End) -> Iterator[str | Usage]:
    usage = _usage(event.get("usage"), _CHAT_NAMES)
    if usage is not None:
        yield usage
    choices = event.get("choices")
    if not choices:
        return
    choice = choices[0]
    end.finished = choice.get("finish_reason") or end.finished
    delta = choice.get("delta") or {}
    end.refused = end.refused or bool(delta.get("refusal"))
    if delta.get("content"):
        yield end.counted(delta["content"])


def _read_chat(answer: dict[str, Any], end: _End) -> Iterator[str | Usage]:
    usage = _usage(answer.get("usage"), _CHAT_NAMES)
    if usage is not None:
        yield usage
    if not answer.get("choices"):
        raise ProviderFault("broken", "an answer without choices")
    choice = answer["choices"][0]
    message = choice["message"]
    end.refused = bool(message.get("refusal"))
    end.finished = choice.get("finish_reason") or ""
    if message.get("content"):
        yield end.counted(message["content"])


def _read_response_event(event: dict[str, Any], end: _End) -> Iterator[str | Usage]:
    kind = event["type"]
    if kind == "response.output_text.delta":
        yield end.counted(event["delta"])
    elif kind.startswith("response.refusal"):
        end.refused = True
    elif kind == "error":
        raise ProviderFault("broken", "an error event")
    elif kind in _ENDS:
        response = event["response"]
        end.finished = _finished(response)
        usage = _usage(response.get("usage"), _RESPONSE_NAMES)
        if usage is not None:
            yield usage


def _read_response(answer: dict[str, Any], end: _End) -> Iterator[str | Usage]:
    usage = _usage(answer.get("usage"), _RESPONSE_NAMES)
    if usage is not None:
        yield usage
    messages = [item for item in answer["output"] if item["type"] == "message"]
    parts = [part for message in messages for part in message["content"]]
    end.refused = any(part["type"] == "refusal" for part in parts)
    end.finished = _finished(answer)
    text = "".join(part["text"] for part in parts if part["type"] == "output_text")
    if text:
        yield end.counted(text)


@dataclass
class _End:
    """What tells whether an answer is whole: how it ended, and how long it is."""

    tokens_max: int
    finished: str = ""
    refused: bool = False
    chars: int = 0

    def counted(self, piece: object) -> str:
        if not isinstance(piece, str):
            raise ProviderFault("broken", "words that are none")
        self.chars += len(piece)
        if self.chars > self.tokens_max * _CHARS_A_TOKEN:
            raise ProviderFault("broken", "an answer without end")
        return piece

    def require_whole(self) -> None:
        # Asked at the end, when what it cost has been told.
        if self.refused:
            raise ProviderFault("refused_by_provider", "the model refused")
        if self.finished == "content_filter":
            raise ProviderFault("refused_by_provider", "the content filter stopped it")
        if self.finished != "stop":
            raise ProviderFault("broken", f"the answer ended by {_known(self.finished)}")
        if not self.chars:
            raise ProviderFault("broken", "the answer is empty")


class _Bounded(httpx2.AsyncByteStream):
    """The body of a response, up to so many bytes."""

    def __init__(self, stream: httpx2.AsyncByteStream, bytes_max: int) -> None:
        self._stream = stream
        self._left = bytes_max

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            self._left -= len(piece)
            if self._left < 0:
                raise ProviderFault("broken", "a body without end")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


_ENDS = frozenset(("response.completed", "response.incomplete", "response.failed"))
_FINISHES = frozenset(("length", "tool_calls", "function_call", "failed"))
# Where each of the protocols tells the input, the output and the part that was cached.
_CHAT_NAMES = ("prompt_tokens", "completion_tokens", "prompt_tokens_details")
_RESPONSE_NAMES = ("input_tokens", "output_tokens", "input_tokens_details")


def _chat(prompt: Prompt, provider: Provider) -> dict[str, Any]:
    return {
        "model": provider.model,
        "messages": [
            {"role": "system", "content": prompt.rules},
            {"role": "user", "content": prompt.request},
        ],
        "max_completion_tokens": provider.output_tokens_max,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": ANSWER_SCHEMA},
        },
    }


def _response(prompt: Prompt, provider: Provider) -> dict[str, Any]:
    return {
        "model": provider.model,
        "instructions": prompt.rules,
        "input": [{"role": "user", "content": prompt.request}],
        "max_output_tokens": provider.output_tokens_max,
        "store": False,
        "text": {
            "format": {
                "type": "json_schema",
                "name": "answer",
                "strict": True,
                "schema": ANSWER_SCHEMA,
            }
        },
    }


# What is told in other than whole numbers is worth as much as nothing.
_UNTOLD = Usage(0, 0, 0)


def _usage(told: Any, names: tuple[str, str, str]) -> Usage | None:
    """The usage as it is told; None where there is none, `_UNTOLD` where it isn't in numbers."""
    if told is None:
        return None
    if not isinstance(told, dict):
        return _UNTOLD
    input, output, details = (told.get(name) for name in names)
    known = {} if details is None else details
    cached = known.get("cached_tokens") if isinstance(known, dict) else ""
    told_cached = 0 if cached is None else cached
    counts = [count for count in (input, told_cached, output) if type(count) is int]
    return Usage(*counts) if len(counts) == len(names) else _UNTOLD


def _finished(response: dict[str, Any]) -> str:
    """How a response ended, in the words of chat completions."""
    if response["status"] == "completed":
        return "stop"
    if response["status"] == "incomplete":
        details = response.get("incomplete_details")
        filtered = details is not None and details.get("reason") == "content_filter"
        return "content_filter" if filtered else "length"
    return "failed"


def _known(finished: str) -> str:
    # What an endpoint made up is no code, and could be anybody's words.
    return finished if finished in _FINISHES else "something else" if finished else "nothing"


# Errors before anything was sent: the endpoint wasn't reached, or the request is none.
_UNSENT = frozenset(
    "ConnectError ConnectTimeout PoolTimeout ProxyError LocalProtocolError UnsupportedProtocol"
    " InvalidURL".split()
)


def _of_connection(
    error: openai.APIConnectionError | httpx2.RequestError, call: _Call
) -> ProviderFault:
    cause = type(error.__cause__ or error).__name__
    # Whom nothing reached can't have charged.
    free = not call.heard and (not call.made or cause in _UNSENT)
    if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
        return ProviderFault("timeout", f"the endpoint took too long: {cause}", free=free)
    if call.heard:
        return ProviderFault("broken", f"the connection broke: {cause}")
    return ProviderFault("unavailable", f"no answer: {cause}", free=free)


def _of_status(error: openai.APIStatusError) -> ProviderFault:
    status = error.status_code
    detail = f"status {status}"
    if status in (429, 503, 529):
        wait = _retry_after(error.response.headers.get("retry-after"))
        return ProviderFault("busy", detail, free=True, retry_after=wait)
    return ProviderFault("unavailable", detail, free=status < 500)


def _retry_after(value: str | None) -> float | None:
    """The seconds that a Retry-After header names, by number or date; None for nonsense."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            date = parsedate_to_datetime(value)
            zoned = date if date.tzinfo is not None else date.replace(tzinfo=UTC)
            seconds = (zoned - datetime.now(UTC)).total_seconds()
        except (ValueError, OverflowError):
            return None
    # NaN compares false with everything.
    if not 0 <= seconds < float("inf"):
        return None
    return min(seconds, _RETRY_SECONDS_MAX)
