"""A provider of models that follows a script: a real server that speaks the OpenAI protocol.

It streams and it answers whole, as chat completions and as responses, and does on the wire
whatever else a script says: stall, break off, drip, send what isn't of the protocol.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

# Bytes are sent, a float is waited for in seconds; a reset is one of TCP.
Step = bytes | float | Literal["reset"]
Steps = Sequence[Step] | Iterator[Step]

USAGE = {"input": 1_000, "cached": 400, "output": 50}


@dataclass
class Asked:
    """A request as it came; `gone` is set once whoever sent it has hung up."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    gone: threading.Event = field(default_factory=threading.Event)

    @property
    def streams(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def responses(self) -> bool:
        return self.path.endswith("/responses")

    @property
    def rules(self) -> str:
        """What the model was told first, as the provider could cache it."""
        told = self.body["instructions" if self.responses else "messages"]
        return str(told if self.responses else told[0]["content"])

    @property
    def request(self) -> str:
        """What came with this question."""
        told = self.body["input" if self.responses else "messages"]
        return str(told[-1]["content"])


Script = Callable[[Asked], Steps]


class Provider:
    """Follows `script` for each request, and remembers all of them."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[Asked] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            async for asked in _requests(reader):
                self.asked.append(asked)
                sent = asyncio.create_task(_sent(writer, self.script(asked)))
                left = asyncio.create_task(reader.read(1))
                await asyncio.wait((sent, left), return_when=asyncio.FIRST_COMPLETED)
                if left.done():
                    asked.gone.set()
                sent.cancel()
                left.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await sent
                break
        writer.close()


@contextlib.contextmanager
def start_provider(script: Script) -> Iterator[Provider]:
    """The provider, listening on a free port of this machine."""
    provider = Provider(script)
    ready, loop = threading.Event(), asyncio.new_event_loop()

    async def listen() -> None:
        server = await asyncio.start_server(provider.serve, "127.0.0.1", 0)
        provider.port = server.sockets[0].getsockname()[1]
        ready.set()
        async with server:
            await server.serve_forever()

    def run() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            runner.run(listen())

    runner = asyncio.Runner(loop_factory=lambda: loop)
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(60)
    try:
        yield provider
    finally:
        loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(loop)])
        thread.join(60)
        runner.close()


def reply(answer: str, *, answered: bool = True, sources: Sequence[str] = ()) -> str:
    """The JSON that a model writes."""
    value = {"answer": answer, "answered": answered, "sources": list(sources)}
    return json.dumps(value, ensure_ascii=False)


def says(
    text: str,
    *,
    cut: int = 5,
    finish: str | None = "stop",
    usage: Mapping[str, Any] | None = USAGE,
    refusal: str = "",
    pause: float = 0.0,
) -> Script:
    """A script that says a text, in pieces of `cut` characters where it is streamed."""

    def script(asked: Asked) -> Steps:
        if not asked.streams:
            return [whole(_whole(asked, text, finish, usage, refusal))]
        events = list(_events(asked, text, cut, finish, usage, refusal))
        paused: list[Step] = [STREAM]
        for event in events:
            paused += [chunk(event), *([pause] if pause else [])]
        return [*paused, LAST_CHUNK]

    return script


STREAM = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
    b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
)
LAST_CHUNK = b"0\r\n\r\n"


def chunk(body: bytes) -> bytes:
    """One chunk of a body that is sent in chunks."""
    return b"%x\r\n%s\r\n" % (len(body), body)


def event(value: object, name: str = "") -> bytes:
    """A server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(value)}\n\n".encode()


def whole(value: object, status: str = "200 OK", headers: Mapping[str, str] = {}) -> bytes:
    """A whole response; what isn't bytes is sent as JSON."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    told = {"Content-Type": "application/json", **headers, "Content-Length": str(len(body))}
    lines = "".join(f"{name}: {text}\r\n" for name, text in told.items())
    return f"HTTP/1.1 {status}\r\n{lines}Connection: close\r\n\r\n".encode() + body


def delta(text: str, finish: str | None = None, **more: object) -> bytes:
    """An event of chat completions that adds a text."""
    choice = {"index": 0, "delta": {"content": text, **more}, "finish_reason": finish}
    return event({**_HEAD, "object": "chat.completion.chunk", "choices": [choice]})


_HEAD = {"id": "c-1", "created": 1, "model": "scripted"}


def _events(
    asked: Asked,
    text: str,
    cut: int,
    finish: str | None,
    usage: Mapping[str, Any] | None,
    refusal: str,
) -> Iterator[bytes]:
    cuts = [*range(0, len(text), cut), len(text)]
    pieces = [text[start:end] for start, end in pairwise(cuts)]
    if asked.responses:
        yield event({"type": "response.created", "response": {}}, "response.created")
        for piece in pieces:
            told = {"type": "response.output_text.delta", "delta": piece}
            yield event(told, "response.output_text.delta")
        if refusal:
            told = {"type": "response.refusal.delta", "delta": refusal}
            yield event(told, "response.refusal.delta")
        if finish is not None:
            ended = _whole(asked, text, finish, usage, refusal)
            name = f"response.{ended['status']}"
            yield event({"type": name, "response": ended}, name)
        return
    for piece in pieces:
        yield delta(piece)
    if refusal:
        yield delta("", refusal=refusal)
    if finish is not None:
        yield delta("", finish)
    # As the protocol has it, only for whoever asks.
    if usage is not None and asked.body.get("stream_options", {}).get("include_usage"):
        yield event({**_HEAD, "choices": [], "usage": _chat_usage(usage)})
    yield b"data: [DONE]\n\n"


def _whole(
    asked: Asked, text: str, finish: str | None, usage: Mapping[str, Any] | None, refusal: str
) -> dict[str, Any]:
    if asked.responses:
        content: list[object] = [{"type": "output_text", "text": text, "annotations": []}]
        if refusal:
            content = [{"type": "refusal", "refusal": refusal}]
        return {
            **_HEAD,
            "object": "response",
            "status": {"stop": "completed", None: "in_progress"}.get(finish, "incomplete"),
            "incomplete_details": None if finish == "stop" else {"reason": finish},
            "output": [{"type": "message", "id": "m-1", "role": "assistant", "content": content}],
            "usage": usage and _response_usage(usage),
        }
    message = {"role": "assistant", "content": text or None, "refusal": refusal or None}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {
        **_HEAD,
        "object": "chat.completion",
        "choices": [choice],
        "usage": usage and _chat_usage(usage),
    }


def _chat_usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "prompt_tokens": usage["input"],
        "completion_tokens": usage["output"],
        "prompt_tokens_details": {"cached_tokens": usage["cached"]},
    }


def _response_usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "input_tokens": usage["input"],
        "output_tokens": usage["output"],
        "input_tokens_details": {"cached_tokens": usage["cached"]},
    }


async def _requests(reader: asyncio.StreamReader) -> AsyncIterator[Asked]:
    while True:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").splitlines()
        pairs = (line.partition(":") for line in lines if line)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        yield Asked(first.split()[1], headers, json.loads(body) if body else {})


async def _sent(writer: asyncio.StreamWriter, steps: Steps) -> None:
    with contextlib.suppress(ConnectionError):
        for step in steps:
            if isinstance(step, float):
                await asyncio.sleep(step)
            elif isinstance(step, bytes):
                writer.write(step)
                await writer.drain()
            else:
                # Closing with nothing to linger for sends a reset in place of an end.
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, linger
                )
                writer.transport.abort()
                return
