"""The Markdown reader against CommonMark, its own cases, and input made to break it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from exactquote.model import Article, Document
from exactquote.readers.locate import line_marked_html
from exactquote.readers.markdown import commonmark_parser, parser, read_markdown
from exactquote.settings import LimitSettings, Settings
from tests.hangs import no_hang
from tests.shared_data import shared

FENCE = "~" * 8
SEP = "%%%%"
SPEC = Path(__file__).parent / "spec_markdown"
EXAMPLE = re.compile(rf"^{FENCE} example (\w+)\n(.*?)^{FENCE}$", re.DOTALL | re.MULTILINE)
COMMONMARK = re.compile(r"^`{32} example\n(.*?)^\.\n(.*?)^`{32}$", re.DOTALL | re.MULTILINE)


def read(text: str, settings: Settings | None = None, id: str = "guide/page") -> Article:
    return read_markdown(Document(id, f"{id}.md", "markdown", text), settings or Settings())


def shown(text: str) -> tuple[str, str]:
    """The HTML of a page, and a line for its title, each citation and each fault."""
    article = read(text)
    lines = [f"title {article.title}"] if article.title != "Page" else []
    for w in article.written:
        target = f"#{w.ref}" if w.ref else f"{w.doc} {w.quote!r}"
        lines.append(f"cite {w.place.line}:{w.place.column} {target} <- {w.claim!r}")
    for d in article.diagnostics:
        lines.append(f"{d.code} {d.place.line}:{d.place.column} {d.message}")
    return article.html, "".join(f"{line}\n" for line in lines)


def cases_of(folder: Path) -> list[tuple[str, str, str, str]]:
    cases = []
    for file in sorted(folder.glob("*.md")):
        for found in EXAMPLE.finditer(file.read_text(encoding="utf-8")):
            source, html, notes = found[2].split(f"{SEP}\n")
            cases.append((f"{file.stem}-{found[1]}", source, html, notes))
    return cases


CASES = cases_of(SPEC)


@pytest.mark.parametrize(
    ("source", "html", "notes"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_case(source: str, html: str, notes: str) -> None:
    assert shown(source) == (html, notes)


def visible(html: str) -> str:
    """The text of HTML as a reader sees it, white space collapsed."""
    return " ".join(LexborHTMLParser(f"<body>{html}").text().split())


def commonmark_examples() -> list[tuple[str, str]]:
    text = (shared("suites/commonmark/spec.txt")).read_text(encoding="utf-8")
    return [(a.replace("→", "\t"), b.replace("→", "\t")) for a, b in COMMONMARK.findall(text)]


def test_commonmark_655_of_655() -> None:
    examples = commonmark_examples()
    assert len(examples) == 655
    md = commonmark_parser()
    # The suite's own comparison doesn't tell an empty quote from one with a line end in it.
    wrong = [
        source
        for source, html in examples
        if md.render(source).replace("<blockquote></blockquote>", "<blockquote>\n</blockquote>")
        != html
    ]
    assert wrong == []


def test_the_page_parser_differs_from_commonmark_only_as_it_says() -> None:
    md = parser()
    for source, html in commonmark_examples():
        if re.search(r"<[a-zA-Z!?/]", source):
            continue
        ours = re.sub(r'(<h[1-6]) id="[^"]*"', r"\1", md.render(source))
        ours = ours.replace("<blockquote></blockquote>", "<blockquote>\n</blockquote>")
        assert ours == html.replace("target.md", "target.html")


def test_line_marks_leave_text_and_order_alone() -> None:
    pages = [case[1] for case in CASES] + [source for source, _ in commonmark_examples()]
    for source in pages:
        document = Document("page", "page.md", "markdown", source)
        marked = line_marked_html(document, Settings())
        plain = read_markdown(document, Settings()).html
        assert re.sub(r' data-eq-line="\d+"', "", marked) == plain


def test_line_marks_name_the_line_of_each_block() -> None:
    source = (
        "---\ntitle: T\n---\n# H\n\n- a\n- b\n\n> c\n> d\n\n<div>\n<p>e</p></div>\n\n```\nf\n```\n"
    )
    html = line_marked_html(Document("p", "p.md", "markdown", source), Settings())
    tree = LexborHTMLParser(html)
    lines = {
        node.text(strip=True): node.attributes["data-eq-line"]
        for node in tree.css("[data-eq-line]")
    }
    assert {k: lines[k] for k in ("H", "a", "b", "e", "f")} == {
        "H": "4",
        "a": "6",
        "b": "7",
        "e": "13",
        "f": "15",
    }


def test_built_html_has_no_other_source() -> None:
    assert line_marked_html(Document("a", "a.html", "html", "<p>x</p>"), Settings()) == "<p>x</p>"


TITLES = [
    ("---\ntitle: Front\n---\n# Body\n", "guide/x", "Front", '<h1 id="body">Body</h1>\n'),
    (
        "---\ntitle: Same  words\n---\n# Same words\n",
        "guide/x",
        "Same words",
        '<a id="same-words"></a>\n',
    ),
    ("Text\n\n### Deep\n", "guide/x", "Deep", '<p>Text</p>\n<h3 id="deep">Deep</h3>\n'),
    ("Text\n", "guide/first_steps-now", "First steps now", "<p>Text</p>\n"),
    ("# \n\nText", "über/ß", "ß".upper(), '<h1 id="section"></h1>\n<p>Text</p>\n'),
    ("", "a", "A", ""),
]


@pytest.mark.parametrize(("text", "id", "title", "html"), TITLES)
def test_title(text: str, id: str, title: str, html: str) -> None:
    article = read(text, id=id)
    assert (article.title, article.html) == (title, html)


FRONT = [
    ("summary: S\ndescription: D\nlang: de\n", ("S", "de", False), []),
    ("description: D\nlanguage: fr\ndraft: yes\n", ("D", "fr", True), []),
    ("draft: maybe\n", ("", "en", False), ["EQ017 2:1"]),
    ("title: [a]\ndraft: no\n", ("", "en", False), ["EQ017 2:1"]),
]


@pytest.mark.parametrize(("front", "head", "faults"), FRONT)
def test_head(front: str, head: tuple[str, str, bool], faults: list[str]) -> None:
    a = read(f"---\n{front}---\ntext\n")
    assert (a.summary, a.language, a.draft) == head
    assert [f"{d.code} {d.place.line}:{d.place.column}" for d in a.diagnostics] == faults


def test_footnotes_speak_the_language_of_their_page() -> None:
    html = read("---\nlang: de\n---\nx[^1]\n\n[^1]: y\n").html
    assert 'aria-label="Fußnoten"' in html
    assert 'aria-label="Zurück zum Verweis 1"' in html
    assert "Footnotes" not in html


CONTROLS = [
    ("a\u202eb", ["EQ029 1:2 U+202E (right-to-left override) reorders or hides text"]),
    ("x\n`\u2066`", ["EQ029 2:2 U+2066 (left-to-right isolate) reorders or hides text"]),
    ("x\x00\x1b", ["EQ029 1:2", "EQ029 1:3"]),
    ("é\x85", ["EQ029 1:2"]),
    ("\U000e0041", ["EQ029 1:1 U+E0041 (tag latin capital letter a) reorders or hides text"]),
    ("x\n\n&#x202E; and &#8238;", ["EQ029 3:1", "EQ029 3:14"]),
    ("`&#x202E;` is code", []),
    ("flag \U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", []),
    ("tab\tand family 👩‍👩‍👧 ع b\u00ad", []),
]


@pytest.mark.parametrize(("text", "faults"), CONTROLS)
def test_controls_that_hide_or_reorder(text: str, faults: list[str]) -> None:
    got = [f"{d.code} {d.place.line}:{d.place.column} {d.message}" for d in read(text).diagnostics]
    assert len(got) == len(faults)
    assert all(g.startswith(f) for g, f in zip(got, faults, strict=True)), got
    assert read(text, Settings(hidden_controls=["guide/*"])).diagnostics == ()
    assert len(read(text, Settings(hidden_controls=["other/*"])).diagnostics) == len(faults)


def test_nul_is_shown_as_a_replacement_character() -> None:
    assert read("a\0b").html == "<p>a\ufffdb</p>\n"


DEEP = [
    ("> " * 4 + "ok", 5, []),
    (">" * 5 + " x\n\nafter", 5, [1]),
    ("- " * 2 + "ok", 5, []),
    ("text\n\n" + "- " * 3 + "kept\n\n      tail\n\nafter", 5, [3, 5]),
    ("---\na: b\n---\n\n>>>>>> a", 5, [5]),
    ("a\n" + "[" * 9 + "b" + "]" * 9, 5, [2]),
    ("*a " * 6 + "*a" + "*" * 7, 5, [1]),
    ("*a " * 4 + "*a" + "*" * 5, 5, []),
    ("a\n\n" + "<div>" * 6 + "x", 5, [3]),
    ("a\n\n" + "<div></div>" * 6 + "<li>" * 9, 5, []),
    ("![" * 9 + "b" + "](c)" * 9, 5, [1]),
    (">" * 150 + " a", 1000, [1]),
]


@pytest.mark.parametrize(("text", "limit", "lines"), DEEP)
def test_nesting_beyond_the_limit_is_told_with_its_line(
    text: str, limit: int, lines: list[int]
) -> None:
    article = read(text, Settings(limits=LimitSettings(nesting_max=limit)))
    found = [d.place.line for d in article.diagnostics if d.code == "EQ028"]
    assert found == lines
    words = re.findall("[a-z]{4,}", text.split("---")[-1].replace("div", ""))
    assert all(word in article.html for word in words)


def test_prevents_a_page_made_of_one_address() -> None:
    article = read("[a]: /" + "u" * 30_000 + "\n\n" + "[a] " * 30_000)
    assert [d.code for d in article.diagnostics] == ["EQ024"]
    assert len(article.html) < 2_000_000
    assert visible(article.html).count("a") == 30_000


HOSTILE = {
    "emphasis": lambda n: "*_" * n,
    "nested_brackets": lambda n: "[" * n + "]" * n,
    "open_angles": lambda n: "<" * n,
    "open_pictures": lambda n: "![[" * n,
    "nested_pictures": lambda n: "![" * (n // 4) + "](x)" * (n // 4),
    "backtick_runs": lambda n: "".join("e" + "`" * i for i in range(int((2 * n) ** 0.5))),
    "nested_quotes": lambda n: ">" * n + "a",
    "nested_items": lambda n: "- " * n + "a",
    "quotes_of_90": lambda n: (">" * 90 + "a\n") * (n // 90),
    "references": lambda n: "".join(f"[a{i}]: u{i}\n" for i in range(n // 8)),
    "one_reference": lambda n: "[a]: u\n" * (n // 7),
    "open_links": lambda n: "[a](<b" * n,
    "open_titles": lambda n: "[a](b (t " * n,
    "open_notes": lambda n: "[^a]: x\n\n" + "[^" * n,
    "open_inline_notes": lambda n: "^[" * n,
    "notes": lambda n: "[^a]: x\n\n" + "[^a]" * n,
    "open_comments": lambda n: "x <!--" * n,
    "open_comment_blocks": lambda n: "<!--\n\n" * n,
    "open_attributes": lambda n: '<div x="\n' * n,
    "deep_tags": lambda n: "<div>" * n,
    "deep_inline_tags": lambda n: "<b>a\n\n" * n,
    "scripts": lambda n: "x <script> " * n,
    "unknown_tags": lambda n: "x <T> " * n,
    "addresses": lambda n: "<a@" * n,
    "wide_table": lambda n: "a|" * n + "\n" + "-|" * n + "\n" + "a|" * n,
    "lost_cells": lambda n: "a|b\n-|-\n" + "x|y|z\n" * n,
    "equal_headings": lambda n: "# a\n" * n,
    "equal_ids": lambda n: "# a {#b}\n" * n,
    "long_line": lambda n: "a b " * n,
    "tabs": lambda n: "\t" * n + "a",
    "definitions": lambda n: "a\n: " * n + "b",
    "citations": lambda n: '[a](cite:b "c") ' * n,
    "citation_cells": lambda n: "|a" * n + "|\n" + "|-" * n + "|\n" + '|[a](cite:b "c")' * n + "|",
    "stray_citations": lambda n: "](cite:" * n,
    "overrides": lambda n: "\u202e" * n,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_prevents_time_that_grows_faster_than_the_page(name: str) -> None:
    with no_hang():
        read(HOSTILE[name](8_000))


def test_a_line_of_a_megabyte() -> None:
    article = read("word " * 200_000 + '[c](cite:d "p")')
    assert article.written[0].place.column == 1_000_001
    assert article.diagnostics == ()


def test_naughty_strings_are_read_as_text() -> None:
    for string in (shared("suites/blns") / "blns.txt").read_text("utf-8").split("\n"):
        for text in (string, f"# {string}\n\n- {string}\n\n> {string}", f'[{string}](cite:a "p")'):
            tree = LexborHTMLParser(f"<body>{read(text).html}")
            assert tree.css("script, style, iframe, object, embed, svg, form") == []
            for node in tree.css("body *"):
                assert not any(name.startswith("on") for name in node.attributes)
                for name in ("href", "src"):
                    assert "script:" not in (node.attributes.get(name) or "").lower()[:12]
