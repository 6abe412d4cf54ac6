"""Turns a claim and passages into those passages in which the claim's words stand.

A nearest neighbour is always found; support is not. A passage supports a claim only when one
sentence has the claim's words, names and figures, with the same negations, bounds and
quantities. That proves that the words stand there. It doesn't prove that they are true.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from exactquote_site.knowledge.comparison import compare, stands_whole
from exactquote_site.knowledge.statement import (
    LANGUAGES,
    WEIGHT_MIN,
    Statement,
    Token,
    guessed_language,
    read_statement,
    weight,
)
from exactquote_site.knowledge.stems import primary
from exactquote_site.knowledge.word_forms import keys

LIMIT = (
    "Support means that one passage has the claim's words, names and figures; whether the"
    " passage is true, and means what the claim means, remains for a person to judge."
)
CLAIM_CHARS_MAX = 1_000
NEAREST = 3
NEAR_SHARE = 0.5
# How many passages are taken apart; those with most of the claim's words come first.
JUDGED_MAX = 80

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
    """A passage with what of the claim it has, in the claim's own words."""

    source: Source
    found: tuple[str, ...]
    above: tuple[str, ...]
    missing: tuple[str, ...]
    differs: tuple[str, ...]
    supports: bool

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

    Raises `NoClaim` for a text that has not two words, names or figures that say something.
    """
    if len(claim) > CLAIM_CHARS_MAX:
        raise NoClaim(f"the claim is longer than {CLAIM_CHARS_MAX:,} characters")
    tongue = primary(language) or guessed_language(claim)
    readings = _readings(claim, tongue)
    near = _nearest(readings.values(), passages)
    judged = [one for source in near if (one := _judge(readings, source, tongue)) is not None]
    yes = [one for one in judged if one.supports]
    if yes:
        yes.sort(key=lambda one: (-len(one.found), len(one.source.quote), one.source.id))
        return Support(claim, tuple(yes), ())
    judged.sort(key=lambda one: (-one.share, len(one.source.quote), one.source.id))
    return Support(claim, (), tuple(one for one in judged[:NEAREST] if one.found))


def _readings(claim: str, tongue: str) -> dict[str, Statement]:
    """The claim as a statement of each language that it may be in."""
    tried = (tongue,) if tongue in LANGUAGES else LANGUAGES
    readings = {one: read_statement(claim, one) for one in tried}
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


def _judge(readings: Mapping[str, Statement], source: Source, tongue: str) -> Judged | None:
    """How a passage compares; None where it is of another language or has nothing of the claim."""
    language = primary(source.language) or tongue
    if language and language not in LANGUAGES:
        return _judge_whole(next(iter(readings.values())), source)
    claim = readings.get(language) if language else next(iter(readings.values()))
    if claim is None:
        return None
    headings = heading_keys((source.title, *source.trail), claim.language)
    # Lines are kept in a listing only, and the lines of a listing are no one sentence.
    compared = [
        compare(claim, statement_of(line, claim.language), headings)
        for line in source.quote.splitlines()
    ]
    one = max(compared, key=lambda one: (one.complete, one.share), default=None)
    if one is None or not one.found:
        return None
    # What differs is worth its time only where most of the claim stands.
    differs = one.differences() if one.complete or one.share >= NEAR_SHARE else ()
    return Judged(
        source,
        _texts(one.found),
        _texts(one.above),
        _texts(one.missing),
        differs,
        supports=one.complete and not differs,
    )


def _judge_whole(claim: Statement, source: Source) -> Judged | None:
    said = frozenset(token.text.casefold() for token in claim.tokens)
    there = statement_of(source.quote, claim.language)
    common = said & {token.text.casefold() for token in there.tokens}
    supports = stands_whole(claim.text, source.quote)
    if not common and not supports:
        return None
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
