"""The links of the handbook's own build land exactly in real browsers."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from exactquote.browsers.landing import BrowserName
from exactquote.cli.land import Links, draw, links_of_build
from exactquote.config import load_config
from exactquote.disk.corpus import read_corpus
from exactquote.disk.theme import load_theme
from exactquote.model import Build
from exactquote.pipeline import build
from tests.browser.landing import assert_lands

HANDBOOK = Path(__file__).resolve().parents[2] / "corpus"
CITED_MIN = 45
# Of the links that nothing cites so many are drawn; True opens them all, in some minutes.
OPEN_ALL = False
OTHERS = 150
OTHERS_WEBKIT = 25
SEED = 1


@cache
def handbook() -> Build:
    settings, _ = load_config(HANDBOOK)
    return build(read_corpus(HANDBOOK, settings), settings, load_theme())


@cache
def links() -> Links:
    return links_of_build(handbook().build_id, handbook().files)


@pytest.mark.parametrize("browser", ["chromium", "firefox"])
def test_every_cited_link_lands(browser: BrowserName) -> None:
    cited = links().told_apart(links().cited)
    assert len(cited) >= CITED_MIN
    assert_lands(handbook().files, [asked.link for asked in cited], (browser,))


@pytest.mark.parametrize(
    ("browser", "count"),
    [("chromium", OTHERS), ("firefox", OTHERS), ("webkit", OTHERS_WEBKIT)],
)
def test_other_links_land(browser: BrowserName, count: int) -> None:
    others = links().others
    drawn = links().told_apart(draw(others, len(others) if OPEN_ALL else count, SEED))
    assert len(drawn) >= count
    assert_lands(handbook().files, [asked.link for asked in drawn], (browser,))
