"""Turns a claim and a passage into what of the claim stands there, is missing, or differs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from exactquote_site.knowledge.function_words import RATHER_THAN
from exactquote_site.knowledge.negation import denials, undenied
from exactquote_site.knowledge.operators import operator_faults
from exactquote_site.knowledge.opposites import opposite_faults
from exactquote_site.knowledge.pairing import places_of
from exactquote_site.knowledge.roles import misplaced_figure, swapped
from exactquote_site.knowledge.shapes import as_typed
from exactquote_site.knowledge.statement import WEIGHT_MIN, Kind, Statement, Token, weight

# All of the values here: bench/evidence.
# Headings may name what a sentence is about; what is said of it must stand in the sentence.
FROM_HEADINGS_MAX = 0.34
# Two words under a heading that has the third are found in passages about anything.
UNDER_HEADINGS_MIN = 3
FAINT_MISSING_MAX = 1
# So few words stand in many sentences; together, in one clause, in few.
SHORT = 2
# How far apart the words may stand in a long passage: so many tokens, and more for each.
SPREAD_MIN = 24
SPREAD = 2


@dataclass(frozen=True, slots=True)
class Comparison:
    """What of a claim a passage has.

    `found` are tokens of the claim in the sentence, `above` those that only its headings
    have, `missing` those that are nowhere; `faint` counts faint words that are nowhere.
    `pairs` are places in the passage by place in the claim.
    """

    claim: Statement
    passage: Statement
    pairs: Mapping[int, Sequence[int]]
    found: tuple[Token, ...]
    above: tuple[Token, ...]
    missing: tuple[Token, ...]
    faint: int = 0

    @property
    def share(self) -> float:
        """The part of the claim's content that the sentence and its headings have."""
        found = len(self.found) + len(self.above)
        return found / max(1, found + len(self.missing))

    @property
    def complete(self) -> bool:
        """Whether the passage has what the claim says; it may still say otherwise."""
        found = len(self.found) + len(self.above)
        return (
            not self.missing
            and weight([self.claim.tokens[place] for place in self.pairs]) >= WEIGHT_MIN
            and bool(self.found)
            and len(self.above) <= FROM_HEADINGS_MAX * found
            and (not self.above or len(self.found) >= UNDER_HEADINGS_MIN)
            and self.faint <= FAINT_MISSING_MAX
            and not self._names_another()
            and self._close()
        )

    def _close(self) -> bool:
        """Whether the words stand together, and not all over a long passage."""
        if len(self.found) <= SHORT and not self._in_one_clause():
            return False
        if len(self.passage.tokens) <= SPREAD_MIN:
            return True
        wanted = {token.place for token in self.found}
        owners: dict[int, list[int]] = {}
        for ours in wanted:
            for theirs in self.pairs[ours]:
                owners.setdefault(theirs, []).append(ours)
        inside: Counter[int] = Counter()
        places = sorted(owners)
        first = 0
        for last in places:
            inside.update(owners[last])
            while len(inside) == len(wanted):
                if last - places[first] < SPREAD_MIN + SPREAD * len(wanted):
                    return True
                inside.subtract(owners[places[first]])
                inside += Counter()
                first += 1
        return False

    def _names_another(self) -> bool:
        """Whether a name of the claim is in the headings alone, and the sentence has others."""
        said = {place for places in self.pairs.values() for place in places}
        return any(token.kind is Kind.NAME for token in self.above) and any(
            token.kind is Kind.NAME and token.place not in said for token in self.passage.tokens
        )

    def _in_one_clause(self) -> bool:
        """Whether some clause has all that a short claim says."""
        clauses = [
            {self.passage.tokens[there].clause for there in self.pairs[token.place]}
            for token in self.found
        ]
        return bool(set.intersection(*clauses))

    def differences(self) -> tuple[str, ...]:
        """What in the passage differs from the claim, in words, each once."""
        return tuple(dict.fromkeys(_differences(self)))


def compare(claim: Statement, passage: Statement, headings: Collection[str] = ()) -> Comparison:
    """Compare two sentences of one language. `headings` are the keys of title and trail."""
    pairs: dict[int, Sequence[int]] = {}
    found, above, missing, faint = [], [], [], 0
    for token in claim.tokens:
        there = places_of(token, claim, passage)
        if there:
            pairs[token.place] = there
        if token.kind is Kind.FAINT:
            faint += not there
        elif token.says and there:
            found.append(token)
        elif token.says and not token.keys.isdisjoint(headings):
            above.append(token)
        elif token.says:
            missing.append(token)
    return Comparison(claim, passage, pairs, tuple(found), tuple(above), tuple(missing), faint)


def _differences(one: Comparison) -> Iterator[str]:
    claim, passage, pairs = one.claim, one.passage, one.pairs
    if passage.asks:
        yield "the passage is a question"
    yield from _figures(passage, one.missing)
    yield from _negations(claim, passage)
    yield from operator_faults(claim, passage, pairs)
    yield from opposite_faults(claim, passage)
    crossed = swapped(claim, passage, pairs)
    if crossed:
        yield f"{crossed[0].text} and {crossed[1].text} change places in the passage"
    moved = misplaced_figure(claim, passage, pairs)
    if moved:
        yield f"{moved[0].text} stands beside another word than {moved[1].text} in the passage"


def _figures(passage: Statement, missing: Sequence[Token]) -> Iterator[str]:
    said = [token.text for token in passage.tokens if token.kind is Kind.FIGURE]
    for token in missing:
        if token.kind is Kind.FIGURE and said:
            yield f"figure {token.text} differs: the passage says {', '.join(said)}"


def _negations(claim: Statement, passage: Statement) -> Iterator[str]:
    said = {
        key
        for token in claim.tokens
        for key in token.keys
        if token.says or token.kind is Kind.FAINT
    }
    ours, theirs = undenied(denials(claim), denials(passage), said)
    if ours:
        yield f'the claim says "{_written(ours)}", the passage doesn\'t say it of the same'
    if theirs:
        yield f'the passage says "{_written(theirs)}", the claim doesn\'t say it of the same'


def _written(negator: Token) -> str:
    return negator.text.replace(RATHER_THAN, "rather than")


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
