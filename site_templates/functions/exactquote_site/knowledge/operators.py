"""Turns two sentences into the quantities, duties and times that one has without the other.

"Most" isn't "all", "may" isn't "must", and "before" isn't "after".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from exactquote_site.knowledge.statement import Kind, Statement, Token

# What else in a passage is as strong as the operator of a claim, or stronger.
_SATISFIED = {
    "all": {"all"},
    "always": {"always"},
    "most": {"most", "all", "always"},
    "many": {"many", "most"},
    "some": {"some", "many", "most", "all", "always"},
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
_NEAR = 3
_BESIDE = 2


def operator_faults(
    claim: Statement, passage: Statement, pairs: Mapping[int, Sequence[int]]
) -> Iterator[str]:
    """What one sentence says of all, some, always or must, and the other doesn't, in words."""
    ours, ours_denied = _operators_of(claim)
    theirs, theirs_denied = _operators_of(passage)
    matched = {place for places in pairs.values() for place in places}
    clauses = {passage.tokens[place].clause for place in matched if passage.tokens[place].says}
    for operator, tokens in ours.items():
        token = tokens[-1]
        wanted = _SATISFIED.get(operator)
        if operator == "should" and passage.instructs:
            continue
        # What is said of all of something else isn't said of this.
        near = {one for one in theirs if any(t.clause in clauses for t in theirs[one])}
        if wanted and near.isdisjoint(wanted):
            yield f'the claim says "{token.text}", the passage doesn\'t'
        if operator in theirs_denied.difference(ours_denied, theirs):
            yield f'the passage denies "{token.text}"'
    for operator, tokens in theirs.items():
        for token in tokens:
            hedged = operator in _HEDGES and ours.keys().isdisjoint(_HEDGES[operator])
            # "Perhaps" at the head of a sentence weakens all of it.
            whole = operator == "except" or (operator == "may" and not token.place)
            if hedged and (whole or _precedes(passage, token, pairs)):
                yield f'the passage says "{token.text}", the claim doesn\'t'
            limited = operator in _LIMITS and ours.keys().isdisjoint(_LIMITS[operator])
            headed = operator in ("some", "many") and _preceded(passage, token, pairs)
            if limited and not headed and _precedes(passage, token, pairs, _BESIDE):
                yield f'the passage says it of "{token.text}", the claim of all'


def _operators_of(statement: Statement) -> tuple[dict[str, list[Token]], set[str]]:
    """The operators of a sentence, and which of them it has behind a negation."""
    plain: dict[str, list[Token]] = {}
    denied: set[str] = set()
    tokens = statement.tokens
    for token in tokens:
        negated = any(
            other.kind is Kind.NEGATOR and other.clause == token.clause
            for other in tokens[: token.place]
        )
        # "Not any" is "no".
        if not token.operator or (token.text.casefold() == "any" and negated):
            continue
        before = token.place and tokens[token.place - 1].kind is Kind.NEGATOR
        # "Need not" denies the need; "must not" is a must.
        need = token.text.casefold() in ("need", "needs")
        behind = tokens[token.place + 1 : token.place + 2]
        if before or (need and behind and behind[0].kind is Kind.NEGATOR):
            denied.add(token.operator)
        else:
            plain.setdefault(token.operator, []).append(token)
    return plain, denied


def _precedes(
    passage: Statement, token: Token, pairs: Mapping[int, Sequence[int]], reach: int = _NEAR
) -> bool:
    """Whether an operator stands shortly before something that the claim says, too."""
    matched = {place for places in pairs.values() for place in places}
    after = [t for t in passage.tokens[token.place + 1 :] if t.says][:reach]
    return any(t.place in matched for t in after if t.clause == token.clause)


def _preceded(passage: Statement, token: Token, pairs: Mapping[int, Sequence[int]]) -> bool:
    """Whether the clause says something of the claim before an operator.

    "It has some columns" is what "it has columns" says; "some columns have it" is less than
    "columns have it".
    """
    matched = {place for places in pairs.values() for place in places}
    return any(
        other.place in matched and other.says and other.clause == token.clause
        for other in passage.tokens[: token.place]
    )
