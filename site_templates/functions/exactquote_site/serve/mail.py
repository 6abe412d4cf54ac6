"""Hands letters to a mail server or a mail service; true only when it took them for certain.

The recipient and the subject are constants of the site. What a visitor wrote is in the body
alone, and nothing of it is in a header.
"""

from __future__ import annotations

import re
import smtplib
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from email.message import EmailMessage
from email.utils import formatdate
from ipaddress import ip_address
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

import anyio
import httpx2

from exactquote_site.serve.config import Leads
from exactquote_site.serve.environment import key_in, variable
from exactquote_site.wire.allowlist import WireError

SUBJECT = "A visitor of your site wants to be contacted"
_SECONDS = 20.0
# Less than a letter is held for, so that no other process hands it over meanwhile.
SECONDS_IN_ALL = 60.0
_ADDRESS = re.compile(r"[!#$%&'*+/=?^`{|}~.\w-]{1,64}@[A-Za-z0-9.-]{1,253}", re.ASCII)
_KEY = re.compile(r"[!-~]+")


class MailDown(Exception):
    """The mail wasn't taken; the message holds no secret."""


class Mailer(Protocol):
    """Something that takes mail to the owner."""

    def hand_over(self, body: str, id: str) -> None:
        """Hand over one mail; `id` stays the same when it is tried again.

        Raises `MailDown` unless it was taken.
        """
        ...


def open_mailer(leads: Leads, environ: Mapping[str, str]) -> Mailer | None:
    """The mailer that is configured; None when leads are off.

    Raises `WireError` when they are on and nothing could send them.
    """
    if not leads.to:
        return None
    for name in ("to", "sender"):
        if not _ADDRESS.fullmatch(getattr(leads, name)):
            raise WireError(f"leads.{name} must be one address, such as owner@example.org")
    smtp_url = variable(environ, leads.smtp_url_env)
    if smtp_url:
        return SmtpMailer(smtp_url, leads)
    key = key_in(environ, leads.api_key_env)
    if leads.api_url and key:
        return ApiMailer(leads, key)
    raise WireError(
        f"leads.to is set, but neither {leads.smtp_url_env} nor an api_url with"
        f" {leads.api_key_env} is"
    )


class SmtpMailer:
    """Mail over SMTP: `smtp://`, `smtp+starttls://` or `smtps://`, with user and password."""

    def __init__(self, url: str, leads: Leads) -> None:
        """Connects to nothing yet. Raises `WireError` for a URL that names no server."""
        try:
            parts = urlsplit(url)
            self._host, self._port = parts.hostname or "", parts.port
        except ValueError:
            raise WireError("the SMTP URL can't be read") from None
        if parts.scheme not in ("smtp", "smtp+starttls", "smtps") or not self._host:
            raise WireError("the SMTP URL is smtps://USER:PASSWORD@HOST, or smtp+starttls://…")
        if parts.scheme == "smtp" and parts.username and not _is_here(self._host):
            raise WireError("smtp:// would send the password for all to read; use smtp+starttls://")
        self._secure = parts.scheme
        self._user, self._password = unquote(parts.username or ""), unquote(parts.password or "")
        self._leads = leads

    def hand_over(self, body: str, id: str) -> None:
        """Hand one mail to the server; its 250 is what counts."""
        message = _message(body, id, self._leads)
        server: smtplib.SMTP | None = None
        try:
            server = self._connected()
            server.send_message(message, self._leads.sender, [self._leads.to])
        except (OSError, smtplib.SMTPException, ValueError) as error:
            raise MailDown(f"SMTP: {_told(error)}") from None
        finally:
            # It was taken or it wasn't: how the server says goodbye changes nothing.
            if server is not None:
                with suppress(OSError, smtplib.SMTPException):
                    server.quit()
                server.close()

    def _connected(self) -> smtplib.SMTP:
        context = ssl.create_default_context()
        if self._secure == "smtps":
            server: smtplib.SMTP = _BoundedTls(
                self._host, self._port or 465, timeout=_SECONDS, context=context
            )
        else:
            server = _Bounded(self._host, self._port or 587, timeout=_SECONDS)
        try:
            if self._secure == "smtp+starttls":
                server.starttls(context=context)
            if self._user:
                server.login(self._user, self._password)
        except BaseException:
            server.close()
            raise
        return server


class ApiMailer:
    """Mail by an HTTP service that takes {from, to, subject, text} as JSON with a bearer key."""

    def __init__(self, leads: Leads, key: str) -> None:
        """Connects to nothing yet. Raises `WireError` for a key that no header can hold."""
        if not _KEY.fullmatch(key):
            raise WireError(f"{leads.api_key_env} holds no key")
        self._leads = leads
        self._key = key

    def hand_over(self, body: str, id: str) -> None:
        """Hand one mail to the service; a status of 2xx is what counts."""
        letter: dict[str, object] = {
            "from": self._leads.sender,
            "to": [self._leads.to],
            "subject": SUBJECT,
            "text": body,
        }
        # Services that know the key header send the same mail once, however often it comes.
        headers = {"Authorization": f"Bearer {self._key}", "Idempotency-Key": id}
        try:
            status = anyio.run(self._status, letter, headers)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            raise MailDown(f"mail service: {type(error).__name__}") from None
        if not 200 <= status < 300:
            raise MailDown(f"mail service: status {status}")

    async def _status(self, letter: dict[str, object], headers: dict[str, str]) -> int:
        with anyio.fail_after(SECONDS_IN_ALL):
            # Whoever it redirected to would be sent what a visitor wrote, and the key.
            async with httpx2.AsyncClient(timeout=_SECONDS, follow_redirects=False) as client:
                asked = client.stream("POST", self._leads.api_url, json=letter, headers=headers)
                async with asked as answer:
                    return answer.status_code


class _Bounded(smtplib.SMTP):
    """Gives up at one moment, where the time-out of a socket begins anew with each byte."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._ends = time.monotonic() + SECONDS_IN_ALL
        super().__init__(*args, **options)

    def getreply(self) -> tuple[int, bytes]:
        cut = threading.Timer(max(0.0, self._ends - time.monotonic()), self._cut)
        cut.daemon = True
        cut.start()
        try:
            return super().getreply()
        finally:
            cut.cancel()

    def _cut(self) -> None:
        if self.sock is not None:
            with suppress(OSError):
                self.sock.shutdown(socket.SHUT_RDWR)


class _BoundedTls(_Bounded, smtplib.SMTP_SSL):
    pass


def _message(body: str, id: str, leads: Leads) -> EmailMessage:
    message = EmailMessage()
    message["From"] = leads.sender
    message["To"] = leads.to
    message["Subject"] = SUBJECT
    message["Date"] = formatdate()
    # The same for each attempt, by which mailboxes know a second copy.
    message["Message-ID"] = f"<{id}@{leads.sender.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(body)
    return message


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _told(error: Exception) -> str:
    """The kind of an error and the server's code; its words may quote the mail."""
    code = getattr(error, "smtp_code", None)
    return type(error).__name__ + (f" {code}" if code else "")
