"""Turns ranks into the figures that are reported."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

MISSED = 0


def first_rank(order: Sequence[object], wanted: frozenset[object]) -> int:
    """The rank, from 1, of the first thing that is wanted; 0 where none is there."""
    return next((rank for rank, thing in enumerate(order, 1) if thing in wanted), MISSED)


def figures(ranks: Sequence[int]) -> dict[str, float | int]:
    """Shares and the mean reciprocal rank, to three places; `ranks` has 0 for a miss.

    A question is answered by any one of its answers, so recall@5 is hit@5.
    """
    return {
        "questions": len(ranks),
        "hit@1": _share(ranks, 1),
        "recall@5": _share(ranks, 5),
        "hit@5": _share(ranks, 5),
        "hit@8": _share(ranks, 8),
        "mrr": round(sum(1 / rank for rank in ranks if rank) / max(len(ranks), 1), 3),
    }


def _share(ranks: Sequence[int], least: int) -> float:
    return round(sum(0 < rank <= least for rank in ranks) / max(len(ranks), 1), 3)


def separation(answerable: Sequence[float], unanswerable: Sequence[float]) -> dict[str, object]:
    """How far the best score tells questions with an answer from those without.

    `auc` is the chance that one with an answer scores higher than one without: 0.5 is none.
    """
    higher = sum((a > b) + 0.5 * (a == b) for a in answerable for b in unanswerable)
    return {
        "auc": round(higher / max(len(answerable) * len(unanswerable), 1), 3),
        "answerable": _quartiles(answerable),
        "unanswerable": _quartiles(unanswerable),
    }


def _quartiles(scores: Sequence[float]) -> list[float]:
    return [round(float(q), 3) for q in np.quantile(scores, (0.25, 0.5, 0.75))] if scores else []
