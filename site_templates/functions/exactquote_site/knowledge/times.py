"""Tells where a claim says "before" or "until" of what a passage says "after" or "since" of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from exactquote_site.knowledge.function_words import EARLIER, LATER
from exactquote_site.knowledge.statement import Kind, Statement, Token

# How many words that say something such a word is about.
_REACH = 3


@dataclass(frozen=True, slots=True)
class Time:
    """A word that tells on which side of something else a thing happens, and what that is."""

    word: Token
    later: bool
    reach: tuple[Token, ...]


def time_faults(
    claim: Statement, passage: Statement, pairs: Mapping[int, Sequence[int]]
) -> Iterator[str]:
    """Each time of the claim that the passage turns round, in words.

    "Not until" is "only after", so that nothing is told of a sentence that denies something.
    """
    if any(token.kind is Kind.NEGATOR for token in (*claim.tokens, *passage.tokens)):
        return
    theirs = _times(passage)
    for ours in _times(claim):
        met = [other for other in theirs if _shared(ours, other, pairs)]
        if met and all(other.later is not ours.later for other in met):
            yield f'the claim says "{ours.word.text}", the passage "{met[0].word.text}"'


def _times(statement: Statement) -> list[Time]:
    found = []
    for token in statement.tokens:
        word = token.text.casefold()
        later = word in LATER.get(statement.language, ())
        if later or word in EARLIER.get(statement.language, ()):
            following = statement.tokens[token.place + 1 :]
            reach = [other for other in following if other.says and other.clause == token.clause]
            found.append(Time(token, later, tuple(reach[:_REACH])))
    return found


def _shared(ours: Time, theirs: Time, pairs: Mapping[int, Sequence[int]]) -> bool:
    """Whether both are about the same: what each is about first is in reach of the other."""
    there = [token.place for token in theirs.reach]
    here = [place for token in ours.reach for place in pairs.get(token.place, ())]
    first = pairs.get(ours.reach[0].place, ()) if ours.reach else ()
    return bool(there) and there[0] in here and any(place in there for place in first)
