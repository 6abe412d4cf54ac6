"""Raw HTML in pages: nothing that runs, nothing that leaks out, no text swallowed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from exactquote.model import Article, Document
from exactquote.readers.markdown import read_markdown
from exactquote.readers.sanitise import TAGS
from exactquote.settings import Settings
from tests.shared_data import shared

ALLOWED = TAGS | {"eq-chip"}


def read(text: str) -> Article:
    return read_markdown(Document("a", "a.md", "markdown", text), Settings())


def check(source: str) -> LexborHTMLParser:
    """Parse the page made of a source in the midst of a site's page; it must not leak out."""
    html = read(source).html
    page = f'<main id="eq-main">{html}</main><p id="eq-after">after</p>'
    tree = LexborHTMLParser(f"<!doctype html><body>{page}")
    after = tree.css_first("#eq-after")
    assert after is not None, html
    assert after.parent is not None, html
    assert after.parent.tag == "body", html
    assert after.text() == "after"
    for node in tree.css("#eq-main *"):
        assert node.tag in ALLOWED, html
        for name, value in node.attributes.items():
            assert not name.startswith("on"), html
            assert "script:" not in (value or "").lower().replace("\t", "")[:12] or name in (
                "alt", "title", "id", "class",
            ), html  # fmt: skip
    return tree


PIECES = [
    "<div>", "</div>", "<p>", "</p>", "<b>", "</b>", "<table>", "<tr>", "<td>", "</table>",
    "<script>", "</script>", "<style>", "</style>", "<title>", "<textarea>", "</textarea>",
    "<plaintext>", "<xmp>", "</xmp>", "<!--", "-->", "<![CDATA[", "]]>", "<?", "?>", "<svg>",
    "<math>", "<template>", "<select>", "<option>", "<a href=javascript:x>",
    "<img src=x onerror=y>",
    '<a title="', '">', "<a '", "</a>", "<eq-chip n=9>", "</main>", "</body>", "<iframe>",
    "<details>", "<li>", "<ul>", "<h1>", "<pre>", "</pre>", "<form>", "<button>", "<noscript>",
    "word", "*em*", "`code`", "\n", "\n\n", " ", "\n> ", "\n- ", "    ", "[l](m.md)", "&lt;", "=",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@settings(max_examples=400, deadline=None)
def test_prevents_html_that_breaks_out_of_its_page(source: str) -> None:
    check(source)


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
@settings(max_examples=200, deadline=None)
def test_prevents_html_that_swallows_what_follows(source: str) -> None:
    text = check(f"{source}\n\n-->\n\n`end-of-page`\n").css_first("body")
    assert text is not None
    # What a page hides on purpose, such as a script with its end, may hold it.
    if "<script>" not in source and "<style>" not in source and "<!--" not in source:
        assert "end-of-page" in text.text()


@given(st.text(alphabet="<>/!-?=\"' abp\n&;", max_size=60))
@settings(max_examples=400, deadline=None)
def test_prevents_tag_soup_that_breaks_out(source: str) -> None:
    check(source)


def test_the_tokenizer_suite_as_raw_html() -> None:
    count = 0
    for file in sorted(shared("suites/html5lib-tokenizer").glob("**/*.test")):
        for case in json.loads(file.read_text("utf-8")).get("tests", []):
            source = case["input"]
            if not isinstance(source, str):
                continue  # A case of the serialiser: tokens, not text.
            if case.get("doubleEscaped"):
                source = source.encode().decode("unicode_escape", "replace")
            source = source.encode("utf-8", "replace").decode("utf-8")
            check(source)
            check(f"<div>{source}\n\nnext")
            count += 1
    assert count > 1_000


TEXTS = [
    ("Use the <title> element.", "Use the <title> element."),
    ("Vec<T> and <unknown>kept</unknown>", "Vec and kept"),
    ("a <script>alert(1)</script> b", "a  b"),
    ("<style>\np { }\n</style>\nx", "x"),
    ("<textarea>typed <b>in</b></textarea>", "typed <b>in</b>"),
    ("a <xmp><b>&amp;</b></xmp> b", "a <b>&amp;</b> b"),
    ("<noscript>shown</noscript>", "shown"),
    ("<select><option>one</select>", "one"),
    ("a <!-- hidden --> b", "a  b"),
    ("a < b > c <3 <- d", "a < b > c <3 <- d"),
    ("<object data=x>fallback</object>", "fallback"),
]


@pytest.mark.parametrize(("source", "text"), TEXTS)
def test_text_that_stays(source: str, text: str) -> None:
    main = check(source).css_first("#eq-main")
    assert main is not None
    assert main.text().strip() == text


def test_without_raw_html_nothing_is_changed() -> None:
    html = read("[x](made-up:y) ![p](data:image/png;base64,AA==)").html
    assert (
        html
        == '<p><a href="made-up:y">x</a> <img src="data:image/png;base64,AA==" alt="p" /></p>\n'
    )


def test_line_marks_of_an_author_do_not_stay() -> None:
    assert "data-eq-line" not in read('<p data-eq-line="9">x</p>').html
