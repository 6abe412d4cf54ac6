"""Mail servers that follow a script: SMTP and an HTTP service, on free ports of this machine."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

# What an SMTP server does at a command: say a line, or what no server should.
Reply = str | Literal["reset", "hang up", "stall", "drip"]


@dataclass
class Taken:
    """Mail that a server said 250 to."""

    sender: str
    to: list[str]
    data: bytes


@dataclass
class ScriptedSmtp:
    """Says 250 to everything but what `script` has another reply for, by command.

    The end of the mail itself is the command ".".
    """

    script: dict[str, Reply] = field(default_factory=dict)
    taken: list[Taken] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    def speak(self, connection: socket.socket) -> None:
        """One conversation over SMTP (RFC 5321)."""
        with connection, contextlib.suppress(OSError):
            lines = connection.makefile("rb")
            if not self._say(connection, "greeting", "220 ready"):
                return
            mail = Taken("", [], b"")
            for line in lines:
                word = line.decode("latin-1").strip()
                command = word.partition(" ")[0].upper()
                self.heard.append(word)
                if command == "MAIL":
                    mail = Taken(word.partition("<")[2].partition(">")[0], [], b"")
                elif command == "RCPT":
                    mail.to.append(word.partition("<")[2].partition(">")[0])
                ready = "354 go on" if command == "DATA" else "250 fine"
                if not self._say(connection, command, ready):
                    return
                if command == "DATA" and not self.script.get("DATA", "354").startswith(("4", "5")):
                    mail.data = b"".join(iter(lambda: _unstuffed(lines.readline()), b""))
                    if not self.script.get(".", "250").startswith(("4", "5", "reset")):
                        self.taken.append(mail)
                    if not self._say(connection, ".", "250 taken"):
                        return
                if command == "QUIT":
                    return

    def _say(self, connection: socket.socket, command: str, usual: str) -> bool:
        reply = self.script.get(command, usual)
        if reply == "reset":
            # Closing with nothing to linger for sends a reset in place of an end.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        if reply == "hang up":
            return False
        if reply == "stall":
            connection.settimeout(30)
            return bool(connection.recv(1)) and False
        if reply == "drip":
            for _ in range(600):
                connection.sendall(b"2")
                time.sleep(0.05)
            return False
        connection.sendall(f"{reply}\r\n".encode())
        return True


def _unstuffed(line: bytes) -> bytes:
    if line in (b".\r\n", b""):
        return b""
    return line[1:] if line.startswith(b".") else line


@contextlib.contextmanager
def start_smtp(script: dict[str, Reply] | None = None) -> Iterator[ScriptedSmtp]:
    """The SMTP server, for as many connections as come."""
    server = ScriptedSmtp(dict(script or {}))
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    server.port = listener.getsockname()[1]

    def listen() -> None:
        while True:
            try:
                connection = listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=server.speak, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        # Closing alone wakes nobody who waits for a connection.
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(60)


@dataclass
class MailService:
    """Answers each POST as `answer` says, by its number from 0; remembers all of them."""

    answer: Callable[[int], int | Literal["reset", "stall"]]
    letters: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""


@contextlib.contextmanager
def start_service(
    answer: Callable[[int], int | Literal["reset", "stall"]],
) -> Iterator[MailService]:
    """The HTTP service."""
    service = MailService(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            service.letters.append(json.loads(body))
            service.headers.append({name.lower(): text for name, text in self.headers.items()})
            told = service.answer(len(service.letters) - 1)
            if told == "stall":
                self.connection.settimeout(30)
                self.rfile.read(1)
            elif told == "reset":
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.close_connection = True
            else:
                self.send_response(int(told))
                self.send_header("Location", service.url + "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.url = f"http://127.0.0.1:{server.server_port}/mail"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        thread.join(60)
        server.server_close()
