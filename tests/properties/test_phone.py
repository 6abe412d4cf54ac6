"""A style sheet never takes a character from a page's text, whatever it does to it on a phone."""

from __future__ import annotations

import random

from bench.landing.pages import make_page
from exactquote.rendered.page import CUT, Page, read_page
from exactquote.rendered.styles import sheet

VIEWPORT = "<!doctype html><meta name=viewport content='width=device-width'>"
TAGS = "p div span b em td tr table li ul details summary pre code button input section q svg"
DECLARATIONS = (
    "display: none",
    "display: block",
    "display: inline",
    "display: contents",
    "display: inline-block",
    "display: flex",
    "float: left",
    "position: absolute",
    "visibility: hidden",
    "white-space: pre",
    "content-visibility: hidden",
    "position: absolute; clip: rect(0 0 0 0)",
)


def test_both_screens_have_the_same_characters_in_the_same_order() -> None:
    responsive = 0
    for number in range(80):
        html = VIEWPORT + make_page(77, number).html
        chosen = random.Random(number)
        rules = "".join(
            f"{chosen.choice(TAGS.split())} {{ {chosen.choice(DECLARATIONS)} }}" for _ in range(4)
        )
        sheets = [sheet(f"@media (max-width: 600px) {{ {rules} }}")]
        desktop = read_page(html, doc="a", path="a.html", sheets=sheets)
        phone = read_page(html, doc="a", path="a.html", sheets=sheets, phone=True)
        assert _characters(desktop) == _characters(phone), rules
        responsive += desktop.responsive and desktop.text != phone.text
    assert responsive > 20


def _characters(page: Page) -> str:
    return "".join(page.text.replace(CUT, " ").split())
