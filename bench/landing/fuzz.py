"""Opens links into random pages in real browsers, and counts where the proof and a browser part.

    python bench/landing/fuzz.py [--cases 500] [--seed 1] [--write]

Asks: is any link proved that doesn't land exactly, and how much is refused that would have?
"""

from __future__ import annotations

import argparse
import hashlib
import json
import queue
import random
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.landing.look_alikes import look_alike
from bench.landing.pages import Made, make_page
from bench.results import keep
from exactquote.browsers.landing import BrowserName, Landing
from exactquote.browsers.oracle import Browser, Link, Result, is_exact
from exactquote.browsers.same_text import bare
from exactquote.browsers.server import Server
from exactquote.deeplink.directive import Directive, fragment, parse
from exactquote.deeplink.generate import NoLink, deep_link
from exactquote.deeplink.match import land, lands
from exactquote.deeplink.stumbles import freezes as would_freeze
from exactquote.model import Span
from exactquote.rendered.page import CUT, Kind, Page, read_page
from exactquote.rendered.styles import sheet
from exactquote.report.landing import outcome

CASES = 500
SEED = 1
PER_PAGE = 12
BROWSERS: tuple[BrowserName, ...] = ("chromium", "firefox")
# A search that finds nothing is mostly waiting, so more processes than cores pay here.
WORKERS = 2
SECONDS_MAX = 12.0
TRIES_MAX = 4
# Of what isn't claimed a part is opened: it can't be unsafe, and waits for nothing to be found.
REFUSED = 5
BEFORE_CHARS = 60

Way = Literal["link", "directive"]


@dataclass(frozen=True, slots=True)
class Case:
    """One directive on one page: `claimed` if the proof says that it lands on `span`.

    A passage that no link was made for is asked for with the plain directive of its text.
    """

    made: Made
    page: Page
    way: Way
    shape: str
    directive: Directive
    span: Span
    claimed: bool
    freezes: bool

    @property
    def link(self) -> Link:
        """What a browser is asked, and what must come of it."""
        href = self.page.path + fragment(self.directive)
        quote = self.page.quote(self.span.start, self.span.end)
        return Link(href, quote, *_place(self.page, self.span.start))

    @property
    def constructs(self) -> frozenset[str]:
        """What stands in the blocks that the span touches."""
        runs = self.page.runs[
            self.page.run_at(self.span.start) : self.page.run_at(self.span.end - 1) + 1
        ]
        anchors = {run.anchor.partition("-")[0] for run in runs}
        return frozenset().union(*(b.constructs for b in self.made.blocks if b.id in anchors))


@dataclass(frozen=True, slots=True)
class Asked:
    """A case, and what each browser made of it."""

    case: Case
    results: dict[BrowserName, Result]

    @property
    def unsafe(self) -> tuple[BrowserName, ...]:
        """The browsers that don't do what was claimed."""
        if not self.case.claimed:
            return ()
        return tuple(name for name, result in self.results.items() if outcome(result) != "exact")

    @property
    def over_cautious(self) -> bool:
        """Whether nothing was claimed though every browser lands exactly."""
        return (
            not self.case.claimed
            and bool(self.results)
            and all(result.exact for result in self.results.values())
        )

    @property
    def misforetold(self) -> tuple[BrowserName, ...]:
        """The browsers that go elsewhere than their own model says for sure."""
        wrong = []
        for name, result in self.results.items():
            told = land(self.case.page, self.case.directive, name)
            if told is None or not told.sure or self.case.freezes:
                continue
            page = self.case.page
            quote = page.quote(told.span.start, told.span.end)
            link = Link(result.link.url, quote, *_place(page, told.span.start))
            if not is_exact(result.landing, link, pixels=name == "webkit"):
                wrong.append(name)
        return tuple(wrong)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--cases", type=int, default=CASES)
    arguments.add_argument("--seed", type=int, default=SEED)
    arguments.add_argument("--browser", action="append", choices=(*BROWSERS, "webkit"))
    arguments.add_argument(
        "--refused", type=int, default=REFUSED, help="open one of so many refusals; 0 opens none"
    )
    arguments.add_argument(
        "--answers", type=Path, help="keep landings in this file, and open no link in it again"
    )
    arguments.add_argument("--write", action="store_true", help="keep the result, dated")
    options = arguments.parse_args()
    names: tuple[BrowserName, ...] = tuple(options.browser or BROWSERS)
    made = make_cases(options.seed, options.cases)
    wanted = drawn(made, options.refused)
    answers = Answers(options.answers)
    asked, versions = open_cases(wanted, names, progress(len(wanted) * len(names)), answers)
    result = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "browsers": versions,
        "seed": options.seed,
        **counts(made),
        **summary(asked),
    }
    print(json.dumps(result, indent=1, ensure_ascii=False))
    if options.write:
        keep(__file__, f"{result['date']}-fuzz", result)
    return 1 if result["unsafe"] else 0


def progress(total: int) -> Callable[[int], None]:
    started = time.monotonic()

    def heard(done: int) -> None:
        if done % 50 and done != total:
            return
        rate = done / (time.monotonic() - started)
        end = "\n" if done == total else ""
        print(f"\r{done} of {total} landings, {rate:.1f}/s ", end=end, file=sys.stderr, flush=True)

    return heard


def make_cases(seed: int, count: int) -> list[Case]:
    """So many cases of a seed; the first ones are the same however many are asked for."""
    cases: list[Case] = []
    number = 0
    while len(cases) < count:
        made = make_page(seed, number)
        page = read_page(made.html, doc="page", path=made.path, sheets=[sheet(made.style)])
        rng = random.Random(f"{seed} {number} passages")
        cases += list(_cases(made, page, rng))
        number += 1
    return cases[:count]


def drawn(cases: Sequence[Case], one_of: int) -> list[Case]:
    """All that is claimed, and every so-manieth refusal."""
    refused = [case for case in cases if not case.claimed]
    opened = {id(case) for case in refused[::one_of]} if one_of else set()
    return [case for case in cases if case.claimed or id(case) in opened]


def _cases(made: Made, page: Page, rng: random.Random) -> Iterator[Case]:
    for number in range(PER_PAGE):
        span = _span(page, rng)
        if span is None:
            return
        if number % 2:
            yield _directed(made, page, span, rng)
        else:
            yield _linked(made, page, span)


def _linked(made: Made, page: Page, span: Span) -> Case:
    link = deep_link(page, span)
    if isinstance(link, NoLink):
        plain = _plain(page, span)
        freezes = page.freezing and would_freeze(page, plain)
        return Case(made, page, "link", "refused", plain, span, False, freezes)
    _, (directive,) = parse(link.directive)
    return Case(made, page, "link", _shape(directive), directive, span, True, False)


def _directed(made: Made, page: Page, span: Span, rng: random.Random) -> Case:
    """A directive that needn't fit, on the place that some browser might take for it."""
    directive = _random_directive(page, span, rng)
    widest = land(page, directive, "any")
    claimed = widest is not None and lands(page, directive, widest.span)
    freezes = page.freezing and would_freeze(page, directive)
    place = widest.span if widest is not None else span
    return Case(made, page, "directive", _shape(directive), directive, place, claimed, freezes)


def _plain(page: Page, span: Span) -> Directive:
    """The quote alone, or its first and last runs where it crosses a cut."""
    text = page.text[span.start : span.end]
    parts = text.split(CUT)
    return Directive(text) if len(parts) == 1 else Directive(parts[0], parts[-1])


def _shape(directive: Directive) -> str:
    context = " with context" if directive.prefix or directive.suffix else ""
    return ("range" if directive.end else "quote") + context


def _span(page: Page, rng: random.Random) -> Span | None:
    """A passage that a reader could see: mostly from one blank to another."""
    shown = [index for index, run in enumerate(page.runs) if run.kind is Kind.TEXT]
    for _ in range(40):
        first = last = rng.choice(shown)
        if rng.random() < 0.12:
            last = rng.choice([at for at in shown if first <= at <= first + 3])
        start = rng.choice(_offsets(page, first, rng))
        end = rng.choice([len(page.text), *_offsets(page, last, rng)])
        if rng.random() < 0.3:
            start, end = page.runs[first].start, page.runs[last].end
        text = page.text[start:end]
        if first == last and CUT in text:
            continue
        if start < end <= page.runs[last].end and text.strip(f" \t\n\r\f\u00a0{CUT}") == text:
            return Span(start, end)
    return None


def _offsets(page: Page, index: int, rng: random.Random) -> list[int]:
    run = page.runs[index]
    every = range(run.start, run.end + 1)
    if rng.random() < 0.15:
        return list(every)
    return [
        at
        for at in every
        if at in (run.start, run.end)
        or not (page.text[at].isalnum() and page.text[at - 1].isalnum())
    ]


def _random_directive(page: Page, span: Span, rng: random.Random) -> Directive:
    first, last = page.runs[page.run_at(span.start)], page.runs[page.run_at(span.end - 1)]
    text = page.text[span.start : min(span.end, first.end)]
    start, end, prefix, suffix = text, "", "", ""
    if first != last or (rng.random() < 0.25 and " " in text):
        tail = page.text[max(span.start, last.start) : span.end]
        start, end = _some(text, rng, first=True), _some(tail, rng, first=False)
    if rng.random() < 0.3:
        prefix = _context(
            page, first.start, span.start, page.run_at(span.start) - 1, rng, first=False
        )
    if rng.random() < 0.3:
        suffix = _context(page, span.end, last.end, page.run_at(span.end - 1) + 1, rng, first=True)
    if rng.random() < 0.15:
        start, _ = look_alike(rng, start)
    if end and rng.random() < 0.1:
        end, _ = look_alike(rng, end)
    start, end = (part.replace(CUT, " ") for part in (start or "small", end))
    return Directive(start, end, prefix, suffix)


def _some(text: str, rng: random.Random, *, first: bool) -> str:
    """A few words of one end of a text, or now and then any part of that end."""
    if rng.random() < 0.15:
        at = rng.randint(1, max(1, len(text)))
        return text[:at] if first else text[-at:]
    words = text.split(" ")
    count = rng.randint(1, max(1, min(4, len(words))))
    return " ".join(words[:count] if first else words[-count:]) or text


def _context(
    page: Page, start: int, end: int, other: int, rng: random.Random, *, first: bool
) -> str:
    text = page.text[start:end]
    if not text.strip() and 0 <= other < len(page.runs):
        text = page.text[page.runs[other].start : page.runs[other].end]
    if rng.random() < 0.8:
        text = text.strip(" ")
    return _some(text, rng, first=first) if text.strip() else ""


def _place(page: Page, offset: int) -> tuple[str, str]:
    """The id around an offset, and what stands before it under that id."""
    at = page.run_at(offset)
    run = page.runs[at]
    texts = [page.text[run.start : offset]]
    for before in reversed(page.runs[:at]):
        # What a form field or a picture says stands in an attribute, and a browser that tells
        # of its text doesn't tell of these.
        if before.kind not in (Kind.TEXT, Kind.CLIPPED, Kind.HIDDEN) or before.anchor != run.anchor:
            break
        texts.append(page.text[before.start : before.end])
    return run.anchor, bare(" ".join(reversed(texts)))[-BEFORE_CHARS:]


class Answers:
    """Landings by browser, page and link, which hold whatever the proof says of the link.

    A file keeps them, so that a run after a change of the rules opens only what is new.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: dict[str, tuple[Landing, ...]] = {}
        if path is not None and path.exists():
            for line in path.read_text("utf-8").split("\n"):
                if line:
                    key, *landings = json.loads(line)
                    self._known[key] = tuple(Landing(**one) for one in landings)

    def get(self, browser: Browser, case: Case) -> tuple[Landing, ...]:
        return self._known.get(self._key(browser, case), ())

    def keep(self, browser: Browser, case: Case, landings: tuple[Landing, ...]) -> None:
        if self._path is not None:
            line = json.dumps([self._key(browser, case), *map(asdict, landings)])
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")

    def _key(self, browser: Browser, case: Case) -> str:
        page = hashlib.sha256(case.made.html.encode("utf-8", "replace")).hexdigest()
        return f"{browser.name} {browser.version} {page} {fragment(case.directive)}"


_Answer = tuple[int, BrowserName, Result] | Exception


def open_cases(
    cases: Sequence[Case],
    names: Sequence[BrowserName] = BROWSERS,
    heard: Callable[[int], None] = lambda done: None,
    answers: Answers | None = None,
    running: Mapping[BrowserName, Browser] | None = None,
) -> tuple[list[Asked], dict[BrowserName, str]]:
    """What each browser makes of each case, and the browsers' versions.

    What would freeze Chromium isn't claimed, and isn't opened. Browsers that are `running`
    already are used and left running, one of each; otherwise some are started.
    """
    site = {case.page.path: case.made.html.encode("utf-8", "replace") for case in cases}
    work: dict[BrowserName, queue.SimpleQueue[int]] = {name: queue.SimpleQueue() for name in names}
    for name in names:
        for number, case in enumerate(cases):
            if not (case.freezes and name == "chromium"):
                work[name].put(number)
    done: queue.SimpleQueue[_Answer] = queue.SimpleQueue()
    total = sum(one.qsize() for one in work.values())
    results: list[dict[BrowserName, Result]] = [{} for _ in cases]
    browsers = [running[name] for name in names] if running else []
    browsers = browsers or [Browser(name, SECONDS_MAX) for name in names for _ in range(WORKERS)]
    with Server(site) as server:
        judge = _Judge(cases, server, answers or Answers())
        threads = [
            threading.Thread(target=judge.work, args=(one, work[one.name], done), daemon=True)
            for one in browsers
        ]
        try:
            for thread in threads:
                thread.start()
            for count in range(1, total + 1):
                answer = done.get()
                if isinstance(answer, Exception):
                    raise answer
                number, name, result = answer
                results[number][name] = result
                heard(count)
            versions = {browser.name: browser.version for browser in browsers}
        finally:
            if not running:
                for browser in browsers:
                    browser.close()
    return [Asked(case, found) for case, found in zip(cases, results, strict=True)], versions


@dataclass(frozen=True, slots=True)
class _Judge:
    """Asks a browser for one case after the other."""

    cases: Sequence[Case]
    server: Server
    answers: Answers

    def work(
        self,
        browser: Browser,
        numbers: queue.SimpleQueue[int],
        done: queue.SimpleQueue[_Answer],
    ) -> None:
        try:
            while True:
                number = numbers.get_nowait()
                done.put((number, browser.name, self.judged(browser, self.cases[number])))
        except queue.Empty:
            return
        except Exception as fault:
            done.put(fault)

    def judged(self, browser: Browser, case: Case) -> Result:
        """One landing, and a second one in a fresh tab where a claim wasn't kept."""
        link = case.link
        url = self.server.url(link.url)
        known = self.answers.get(browser, case)
        landings = known or (browser.land(url),)
        exact = is_exact(landings[-1], link, pixels=browser.pixels)
        for _ in range(TRIES_MAX - 1):
            if exact or not case.claimed or not _is_to_repeat(landings):
                break
            browser.fresh_tab()
            landings += (browser.land(url),)
            exact = is_exact(landings[-1], link, pixels=browser.pixels)
        if landings != known:
            self.answers.keep(browser, case, landings)
        # A busy machine can make a search give up; what is right the second time isn't unsafe.
        return Result(link, browser.name, landings, exact, flaky=False)


def _is_to_repeat(landings: Sequence[Landing]) -> bool:
    """Whether it was tried once only, or a busy machine gave no answer."""
    return len(landings) == 1 or bool(landings[-1].error and not landings[-1].frozen)


def counts(cases: Sequence[Case]) -> dict[str, object]:
    """What was generated: cases by kind and shape, and how much of it is claimed."""
    links = [case for case in cases if case.way == "link"]
    others = [case for case in cases if case.way == "directive"]
    return {
        "cases": len(cases),
        "passages": len(links),
        "passages_linked": sum(case.claimed for case in links),
        "directives": len(others),
        "directives_claimed": sum(case.claimed for case in others),
        "shapes": dict(sorted(Counter(case.shape for case in cases).items())),
        "chromium_would_freeze": sum(case.freezes for case in cases),
    }


def summary(asked: Sequence[Asked]) -> dict[str, object]:
    """What browsers made of it, by construct too, and every claim that one didn't keep."""
    refused = [one for one in asked if not one.case.claimed and not one.case.freezes]
    opened = Counter(name for one in asked for name in one.results)
    slips: Counter[BrowserName] = Counter(name for one in asked for name in one.misforetold)
    return {
        "opened": dict(opened),
        "claims_opened": len(asked) - sum(not one.case.claimed for one in asked),
        "refusals_opened": len(refused),
        "over_cautious": sum(one.over_cautious for one in refused),
        "over_cautious_share": round(
            sum(one.over_cautious for one in refused) / max(len(refused), 1), 4
        ),
        "surely_foretold_otherwise": dict(sorted(slips.items())),
        "second_try": sum(
            len(result.landings) > 1 and result.exact
            for one in asked
            for result in one.results.values()
        ),
        "constructs": by_construct(asked),
        "unsafe": [story(one) for one in asked if one.unsafe],
        "misforetold": [story(one) for one in asked if one.misforetold and not one.unsafe],
    }


def by_construct(asked: Sequence[Asked]) -> dict[str, dict[str, int]]:
    """Of each construct: cases, claims, refusals that every browser contradicts, unsafe claims."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for one in asked:
        for construct in one.case.constructs:
            row = found[construct]
            row["cases"] += 1
            row["claimed"] += one.case.claimed
            row["over_cautious"] += one.over_cautious
            row["unsafe"] += bool(one.unsafe)
    keys = ("cases", "claimed", "over_cautious", "unsafe")
    return {name: {key: found[name][key] for key in keys} for name in sorted(found)}


def story(one: Asked) -> dict[str, object]:
    """All that is needed to see a case again."""
    case = one.case
    return {
        "page": case.page.path,
        "way": case.way,
        "href": case.link.url,
        "quote": case.link.quote,
        "id": case.link.element_id,
        "before": case.link.before[-30:],
        "constructs": sorted(case.constructs),
        "results": {
            name: [
                outcome(result),
                *[
                    [got.text, got.element_id, got.before[-30:], got.ranges, got.error]
                    for got in result.landings
                ],
            ]
            for name, result in one.results.items()
        },
    }


if __name__ == "__main__":
    sys.exit(main())
