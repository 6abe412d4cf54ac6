"""What the proof says of a link agrees with what browsers were seen to do with it.

`tests/browser/measured.jsonl` holds pages, directives and what Chromium, Firefox and WebKit
made of them. A proof may be too careful; it may never say that a link lands that doesn't.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from exactquote.deeplink.directive import Directive, parse
from exactquote.deeplink.match import land, lands
from exactquote.model import Span
from exactquote.rendered.page import Page, read_page
from exactquote.rendered.styles import sheet

MEASURED = Path(__file__).parent / "browser" / "measured.jsonl"
PAGE = "<!doctype html><html lang=en><body><div class=sp></div>{}<div class=sp></div></body></html>"

CELL = "a lone display: table-cell inside a word is not modelled"
VERTICAL = "a change of writing-mode inside a line is not modelled"

# Rows on which the proof and a browser part, each with its reason.
KNOWN = {
    ("3-opacity0-within", "webkit"): "WebKit is read by its pixels, and these are clear",
    ("3-font-size0-within", "webkit"): "WebKit is read by its pixels, and there are none",
    ("3-slot-within", "webkit"): "a slot has no box of its own, as with display: contents",
    ("3-display-contents-within", "webkit"): "display: contents around whole articles is common",
    ("3-table-cell-before", "firefox"): CELL,
    ("3-table-cell-before", "webkit"): CELL,
    ("3-table-cell-after", "firefox"): CELL,
    ("3-table-cell-after", "webkit"): CELL,
    ("3-writing-mode-spaces-with", "chromium"): VERTICAL,
    ("3-writing-mode-glued-with", "chromium"): VERTICAL,
}


def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in MEASURED.open(encoding="utf-8")]


def page_of(row: dict[str, Any]) -> Page:
    html = PAGE.format(row["html"])
    head = row.get("head", "") + html
    sheets = [sheet(css) for css in re.findall(r"<style[^>]*>(.*?)</style>", head, re.DOTALL)]
    return read_page(html, doc="case", path="case.html", sheets=sheets)


def letters(text: str | None) -> str:
    return "".join(re.sub("[\u00ad\u200b\u2060\ufeff\u200c\u200d]", "", text or "").split())


def proved(row: dict[str, Any]) -> str | None:
    """The text that the proof says every browser lands on; None when it says nothing."""
    page = page_of(row)
    _, directives = parse(row["directive"])
    landing = land(page, directives[0], "any") if len(directives) == 1 else None
    if landing is None or not lands(page, directives[0], landing.span):
        return None
    return page.quote(landing.span.start, landing.span.end)


def test_no_proved_link_was_seen_to_miss() -> None:
    wrong, count = [], 0
    for row in rows():
        text = proved(row)
        if text is None:
            continue
        count += 1
        for browser, result in row["results"].items():
            exact = result["matched"] and (
                # WebKit's painted pixels reach a little over the rims of what it matched.
                browser == "webkit" or letters(result["text"]) == letters(text)
            )
            if result["matched"] is not None and not exact and (row["id"], browser) not in KNOWN:
                wrong.append((row["id"], browser, result.get("text"), text))
    assert wrong == []
    # A proof that proved nothing would pass as well.
    assert count > 200


def test_what_is_known_to_part_still_does() -> None:
    by_id = {row["id"]: row for row in rows()}
    for name, browser in KNOWN:
        assert proved(by_id[name]) is not None, name
        assert not by_id[name]["results"][browser]["matched"], name


# A list, and what begins like one of its marks, which only Firefox finds before the item.
MARKED = [
    ("<ol><li>One</li><li>two</li></ol>", "2", False),
    ("<ol><li>One</li><li>two</li></ol>", "3", True),
    ("<ul><li>One</li><li>two</li></ul>", "2", True),
    ("<ol start=-5><li>One</li></ol>", "-5", False),
    ("<ol start=12345><li>One</li></ol>", "12345", False),
    ("<ol/type=a><li>One</li><li>two</li></ol>", "b", False),
    ("<ol><li>One</li><li>two</li></ol>", "b", True),
    ("<style>ol{counter-reset:list-item 40}</style><ol><li>One</li></ol>", "41", False),
    ("<style>ol{list-style-type:'Note '}</style><ol><li>One</li></ol>", "Note", False),
]


@pytest.mark.parametrize(("html", "start", "links"), MARKED)
def test_no_link_begins_with_the_mark_of_a_list(html: str, start: str, links: bool) -> None:
    page = page_of({"html": f"{html}<p>You see {start} now.</p>"})
    at = page.text.rindex(start)
    assert lands(page, Directive(start), Span(at, at + len(start))) is links
    # With words before it nothing is mistaken for a mark.
    assert lands(page, Directive(start, prefix="You see"), Span(at, at + len(start)))
