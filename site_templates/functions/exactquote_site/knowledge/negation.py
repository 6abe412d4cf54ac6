"""Tells whether two sentences deny the same things, by what each negation reaches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from exactquote_site.knowledge.function_words import CONTRASTS
from exactquote_site.knowledge.statement import Kind, Statement, Token

# How many words that say something a negation reaches. Further on it is about other things.
REACH = 4
_NEAREST = 2
# "Neither A nor B" is one negation, as "not A or B" is.
_GOES_ON = frozenset(("nor", "noch"))
_OR = frozenset(("or", "oder", *_GOES_ON))
_AND = frozenset(("and", "or", "und", "oder"))
_PRONOUNS = frozenset(("it", "them", "this", "these", "that", "ihn", "sie", "es", "diese", "dies"))
# They stand behind what they deny: "it leads nowhere".
_BEHIND = frozenset(("nowhere", "nirgends", "nirgendwo", "nirgendwohin"))
_NOT_EVEN_DENIED = frozenset(("only", "just", "nur", "bloß"))


@dataclass(frozen=True, slots=True)
class Denial:
    """A negation, and the tokens it reaches, nearest first.

    `joined` tells whether its clause begins with "and" or "or".
    """

    negator: Token
    reach: tuple[Token, ...]
    joined: bool = False


def denials(statement: Statement) -> tuple[Denial, ...]:
    """Every negation of a sentence. "Not only" denies nothing."""
    return tuple(_denials(statement.tokens, statement.language == "de"))


def undenied(
    claim: Sequence[Denial],
    passage: Sequence[Denial],
    found: Sequence[Sequence[tuple[int, int]]],
) -> tuple[Token | None, Token | None]:
    """A negation that the claim alone has, and one that the passage alone has.

    `found` are for each word of the claim its places in the passage, each with its clause: a
    negation in the passage is about the claim only where it reaches what the claim says, and
    where not all of that is said in other clauses as well. Each negation of one is that of the
    other once. Where both have as many, they have only to reach one common word, since a
    paraphrase moves "not" about. "A isn't read and no B" is what "doesn't read A or B" says, so
    that one may then be that of two.
    """
    ours = list(claim)
    theirs = list(passage)
    touching = [other for other in passage if _touches(other, found)]
    ways = [_about_one, *([_overlap] if len(ours) == len(touching) else [])]
    for alike in ways:
        # The same words first, and of these those that reach most in common, or "the reader
        # isn't asked, since he doesn't know" would be paired crosswise by "reader".
        for one, other in sorted(product(ours, theirs), key=_common):
            if one in ours and other in theirs and alike(one, other):
                ours.remove(one)
                theirs.remove(other)
    ours = [one for one in ours if not (one.joined and _goes_on_in(one, passage))]
    theirs = [other for other in theirs if other in touching]
    return (ours[0].negator if ours else None), (theirs[0].negator if theirs else None)


def _goes_on_in(joined: Denial, passage: Sequence[Denial]) -> bool:
    return any(_reaches(other, joined, _NEAREST) for other in passage)


def _common(pair: tuple[Denial, Denial]) -> tuple[bool, int]:
    """Less where both negations are the same word, and the more words both reach."""
    one, other = pair
    keys = {key for token in other.reach for key in token.keys}
    shared = sum(not keys.isdisjoint(token.keys) for token in one.reach)
    return one.negator.text.casefold() != other.negator.text.casefold(), -shared


def _denials(tokens: Sequence[Token], german: bool) -> Iterator[Denial]:
    for number, token in enumerate(tokens):
        if token.kind is not Kind.NEGATOR:
            continue
        if token.text.casefold() in _GOES_ON and any(
            t.kind is Kind.NEGATOR for t in tokens[:number]
        ):
            continue
        if (
            number > 1
            and tokens[number - 1].text.casefold() in _AND
            and any(t.text.casefold() == token.text.casefold() for t in tokens[: number - 1])
        ):
            # "No A and no B" is one, too.
            continue
        following = tokens[number + 1] if number + 1 < len(tokens) else None
        if following is not None and following.text.casefold() in _NOT_EVEN_DENIED:
            continue
        after = list(_within(token, tokens[number + 1 :]))
        if not after and following is not None and following.text.casefold() in _PRONOUNS:
            # "Without it": what that is was said before.
            continue
        # German puts "nicht" behind what it denies where the verb stands first, and between
        # an object and its verb.
        before = [
            other
            for other in reversed(tokens[:number])
            if other.clause == token.clause and _reached(other)
        ]
        if token.text.casefold() in _BEHIND:
            after = []
        reach = after[:REACH] or before[:REACH]
        if after and german and token.text.casefold() not in CONTRASTS:
            reach += before[:REACH]
        if not reach:
            reach = [other for other in tokens[number + 1 :] if _reached(other)][:REACH]
        opens = next(other for other in tokens if other.clause == token.clause)
        yield Denial(token, tuple(reach), opens.text.casefold() in _OR | _AND)


def _within(negator: Token, following: Sequence[Token]) -> Iterator[Token]:
    """What follows in the clause of a negation, and behind "or": "not A or B" denies both."""
    clause = negator.clause
    for token in following:
        if token.clause == clause + 1 and token.text.casefold() in _OR:
            clause += 1
        if token.clause == clause and _reached(token):
            yield token


def _reached(token: Token) -> bool:
    return token.says or token.kind in (Kind.FAINT, Kind.OPERATOR)


def _about_one(one: Denial, other: Denial) -> bool:
    """Whether what each reaches first is reached by the other: "not A but B" isn't "not B"."""
    contrasts = {one.negator.text.casefold(), other.negator.text.casefold()} & CONTRASTS
    first = 1 if contrasts else _NEAREST
    return _reaches(one, other, first) and _reaches(other, one, first)


def _overlap(one: Denial, other: Denial) -> bool:
    """Whether some word is reached by both, the first one where a thing is denied for another."""
    if {one.negator.text.casefold(), other.negator.text.casefold()} & CONTRASTS:
        return _about_one(one, other)
    keys = {key for token in other.reach for key in token.keys}
    return any(not keys.isdisjoint(token.keys) for token in one.reach)


def _reaches(one: Denial, other: Denial, first: int) -> bool:
    nearest = _strongest(other)
    if first == 1 and nearest and nearest[0].text.endswith("ing"):
        # "Instead of storing the letter" denies the letter, too.
        first = _NEAREST
    nearest = nearest[:first]
    return any(
        near.keys & token.keys or (near.figure is not None and token.figure is not None)
        for near in nearest
        for token in one.reach
    )


def _touches(denial: Denial, found: Sequence[Sequence[tuple[int, int]]]) -> bool:
    clauses = {denial.negator.clause, *(token.clause for token in denial.reach)}
    here = [[place for place, clause in places if clause in clauses] for places in found]
    if all(len(inside) < len(places) for inside, places in zip(here, found, strict=True)):
        return False
    said = {place for inside in here for place in inside}
    if denial.reach and denial.reach[0].operator == "all":
        # "Not all A are B" is about what is said of A and of B.
        both = [token for token in denial.reach if token.says][:_NEAREST]
        return all(token.place in said for token in both)
    near = _strongest(denial)[:_NEAREST]
    if near and denial.negator.text.casefold() == "without" and near[0].text.endswith("ing"):
        # "Without reading the file" denies the reading, not the file.
        near = near[:1]
    return any(token.place in said for token in near)


def _strongest(denial: Denial) -> Sequence[Token]:
    """What a negation reaches, faint words only where there is nothing else."""
    return [token for token in denial.reach if token.kind is not Kind.FAINT] or denial.reach
