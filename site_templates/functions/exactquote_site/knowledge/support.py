"""Turns a claim and passages into those passages in which the claim's words stand.

A nearest neighbour is always found; support is not. A passage supports a claim only when one
sentence has the claim's words, names and figures, with the same negations, bounds and
quantities; a word may be replaced by one that is near in meaning. That proves that the words
stand there. It doesn't prove that they are true.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from exactquote_site.knowledge.comparison import Comparison, compare, stands_whole
from exactquote_site.knowledge.decision import (
    ALIKE_MIN,
    BUDGET,
    LIGHT,
    doubt,
    doubts,
    told_exchange,
)
from exactquote_site.knowledge.function_words import LIGHT_WORDS
from exactquote_site.knowledge.likeness import learn, nearest
from exactquote_site.knowledge.statement import (
    LANGUAGES,
    WEIGHT_MIN,
    Kind,
    Statement,
    Token,
    guessed_language,
    read_statement,
    weight,
)
from exactquote_site.knowledge.stems import primary
from exactquote_site.knowledge.word_forms import keys

LIMIT = (
    "Support means that one passage has the claim's words, or words near in meaning, and its names"
    " and figures; whether the passage is true, and means what the claim means, remains for a"
    " person to judge."
)
CLAIM_CHARS_MAX = 1_000
NEAREST = 3
NEAR_SHARE = 0.5
# How many passages are taken apart; those with most of the claim's words come first.
JUDGED_MAX = 80

# By how much a sentence that contradicts the claim has to be closer to it than one that says it.
_MUCH_CLOSER = 0.19
# What a word that is found in a near one alone takes off.
_PER_STRANGE = 0.25
# A command in a listing states nothing, though a claim may be its argument.
_COMMAND = "$ "
_IDENTIFIER = re.compile(r"[\d_.:]|[a-z][A-Z]")
# A sentence of a script without spaces looks like one word.
_SPACELESS = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff]{4}")
_PLAIN_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Source:
    """A passage of a build, with the headings that it stands under, outermost first."""

    id: str
    quote: str
    doc: str
    title: str
    href: str
    language: str = ""
    trail: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """A passage with what of the claim it has, in the claim's own words.

    `doubt` is the weighted sum of what makes support doubtful, 0 for none.
    """

    source: Source
    found: tuple[str, ...]
    above: tuple[str, ...]
    missing: tuple[str, ...]
    differs: tuple[str, ...]
    supports: bool
    doubt: float = 0.0

    @property
    def share(self) -> float:
        """The part of the claim's words that the passage and its headings have."""
        found = len(self.found) + len(self.above)
        return found / max(1, found + len(self.missing))


@dataclass(frozen=True, slots=True)
class Support:
    """The passages that support a claim, best first; if there are none, the nearest ones."""

    claim: str
    supporting: tuple[Judged, ...]
    nearest: tuple[Judged, ...]
    limit: str = LIMIT

    @property
    def supported(self) -> bool:
        """Whether any passage supports the claim."""
        return bool(self.supporting)


class NoClaim(ValueError):
    """The text is empty, too long, or says too little to be looked for."""


def support(claim: str, passages: Sequence[Source], language: str = "") -> Support:
    """Which passages support the claim; `language` is the claim's, guessed when "".

    Raises `NoClaim` for a text that has not two words, names or figures that say something,
    and `EmbedderUnfit` where a word isn't found and the encoder that knows words near to it
    can't be loaded.
    """
    tongue = primary(language) or guessed_language(claim)
    readings = _readings(claim, tongue)
    near = _nearest(readings.values(), passages)
    compared = [_compare(readings, source, tongue) for source in near]
    every = [one for lines in compared for one in lines or ()]
    _learn_words(every)
    denial = closest_denial(every)
    judged = []
    for source, lines in zip(near, compared, strict=True):
        if lines is None:
            judged.append(_judge_whole(next(iter(readings.values())), source))
        elif lines:
            each = [_judge(source, one, denial) for one in lines]
            judged.append(max(each, key=lambda one: (one.supports, one.share, -one.doubt)))
    yes = [one for one in judged if one.supports]
    if yes:
        yes.sort(key=lambda one: (one.doubt, -len(one.found), len(one.source.quote), one.source.id))
        return Support(claim, tuple(yes), ())
    no = [one for one in judged if one.found]
    no.sort(key=lambda one: (-one.share, len(one.source.quote), one.source.id))
    return Support(claim, (), tuple(no[:NEAREST]))


def comparisons(
    claim: str, passages: Sequence[Source], language: str = ""
) -> list[tuple[Source, Comparison]]:
    """The claim beside each sentence that is near it, of English and German alone."""
    tongue = primary(language) or guessed_language(claim)
    readings = _readings(claim, tongue)
    return [
        (source, one)
        for source in _nearest(readings.values(), passages)
        for one in _compare(readings, source, tongue) or ()
    ]


def _readings(claim: str, tongue: str) -> dict[str, Statement]:
    """The claim as a statement of each language that it may be in."""
    if len(claim) > CLAIM_CHARS_MAX:
        raise NoClaim(f"the claim is longer than {CLAIM_CHARS_MAX:,} characters")
    tried = (tongue,) if tongue in LANGUAGES else LANGUAGES
    readings = {one: read_statement(claim, one) for one in tried}
    if all(one.asks for one in readings.values()):
        raise NoClaim("a question is no claim; `exactquote ask` looks for its answer")
    said = any(one.content and weight(one.tokens) >= WEIGHT_MIN for one in readings.values())
    if not said and not _SPACELESS.search(claim):
        raise NoClaim("the claim needs two words, names or figures at least that say something")
    return readings


def _nearest(claims: Iterable[Statement], passages: Sequence[Source]) -> list[Source]:
    """The passages with most of the claim's words, since taking a sentence apart takes long."""
    if len(passages) <= JUDGED_MAX:
        return list(passages)
    wanted = {claim.language: {key for t in claim.content for key in t.keys} for claim in claims}
    shared = [
        sum(
            not keys(word, tongue).isdisjoint(said)
            for word in set(_PLAIN_WORD.findall(source.quote.casefold()))
            for tongue, said in wanted.items()
        )
        for source in passages
    ]
    order = sorted(range(len(passages)), key=lambda i: (-shared[i], len(passages[i].quote), i))
    return [passages[i] for i in order[:JUDGED_MAX]]


def _compare(
    readings: Mapping[str, Statement], source: Source, tongue: str
) -> list[Comparison] | None:
    """The claim beside each sentence of a passage; None where words can't be compared."""
    language = primary(source.language) or tongue
    if language and language not in LANGUAGES:
        return None
    claim = readings.get(language) if language else next(iter(readings.values()))
    if claim is None:
        return []
    headings = heading_keys((source.title, *source.trail), claim.language)
    # Lines are kept in a listing only, and the lines of a listing are no one sentence.
    lines = [
        compare(claim, statement_of(line, claim.language), headings)
        for line in source.quote.splitlines()
        if not line.startswith(_COMMAND)
    ]
    return [one for one in lines if one.found]


def _learn_words(compared: Iterable[Comparison]) -> None:
    """Make the vectors of all words together that have to be told near or far."""
    learn(
        token
        for one in compared
        if one.missing and _may_support(one)
        for token in (*(t.text for t in one.missing), *_words_of(one.free))
    )


def _words_of(tokens: Iterable[Token]) -> list[str]:
    """What a vector can tell of: `borrow_mut` is no kind of "borrow"."""
    return [
        token.text
        for token in tokens
        if token.kind is not Kind.NAME or not _IDENTIFIER.search(token.text)
    ]


def _may_support(one: Comparison) -> bool:
    """Whether the passage supports the claim if each missing word has a near one in it."""
    if one.share < NEAR_SHARE or len(one.missing) > len(one.free) or one.contradictions:
        return False
    return doubt(one, {token.text: 1.0 for token in one.missing}) <= BUDGET


def closest_denial(compared: Iterable[Comparison]) -> float:
    """How close the closest sentence comes that has all words of the claim and contradicts it.

    Between 0 and 1, as `closeness` is; 0 for none. One with another name or figure doesn't
    contradict the claim: it may be said of both.
    """
    whole = (one for one in compared if not one.missing and not one.above)
    return max((closeness(one) for one in whole if one.contradictions), default=0.0)


def closeness(one: Comparison, alike: Mapping[str, float] | None = None) -> float:
    """What part of the claim's words a sentence has in the claim's order, 1 for all of them.

    Words that are only near to one of the sentence, as `alike` says, take something off.
    """
    strange = doubts(one, alike)["strange"] if alike else 0.0
    return one.exchange.order - _PER_STRANGE * strange


def denied(one: Comparison, alike: Mapping[str, float], denial: float) -> bool:
    """Whether another sentence comes much closer to the claim and contradicts it.

    "It must match" is found in a sentence on matching, but another one says: "it needn't match".
    """
    return denial - closeness(one, alike) > _MUCH_CLOSER


def likenesses(one: Comparison) -> dict[str, float]:
    """How near each missing word is to the passage; words that are near nothing are left out."""
    words = [token.text for token in one.missing]
    free = _words_of(one.free)
    near = dict(zip(words, nearest(words, free), strict=True))
    light = LIGHT_WORDS.get(one.claim.language, ())
    for word in words:
        if word.casefold() in light:
            near[word] = max(near[word], LIGHT)
    return {word: found for word, found in near.items() if found >= ALIKE_MIN}


def _judge(source: Source, one: Comparison, denial: float) -> Judged:
    may = _may_support(one)
    alike = likenesses(one) if may and one.missing else {}
    said = {token.text for token in one.found} | alike.keys()
    found = [token.text for token in one.claim.content if token.text in said]
    missing = [token for token in one.missing if token.text not in alike]
    doubtful = doubt(one, alike) if may and not missing else math.inf
    supports = doubtful <= BUDGET
    differs: tuple[str, ...] = ()
    if supports and denied(one, alike, denial):
        supports = False
        differs = ("another passage comes closer to the claim, and contradicts it",)
    elif not supports and one.share >= NEAR_SHARE:
        # What differs is worth its time only where most of the claim stands.
        differs = tuple(dict.fromkeys(_reasons(one, bool(missing))))
    return Judged(
        source,
        tuple(dict.fromkeys(found)),
        _texts(one.above),
        _texts(missing),
        differs,
        supports,
        doubtful,
    )


def _reasons(one: Comparison, missing: bool) -> Iterator[str]:
    """Why a passage doesn't support the claim, in words."""
    operators, exchange = one.operators, one.exchange
    yield from (
        *one.contradictions,
        *operators.contrary,
        *operators.absent,
        *operators.elsewhere,
        *operators.limits,
    )
    if told_exchange(exchange):
        yield f"{exchange.one} and {exchange.other} change places in the passage"
    elif one.crossed:
        yield "what it is from, to, in or of changes places in the passage"
    elif not missing and not one.contradictions:
        yield "what was found is too little, or stands too far apart, to say it"


def _judge_whole(claim: Statement, source: Source) -> Judged:
    said = frozenset(token.text.casefold() for token in claim.tokens)
    there = statement_of(source.quote, claim.language)
    common = said & {token.text.casefold() for token in there.tokens}
    supports = stands_whole(claim.text, source.quote)
    found = [token for token in claim.tokens if supports or token.text.casefold() in common]
    missing = [token for token in claim.tokens if token not in found]
    differs = () if supports or missing else ("the words don't stand together, as a clause",)
    return Judged(source, _texts(found), (), _texts(missing), differs, supports)


@lru_cache(maxsize=1 << 12)
def statement_of(quote: str, language: str) -> Statement:
    """A passage as a statement; a serving process asks for the same ones again and again."""
    return read_statement(quote, language)


@lru_cache(maxsize=1 << 10)
def heading_keys(headings: tuple[str, ...], language: str) -> frozenset[str]:
    """The keys of the words and names of headings. Figures must stand in the sentence."""
    return frozenset(
        key
        for heading in headings
        for token in read_statement(heading, language).content
        for key in token.keys
    )


def _texts(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(token.text for token in tokens))
