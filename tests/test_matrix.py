"""Our matcher against what three browsers were measured to do with text fragments."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import pytest

from exactquote.deeplink.directive import parse
from exactquote.deeplink.match import Landing, land
from exactquote.deeplink.views import BROWSERS, Name
from exactquote.rendered.page import CUT, Kind, Page, read_page
from exactquote.rendered.styles import sheet
from tests.shared_data import shared

AGREEMENT_MIN = 0.95
# The page that each fragment of HTML was put into when it was measured.
PAGE = (
    "<!doctype html><html lang=en><head><meta charset=utf-8><title>case</title>{head}</head>"
    "<body><div class=sp></div>{html}<div class=sp></div></body></html>"
)

_DICTIONARY = "the edge is where a browser's dictionary cuts; not foretold, so never relied on"
_RUBY = "ruby: browsers disagree, so its text is never part of a passage"
_SCRIPT = "the words are put in by a script; what isn't in the HTML isn't proved"
_REPLACED = "a script replaces the text; the page is reported as undoing its links"
_DRAWING = "text of a drawing: browsers disagree, so it is never part of a passage"
_ALT = "alternative text, matched where the picture is missing; not text of the page"

# Every row in which the matcher says less than the browser does, and why.
REASONS: dict[tuple[str, Name], str] = {
    **{("d-cjk-zh", name): _DICTIONARY for name in BROWSERS},
    ("d-cjk-ja-mid", "webkit"): _DICTIONARY,
    ("e-ruby", "firefox"): _RUBY,
    ("e-ruby-incl", "chromium"): _RUBY,
    ("e-ruby-incl", "webkit"): _RUBY,
    ("e-svgtext", "webkit"): _DRAWING,
    ("e-svg-skip", "firefox"): _DRAWING,
    ("e-shadow-slot", "webkit"): "what a shadow host shows is never part of a passage",
    ("e-alt", "firefox"): _ALT,
    **{("e-js-domready", name): _SCRIPT for name in BROWSERS},
    ("e-js-after-load-100", "chromium"): _SCRIPT,
    ("e-js-after-load-100", "webkit"): _SCRIPT,
    ("e-js-after-load-400", "chromium"): _SCRIPT,
    ("e-js-after-load-400", "webkit"): _SCRIPT,
    ("e-js-after-load-700", "webkit"): _SCRIPT,
    ("e-js-after-load-1500", "webkit"): _SCRIPT,
    ("i-hydrate-load", "chromium"): _REPLACED,
    ("i-hydrate-load", "firefox"): _REPLACED,
    ("i-hydrate-300", "chromium"): _REPLACED,
    ("i-hydrate-300", "firefox"): _REPLACED,
}


@dataclass(frozen=True, slots=True)
class Compared:
    """One row in one browser: whether it landed, whether we say so, whether the texts agree."""

    row: str
    browser: Name
    landed: bool
    says: bool
    same_text: bool

    @property
    def agrees(self) -> bool:
        return self.landed == self.says and (not self.landed or self.same_text)


@pytest.fixture(scope="module")
def compared() -> list[Compared]:
    lines = shared("cases/browser-matrix.jsonl").read_text(encoding="utf-8").split("\n")
    return [
        compare(row, page_of(row), browser)
        for row in map(json.loads, filter(None, lines))
        for browser in BROWSERS
        if row["results"].get(browser, {}).get("matched") is not None
    ]


def test_prevents_a_link_that_is_called_sure_where_a_browser_goes_elsewhere(
    compared: list[Compared],
) -> None:
    unsafe = [one for one in compared if one.says and not (one.landed and one.same_text)]
    assert unsafe == []


def test_agrees_with_each_browser(compared: list[Compared]) -> None:
    # Fewer rows than these would be another table than the one that was measured.
    assert len(compared) > 600
    for browser in BROWSERS:
        mine = [one for one in compared if one.browser == browser]
        assert sum(one.agrees for one in mine) / len(mine) >= AGREEMENT_MIN, browser


def test_every_row_that_differs_is_listed_and_no_other(compared: list[Compared]) -> None:
    differing = {(one.row, one.browser) for one in compared if not one.agrees}
    assert differing == REASONS.keys()


def page_of(row: dict[str, Any]) -> Page:
    html = PAGE.format(head=row.get("head", ""), html=row.get("html", row.get("raw")))
    sheets = [sheet(css) for css in re.findall(r"<style[^>]*>(.*?)</style>", html, re.DOTALL)]
    return read_page(html, doc="d", path="d.html", sheets=sheets)


def compare(row: dict[str, Any], page: Page, browser: Name) -> Compared:
    measured = row["results"][browser]
    # WebKit has no range to ask for; a page that scrolled, but painted nothing, went there.
    # Where a script replaced the text, the highlight was there and is lost.
    scrolled = measured["verdict"] == "no+scroll" and not page.hazards
    landed = bool(measured["matched"]) or scrolled
    directives = parse(row["directive"], browser)[1]
    found = [hit for one in directives if (hit := land(page, one, browser)) is not None]
    says = bool(found) and found[0].sure and not page.hazards
    if browser != "chromium":
        # Several fragments are highlighted in the order of the document, but in Chromium.
        found.sort(key=lambda landing: landing.span.start)
    theirs = bare(measured.get("text") or "")
    ours = [bare("".join(pieces(page, found))), bare("".join(quotes(page, found)))]
    # Of WebKit only the painted pixels are known, read as whole lines; and some not at all.
    webkit = browser == "webkit" and any(text in theirs for text in ours)
    same = theirs in ours or webkit or not theirs
    return Compared(row["id"], browser, landed, says, same)


def quotes(page: Page, found: list[Landing]) -> list[str]:
    return [page.text[one.span.start : one.span.end].replace(CUT, " ") for one in found]


def pieces(page: Page, found: list[Landing]) -> list[str]:
    """What is seen of each landing: a range may run over text that isn't shown."""
    return [
        page.text[max(run.start, one.span.start) : min(run.end, one.span.end)]
        for one in found
        for run in page.runs
        if run.kind not in (Kind.ALT, Kind.HIDDEN)
        and run.start < one.span.end
        and run.end > one.span.start
    ]


def bare(text: str) -> str:
    """The text without what a selection may show as white space, cells or not at all."""
    return re.sub("[\\s|\u00ad\u200b\u200d\u2060\ufeff]", "", text)
