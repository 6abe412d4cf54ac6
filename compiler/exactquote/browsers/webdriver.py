"""Speaks W3C WebDriver over HTTP with a driver on this machine."""

from __future__ import annotations

import http.client
import json
import time
from typing import Any

from exactquote.browsers.landing import Gone, Refused, Silent


class WebDriver:
    """A conversation with one driver, over one connection that is kept open."""

    def __init__(self, port: int, capabilities: dict[str, Any], deadline: float) -> None:
        """Have the driver on `port` start a browser with these capabilities."""
        self._http = http.client.HTTPConnection("127.0.0.1", port)
        self._session = ""
        wanted = {"capabilities": {"alwaysMatch": capabilities}}
        started = self.call("POST", "/session", wanted, deadline)
        self._session = f"/session/{started['sessionId']}"
        self.capabilities: dict[str, Any] = started["capabilities"]

    def call(self, method: str, path: str, body: dict[str, Any] | None, deadline: float) -> Any:
        """The value that a command answers. `deadline` is a moment of the monotonic clock."""
        wait = max(deadline - time.monotonic(), 0.01)
        self._http.timeout = wait
        try:
            if self._http.sock is None:
                self._http.connect()
            self._http.sock.settimeout(wait)
            self._http.request(
                method,
                self._session + path,
                None if body is None else json.dumps(body).encode(),
                {"Content-Type": "application/json"},
            )
            response = self._http.getresponse()
            value = json.loads(response.read())["value"]
        except TimeoutError as fault:
            self._http.close()
            raise Silent("the browser did not answer") from fault
        except (OSError, http.client.HTTPException, ValueError) as fault:
            self._http.close()
            raise Gone(f"the driver ended: {fault}") from fault
        if response.status != 200:
            # What a driver says of a page that can't be opened is in the first line.
            message = str(value.get("message", "")).partition("\n")[0]
            raise Refused(f"{value.get('error', 'error')}: {message}")
        return value

    def close(self) -> None:
        """Hang up."""
        self._http.close()
