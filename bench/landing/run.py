"""Opens links made for large corpora in real browsers, and counts what could be linked.

    python bench/landing/run.py [--corpus rustbook]… [--sample 100] [--write]

Asks: does every link made for a corpus land exactly, is anything refused that browsers
would have found, and do browsers confirm that what has no link can't have one?
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.corpora import drawn, proved, unpacked, write_citations
from bench.results import keep
from exactquote.browsers.landing import BrowserName
from exactquote.browsers.links import open_links
from exactquote.browsers.oracle import Link, Unavailable, open_browser
from exactquote.browsers.same_text import bare
from exactquote.browsers.telling import promised
from exactquote.deeplink.directive import Directive, fragment
from exactquote.deeplink.generate import NoLink, deep_link, fullest
from exactquote.disk.theme import load_theme
from exactquote.emit.chips import fill_chips
from exactquote.model import DeepLink, Passage
from exactquote.pipeline import Proof
from exactquote.rendered.page import CUT, Page
from exactquote.report.landing import Asked, outcome
from exactquote.report.stats import kind, shape, why

CORPORA = ("rustbook", "fastapi-de", "react-zh", "otel-en")
# Only counted: their links are of the same kinds.
COUNTED = ("react-en", "cpp")
SAMPLE = 500
WEBKIT_SAMPLE = 50
REMAINDER = 20
CITATIONS = 200
SEED = 7
QUICK: tuple[BrowserName, ...] = ("chromium", "firefox")
WEBKIT: tuple[BrowserName, ...] = ("webkit",)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument(
        "--corpus", action="append", choices=CORPORA + COUNTED, help="this one only"
    )
    arguments.add_argument("--sample", type=int, default=SAMPLE, help="links to open of each")
    arguments.add_argument("--write", action="store_true", help="keep the result, dated")
    options = arguments.parse_args()
    wanted = options.corpus or CORPORA + COUNTED
    result = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "browsers": versions(),
        "seed": SEED,
        "corpora": [measured(name, options.sample) for name in wanted if name in CORPORA],
        "counted": [counted(name) for name in wanted if name in COUNTED],
    }
    print(json.dumps(result, indent=1, ensure_ascii=False))
    if options.write:
        keep(__file__, str(result["date"]), result)
    faults = ("not_exact", "refusals_contradicted", "remainder_contradicted")
    bad = [row for row in result["corpora"] if any(row[fault] for fault in faults)]
    return 1 if bad else 0


def versions() -> dict[str, str]:
    """What each browser says of itself. Ends the bench where one is missing."""
    told = {}
    for name in (*QUICK, *WEBKIT):
        try:
            with open_browser(name) as browser:
                told[name] = browser.version
        except Unavailable as missing:
            sys.exit(str(missing))
    return told


def measured(name: str, sample: int) -> dict[str, object]:
    with unpacked(name) as root:
        _, proof = proved(root, name)
        citations = drawn(proof, CITATIONS, SEED)
        write_citations(root, citations)
        _, cited = proved(root, name)
    print(f"{name}: {len(proof.passages)} passages", file=sys.stderr)
    linked, unlinked, yields = linked_passages(proof)
    opened = drawn_links(proof, linked, sample)
    site = files_of(proof)
    browsers = []
    not_exact = []
    for names, asked in ((QUICK, opened), (WEBKIT, opened[:WEBKIT_SAMPLE])):
        row, wrong = landings(site, asked, names)
        browsers += row
        not_exact += wrong
    return {
        "corpus": name,
        **yields,
        "browsers": browsers,
        "not_exact": not_exact,
        **remainder(proof, site, unlinked),
        **verdicts(cited, citations),
    }


def counted(name: str) -> dict[str, object]:
    """How many passages of a corpus get a link; none is opened."""
    with unpacked(name) as root:
        _, proof = proved(root, name)
    print(f"{name}: {len(proof.passages)} passages", file=sys.stderr)
    return {"corpus": name, **linked_passages(proof)[2]}


def linked_passages(
    proof: Proof,
) -> tuple[list[tuple[Passage, DeepLink]], dict[str, list[Passage]], dict[str, object]]:
    """Every passage that has a proved link, the others by reason, and the yield."""
    linked = []
    unlinked: dict[str, list[Passage]] = {}
    counts: Counter[tuple[str, bool]] = Counter()
    shapes: Counter[str] = Counter()
    for passage in proof.passages:
        page = proof.pages[passage.doc]
        link = deep_link(page, passage.span)
        groups = [kind(page, passage.span)]
        if groups == ["prose"] and " " in passage.quote:
            groups.append("prose_without_lone_words")
        counts.update((group, isinstance(link, DeepLink)) for group in groups)
        if isinstance(link, NoLink):
            reason = why(page, passage.span, link)
            unlinked.setdefault(f"{reason.name}: {reason.kind}", []).append(passage)
            continue
        linked.append((passage, link))
        shapes[shape(link.directive)] += 1
    lengths = sorted(len(link.href) for _, link in linked)
    shares = {
        group: {
            "passages": counts[group, True] + counts[group, False],
            "linked": counts[group, True],
            "share": round(counts[group, True] / (counts[group, True] + counts[group, False]), 5),
        }
        for group in sorted({group for group, _ in counts})
    }
    return (
        linked,
        unlinked,
        {
            "passages": len(proof.passages),
            "linked": dict(sorted(shapes.items())),
            "linked_share": round(len(linked) / len(proof.passages), 4),
            "linked_by_kind": shares,
            "by_element_id": {reason: len(found) for reason, found in sorted(unlinked.items())},
            "href_chars_median": statistics.median(lengths),
            "href_chars_95": lengths[math.ceil(0.95 * len(lengths)) - 1],
        },
    )


def drawn_links(
    proof: Proof, linked: Sequence[tuple[Passage, DeepLink]], count: int
) -> list[Asked]:
    """Links drawn by seed, with what must stand before their highlights."""
    links = {passage.id: link for passage, link in linked}
    asked = []
    for passage in drawn(proof, len(proof.passages), SEED):
        if passage.id in links and len(asked) < count:
            page, href = proof.pages[passage.doc], links[passage.id].href
            link = promised(page, href, passage.quote, passage.span)
            asked.append(Asked(passage.id, link, cited=False))
    return asked


def files_of(proof: Proof) -> dict[str, bytes]:
    """The site as it would be built, its chips bare."""
    files = dict(load_theme().assets)
    for doc, html in proof.raw.items():
        path = proof.pages[doc].path
        files[path] = fill_chips(html, {}, path).encode("utf-8", "replace")
    return files


def landings(
    site: dict[str, bytes], asked: Sequence[Asked], names: tuple[BrowserName, ...]
) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """A row for each browser, and every landing that isn't exact."""
    results, seconds = open_links(site, asked, names)
    outcomes = {name: Counter(outcome(r) for r in results if r.browser == name) for name in names}
    rows: list[dict[str, object]] = [
        {
            "browser": name,
            "links": len(asked),
            "outcomes": dict(sorted(outcomes[name].items())),
            "links_per_second": round(len(asked) / seconds[name], 2) if seconds[name] else 0,
        }
        for name in names
    ]
    wrong: list[dict[str, object]] = [
        {
            "browser": result.browser,
            "outcome": outcome(result),
            "href": asked[number // len(names)].link.url,
            "quote": result.link.quote,
            "before": result.link.before,
            "got": [[one.text, one.before, one.ranges, one.error] for one in result.landings],
        }
        for number, result in enumerate(results)
        if outcome(result) != "exact"
    ]
    return rows, wrong


def remainder(
    proof: Proof, site: dict[str, bytes], unlinked: dict[str, list[Passage]]
) -> dict[str, object]:
    """Whether browsers confirm that passages without a link can't have one.

    Of each reason a sample is opened in Chromium and Firefox, by its plain quote and by the
    quote with all the context that a directive may have. A reason is contradicted where one
    of the two lands exactly in both browsers. Places that are alike for longer than a
    browser is asked about can't be judged, and are counted only.
    """
    asked = []
    alike = 0
    for reason, passages in sorted(unlinked.items()):
        for passage in random.Random(SEED).sample(passages, min(REMAINDER, len(passages))):
            page = proof.pages[passage.doc]
            span = passage.span
            plain = Directive(page.text[span.start : span.end])
            for directive in (plain, fullest(page, span)):
                href = quote(page.path, safe="/") + fragment(directive)
                link = promised(page, href, passage.quote, span)
                if stands_alone(page, link):
                    asked.append(Asked(reason, link, cited=False))
                else:
                    alike += 1
    results, _ = open_links(site, asked, QUICK)
    landed = [results[at : at + len(QUICK)] for at in range(0, len(results), len(QUICK))]
    rows: dict[str, Counter[str]] = {}
    for one, both in zip(asked, landed, strict=True):
        rows.setdefault(one.id, Counter()).update(outcome(result) for result in both)
    return {
        "remainder_opened": {reason: dict(sorted(row.items())) for reason, row in rows.items()},
        "remainder_alike": alike,
        "remainder_contradicted": [
            {"reason": one.id, "href": one.link.url}
            for one, both in zip(asked, landed, strict=True)
            if all(result.exact for result in both)
        ],
    }


def stands_alone(page: Page, link: Link) -> bool:
    """Whether the quote with what is known to stand before it is there once."""
    whole = bare(page.text.replace(CUT, " "))
    return whole.count(bare(link.before) + bare(link.quote)) == 1


def verdicts(proof: Proof, citations: Sequence[Passage]) -> dict[str, object]:
    """What became of sentences cited as they stand, and whether browsers agree to refusals.

    A repeated sentence is refused until its author says which one is meant, so a browser
    that finds the first one doesn't contradict that. Any other refusal is contradicted when
    the plain directive lands exactly on the sentence in both browsers.
    """
    refused: Counter[str] = Counter(v.code or "" for v in proof.verdicts if not v.bound)
    doubted = []
    for verdict, passage in zip(proof.verdicts, in_order(proof, citations), strict=True):
        if verdict.bound or verdict.code == "EQ004":
            continue
        page = proof.pages[passage.doc]
        href = quote(page.path, safe="/") + fragment(Directive(passage.quote))
        link = promised(page, href, passage.quote, passage.span)
        doubted.append(Asked(verdict.code or "", link, cited=True))
    results, _ = open_links(files_of(proof), doubted, QUICK)
    landed = [results[at : at + len(QUICK)] for at in range(0, len(results), len(QUICK))]
    contradicted = [
        {"code": one.id, "href": one.link.url}
        for one, both in zip(doubted, landed, strict=True)
        if all(result.exact for result in both)
    ]
    return {
        "citations": len(proof.verdicts),
        "bound": sum(verdict.bound for verdict in proof.verdicts),
        "refused": dict(sorted(refused.items())),
        "refusals_opened": len(doubted),
        "refusals_contradicted": contradicted,
    }


def in_order(proof: Proof, citations: Sequence[Passage]) -> list[Passage]:
    """The passages in the order of the verdicts on them."""
    by_quote = {(passage.doc, passage.quote): passage for passage in citations}
    return [by_quote[verdict.written.doc, verdict.written.quote] for verdict in proof.verdicts]


if __name__ == "__main__":
    sys.exit(main())
