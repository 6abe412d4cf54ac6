"""Tells whether two sentences give the same parts to the same things.

`A depends on B` and `B depends on A` have all words in common. Where two things change places
around what stands between them, or change partners across a comma, nothing is confirmed; where
one sentence is passive and the other is not, they have to change places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from exactquote_site.knowledge.function_words import (
    CONTRASTS,
    DETERMINERS,
    DIRECTIONS,
)
from exactquote_site.knowledge.statement import Kind, Statement, Token
from exactquote_site.knowledge.stems import stem
from exactquote_site.knowledge.voices import agent_place, is_passive

_BESIDE = 2
# Every pair is looked at; a claim has far fewer words than this.
_WORDS_MAX = 60
_DENIED = 2


def swapped(
    claim: Statement, passage: Statement, pairs: Mapping[int, Sequence[int]]
) -> tuple[Token, Token] | None:
    """Two tokens of the claim whose parts are the other way round in the passage.

    `pairs` gives, for places of the claim, all places in the passage that match them.
    """
    if len(pairs) > _WORDS_MAX:
        return None
    single = {ours: theirs[0] for ours, theirs in pairs.items() if len(theirs) == 1}
    return (
        _crossed(claim, passage, pairs)
        or _mirrored(claim, passage, pairs)
        or _marked_crosswise(claim, passage, single)
        or _turned(claim, passage, pairs)
        or _of_another(claim, passage, pairs)
        or _contrasted(claim, passage, pairs)
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
    claim: Statement, passage: Statement, pairs: Mapping[int, Sequence[int]]
) -> tuple[Token, Token] | None:
    """Two things that change places around a word that stands between them in both."""
    single = {ours: theirs[0] for ours, theirs in pairs.items() if len(theirs) == 1}
    things = [
        place
        for place in sorted(single)
        if claim.tokens[place].says and _is_fixed(claim.tokens[place])
    ]
    directions = DIRECTIONS.get(claim.language, ())
    for x, y in combinations(things, 2):
        if single[x] < single[y] or _marks(claim, (x, y)) == _marks(
            passage, (single[x], single[y])
        ):
            continue
        for between in range(x + 1, y):
            inside = [at for at in pairs.get(between, ()) if single[y] < at < single[x]]
            directs = claim.tokens[between].text.casefold() in directions
            if not inside or not (directs or between in single):
                continue
            if is_passive(claim, between) is not is_passive(passage, inside[0]):
                break
            there = (single[x], inside[0], single[y])
            if _holds_apart(claim, passage, (x, between, y), there):
                return claim.tokens[x], claim.tokens[y]
    return None


def _is_fixed(token: Token) -> bool:
    # An adverb may stand nearly anywhere.
    return not token.text.endswith("ly")


def _marks(statement: Statement, places: tuple[int, int]) -> tuple[str, ...]:
    """The prepositions right before two things; nothing where they don't tell them apart."""
    found = tuple(statement.tokens[place - 1].text.casefold() if place else "" for place in places)
    known = DIRECTIONS.get(statement.language, ())
    told = found[0] != found[1] and any(mark in known for mark in found)
    return found if told else (f"{statement.text}",)


def _holds_apart(
    claim: Statement,
    passage: Statement,
    here: tuple[int, int, int],
    there: tuple[int, int, int],
) -> bool:
    """Whether the word between two things says which of them is which."""
    x, between, y = here
    english = claim.language == "en"
    pivot, other = claim.tokens[between], passage.tokens[there[1]]
    ends = claim.tokens[x], claim.tokens[y]
    # German puts any part of a sentence first; only a name or a preposition between two
    # things says which is which.
    if (
        pivot.text.casefold() in DIRECTIONS.get(claim.language, ())
        and claim.tokens[x - 1].text.casefold() != pivot.text.casefold()
        and _next(claim, between) == y
        and _next(passage, there[1]) == there[0]
    ):
        return True
    apart = between - x > 1 or there[0] - there[1] > 1
    agreed = _has_agent(claim) is _has_agent(passage)
    if pivot.kind is Kind.NAME and apart and agreed and (english or all(map(_is_thing, ends))):
        return True
    named = all(end.kind is Kind.NAME for end in ends)
    together = named or len({claim.tokens[place].clause for place in here}) == 1
    same_word = stem(pivot.text.casefold(), "en") == stem(other.text.casefold(), "en")
    same_word = same_word and _gerund(pivot) is _gerund(other)
    return english and pivot.kind in (Kind.WORD, Kind.FAINT) and together and same_word


def _marked_crosswise(
    claim: Statement, passage: Statement, single: Mapping[int, int]
) -> tuple[Token, Token] | None:
    """Two things whose prepositions change places: "from A to B", "to A from B"."""
    if any(_has_agent(one) for one in (claim, passage)):
        return None
    kinds = (Kind.WORD, Kind.NAME, Kind.FAINT)
    things = [place for place in sorted(single) if claim.tokens[place].kind in kinds]
    for x, y in combinations(things, 2):
        here = _mark(claim, x), _mark(claim, y)
        there = _mark(passage, single[x]), _mark(passage, single[y])
        if here[0] != here[1] and here == there[::-1] and None not in here:
            return claim.tokens[x], claim.tokens[y]
    return None


_CONTRACTED = {"vom": "von", "zum": "zu", "zur": "zu", "ins": "in"}


def _mark(statement: Statement, place: int) -> str | None:
    """The preposition before a thing and its article; "" for an article alone, else None."""
    articles = DETERMINERS.get(statement.language, ())
    mark: str | None = None
    for token in reversed(statement.tokens[max(0, place - _BESIDE) : place]):
        folded = token.text.casefold()
        if folded in DIRECTIONS.get(statement.language, ()):
            return _CONTRACTED.get(folded, folded)
        if folded not in articles:
            return mark
        mark = ""
    return mark


def _has_agent(statement: Statement) -> bool:
    return any(token.text.casefold() == "by" for token in statement.tokens)


def _turned(
    claim: Statement, passage: Statement, pairs: Mapping[int, Sequence[int]]
) -> tuple[Token, Token] | None:
    """A verb with its object, of which the passage makes the subject, or its doer."""
    if claim.language != "en":
        return None
    for place, theirs in sorted(pairs.items()):
        if claim.tokens[place].kind not in (Kind.WORD, Kind.FAINT):
            continue
        object_ = _object(claim, place)
        if object_ is None or object_ not in pairs or is_passive(claim, place):
            continue
        if all(_objects_to(passage, at, pairs[object_]) for at in theirs):
            return claim.tokens[place], claim.tokens[object_]
    return None


def _object(statement: Statement, place: int) -> int | None:
    """The place of a thing that a word has behind it with an article: "owns its parent"."""
    tokens = statement.tokens
    if tokens[place].kind in (Kind.NAME, Kind.FIGURE) or place + 1 >= len(tokens):
        return None
    article = tokens[place + 1]
    if article.text.casefold() not in DETERMINERS.get(statement.language, ()):
        return None
    following = _next(statement, place + 1)
    if following is None or tokens[following].clause != tokens[place].clause:
        return None
    return following


def _objects_to(passage: Statement, at: int, objects: Sequence[int]) -> bool:
    """Whether the word at a place isn't done to any of the objects, but they do it."""
    if is_passive(passage, at):
        agent = agent_place(passage, at)
        return agent is not None and agent in objects
    other = _object(passage, at)
    clause = passage.tokens[at].clause
    near = [place for place in objects if passage.tokens[place].clause == clause]
    return other is not None and bool(near) and all(place < at for place in near)


def _of_another(
    claim: Statement, passage: Statement, pairs: Mapping[int, Sequence[int]]
) -> tuple[Token, Token] | None:
    """A thing and the word behind it, that the passage has behind another thing only."""
    matched = {at: here for here, places in pairs.items() for at in places}
    for name, word in zip(claim.tokens, claim.tokens[1:], strict=False):
        if not name.says or name.place not in pairs or word.place not in pairs:
            continue
        plain = word.kind in (Kind.WORD, Kind.FAINT, Kind.OPERATOR) and _is_fixed(word)
        # A German verb stands beside whatever the sentence begins or ends with.
        if not plain or word.clause != name.clause or not _told_by_place(word, claim.language):
            continue
        beside = [_thing_before(passage, at) for at in _meant(claim, word, pairs)]
        others = [
            at
            for at in beside
            if at is not None
            and at not in pairs[name.place]
            and not _is_beside(at, word.place, pairs)
            and _is_another(claim, passage.tokens[at], name, word, matched.get(at))
        ]
        if beside and len(others) == len(beside):
            return name, word
    return None


def _is_another(claim: Statement, other: Token, name: Token, word: Token, here: int | None) -> bool:
    """Whether a thing of the passage does what in the claim another one does."""
    if here is None or (other.kind is Kind.NAME and name.kind is Kind.NAME):
        joined = here is not None and abs(here - name.place) <= _BESIDE
        return other.kind is Kind.NAME and name.kind is Kind.NAME and not joined
    if word.kind is Kind.OPERATOR or is_passive(claim, word.place) or not _is_fixed(other):
        return False
    elsewhere = claim.tokens[here].half != name.half
    return elsewhere or (here > word.place and _object(claim, word.place) is not None)


def _told_by_place(word: Token, language: str) -> bool:
    return language == "en" or word.text[0].isupper()


def _meant(claim: Statement, word: Token, pairs: Mapping[int, Sequence[int]]) -> Sequence[int]:
    """The places of a word before what follows it in the claim; all, where there are none."""
    following = _next(claim, word.place)
    near = {
        max((at for at in pairs[word.place] if at < end), default=-1)
        for end in pairs.get(-1 if following is None else following, ())
    }
    return sorted(near - {-1}) or pairs[word.place]


def _thing_before(passage: Statement, place: int) -> int | None:
    """The place of a thing right before a word that is said of it."""
    if not place or is_passive(passage, place) or _gerund(passage.tokens[place]):
        return None
    token = passage.tokens[place - 1]
    same = token.clause == passage.tokens[place].clause
    return token.place if token.says and same else None


def _is_beside(name: int, word: int, pairs: Mapping[int, Sequence[int]]) -> bool:
    """Whether the claim has a name of the passage beside a word, too."""
    return any(name in pairs.get(at, ()) for at in (word - 1, word + 1))


def _contrasted(
    claim: Statement, passage: Statement, pairs: Mapping[int, Sequence[int]]
) -> tuple[Token, Token] | None:
    """What the claim has behind "instead of", and the passage elsewhere."""
    denied = set(_denied(passage))
    for place in _denied(claim)[:1]:
        if denied and place in pairs and denied.isdisjoint(pairs[place]):
            return claim.tokens[place], passage.tokens[min(denied)]
    return None


def _denied(statement: Statement) -> list[int]:
    """The places of what stands right behind each "instead of"."""
    places: list[int] = []
    for token in statement.tokens:
        if token.text.casefold() in CONTRASTS:
            behind = [t for t in statement.tokens[token.place + 1 :] if t.says]
            if behind and statement.language == "en" and _gerund(behind[0]):
                behind = behind[1:]
            places += [t.place for t in behind[:_DENIED] if t.clause == behind[0].clause]
    return places


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


def _next(statement: Statement, place: int) -> int | None:
    """The place of the first token behind another that says something."""
    return next((token.place for token in statement.tokens[place + 1 :] if token.says), None)


def _is_thing(token: Token) -> bool:
    """Whether a German word is a noun or a name, which its capital or form tells."""
    return token.kind is not Kind.WORD or token.text[0].isupper()


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
