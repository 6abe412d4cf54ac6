"""Fits the weights of `knowledge/decision.py` to the claims, and says how well they carry over.

    python bench/evidence/fit.py

Asks: how many true claims are found when at most 2 % of the false ones are confirmed?
Every claim is judged by weights that were fitted without it: without all claims of its passage,
and again without all claims of its corpus. Printed are both, and the weights of all claims.
"""

from __future__ import annotations

import argparse
import json
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.evidence.claims import CORPORA, Claim, base_of, read_claims
from exactquote_site.knowledge.decision import WEIGHTS, doubts
from exactquote_site.knowledge.evidence import CHUNKS, sources_near
from exactquote_site.knowledge.support import (
    NEAR_SHARE,
    closest_denial,
    comparisons,
    denied,
    likenesses,
)

# Kinds of falsehood of which the threshold is chosen; parts that change places, and words such
# as "before" and "all", are told apart by words alone less well, and are counted beside them.
CORE = frozenset(("negated", "number", "name", "near", "invented"))
# A passage that says it of some, or says that it may be, isn't support, whatever else it says.
REFUSED = frozenset(("contrary", "absent", "limits"))
REFUSING = 1.01
FOLDS = 8
# Below the 2 % that are allowed, since claims that nobody tuned on are confirmed more often.
FALSE_CONFIRMED_MAX = 0.015
# A true claim has one passage, a false one many candidates that can confirm it.
_FALSE_WEIGHT = 0.5
_PENALTY = 1.0
_STEPS = 1_500

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """A candidate passage of a claim that contradicts nothing, with its doubts."""

    claim: int
    own: bool
    doubts: tuple[float, ...]


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    claims = [claim for claim in read_claims() if claim.part == "tune"]
    rows = [row for name in CORPORA for row in rows_of(name, claims)]
    result: dict[str, object] = {"claims": len(claims)}
    for scheme, key in (
        ("by passage", _fold_of_passage),
        ("by corpus", lambda claim: claim.corpus),
    ):
        result[scheme] = _found_at(claims, scores_without(rows, claims, key))
    weights, offset = fitted(rows, claims, range(len(claims)))
    # The threshold comes from claims that weren't fitted, and the weights from all of them.
    budget = offset - threshold(claims, scores_without(rows, claims, _fold_of_passage), CORE)
    result["weights"] = {
        name: round(max(float(w / budget), REFUSING if name in REFUSED else 0), 3)
        for name, w in zip(WEIGHTS, weights, strict=True)
    }
    print(json.dumps(result, indent=1))
    return 0


def rows_of(name: str, claims: Sequence[Claim]) -> Iterator[Row]:
    """The candidates of all claims of a corpus."""
    base, entries = base_of(name)
    for number, claim in enumerate(claims):
        if claim.corpus != name:
            continue
        compared = comparisons(claim.claim, sources_near(claim.claim, base, entries, CHUNKS))
        denial = closest_denial(one for _, one in compared)
        for source, one in compared:
            if one.share < NEAR_SHARE or len(one.missing) > len(one.free) or one.contradictions:
                continue
            alike = likenesses(one)
            near = all(token.text in alike for token in one.missing)
            if near and not denied(one, alike, denial):
                values = tuple(doubts(one, alike).values())
                yield Row(number, source.quote == claim.passage, values)


def fitted(
    rows: Sequence[Row], claims: Sequence[Claim], used: Sequence[int]
) -> tuple[Array, float]:
    """The weights, none below 0, and the offset of a logistic regression on some claims.

    A true claim counts with its own passage, a false one with every candidate. Found by
    accelerated projected gradients, since a doubt may not speak for a claim.
    """
    inside = set(used)
    taken = [r for r in rows if r.claim in inside and (r.own or not claims[r.claim].true)]
    values = np.array([row.doubts for row in taken])
    true = np.array([float(claims[row.claim].true) for row in taken])
    counts = np.where(true == 1, 1.0, _FALSE_WEIGHT)
    scale = values.std(0) + 1e-9
    values = values / scale
    norm = np.linalg.norm(values * np.sqrt(counts)[:, None], 2) ** 2 + counts.sum()
    step = 1 / (norm / 4 + _PENALTY)
    weights, offset, pace = np.zeros(values.shape[1]), 1.0, 1.0
    ahead, ahead_offset = weights, offset
    for _ in range(_STEPS):
        wrong = counts * (1 / (1 + np.exp(values @ ahead - ahead_offset)) - true)
        moved = np.maximum(0, ahead + step * (values.T @ wrong - _PENALTY * ahead))
        moved_offset = ahead_offset - step * wrong.sum()
        following = (1 + np.sqrt(1 + 4 * pace * pace)) / 2
        ahead = moved + (pace - 1) / following * (moved - weights)
        ahead_offset = moved_offset + (pace - 1) / following * (moved_offset - offset)
        weights, offset, pace = moved, moved_offset, following
    return weights / scale, float(offset)


def scores_without(
    rows: Sequence[Row], claims: Sequence[Claim], key: Callable[[Claim], object]
) -> Array:
    """The best score of each claim by weights of the claims with another key; -inf for none."""
    scores = np.full(len(claims), -np.inf)
    keys = [key(claim) for claim in claims]
    for left_out in dict.fromkeys(keys):
        weights, offset = fitted(rows, claims, [i for i, k in enumerate(keys) if k != left_out])
        for row in rows:
            if keys[row.claim] == left_out:
                score = offset - float(np.dot(row.doubts, weights))
                scores[row.claim] = max(scores[row.claim], score)
    return scores


def threshold(claims: Sequence[Claim], scores: Array, kinds: frozenset[str]) -> float:
    """The least score of which at most `FALSE_CONFIRMED_MAX` of false claims have more."""
    false = sorted(
        (s for c, s in zip(claims, scores, strict=True) if c.kind in kinds), reverse=True
    )
    return float(false[int(FALSE_CONFIRMED_MAX * len(false))])


def _found_at(claims: Sequence[Claim], scores: Array) -> dict[str, object]:
    least = threshold(claims, scores, CORE)
    kinds = sorted({claim.kind for claim in claims})
    said = {
        kind: [bool(s > least) for c, s in zip(claims, scores, strict=True) if c.kind == kind]
        for kind in kinds
    }
    return {kind: f"{sum(found)} of {len(found)}" for kind, found in said.items()}


def _fold_of_passage(claim: Claim) -> int:
    """The same fold for all claims of a passage, on any machine."""
    return zlib.crc32((claim.passage or claim.claim).encode()) % FOLDS


if __name__ == "__main__":
    sys.exit(main())
