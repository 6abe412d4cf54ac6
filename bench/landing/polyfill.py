"""Turns the same sentences into links with our generator and with Google's polyfill.

    python bench/landing/polyfill.py [--corpus rustbook]… [--sentences 500] [--write]

Asks: which of the two links more sentences, whose links land elsewhere, whose are shorter,
and what does one link cost? Both sides run on the same pages in the same run, and all links
are opened in Chromium and Firefox and judged alike.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.corpora import proved, unpacked
from bench.landing.run import files_of
from bench.results import keep
from exactquote.browsers.chromium import Chromium
from exactquote.browsers.landing import BrowserName, Gone, Refused, Silent
from exactquote.browsers.links import open_links
from exactquote.browsers.oracle import Found, Result, find_browsers, open_browser
from exactquote.browsers.server import Server
from exactquote.browsers.telling import promised
from exactquote.deeplink.directive import DELIMITER
from exactquote.deeplink.generate import NoLink, deep_link
from exactquote.deeplink.views import BROWSERS, view
from exactquote.model import DeepLink, Passage
from exactquote.pipeline import Proof
from exactquote.rendered.page import Kind, Page, read_page
from exactquote.report.landing import Asked, outcome

CORPORA = ("rustbook", "react-en", "fastapi-de", "otel-en")
SENTENCES = 500
SEED = 11
PACKAGE = "text-fragments-polyfill"
PACKAGE_VERSION = "6.7.0"
TIMES_FASTER_MIN = 500
OPENED_IN: tuple[BrowserName, ...] = ("chromium", "firefox")
PAGE_SECONDS_MAX = 300.0
# The best of so many runs counts on both sides, so that a busy machine hits neither.
TIMINGS = 3
# Ten times the polyfill's own limit, for the same reason.
PEER_MS_MAX = 5000

_MODULE = "polyfill/fragment-generation-utils.js"
_STATUSES = ("linked", "invalid selection", "ambiguous", "timed out", "failed")
# A place is named by the number of equal texts before it, white space left out, so that
# neither side's notion of a block decides what is selected.
_GENERATE = """
(async (wanted) => {
  const {generateFragment, setTimeout: limit} = await import("/%s");
  limit(%d);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement.closest("script, style, noscript, template")
      ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  const nodes = [], starts = [], pieces = [];
  let length = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const piece = node.data.replace(/\\s+/g, "");
    nodes.push(node);
    starts.push(length);
    pieces.push(piece);
    length += piece.length;
  }
  const text = pieces.join("");
  const place = (offset) => {
    let low = 0, high = nodes.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle] <= offset) low = middle; else high = middle - 1;
    }
    let left = offset - starts[low], at = 0;
    for (; /\\s/.test(nodes[low].data[at]) || left-- > 0; at++);
    return [nodes[low], at];
  };
  const select = ({bare, number, count}) => {
    const found = [];
    for (let at = text.indexOf(bare); at >= 0; at = text.indexOf(bare, at + 1)) found.push(at);
    if (found.length !== count) return null;
    const range = document.createRange();
    range.setStart(...place(found[number]));
    const [node, at] = place(found[number] + bare.length - 1);
    range.setEnd(node, at + 1);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return selection;
  };
  const generate = (selection) => {
    try {
      return generateFragment(selection);
    } catch (fault) {
      return {status: fault.isTimeout ? 3 : 4};
    }
  };
  const answers = wanted.map((one) => select(one) && {milliseconds: Infinity});
  const first = wanted.find((one) => select(one));
  if (first) generate(select(first));
  // In turn, so that nothing is kept from one call to the next of the same place.
  for (let run = 0; run < %d; run++) {
    for (const [number, answer] of answers.entries()) {
      if (!answer) continue;
      // Making a link changes the selected range.
      const selection = select(wanted[number]);
      const started = performance.now();
      const {status, fragment} = generate(selection);
      answer.milliseconds = Math.min(answer.milliseconds, performance.now() - started);
      answer.status = status;
      answer.fragment = fragment || null;
    }
  }
  return answers;
})(%s)
"""
# They hold text that the document's own text nodes don't.
_ASIDE = frozenset({Kind.ALT, Kind.VALUE, Kind.LABEL})


@dataclass(frozen=True, slots=True)
class Made:
    """What one side made of a sentence: an href and its directive, or why there is none."""

    href: str
    directive: str
    status: str
    milliseconds: float


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--corpus", action="append", choices=CORPORA, help="this one only")
    arguments.add_argument("--sentences", type=int, default=SENTENCES, help="of each corpus")
    arguments.add_argument("--open", type=int, help="links of each side to open, else all")
    arguments.add_argument("--write", action="store_true", help="keep the result, dated")
    options = arguments.parse_args()
    with installed() as module:
        rows = [
            measured(name, options.sentences, options.open, module)
            for name in options.corpus or CORPORA
        ]
    together = lengths([pair for row in rows for pair in row.pop("pairs")])
    result = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "peer": f"{PACKAGE} {PACKAGE_VERSION}",
        "browsers": versions(),
        "seed": SEED,
        "corpora": rows,
        "linked_by_both": together,
    }
    print(json.dumps(result, indent=1, ensure_ascii=False))
    if options.write:
        keep(__file__, f"{result['date']}-polyfill", result)
    missed = [f"{row['corpus']}: {goal}" for row in rows for goal in goals_missed(row)]
    if (longer := _longer(together)) is not None:
        missed.append(longer)
    print("\n".join(missed), file=sys.stderr)
    return 1 if missed else 0


@contextmanager
def installed() -> Iterator[bytes]:
    """The polyfill's generator, installed by npm into a temporary folder."""
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("npm is missing; it installs the polyfill")
    with tempfile.TemporaryDirectory(prefix="exactquote-npm-") as folder:
        wanted = f"{PACKAGE}@{PACKAGE_VERSION}"
        command = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", wanted]
        ran = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
        if ran.returncode:
            sys.exit(f"npm could not install {wanted}: {ran.stderr.strip()}")
        package = Path(folder) / "node_modules" / PACKAGE
        yield (package / "dist" / "fragment-generation-utils.js").read_bytes()


def versions() -> dict[str, str]:
    told = {}
    for name in OPENED_IN:
        with open_browser(name) as browser:
            told[name] = browser.version
    return told


def measured(name: str, count: int, opened_max: int | None, module: bytes) -> dict[str, Any]:
    with unpacked(name) as root:
        _, proof = proved(root, name)
    sentences = drawn_sentences(proof, count)
    site = {**files_of(proof), _MODULE: module}
    print(f"{name}: {len(sentences)} sentences", file=sys.stderr)
    theirs = made_by_polyfill(proof, sentences, site)
    sentences = [passage for passage in sentences if passage.id in theirs]
    ours, page_milliseconds = made_by_us(proof, sentences)
    # The same sentences for both sides.
    order = random.Random(SEED).sample(sentences, len(sentences))[:opened_max]
    opened = {
        side: landings(proof, order, made, site)
        for side, made in (("exactquote", ours), ("polyfill", theirs))
    }
    return {
        "corpus": name,
        "sentences": len(sentences),
        "not_selected": count - len(sentences),
        "exactquote": {**figures(sentences, ours), **opened["exactquote"]},
        "polyfill": {**figures(sentences, theirs), **opened["polyfill"]},
        "linked_by_both": lengths(both := paired(sentences, ours, theirs)),
        "pairs": both,
        "speed": speed(ours, theirs, page_milliseconds),
    }


def drawn_sentences(proof: Proof, count: int) -> list[Passage]:
    """Passages outside code, the same for the same seed, in the order of the corpus."""
    prose = [passage for passage in proof.passages if not is_code(proof, passage)]
    drawn = random.Random(SEED).sample(range(len(prose)), min(count, len(prose)))
    return [prose[number] for number in sorted(drawn)]


def is_code(proof: Proof, passage: Passage) -> bool:
    page = proof.pages[passage.doc]
    return page.runs[page.run_at(passage.span.start)].pre


def made_by_polyfill(
    proof: Proof, sentences: Sequence[Passage], site: Mapping[str, bytes]
) -> dict[str, Made]:
    """The polyfill's links by passage, without those it could not be shown.

    A sentence is selected as a reader would, and `generateFragment` timed inside the page,
    after one call that isn't counted.
    """
    made: dict[str, Made] = {}
    with Server(site) as server, chromium() as tab:
        for doc, passages in by_page(sentences).items():
            page = proof.pages[doc]
            asked = json.dumps([_place(page, passage) for passage in passages])
            address = server.url(quote(page.path, safe="/"))
            answers = tab.run(address, _GENERATE % (_MODULE, PEER_MS_MAX, TIMINGS, asked))
            for passage, answer in zip(passages, answers, strict=True):
                if answer is not None:
                    made[passage.id] = _polyfill_link(page, answer)
    return made


@contextmanager
def chromium() -> Iterator[Tab]:
    found = find_browsers()["chromium"]
    if not isinstance(found, Found):
        sys.exit(f"{found.reason}; install it with: {found.install}")
    tab = Tab(found.program, PAGE_SECONDS_MAX)
    try:
        yield tab
    except (Silent, Gone, Refused) as fault:
        sys.exit(f"Chromium gave no answer: {fault}")
    finally:
        tab.close()


class Tab(Chromium):
    """A tab in which scripts are run on a page."""

    def run(self, url: str, script: str) -> Any:
        """What `script` evaluates to on the loaded page."""
        deadline = time.monotonic() + PAGE_SECONDS_MAX
        fault = self._navigate(url, deadline)
        if fault:
            raise Refused(fault)
        loaded = 'new Promise((go) => document.readyState === "complete" ? go({}) : onload = go)'
        self._evaluate(f"{loaded}.then(() => ({{}}))", deadline)
        return self._evaluate(script, deadline)


def by_page(sentences: Sequence[Passage]) -> dict[str, list[Passage]]:
    pages: dict[str, list[Passage]] = {}
    for passage in sentences:
        pages.setdefault(passage.doc, []).append(passage)
    return pages


def _place(page: Page, passage: Passage) -> dict[str, object]:
    bare = _bare(page.text[passage.span.start : passage.span.end])
    shown = [run for run in page.runs if run.kind not in _ASIDE]
    before = "".join(
        _bare(page.text[run.start : min(run.end, passage.span.start)])
        for run in shown
        if run.start < passage.span.start
    )
    whole = "".join(_bare(page.text[run.start : run.end]) for run in shown)
    places = [at for at in range(len(whole)) if whole.startswith(bare, at)]
    return {"bare": bare, "number": places.index(len(before)), "count": len(places)}


def _bare(text: str) -> str:
    return "".join(text.split())


def _polyfill_link(page: Page, answer: Mapping[str, Any]) -> Made:
    parts = answer["fragment"]
    status, milliseconds = _STATUSES[answer["status"]], float(answer["milliseconds"])
    if not parts:
        return Made("", "", status, milliseconds)
    # As its documentation writes it: encodeURIComponent, and the hyphen too.
    text = [f"{_encoded(parts['prefix'])}-"] if parts.get("prefix") else []
    text += [_encoded(parts[part]) for part in ("textStart", "textEnd") if parts.get(part)]
    text += [f"-{_encoded(parts['suffix'])}"] if parts.get("suffix") else []
    directive = f"{DELIMITER}text={','.join(text)}"
    return Made(f"{quote(page.path, safe='/')}#{directive}", directive, status, milliseconds)


def _encoded(text: str) -> str:
    return quote(text, safe="!'()*").replace("-", "%2D")


def made_by_us(
    proof: Proof, sentences: Sequence[Passage]
) -> tuple[dict[str, Made], dict[str, float]]:
    """Our links by passage, and for each page the time to read it, per passage it holds.

    What is made once for a page, its text as each browser searches it, counts as reading it.
    """
    made: dict[str, Made] = {}
    reading: dict[str, float] = {}
    held = Counter(passage.doc for passage in proof.passages)
    for doc, passages in by_page(sentences).items():
        known = proof.pages[doc]
        started = time.perf_counter()
        page = read_page(
            known.html,
            doc=doc,
            path=known.path,
            title=known.title,
            language=known.language,
            article_only=True,
        )
        for name in ("any", *BROWSERS):
            view(page, name)
        reading[doc] = (time.perf_counter() - started) * 1e3 / held[doc]
        assert page.text == known.text
        # In turn, so that nothing is kept from one call to the next of the same passage.
        for _ in range(TIMINGS):
            for passage in passages:
                started = time.perf_counter()
                link = deep_link(page, passage.span)
                milliseconds = (time.perf_counter() - started) * 1e3
                if passage.id in made:
                    milliseconds = min(milliseconds, made[passage.id].milliseconds)
                made[passage.id] = _made(link, milliseconds)
    return made, reading


def _made(link: DeepLink | NoLink, milliseconds: float) -> Made:
    if isinstance(link, NoLink):
        return Made("", "", link.reason, milliseconds)
    directive = DELIMITER + link.directive.partition(DELIMITER)[2]
    return Made(link.href, directive, "linked", milliseconds)


def landings(
    proof: Proof,
    sentences: Sequence[Passage],
    made: Mapping[str, Made],
    site: Mapping[str, bytes],
) -> dict[str, Any]:
    """What the browsers made of the links of one side, and which of them are wrong targets.

    A wrong target is a link that highlights anything but the sentence where it stands.
    """
    asked = [
        Asked(
            passage.id,
            promised(proof.pages[passage.doc], made[passage.id].href, passage.quote, passage.span),
            cited=False,
        )
        for passage in sentences
        if made[passage.id].href
    ]
    results, _ = open_links(site, asked, OPENED_IN)
    rows = {
        name: Counter(outcome(result) for result in results if result.browser == name)
        for name in OPENED_IN
    }
    wrong = [
        _wrong(asked[number // len(OPENED_IN)], result)
        for number, result in enumerate(results)
        if not result.exact
    ]
    elsewhere = {one["href"] for one in wrong if one["highlighted"] is not None}
    return {
        "outcomes": {name: dict(sorted(row.items())) for name, row in rows.items()},
        "wrong_targets": len(elsewhere),
        "finds_nothing": len({one["href"] for one in wrong} - elsewhere),
        "not_exact": wrong,
    }


def _wrong(asked: Asked, result: Result) -> dict[str, Any]:
    return {
        "browser": result.browser,
        "outcome": outcome(result),
        "href": asked.link.url,
        "quote": asked.link.quote,
        "highlighted": result.landing.text,
        "after": result.landing.before,
    }


def figures(sentences: Sequence[Passage], made: Mapping[str, Made]) -> dict[str, Any]:
    """How many sentences one side linked, and how long the text directives are."""
    linked = [made[passage.id] for passage in sentences if made[passage.id].href]
    others = Counter(made[passage.id].status for passage in sentences if not made[passage.id].href)
    return {
        "linked": len(linked),
        "linked_share": round(len(linked) / len(sentences), 4),
        "not_linked": dict(sorted(others.items())),
        **_chars("directive_chars", [len(one.directive) for one in linked]),
        **_chars("fragment_chars", [len(one.href.partition("#")[2]) for one in linked]),
    }


def paired(
    sentences: Sequence[Passage], ours: Mapping[str, Made], theirs: Mapping[str, Made]
) -> list[tuple[int, int]]:
    """The lengths of both sides' text directives for the sentences that both of them linked."""
    return [
        (len(ours[one.id].directive), len(theirs[one.id].directive))
        for one in sentences
        if ours[one.id].href and theirs[one.id].href
    ]


def lengths(both: Sequence[tuple[int, int]]) -> dict[str, Any]:
    return {
        "sentences": len(both),
        "exactquote": _chars("directive_chars", [mine for mine, _ in both]),
        "polyfill": _chars("directive_chars", [other for _, other in both]),
        "difference_median": statistics.median(mine - other for mine, other in both),
        "exactquote_shorter": sum(mine < other for mine, other in both),
        "equal": sum(mine == other for mine, other in both),
        "exactquote_longer": sum(mine > other for mine, other in both),
    }


def _chars(name: str, values: Sequence[int]) -> dict[str, float]:
    return {f"{name}_median": statistics.median(values), f"{name}_95": _percentile(values, 0.95)}


def _percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[math.ceil(share * len(values)) - 1]


def speed(
    ours: Mapping[str, Made], theirs: Mapping[str, Made], reading: Mapping[str, float]
) -> dict[str, float]:
    """Milliseconds for a link, and how many times faster we are.

    `page` is the reading of a page, shared out among the passages it holds.
    """
    mine = [one.milliseconds for one in ours.values()]
    other = [one.milliseconds for one in theirs.values()]
    page = statistics.mean(reading.values())
    return {
        "exactquote_ms_median": round(statistics.median(mine), 4),
        "exactquote_ms_mean": round(statistics.mean(mine), 4),
        "exactquote_ms_95": round(_percentile(mine, 0.95), 4),
        "page_ms_per_passage": round(page, 4),
        "polyfill_ms_median": round(statistics.median(other), 2),
        "polyfill_ms_mean": round(statistics.mean(other), 2),
        "polyfill_ms_95": round(_percentile(other, 0.95), 2),
        "times_faster_median": round(statistics.median(other) / statistics.median(mine), 1),
        "times_faster_mean": round(statistics.mean(other) / statistics.mean(mine), 1),
        "times_faster_with_page": round(statistics.mean(other) / (statistics.mean(mine) + page), 1),
    }


def goals_missed(row: Mapping[str, Any]) -> Iterator[str]:
    """What a corpus falls short of, in words."""
    mine, other = row["exactquote"], row["polyfill"]
    if mine["linked"] < other["linked"]:
        yield "the polyfill links more sentences"
    if mine["wrong_targets"] or mine["finds_nothing"]:
        yield f"{mine['wrong_targets'] + mine['finds_nothing']} of our links don't land"
    faster = row["speed"]["times_faster_median"]
    if faster < TIMES_FASTER_MIN:
        yield f"only {faster:g} times faster"


def _longer(both: Mapping[str, Any]) -> str | None:
    mine, other = (both[side]["directive_chars_median"] for side in ("exactquote", "polyfill"))
    return f"our links are longer: {mine:g} to {other:g}" if mine > other else None


if __name__ == "__main__":
    sys.exit(main())
