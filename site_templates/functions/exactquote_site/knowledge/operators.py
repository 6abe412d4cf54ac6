"""Turns two sentences into the quantities, duties and times that one has without the other.

"Most" isn't "all", "may" isn't "must", and "before" isn't "after".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from exactquote_site.knowledge.statement import Kind, Statement, Token

# What else in a passage is as strong as the operator of a claim, or stronger.
_SATISFIED = {
    "all": {"all"},
    "always": {"always"},
    "most": {"most", "all", "always"},
    "many": {"many", "most", "all", "always"},
    "some": {"some", "many", "most"},
    "few": {"few"},
    "only": {"only"},
    "must": {"must"},
    "should": {"should", "must"},
    "before": {"before"},
    "after": {"after"},
    "except": {"except"},
    "more": {"more"},
    "less": {"less"},
}
# What in a passage says the opposite of an operator of the claim.
_CONTRARY: Mapping[str, frozenset[str]] = {
    "all": frozenset(("some", "most", "many", "few")),
    "always": frozenset(("some", "most", "few")),
    "most": frozenset(("some", "few")),
    "many": frozenset(("few",)),
    "few": frozenset(("many", "most", "all")),
    "some": frozenset(("few", "all", "always")),
    "before": frozenset(("after",)),
    "after": frozenset(("before",)),
    "more": frozenset(("less",)),
    "less": frozenset(("more",)),
    "must": frozenset(("may",)),
}
# What in a passage weakens a statement, unless the claim is as weak.
_HEDGES = {
    "may": {"may", "should"},
    "should": {"should", "may", "must"},
    "except": {"except"},
}
_LIMITS = {
    "some": {"some"},
    "most": {"most", "some", "many"},
    "few": {"few"},
    "many": {"many", "some"},
}
# These say an operator as well as something else.
_ALSO_SAY = {
    "after": frozenset(("then", "once", "dann", "sobald")),
    "all": frozenset(("per", "pro", "je")),
    "must": frozenset(("erfordert", "erfordern", "benötigt", "benötigen", "braucht", "brauchen")),
    "should": frozenset(("want", "wants", "möchte", "möchten", "wollen")),
}
# "Not until" is "not before".
_UNTIL = frozenset(("until", "till", "bis"))
# "More efficient" is what improves efficiency, and "many" a wide range.
_SAID_OTHERWISE = frozenset(("more", "less", "many"))
_PURPOSE = frozenset(("to", "for", "damit", "um"))
_ABLE = frozenset(("can", "could", "kann", "können"))
_BEFORE = frozenset(("before", "bevor"))
_NEAR = 3
_BESIDE = 1


@dataclass(frozen=True, slots=True)
class Faults:
    """What two sentences say otherwise of how many, how often and when, each in words.

    `contrary` are those where the passage has the opposite, `absent` those that only the claim
    has, `elsewhere` those of them that the passage has in a clause about something else, and
    `limits` what weakens only the passage.
    """

    contrary: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()


def operator_faults(
    claim: Statement, passage: Statement, pairs: Mapping[int, Sequence[int]]
) -> Faults:
    """What one sentence says of all, some, always or must, and the other doesn't."""
    ours, theirs = _operators_of(claim), _operators_of(passage)
    contrary: list[str] = []
    absent: list[str] = []
    elsewhere: list[str] = []
    matched = {place for places in pairs.values() for place in places}
    clauses = _with_empty(
        passage, {passage.tokens[p].clause for p in matched if passage.tokens[p].says}
    )
    # What is said of all of something else isn't said of this.
    near = {one for one in theirs if any(t.clause in clauses for t in theirs[one])}
    for operator, tokens in ours.items():
        wanted = _SATISFIED.get(operator)
        if not wanted or not near.isdisjoint(wanted):
            continue
        if _says_as_much(passage, operator, near) or _says_its_stem(passage, tokens):
            continue
        against = _CONTRARY.get(operator, frozenset()) & near
        if against:
            other = theirs[min(against)][-1].text
            contrary.append(f'the claim says "{tokens[-1].text}", the passage "{other}"')
        elif operator != "some" and operator not in _SAID_OTHERWISE:
            told = elsewhere if not theirs.keys().isdisjoint(wanted) else absent
            told.append(f'the claim says "{tokens[-1].text}", the passage doesn\'t')
    limits = dict.fromkeys(_limits(claim, passage, ours, theirs, pairs))
    return Faults(tuple(contrary), tuple(absent), tuple(elsewhere), tuple(limits))


def _says_as_much(passage: Statement, operator: str, near: Collection[str]) -> bool:
    """Whether a passage says in other words what an operator of the claim says."""
    if operator in ("should", "must") and passage.instructs:
        # Who is told to do something should do it.
        return True
    words = {token.text.casefold() for token in passage.tokens}
    if operator == "only" and "must" in near and not words.isdisjoint(_PURPOSE):
        # "Only if it is so" is what "it must be so, to" says.
        return True
    denied = any(token.kind is Kind.NEGATOR for token in passage.tokens)
    if operator == "before" and denied and not words.isdisjoint(_UNTIL):
        return True
    return not words.isdisjoint(_ALSO_SAY.get(operator, ()))


def _says_its_stem(passage: Statement, operators: Sequence[Token]) -> bool:
    """Whether a passage has an operator in another form: "in general" for "generally"."""
    return any(
        passage.tokens[place].kind is not Kind.OPERATOR
        for token in operators
        for key in token.keys
        for place in passage.places.get(key, ())
    )


def _with_empty(passage: Statement, clauses: Collection[int]) -> frozenset[int]:
    """Clauses, and those beside them that say nothing themselves: "16 or more"."""
    content = {token.clause for token in passage.content}
    beside = {clause + step for clause in clauses for step in (-1, 1)} - content
    return frozenset((*clauses, *beside))


def _limits(
    claim: Statement,
    passage: Statement,
    ours: Mapping[str, Sequence[Token]],
    theirs: Mapping[str, Sequence[Token]],
    pairs: Mapping[int, Sequence[int]],
) -> Iterator[str]:
    # "It could be useful" is as much as "it can be useful".
    able = any(token.text.casefold() in _ABLE for token in claim.tokens)
    clauses = [
        {passage.tokens[place].clause for place in pairs[token.place]}
        for token in claim.content
        if token.place in pairs
    ]
    for operator, tokens in theirs.items():
        for token in tokens:
            hedged = operator in _HEDGES and ours.keys().isdisjoint(_HEDGES[operator])
            if (operator == "should" and claim.instructs) or (operator == "may" and able):
                continue
            if token.text.casefold() == "besides" and _stands_alone(passage, token):
                continue
            if (
                operator == "only"
                and "only" not in ours
                and _narrows(passage, token, pairs, clauses)
            ):
                yield f'the passage says "{token.text}" of something else'
            if (
                operator == "before"
                and not {"before", "after"} & ours.keys()
                and (_dates(passage, token, pairs))
            ):
                yield f'the passage says "{token.text}", the claim doesn\'t'
            # "Perhaps" at the head of a sentence weakens all of it.
            whole = operator == "except" or (operator == "may" and not token.place)
            if hedged and (whole or _precedes(passage, token, pairs)):
                yield f'the passage says "{token.text}", the claim doesn\'t'
            # What is said of some of another thing, beside what the claim says, limits nothing.
            minor = 2 * sum(token.clause in each for each in clauses) < len(clauses)
            limited = (
                not minor and operator in _LIMITS and ours.keys().isdisjoint(_LIMITS[operator])
            )
            headed = operator in ("some", "many") and _preceded(passage, token)
            if limited and not headed and _precedes(passage, token, pairs, _BESIDE):
                yield f'the passage says it of "{token.text}", the claim of all'


def _operators_of(statement: Statement) -> dict[str, list[Token]]:
    """The operators of a sentence by their class, denied or not: `negation.py` compares that."""
    found: dict[str, list[Token]] = {}
    tokens = statement.tokens
    for token in tokens:
        negated = any(
            other.kind is Kind.NEGATOR and other.clause == token.clause
            for other in tokens[: token.place]
        )
        # "Not any" is "no".
        if token.operator and not (token.text.casefold() == "any" and negated):
            found.setdefault(token.operator, []).append(token)
    return found


def _narrows(
    passage: Statement,
    only: Token,
    pairs: Mapping[int, Sequence[int]],
    clauses: Sequence[Collection[int]],
) -> bool:
    """Whether "only" restricts a sentence to something that the claim doesn't speak of.

    "Only administrators can restore it" doesn't say that everybody can.
    """
    matched = {place for places in pairs.values() for place in places}
    after = [t for t in passage.tokens[only.place + 1 :] if t.says and t.clause == only.clause]
    used = 2 * sum(only.clause in each for each in clauses) >= len(clauses)
    return used and bool(after) and after[0].place not in matched


def _dates(passage: Statement, token: Token, pairs: Mapping[int, Sequence[int]]) -> bool:
    """Whether the claim's word only says when something else happens: "before the upload"."""
    if token.text.casefold() not in _BEFORE:
        # An adverb dates nothing that follows.
        return False
    matched = {place for places in pairs.values() for place in places}
    after = [t for t in passage.tokens[token.place + 1 :] if t.says and t.clause == token.clause]
    return bool(after) and after[0].place in matched and after[-1].place == after[0].place


def _stands_alone(passage: Statement, token: Token) -> bool:
    """Whether a word at the head of a sentence is a clause by itself: "Besides, …"."""
    following = passage.tokens[token.place + 1 : token.place + 2]
    return not token.place and all(other.clause != token.clause for other in following)


def _precedes(
    passage: Statement, token: Token, pairs: Mapping[int, Sequence[int]], reach: int = _NEAR
) -> bool:
    """Whether an operator stands shortly before something that the claim says, too."""
    matched = {place for places in pairs.values() for place in places}
    after = [t for t in passage.tokens[token.place + 1 :] if t.says][:reach]
    return any(t.place in matched for t in after if t.clause == token.clause)


def _preceded(passage: Statement, token: Token) -> bool:
    """Whether the clause says something before an operator.

    "It has some columns" is what "it has columns" says; "some columns have it" is less than
    "columns have it".
    """
    return any(
        (other.says or other.kind is Kind.FAINT) and other.clause == token.clause
        for other in passage.tokens[: token.place]
    )
