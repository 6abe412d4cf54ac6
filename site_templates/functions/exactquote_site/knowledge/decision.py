"""Turns what a passage lacks of a claim into one number, and that into support or none.

Each doubt is a number from 0 up, and its weight says how much of the budget it takes. Weights
are fitted by `bench/evidence/fit.py` on claims written by hand; none is below 0, so that
nothing makes up for a doubt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from exactquote_site.knowledge.comparison import Comparison
from exactquote_site.knowledge.exchange import Exchange
from exactquote_site.knowledge.function_words import NAMED_KINDS
from exactquote_site.knowledge.statement import Kind, Token

# Below the first, two words are no synonyms; from the second on, nothing is to be doubted.
ALIKE_MIN = 0.5
ALIKE = 0.8
# So many words of a claim are found in few sentences that don't say it.
_MANY = 4
# A claim's words stand in the passage within one and a half times its own length, mostly.
_STRETCH = 1.5
# What part of a claim has to follow the passage for an exchange of two parts to tell.
_EXCHANGED_MIN = 0.7
_GAIN_MIN = 2

# bench/evidence/fit.py, 2026-11-30
WEIGHTS: Mapping[str, float] = {
    "strange": 1.124,
    "named": 0.419,
    "above": 0.922,
    "few": 0.434,
    "loose": 0.907,
    "contrary": 2.531,
    "absent": 1.283,
    "limits": 1.01,
    "exchanged": 1.854,
    "stretch": 0.778,
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
        # These of them stand beside the kind of a thing, as its name does.
        "named": sum(strange[token.place] for token in _names(one)),
        "above": float(len(one.above)),
        # Few words in a passage that says much else, and these in another order.
        "few": few,
        "loose": few * (1 - exchange.order),
        "contrary": float(len(operators.contrary)),
        "absent": float(len(operators.absent)),
        "limits": float(len(operators.limits)),
        "exchanged": exchanged,
        "stretch": max(0.0, one.stretch - _STRETCH),
    }


def doubt(one: Comparison, alike: Mapping[str, float]) -> float:
    """The weighted sum of all doubts; support stays within `BUDGET`."""
    return sum(WEIGHTS[name] * value for name, value in doubts(one, alike).items())


def told_exchange(exchange: Exchange) -> bool:
    """Whether two parts of the claim have changed places, and not merely moved."""
    return exchange.gain >= _GAIN_MIN and exchange.share > _EXCHANGED_MIN


def _names(one: Comparison) -> Iterator[Token]:
    kinds = NAMED_KINDS.get(one.claim.language, frozenset())
    tokens = one.claim.tokens
    for token in one.missing:
        beside = tokens[max(0, token.place - 1) : token.place + 2]
        if any(t.text.casefold() in kinds for t in beside if t is not token):
            yield token
