"""How a page is cut into what is retrieved: nothing lost, nothing twice, headings known."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactquote.chunks import corpus_chunks, page_chunks
from exactquote.config import load_config
from exactquote.disk.corpus import read_corpus
from exactquote.disk.theme import load_theme
from exactquote.model import Passage
from exactquote.passages import passages
from exactquote.pipeline import prove
from exactquote.rendered.page import Page, read_page
from exactquote_site.knowledge.chunk import Chunk, indexed_text

ROOT = Path(__file__).parents[1]
FILLER = "The kiln is fired on Fridays and cools down until the next morning. "
WANTED = 300


def page_of(article: str, title: str = "Kiln") -> Page:
    html = f"<nav><h2>Menu</h2>Home</nav><article><h1>{title}</h1>{article}</article>"
    return read_page(html, doc="kiln", path="kiln.html", title=title, article_only=True)


def cut(article: str, chars: int = WANTED, *, faq: bool = False) -> tuple[Chunk, ...]:
    page = page_of(article)
    return page_chunks(page, passages([page]), chars, faq=faq)


def section(name: str, words: str, level: int = 2) -> str:
    return f'<h{level} id="{name.lower()}">{name}</h{level}><p>{words}</p>'


def long(count: int) -> str:
    return FILLER * count


# article, headings above each chunk, the first words of each chunk's text
CUTS = {
    "a section is a chunk": (
        section("Glaze", long(4)) + section("Clay", long(4)),
        [("Glaze",), ("Clay",)],
        ["The kiln is fired", "The kiln is fired"],
    ),
    "text before the first heading": (
        f"<p>{long(4)}</p>" + section("Clay", long(4)),
        [(), ("Clay",)],
        ["The kiln is fired", "The kiln is fired"],
    ),
    "small siblings are one, under what they have in common": (
        section("Use", long(4))
        + section("Red", "It is as red as any brick.", 3)
        + section("Tan", "It is.", 3),
        [("Use",), ("Use",)],
        ["The kiln is fired", "Red\nIt is as red as any brick.\nTan\nIt is."],
    ),
    "a small section is no cousin of the next": (
        section("Use", long(4))
        + section("Red", "It is as red as any brick.", 3)
        + section("Clay", long(4)),
        [("Use",), ("Use", "Red"), ("Clay",)],
        ["The kiln is fired", "It is as red as any brick.", "The kiln is fired"],
    ),
    "a heading without text goes with what follows": (
        "<h2>Use</h2>" + section("Red", long(4), 3),
        [("Use", "Red")],
        ["The kiln"],
    ),
    "a heading at the very end": (
        f"<p>{long(4)}</p><h2>Clay that nobody has fired</h2>",
        [(), ("Clay that nobody has fired",)],
        ["The kiln", "Clay that nobody has fired"],
    ),
    "a heading of another spelling than the title": (
        section("The kiln", long(4)),
        [("The kiln",)],
        ["The kiln is fired"],
    ),
    "code is text": (
        "<h2>Run</h2><pre>fire --kiln 3\n\ncool --until dawn</pre>",
        [("Run",)],
        ["fire --kiln 3\n\ncool --until dawn"],
    ),
    "a lone number stays with its row": (
        "<h2>Heat</h2><table><tr><th>Cone<th>Degrees<tr><td>six<td>1222</table>",
        [("Heat",)],
        ["Cone\nDegrees\nsix\n1222"],
    ),
    "the menu is no part of it": ("<p>Hot.</p>", [()], ["Hot."]),
}


@pytest.mark.parametrize("name", CUTS)
def test_a_page_is_cut_by_its_headings(name: str) -> None:
    article, trails, texts = CUTS[name]
    chunks = cut(article)
    assert [chunk.trail for chunk in chunks] == trails
    for chunk, text in zip(chunks, texts, strict=True):
        assert chunk.text.startswith(text)
        assert "Menu" not in chunk.text
        assert "Home" not in chunk.text


def test_a_long_section_is_split_between_sentences_into_parts_of_one_size() -> None:
    chunks = cut(section("Glaze", long(13)))
    assert len(chunks) == 4
    assert {chunk.trail for chunk in chunks} == {("Glaze",)}
    assert all(chunk.text.endswith("next morning.") for chunk in chunks)
    assert all(150 < len(chunk.text) <= WANTED for chunk in chunks)
    assert " ".join(chunk.text for chunk in chunks) == long(13).strip()


def test_prevents_a_passage_that_is_cut_in_two_for_the_sake_of_size() -> None:
    line = "fire " * 200
    (chunk,) = cut(f"<pre>{line}</pre>")
    assert chunk.text == line.strip()
    assert len(chunk.text) > WANTED


def test_a_chunk_knows_the_nearest_element_id() -> None:
    chunks = cut(section("Glaze", long(4)) + section("Clay", long(4)))
    assert [chunk.anchor for chunk in chunks] == ["glaze", "clay"]


def test_headings_are_known_and_not_repeated() -> None:
    page = page_of(section("Is it hot? Ask first.", long(4)))
    found = passages([page])
    (chunk,) = page_chunks(page, found, WANTED)
    said = {one.id: one.quote for one in found}
    assert [said[id] for id in chunk.headings] == ["Kiln", "Is it hot?", "Ask first."]
    assert chunk.passages[:3] == chunk.headings
    assert "Ask first" not in chunk.text
    assert indexed_text(chunk).startswith("Kiln\nIs it hot? Ask first.\nThe kiln")


def test_rows_and_definitions_stand_together() -> None:
    page = page_of(
        "<table><tr><th>Month<th>Work</tr><tr><td>March<td>Oil it. Twice.</tr>"
        "<tr><td>May<td>weigh</tr></table><p>Aside.</p>"
        "<dl><dt>slip<dd>Clay in water.<dd>It is thin.</dl>"
    )
    found = passages([page])
    (chunk,) = page_chunks(page, found, WANTED)
    quotes = {passage.id: passage.quote for passage in found}
    assert [[quotes[id] for id in row] for row in chunk.rows] == [
        ["March", "Oil it.", "Twice."],
        ["May", "weigh"],
        ["slip", "Clay in water."],
        ["slip", "It is thin."],
    ]


def test_prevents_a_heading_in_a_cell_from_hiding_its_row() -> None:
    page = page_of("<table><tr><td>March<td><h3>Oil</h3><td>Twice a week.</tr></table>")
    found = passages([page])
    for chunk in page_chunks(page, found, WANTED):
        assert not {id for row in chunk.rows for id in row} & set(chunk.headings)


def test_answers_are_never_merged() -> None:
    article = section("Where", "Here.") + section("When", "Now.")
    assert len(cut(article)) == 1
    answers = cut(article, faq=True)
    assert [(chunk.trail, chunk.text) for chunk in answers] == [
        (("Where",), "Here."),
        (("When",), "Now."),
    ]
    assert all(chunk.faq for chunk in answers)
    assert not cut(article)[0].faq


def test_aliases_are_searched_and_not_shown() -> None:
    page = page_of("<p>Hot.</p>")
    (chunk,) = corpus_chunks(
        [page], passages([page]), WANTED, aliases={"kiln": ("oven", "Brennofen")}
    )
    assert chunk.text == "Hot."
    assert "Brennofen" in indexed_text(chunk)


def test_prevents_passages_of_another_page_from_being_lost_in_silence() -> None:
    page = page_of("<p>Hot.</p>")
    other = passages([page_of(f"<p>{long(3)}</p>")])
    with pytest.raises(ValueError, match="is in no run of kiln"):
        page_chunks(page, other, WANTED)


def test_a_page_without_text_has_no_chunks() -> None:
    page = read_page("<article></article>", doc="a", path="a.html", article_only=True)
    assert page_chunks(page, [], WANTED) == ()


BLOCKS = st.lists(
    st.one_of(
        st.integers(1, 6).map(lambda level: f"<h{level}>Head {level}</h{level}>"),
        st.integers(1, 12).map(lambda count: f"<p>{long(count)}</p>"),
        st.sampled_from(
            [
                "<p>One. Two <b>three</b><br>four. 5.</p>",
                "<pre>a = 1\n\n\nb = 2</pre>",
                "<ul><li>12<li>é ü<li></ul>",
                "<h3></h3>",
                "<h2>7</h2>",
                "<h2>Is it? <em>It is.</em></h2>",
                "<p>x<img alt=y>z</p>",
            ]
        ),
    ),
    max_size=12,
)


@given(BLOCKS, st.integers(100, 2000), st.booleans())
def test_prevents_a_passage_that_is_in_no_chunk_or_in_two(
    blocks: list[str], chars: int, faq: bool
) -> None:
    page = page_of("".join(blocks))
    found = passages([page])
    chunks = page_chunks(page, found, chars, faq=faq)
    assert [id for chunk in chunks for id in chunk.passages] == [one.id for one in found]
    said = {one.id: one.quote for one in found}
    for chunk in chunks:
        assert chunk.text
        assert set(chunk.headings) <= set(chunk.passages)
        for id in set(chunk.passages) - set(chunk.headings):
            assert " ".join(said[id].split()) in " ".join(chunk.text.split())


def test_every_passage_of_the_handbook_is_in_one_chunk_of_about_the_wanted_size() -> None:
    settings, _ = load_config(ROOT / "corpus")
    proof = prove(read_corpus(ROOT / "corpus", settings), settings, load_theme())
    wanted = settings.knowledge.chunk_chars
    chunks = corpus_chunks(proof.pages.values(), proof.passages, wanted, aliases={})
    assert [id for chunk in chunks for id in chunk.passages] == [one.id for one in proof.passages]
    of_doc: dict[str, list[Passage]] = {}
    for one in proof.passages:
        of_doc.setdefault(one.doc, []).append(one)
    assert set(of_doc) == {chunk.doc for chunk in chunks} == set(proof.pages)
    # Line ends between blocks come on top of the size that is aimed at.
    assert max(len(chunk.text) for chunk in chunks) < 1.2 * wanted
