"""Counts the true claims that find support, and the false ones that find it, too.

    python bench/evidence/run.py [--half tune|held] [--corpus NAME ...] [--write]

Asks: how many true claims are confirmed, and how many false ones? Every passage of a corpus
can confirm a claim, not only the one that it was written from. The half that was held out is
only counted; its single claims aren't shown.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.evidence.claims import CORPORA, HALVES, Claim, base_of, read_claims
from bench.results import keep
from exactquote_site.knowledge.base import KnowledgeBase
from exactquote_site.knowledge.evidence import CHUNKS, find_support, sources_of
from exactquote_site.knowledge.support import Source, Support, support
from exactquote_site.wire.allowlist import Entry

# The goal.
TRUE_FOUND_MIN = 0.90
FALSE_CONFIRMED_MAX = 0.02


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--half", choices=HALVES, default="held")
    arguments.add_argument("--corpus", choices=CORPORA, nargs="+", default=CORPORA)
    arguments.add_argument("--all", action="store_true", help="judge false claims by every passage")
    arguments.add_argument("--write", action="store_true", help="keep the result, dated")
    options = arguments.parse_args()
    rows = []
    for name in options.corpus:
        claims = [c for c in read_claims() if (c.corpus, c.part) == (name, options.half)]
        rows += judged(name, claims, options.all, show=options.half == "tune")
    result = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "half": options.half,
        "chunks": CHUNKS,
        **figures(rows),
    }
    print(json.dumps(result, indent=1))
    if options.write:
        keep(__file__, f"{result['date']}-{options.half}", result)
    good = result["true_found_share"] >= TRUE_FOUND_MIN
    return 0 if good and result["false_confirmed_share"] <= FALSE_CONFIRMED_MAX else 1


def judged(
    name: str, claims: Iterable[Claim], every: bool = False, show: bool = False
) -> list[tuple[Claim, bool, float]]:
    """Each claim, whether support was found for it, and in how many milliseconds."""
    base, entries = base_of(name)
    sources = list(_all_sources(base, entries)) if every else []
    rows = []
    for claim in claims:
        started = time.perf_counter()
        found = find_support(claim.claim, base, entries)
        took = (time.perf_counter() - started) * 1000
        if every and not claim.true:
            found = support(claim.claim, sources)
        rows.append((claim, found.supported, took))
        if show and claim.true is not found.supported:
            _show(claim, found)
    return rows


def _all_sources(base: KnowledgeBase, entries: Mapping[str, Entry]) -> Iterable[Source]:
    for chunk in base.chunks:
        yield from sources_of(chunk, entries)


def figures(rows: Iterable[tuple[Claim, bool, float]]) -> dict[str, object]:
    """The counts that are reported: all, for each language, and for each kind of falsehood."""
    rows = list(rows)
    true = [(claim, found) for claim, found, _ in rows if claim.true]
    false = [(claim, found) for claim, found, _ in rows if not claim.true]
    kinds = Counter(claim.kind for claim, _ in false)
    confirmed = Counter(claim.kind for claim, found in false if found)
    languages = sorted({claim.language for claim, _, _ in rows})
    return {
        "true": len(true),
        "true_found": sum(found for _, found in true),
        "true_found_share": _share(found for _, found in true),
        "false": len(false),
        "false_confirmed": sum(found for _, found in false),
        "false_confirmed_share": _share(found for _, found in false),
        "languages": {
            tongue: {
                "true": _counted(found for claim, found in true if claim.language == tongue),
                "false": _counted(found for claim, found in false if claim.language == tongue),
            }
            for tongue in languages
        },
        "kinds": {kind: f"{confirmed[kind]} of {kinds[kind]}" for kind in sorted(kinds)},
        "milliseconds_median": round(median(took for _, _, took in rows), 1),
    }


def _share(found: Iterable[bool]) -> float:
    found = list(found)
    return round(sum(found) / max(len(found), 1), 4)


def _counted(found: Iterable[bool]) -> str:
    found = list(found)
    return f"{sum(found)} of {len(found)}"


def _show(claim: Claim, found: Support) -> None:
    print(f"{claim.kind} ({claim.corpus}): {claim.claim}", file=sys.stderr)
    for one in (found.supporting or found.nearest)[:2]:
        print(f"    {one.source.quote!r}", file=sys.stderr)
        print(f"    missing {one.missing} differs {one.differs}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
