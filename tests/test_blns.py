"""Strings that are known to break programs, as text, titles, file names and quotes."""

from __future__ import annotations

import html
import json
import re
from functools import cache

import pytest
import yaml

from exactquote.model import CitationFile, Corpus, Diagnostic, Document
from tests.compiling import compiled, corpus_of, final_page, lands_exactly
from tests.shared_data import shared

# Strings that are nothing but white space, invisible characters or controls, or that begin or
# end with marks and joiners where no edge can be foretold, or hold a control that browsers
# search for in different ways. None of them crosses a block.
REFUSED = 21
REFUSED_AS = {"EQ002", "EQ005", "EQ009", "EQ013"}


@cache
def strings() -> tuple[str, ...]:
    found: list[str] = json.loads(shared("suites/blns/blns.json").read_text(encoding="utf-8"))
    # What a file can't hold is refused before a page is made of it, and tested there.
    return tuple(s for s in found if s and "\x00" not in s)


def placed(diagnostics: tuple[Diagnostic, ...]) -> bool:
    return all(d.message and d.place.line > 0 and d.place.column > 0 for d in diagnostics)


@pytest.mark.parametrize("suffix", ["md", "mdx"])
def test_as_page_text(suffix: str) -> None:
    pages = {f"p{n}.{suffix}": f"Before.\n\n{s}\n\nAfter.\n" for n, s in enumerate(strings())}
    made = compiled(corpus_of(pages))
    assert made.counts.documents == len(strings())
    assert placed(made.diagnostics)


@pytest.mark.parametrize("suffix", ["md", "mdx"])
def test_as_titles(suffix: str) -> None:
    pages = {}
    for n, s in enumerate(strings()):
        pages[f"a{n}.{suffix}"] = f"---\ntitle: {json.dumps(s)}\n---\n\nText.\n"
        pages[f"b{n}.{suffix}"] = f"---\ntitle: {s}\nsummary: {s}\n---\n\n# {s}\n"
    made = compiled(corpus_of(pages))
    assert made.counts.documents == len(pages)
    assert placed(made.diagnostics)


def test_as_file_names() -> None:
    documents = [Document(s, f"{s}.md", "markdown", "Text.\n") for s in strings()]
    citations = json.dumps([{"doc": s, "quote": "Text."} for s in strings() if s.strip()])
    made = compiled(Corpus(tuple(documents), (CitationFile("x.citations.json", citations),)))
    assert placed(made.diagnostics)
    hrefs = [verdict.link.href for verdict in made.verdicts if verdict.link]
    assert len(hrefs) > 400
    # An address is plain ASCII without anything that ends it, or the attribute it stands in.
    assert all(re.fullmatch(r"[!-~]+", href) for href in hrefs)
    assert not any(re.search(r"[\"'<>\\^`{|}]", href) for href in hrefs)


@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_as_quotes_in_citation_files(suffix: str) -> None:
    entries = [{"doc": "page", "quote": s, "claim": s} for s in strings()]
    text = json.dumps(entries) if suffix == "json" else yaml.safe_dump(entries)
    pages = corpus_of({"page.md": "The store is small.\n"}).documents
    made = compiled(Corpus(pages, (CitationFile(f"page.citations.{suffix}", text),)))
    assert placed(made.diagnostics)
    # A full stop is on the page, and nothing else of all this.
    assert {v.quote for v in made.verdicts if v.bound} == {"."}
    # Each other one is refused where it stands, or told of as an entry that can't be used.
    heard = [d for d in made.diagnostics if d.code not in ("EQ016", "EQ019", "EQ029")]
    assert len(heard) + 1 == len(entries)


@pytest.mark.parametrize("suffix", ["md", "mdx"])
def test_as_quotes_in_the_text(suffix: str) -> None:
    pages = {}
    for n, s in enumerate(strings()):
        title = s.replace("\\", "\\\\").replace('"', '\\"')
        pages[f"a{n}.{suffix}"] = f'The store is [small](cite:a{n} "{title}").\n'
        pages[f"b{n}.{suffix}"] = f'<Cite doc="{s}" quote="{s}">{s}</Cite> [x](cite:{s} "y")\n'
    made = compiled(corpus_of(pages))
    assert placed(made.diagnostics)
    assert {v.quote for v in made.verdicts if v.bound} == {"."}


def test_quoted_verbatim_from_a_page_that_shows_it() -> None:
    documents, entries = [], []
    for n, s in enumerate(strings()):
        body = f"<p>Before</p><p>{html.escape(s)}</p><p>After</p>"
        page = f"<meta charset=utf-8><title>t</title><main>{body}</main>"
        documents.append(Document(f"p{n}", f"p{n}.html", "html", page))
        entries.append({"doc": f"p{n}", "quote": s})
    sidecar = CitationFile("x.citations.json", json.dumps(entries))
    made = compiled(Corpus(tuple(documents), (sidecar,)))
    bound = [verdict for verdict in made.verdicts if verdict.bound]
    refused = [verdict for verdict in made.verdicts if not verdict.bound]
    # The one that is white space alone is no entry.
    assert len(made.verdicts) == len(strings()) - 1
    assert len(refused) == REFUSED
    assert {verdict.code for verdict in refused} <= REFUSED_AS
    corpus = Corpus(tuple(documents), (sidecar,))
    for verdict in bound:
        assert verdict.link is not None
        assert verdict.quote is not None
        shown = final_page(corpus, made, verdict.doc)
        assert lands_exactly(shown, verdict.link.directive, verdict.quote)
