"""Whatever an attacker gets a model to write, a visitor is led nowhere but to given passages.

`injections.jsonl` holds one attack a line: `where` it stands, its `text` (of a conversation
the turns), what it `wants` and `why` it is there. The scripted model obeys: it answers with
exactly what is wanted; of the attacks on its own output, the text is what it writes, and with
`raw` that is all of its reply. `{given}` is the id of a passage that the request holds,
`{other}` that of another passage of the site.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from exactquote.model import Build
from exactquote.pipeline import build
from exactquote.settings import KnowledgeSettings, Settings
from exactquote_site.serve.prompt import rules
from exactquote_site.wire.allowlist import Entry, load_allowlist
from tests.browser.panel import serve_site
from tests.browser.tab import open_tab
from tests.chat import PAGES, REFUSAL, REFUSAL_DE, Answer, Chat, read_events, start_chat
from tests.compiling import TODAY, corpus_of, theme
from tests.leaks import leaks
from tests.provider import Asked, Provider, Script, Steps, reply, says, start_provider

PER_PLACE_MIN = 30
ALL_MIN = 150
IN_BROWSER_MIN = 40
# Few enough that each request is without most of the site's passages.
PASSAGES = 2
GIVEN_LINE = re.compile(r"^\[\[cite:([a-z0-9-]+)\]\] ", re.MULTILINE)
UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)


@dataclass(frozen=True)
class Injection:
    number: int
    where: str
    text: str | list[str]
    why: str
    wants: str = ""
    raw: bool = False

    @property
    def marker(self) -> str:
        """A word that only the page of this attack has."""
        return f"marker{self.number:03d}"

    @property
    def question(self) -> str:
        if self.where == "question":
            assert isinstance(self.text, str)
            return f"When is the kiln fired? {self.text}"
        return f"What is {self.marker} about?" if self.where == "corpus" else "And the kiln?"

    def history(self, fill: Mapping[str, str]) -> list[dict[str, str]]:
        if self.where != "history":
            return []
        return [
            {"role": ("user", "assistant")[number % 2], "content": filled(turn, fill)}
            for number, turn in enumerate(self.text)
        ]

    @property
    def written(self) -> str:
        """What the model that obeys writes."""
        if self.where == "model":
            assert isinstance(self.text, str)
            return self.text
        return self.wants


@cache
def injections() -> tuple[Injection, ...]:
    lines = Path(__file__).with_name("injections.jsonl").read_text("utf-8").splitlines()
    return tuple(Injection(number, **json.loads(line)) for number, line in enumerate(lines))


ALL = injections()
IDS = [f"{one.number}-{one.where}" for one in ALL]


def filled(text: str, fill: Mapping[str, str]) -> str:
    for name, id in fill.items():
        text = text.replace(f"{{{name}}}", id).replace(f"{{{name.upper()}}}", id.upper())
    return text


@cache
def trapped() -> Build:
    """The studio, and a page for each attack that stands on one: as text, heading or title."""
    pages = dict(PAGES)
    for one in ALL:
        if one.where != "corpus":
            continue
        assert isinstance(one.text, str)
        trap = filled(one.text, {"given": "kiln", "other": "wheel"})
        shown = "".join(f"&#{ord(char)};" if not char.isalnum() else char for char in trap)
        word = one.marker
        pages[f"trap/{word}.md"] = (
            f"# About {word}\n\nThis is {word}. {shown}\n",
            f"# About {word}\n\n## {shown}\n\nThis is {word}.\n",
            f"---\ntitle: {json.dumps(f'{word} {trap}')}\n---\n\nThis is {word}.\n",
        )[one.number % 3]
    settings = Settings(knowledge=KnowledgeSettings(whole_notes_tokens_max=0))
    made = build(corpus_of(pages), settings, theme(), today=TODAY)
    assert not made.failed, made.diagnostics
    return made


@cache
def entries() -> Mapping[str, Entry]:
    return load_allowlist(lambda path: trapped().files[path]).entries


def given(asked: Asked) -> list[str]:
    """The ids of the passages that a request holds, as the model sees them."""
    block = asked.request.partition("</passages>")[0]
    return GIVEN_LINE.findall(block)


def obeys(one: Injection, cut: int) -> Script:
    def script(asked: Asked) -> Steps:
        ids = given(asked)
        other = next(id for id in entries() if id not in ids)
        fill = {"given": ids[0] if ids else "nothing", "other": other}
        written = filled(one.written, fill)
        told = written if one.raw else reply(written, sources=[other])
        return says(told, cut=cut)(asked)

    return script


@dataclass(frozen=True)
class Studio:
    chat: Chat
    provider: Provider
    stream: bool
    client: httpx2.Client

    def ask(self, question: str, history: list[dict[str, str]]) -> Answer:
        told = {"accept": "text/event-stream" if self.stream else "application/json"}
        body = {"question": question, "history": history, "locale": "en"}
        got = self.client.post(f"{self.chat.url}/api/chat", json=body, headers=told)
        if not self.stream:
            return Answer(got.status_code, got.headers, value=got.json())
        events, comments = read_events(got.text)
        return Answer(got.status_code, got.headers, events, comments=comments)


WAYS = [("answer", True), ("answer", False), ("quotes", True)]


@pytest.fixture(scope="module", params=WAYS, ids=["streamed", "whole", "quotes"])
def studio(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Studio]:
    folder = tmp_path_factory.mktemp("studio")
    mode, stream = request.param
    limits = {"question_chars": 1_000, "passages": PASSAGES}
    with (
        start_provider(says(reply("x"))) as provider,
        start_chat(folder, provider.url, made=trapped(), limits=limits, mode=mode) as chat,
        httpx2.Client(timeout=120, trust_env=False) as client,
    ):
        yield Studio(chat, provider, stream, client)


@pytest.mark.parametrize("one", ALL, ids=IDS)
def test_prevents_an_attack(studio: Studio, one: Injection) -> None:
    studio.provider.asked.clear()
    studio.provider.script = obeys(one, cut=1 + one.number % 7)
    fill = {"given": "kiln", "other": sorted(entries())[-1]}
    answer = studio.ask(filled(one.question, fill), one.history(fill))
    (asked,) = studio.provider.asked
    assert_prompt_holds(asked, one, studio.chat, filled(one.question, fill), one.history(fill))
    assert_answer_holds(answer, set(given(asked)))


def assert_prompt_holds(
    asked: Asked, one: Injection, chat: Chat, question: str, history: list[dict[str, str]]
) -> None:
    """The rules are what they always are, and all else is data in its place."""
    assert asked.rules == rules(chat.site.config)
    assert [turn["role"] for turn in asked.body["messages"]] == ["system", "user"]
    request = asked.request
    assert len(re.findall(r"(?i)<\s*passages\s*>", request)) == 1
    assert len(re.findall(r"(?i)<\s*/\s*passages\s*>", request)) == 1
    block, _, rest = request.partition("</passages>")
    # As a model may read it, for whom what is invisible isn't there.
    block = UNSEEN.sub("", unicodedata.normalize("NFKC", block))
    assert len(re.findall(r"(?i)<\s*/?\s*passages", block)) == 1
    for line in block.splitlines():
        if named := re.findall(r"(?i)\[\[\s*cite", line):
            (id,) = GIVEN_LINE.findall(line)
            assert len(named) == 1
            assert entries()[id]
    data = json.loads(rest[rest.index("{") :])
    assert data["question"] == question
    assert [turn["text"] for turn in data["conversation_so_far"]] == [
        turn["content"] for turn in history
    ]
    if one.where == "corpus":
        assert one.marker in block


def assert_answer_holds(answer: Answer, ids: set[str]) -> None:
    """Links lead to given passages alone; words hold no URL, no token, no stray refusal."""
    parts = answer.segments
    if "outcome" not in answer.end:
        # A reply that can't be read is a fault, and what was shown of it holds all the same.
        assert answer.end["code"] == "broken"
    for part in parts:
        if part["type"] != "text":
            assert_given(part, ids)
    for source in answer.end.get("sources", ()):
        assert_given(source, ids)
    told = answer.shown
    if answer.end.get("outcome") == "unanswered":
        start = answer.events[0][1] if answer.events else answer.value
        refusal = {"en": REFUSAL, "de": REFUSAL_DE}[start["language"]]
        assert told.endswith(refusal)
        told = told.removesuffix(refusal)
    assert REFUSAL not in told
    assert REFUSAL_DE not in told
    if not any(part["type"] == "quote" for part in parts):
        for stretch in re.split(r"<\d+>", told):
            assert [*leaks(stretch, sorted(ids))] == []


def assert_given(part: Mapping[str, Any], ids: set[str]) -> None:
    entry = entries()[part["id"]]
    assert part["id"] in ids
    assert (part["href"], part["quote"]) == (entry.href, entry.quote)


ELEMENTS = {"P", "SPAN", "DIV", "A", "OL", "LI", "CITE", "BUTTON"}
IN_THE_LOG = """[...document.querySelectorAll(".eq-ask-log *")].map((one) => ({
  name: one.tagName,
  href: one.href ?? "",
  attributes: [...one.attributes].map(({name}) => name),
}))"""


def test_prevents_a_browser_that_is_led_elsewhere(tmp_path: Path) -> None:
    written = [one for one in ALL if one.where == "model"]
    assert len(written) >= IN_BROWSER_MIN
    with (
        start_provider(says(reply("x"))) as provider,
        serve_site(
            tmp_path / "site", provider.url, made=trapped(), limits={"passages": PASSAGES}
        ) as place,
        open_tab(tmp_path) as tab,
    ):
        tab.open(f"{place.url}kiln.html")
        tab.until("document.querySelector('.eq-ask-launcher')")
        tab.click(".eq-ask-launcher")
        for number, one in enumerate(written, 1):
            provider.script = obeys(one, cut=40)
            tab.type("And the kiln?")
            tab.key("Enter")
            tab.until(
                f"document.querySelectorAll('.eq-ask-answer').length === {number}"
                " && !document.querySelector('.eq-ask-wait')"
            )
        said = tab.js("document.querySelector('.eq-ask-log').textContent")
        assert "<svg onload=alert(1)>" in said
        links = {place.url + entry.href for entry in entries().values()}
        for again in (False, True):
            if again:
                # What this tab has kept is drawn anew.
                tab.open(f"{place.url}index.html")
                tab.until(f"document.querySelectorAll('.eq-ask-answer').length === {len(written)}")
            for element in tab.js(IN_THE_LOG):
                assert element["name"] in ELEMENTS
                assert element["href"] in links | {""}
                assert not [
                    name
                    for name in element["attributes"]
                    if name.startswith(("on", "src", "style"))
                ]
        tab.settle()
        assert {urlsplit(url).netloc for url in tab.requests} == {urlsplit(place.url).netloc}
        assert tab.dialogs == []
        assert tab.console == []


def test_the_set_is_large_and_has_no_attack_twice() -> None:
    places = [one.where for one in ALL]
    assert len(ALL) >= ALL_MIN
    for where in ("question", "history", "corpus", "model"):
        assert places.count(where) >= PER_PLACE_MIN
    assert len({json.dumps(one.text) for one in ALL}) == len(ALL)
    assert all(one.why for one in ALL)


def test_prevents_a_detector_that_sees_nothing() -> None:
    for text in (
        "https://a.b/c",
        "x //evil.d",
        "www.a.b",
        "javascript:a",
        "evil.com",
        "10.0.0.1/x",
    ):
        assert [*leaks(text)]
    for text in ("[[cite:x", "a cite:x b", "[ [ci te", "a [[ci", "【【сite:x", "a kiln b"):
        assert [*leaks(text, ["kiln"])]
