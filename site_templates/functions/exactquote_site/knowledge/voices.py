"""Tells whether a verb of a sentence is said of what acts, or of what is acted on.

There is no parser here: a passive is told by its auxiliary, by "by", or by a participle that no
object follows. Where a claim and a passage differ in voice, their parts have to change places.
"""

from __future__ import annotations

import re

from exactquote_site.knowledge.function_words import DETERMINERS, PASSIVE, PASSIVE_AGENT
from exactquote_site.knowledge.statement import Kind, Statement, Token

# How many tokens before a participle its auxiliary stands: "is not always read".
_AUXILIARY_REACH = 3
_AGENT_REACH = 3
_PARTICIPLE = {
    "en": re.compile(
        r"\w+(?:ed|en)\Z|(?:set|put|read|built|sent|kept|held|found|made|run|done|shown|written"
        r"|bound|cut|lost|split|told|thrown|hidden|drawn|known|taken|given|used)\Z"
    ),
    "de": re.compile(r"(?:\w*ge\w{2,}|\w{3,}|\w+iert)(?:t|en|n)\Z"),
}
_OPENS_OBJECT = frozenset(("all", "every", "each", "any", "some", "many", "multiple", "several"))


def is_passive(statement: Statement, place: int) -> bool:
    """Whether the word at a place is said of what is acted on: "is read", "wird gelesen"."""
    word = statement.tokens[place]
    form = _PARTICIPLE.get(statement.language)
    if form is None or not form.fullmatch(word.text.casefold()):
        return False
    return _has_auxiliary(statement, place) or (
        statement.language == "en" and not _has_object(statement, place)
    )


def agent_place(statement: Statement, place: int) -> int | None:
    """The place of the first word of who does it, behind the "by" of a passive."""
    agents = PASSIVE_AGENT.get(statement.language, ())
    for token in statement.tokens[place + 1 : place + 1 + _AGENT_REACH]:
        if token.text.casefold() in agents:
            return next((t.place for t in statement.tokens[token.place + 1 :] if t.says), None)
    return None


def _has_auxiliary(statement: Statement, place: int) -> bool:
    tokens = statement.tokens
    near = list(tokens[max(0, place - _AUXILIARY_REACH) : place])
    if statement.language == "de":
        # "Wird ... gelesen" may have the whole sentence between its two words.
        near = [t for t in tokens if t.clause == tokens[place].clause]
    auxiliary = PASSIVE.get(statement.language, ())
    return any(token.text.casefold() in auxiliary for token in near)


def _has_object(statement: Statement, place: int) -> bool:
    """Whether something that can be an object follows at once."""
    following = statement.tokens[place + 1 : place + 2]
    if not following or following[0].clause != statement.tokens[place].clause:
        return False
    return _opens_object(following[0], statement.language)


def _opens_object(token: Token, language: str) -> bool:
    folded = token.text.casefold()
    adverb = folded.endswith("ly")
    return (
        folded in DETERMINERS.get(language, ())
        or folded in _OPENS_OBJECT
        or (token.kind in (Kind.WORD, Kind.NAME, Kind.FIGURE, Kind.FAINT) and not adverb)
    )
