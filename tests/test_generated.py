"""What style sheets and browsers write into a page by themselves, read off the page's parts."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from exactquote.rendered.generated import labels_of, may_hold, texts_of, written_by
from exactquote.rendered.page import Kind, read_page
from exactquote.rendered.styles import sheet

PAGE = (
    '<p class=x data-note="See also" data-step=2>Text.</p><p data-note=Ask>More.</p>'
    "<input placeholder='Find words'><input type=submit><input type=button value=Go>"
    "<select><optgroup label=Old><option>One</select><details>Hidden.</details>"
)


def texts(css: str) -> set[str]:
    return set(texts_of([written_by(css)], LexborHTMLParser(PAGE)))


@pytest.mark.parametrize(
    ("css", "wanted"),
    [
        ('.x::before{content:"Note: "}', {"Note: "}),
        ('.x::before{content:"a" "b"}', {"ab"}),
        (".x::before{content:none}", set()),
        (".x::before{content:attr(data-note)}", {"See also", "Ask"}),
        ('.x::before{content:"(" attr(data-step) ")"}', {"(2)"}),
        (".x::before{content:attr(data-gone)}", set()),
        (':root{--n:"Tip"}.x::before{content:var(--n)}', {"Tip"}),
        (':root{--n:var(--m);--m:"Tip"}.x::before{content:var(--n) "!"}', {"Tip!"}),
        (":root{--n:var(--n)}.x::before{content:var(--n)}", set()),
        (r".x::before{content:attr(\:odd)}", set()),
        ('ul{list-style-type:"→ "}', {"→ "}),
        ('@counter-style s{prefix:"Step ";symbols:"α" "β";suffix:": "}', None),
    ],
)
def test_what_a_style_sheet_writes(css: str, wanted: set[str] | None) -> None:
    found = texts(css)
    if wanted is None:
        assert {"Step α: ", "Step β: "} <= found
        assert any(may_hold(text, "Step 12: ") for text in found)
    else:
        assert found == wanted


@pytest.mark.parametrize(
    ("css", "part", "held"),
    [
        ('h2::before{content:"Step " counter(n) ". "}', "Step 12.", True),
        ('h2::before{content:"Step " counter(n) ". "}', "12.", True),
        ('h2::before{content:"Step " counter(n) ". "}', "Step x.", False),
        ('h2::before{content:counter(n, lower-roman) ")"}', "iv)", True),
        ('h2::before{content:counters(n, ".")}', "1.2.3", True),
        ('h2::before{content:counters(n, ".")}', "1-2", False),
        ("p::before{content:open-quote}", '"', True),
        ("p::before{content:open-quote}", "a", False),
    ],
)
def test_what_is_filled_in_may_be_any_number(css: str, part: str, held: bool) -> None:
    assert any(may_hold(text, part) for text in texts(css)) is held


@pytest.mark.parametrize(
    ("css", "marks"),
    [
        ("ul{list-style:none}", set()),
        ("ul{list-style:square inside}", {"bullets"}),
        ("ul{list-style-type:decimal}", {"figures"}),
        ("ol ol{list-style:lower-alpha}", {"numerals"}),
        ("ol{list-style-type:cjk-decimal}", {"letters"}),
        ("ol{counter-reset:list-item 6}", {"figures"}),
        (".x{display:list-item}", {"bullets"}),
    ],
)
def test_the_marks_of_lists(css: str, marks: set[str]) -> None:
    assert written_by(css).marks == marks


def test_what_browsers_write_into_fields() -> None:
    found = labels_of(PAGE, LexborHTMLParser(PAGE))
    assert {"Find words", "Submit", "Go", "Old", "Details"} <= found
    assert not labels_of("<p>Text.</p>", LexborHTMLParser("<p>Text.</p>"))


def test_a_chain_of_properties_ends() -> None:
    chain = "".join(f"--a{number}:var(--a{number + 1});" for number in range(5000))
    css = f":root{{{chain}}}.x{{display:var(--a0)}}.x::before{{content:var(--a0)}}"
    page = read_page(PAGE, doc="d", path="p", sheets=[sheet(css)])
    assert page.generated == frozenset()
    assert page.runs[0].kind is Kind.TEXT


def test_properties_made_of_many_others_are_not_put_together_without_end() -> None:
    css = "".join(f".x{{--{a}:{f'var(--{b})' * 100}}}" for a, b in ("ab", "bc", "cd", "de"))
    assert texts(css + ".x{--e:'q'}.x::before{content:var(--a)}") == {"q" * 1000}
