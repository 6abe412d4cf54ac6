"""Speaks Chromium's DevTools protocol through a pair of pipes: JSON messages, NUL at the end."""

from __future__ import annotations

import json
import os
import select
import time
from typing import Any

from exactquote.browsers.landing import Gone, Refused, Silent

_CHUNK_BYTES = 1 << 16


class DevTools:
    """A conversation with one browser. No port, no driver: it ends when the pipe does."""

    def __init__(self, pipe: tuple[int, int]) -> None:
        """Speak into the first descriptor and listen to the second."""
        self._writing, self._reading = pipe
        self._received = bytearray()
        self._messages = 0

    def call(
        self, method: str, parameters: dict[str, Any], session: str, deadline: float
    ) -> dict[str, Any]:
        """The result of one method. `deadline` is a moment of the monotonic clock."""
        number = self._send(method, parameters, session)
        while True:
            message = self._next(deadline)
            if message.get("id") == number:
                if "error" in message:
                    raise Refused(str(message["error"].get("message", "unknown error")))
                result: dict[str, Any] = message["result"]
                return result
            self._heed(message, session)

    def _send(self, method: str, parameters: dict[str, Any], session: str) -> int:
        self._messages += 1
        message: dict[str, Any] = {"id": self._messages, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        left = memoryview(json.dumps(message).encode() + b"\0")
        try:
            while left:
                left = left[os.write(self._writing, left) :]
        except OSError as fault:
            raise Gone(f"the browser ended: {fault}") from fault
        return self._messages

    def _next(self, deadline: float) -> dict[str, Any]:
        while (end := self._received.find(b"\0")) < 0:
            wait = deadline - time.monotonic()
            try:
                if wait <= 0 or not select.select([self._reading], [], [], wait)[0]:
                    raise Silent("the browser did not answer")
                chunk = os.read(self._reading, _CHUNK_BYTES)
            except (OSError, ValueError) as fault:
                # Another thread may have closed the browser while this one was waiting.
                raise Gone(f"the browser ended: {fault}") from fault
            if not chunk:
                raise Gone("the browser ended")
            self._received += chunk
        try:
            message = json.loads(self._received[:end])
        except ValueError:
            message = None
        if not isinstance(message, dict):
            raise Gone("what should be Chromium doesn't speak its protocol")
        del self._received[: end + 1]
        return message

    def _heed(self, message: dict[str, Any], session: str) -> None:
        if not session or message.get("sessionId") != session:
            return
        match message.get("method"):
            case "Inspector.targetCrashed":
                raise Gone("the tab crashed")
            case "Page.javascriptDialogOpening":
                # The page stands still until its dialog is answered.
                self._send("Page.handleJavaScriptDialog", {"accept": True}, session)
