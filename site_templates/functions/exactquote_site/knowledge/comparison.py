"""Turns a claim and a passage into what of the claim stands there, is missing, or differs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from exactquote_site.knowledge.exchange import Exchange, crossed, exchange
from exactquote_site.knowledge.function_words import RATHER_THAN
from exactquote_site.knowledge.negation import denials, undenied
from exactquote_site.knowledge.operators import Faults, operator_faults
from exactquote_site.knowledge.opposites import opposite_faults
from exactquote_site.knowledge.pairing import places_of
from exactquote_site.knowledge.shapes import as_typed
from exactquote_site.knowledge.statement import Kind, Statement, Token
from exactquote_site.knowledge.times import time_faults


@dataclass(frozen=True)
class Comparison:
    """What of a claim a passage has.

    `found` are tokens of the claim in the sentence, `above` those that only its headings
    have, `missing` those that are nowhere. `pairs` are places in the passage by place in the
    claim.
    """

    claim: Statement
    passage: Statement
    pairs: Mapping[int, Sequence[int]]
    found: tuple[Token, ...]
    above: tuple[Token, ...]
    missing: tuple[Token, ...]

    @property
    def share(self) -> float:
        """The part of the claim's content that the sentence and its headings have."""
        found = len(self.found) + len(self.above)
        return found / max(1, found + len(self.missing))

    @cached_property
    def free(self) -> tuple[Token, ...]:
        """The words of the passage that no word of the claim is found in."""
        kinds = (Kind.WORD, Kind.NAME, Kind.FAINT, Kind.OPERATOR)
        return tuple(
            t for t in self.passage.tokens if t.place not in self._held and t.kind in kinds
        )

    @cached_property
    def _held(self) -> frozenset[int]:
        """The places of the passage that some token of the claim is found in."""
        return frozenset(place for places in self.pairs.values() for place in places)

    def replaces(self, token: Token) -> bool:
        """Whether a token that isn't in the sentence stands where that says something else.

        Its neighbours that the passage has, too, have a word of the passage beside them there
        that nothing of the claim is found in; between them, where the token has both.
        """
        free = {other.place for other in self.free if other.says}
        sides = [self._beside(token.place, step, free) for step in (-1, 1)]
        met = [side for side in sides if side is not None]
        return bool(met) and bool(met[0].intersection(*met[1:]))

    def _beside(self, place: int, step: int, free: Collection[int]) -> set[int] | None:
        """The free places of the passage next to where the claim's next token on a side is."""
        ours, theirs = self.claim.tokens, self.passage.tokens
        place += step
        while 0 <= place < len(ours):
            if place in self.pairs and ours[place].kind is not Kind.FUNCTION:
                break
            place += step
        else:
            return None
        found = set()
        for at in self.pairs[place]:
            at -= step
            while 0 <= at < len(theirs) and (at in free or theirs[at].kind is Kind.FUNCTION):
                found.add(at)
                at -= step
        return found & set(free)

    @property
    def surplus(self) -> float:
        """The part of the passage's content that the claim doesn't have."""
        content = self.passage.content
        return sum(token.place not in self._held for token in content) / max(1, len(content))

    @cached_property
    def contradictions(self) -> tuple[str, ...]:
        """What makes the passage say something else, whatever its words, each once."""
        return tuple(dict.fromkeys(_contradictions(self)))

    @cached_property
    def operators(self) -> Faults:
        """What either says of all, some, always or must, and the other doesn't."""
        return operator_faults(self.claim, self.passage, self.pairs)

    @cached_property
    def exchange(self) -> Exchange:
        """The two parts of the claim that have changed places, as far as any have."""
        return exchange(self.claim, self.passage, self.pairs)

    @property
    def crossed(self) -> bool:
        """Whether two parts of the claim have changed their prepositions."""
        return crossed(self.claim, self.passage, self.pairs)


def compare(claim: Statement, passage: Statement, headings: Collection[str] = ()) -> Comparison:
    """Compare two sentences of one language. `headings` are the keys of title and trail."""
    pairs: dict[int, Sequence[int]] = {}
    found, above, missing = [], [], []
    for token in claim.tokens:
        there = places_of(token, claim, passage)
        if there:
            pairs[token.place] = there
        if not token.says:
            continue
        if there:
            found.append(token)
        elif not token.keys.isdisjoint(headings):
            above.append(token)
        else:
            missing.append(token)
    return Comparison(claim, passage, pairs, tuple(found), tuple(above), tuple(missing))


def _contradictions(one: Comparison) -> Iterator[str]:
    claim, passage = one.claim, one.passage
    if passage.asks:
        yield "the passage is a question"
    yield from _figures(passage, one.missing)
    yield from _negations(one)
    yield from opposite_faults(claim, passage, one.pairs)
    yield from time_faults(claim, passage, one.pairs)
    yield from _names(one)


def _figures(passage: Statement, missing: Sequence[Token]) -> Iterator[str]:
    said = [token.text for token in passage.tokens if token.kind is Kind.FIGURE]
    for token in missing:
        if token.kind is Kind.FIGURE and said:
            yield f"figure {token.text} differs: the passage says {', '.join(said)}"
        elif token.kind is Kind.FIGURE:
            yield f"figure {token.text} isn't in the passage"


def _negations(one: Comparison) -> Iterator[str]:
    kinds = (Kind.FAINT, Kind.OPERATOR)
    found = [
        [(place, one.passage.tokens[place].clause) for place in one.pairs[token.place]]
        for token in one.claim.tokens
        if token.place in one.pairs and (token.says or token.kind in kinds)
    ]
    ours, theirs = undenied(denials(one.claim), denials(one.passage), found)
    if ours:
        yield f'the claim says "{_written(ours)}", the passage doesn\'t say it of the same'
    if theirs:
        yield f'the passage says "{_written(theirs)}", the claim doesn\'t say it of the same'


def _written(negator: Token) -> str:
    return negator.text.replace(RATHER_THAN, "rather than")


def _names(one: Comparison) -> Iterator[str]:
    for token in one.missing:
        if token.kind is Kind.NAME:
            yield f"the name {token.text} isn't in the passage"
    # The heading names what the claim is about, and the sentence is about something else.
    if any(t.kind is Kind.NAME for t in one.above) and any(t.kind is Kind.NAME for t in one.free):
        above = next(t for t in one.above if t.kind is Kind.NAME)
        yield f"the passage names another thing than {above.text}"


def stands_whole(claim: str, passage: str) -> bool:
    """Whether the claim is a whole clause of the passage, word for word.

    For languages of which no negation is known: from one break of the sentence to another,
    no word that turns the claim round can be left out.
    """
    ours, theirs = _bare(claim), _bare(passage)
    edges = rf"(?:\A|[{_BREAKS}]\s*){re.escape(ours)}(?:\s*[{_BREAKS}]|\Z)"
    return bool(ours) and re.search(edges, theirs) is not None


_BREAKS = r",;:.!?…()«»“”„。、，；：！？（）「」"


def _bare(text: str) -> str:
    return " ".join(as_typed(text).casefold().split()).strip(" .!?。！？")
