"""The pages of the site: the article first, its text as it is, and nothing that runs."""

from __future__ import annotations

import re

import pytest
import tinycss2
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from exactquote.disk import theme
from exactquote.disk.theme import load_theme
from exactquote.emit.navigation import ITEMS_MAX
from exactquote.emit.site import (
    Chip,
    NavItem,
    Row,
    Site,
    SiteContext,
    fill_chips,
    page_path,
    page_url,
)
from exactquote.emit.toc import ENTRIES_MAX, table_of_contents
from exactquote.model import Article, Theme
from exactquote.rendered.page import read_page
from exactquote.rendered.styles import sheet
from tests.hangs import no_hang

THEME = load_theme()
CSS = THEME.assets["assets/site.css"].decode()
HOSTILE = [
    '<eq-chip n="0"></eq-chip>',
    "{{ 7*7 }}{% raw %}{# x #}",
    '"><script>alert(1)</script>',
    "</article></main><nav>",
    "&amp; &lt; &#0;",
    "' onmouseover='x",
    "\\1 \\g<0> $1",
]


def site(*nav: NavItem, base_url: str = "", language: str = "en") -> Site:
    context = SiteContext("The handbook", "What it is.", base_url, language, "b1", nav)
    return Site(THEME, context)


def article(id: str = "guide/setup", html: str = "<p>Body.</p>", **more: str) -> Article:
    return Article(id, f"{id}.md", "markdown", html, **more)


def item(doc: str, title: str = "", summary: str = "") -> NavItem:
    section = doc.rsplit("/", 1)[0] if "/" in doc else ""
    return NavItem(title or doc, page_path(doc), doc, section, summary)


def text(html: str, css: str = "") -> str:
    """The words of one element, white space aside."""
    return " ".join(LexborHTMLParser(html).css_first(css or "article").text().split())


def elements(html: str) -> list[str]:
    return [node.tag for node in LexborHTMLParser(html).root.traverse(include_text=False)]


def links(html: str, css: str) -> dict[str, str]:
    return {
        a.attributes["href"]: a.text(strip=True) for a in LexborHTMLParser(html).css(f"{css} a")
    }


CHIP = Chip("p1", "guide/a.html#:~:text=x", "A quote", "A source")
SAMPLE = """<h2 id="one">One</h2>
<p>Claims <span class="eq-claim">one <em>thing</em></span><eq-chip n="0"></eq-chip>, and
<code>code</code> <kbd>K</kbd> <mark>m</mark> <del>d</del> <sup class="footnote-ref"><a
href="#fn-1">[1]</a></sup> <a href="x">link</a> <strong>s</strong> <abbr title="x">a</abbr>.</p>
<ul class="contains-task-list"><li class="task-list-item"><input type="checkbox"> task</li></ul>
<div class="admonition note"><p class="admonition-title">Note <span>x</span></p><p>x</p></div>
<table><thead><tr><th>a <b>b</b></th></tr></thead><tr><td>c <i>d</i></td></tr></table>
<pre><code>one
  two</code></pre><details><summary>More <q>x</q></summary><p>y <small>z</small></p></details>
<dl><dt>t</dt><dd>d</dd></dl><blockquote><p>q <cite>c</cite></p></blockquote>
<section class="footnotes"><ol><li id="fn-1"><p>n <a class="footnote-backref">b</a></p></li></ol>
</section>"""


def test_the_theme_of_an_installed_package_goes_before_a_checkout(tmp_path, monkeypatch):
    installed = tmp_path / "theme"
    (installed / "pages").mkdir(parents=True)
    (installed / "assets" / "deep").mkdir(parents=True)
    (installed / "pages" / "page.html.j2").write_text("ü", encoding="utf-8")
    (installed / "pages" / "notes.txt").write_text("no template")
    (installed / "assets" / "deep" / "a.png").write_bytes(b"\xff")
    (installed / "assets" / ".hidden").write_bytes(b"")
    (installed / "functions").mkdir()
    beside = ("Dockerfile", "main.py", "requirements.txt")
    for name in (*beside, "other.txt"):
        (installed / "functions" / name).write_text(name)
    (tmp_path / "site" / "serve").mkdir(parents=True)
    (tmp_path / "site" / "serve" / "app.py").write_bytes(b"1")
    (tmp_path / "site" / "serve" / "app.pyc").write_bytes(b"2")
    homes = {"exactquote": tmp_path, "exactquote_site": tmp_path / "site"}
    monkeypatch.setattr(theme, "files", homes.__getitem__)
    assert load_theme() == Theme(
        {"page.html.j2": "ü"},
        {"assets/deep/a.png": b"\xff"},
        {**{name: name.encode() for name in beside}, "exactquote_site/serve/app.py": b"1"},
    )


def test_prevents_a_site_without_templates(tmp_path, monkeypatch):
    monkeypatch.setattr(theme, "files", lambda package: tmp_path)
    monkeypatch.setattr(theme, "__file__", str(tmp_path / "a" / "b" / "c" / "theme.py"))
    with pytest.raises(FileNotFoundError, match="templates"):
        load_theme()


def test_the_article_stands_before_everything_else_that_has_words():
    html = site(item("index"), item("guide/setup", "Setup"), item("guide/b")).render_page(
        article(html='<h2 id="x">Two</h2>\n<p>Body.</p>', title="Setup", summary="In short.")
    )
    body = [child.attributes.get("class") for child in LexborHTMLParser(html).body.iter()]
    assert body == [None, "eq-toc", "eq-turn", "eq-bar", "eq-nav", "eq-foot"]
    assert text(html) == "Setup In short. Two Body."
    assert html.index("Setup</h1>") < html.index("In short.</p>") < html.index("Body.")
    for after in ('class="eq-bar"', 'class="eq-nav"', 'class="eq-foot"', "<footer"):
        assert html.index(after) > html.index("</article>")


def test_the_head_names_build_language_and_summary():
    html = site(base_url="https://ex.org/docs/").render_page(
        article("guide/ü", title="Setup", summary='In "short"', language="de")
    )
    assert html.startswith('<!doctype html>\n<html lang="de">\n')
    assert '<meta name="exactquote-build" content="b1">' in html
    assert '<meta name="description" content="In &#34;short&#34;">' in html
    assert '<link rel="canonical" href="https://ex.org/docs/guide/%C3%BC.html">' in html
    assert "<title>Setup · The handbook</title>" in html
    assert 'href="../assets/site.css"' in html
    assert "assets/site.css" in THEME.assets
    assert "assets/icon.svg" in THEME.assets


def test_without_a_base_url_no_address_is_absolute():
    html = site(item("index"), item("guide/setup")).render_page(article())
    assert "canonical" not in html
    assert not re.search(r'(?:href|src|content)="(?:/|[a-z]+:)', html)


@pytest.mark.parametrize(
    ("language", "attributes"),
    [("en", 'lang="en"'), ("ar-EG", 'lang="ar-EG" dir="rtl"'), ("", 'lang="fr"')],
)
def test_a_page_tells_its_language_and_the_frame_its_own(language, attributes):
    html = site(language="fr").render_page(article(language=language))
    assert f"<html {attributes}>" in html
    assert ('<footer class="eq-foot" lang="en">' in html) == (language != "en")


@pytest.mark.parametrize(
    ("title", "body", "shown"),
    [
        ("Setup", "<p>Body.</p>", "Setup | Summary. | Body."),
        ("Set  up", "<h1 id='a'>Set <em>up</em></h1><p>Body.</p>", "Set up | Summary. | Body."),
        ("A & B", "<h1>A &amp; B</h1><p>Body.</p>", "A & B | Summary. | Body."),
        ("", "<h1>Own</h1><p>Body.</p>", "Own | Summary. | Body."),
        ("Setup", "<h1>Other</h1><p>Body.</p>", "Setup | Summary. | Other | Body."),
        ("", "<p>Body.</p>", "Summary. | Body."),
    ],
)
def test_the_title_is_on_the_page_once(title, body, shown):
    html = site().render_page(article(html=body, title=title, summary="Summary."))
    blocks = LexborHTMLParser(html).css("article > *")
    assert [" ".join(block.text().split()) for block in blocks] == shown.split(" | ")


@pytest.mark.parametrize("words", HOSTILE)
def test_prevents_words_of_the_corpus_from_becoming_markup_templates_or_chips(words):
    hostile = site(item("index", words, words), item("guide/setup", words), item("guide/b", words))
    page = hostile.render_page(article(title=words, summary=words, html="<p>Body.</p>"))
    page = fill_chips(page, {0: CHIP}, "guide/setup.html")
    evidence = hostile.render_evidence(
        [Row(words, words, words, "a.html", "a.html#:~:text=x", "p1", words, "guide/setup.html")]
    )
    calm = site(item("index", "x", "x"), item("guide/setup", "x"), item("guide/b", "x"))
    calm_page = calm.render_page(article(title="x", summary="x", html="<p>Body.</p>"))
    calm_row = Row("x", "x", "x", "a.html", "a.html#:~:text=x", "p1", "x", "guide/setup.html")
    assert elements(page) == elements(calm_page)
    assert elements(evidence) == elements(calm.render_evidence([calm_row]))
    assert elements(hostile.render_home()) == elements(calm.render_home())
    assert LexborHTMLParser(page).css_first("h1").text() == words
    assert LexborHTMLParser(evidence).css_first("blockquote p").text() == words


@given(words=st.text(max_size=40))
@settings(max_examples=50, deadline=None)
def test_a_title_reads_on_the_page_as_it_was_given(words):
    html = site().render_page(article(title=f"a{words}z"))
    # The parser's own rules: NUL is dropped or replaced, and line ends are one character.
    expected = f"a{words}z".replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    assert LexborHTMLParser(html).css_first("h1").text().replace("\ufffd", "") == expected.replace(
        "\ufffd", ""
    )


def test_filled_and_bare_chips_leave_the_page_the_same_text_and_elements():
    page = site().render_page(article(html=SAMPLE, title="Setup"))
    bare, filled = (
        fill_chips(page, {}, "guide/setup.html"),
        fill_chips(page, {0: CHIP}, "x/y/z.html"),
    )
    assert '</span><a class="eq-chip"></a>, and' in bare
    assert (
        '</span><a class="eq-chip" href="../../guide/a.html#:~:text=x" target="_blank"'
        ' rel="noopener" aria-label="“A quote” — A source" title="“A quote” — A source"'
        ' data-cite="p1"></a>, and'
    ) in filled
    assert elements(bare) == elements(filled)
    assert text(bare, "html") == text(filled, "html")
    assert text(bare).startswith("Setup One Claims one thing")
    assert "eq-chip n=" not in bare + filled
    assert site().fill_chips(page, {0: CHIP}, "x/y/z.html") == filled


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("<!-- ", " -->"),
        ("<p title='", "'>"),
        ('<p title="', '">'),
        ("<!-- never closed ", ""),
    ],
)
def test_only_a_sentinel_in_the_flow_of_the_page_becomes_a_chip(before, after):
    sentinel = '<eq-chip n="0"></eq-chip>'
    filled = fill_chips(f"a < b {before}{sentinel}{after} c", {0: CHIP}, "a.html")
    assert (sentinel not in filled) == (before == "")
    assert ('data-cite="p1"' in filled) == (before == "")


@pytest.mark.parametrize(
    "piece",
    ["<", "<!--", "<a '", '<a b="', '<eq-chip n="0">', '<eq-chip n="0"></eq-chip>', "<h2 >"],
)
def test_prevents_a_page_that_takes_for_ever_to_fill(piece):
    hostile = piece * 50_000 + '<eq-chip n="0"></eq-chip>'
    with no_hang():
        assert "eq-chip" in fill_chips(hostile, {}, "a.html")
        assert table_of_contents(hostile) == ()


def test_a_chip_holds_any_quote_and_source():
    chip = Chip("p1", 'a.html#"<', '"><b>', "'<i> & {{ x }}")
    filled = fill_chips('<p><eq-chip n="7"></eq-chip></p>', {7: chip}, "a.html")
    link = LexborHTMLParser(filled).css_first("a")
    assert elements(filled).count("b") + elements(filled).count("i") == 0
    assert link.attributes["title"] == "“\"><b>” — '<i> & {{ x }}"
    assert link.attributes["href"] == 'a.html#"<'


@pytest.mark.parametrize(
    ("doc", "path", "url"),
    [
        ("guide/setup", "guide/setup.html", "guide/setup.html"),
        ("index", "index.html", "index.html"),
        ("a/index", "a/index.html", "a/index.html"),
        ("v1.2", "v1.2.html", "v1.2.html"),
        ("a:b?c#d %", "a:b?c#d %.html", "a%3Ab%3Fc%23d%20%25.html"),
        ("日本", "日本.html", "%E6%97%A5%E6%9C%AC.html"),
    ],
)
def test_a_document_has_a_path_and_a_url(doc, path, url):
    assert page_path(doc) == path
    assert page_url(path) == url
    assert links(site(item(doc, "Here")).render_home(), "article") == {url: "Here"}


def test_the_table_of_contents_has_the_sections_and_no_marks():
    html = (
        '<h1 id="t">T</h1><h3 id="early">Early</h3><h2 id="a">A <em>&amp;</em> b'
        '<eq-chip n="0"></eq-chip><sup class="footnote-ref"><a href="#fn-1">[1]</a></sup></h2>'
        '<h3 id="ü b%">Ü</h3><h4 id="d">D</h4><h2>no id</h2><h2 id="e"><img alt="x"></h2>'
        '<pre>&lt;h2 id="f"&gt;F&lt;/h2&gt;</pre>'
    )
    toc = [(e.label, e.href, [(b.label, b.href) for b in e.below]) for e in table_of_contents(html)]
    assert toc == [
        ("Early", "#early", []),
        ("A & b", "#a", [("Ü", "#%C3%BC%20b%25")]),
    ]
    page = site().render_page(article(html=html))
    assert page.index('id="eq:contents"') > page.index("</article>")
    assert page.count("<eq-chip") == 1


def test_a_page_with_very_many_sections_lists_the_first_level_only():
    html = '<h2 id="a">A</h2>' + '<h3 id="b">B</h3>' * ENTRIES_MAX
    assert [(e.label, e.below) for e in table_of_contents(html)] == [("A", ())]


NAV = (
    item("index", "Home"),
    item("guide/b", "B"),
    item("guide/index", "The guide"),
    item("guide/c", "C"),
    item("text-model/x", "X"),
    item("text-model/y", "Y"),
)


def test_the_navigation_shows_the_sections_and_the_pages_of_the_current_one():
    html = site(*NAV).render_page(article("guide/c"))
    assert links(html, ".eq-nav") == {
        "../index.html": "Home",
        "../guide/index.html": "The guide",
        "../guide/b.html": "B",
        "../guide/c.html": "C",
        "../text-model/x.html": "Text model",
    }
    current = LexborHTMLParser(html).css("[aria-current]")
    assert [a.attributes["href"] for a in current] == ["../guide/c.html"]
    assert links(html, ".eq-turn") == {
        "../guide/index.html": "The guide",
        "../text-model/x.html": "X",
    }


def test_an_open_section_without_a_page_of_its_own_is_no_link():
    html = site(*NAV).render_page(article("text-model/x"))
    assert links(html, ".eq-nav") == {
        "../index.html": "Home",
        "../guide/index.html": "The guide",
        "../text-model/x.html": "X",
        "../text-model/y.html": "Y",
    }
    assert "Text model" in text(html, ".eq-nav")


@pytest.mark.parametrize(
    "docs",
    [
        [f"page-{n}" for n in range(10_000)],
        [f"one/page-{n}" for n in range(10_000)],
        [f"section-{n}/page" for n in range(10_000)],
    ],
    ids=["flat", "one section", "sections"],
)
def test_prevents_navigation_that_grows_with_the_corpus(docs):
    large = site(*(item(doc) for doc in docs))
    for number in (0, 5_000, 9_999):
        html = large.render_page(article(docs[number]))
        assert len(html) < 10_000
        shown = links(html, ".eq-nav")
        assert len(shown) <= ITEMS_MAX + 2
        if "section" not in docs[0]:
            assert shown[f"{'../' * docs[0].count('/')}{docs[number]}.html"] == docs[number]
    middle = links(large.render_page(article(docs[5_000])), ".eq-nav")
    more = {label for label in middle.values() if label.startswith(("Earlier", "Further"))}
    assert len(more) == 2


def test_every_page_is_reached_through_the_navigation():
    docs = [f"page-{n}" for n in range(3 * ITEMS_MAX + 1)]
    flat = site(*(item(doc) for doc in docs))
    seen: set[str] = set()
    reach = {"page-0.html"}
    while reach - seen:
        page = min(reach - seen)
        seen.add(page)
        reach |= links(flat.render_page(article(page.removesuffix(".html"))), ".eq-nav").keys()
    assert {page_path(doc) for doc in docs} <= seen


def test_pages_do_not_depend_on_which_was_rendered_first():
    ids = ["guide/c", "index", "text-model/y", "guide/index"]
    first, second = site(*NAV), site(*NAV)
    forward = {id: first.render_page(article(id)) for id in ids}
    assert forward == {id: second.render_page(article(id)) for id in reversed(ids)}


def test_the_home_page_lists_every_page():
    html = site(*NAV, item("z", "Z", "In short.")).render_home()
    assert set(links(html, "article")) == {page_path(i.doc) for i in NAV} | {"z.html"}
    assert text(html).startswith("The handbook What it is.")
    assert "In short." in text(html)


ROWS = [
    Row("Claim 1.", "Quote 1.", "A", "a.html", "a.html#:~:text=1", "p1", "Setup", "guide/s 1.html"),
    Row("Claim 2.", "Quote 2.", "A", "a.html", "a.html#:~:text=2", "p2", "Other", "other.html"),
    Row("Claim 3.", "Quote 1.", "A", "a.html", "a.html#:~:text=1", "p1", "Setup", "guide/s 1.html"),
    Row("", "Quote 4.", "B", "b.html", "b.html#:~:text=4", "p4", "", ""),
]


def test_evidence_lists_every_claim_by_its_page():
    html = site(*NAV).render_evidence(ROWS)
    tree = LexborHTMLParser(html)
    assert [
        (
            section.css_first("h2").text(strip=True),
            [" ".join(li.text().split()) for li in section.css("li")],
        )
        for section in tree.css("article section")
    ] == [
        (
            "Setup",
            ["Claim 1. Quote 1. A Show in place p1", "Claim 3. Quote 1. A Show in place p1"],
        ),
        ("Other", ["Claim 2. Quote 2. A Show in place p2"]),
        ("Not on a page", ["Quote 4. B Show in place p4"]),
    ]
    assert {a.attributes["href"] for a in tree.css("article a")} == {
        "guide/s%201.html",
        "other.html",
        "a.html",
        "b.html",
        *(row.link_href for row in ROWS),
    }
    ids = [node.attributes["id"] for node in tree.css("[id]")]
    assert len(ids) == len(set(ids))
    assert "4 claims, 2 sources." in text(html)


def test_evidence_says_what_it_does_not_prove():
    for rows in (ROWS, []):
        assert "no proof that a passage supports the claim" in text(site().render_evidence(rows))
    assert "No claim on this site cites a source yet." in text(site().render_evidence([]))


@pytest.mark.parametrize(("base_url", "root"), [("", ""), ("https://ex.org/docs", "/docs/")])
def test_the_page_for_unknown_addresses_has_links_that_hold_anywhere(base_url, root):
    html = site(*NAV, base_url=base_url).render_not_found()
    assert f'href="{root}assets/site.css"' in html
    assert f'href="{root}index.html"' in html
    assert "canonical" not in html


def test_nothing_on_any_page_runs_or_is_styled_in_line():
    one = site(*NAV)
    for html in (
        one.render_page(article(html=SAMPLE, title="T", summary="S")),
        one.render_home(),
        one.render_evidence(ROWS),
        one.render_not_found(),
    ):
        assert not re.search(
            r"<(?:script|style|iframe|base)\b| style=| on[a-z]+=|javascript:", html
        )
    assert "@import" not in CSS
    assert "url(" not in CSS


def test_prevents_a_style_that_would_cut_a_sentence():
    html = fill_chips(
        site(*NAV).render_page(article(html=SAMPLE, title="T", summary="S")), {0: CHIP}, "a.html"
    )
    plain = read_page(html, doc="a", path="a", article_only=True)
    styled = read_page(html, doc="a", path="a", article_only=True, sheets=[sheet(CSS)])
    of_article = [
        [page.text[run.start : run.end] for run in page.runs if run.kind == 0]
        for page in (plain, styled)
    ]
    assert of_article[0] == of_article[1]
    assert "Claims one thing, and code K m d [1] link s a." in of_article[0]


def colours(css: str) -> dict[str, str]:
    return dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", css))


def contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        red, green, blue = (
            p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_what_is_behind_them(scheme):
    light_css, dark_css = CSS.split("@media (prefers-color-scheme: dark)", 1)
    palette = colours(light_css)
    if scheme == "dark":
        palette = palette | colours(dark_css)
    pairs = [
        (ink, paper)
        for paper in ("paper", "raised", "aim")
        for ink in ("ink", "soft", "link", "note", "tip", "warn", "danger")
    ]
    pairs += [("link", "chip"), ("mark-ink", "mark"), ("paper", "link")]
    poor = {pair: contrast(palette[pair[0]], palette[pair[1]]) for pair in pairs}
    assert {pair: ratio for pair, ratio in poor.items() if ratio < 4.5} == {}


def test_the_stylesheet_can_be_parsed_to_the_last_rule():
    def errors(nodes: list[object]) -> list[str]:
        found = [node.message for node in nodes if node.type == "error"]
        for node in nodes:
            if getattr(node, "content", None):
                found += errors(tinycss2.parse_blocks_contents(node.content, True, True))
        return found

    assert errors(tinycss2.parse_stylesheet(CSS, skip_comments=True, skip_whitespace=True)) == []
    for wanted in ("::target-text", ":focus-visible", "prefers-reduced-motion", "@media print"):
        assert wanted in CSS
