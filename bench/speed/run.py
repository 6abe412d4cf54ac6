"""Times a cold `check` against plain Markdown rendering, and a passage on a huge page.

    python bench/speed/run.py [--runs 5] [--write]

Asks: how much more than rendering its Markdown does it cost to prove a corpus? Both sides
are whole processes, in turn, so that a slow moment of the machine hits both.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.corpora import drawn, proved, unpacked, write_citations
from bench.results import keep
from exactquote.checks.site import Site
from exactquote.checks.verdicts import judge
from exactquote.model import Passage, Place, Written
from exactquote.pipeline import Proof
from exactquote.rendered.find import find
from exactquote.settings import Settings

CORPORA = ("rustbook", "fastapi-en", "otel-en")
CITATIONS = 200
SEED = 7
RATIO_MAX = 2.5
PAGE_RATIO_MAX = 10.0
PEER = """
import sys, pathlib
from markdown_it import MarkdownIt
md = MarkdownIt("commonmark").enable(["table", "strikethrough"])
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.md")):
    md.render(path.read_text(encoding="utf-8"))
"""


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=5)
    arguments.add_argument("--write", action="store_true", help="keep the result, dated")
    options = arguments.parse_args()
    result = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "check": [check_ratio(name, options.runs) for name in CORPORA],
        "passage": passage_ratio(),
    }
    print(json.dumps(result, indent=1))
    if options.write:
        keep(__file__, str(result["date"]), result)
    slow = [row for row in result["check"] if row["ratio_median"] > RATIO_MAX]
    return 1 if slow or result["passage"]["ratio"] > PAGE_RATIO_MAX else 0


def check_ratio(name: str, runs: int) -> dict[str, object]:
    """`exactquote check` with 200 citations over the peer rendering the same files."""
    with unpacked(name) as root:
        _, proof = proved(root, name)
        # A gate is green most days: what is cited here is there once.
        write_citations(
            root, [p for p in drawn(proof, 4 * CITATIONS, SEED) if _once(p, proof)][:CITATIONS]
        )
        config = root / "exactquote.toml"
        config.write_text('[severity]\nEQ031 = "off"\n', encoding="utf-8")
        ours = [sys.executable, "-m", "exactquote", "check", str(root), "-q"]
        peer = [sys.executable, "-c", PEER, str(root)]
        pairs = []
        for number in range(runs + 1):
            pair = (seconds(ours), seconds(peer))
            if number:
                pairs.append(pair)
    ratios = [a / b for a, b in pairs]
    return {
        "corpus": name,
        "files": len(proof.pages),
        "citations": CITATIONS,
        "check_seconds_median": round(statistics.median(a for a, _ in pairs), 3),
        "peer_seconds_median": round(statistics.median(b for _, b in pairs), 3),
        "ratio_median": round(statistics.median(ratios), 2),
        "ratio_min": round(min(ratios), 2),
        "ratio_max": round(max(ratios), 2),
    }


def _once(passage: Passage, proof: Proof) -> bool:
    page = proof.pages[passage.doc]
    return len(find(page, passage.quote)) == 1


def seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=False, capture_output=True)
    return time.perf_counter() - started


def passage_ratio() -> dict[str, object]:
    """Time per citation on the 369 KB release notes over that of a page of median size."""
    with unpacked("fastapi-en") as root:
        corpus, proof = proved(root, "fastapi-en")
    site = Site(proof.pages, {}, {}, Settings(), lambda page, span: Place(page.path))
    sizes = sorted(corpus.documents, key=lambda document: len(document.text))
    median = sizes[len(sizes) // 2].id
    large, small = (per_passage(doc, proof, site) for doc in ("release-notes", median))
    return {
        "median_page": median,
        "microseconds_release_notes": round(large, 1),
        "microseconds_median_page": round(small, 1),
        "ratio": round(large / small, 2),
    }


def per_passage(doc: str, proof: Proof, site: Site) -> float:
    """Microseconds for the verdict on one passage, the page being rendered and warm."""
    quotes = [passage.quote for passage in proof.passages if passage.doc == doc]
    written = [
        Written(Place("bench"), doc, quote) for quote in quotes[:: max(1, len(quotes) // 300)]
    ]
    judge(written[0], site)
    started = time.perf_counter()
    for citation in written:
        judge(citation, site)
    return (time.perf_counter() - started) / len(written) * 1e6


if __name__ == "__main__":
    sys.exit(main())
