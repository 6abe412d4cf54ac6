"""Turns the scores that several rankings give to the same things into one sum.

BM25 and a cosine have no scale in common, and ranks tell a near miss from a far one as
little as from a tie. So each ranking counts in units of its own spread over the corpus.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Of the most that a ranking by words can give. If few chunks have any of the words, the
# spread is next to nothing, and one chance word would outweigh all else.
_CEILING_SHARE = 0.04


def by_spread(scores: NDArray[np.float32], of: NDArray[np.float32]) -> NDArray[np.float64]:
    """Scores in units of the standard deviation of others, those `of` a whole corpus.

    Nothing tells things apart that all have one score: then each gets 0.
    """
    spread = float(of.std()) if len(of) else 0.0
    if spread <= np.finfo(np.float32).eps:
        return np.zeros(len(scores), np.float64)
    units: NDArray[np.float64] = scores.astype(np.float64) / spread
    return units


def by_words(scores: NDArray[np.float32], ceiling: float) -> NDArray[np.float64]:
    """Scores by words in units of their spread, and less the less of `ceiling` was reached."""
    spread = float(scores.std()) + _CEILING_SHARE * ceiling
    units: NDArray[np.float64] = scores.astype(np.float64) / (spread or 1.0)
    return units
