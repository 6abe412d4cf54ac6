"""Tells whether two sentences give the same parts to the same things.

`A depends on B` and `B depends on A` have all words in common. Where two things change places
around what stands between them, or change partners across a comma, nothing is confirmed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from exactquote_site.knowledge.function_words import DIRECTIONS, PASSIVE, PASSIVE_AGENT
from exactquote_site.knowledge.statement import Kind, Statement, Token
from exactquote_site.knowledge.stems import stem

_BESIDE = 2
# Every pair is looked at; a claim has far fewer words than this.
_WORDS_MAX = 60


def swapped(
    claim: Statement, passage: Statement, pairs: Mapping[int, Sequence[int]]
) -> tuple[Token, Token] | None:
    """Two tokens of the claim whose parts are the other way round in the passage.

    `pairs` gives, for places of the claim, all places in the passage that match them.
    """
    single = {ours: theirs[0] for ours, theirs in pairs.items() if len(theirs) == 1}
    if len(single) > _WORDS_MAX:
        return None
    return (
        _crossed(claim, passage, pairs)
        or _mirrored(claim, passage, single)
        or _exchanged(claim, passage, single)
    )


def _crossed(
    claim: Statement, passage: Statement, pairs: Mapping[int, Sequence[int]]
) -> tuple[Token, Token] | None:
    """Things that stand in one half of the claim, and in two of the passage, crosswise."""
    halves: dict[int, list[tuple[Token, frozenset[int]]]] = {}
    for ours, theirs in pairs.items():
        token = claim.tokens[ours]
        if token.says:
            there = frozenset(passage.tokens[place].half for place in theirs)
            halves.setdefault(token.half, []).append((token, there))
    for first, second in combinations(halves.values(), 2):
        for a, b in combinations(first, 2):
            if not a[1].isdisjoint(b[1]):
                continue
            for c, d in combinations(second, 2):
                straight = a[1] & c[1] and b[1] & d[1]
                across = a[1] & d[1] and b[1] & c[1]
                if (straight or across) and c[1].isdisjoint(d[1]):
                    return a[0], b[0]
    return None


def _mirrored(
    claim: Statement, passage: Statement, single: Mapping[int, int]
) -> tuple[Token, Token] | None:
    """Two things that change places around a word that stands between them in both."""
    if _voice(claim) != _voice(passage):
        return None
    ordered = sorted(single)
    things = [place for place in ordered if claim.tokens[place].says]
    english = claim.language == "en"
    for x, y in combinations(things, 2):
        if single[x] < single[y]:
            continue
        for between in ordered:
            if not (x < between < y and single[y] < single[between] < single[x]):
                continue
            pivot = claim.tokens[between]
            directs = pivot.text.casefold() in DIRECTIONS.get(claim.language, ())
            # German puts any part of a sentence first; only a name or a preposition
            # between two things says which is which.
            ends = claim.tokens[x], claim.tokens[y]
            if (
                directs
                and _next(claim, between) == y
                and _next(passage, single[between]) == single[x]
            ):
                return ends
            apart = between - x > 1 or single[x] - single[between] > 1
            if pivot.kind is Kind.NAME and apart and (english or all(map(_is_thing, ends))):
                return ends
            there = passage.tokens[single[between]]
            named = all(end.kind is Kind.NAME for end in ends)
            together = named or len({claim.tokens[place].clause for place in (x, between, y)}) == 1
            same_word = stem(pivot.text.casefold(), "en") == stem(there.text.casefold(), "en")
            if english and pivot.kind is Kind.WORD and together and same_word:
                return ends
    return None


def _exchanged(
    claim: Statement, passage: Statement, single: Mapping[int, int]
) -> tuple[Token, Token] | None:
    """ "Closing it drops that" and "dropping it closes that": which comes of which."""
    if claim.language != "en":
        return None
    forms = [
        (claim.tokens[ours], _gerund(claim.tokens[ours]), _gerund(passage.tokens[theirs]))
        for ours, theirs in sorted(single.items())
    ]
    here = next((token for token, ours, theirs in forms if ours and not theirs), None)
    there = next((token for token, ours, theirs in forms if theirs and not ours), None)
    return (here, there) if here and there else None


def _gerund(token: Token) -> bool:
    return token.kind in (Kind.WORD, Kind.FAINT) and token.text.casefold().endswith("ing")


def _passive(statement: Statement, place: int) -> bool:
    """Whether a word is said of what is acted on: "is read", "wird gelesen"."""
    before = statement.tokens[max(0, place - _BESIDE) : place]
    after = statement.tokens[place + 1 : place + 1 + _BESIDE]
    near = before if statement.language == "en" else (*before, *after)
    auxiliary = PASSIVE.get(statement.language, ())
    return any(token.text.casefold() in auxiliary for token in near)


def _next(statement: Statement, place: int) -> int | None:
    """The place of the first token behind another that says something."""
    return next((token.place for token in statement.tokens[place + 1 :] if token.says), None)


def _is_thing(token: Token) -> bool:
    """Whether a German word is a noun or a name, which its capital or form tells."""
    return token.kind is not Kind.WORD or token.text[0].isupper()


def _voice(statement: Statement) -> bool:
    agents = PASSIVE_AGENT.get(statement.language, ())
    return any(token.text.casefold() in agents for token in statement.tokens)


def misplaced_figure(
    claim: Statement, passage: Statement, pairs: Mapping[int, Sequence[int]]
) -> tuple[Token, Token] | None:
    """A figure of the claim, and a word beside it that has another figure in the passage."""
    for figure in claim.tokens:
        if figure.kind is not Kind.FIGURE or figure.place not in pairs:
            continue
        for word in _beside(claim.tokens, figure.place):
            there = pairs.get(word.place, ())
            if not there:
                continue
            nearest = [_nearest_figure(passage.tokens, place) for place in there]
            if any(place in pairs[figure.place] for place in nearest):
                continue
            if all(place is not None for place in nearest):
                return figure, word
    return None


def _beside(tokens: Sequence[Token], place: int) -> list[Token]:
    """The words beside a figure that belong to it and to no other figure."""
    around = [token for token in tokens if token.says]
    at = next(number for number, token in enumerate(around) if token.place == place)
    beside = [around[number] for number in (at - 1, at + 1) if 0 <= number < len(around)]
    return [token for token in beside if token.kind is not Kind.FIGURE]


def _nearest_figure(tokens: Sequence[Token], place: int) -> int | None:
    """The place of the figure that a word stands beside, None where there is none."""
    around = [token for token in tokens if token.says or token.place == place]
    at = next(number for number, token in enumerate(around) if token.place == place)
    for distance in range(1, _BESIDE + 1):
        for number in (at - distance, at + distance):
            if 0 <= number < len(around) and around[number].kind is Kind.FIGURE:
                return around[number].place
    return None
