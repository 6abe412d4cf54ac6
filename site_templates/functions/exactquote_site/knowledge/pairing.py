"""Finds where in a passage a word, name or figure of a claim stands, in whatever form."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from exactquote_site.knowledge.compounds import PART_CHARS_MIN
from exactquote_site.knowledge.figures import Figure
from exactquote_site.knowledge.statement import Kind, Statement, Token


def places_of(token: Token, claim: Statement, passage: Statement) -> Sequence[int]:
    """Where in the passage a token of the claim stands, in whatever form."""
    if token.figure is not None:
        figure = token.figure
        return [other.place for other in passage.tokens if _same_figure(figure, other)]
    places = sorted({place for key in token.keys for place in passage.places.get(key, ())})
    if not places and token.kind is Kind.WORD:
        places = _joined(token, claim, passage)
    if token.kind is Kind.NAME or any(passage.tokens[at].kind is Kind.NAME for at in places):
        # `String` and "string" are two things where a passage has both.
        same = [at for at in places if passage.tokens[at].text == token.text]
        places = same or places
    if places or token.kind not in (Kind.WORD, Kind.NAME):
        return places
    return _in_compounds(token, claim, passage)


def _joined(token: Token, claim: Statement, passage: Statement) -> list[int]:
    """Places of a word that is two in the claim: "shut down" where the passage has "shutdown"."""
    around = claim.tokens[max(0, token.place - 1) : token.place + 2]
    pairs = [one.text + other.text for one, other in pairwise(around) if one.clause == other.clause]
    return sorted({at for pair in pairs for at in passage.places.get(pair.casefold(), ())})


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
