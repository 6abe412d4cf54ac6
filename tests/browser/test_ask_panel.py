"""The ask panel in real browsers: when it is there, what it shows, and what it leaves alone."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from exactquote.browsers.firefox import Firefox
from exactquote_site.serve.receipts import read_receipt, replayed
from exactquote_site.wire.allowlist import Entry, load_allowlist
from tests.browser.panel import OILED, Place, serve_site, workshop
from tests.browser.tab import SECONDS, Tab, open_tab, program_of
from tests.chat import FREITAG, FRIDAY, REFUSAL, SATURDAY
from tests.provider import Asked, Provider, Steps, reply, says, start_provider

LAUNCHER, PANEL = ".eq-ask-launcher", ".eq-ask"
DONE = "!document.querySelector('.eq-ask-wait') && document.querySelector('.eq-ask-after')"
ENTRIES = load_allowlist(lambda path: workshop().files[path]).entries
MARKUP = "<b onclick=alert(1)>bold</b> [go](x) **x** <script>alert(2)</script> &lt; `code`"


def token(quote: str) -> str:
    return f"[[cite:{entry(quote).id}]]"


def entry(quote: str) -> Entry:
    return next(entry for entry in ENTRIES.values() if entry.quote == quote)


def model(asked: Asked) -> Steps:
    """Answers by the last words of the question."""
    question = asked.request.rsplit('"question": "', 1)[1]
    if "slowly" in question:
        text = f"It is on Fridays {token(FRIDAY)}. " + "And so on. " * 40
        return says(reply(text), pause=0.05)(asked)
    if "markup" in question:
        return says(reply(f"{MARKUP} {token(FRIDAY)}"))(asked)
    if "weather" in question:
        return says(reply("The pages say nothing of it.", answered=False))(asked)
    return says(reply(f"On Fridays {token(FRIDAY)}; the wheel monthly {token(OILED)}."))(asked)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with open_tab(tmp_path_factory.mktemp("downloads")) as tab:
        yield tab


@pytest.fixture
def tab(browser: Tab) -> Tab:
    browser.fresh()
    return browser


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with start_provider(model) as provider:
        yield provider


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> Iterator[Place]:
    """With a model and dials, in a folder of a site, under the strictest policy."""
    folder = tmp_path_factory.mktemp("site")
    dials = {"enabled": True, "humour": 25, "brevity": 50}
    questions = ["When is the kiln fired?"]
    with serve_site(
        folder, provider.url, prefix="/docs", dials=dials, suggestions=questions
    ) as place:
        yield place


@pytest.fixture(scope="module")
def keyless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with serve_site(tmp_path_factory.mktemp("keyless")) as place:
        yield place


def opened(tab: Tab, url: str) -> None:
    """A page with its panel open."""
    tab.open(url)
    tab.until(f"document.querySelector('{LAUNCHER}')")
    tab.click(LAUNCHER)


def ask(tab: Tab, question: str) -> None:
    tab.type(question)
    tab.key("Enter")
    tab.until(DONE)


def texts(tab: Tab, selector: str) -> list[str]:
    told: list[str] = tab.js(
        f"[...document.querySelectorAll('{selector}')].map((one) => one.textContent)"
    )
    return told


def assert_quiet(tab: Tab, place: Place) -> None:
    """Nothing went elsewhere, nothing was complained of, and no dialog opened."""
    tab.settle()
    assert [url for url in tab.requests if not url.startswith((place.url, "blob:"))] == []
    assert tab.console == []
    assert tab.dialogs == []


MARKED = """(async () => {
  const range = await document.fragmentDirective.items[0].getMatchingRange();
  const box = range.getClientRects()[0];
  const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return {
    text: range.toString(),
    in: range.startContainer.parentElement.closest("article, .eq-ask")?.localName,
    seen: at?.closest("article, .eq-ask")?.localName ?? "",
    path: location.pathname,
  };
})()"""


def marked(tab: Tab) -> dict[str, Any]:
    """What is highlighted, where that stands, and what a reader sees there."""
    tab.until("document.readyState === 'complete' && document.fragmentDirective?.items.length")
    tab.until(f"document.querySelector('{LAUNCHER}')")
    tab.settle()
    told: dict[str, Any] = tab.js(MARKED)
    return told


STATES = {
    "ready": JSONResponse({}),
    "paused": JSONResponse({"state": "paused", "build_id": "b", "languages": ["en"]}),
    "off": JSONResponse({"state": "off", "build_id": "b", "languages": ["en"]}),
    "another": JSONResponse({"state": "tired", "build_id": "b", "languages": ["en"]}),
    "nothing": JSONResponse(None),
    "404": Response("no", 404),
    "500": JSONResponse({"state": "ready"}, 500),
    "an HTML page": HTMLResponse("<!doctype html><title>Error</title><p>Sorry."),
    "elsewhere": RedirectResponse("http://elsewhere.test/status"),
    "not in time": JSONResponse({"state": "ready"}),
}
TRACES = """(async () => {
  const page = await (await fetch(location.href)).text();
  const trusted = trustedTypes.createPolicy("test", {createHTML: (html) => html});
  const served = new DOMParser().parseFromString(trusted.createHTML(page), "text/html");
  const shifts = await new Promise((end) => {
    new PerformanceObserver((list) => end(list.getEntries().length)).observe(
      { type: "layout-shift", buffered: true });
    setTimeout(() => end(0), 100);
  });
  return {
    same: served.documentElement.outerHTML === document.documentElement.outerHTML,
    kept: sessionStorage.length, shifts,
  };
})()"""


@pytest.mark.parametrize("state", [state for state in STATES if state != "ready"])
def test_prevents_a_trace_of_a_function_that_does_not_answer(
    tab: Tab, keyless: Place, state: str
) -> None:
    front = keyless.front
    front.instead["/api/status"] = STATES[state]
    front.seconds = 6.0 * (state == "not in time")
    try:
        tab.open(f"{keyless.url}kiln.html")
        tab.until("performance.getEntriesByName(new URL('api/status', location).href).length")
        tab.settle()
        tab.settle()
        assert tab.js(TRACES) == {"same": True, "kept": 0, "shifts": 0}
    finally:
        front.instead.clear()
        front.seconds = 0.0
    # The browser itself reports a request that failed; the page has nothing to say.
    assert [told for told in tab.console if told[0] not in ("network", "javascript")] == []
    assert len(tab.console) <= 1
    assert not any("elsewhere.test" in url for url in tab.requests[:-1])


@pytest.mark.parametrize("state", ["ready", "passages", "words"])
def test_the_launcher_is_there_while_the_function_answers(
    tab: Tab, keyless: Place, state: str
) -> None:
    tab.open(f"{keyless.url}kiln.html")
    told = tab.js("fetch('api/status').then((status) => status.json())")
    keyless.front.instead["/api/status"] = JSONResponse({**told, "state": state})
    try:
        tab.open(f"{keyless.url}index.html")
        tab.until(f"document.querySelector('{LAUNCHER}')")
    finally:
        keyless.front.instead.clear()
    traces = tab.js(TRACES)
    assert traces == {"same": False, "kept": 0, "shifts": 0}
    assert_quiet(tab, keyless)


QUESTIONS = [
    ("When is the kiln fired?", "index.html", FRIDAY),
    ("Wann brennt der Ofen?", "ofen.html", FREITAG),
]


@pytest.mark.parametrize(("question", "page", "wanted"), QUESTIONS)
def test_without_a_key_each_chip_lands_on_its_passage(
    tab: Tab, keyless: Place, question: str, page: str, wanted: str
) -> None:
    opened(tab, f"{keyless.url}{page}")
    ask(tab, question)
    quotes = tab.js("[...document.querySelectorAll('.eq-ask-quote')].map((q) => q.firstChild.data)")
    assert wanted in quotes
    assert not set(quotes) - {entry.quote for entry in ENTRIES.values()}
    for number, quote in enumerate(quotes, 1):
        chip = f".eq-ask-quote:nth-of-type({number}) .eq-ask-chip"
        assert tab.js(f"document.querySelector('{chip}').href") == keyless.url + entry(quote).href
        tab.click(chip)
        told = marked(tab)
        assert told["text"] == quote
        assert told["path"] == "/" + entry(quote).href.partition("#")[0]
        # The panel repeats the quote, and neither it nor its place may cover the real one.
        assert (told["in"], told["seen"]) == ("article", "article")
        tab.click(LAUNCHER)
        assert len(texts(tab, ".eq-ask-quote")) == len(quotes)
    assert_quiet(tab, keyless)


def test_prevents_the_panel_from_being_marked_where_it_stays_open(tab: Tab, keyless: Place) -> None:
    tab.look(1920, 900)
    # On the page itself the search begins while the panel is there.
    opened(tab, f"{keyless.url}kiln.html")
    ask(tab, "When is the kiln fired?")
    tab.click(".eq-ask-quote .eq-ask-chip")
    told = marked(tab)
    assert tab.js(f"document.querySelector('{PANEL}').textContent").count(FRIDAY) == 1
    assert not tab.js(f"document.querySelector('{PANEL}').hidden")
    assert (told["text"], told["in"], told["seen"]) == (FRIDAY, "article", "article")
    assert_quiet(tab, keyless)


def test_a_model_answers_with_chips_and_the_thread_goes_along(tab: Tab, place: Place) -> None:
    opened(tab, f"{place.url}guide/clay.html")
    ask(tab, "When are kiln and wheel looked after?")
    assert texts(tab, ".eq-ask-text") == ["On Fridays 1; the wheel monthly 2."]
    assert texts(tab, ".eq-ask-sources cite") == ["Kiln", "Wheel"]
    tab.click(".eq-ask-text .eq-ask-chip:nth-of-type(2)")
    tab.until("location.pathname === '/docs/wheel.html'")
    told = marked(tab)
    assert (told["text"], told["in"], told["seen"]) == (OILED, "article", "article")
    assert texts(tab, ".eq-ask-question") == ["You asked: When are kiln and wheel looked after?"]
    assert texts(tab, ".eq-ask-text") == ["On Fridays 1; the wheel monthly 2."]
    # On the page itself, a chip leads on without a load.
    tab.click(LAUNCHER)
    tab.js("window.same = true")
    tab.js("scrollTo({top: 0, behavior: 'instant'})")
    tab.click(".eq-ask-sources li:nth-child(2) .eq-ask-chip")
    tab.until("scrollY > 200")
    assert tab.js("window.same")
    assert marked(tab)["seen"] == "article"
    assert_quiet(tab, place)


def test_prevents_markup_in_the_words_of_a_model(tab: Tab, place: Place) -> None:
    opened(tab, f"{place.url}kiln.html")
    ask(tab, "Show me markup, please")
    assert texts(tab, ".eq-ask-text") == [f"{MARKUP} 1"]
    assert tab.js("document.querySelectorAll('.eq-ask-text > *').length") == 1
    assert_quiet(tab, place)


def test_prevents_a_link_away_even_if_the_function_sent_one(tab: Tab, keyless: Place) -> None:
    hrefs = ("https://evil.example/", "javascript:alert(1)", "//evil.example", "data:text/html,x")
    events: list[tuple[str, dict[str, Any]]] = [("start", {"kind": "answer", "words_only": False})]
    events += [
        ("cite", {"n": n, "id": "x", "href": href, "quote": "<b>q</b>", "title": "<i>", "doc": "x"})
        for n, href in enumerate(hrefs)
    ]
    events += [("done", {"outcome": "answered", "receipt": {"answer": "../../x"}})]
    stream = "".join(f"event: {name}\ndata: {json.dumps(value)}\n\n" for name, value in events)
    keyless.front.instead["/api/chat"] = Response(stream, media_type="text/event-stream")
    try:
        opened(tab, f"{keyless.url}kiln.html")
        ask(tab, "When is the kiln fired?")
    finally:
        keyless.front.instead.clear()
    assert len(texts(tab, ".eq-ask-chip")) == 2 * len(hrefs)
    assert texts(tab, ".eq-ask-chip[href]") == []
    assert texts(tab, ".eq-ask-sources cite")[0] == "<i>"
    assert_quiet(tab, keyless)


def test_what_cannot_be_answered_ends_in_the_refusal(tab: Tab, place: Place) -> None:
    opened(tab, f"{place.url}kiln.html")
    ask(tab, "How is the weather?")
    assert texts(tab, ".eq-ask-text") == [f"The pages say nothing of it. {REFUSAL}"]
    assert_quiet(tab, place)


def test_hiding_keeps_thread_draft_and_a_running_answer(
    tab: Tab, place: Place, provider: Provider
) -> None:
    opened(tab, f"{place.url}kiln.html")
    tab.type("Tell me slowly")
    tab.key("Enter")
    tab.until("document.querySelector('.eq-ask-text .eq-ask-chip')")
    tab.type("A draft")
    # A question that is ready early must not stop the answer before it.
    tab.key("Enter")
    tab.key("Escape")
    assert tab.js(f"document.querySelector('{PANEL}').hidden")
    assert tab.js(f"document.activeElement.matches('{LAUNCHER}')")
    assert texts(tab, LAUNCHER) == ["Looking it up"]
    before = len(texts(tab, ".eq-ask-text")[0])
    tab.until(f"document.querySelector('.eq-ask-text').textContent.length > {before}")
    assert not provider.asked[-1].gone.is_set()
    tab.until(f"document.querySelector('{LAUNCHER}').textContent === 'The answer is here'")
    tab.click(LAUNCHER)
    assert tab.js("document.querySelector('.eq-ask-input').value") == "A draft"
    assert texts(tab, ".eq-ask-text")[0].count("And so on.") == 40
    assert_quiet(tab, place)


def test_ending_clears_all_and_hangs_up(tab: Tab, place: Place, provider: Provider) -> None:
    opened(tab, f"{place.url}kiln.html")
    tab.type("Tell me slowly")
    tab.key("Enter")
    tab.until("document.querySelector('.eq-ask-text .eq-ask-chip')")
    tab.type("A draft")
    tab.click(".eq-ask-head button:last-child")
    assert provider.asked[-1].gone.wait(SECONDS)
    assert tab.js("sessionStorage.length") == 0
    tab.click(LAUNCHER)
    assert texts(tab, ".eq-ask-question") == []
    assert tab.js("document.querySelector('.eq-ask-input').value") == ""
    ask(tab, "When is the kiln fired?")
    assert texts(tab, ".eq-ask-text") == ["On Fridays 1; the wheel monthly 2."]
    posted = [json.loads(body) for body in tab.posted]
    assert posted[-1]["history"] == []
    assert posted[-1]["session"] != posted[0]["session"]
    assert_quiet(tab, place)


def test_stopping_keeps_what_was_said(tab: Tab, place: Place, provider: Provider) -> None:
    opened(tab, f"{place.url}kiln.html")
    tab.type("Tell me slowly")
    tab.key("Enter")
    tab.until("document.querySelector('.eq-ask-text .eq-ask-chip')")
    tab.click(".eq-ask-stop")
    assert provider.asked[-1].gone.wait(SECONDS)
    tab.until("document.querySelector('.eq-ask-fault')")
    assert texts(tab, ".eq-ask-fault") == ["Stopped."]
    assert texts(tab, ".eq-ask-text")[0].startswith("It is on Fridays 1")
    assert_quiet(tab, place)


def test_an_answer_that_a_page_was_left_in_says_so(tab: Tab, place: Place) -> None:
    opened(tab, f"{place.url}kiln.html")
    tab.type("Tell me slowly")
    tab.key("Enter")
    tab.until("document.querySelector('.eq-ask-text .eq-ask-chip')")
    tab.open(f"{place.url}index.html")
    tab.until("document.querySelector('.eq-ask-fault')")
    assert texts(tab, ".eq-ask-fault") == ["The answer was interrupted."]
    assert texts(tab, ".eq-ask-text")[0].startswith("It is on Fridays 1")
    assert_quiet(tab, place)


def test_a_conversation_with_another_build_is_dropped(tab: Tab, place: Place) -> None:
    opened(tab, f"{place.url}kiln.html")
    ask(tab, "When is the kiln fired?")
    told = tab.js("fetch('api/status').then((status) => status.json())")
    place.front.instead["/api/status"] = JSONResponse({**told, "build_id": "another"})
    try:
        tab.open(f"{place.url}kiln.html")
        tab.until(f"document.querySelector('{LAUNCHER}')")
        assert texts(tab, ".eq-ask-question") == []
        assert texts(tab, LAUNCHER) == ["Ask"]
    finally:
        place.front.instead.clear()


def test_a_long_conversation_is_sent_as_far_as_it_may_be(tab: Tab, place: Place) -> None:
    opened(tab, f"{place.url}kiln.html")
    for number in range(5):
        ask(tab, f"When is the kiln fired, {number}?")
        tab.until(f"document.querySelectorAll('.eq-ask-after').length === {number + 1}")
    history = json.loads(tab.posted[-1])["history"]
    assert [turn["content"][-2:] for turn in history[::2]] == ["1?", "2?", "3?"]
    # Of answers that fill the request by themselves, none goes along; the question does.
    tab.js(
        "(() => { const kept = JSON.parse(sessionStorage['exactquote-ask']);"
        " for (const turn of kept.thread) turn.segments ="
        "  [{type: 'text', text: '窯'.repeat(4000)}];"
        " addEventListener('pagehide', () => sessionStorage.setItem("
        "'exactquote-ask', JSON.stringify(kept))); })()"
    )
    tab.open(f"{place.url}kiln.html")
    tab.until(f"document.querySelector('{PANEL}:not([hidden])')")
    tab.js("document.querySelector('.eq-ask-input').focus()")
    tab.type("And when is the kiln fired?")
    tab.key("Enter")
    tab.until("document.querySelectorAll('.eq-ask-after').length === 6")
    assert len(json.loads(tab.posted[-1])["history"]) == 2
    assert len(tab.posted[-1].encode()) < 16_384


@pytest.mark.parametrize("size", [(1000, 800), (360, 640), (320, 256)])
def test_what_is_stored_is_always_told(tab: Tab, place: Place, size: tuple[int, int]) -> None:
    tab.look(*size)
    opened(tab, f"{place.url}kiln.html")
    ask(tab, "When is the kiln fired?")
    tab.js("document.querySelector('.eq-ask-dials').open = true")
    (notes,) = texts(tab, ".eq-ask-notes")
    told = "Unanswered questions and feedback are kept for 90 days, without your name."
    assert told in notes
    tab.js("document.querySelector('.eq-ask-notes').scrollIntoView({behavior: 'instant'})")
    box = tab.js("document.querySelector('.eq-ask-notes').getBoundingClientRect().toJSON()")
    assert box["top"] >= 0
    assert box["bottom"] <= size[1]
    assert tab.js("document.documentElement.scrollWidth") <= size[0]
    # And the conversation has room.
    assert tab.js("document.querySelector('.eq-ask-log').clientHeight") >= 90


def test_the_dials_and_the_one_that_is_locked(tab: Tab, place: Place) -> None:
    opened(tab, f"{place.url}kiln.html")
    tab.click(".eq-ask-dials summary")
    sliders = [one for one in tab.spoken() if one["role"] == "slider"]
    assert [(one["name"], one["value"]) for one in sliders] == [
        ("Humour", "25"),
        ("Brevity", "50"),
        ("Honesty", "100"),
    ]
    assert texts(tab, ".eq-ask-dials output") == ["25", "50", "100, locked"]
    locked = "[...document.querySelectorAll('.eq-ask-dials input')].map((dial) => dial.disabled)"
    assert tab.js(locked) == [False, False, True]
    tab.js("document.querySelector('.eq-ask-dials input').focus()")
    tab.key("ArrowRight")
    tab.js("document.querySelector('.eq-ask-input').focus()")
    ask(tab, "When is the kiln fired?")
    assert json.loads(tab.posted[-1])["style"] == {"humour": 50}
    assert "honesty" not in "".join(tab.posted).lower()
    assert_quiet(tab, place)


FOCUSED = """(({activeElement: at}) =>
  at.getAttribute("aria-label") ?? at.textContent)(document)"""


def test_all_of_it_works_by_keyboard(tab: Tab, place: Place) -> None:
    tab.open(f"{place.url}kiln.html")
    tab.until(f"document.querySelector('{LAUNCHER}')")
    tab.js(f"document.querySelector('{LAUNCHER}').focus()")
    tab.key("Enter")
    ask(tab, "When is the kiln fired?")
    assert tab.js("document.activeElement.className") == "eq-ask-input"
    # Back from the input: dials, what can be done with the answer, its sources, its chips.
    stops = []
    for _ in range(11):
        tab.key("Tab", shift=True)
        stops.append(tab.js(FOCUSED))
    assert stops == [
        "Style",
        "Receipt",
        "This didn't help",
        "This helped",
        "Source 2: Wheel",
        "Source 1: Kiln",
        "Source 2: Wheel",
        "Source 1: Kiln",
        "Ask these pages",
        "End",
        "Hide",
    ]
    tab.key("Enter")
    assert tab.js(f"document.activeElement.matches('{LAUNCHER}')")
    assert_quiet(tab, place)


def test_what_a_screen_reader_is_told(tab: Tab, place: Place) -> None:
    opened(tab, f"{place.url}kiln.html")
    ask(tab, "When is the kiln fired?")
    told = {(one["role"], one["name"]) for one in tab.spoken()}
    for wanted in (
        ("dialog", "Ask these pages"),
        ("log", "Ask these pages"),
        ("textbox", "What would you like to know?"),
        ("button", "Send"),
        ("button", "Hide"),
        ("button", "End"),
        ("button", "This helped"),
        ("link", "Source 1: Kiln"),
        ("list", "Sources"),
    ):
        assert wanted in told
    assert ("button", "Stop") not in told
    chip = next(one for one in tab.spoken() if one["name"] == "Source 1: Kiln")
    assert chip["description"] == f"“{FRIDAY}”"


def test_no_motion_for_those_who_want_none(tab: Tab, place: Place) -> None:
    moves = "document.getAnimations({subtree: true}).length"
    for wanted, moving in (("reduce", 0), ("no-preference", 1)):
        tab.look(1000, 800, prefers_reduced_motion=wanted)
        opened(tab, f"{place.url}kiln.html")
        tab.type("Tell me slowly")
        tab.key("Enter")
        tab.until("document.querySelector('.eq-ask-wait')")
        assert tab.js(moves) == moving
        tab.click(".eq-ask-head button:last-child")


def test_forced_colours_leave_edges(tab: Tab, place: Place) -> None:
    tab.look(1000, 800, forced_colors="active")
    opened(tab, f"{place.url}kiln.html")
    ask(tab, "When is the kiln fired?")
    for part in (".eq-ask-chip", ".eq-ask-send", ".eq-ask-question", PANEL):
        style = f"getComputedStyle(document.querySelector('{part}'))"
        assert tab.js(f"{style}.borderTopWidth") == "1px", part
        assert tab.js(f"{style}.borderTopColor !== {style}.backgroundColor"), part


def test_a_page_from_right_to_left_has_it_on_its_own_side(tab: Tab, place: Place) -> None:
    opened(tab, f"{place.url}rtl.html")
    ask(tab, "When is the kiln fired?")
    box = tab.js(f"document.querySelector('{PANEL}').getBoundingClientRect().toJSON()")
    assert box["left"] < 40
    assert box["right"] < 600
    direction = "getComputedStyle(document.querySelector('.eq-ask-text')).direction"
    assert tab.js(direction) == "ltr"
    assert tab.js("document.documentElement.scrollWidth") <= 1000


LOOKS = [((390, 844), "light"), ((1280, 900), "dark")]


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_prevents_the_launcher_from_covering_the_end_of_a_page(
    tab: Tab, keyless: Place, size: tuple[int, int], scheme: str
) -> None:
    tab.look(*size, prefers_color_scheme=scheme)
    tab.open(f"{keyless.url}wheel.html")
    tab.until(f"document.querySelector('{LAUNCHER}')")
    tab.js(f"document.querySelector('{LAUNCHER}').textContent = 'Back to the conversation'")
    tab.js("scrollTo({top: document.documentElement.scrollHeight, behavior: 'instant'})")
    bottom, top = tab.js(
        "['.eq-foot a', '.eq-ask-launcher'].map((one, n) => document.querySelector(one)"
        ".getBoundingClientRect()[n ? 'top' : 'bottom'])"
    )
    assert bottom < top


def test_enter_while_an_answer_is_pending_says_why_nothing_is_sent(tab: Tab, place: Place) -> None:
    opened(tab, f"{place.url}kiln.html")
    tab.type("Tell me slowly")
    tab.key("Enter")
    tab.until("document.querySelector('.eq-ask-text .eq-ask-chip')")
    tab.type("And the wheel?")
    tab.key("Enter")
    note = "[role=status].eq-ask-count"
    assert texts(tab, note) == ["The last answer is still coming; stop it to ask another."]
    assert tab.js("document.querySelector('.eq-ask-input').value") == "And the wheel?"
    assert len(tab.posted) == 1
    tab.click(".eq-ask-stop")
    tab.until("document.querySelector('.eq-ask-fault')")
    assert texts(tab, note) == [""]
    assert tab.js("document.querySelector('.eq-ask-input').value") == "And the wheel?"


def test_an_empty_panel_says_what_answers_are(tab: Tab, place: Place, keyless: Place) -> None:
    tab.look(390, 844)
    told = [
        (keyless, ["Answers are quotes from these pages; no model writes them."], 0),
        (place, ["A model answers; every source is checked against these pages."], 1),
    ]
    for one, intro, suggestions in told:
        opened(tab, f"{one.url}kiln.html")
        assert texts(tab, ".eq-ask-intro") == intro
        assert len(texts(tab, ".eq-ask-suggestions button")) == suggestions
        # As little of the page is covered as there is to show.
        height = f"document.querySelector('{PANEL}').offsetHeight"
        assert tab.js(height) < 844 * 0.6
        ask(tab, "When is the kiln fired?")
        assert texts(tab, ".eq-ask-intro") == []
        assert tab.js(height) > 844 * 0.6
        tab.fresh()
        tab.look(390, 844)


def test_a_receipt_can_be_saved_and_holds(tab: Tab, place: Place) -> None:
    opened(tab, f"{place.url}kiln.html")
    ask(tab, "When is the kiln fired?")
    tab.click(".eq-ask-receipt")
    ends = time.monotonic() + SECONDS
    while not (files := list(tab.downloads.glob("receipt-*.json"))):
        assert time.monotonic() < ends
        tab.settle()
    receipt = read_receipt(files[0].read_bytes())
    assert [cited.id for cited in receipt.passages] == [entry(FRIDAY).id, entry(OILED).id]
    assert replayed(receipt, workshop().build_id, ENTRIES) == []
    assert_quiet(tab, place)


def test_a_reader_can_say_what_was_missing(tab: Tab, place: Place) -> None:
    opened(tab, f"{place.url}kiln.html")
    ask(tab, "When is the kiln fired?")
    tab.click(".eq-ask-said button:last-child")
    tab.type("The hour")
    tab.key("Enter")
    tab.until("document.querySelector('.eq-ask-said').textContent === 'Thank you.'")
    assert json.loads(tab.posted[-1])["words"] == "The hour"
    tab.open(f"{place.url}index.html")
    tab.until(DONE)
    assert texts(tab, ".eq-ask-said") == ["Thank you."]
    assert_quiet(tab, place)


def test_where_no_words_are_kept_none_are_asked_for(
    tab: Tab, tmp_path: Path, provider: Provider
) -> None:
    store = {"conversations": False, "gaps": False}
    with serve_site(tmp_path, provider.url, store=store) as place:
        opened(tab, f"{place.url}kiln.html")
        ask(tab, "When is the kiln fired?")
        (notes,) = texts(tab, ".eq-ask-notes")
        assert "Nothing that you ask is stored." in notes
        assert "feedback" not in notes
        tab.click(".eq-ask-said button:last-child")
        tab.until("document.querySelector('.eq-ask-said').textContent === 'Thank you.'")
        rating = json.loads(tab.posted[-1])
        assert (rating["good"], rating["words"]) == (False, "")
        assert_quiet(tab, place)


# These ranges are for privileged code only.
RANGES = """return [...document.fragmentDirective.getTextDirectiveRanges()].map((range) =>
  [range.toString(), range.startContainer.parentElement.closest("article, .eq-ask").localName])"""
ANSWERS = "return [...document.querySelectorAll('.eq-ask-text')].map((one) => one.textContent)"


def test_firefox_asks_and_lands_too(place: Place) -> None:
    firefox = Firefox(program_of("firefox"), SECONDS)

    def tell(command: str, **parameters: object) -> Any:
        return firefox._call(f"WebDriver:{command}", time.monotonic() + SECONDS, **parameters)

    def js(script: str, sandbox: str | None = None) -> Any:
        return tell("ExecuteScript", script=script, args=[], sandbox=sandbox)

    def until(script: str) -> None:
        ends = time.monotonic() + SECONDS
        while not js(f"return Boolean({script})"):
            assert time.monotonic() < ends, script
            time.sleep(0.05)

    def click(selector: str) -> None:
        found = tell("FindElement", using="css selector", value=selector)
        tell("ElementClick", id=next(iter(found.values())))

    try:
        tell("Navigate", url=f"{place.url}guide/clay.html")
        until(f"document.querySelector('{LAUNCHER}')")
        click(LAUNCHER)
        found = tell("FindElement", using="css selector", value=".eq-ask-input")
        tell("ElementSendKeys", id=next(iter(found.values())), text="When is the kiln fired?")
        click(".eq-ask-send")
        until(DONE)
        for chip, page, quote in ((2, "wheel", OILED), (1, "kiln", FRIDAY), (1, "kiln", FRIDAY)):
            click(f".eq-ask-sources li:nth-child({chip}) .eq-ask-chip")
            until(
                f"location.pathname === '/docs/{page}.html' && document.readyState === 'complete'"
            )
            until(f"document.querySelector('{LAUNCHER}')")
            assert js(RANGES, "system") == [[quote, "article"]]
            assert js(ANSWERS) == ["On Fridays 1; the wheel monthly 2."]
            click(LAUNCHER)
    finally:
        firefox.close()


def test_quote_mode_shows_sentences_of_the_site_alone(
    tab: Tab, tmp_path: Path, provider: Provider
) -> None:
    with serve_site(tmp_path, provider.url, mode="quotes") as place:
        opened(tab, f"{place.url}kiln.html")
        ask(tab, "When are kiln and wheel looked after?")
        shown = tab.js(
            "[...document.querySelector('.eq-ask-text').childNodes].map((n) => n.localName)"
        )
        assert shown == ["blockquote", "blockquote"]
        assert SATURDAY not in "".join(texts(tab, ".eq-ask-text"))
        assert_quiet(tab, place)
