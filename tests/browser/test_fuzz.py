"""Whatever the proof says of links into random pages is what Chromium and Firefox do."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from bench.landing.fuzz import BROWSERS, Case, make_cases, open_cases, story
from bench.landing.look_alikes import KINDS
from bench.landing.pages import CONSTRUCTS, make_page
from tests.browser.landing import Browsers

SEED = 11
CASES = 300
# Of what isn't claimed so many are opened: they wait for what is never found.
REFUSED = 8


@cache
def cases() -> tuple[Case, ...]:
    return tuple(make_cases(SEED, CASES))


def test_prevents_a_link_that_is_proved_and_does_not_land(browsers: Browsers) -> None:
    refused = [case for case in cases() if not case.claimed and not case.freezes]
    opened = [case for case in cases() if case.claimed] + refused[:REFUSED]
    running = {name: browsers[name] for name in BROWSERS}
    asked, _ = open_cases(opened, BROWSERS, running=running)
    assert all(set(one.results) == set(BROWSERS) for one in asked)
    unsafe = [story(one) for one in asked if one.unsafe]
    assert unsafe == []
    # A browser that found whatever it is asked for would pass as well.
    found = [any(r.exact for r in one.results.values()) for one in asked if not one.case.claimed]
    assert not all(found)


def test_prevents_a_generator_that_asks_nothing() -> None:
    ways = Counter((case.way, case.claimed) for case in cases())
    for way in ("link", "directive"):
        assert ways[way, True] >= 0.25 * CASES / 2, ways
        assert ways[way, False] >= 0.15 * CASES / 2, ways
    shapes = Counter(case.shape for case in cases() if case.claimed)
    assert set(shapes) == {"quote", "quote with context", "range", "range with context"}


@pytest.mark.parametrize("construct", [*CONSTRUCTS, *sorted({f"like: {k}" for k in KINDS})])
def test_prevents_a_construct_that_is_never_made(construct: str) -> None:
    assert construct in made()


@cache
def made() -> frozenset[str]:
    pages = [make_page(SEED, number) for number in range(500)]
    return frozenset().union(*(block.constructs for page in pages for block in page.blocks))


def test_the_same_seed_makes_the_same_cases() -> None:
    again = make_cases(SEED, 24)
    assert [case.link for case in again] == [case.link for case in cases()[:24]]
    assert [case.link for case in make_cases(SEED + 1, 24)] != [case.link for case in again]
