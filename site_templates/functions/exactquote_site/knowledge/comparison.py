"""Turns a claim and a passage into what of the claim stands there, is missing, or differs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from exactquote_site.knowledge.compounds import PART_CHARS_MIN
from exactquote_site.knowledge.figures import Figure
from exactquote_site.knowledge.function_words import RATHER_THAN
from exactquote_site.knowledge.negation import denials, undenied
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
        there = _places(token, claim, passage)
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


def _places(token: Token, claim: Statement, passage: Statement) -> Sequence[int]:
    """Where in the passage a token of the claim stands, in whatever form."""
    if token.figure is not None:
        figure = token.figure
        return [other.place for other in passage.tokens if _same_figure(figure, other)]
    places = sorted({place for key in token.keys for place in passage.places.get(key, ())})
    if places or token.kind not in (Kind.WORD, Kind.NAME):
        return places
    return _in_compounds(token, claim, passage)


def _same_figure(ours: Figure, theirs: Token) -> bool:
    other = theirs.figure
    if other is None:
        return ours.soft and theirs.text.casefold() in ("a", "an", "one", "single")
    if ours.unit and other.unit and ours.unit != other.unit:
        return False
    if ours.bound not in (other.bound, "~"):
        return False
    return not ours.readings.isdisjoint(other.readings)


def _in_compounds(token: Token, claim: Statement, passage: Statement) -> Sequence[int]:
    """Places of a compound that is a kind of the word, or of words that the compound is of."""
    word = token.text.casefold()
    if not word.isalpha() or len(word) < PART_CHARS_MIN:
        return ()
    others = [t for t in passage.tokens if t.kind in (Kind.WORD, Kind.NAME, Kind.FAINT)]
    if passage.language == "de":
        for other in others:
            if len(other.text) > len(word) and (
                _ends(other, token) or _begins(other, token, claim)
            ):
                return (other.place,)
    return _parts(word, others) if len(word) >= 2 * PART_CHARS_MIN - 1 else ()


def _ends(compound: Token, token: Token) -> bool:
    """Whether a compound is a kind of what the token says: `Statuscode` is a `Code`."""
    return compound.text.isalpha() and any(
        len(key) >= PART_CHARS_MIN and whole.endswith(key) and len(whole) - len(key) >= 3
        for key in token.keys
        for whole in compound.keys
    )


def _begins(compound: Token, token: Token, claim: Statement) -> bool:
    """Whether a compound is made of the word and of another word of the claim behind it."""
    return compound.text.isalpha() and any(
        len(key) >= PART_CHARS_MIN
        and whole.startswith(key)
        and any(_ends(compound, other) for other in claim.content if other is not token)
        for key in token.keys
        for whole in compound.keys
    )


def _parts(word: str, others: Sequence[Token]) -> Sequence[int]:
    """The places of words that a compound is made of, in any order; () if it isn't."""
    found = []
    rest = word
    for other in sorted(others, key=lambda one: -len(one.text)):
        part = other.text.casefold()
        if len(part) < PART_CHARS_MIN or part == word:
            continue
        for form in (part, *sorted(key for key in other.keys if len(key) >= PART_CHARS_MIN)):
            if form in rest:
                rest = rest.replace(form, " ", 1)
                found.append(other.place)
                break
    linked = all(len(piece) <= 2 for piece in rest.split())
    return found if len(found) > 1 and linked else ()


def _differences(one: Comparison) -> Iterator[str]:
    claim, passage, pairs = one.claim, one.passage, one.pairs
    if passage.asks:
        yield "the passage is a question"
    yield from _figures(passage, one.missing)
    yield from _negations(claim, passage)
    yield from _operators(claim, passage, pairs)
    yield from _opposites(claim, passage)
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
    said = {key for token in claim.tokens for key in token.keys if token.says}
    ours, theirs = undenied(denials(claim), denials(passage), said)
    if ours:
        yield f'the claim says "{_written(ours)}", the passage doesn\'t say it of the same'
    if theirs:
        yield f'the passage says "{_written(theirs)}", the claim doesn\'t say it of the same'


def _written(negator: Token) -> str:
    return negator.text.replace(RATHER_THAN, "rather than")


# What else in a passage is as strong as the operator of a claim, or stronger.
_SATISFIED = {
    "all": {"all"},
    "most": {"most", "all"},
    "many": {"many", "most"},
    "some": {"some", "many", "most", "all"},
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


def _operators(
    claim: Statement, passage: Statement, pairs: Mapping[int, Sequence[int]]
) -> Iterator[str]:
    ours, ours_denied = _operators_of(claim)
    theirs, theirs_denied = _operators_of(passage)
    for operator, token in ours.items():
        wanted = _SATISFIED.get(operator)
        if operator == "should" and passage.instructs:
            continue
        if wanted and theirs.keys().isdisjoint(wanted):
            yield f'the claim says "{token.text}", the passage doesn\'t'
        if operator in theirs_denied and operator not in ours_denied:
            yield f'the passage denies "{token.text}"'
    for operator, token in theirs.items():
        hedged = operator in _HEDGES and ours.keys().isdisjoint(_HEDGES[operator])
        if hedged and (operator == "except" or _precedes(passage, token, pairs)):
            yield f'the passage says "{token.text}", the claim doesn\'t'
        limited = operator in _LIMITS and ours.keys().isdisjoint(_LIMITS[operator])
        headed = operator in ("some", "many") and _preceded(passage, token, pairs)
        if limited and not headed and _precedes(passage, token, pairs, _BESIDE):
            yield f'the passage says it of "{token.text}", the claim of all'


def _operators_of(statement: Statement) -> tuple[dict[str, Token], set[str]]:
    """The operators of a sentence, and which of them it has behind a negation."""
    plain: dict[str, Token] = {}
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
            plain[token.operator] = token
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


_OPPOSITES = tuple(
    tuple(frozenset(side.split()) for side in line.split("/"))
    for line in (
        "enable enables enabled/disable disables disabled",
        "allow allows allowed allowing accept accepts accepted permitted/forbid forbids forbidden"
        " forbidding refuse refuses refused reject rejects rejected prohibited",
        "include includes included/exclude excludes excluded",
        "true/false", "on/off", "with/without", "input/output", "import/export", "first/last",
        "success/error failure", "mutable/immutable", "public/private", "increase/decrease",
        "add adds added/remove removes removed", "open opens opened/close closes closed",
        "start starts started/stop stops stopped", "minimum/maximum", "client/server",
        "synchronous/asynchronous", "encode/decode", "serialize/deserialize", "safe/unsafe",
        "stable/unstable", "necessary/unnecessary", "present/absent", "left/right",
        "same/different",
        "aktiviert aktivieren/deaktiviert deaktivieren", "erlaubt erlauben/verboten verbieten",
        "ein/aus", "mit/ohne", "erste ersten/letzte letzten", "öffnen/schließen",
        "synchron synchrone/asynchron asynchrone", "minimum/maximum", "wahr/falsch",
        "optional optionale optionaler/erforderlich erforderliche erforderlicher",
        "hinzufügen/entfernen", "gültig gültige gültigen/ungültig ungültige ungültigen",
        "gleich gleiche/verschieden verschiedene", "abhängig/unabhängig",
    )
)  # fmt: skip


def _opposites(claim: Statement, passage: Statement) -> Iterator[str]:
    said = {token.text.casefold() for token in passage.tokens}
    claimed = {token.text.casefold() for token in claim.tokens}
    for one, other in _OPPOSITES:
        for here, there in ((one, other), (other, one)):
            mine, yours = (claimed - said) & here, (said - claimed) & there
            if mine and yours and not said & here and not claimed & there:
                yield f'the claim says "{min(mine)}", the passage "{min(yours)}"'


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
