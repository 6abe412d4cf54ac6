"""Tells whether a claim says of one thing what a passage says of another.

"A depends on B" and "B depends on A" have all words in common. There is no parser here: if the
words of the claim follow those of the passage much better once two of its parts have changed
places, then the claim is the passage with those parts exchanged.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from exactquote_site.knowledge.function_words import (
    AUXILIARIES,
    CONDITIONS,
    PASSIVES,
    PREPOSITIONS,
)
from exactquote_site.knowledge.statement import Kind, Statement, Token

# How many tokens a part has at most.
PART = 2
# Every two parts are tried; a claim has far fewer words than this.
_TOKENS_MAX = 80
# How many clauses of a claim are put in another order.
_CLAUSES_MAX = 6
_COORDINATORS = frozenset(("and", "or", "und", "oder", "sowie"))
_OR = frozenset(("or", "oder"))
# How many words that say something belong to a preposition.
_BEHIND = 3
# "Is not automatically created": how far before its verb a form of "be" stands at most.
_AUXILIARY_NEAR = 3
_PARTICIPLE = re.compile(r"(?:ed|en|t|n|d)\Z")


@dataclass(frozen=True, slots=True)
class Exchange:
    """Two parts of a claim that change places.

    `order` is what part of the claim's tokens the passage has in the same order. `gain` is by
    how many tokens an exchange lengthens that chain, and `share` is its part thereafter.
    """

    order: float = 0.0
    gain: int = 0
    share: float = 0.0
    one: str = ""
    other: str = ""


def exchange(claim: Statement, passage: Statement, pairs: Mapping[int, Sequence[int]]) -> Exchange:
    """The exchange of two parts of the claim that brings it closest to the passage.

    `pairs` gives, for places of the claim, all places in the passage that match them.
    """
    best = Exchange()
    if len(claim.tokens) > _TOKENS_MAX or len(passage.tokens) > _TOKENS_MAX:
        return best
    rows = _rows(claim, passage, pairs)
    plain = max(
        _in_order([rows[at] for at in order]) for order in _clause_orders(claim, passage, pairs)
    )
    best = Exchange(plain / max(1, len(rows)))
    if _turned(claim, passage, pairs):
        return best
    steady = _steady(claim, passage, pairs)
    for order, one, other in _exchanges(claim, pairs, steady):
        gain = _in_order([rows[at] for at in order]) - plain
        if gain > best.gain:
            best = Exchange(best.order, gain, (plain + gain) / len(rows), one, other)
    return best


def _rows(
    claim: Statement, passage: Statement, pairs: Mapping[int, Sequence[int]]
) -> list[Sequence[int]]:
    """For each token of the claim the places in the passage where it stands, ascending."""
    written: dict[str, list[int]] = {}
    for token in passage.tokens:
        written.setdefault(token.text.casefold(), []).append(token.place)
    none: Sequence[int] = ()
    return [
        sorted(pairs.get(token.place, none) or written.get(token.text.casefold(), none))
        for token in claim.tokens
    ]


def _in_order(rows: Sequence[Sequence[int]]) -> int:
    """The length of the longest chain of tokens that stand in the passage in this order."""
    # ends[n] is the earliest place at which a chain of n + 1 tokens can end.
    ends: list[int] = []
    for places in rows:
        for place in reversed(places):
            at = bisect_left(ends, place)
            if at == len(ends):
                ends.append(place)
            else:
                ends[at] = place
    return len(ends)


def _clause_orders(
    claim: Statement, passage: Statement, pairs: Mapping[int, Sequence[int]]
) -> Iterator[list[int]]:
    """The claim's places as they are, and with two neighbouring runs of clauses exchanged.

    "If A, B" is "B if A", but it isn't "If B, A".
    """
    tokens = claim.tokens
    every = list(range(len(tokens)))
    yield every
    ours, theirs = conditions(claim), conditions(passage)
    if any(
        token.says and all((place in theirs) is not (token.place in ours) for place in places)
        for token in tokens
        if (places := pairs.get(token.place))
    ):
        return
    starts = [t.place for t in tokens if not t.place or tokens[t.place - 1].clause != t.clause]
    edges = (*starts[:_CLAUSES_MAX], len(tokens))
    for a, b, c in combinations(edges, 3):
        yield [*every[:a], *every[b:c], *every[a:b], *every[c:]]


def conditions(statement: Statement) -> frozenset[int]:
    """The places of clauses that begin with "if", "because" and their like."""
    led: set[int] = set()
    opened = -1
    for token in statement.tokens:
        word = token.text.casefold()
        # "If A or B": both are conditions.
        goes_on = token.clause != opened and word in _OR and opened in led
        if goes_on or word in CONDITIONS.get(statement.language, ()):
            led.add(token.clause)
        opened = token.clause
    return frozenset(token.place for token in statement.tokens if token.clause in led)


def _steady(
    claim: Statement, passage: Statement, pairs: Mapping[int, Sequence[int]]
) -> frozenset[int]:
    """Places of the claim whose part in the sentence is the same wherever they stand.

    They are behind the same preposition in both, the only one of its kind.
    """
    ours, theirs = _prepositions(claim), _prepositions(passage)
    alone = {
        one
        for one in set(ours.values()) & set(theirs.values())
        if _count(claim, one) == 1 and _count(passage, one) == 1
    }
    steady = set()
    for at, places in pairs.items():
        here, there = ours.get(at, ""), {theirs.get(place, "") for place in places}
        if here in alone and here in there:
            steady.add(at)
    return frozenset(steady)


def crossed(claim: Statement, passage: Statement, pairs: Mapping[int, Sequence[int]]) -> bool:
    """Whether two things have changed their prepositions: "from A to B" and "from B to A"."""
    ours, theirs = _prepositions(claim), _prepositions(passage)
    moved = set()
    for token in claim.content:
        there = {theirs.get(place, "") for place in pairs.get(token.place, ())}
        here = ours.get(token.place, "")
        if here and len(there) == 1 and here not in there:
            moved.add((here, there.pop()))
    return any((there, here) in moved for here, there in moved)


def _prepositions(statement: Statement) -> dict[int, str]:
    """The preposition that each place stands behind, with no more than a few words between."""
    listed = PREPOSITIONS.get(statement.language, {})
    found: dict[int, str] = {}
    last, since, clause = "", 0, 0
    for token in statement.tokens:
        here = listed.get(token.text.casefold(), "")
        if here:
            last, since, clause = here, 0, token.clause
        elif last and token.clause == clause and since < _BEHIND:
            found[token.place] = last
            since += token.kind is not Kind.FUNCTION
            if token.text.casefold() in AUXILIARIES:
                last = ""
        else:
            last = ""
    return found


def _count(statement: Statement, preposition: str) -> int:
    listed = PREPOSITIONS.get(statement.language, {})
    return sum(listed.get(t.text.casefold()) == preposition for t in statement.tokens)


def _exchanges(
    claim: Statement, pairs: Mapping[int, Sequence[int]], steady: Collection[int]
) -> Iterator[tuple[list[int], str, str]]:
    """The order of the claim's places after each exchange of two of its parts."""
    tokens = claim.tokens
    framed = (Kind.FUNCTION, Kind.NEGATOR)
    said = [t.place in pairs and t.kind not in framed and not _adverb(t) for t in tokens]
    spans = [
        (start, start + size)
        for size in range(1, PART + 1)
        for start in range(len(tokens) - size + 1)
        if all(said[start : start + size])
    ]
    every = list(range(len(tokens)))
    for (a, b), (c, d) in combinations(sorted(spans), 2):
        if b > c or _all_steady(steady, a, b) or _all_steady(steady, c, d):
            continue
        if not _can_cross(pairs, range(a, b), range(c, d)):
            continue
        between = [token.text.casefold() for token in tokens[b:c] if not said[token.place]]
        if len(between) == c - b <= _BEHIND and not _COORDINATORS.isdisjoint(between):
            # "A and B" is "B and A".
            continue
        if c == b and tokens[b - 1].owner:
            # "The rules of each engine" are "each engine's rules".
            continue
        order = [*every[:a], *every[c:d], *every[b:c], *every[a:b], *every[d:]]
        yield order, _text(claim, a, b), _text(claim, c, d)
    groups: dict[str, list[int]] = {}
    for token in tokens:
        if said[token.place]:
            groups.setdefault(token.text.casefold(), []).append(token.place)
    for (one, mine), (other, yours) in combinations(groups.items(), 2):
        if len(mine) == len(yours) > 1:
            order = list(every)
            for i, j in zip(mine, yours, strict=True):
                order[i], order[j] = j, i
            yield order, one, other


def _adverb(token: Token) -> bool:
    """Whether a word is an English adverb, which may stand before its verb or behind it."""
    return token.kind is Kind.WORD and token.text.endswith("ly")


def _turned(claim: Statement, passage: Statement, pairs: Mapping[int, Sequence[int]]) -> bool:
    """Whether a verb is passive in one sentence and active in the other.

    Who does it and what it is done to change places then, and what is said stays the same.
    """
    ours, theirs = _passive(claim), _passive(passage)
    return any(
        all(
            (token.place in ours) is not (place in theirs)
            and passage.tokens[place].text.casefold() != token.text.casefold()
            for place in pairs[token.place]
        )
        for token in claim.tokens
        if token.place in pairs and token.kind in (Kind.WORD, Kind.FAINT)
    )


def _passive(statement: Statement) -> frozenset[int]:
    """Places of participles behind "is", or before "by"."""
    tokens = statement.tokens
    listed = PASSIVES.get(statement.language, frozenset())
    german = statement.language == "de"
    found = set()
    for token in tokens:
        before = [t for t in tokens[: token.place] if t.clause == token.clause]
        near = before if german else before[-_AUXILIARY_NEAR:]
        behind = tokens[token.place + 1 : token.place + 2]
        participle = _PARTICIPLE.search(token.text.casefold()) is not None
        led = any(t.text.casefold() in listed for t in (*near, *(behind if german else ())))
        done = any(t.text.casefold() == "by" for t in behind)
        if participle and token.text[0].islower() and (led or done):
            found.add(token.place)
    return frozenset(found)


def _all_steady(steady: Collection[int], start: int, end: int) -> bool:
    return all(at in steady for at in range(start, end))


def _can_cross(
    pairs: Mapping[int, Sequence[int]], first: Sequence[int], second: Sequence[int]
) -> bool:
    """Whether the passage has the second part before the first one."""
    return min(min(pairs[at]) for at in second) < max(max(pairs[at]) for at in first)


def _text(claim: Statement, start: int, end: int) -> str:
    return " ".join(token.text for token in claim.tokens[start:end])
