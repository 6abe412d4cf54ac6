"""Speaks Marionette, the protocol that Firefox has built in: JSON messages, length in front."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

from exactquote.browsers.landing import Gone, Refused, Silent

_CHUNK_BYTES = 1 << 16


class Marionette:
    """A conversation with one Firefox."""

    def __init__(self, port: int, deadline: float) -> None:
        """Call the Firefox that listens on `port`. Raises `Gone` if none does."""
        self._received = bytearray()
        self._messages = 0
        try:
            self._socket = socket.create_connection(("127.0.0.1", port), 10)
        except OSError as fault:
            raise Gone(f"Firefox can't be reached: {fault}") from fault
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._next(deadline)

    def call(self, command: str, parameters: dict[str, Any], deadline: float) -> Any:
        """The value that a command answers. `deadline` is a moment of the monotonic clock."""
        self._messages += 1
        message = json.dumps([0, self._messages, command, parameters]).encode()
        self._socket.settimeout(max(deadline - time.monotonic(), 0.01))
        try:
            self._socket.sendall(b"%d:%b" % (len(message), message))
        except TimeoutError as fault:
            raise Silent("the browser did not take the command") from fault
        except OSError as fault:
            raise Gone(f"the browser ended: {fault}") from fault
        while True:
            answer = self._next(deadline)
            if answer[1] == self._messages:
                break
        if answer[2]:
            # What comes after the first line is where in Firefox it happened.
            message_line = str(answer[2].get("message", "")).partition("\n")[0]
            raise Refused(f"{answer[2].get('error', 'error')}: {message_line}")
        result = answer[3]
        return result["value"] if isinstance(result, dict) and set(result) == {"value"} else result

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def _next(self, deadline: float) -> Any:
        while (colon := self._received.find(b":")) < 0:
            self._receive(deadline)
        end = colon + 1 + int(self._received[:colon])
        while len(self._received) < end:
            self._receive(deadline)
        message = json.loads(self._received[colon + 1 : end])
        del self._received[:end]
        return message

    def _receive(self, deadline: float) -> None:
        wait = deadline - time.monotonic()
        if wait <= 0:
            raise Silent("the browser did not answer")
        self._socket.settimeout(wait)
        try:
            chunk = self._socket.recv(_CHUNK_BYTES)
        except TimeoutError as fault:
            raise Silent("the browser did not answer") from fault
        except OSError as fault:
            raise Gone(f"the browser ended: {fault}") from fault
        if not chunk:
            raise Gone("the browser ended")
        self._received += chunk
