"""Turn files that a test names into a build, and prove the links of that build once more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path

from exactquote.config import load_config
from exactquote.deeplink import match
from exactquote.deeplink.directive import parse
from exactquote.disk.corpus import read_corpus
from exactquote.disk.site_dir import is_site, read_site
from exactquote.disk.theme import load_theme
from exactquote.model import Build, CitationFile, ConfigFile, Corpus, Document, Format
from exactquote.pipeline import build, check_site
from exactquote.rendered.linked import linked_styles
from exactquote.rendered.page import Page, read_page
from exactquote.rendered.styles import sheet
from exactquote.settings import Settings

FORMATS: Mapping[str, Format] = {"md": "markdown", "mdx": "mdx", "html": "html"}

# The day of every run here, by which the age of a review is judged.
TODAY = date(2026, 11, 29)

theme = cache(load_theme)


def corpus_of(files: Mapping[str, str]) -> Corpus:
    """Documents and citation files by path, in the order of a folder that is read."""
    documents, citations = [], []
    for path, text in sorted(files.items()):
        stem, _, suffix = path.rpartition(".")
        if ".citations." in path:
            citations.append(CitationFile(path, text))
        else:
            documents.append(Document(stem, path, FORMATS[suffix], text))
    return Corpus(tuple(documents), tuple(citations))


def compiled(corpus: Corpus, settings: Settings | None = None) -> Build:
    """The build of a corpus, or the report on a built site when all its pages are HTML."""
    settings = settings or Settings()
    if corpus.documents and all(document.format == "html" for document in corpus.documents):
        return check_site(corpus, settings)
    return build(corpus, settings, theme(), today=TODAY)


def compiled_folder(root: Path) -> tuple[Corpus, Build]:
    """What lies in a folder, with its configuration, read and compiled as the command does."""
    settings, source = load_config(root)
    corpus = read_site(root, settings) if is_site(root) else read_corpus(root, settings)
    if source is not None:
        corpus = replace(corpus, config=ConfigFile(source.name, source.read_text("utf-8")))
    return corpus, compiled(corpus, settings)


def final_page(corpus: Corpus, made: Build, doc: str) -> Page:
    """A page as its readers get it: with its chips, or as another generator made it."""
    document = next(d for d in corpus.documents if d.id == doc)
    if document.format == "html":
        sheets = [
            sheet(one.css, media=one.media, layer=one.layer)
            for one in linked_styles(document.text, document.path, corpus.assets)
        ]
        return read_page(document.text, doc=doc, path=document.path, sheets=sheets)
    path = f"{doc}.html"
    html = made.files[path].decode("utf-8")
    return read_page(html, doc=doc, path=path, article_only=True)


def lands_exactly(page: Page, directive: str, quote: str) -> bool:
    """Whether a directive, parsed back, lands in every browser on text that reads as `quote`."""
    _, (found, *rest) = parse(directive)
    if rest:
        return False
    widest = match.land(page, found, "any")
    return (
        widest is not None
        and page.quote(widest.span.start, widest.span.end) == quote
        and match.lands(page, found, widest.span)
    )


def unproved_links(corpus: Corpus, made: Build) -> list[str]:
    """Links of a build that passed which don't land exactly on their quote on the final page."""
    if made.failed:
        return []
    wrong = []
    pages: dict[str, Page] = {}
    for verdict in made.verdicts:
        if verdict.link is None or verdict.quote is None:
            continue
        if verdict.doc not in pages:
            pages[verdict.doc] = final_page(corpus, made, verdict.doc)
        if not lands_exactly(pages[verdict.doc], verdict.link.directive, verdict.quote):
            wrong.append(verdict.link.href)
    return wrong
