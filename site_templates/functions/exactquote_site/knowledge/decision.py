"""Turns what a passage lacks of a claim into one number, and that into support or none.

Each doubt is a number from 0 up, and its weight says how much of the budget it takes. Weights
are fitted by `bench/evidence/fit.py` on claims written by hand; none is below 0, so that
nothing makes up for a doubt.
"""

from __future__ import annotations

from collections.abc import Mapping

from exactquote_site.knowledge.comparison import Comparison
from exactquote_site.knowledge.exchange import Exchange, conditions
from exactquote_site.knowledge.statement import Kind

# Below the first, two words are no synonyms; from the second on, nothing is to be doubted.
ALIKE_MIN = 0.5
ALIKE = 0.8
# As near as a word that says little is at least to what stands for it.
LIGHT = 0.65
# So many words of a claim are found in few sentences that don't say it.
_MANY = 4
# What part of a claim has to follow the passage for an exchange of two parts to tell.
_EXCHANGED_MIN = 0.7
_GAIN_MIN = 2

# bench/evidence/fit.py, 2026-11-30
WEIGHTS: Mapping[str, float] = {
    "strange": 0.919,
    "replaced": 0.138,
    "above": 0.814,
    "other": 0.925,
    "surplus": 1.029,
    "loose": 0.912,
    "contrary": 2.54,
    "absent": 1.011,
    "elsewhere": 0.306,
    "limits": 1.232,
    "exchanged": 2.08,
    "crossed": 2.303,
    "reversed": 3.395,
}
BUDGET = 1.0


def doubts(one: Comparison, alike: Mapping[str, float]) -> dict[str, float]:
    """What makes support doubtful, by the name of its weight.

    `alike` gives for each missing word how near, from 0 to 1, the nearest word of the passage
    is that no other word of the claim is found in.
    """
    near = [alike.get(token.text, 0.0) for token in one.missing]
    # A negation that the passage has, too, is found as much as a word is.
    found = len(one.found) + sum(token.kind is Kind.NEGATOR for token in one.claim.tokens)
    few = max(0, _MANY - found) * one.surplus
    strange = {
        token.place: min(1.0, max(0.0, (ALIKE - like) / (ALIKE - ALIKE_MIN)))
        for token, like in zip(one.missing, near, strict=True)
    }
    operators, exchange = one.operators, one.exchange
    exchanged = 0.0
    if told_exchange(exchange):
        exchanged = (exchange.share - _EXCHANGED_MIN) / (1 - _EXCHANGED_MIN)
    return {
        # Missing words, each by how far it is from all words of the passage.
        "strange": sum(strange.values()),
        # These of them stand where the passage has another word.
        "replaced": sum(strange[t.place] for t in one.missing if one.replaces(t)),
        "above": float(len(one.above)),
        # The sentence has another word in the place of one that only a heading has.
        "other": float(sum(one.replaces(token) for token in one.above)),
        "surplus": one.surplus,
        # Few words in a passage that says much else, in another order.
        "loose": few * (1 - exchange.order),
        "contrary": float(len(operators.contrary)),
        "absent": float(len(operators.absent)),
        "elsewhere": float(len(operators.elsewhere)),
        "limits": float(len(operators.limits)),
        "exchanged": exchanged,
        "crossed": float(one.crossed),
        "reversed": reversed_conditions(one),
    }


def doubt(one: Comparison, alike: Mapping[str, float]) -> float:
    """The weighted sum of all doubts; support stays within `BUDGET`."""
    return sum(WEIGHTS[name] * value for name, value in doubts(one, alike).items())


def told_exchange(exchange: Exchange) -> bool:
    """Whether two parts of the claim have changed places, and not merely moved."""
    return exchange.gain >= _GAIN_MIN and exchange.share > _EXCHANGED_MIN


def reversed_conditions(one: Comparison) -> float:
    """What part of the found words are a condition in one sentence and not in the other.

    Of what is only moved into a condition, or only out of one, nothing counts: a claim may say
    "when" of what the passage says in two sentences.
    """
    ours, theirs = conditions(one.claim), conditions(one.passage)
    moved = [
        token.place in ours
        for token in one.found
        if all((place in theirs) is not (token.place in ours) for place in one.pairs[token.place])
    ]
    return 2 * min(sum(moved), len(moved) - sum(moved)) / max(1, len(one.found))
