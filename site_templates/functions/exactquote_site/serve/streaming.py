"""Sends an answer while it is made, and stops making it when nobody listens any more."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, suppress

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
        # Whether something is being sent, and since when that is so.
        self._sending = False
        self._since = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events, with a heartbeat where they are slow."""
        headers = [(b"content-type", b"text/event-stream; charset=utf-8"), *_HEADERS]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        self._turn(sending=False)
        into, out = anyio.create_memory_object_stream[Event | None](16)
        async with anyio.create_task_group() as group:
            group.start_soon(_until_gone, receive, group.cancel_scope)
            group.start_soon(_made, self._events, into)
            group.start_soon(self._watched, into, group.cancel_scope)
            await self._sent(out, send)
            group.cancel_scope.cancel()

    async def _sent(self, out: MemoryObjectReceiveStream[Event | None], send: Send) -> None:
        async with out:
            async for first in out:
                # One message for all that is there: where events come faster than they can be
                # sent, each costs the less.
                body = b"".join(map(self._told, (first, *_ready(out))))
                self._turn(sending=True)
                await send({"type": "http.response.body", "body": body, "more_body": True})
                self._turn(sending=False)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _told(self, event: Event | None) -> bytes:
        if event is None:
            return HEARTBEAT
        self._heard(event)
        return server_sent(event)

    def _turn(self, sending: bool) -> None:
        self._sending, self._since = sending, time.monotonic()

    async def _watched(
        self, into: MemoryObjectSendStream[Event | None], scope: anyio.CancelScope
    ) -> None:
        """Have a heartbeat sent where there is nothing else, and end what nobody takes.

        One task that looks now and then costs less than a limit on each event.
        """
        while True:
            limit = TAKE_SECONDS if self._sending else HEARTBEAT_SECONDS
            left = self._since + limit - time.monotonic()
            if left > 0:
                # What is looked for may change in the meantime.
                await anyio.sleep(min(left, HEARTBEAT_SECONDS, TAKE_SECONDS))
            elif self._sending:
                scope.cancel()
                return
            else:
                self._turn(sending=False)
                try:
                    into.send_nowait(None)
                except anyio.WouldBlock:
                    continue
                except anyio.ClosedResourceError:
                    # All of the answer is made.
                    return


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


def _ready(out: MemoryObjectReceiveStream[Event | None]) -> Iterator[Event | None]:
    """What can be taken without waiting."""
    with suppress(anyio.WouldBlock, anyio.EndOfStream):
        while True:
            yield out.receive_nowait()


async def _made(begin: Begin, into: MemoryObjectSendStream[Event | None]) -> None:
    async with into, aclosing(begin()) as events:
        async for event in events:
            try:
                # Waiting even where there is room, as `send` does, would part what comes at once.
                into.send_nowait(event)
            except anyio.WouldBlock:
                await into.send(event)
