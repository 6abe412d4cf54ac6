"""The owner's page is the owner's alone, and shows what visitors wrote as text."""

from __future__ import annotations

import base64
import hmac
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx2
import pytest
from msgspec.structs import replace

from exactquote_site.serve.store.exchanges import Exchange, Exchanges
from exactquote_site.serve.store.feedback import Feedback, FeedbackBox
from exactquote_site.wire.allowlist import WireError
from tests.chat import FRIDAY, REFUSAL, Chat, start_chat, token
from tests.provider import Provider, reply, says, start_provider

TOKEN = "päss:wörd-0123456"
OLD = "The former sentence."
XSS = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><style>*{}</style>&lt;b&gt;"
CONFIG: dict[str, Any] = {
    "refusals": [
        {"version": 1, "texts": {"en": OLD, "de": "Der alte Satz."}},
        {"version": 2, "texts": {"en": REFUSAL, "de": "Nein."}},
    ],
    "store": {"conversations": True},
    "metrics": True,
}
ENVIRON = {"EXACTQUOTE_ADMIN_TOKEN": TOKEN}


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with start_provider(says(reply(f"On Fridays {token(FRIDAY)}."))) as started:
        yield started


@pytest.fixture
def chat(tmp_path: Path, provider: Provider) -> Iterator[Chat]:
    with start_chat(tmp_path, provider.url, environ=ENVIRON, **CONFIG) as started:
        yield started


def basic(token: str) -> dict[str, str]:
    return {"authorization": "Basic " + base64.b64encode(f"me:{token}".encode()).decode()}


def get(chat: Chat, told: str | None = TOKEN, path: str = "/admin", **headers: str) -> Any:
    head = headers if told is None else {**basic(told), **headers}
    return httpx2.get(chat.url + path, headers=head, trust_env=False, timeout=60)


def post(chat: Chat, **headers: str) -> Any:
    head = {**basic(TOKEN), **headers}
    return httpx2.post(f"{chat.url}/admin/summary", headers=head, trust_env=False, timeout=60)


def keep(chat: Chat, id: str, question: str, answer: str, **more: Any) -> None:
    values: dict[str, Any] = {"outcome": "unanswered", "at": time.time(), **more}
    exchange = Exchange(
        id, session="s", build_id="b", language="en", kind="answer", question=question,
        answer=answer, **values,
    )  # fmt: skip
    Exchanges(chat.site.database).keep(exchange)


def test_there_is_no_page_without_a_token(tmp_path: Path) -> None:
    with start_chat(tmp_path, key="") as chat:
        for path in ("/admin", "/admin/", "/admin/summary", "/metrics"):
            assert get(chat, path=path).status_code == 404
        assert post(chat).status_code == 404


@pytest.mark.parametrize("short", ["a", "a" * 15])
def test_prevents_a_token_that_can_be_guessed(tmp_path: Path, short: str) -> None:
    with (
        pytest.raises(WireError, match="16 characters"),
        start_chat(tmp_path, key="", environ={"EXACTQUOTE_ADMIN_TOKEN": short}),
    ):
        pass


def test_only_the_token_opens_it(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[bytes] = []
    real = hmac.compare_digest

    def watched(told: bytes, token: bytes) -> bool:
        compared.append(told)
        return real(told, token)

    monkeypatch.setattr(hmac, "compare_digest", watched)
    for path in ("/admin", "/metrics"):
        assert get(chat, None, path).status_code == 401
        assert get(chat, path=path).status_code == 200
    assert compared == [TOKEN.encode()] * 2
    refused = get(chat, TOKEN + "x")
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Basic ")
    for head in ("Basic", "Basic !!!", "Basic bWU=", f"Bearer {'a' * 16}"):
        assert get(chat, None, authorization=head).status_code == 401


def test_prevents_guessing(chat: Chat) -> None:
    """Also by guesses that come at once; and then the token itself isn't looked at."""
    with ThreadPoolExecutor(20) as pool:
        statuses = list(pool.map(lambda n: get(chat, f"{n:016}").status_code, range(40)))
    assert statuses.count(401) == 5
    assert statuses.count(429) == 35
    right = get(chat)
    assert right.status_code == 429
    assert 1 <= int(right.headers["retry-after"]) <= 60
    assert "Gaps" not in right.text


def test_the_owner_may_look_as_often_as_wanted(chat: Chat) -> None:
    assert [get(chat).status_code for _ in range(12)] == [200] * 12


def test_nothing_of_it_is_stored_or_framed_or_runs(chat: Chat) -> None:
    for page in (get(chat), get(chat, None), get(chat, "wrong-wrong-wrong")):
        assert page.headers["cache-control"] == "no-store"
        policy = page.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'nonce-")
        assert "frame-ancestors 'none'" in policy
        assert "script-src" not in policy
        assert page.headers["x-content-type-options"] == "nosniff"
    nonces = {get(chat).headers["content-security-policy"] for _ in range(3)}
    assert len(nonces) == 3


class Elements(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_prevents_a_script_that_a_visitor_left(chat: Chat) -> None:
    keep(chat, "a" * 32, XSS, f"{XSS} {REFUSAL}", found=(XSS,), lost=(XSS,))
    FeedbackBox(chat.site.database).put(Feedback("a" * 32, time.time(), False, XSS))
    page = get(chat).text
    seen = Elements(page)
    assert seen.tags == {
        *("html", "meta", "title", "style", "h1", "h2", "section", "p", "div", "table"),
        *("thead", "tr", "th", "td", "form", "button"),
    }
    assert not {name for name in seen.attributes if name.startswith(("on", "src", "href"))}
    # Shown as it was written: as question (twice), as page found (twice), token and words.
    assert seen.text.count(XSS) == 6


def test_gaps_of_every_version_of_the_sentence_with_what_was_found(chat: Chat) -> None:
    keep(chat, "1", "What is new?", f"Well. {REFUSAL}", found=("kiln", "index"))
    keep(chat, "2", "what is new", REFUSAL, found=("kiln",))
    keep(chat, "3", "What was old?", OLD)
    keep(chat, "4", "What is close?", REFUSAL[:-1], outcome="answered")
    keep(chat, "5", "What is fine?", f"{REFUSAL} Not.", outcome="answered")
    gaps = get(chat).text.partition("<h2>Gaps")[2].partition("<h2>")[0]
    assert [word in gaps for word in ("what is new", "What was old?", "close", "fine")] == [
        *(True, True, False, False)
    ]
    assert "<td dir=auto>2</td><td dir=auto>what is new</td><td dir=auto>kiln</td>" in gaps
    assert "<td dir=auto>1</td><td dir=auto>What was old?</td><td dir=auto>—</td>" in gaps


SAME = {"sec-fetch-site": "same-origin"}


def test_a_summary_is_one_paid_call_that_the_owner_asked_for(
    chat: Chat, provider: Provider
) -> None:
    calls = len(provider.asked)
    assert post(chat, **SAME).status_code == 409
    keep(chat, "1", f"What? {XSS}", REFUSAL)
    get(chat)
    assert len(provider.asked) == calls
    made = post(chat, **SAME)
    assert made.status_code == 200
    assert "script" not in Elements(made.text).tags
    assert len(provider.asked) == calls + 1
    assert XSS.replace('"', '\\"') in provider.asked[-1].request
    # 600 new input tokens at 1, 400 cached at 0.5 and 50 output tokens at 2 dollars a million.
    assert chat.spent == (900_000, 0)
    chat.site.desk.config = replace(chat.site.config, budget_usd_per_day=0.001)
    assert post(chat, **SAME).status_code == 409
    assert len(provider.asked) == calls + 1


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "cross-site"}, False),
        ({"sec-fetch-site": "none"}, False),
        ({"sec-fetch-site": "cross-site", "origin": "SAME"}, False),
        ({"origin": "SAME"}, True),
        ({"origin": "https://evil.example"}, False),
        ({"origin": "null"}, False),
        ({}, False),
    ],
)
def test_prevents_another_site_from_spending(
    chat: Chat, headers: dict[str, str], allowed: bool
) -> None:
    told = {name: chat.url if text == "SAME" else text for name, text in headers.items()}
    # Nothing is kept yet, so whoever may ask hears that there is nothing.
    assert post(chat, **told).status_code == (409 if allowed else 403)
    assert get(chat, path="/admin/summary").status_code == 405


def test_figures_tell_of_nobody(chat: Chat) -> None:
    chat.ask("When is the xylophone kiln fired?", session="0123456789abcdef-zanzibar")
    chat.ask("When?", stream=False)
    page = get(chat, path="/metrics")
    assert page.headers["content-type"].startswith("text/plain")
    assert 'exactquote_answers_total{outcome="answered"} 2.0' in page.text
    assert "exactquote_spent_usd 0.0018" in page.text
    assert "exactquote_reserved_usd 0.0" in page.text
    assert "xylophone" not in page.text
    assert "zanzibar" not in page.text
    assert "127.0.0.1" not in page.text


def test_figures_are_there_without_a_token_where_they_are_wanted(tmp_path: Path) -> None:
    with start_chat(tmp_path, key="", metrics=True) as chat:
        assert "exactquote_build" in get(chat, None, "/metrics").text


def test_prevents_an_error_of_ours_where_the_store_is_gone(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    from exactquote_site.serve.store import sqlite

    get(chat)
    monkeypatch.setattr(sqlite, "_BUSY_SECONDS", 0.1)
    chat.site.database.close()
    with chat.site.database.transaction():
        for path in ("/admin", "/metrics"):
            assert get(chat, path=path).status_code == 503
        assert post(chat, **SAME).status_code == 503
        assert chat.ask("When?", stream=False).status == 503
        assert chat.status()["state"] == "off"
