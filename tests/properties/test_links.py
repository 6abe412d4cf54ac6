"""What is true of every link into every page."""

from __future__ import annotations

import re
from unittest.mock import patch
from urllib.parse import unquote

from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from exactquote.deeplink import match
from exactquote.deeplink.directive import Directive, encode, fragment, parse
from exactquote.deeplink.generate import NoLink, deep_link, fullest
from exactquote.deeplink.match import land, lands
from exactquote.deeplink.views import BROWSERS
from exactquote.model import DeepLink, Span
from exactquote.rendered.page import CUT, Kind, Page, read_page
from tests.properties.pages import blocks, pages

UNRESERVED = re.compile(r"#[A-Za-z0-9_.~%-]*:~:text=(?:[A-Za-z0-9_.~]|%[0-9A-F]{2}|[,-])+")
TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)


def page_of(html: str) -> Page:
    return read_page(html, doc="page", path="guide/a page.html")


@st.composite
def spans(draw: st.DrawFn) -> tuple[str, Page, Span]:
    """A page and a span of it, from one blank to another, in one block or over several."""
    html = draw(pages())
    page = page_of(html)
    shown = [run for run in page.runs if run.kind is Kind.TEXT]
    assume(shown)
    first = draw(st.integers(0, len(shown) - 1))
    last = draw(st.integers(first, min(len(shown) - 1, first + 2)))
    start = draw(st.sampled_from(rims(page, shown[first].start, shown[first].end)))
    ends = [at for at in rims(page, shown[last].start, shown[last].end) if at > start]
    assume(ends)
    span = Span(start, draw(st.sampled_from(ends)))
    text = page.text[span.start : span.end]
    assume(text == text.strip(f" \t\n\u00a0{CUT}") and text)
    return html, page, span


def rims(page: Page, start: int, end: int) -> list[int]:
    text = page.text
    inner = [at for at in range(start + 1, end) if " " in (text[at - 1], text[at])]
    return [start, *inner, end]


def directive_of(link: DeepLink) -> Directive:
    _, (found,) = parse(link.directive)
    return found


@given(spans())
@settings(max_examples=200)
def test_the_short_cut_for_bare_quotes_says_what_the_whole_search_says(
    made: tuple[str, Page, Span],
) -> None:
    _, page, span = made
    quote = Directive(page.text[span.start : span.end])
    with (
        patch.object(match, "stands_first", return_value=False),
        patch.object(match, "surely_at", return_value=False),
    ):
        whole = lands(page, quote, span)
    short = match.stands_first(match.view(page, "any"), quote.start, span)
    event(f"short cut: {short}, lands: {whole}")
    assert lands(page, quote, span) == whole


@given(spans())
@settings(max_examples=200)
def test_a_link_lands_on_exactly_its_span_in_each_browser(made: tuple[str, Page, Span]) -> None:
    html, page, span = made
    link = deep_link(page, span)
    event("no link" if isinstance(link, NoLink) else "link")
    if isinstance(link, NoLink):
        if link.other is not None:
            taken = land(page, Directive(page.text[span.start : span.end]), "any")
            assert taken is not None
            assert taken.span == link.other != span
        return
    assert UNRESERVED.fullmatch(link.directive)
    assert link.href == "guide/a%20page.html" + link.directive
    anchor = unquote(link.directive[1:].partition(":~:")[0])
    assert not anchor or f"id='{anchor}'" in html
    found = directive_of(link)
    for name in BROWSERS:
        landing = land(page, found, name)
        assert landing is not None
        assert landing.sure
        assert landing.span == span
    # Its words are the page's own, in the page's own case and order.
    for part in (found.prefix, found.start, found.end, found.suffix):
        assert part in page.text
    assert page.text.startswith(found.start, span.start)


@given(spans())
@settings(max_examples=200)
def test_prevents_a_refusal_that_more_context_would_have_spared(
    made: tuple[str, Page, Span],
) -> None:
    _, page, span = made
    if CUT not in page.text[span.start : span.end] and lands(page, fullest(page, span), span):
        assert isinstance(deep_link(page, span), DeepLink)


@given(spans(), blocks())
@settings(max_examples=100)
def test_what_is_added_behind_a_passage_never_moves_its_landing(
    made: tuple[str, Page, Span], more: str
) -> None:
    html, page, span = made
    link = deep_link(page, span)
    assume(isinstance(link, DeepLink))
    assert isinstance(link, DeepLink)
    longer = page_of(html.replace("</main>", f"{more}</main>"))
    assert longer.text.startswith(page.text)
    for name in BROWSERS:
        landing = land(longer, directive_of(link), name)
        assert landing is not None
        assert landing.span == span


@given(TEXTS)
def test_percent_encoding_gives_back_what_it_took(text: str) -> None:
    encoded = encode(text)
    assert unquote(encoded) == text
    assert re.fullmatch(r"(?:[A-Za-z0-9_.~]|%[0-9A-F]{2})+", encoded)


@given(
    TEXTS,
    st.one_of(st.just(""), TEXTS),
    st.one_of(st.just(""), TEXTS),
    st.text("a-:~b", max_size=5),
)
def test_a_directive_is_read_back_as_it_was_written(
    start: str, end: str, context: str, anchor: str
) -> None:
    for directive in (
        Directive(start, end),
        Directive(start, end, prefix=context),
        Directive(start, end, suffix=context),
        Directive(start, end, context, context),
    ):
        for browser in ("", *BROWSERS):
            assert parse(fragment(directive), browser) == ("", (directive,))
        if ":~:" not in anchor:
            assert parse(fragment(directive, anchor)) == (anchor, (directive,))


def test_a_prefix_grows_until_no_picture_has_it() -> None:
    page = page_of(
        "<main><p>A span ends.</p><img alt='The tail sampling processor decides.' src=a.png>"
        "<ul><li>Probabilistic Sampling Processor<li>Tail Sampling Processor</ul></main>"
    )
    start = page.text.index("Tail Sampling")
    link = deep_link(page, Span(start, start + len("Tail Sampling Processor")))
    assert isinstance(link, DeepLink)
    assert directive_of(link).prefix == "Probabilistic Sampling Processor"


def test_code_that_differs_in_spaces_is_told_apart_where_it_has_more_of_them() -> None:
    narrow, wide = "go(1) {\n  one();\n}", "go(1) {\n   one();\n}"
    for first, second, linked in ((narrow, wide, True), (wide, narrow, False)):
        around = "<p>Before.</p><pre>{}</pre><p>After.</p>"
        page = page_of(f"<main>{around.format(first)}{around.format(second)}</main>")
        start = page.text.index(second)
        link = deep_link(page, Span(start, start + len(second)))
        assert isinstance(link, DeepLink) == linked
