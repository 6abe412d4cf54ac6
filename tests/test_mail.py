"""A letter to the owner arrives, whatever the mail server does, and says what it should."""

from __future__ import annotations

import contextlib
import email
import email.policy
import logging
import multiprocessing
import os
import random
import signal
import ssl
import subprocess
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP as SmtpProtocol
from aiosmtpd.smtp import AuthResult, Envelope, Session

from exactquote_site.serve import mail
from exactquote_site.serve import postman as postman_module
from exactquote_site.serve.config import Leads
from exactquote_site.serve.leads import leads
from exactquote_site.serve.mail import SUBJECT, ApiMailer, MailDown, Mailer, SmtpMailer, open_mailer
from exactquote_site.serve.postman import LEASE_SECONDS, carry, letter
from exactquote_site.serve.store.database import open_database
from exactquote_site.serve.store.outbox import Outbox
from exactquote_site.wire.allowlist import WireError
from tests.chat import start_chat
from tests.post import start_service, start_smtp
from tests.servers import free_port

OWNER = Leads(to="owner@kiln.studio", sender="site@kiln.studio")
NOON = 1_800_000_000.0
ID = "0123456789abcdef"

HOSTILE = [
    "a@kiln.studio\r\nBcc: eve@evil.example\r\nSubject: hello\r\n\r\nnew body",
    "a@kiln.studio\n.\nMAIL FROM:<eve@evil.example>\nRCPT TO:<all@evil.example>\nDATA\n",
    "a@kiln.studio\r\n.\r\nQUIT\r\n",
    "a@kiln.studio \x00\x0b\x0c\x1b[31m\u2028\u202e\ufeff",
    ".\n..\n. a@kiln.studio",
    "a@kiln.studio " + "x" * 5_000,
    "Grüße 🦀 a@kiln.studio",
]


def written(message: str) -> str:
    return letter(message, leads(message), "The studio")


@pytest.mark.parametrize("message", HOSTILE)
def test_prevents_a_header_that_a_visitor_wrote(message: str) -> None:
    with start_smtp() as server:
        SmtpMailer(server.url, OWNER).hand_over(written(message), ID)
    (taken,) = server.taken
    assert (taken.sender, taken.to) == (OWNER.sender, [OWNER.to])
    assert [line.partition(" ")[0].upper() for line in server.heard] == [
        *("EHLO", "MAIL", "RCPT", "DATA", "QUIT")
    ]
    parsed = email.message_from_bytes(taken.data, policy=email.policy.default)
    assert {name.lower() for name in parsed} == {
        *("from", "to", "subject", "date", "message-id", "auto-submitted", "mime-version"),
        *("content-type", "content-transfer-encoding"),
    }
    assert (parsed["to"], parsed["subject"]) == (OWNER.to, SUBJECT)
    assert parsed["message-id"] == f"<{ID}@kiln.studio>"
    assert "a@kiln.studio" in parsed.get_content()
    assert all(len(line) < 1_000 for line in taken.data.splitlines())


# What the server does, at which command; and whether the letter was taken all the same.
SMTP_FAULTS: list[tuple[dict[str, str], bool]] = [
    ({}, True),
    ({"QUIT": "421 busy"}, True),
    ({"QUIT": "reset"}, True),
    ({"QUIT": "stall"}, True),
    ({"QUIT": "nonsense"}, True),
    ({"greeting": "554 no"}, False),
    ({"greeting": "reset"}, False),
    ({"greeting": "stall"}, False),
    ({"greeting": "drip"}, False),
    ({"greeting": "nonsense"}, False),
    ({"EHLO": "421 later", "HELO": "421 later"}, False),
    ({"MAIL": "451 later"}, False),
    ({"RCPT": "550 nobody here"}, False),
    ({"RCPT": "stall"}, False),
    ({"DATA": "554 no"}, False),
    ({".": "451 later"}, False),
    ({".": "554 no"}, False),
    ({".": "reset"}, False),
    ({".": "hang up"}, False),
    ({".": "stall"}, False),
    ({".": "drip"}, False),
]


@pytest.mark.parametrize(("script", "taken"), SMTP_FAULTS, ids=[str(one) for one, _ in SMTP_FAULTS])
def test_only_a_250_to_the_whole_mail_counts(
    script: dict[str, Any], taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail, "_SECONDS", 0.5)
    monkeypatch.setattr(mail, "SECONDS_IN_ALL", 1.0)
    with start_smtp(script) as server:
        mailer = SmtpMailer(server.url, OWNER)
        if taken:
            mailer.hand_over("body", ID)
            assert len(server.taken) == 1
        else:
            with pytest.raises(MailDown):
                mailer.hand_over("body", ID)


def test_nobody_listening_is_a_letter_not_taken() -> None:
    with pytest.raises(MailDown):
        SmtpMailer("smtp://127.0.0.1:9", OWNER).hand_over("body", ID)
    with pytest.raises(MailDown):
        ApiMailer(Leads(**api("http://127.0.0.1:9/mail")), "key").hand_over("body", ID)


def api(url: str) -> dict[str, str]:
    return {"to": OWNER.to, "sender": OWNER.sender, "api_url": url}


class Letterbox:
    """What a real SMTP server was handed, by aiosmtpd's hooks."""

    def __init__(self) -> None:
        self.taken: list[Envelope] = []

    async def handle_DATA(self, server: SmtpProtocol, session: Session, envelope: Envelope) -> str:
        self.taken.append(envelope)
        return "250 OK"


@contextlib.contextmanager
def real_smtp(tls: Path | None, kind: str) -> Iterator[tuple[Letterbox, int]]:
    """aiosmtpd, with a login that has to be right."""
    box, context = Letterbox(), None
    if tls is not None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(tls / "cert.pem", tls / "key.pem")

    def allow(server: object, session: object, envelope: object, how: str, who: Any) -> AuthResult:
        known = (who.login, who.password) == (b"site", b"p@ss:w/rd")
        # Not handled means that the server itself says 535.
        return AuthResult(success=known, handled=False)

    controller = Controller(
        box,
        hostname="127.0.0.1",
        # Its own trial connection needs to know the port beforehand.
        port=free_port(),
        ssl_context=context if kind == "smtps" else None,
        tls_context=context if kind == "smtp+starttls" else None,
        require_starttls=kind == "smtp+starttls",
        authenticator=allow,
        auth_required=True,
        auth_require_tls=False,
    )
    controller.start()
    try:
        yield box, controller.port
    finally:
        controller.stop()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
        " -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout key.pem -out cert.pem"
    )
    subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("kind", ["smtp", "smtp+starttls", "smtps"])
def test_a_real_server_takes_a_letter(
    kind: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    tls = None if kind == "smtp" else certificate
    with real_smtp(tls, kind) as (box, port):
        SmtpMailer(f"{kind}://site:p%40ss%3Aw%2Frd@localhost:{port}", OWNER).hand_over("body", ID)
        assert [envelope.rcpt_tos for envelope in box.taken] == [[OWNER.to]]
        with pytest.raises(MailDown, match="535"):
            SmtpMailer(f"{kind}://site:wrong@localhost:{port}", OWNER).hand_over("body", ID)
        assert len(box.taken) == 1


@pytest.mark.parametrize("kind", ["smtp+starttls", "smtps"])
def test_prevents_mail_to_a_server_that_cannot_prove_its_name(kind: str, certificate: Path) -> None:
    with real_smtp(certificate, kind) as (box, port):
        with pytest.raises(MailDown, match="SSL"):
            SmtpMailer(f"{kind}://site:x@localhost:{port}", OWNER).hand_over("body", ID)
        assert box.taken == []


def test_prevents_mail_in_clear_where_tls_was_asked_for() -> None:
    with start_smtp() as server:
        mailer = SmtpMailer(f"smtp+starttls://127.0.0.1:{server.port}", OWNER)
        with pytest.raises(MailDown, match="NotSupported"):
            mailer.hand_over("body", ID)
        assert server.taken == []


@pytest.mark.parametrize(
    ("told", "taken"),
    [
        *((200, True), (202, True), (204, True), (301, False), (307, False), (400, False)),
        *((401, False), (422, False), (429, False), (500, False), (503, False)),
        *(("reset", False), ("stall", False)),
    ],
)
def test_only_a_2xx_of_a_mail_service_counts(
    told: Any, taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail, "_SECONDS", 0.5)
    with start_service(lambda number: told) as service:
        mailer = ApiMailer(Leads(**api(service.url)), "secret-key")
        if taken:
            mailer.hand_over(written(HOSTILE[0]), ID)
        else:
            with pytest.raises(MailDown) as why:
                mailer.hand_over(written(HOSTILE[0]), ID)
            assert "secret-key" not in str(why.value)
        # Not followed anywhere, and asked once.
        (posted,) = service.letters
    assert (posted["from"], posted["to"]) == (OWNER.sender, [OWNER.to])
    assert posted["subject"] == SUBJECT
    assert set(posted) == {"from", "to", "subject", "text"}
    assert service.headers[0]["authorization"] == "Bearer secret-key"


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    database = open_database(f"sqlite:///{tmp_path / 'store.db'}")
    yield Outbox(database)
    database.close()


def test_a_letter_is_tried_again_with_growing_waits_under_one_key(outbox: Outbox) -> None:
    outbox.put("s1", "body", NOON)
    outbox.put("s1", "again", NOON)
    clock = NOON
    tries: list[float] = []

    def now() -> float:
        return clock

    with start_service(lambda number: 503 if number < 9 else 200) as service:
        mailer = ApiMailer(Leads(**api(service.url)), "key")
        while outbox.counts()["waiting"]:
            if carry(outbox, mailer, now):
                tries.append(clock - NOON)
                assert not carry(outbox, mailer, now)
            clock += 15
    waits = [after - before for before, after in pairwise(tries)]
    assert waits == [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]
    assert len({headers["idempotency-key"] for headers in service.headers}) == 1
    assert {one["text"] for one in service.letters} == {"body"}
    assert not carry(outbox, mailer, lambda: clock + 10**8)


def test_one_letter_that_fails_keeps_no_other(outbox: Outbox, caplog: Any) -> None:
    outbox.put("s1", "first zanzibar", NOON)
    outbox.put("s2", "second", NOON + 1)

    class Picky(Mailer):
        taken: list[str] = []  # noqa: RUF012

        def hand_over(self, body: str, id: str) -> None:
            if "first" in body:
                raise KeyError(body)
            self.taken.append(body)

    with caplog.at_level(logging.DEBUG):
        assert carry(outbox, Picky(), lambda: NOON + 2)
        assert carry(outbox, Picky(), lambda: NOON + 2)
    assert Picky.taken == ["second"]
    assert outbox.counts() == {"waiting": 1, "sent": 1}
    assert "zanzibar" not in "".join(str(vars(record)) for record in caplog.records)


def test_what_was_sent_is_kept_no_longer(outbox: Outbox, tmp_path: Path) -> None:
    outbox.put("s1", "call zanzibar", NOON)
    with start_smtp() as server:
        assert carry(outbox, SmtpMailer(server.url, OWNER), lambda: NOON)
    outbox._database.scrub()
    assert all(b"zanzibar" not in file.read_bytes() for file in tmp_path.glob("store.db*"))
    # And the session still has had its one letter.
    assert not outbox.put("s1", "once more", NOON)


@pytest.mark.parametrize(
    ("config", "environ", "why"),
    [
        ({"to": "a@b.de", "sender": "c@d.de"}, {}, "neither"),
        ({"to": "a@b.de", "sender": ""}, {"EXACTQUOTE_SMTP_URL": "smtp://h"}, "leads.sender"),
        ({"to": "a@b.de\nBcc: x@y.de", "sender": "c@d.de"}, {}, "leads.to"),
        ({"to": "a@b.de, x@y.de", "sender": "c@d.de"}, {}, "leads.to"),
        ({"to": "a@b.de", "sender": "c@d.de"}, {"EXACTQUOTE_SMTP_URL": "http://h"}, "smtps://"),
        ({"to": "a@b.de", "sender": "c@d.de"}, {"EXACTQUOTE_SMTP_URL": "smtp://h:x"}, "read"),
        ({"to": "a@b.de", "sender": "c@d.de"}, {"EXACTQUOTE_SMTP_URL": "smtp://u:p@h"}, "for all"),
        (
            {"to": "a@b.de", "sender": "c@d.de", "api_url": "https://h/x"},
            {"EXACTQUOTE_MAIL_KEY": "a\nb"},
            "no key",
        ),
    ],
)
def test_prevents_mail_that_could_never_be_sent(
    config: dict[str, str], environ: dict[str, str], why: str
) -> None:
    with pytest.raises(WireError, match=why):
        open_mailer(Leads(**config), environ)


def test_mail_is_off_by_default() -> None:
    assert open_mailer(Leads(), {"EXACTQUOTE_SMTP_URL": "smtps://h"}) is None


def test_a_visitor_is_brought_to_the_owner_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postman_module, "_REST_SECONDS", 0.2)
    told = {"to": OWNER.to, "sender": OWNER.sender}
    suggestion = "Are you available for hire?"
    with start_smtp() as server:
        environ = {"EXACTQUOTE_SMTP_URL": server.url}
        with start_chat(
            tmp_path, key="", environ=environ, leads=told, suggestions=[suggestion]
        ) as chat:
            session = "0123456789abcdef"
            chat.ask(suggestion, session=session)
            chat.ask("When is the kiln fired?", session=session)
            for number in range(3):
                chat.ask(f"Write to jane{number}@kiln.studio", session=session)
                chat.ask(f"Write to john{number}@kiln.studio")
            ends = time.monotonic() + 60
            while len(server.taken) < 2 and time.monotonic() < ends:
                time.sleep(0.05)
            time.sleep(1)
        bodies = [email.message_from_bytes(one.data).get_payload() for one in server.taken]
    assert sorted(name for body in bodies for name in ("jane0", "john0") if name in body) == [
        *("jane0", "john0")
    ]
    assert len(bodies) == 2


def postman(url: str, store: str, started: float) -> None:
    """Puts letters and carries them, for ever."""
    outbox = Outbox(open_database(store))
    mailer = SmtpMailer(url, OWNER)
    number = 0
    while True:
        session = f"{os.getpid()}-{number}"
        outbox.put(session, f"letter {session}", started)
        number += 1
        carry(outbox, mailer, lambda: started)


KILLS = 12


def test_prevents_a_letter_lost_by_a_kill(tmp_path: Path) -> None:
    told = kills(tmp_path, KILLS, seed=5)
    assert told["lost"] == 0
    assert told["put"] > KILLS
    assert told["twice"] <= told["killed_between"]


def kills(folder: Path, number: int, seed: int) -> dict[str, int]:
    """Kill a postman so many times; what became of the letters that it had put."""
    store = f"sqlite:///{folder / 'store.db'}"
    open_database(store).close()
    # From a process without threads, which has imported all that is needed.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.test_mail"])
    rng, clock, between = random.Random(seed), NOON, 0
    with start_smtp() as server:
        for _ in range(number):
            # Each life begins when the leases of the one before have ended.
            clock += LEASE_SECONDS + 1
            before = len(server.taken)
            process = context.Process(target=postman, args=(server.url, store, clock))
            process.start()
            while len(server.taken) == before and process.is_alive():
                time.sleep(0.002)
            time.sleep(rng.random() * 0.05)
            assert process.pid is not None
            os.kill(process.pid, signal.SIGKILL)
            process.join()
            assert process.exitcode == -signal.SIGKILL
            between += _held_but_taken(store, server.taken)
        database = open_database(store)
        outbox, mailer = Outbox(database), SmtpMailer(server.url, OWNER)
        clock += LEASE_SECONDS + 1
        while carry(outbox, mailer, lambda: clock):
            pass
        with database.transaction() as transaction:
            put = [row[0] for row in transaction.execute("SELECT session FROM lead")]
            states = transaction.execute("SELECT state, COUNT(*) FROM lead GROUP BY state")
        database.close()
    assert [state for state, _ in states] == ["sent"]
    bodies = [_session(taken.data) for taken in server.taken]
    return {
        "kills": number,
        "put": len(put),
        "lost": sum(session not in bodies for session in put),
        "twice": len(bodies) - len(set(bodies)),
        "killed_between": between,
    }


def _held_but_taken(store: str, taken: list[Any]) -> int:
    """The letters that the server took and that aren't marked, by which kill fell between."""
    database = open_database(store)
    with database.transaction() as transaction:
        rows = transaction.execute("SELECT session FROM lead WHERE state = 'waiting'")
    database.close()
    accepted = {_session(one.data) for one in taken}
    return sum(session in accepted for (session,) in rows)


def _session(data: bytes) -> str:
    content = email.message_from_bytes(data, policy=email.policy.default).get_content()
    return str(content).strip().removeprefix("letter ")
