"""What a browser with scripts on makes of `<noscript>`."""

from __future__ import annotations

import pytest

from exactquote.rendered.scripted import parse
from tests.hangs import no_hang

# what a page is, what stays in its body
PAGES = {
    "text": ("a<noscript><p>x</p></noscript>b", "ab"),
    "in capitals": ("a<NOSCRIPT class=y>x</NOSCRIPT >b", "ab"),
    "a hidden box that is never closed": ("<noscript><div hidden></noscript>b", "b"),
    "a comment that ends elsewhere": ("<noscript><!-- </noscript>b<!-- -->c", "bc"),
    "in an attribute's quotation marks": ("<noscript><a title='</noscript>'>b", "'>b"),
    "in a comment": ("<!-- <noscript> -->b<!-- </noscript> -->c", "bc"),
    "behind an empty comment": ("<!--><noscript>x</noscript>b", "b"),
    "in a string of a script": (
        "<script>'<noscript>'</script>b<script>'</noscript>'</script>c",
        "bc",
    ),
    "in a field": ("<textarea><noscript></textarea>b<p></noscript>c", "<noscript>bc"),
    "the name in an attribute": ("<p title='<noscript>'>a</p><p>b</p>", "ab"),
    "an attribute with a bracket": ("<noscript data-a='x>y'>N</noscript><p>b</p>", "b"),
    "another tag that begins so": (
        "<noscript-note>a</noscript-note><title-bar>b</title-bar>c",
        "abc",
    ),
    "a comment in an attribute": ("<a title='<!--'>q</a><noscript>x</noscript>b", "qb"),
    "never closed": ("a<noscript>x<p>y", "a"),
}


@pytest.mark.parametrize(("html", "text"), PAGES.values(), ids=PAGES)
def test_noscript_holds_nothing(html: str, text: str) -> None:
    body = parse(html).body
    assert body is not None
    for node in body.css("script"):
        node.remove()
    assert body.text().strip() == text


@pytest.mark.parametrize(
    "part", ["<!-- <noscript>", "<script><noscript ", "<noscript>", "<noscript <", "<script "]
)
def test_prevents_unclosed_tags_from_taking_squared_time(part: str) -> None:
    with no_hang():
        parse("<noscript></noscript>" + part * 20_000)
