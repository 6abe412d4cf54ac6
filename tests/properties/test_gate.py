"""What is true of every verdict on every page."""

from __future__ import annotations

import json
import re
import unicodedata
from html.parser import HTMLParser
from random import Random

from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from exactquote.model import Build, CitationFile, Corpus, Document
from exactquote.passages import passages
from exactquote.rendered.page import Kind, Page, read_page
from tests.compiling import compiled
from tests.properties.pages import pages

INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")


def page_of(html: str, doc: str = "page") -> Page:
    return read_page(html, doc=doc, path=f"{doc}.html")


def verdicts(html: str, quotes: list[str]) -> Build:
    entries = json.dumps([{"doc": "page", "quote": quote} for quote in quotes])
    documents = (Document("page", "page.html", "html", html),)
    return compiled(Corpus(documents, (CitationFile("page.citations.json", entries),)))


@st.composite
def quotes(draw: st.DrawFn) -> tuple[str, Page, str]:
    """A page and words of one of its runs, from one blank to another."""
    html = draw(pages())
    page = page_of(html)
    shown = [run for run in page.runs if run.kind is Kind.TEXT and not run.pre]
    assume(shown)
    run = draw(st.sampled_from(shown))
    words = page.text[run.start : run.end].split(" ")
    first = draw(st.integers(0, len(words) - 1))
    last = draw(st.integers(first, min(len(words) - 1, first + 6)))
    quote = " ".join(words[first : last + 1])
    assume(quote.strip())
    return html, page, quote


def widest(text: str) -> str:
    """A plain fold of one's own: no case, marks, compatibility forms, or kinds of sign."""
    text = unicodedata.normalize("NFKD", text).casefold()
    text = "".join(c for c in text if unicodedata.category(c) not in ("Mn", "Cf"))
    text = text.translate({**dict.fromkeys(map(ord, "“”«»"), '"'), ord("’"): "'", ord("ł"): "l"})
    return re.sub(r"[\s\x00]+", " ", re.sub("[\u2010-\u2015\u2212]", "-", text))


@given(quotes())
@settings(max_examples=200)
def test_whole_words_that_occur_once_are_bound(made: tuple[str, Page, str]) -> None:
    html, page, quote = made
    # Alternative texts are on no page, and still a browser may find them.
    everything = widest(page.text + " small night hidden words the cache store")
    # "a a" is twice in "a a a".
    wanted = f"(?={re.escape(widest(quote))})"
    assume(len(re.findall(wanted, everything)) == 1)
    # What isn't shown is no part of the text around it.
    parts = (r for r in page.runs if r.kind not in (Kind.HIDDEN, Kind.ALT))
    shown = " ".join(page.text[r.start : r.end] for r in parts)
    assume(len(re.findall(wanted, widest(shown))) == 1)
    # Firefox finds no end of a word behind a mark that it skips.
    assume(unicodedata.category(quote[-1]) != "Mn")
    built = verdicts(html, [quote])
    (verdict,) = built.verdicts
    assert verdict.bound, built.diagnostics
    assert verdict.quote == INVISIBLE.sub("", quote)
    assert verdict.span is not None
    assert page.text[verdict.span.start : verdict.span.end] == quote
    assert built.diagnostics == ()


@given(quotes())
@settings(max_examples=150)
def test_a_shown_quote_is_cut_from_the_page(made: tuple[str, Page, str]) -> None:
    html, page, quote = made
    typed = [quote.upper(), quote.replace(" ", "\n\t "), unicodedata.normalize("NFD", quote)]
    for verdict in verdicts(html, typed).verdicts:
        event("bound" if verdict.bound else str(verdict.code))
        assert verdict.bound == (verdict.quote is not None) == (verdict.code is None)
        if verdict.quote is not None:
            assert verdict.span is not None
            cut = page.text[verdict.span.start : verdict.span.end]
            assert verdict.quote == INVISIBLE.sub("", cut)


@given(quotes(), st.data())
@settings(max_examples=150)
def test_prevents_a_quote_with_one_letter_changed(
    made: tuple[str, Page, str], data: st.DataObject
) -> None:
    html, _, quote = made
    letters = [at for at, c in enumerate(quote) if c.isalpha()]
    assume(letters)
    at = data.draw(st.sampled_from(letters))
    # The letters put in are in no word of any page.
    changed = quote[:at] + data.draw(st.sampled_from("qxzQ9ж文")) + quote[at + 1 :]
    built = verdicts(html, [changed])
    assert built.counts.bound == 0
    assert built.failed


@given(st.lists(pages(), min_size=2, max_size=4), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_passage_ids_are_unique_whatever_the_order_of_the_pages(
    htmls: list[str], random: Random
) -> None:
    made = [page_of(html, f"d{n}") for n, html in enumerate(htmls)]
    found = passages(made)
    assert len({passage.id for passage in found}) == len(found)
    for passage in found:
        page = made[int(passage.doc[1:])]
        assert page.quote(passage.span.start, passage.span.end) == passage.quote
    random.shuffle(made)
    assert passages(made) == found


@given(st.lists(quotes(), min_size=2, max_size=4), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_verdicts_are_the_same_whatever_the_order_of_documents_and_citations(
    made: list[tuple[str, Page, str]], random: Random
) -> None:
    documents = [Document(f"d{n}", f"d{n}.html", "html", m[0]) for n, m in enumerate(made)]
    entries = [{"doc": f"d{n}", "quote": m[2]} for n, m in enumerate(made)]
    entries += [{"doc": "d0", "quote": m[2]} for m in made]
    wanted = outcome(documents, entries)
    random.shuffle(documents)
    random.shuffle(entries)
    assert outcome(documents, entries) == wanted


def outcome(documents: list[Document], entries: list[dict[str, str]]) -> list[tuple[str, ...]]:
    file = CitationFile("d0.citations.json", json.dumps(entries))
    built = compiled(Corpus(tuple(documents), (file,)))
    return sorted(
        (v.doc, v.written.quote, v.id, v.quote or "", v.link.href if v.link else "", v.code or "")
        for v in built.verdicts
    )


class Plain(HTMLParser):
    """The visible text of a page in pieces, as a reader of the standard library sees it."""

    BLOCKS = frozenset(
        "p li h2 blockquote div td dd figcaption section details summary table tr pre main".split()
    )

    def __init__(self, html: str) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._text: list[tuple[str, bool]] = []
        self._hidden: list[str] = []
        self._pre = self._title = False
        self.feed(html)
        self.close()
        self._cut()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("br", "img") or tag in self.BLOCKS or tag == "button":
            self._cut()
        if self._hidden:
            if tag == self._hidden[0]:
                self._hidden.append(tag)
        elif any(name in ("hidden", "style") for name, _ in attrs) or tag == "button":
            self._cut()
            self._hidden.append(tag)
        self._pre = self._pre or tag == "pre"
        self._title = tag == "title"

    def handle_endtag(self, tag: str) -> None:
        if tag in self.BLOCKS:
            self._cut()
        self._pre = self._pre and tag != "pre"
        self._title = False
        if self._hidden and tag == self._hidden[-1]:
            self._hidden.pop()
            self._cut()

    def handle_data(self, data: str) -> None:
        if not self._hidden and not self._title:
            self._text.append((data, self._pre))

    def _cut(self) -> None:
        pre = any(kept for _, kept in self._text)
        text = INVISIBLE.sub("", "".join(data for data, _ in self._text))
        self._text = []
        text = text.strip(" \t\n") if pre else re.sub("[ \t\n]+", " ", text).strip(" ")
        if text.strip():
            self.pieces.append(text)


@given(pages())
@settings(max_examples=150)
def test_the_text_of_a_page_is_what_another_parser_sees(html: str) -> None:
    page = page_of(html)
    shown = [page.quote(run.start, run.end) for run in page.runs if run.kind is Kind.TEXT]
    assert [text.strip(" \t\n") for text in shown] == Plain(html).pieces
