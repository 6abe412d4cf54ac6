"""Sends an answer while it is made, and stops making it when nobody listens any more."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from exactquote_site.serve.answer import Event
from exactquote_site.serve.wire_events import HEARTBEAT, server_sent, whole

HEARTBEAT_SECONDS = 10.0
# Whoever takes nothing for so long isn't there any more, whatever the connection says.
TAKE_SECONDS = 60.0
_HEADERS = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    # Proxies of the nginx kind hold back a response otherwise until it is complete.
    (b"x-accel-buffering", b"no"),
]

Begin = Callable[[], AsyncGenerator[Event, None]]
Heard = Callable[[Event], None]


class StreamedAnswer:
    """An ASGI response of server-sent events."""

    def __init__(self, events: Begin, heard: Heard) -> None:
        """`events` begins the answer; `heard` is told of each event that is sent."""
        self._events = events
        self._heard = heard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events, with a heartbeat where they are slow."""
        headers = [(b"content-type", b"text/event-stream; charset=utf-8"), *_HEADERS]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        into, out = anyio.create_memory_object_stream[Event](16)
        async with anyio.create_task_group() as group:
            group.start_soon(_until_gone, receive, group.cancel_scope)
            group.start_soon(_made, self._events, into)
            await self._sent(out, send, group.cancel_scope)
            group.cancel_scope.cancel()

    async def _sent(
        self, out: MemoryObjectReceiveStream[Event], send: Send, scope: anyio.CancelScope
    ) -> None:
        async with out:
            while True:
                event, scope.deadline = None, math.inf
                try:
                    with anyio.move_on_after(HEARTBEAT_SECONDS):
                        event = await out.receive()
                except anyio.EndOfStream:
                    break
                body = HEARTBEAT if event is None else server_sent(event)
                if event is not None:
                    self._heard(event)
                scope.deadline = anyio.current_time() + TAKE_SECONDS
                await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class WholeAnswer:
    """An ASGI response of one JSON answer."""

    def __init__(self, events: Begin, heard: Heard) -> None:
        """`events` begins the answer; `heard` is told of each event."""
        self._events = events
        self._heard = heard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer when it is complete."""
        made: list[Event] = []
        async with anyio.create_task_group() as group:
            group.start_soon(_until_gone, receive, group.cancel_scope)
            async with aclosing(self._events()) as events:
                async for event in events:
                    self._heard(event)
                    made.append(event)
            status, body = whole(made)
            wait = body.get("error", {}).get("retry_after")
            headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
            if wait is not None:
                headers["Retry-After"] = str(max(1, math.ceil(wait)))
            await JSONResponse(body, status, headers)(scope, receive, send)
            group.cancel_scope.cancel()


async def _until_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            scope.cancel()
            return


async def _made(begin: Begin, into: MemoryObjectSendStream[Event]) -> None:
    async with into, aclosing(begin()) as events:
        async for event in events:
            await into.send(event)
