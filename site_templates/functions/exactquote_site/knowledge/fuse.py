"""Turns several rankings of the same things into one: reciprocal rank fusion.

After Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and
individual Rank Learning Methods", SIGIR 2009. Ranks are fused and scores aren't, since BM25
and a cosine have no scale in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

RRF_K = 60


def fuse(
    rankings: Mapping[str, Sequence[int]], weights: Mapping[str, float], k: int = RRF_K
) -> list[tuple[int, float]]:
    """Everything that is ranked, best first, each with the sum of weight / (k + rank).

    A ranking lists things best first, each once; its first has rank 1. Ties go by the thing's
    own number. A ranking of weight 0 adds nothing, not even what it alone found. Raises
    `KeyError` for a ranking without a weight.
    """
    scores: dict[int, float] = {}
    for name in sorted(rankings):
        weight = weights[name]
        if weight <= 0:
            continue
        for rank, thing in enumerate(rankings[name], 1):
            scores[thing] = scores.get(thing, 0.0) + weight / (k + rank)
    return sorted(scores.items(), key=lambda scored: (-scored[1], scored[0]))
