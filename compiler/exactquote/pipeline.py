"""Turn a corpus into a build: pages, verdicts on every citation, and the files of the site.

Pure: what it reads comes in as values and what it makes goes out as bytes. Nothing is made
when an error was found.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fnmatch import fnmatchcase
from functools import cached_property, partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from exactquote import __version__
from exactquote.checks import (
    breaks_links,
    charset,
    dead_links,
    fails_on_phone,
    refusal_changed,
    reviews,
    unread_sheet,
)
from exactquote.checks import corpus as corpus_checks
from exactquote.checks.places import Places
from exactquote.checks.site import Site
from exactquote.checks.verdicts import judge
from exactquote.deeplink.generate import NoLink, deep_link, section_link
from exactquote.emit import collisions
from exactquote.emit.allowlist import allowlist_files
from exactquote.emit.blocks import block_link, give_ids
from exactquote.emit.chips import Chip, fill_chips
from exactquote.emit.indexes import index_files
from exactquote.emit.manifest import build_json
from exactquote.emit.site import NavItem, Row, SiteContext, page_path, page_url
from exactquote.emit.site import Site as Pages
from exactquote.model import (
    AllowEntry,
    Article,
    Build,
    Corpus,
    Counts,
    Diagnostic,
    Document,
    Passage,
    Severity,
    Theme,
    Verdict,
    Written,
)
from exactquote.passages import citable_spans, passages
from exactquote.readers.controls import hidden_controls
from exactquote.readers.sidecar import read_sidecar
from exactquote.rendered.page import Page, read_page
from exactquote.rendered.styles import Sheet, sheet
from exactquote.settings import Settings

if TYPE_CHECKING:
    from exactquote_site.knowledge.embedders import Embedder

Progress = Callable[[str, int, int], None]

_PANEL_ASSETS = "assets/ask."


def check(
    corpus: Corpus,
    settings: Settings,
    theme: Theme,
    progress: Progress | None = None,
    *,
    today: date | None = None,
) -> Build:
    """Prove every citation of a corpus on the pages that `build` would make of it.

    `today` judges the age of reviews; without it no review is too old or yet to come.
    """
    return _Run(corpus, settings, theme, progress or _silent, today).check()


def build(
    corpus: Corpus,
    settings: Settings,
    theme: Theme,
    progress: Progress | None = None,
    *,
    embedder: Embedder | None = None,
    today: date | None = None,
) -> Build:
    """Prove every citation, and make the site if there is no error.

    Without an `embedder` the knowledge base has words alone, and its header says so. Passes
    on what the embedder raises. `today` is as for `check`, and changes no file.
    """
    from exactquote_site.knowledge.words import fingerprint

    index = f"{fingerprint()} {embedder.id if embedder else ''}"
    return _Run(corpus, settings, theme, progress or _silent, today, embedder, index).build()


def prove(
    corpus: Corpus, settings: Settings, theme: Theme, progress: Progress | None = None
) -> Proof:
    """The pages and passages of a corpus with all verdicts, for whoever looks closer."""
    return _Run(corpus, settings, theme, progress or _silent).prove()


def check_site(corpus: Corpus, settings: Settings, progress: Progress | None = None) -> Build:
    """Prove citations against pages that another generator built."""
    return _Run(corpus, settings, None, progress or _silent).check()


@dataclass(frozen=True)
class Proof:
    """What the checks found; the site is made from it. `raw` are pages with chip sentinels."""

    articles: Mapping[str, Article]
    drafts: Mapping[str, str]
    pages: Mapping[str, Page]
    raw: Mapping[str, str]
    verdicts: tuple[Verdict, ...]
    diagnostics: tuple[Diagnostic, ...]
    counts: Counts
    answers: frozenset[str] = frozenset()
    """Ids of the FAQ's documents with a review that counts."""

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        """Every citable passage with its id."""
        return passages(self.pages.values())

    @property
    def failed(self) -> bool:
        """Whether any diagnostic is an error."""
        return any(d.severity == "error" for d in self.diagnostics)


class _Run:
    """One run over one corpus."""

    def __init__(
        self,
        corpus: Corpus,
        settings: Settings,
        theme: Theme | None,
        progress: Progress,
        today: date | None = None,
        embedder: Embedder | None = None,
        index: str = "",
    ) -> None:
        self._corpus = corpus
        self._settings = settings
        self._theme = theme
        self._progress = progress
        self._today = today
        self._embedder = embedder
        self._documents = {document.id: document for document in corpus.documents}
        self._build_id = build_id(corpus, settings, theme, index)
        self._sheets = _Sheets({} if theme is not None else corpus.assets)
        self._pages: Pages | None = None

    def check(self) -> Build:
        return self._report(self.prove(), {})

    def build(self) -> Build:
        proved = self.prove()
        if proved.failed:
            return self._report(proved, {})
        return self._report(proved, self._files(proved))

    def _report(self, proved: Proof, files: Mapping[str, bytes]) -> Build:
        sources = {document.path: document.text for document in self._corpus.documents}
        sources |= {file.path: file.text for file in self._corpus.citation_files}
        if self._corpus.config is not None:
            sources[self._corpus.config.path] = self._corpus.config.text
        return Build(
            self._build_id, proved.counts, proved.verdicts, proved.diagnostics, files, sources
        )

    def prove(self) -> Proof:
        articles, heard = self._read()
        if self._theme is not None:
            chat = self._settings.chat.enabled
            heard.extend(collisions.check(self._corpus, _assets(self._theme, chat), chat))
            if chat:
                heard.extend(refusal_changed.check(self._settings, self._corpus.config))
        drafts = self._unpublished(articles)
        published = {d: a for d, a in articles.items() if d not in drafts}
        answers = self._answers(published, heard)
        pages, raw = self._render(published)
        citable = sum(len(citable_spans(page)) for page in pages.values())
        places = Places(self._documents, self._settings)
        site = Site(pages, drafts, _aliases(pages), self._settings, places.locate)
        written, missing = self._written(articles, heard)
        heard.extend(missing)
        heard.extend(corpus_checks.ids_given_twice(written))
        verdicts = self._judge(written, site, heard)
        heard.extend(corpus_checks.required_pages(site, {d: a.html for d, a in articles.items()}))
        if not any(d.code == "EQ020" for d in heard):
            heard.extend(corpus_checks.nothing_checked(len(self._documents), len(written), site))
        if self._theme is not None:
            heard.extend(dead_links.check(articles, pages, self._documents))
        else:
            heard.extend(breaks_links.check(verdicts, pages, self._corpus.assets))
            heard.extend(charset.check(verdicts, self._documents))
            heard.extend(unread_sheet.check(verdicts, pages, self._corpus.assets))
            on_phone = partial(self._on_phone, articles)
            heard.extend(fails_on_phone.check(verdicts, pages, on_phone, site.locate))
        bound = sum(verdict.bound for verdict in verdicts)
        counts = Counts(len(self._documents), citable, len(verdicts), bound, len(verdicts) - bound)
        told = self._severities(heard)
        return Proof(articles, drafts, pages, raw, verdicts, told, counts, answers)

    def _read(self) -> tuple[dict[str, Article], list[Diagnostic]]:
        heard = list(self._corpus.diagnostics)
        articles: dict[str, Article] = {}
        total = len(self._corpus.documents)
        for number, document in enumerate(self._corpus.documents):
            self._progress("reading", number, total)
            article = read_article(document, self._settings)
            heard.extend(article.diagnostics)
            articles[document.id] = article
        self._progress("reading", total, total)
        return articles, heard

    def _unpublished(self, articles: Mapping[str, Article]) -> dict[str, str]:
        reasons = {}
        for doc, article in articles.items():
            if article.draft:
                reasons[doc] = "it is a draft"
            elif not _matches(article.path, self._settings.publish):
                reasons[doc] = "no pattern of `publish` covers it"
            elif _matches(article.path, self._settings.exclude):
                reasons[doc] = "a pattern of `exclude` covers it"
        return reasons

    def _answers(self, articles: Mapping[str, Article], heard: list[Diagnostic]) -> frozenset[str]:
        """The documents of the FAQ that were reviewed; a foreign page has no front matter."""
        reviewed = set()
        for doc, article in articles.items():
            if article.format == "html" or not _matches(article.path, self._settings.knowledge.faq):
                continue
            faults = list(reviews.check(self._documents[doc], self._settings, self._today))
            heard.extend(faults)
            if all(found.code == "EQ038" for found in faults):
                reviewed.add(doc)
        return frozenset(reviewed)

    def _render(self, articles: Mapping[str, Article]) -> tuple[dict[str, Page], dict[str, str]]:
        """The final pages, their citations still unbound."""
        pages: dict[str, Page] = {}
        raw: dict[str, str] = {}
        if self._theme is not None:
            self._pages = Pages(self._theme, self._context(articles))
        for number, (doc, article) in enumerate(articles.items()):
            self._progress("rendering", number, len(articles))
            path = article.path if self._pages is None else page_path(doc)
            raw[doc] = article.html if self._pages is None else self._pages.render_page(article)
            pages[doc] = read_page(
                fill_chips(raw[doc], {}, path),
                doc=doc,
                path=path,
                title=article.title,
                language=article.language,
                sheets=self._sheets.of(article),
                article_only=self._theme is not None,
            )
        self._progress("rendering", len(articles), len(articles))
        return pages, raw

    def _context(self, articles: Mapping[str, Article]) -> SiteContext:
        settings = self._settings
        return SiteContext(
            settings.title or "Corpus",
            settings.description,
            settings.base_url,
            settings.language,
            self._build_id,
            tuple(_nav_item(article) for article in _in_reading_order(articles)),
            settings.chat.enabled,
        )

    def _on_phone(self, articles: Mapping[str, Article], doc: str) -> Page:
        """A page of another generator as a phone shows it."""
        article = articles[doc]
        sheets = self._sheets.of(article)
        return read_page(article.html, doc=doc, path=article.path, sheets=sheets, phone=True)

    def _written(
        self, articles: Mapping[str, Article], heard: list[Diagnostic]
    ) -> tuple[tuple[Written, ...], tuple[Diagnostic, ...]]:
        """Every citation in a stable order: by file, then by place."""
        every = [written for article in articles.values() for written in article.written]
        for file in self._corpus.citation_files:
            source = file.path.split(".citations.")[0]
            entries, faults = read_sidecar(file, source if source in self._documents else "")
            every.extend(entries)
            heard.extend(faults)
            heard.extend(hidden_controls(file.text, file.path, self._settings))
        # Of one file the order is that of its text; a sort by place would part none.
        every.sort(key=lambda written: written.place)
        return corpus_checks.referenced(every)

    def _judge(
        self, written: Sequence[Written], site: Site, heard: list[Diagnostic]
    ) -> tuple[Verdict, ...]:
        verdicts = []
        for number, citation in enumerate(written):
            self._progress("checking", number, len(written))
            if citation.ref and not citation.doc:
                verdicts.append(Verdict(citation, citation.ref, "", code="EQ035"))
                continue
            verdict, faults = judge(citation, site)
            verdicts.append(verdict)
            heard.extend(faults)
        self._progress("checking", len(written), len(written))
        return tuple(verdicts)

    def _severities(self, heard: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
        """The diagnostics in a stable order, with the severities that the project configured."""
        configured: Mapping[str, Severity] = self._settings.severity
        kept = [
            replace(d, severity=configured[d.code]) if d.code in configured else d for d in heard
        ]
        kept = [d for d in kept if d.severity != "off"]
        return tuple(sorted(dict.fromkeys(kept), key=lambda d: (d.place, d.code, d.message)))

    def _files(self, proved: Proof) -> dict[str, bytes]:
        """The site: pages with their chips, lists, allowlist, and the manifest of all files."""
        assert self._pages is not None
        assert self._theme is not None
        files: dict[str, bytes] = dict(self._corpus.assets)
        files |= _assets(self._theme, self._settings.chat.enabled)
        entries, raw = self._entries(proved)
        for doc, html in raw.items():
            files[page_path(doc)] = self._finished(doc, html, proved).encode("utf-8", "replace")
        if "index" not in proved.raw:
            files["index.html"] = self._pages.render_home().encode("utf-8", "replace")
        files["evidence.html"] = self._pages.render_evidence(_rows(proved)).encode(
            "utf-8", "replace"
        )
        files["404.html"] = self._pages.render_not_found().encode("utf-8", "replace")
        files |= index_files(self._pages.context)
        files |= allowlist_files(entries, self._build_id)
        files |= self._knowledge(proved)
        if self._settings.chat.enabled:
            from exactquote.emit.functions import function_files

            title = self._pages.context.title
            files |= function_files(
                self._theme.functions, files, self._settings, title, self._build_id
            )
        files["build.json"] = build_json(self._build_id, proved.counts, files)
        return dict(sorted(files.items()))

    def _knowledge(self, proved: Proof) -> dict[str, bytes]:
        # A check makes no index, and needs neither numpy nor a stemmer.
        from exactquote.chunks import corpus_chunks
        from exactquote.emit.knowledge import knowledge_files

        chunks = corpus_chunks(
            proved.pages.values(),
            proved.passages,
            self._settings.knowledge.chunk_chars,
            aliases={doc: article.aliases for doc, article in proved.articles.items()},
            faq=proved.answers,
        )
        return knowledge_files(
            chunks,
            self._embedder,
            self._settings.knowledge,
            self._build_id,
            self._progress,
            quotes={passage.id: passage.quote for passage in proved.passages},
        )

    def _finished(self, doc: str, html: str, proved: Proof) -> str:
        """A page with its chips, which reads exactly as the page on which all was proved."""
        chips = {
            verdict.written.inline: Chip(
                verdict.id, verdict.link.href, verdict.quote or "", proved.pages[verdict.doc].title
            )
            for verdict in proved.verdicts
            if verdict.written.source == doc and verdict.written.inline >= 0 and verdict.link
        }
        finished = fill_chips(html, chips, page_path(doc))
        if chips:
            proved_page = proved.pages[doc]
            again = read_page(finished, doc=doc, path=proved_page.path, article_only=True)
            if again.text != proved_page.text:
                raise AssertionError(f"chips changed the text of {doc}")
        return finished

    def _entries(self, proved: Proof) -> tuple[list[AllowEntry], dict[str, str]]:
        """One entry for each citation and for each citable passage, and the pages they lead to.

        An uncited passage that no directive pins is linked to its block, which is given an
        id for that; where it stands in no block of its own, to the section.
        """
        entries: dict[str, AllowEntry] = {}
        cited = {(verdict.doc, verdict.span) for verdict in proved.verdicts if verdict.link}
        for verdict in proved.verdicts:
            if verdict.link is not None:
                page = proved.pages[verdict.doc]
                entries[verdict.id] = AllowEntry(
                    verdict.id,
                    verdict.link.href,
                    verdict.quote or "",
                    verdict.doc,
                    page.title,
                    True,
                )
        unpinned: dict[str, list[Passage]] = {}
        for number, passage in enumerate(proved.passages):
            self._progress("linking", number, len(proved.passages))
            if passage.id in entries:
                continue
            page = proved.pages[passage.doc]
            link = deep_link(page, passage.span)
            if isinstance(link, NoLink):
                unpinned.setdefault(passage.doc, []).append(passage)
                link = section_link(page, passage.span)
            entries[passage.id] = AllowEntry(
                passage.id,
                link.href,
                passage.quote,
                passage.doc,
                page.title,
                (passage.doc, passage.span) in cited,
            )
        self._progress("linking", len(proved.passages), len(proved.passages))
        raw = dict(proved.raw)
        for doc, listed in unpinned.items():
            blocks = give_ids(raw[doc], proved.pages[doc], listed)
            raw[doc] = blocks.html
            for id, element_id in blocks.ids.items():
                href = block_link(proved.pages[doc], element_id).href
                entries[id] = replace(entries[id], href=href)
        return list(entries.values()), raw


def read_article(document: Document, settings: Settings) -> Article:
    """Read one document by its format."""
    if document.format == "html":
        return Article(
            id=document.id,
            path=document.path,
            format="html",
            html=document.text,
            language=settings.language,
        )
    if document.format == "mdx" or settings.mdx.in_markdown:
        from exactquote.readers.mdx import read_mdx

        return read_mdx(document, settings)
    from exactquote.readers.markdown import read_markdown

    return read_markdown(document, settings)


def build_id(corpus: Corpus, settings: Settings, theme: Theme | None, index: str = "") -> str:
    """An id made of everything that the output depends on, and of nothing else.

    `index` names what cuts words and makes vectors; it is "" where no index is made.
    """
    digest = hashlib.sha256()

    def add(*parts: bytes) -> None:
        for part in parts:
            digest.update(len(part).to_bytes(8, "big"))
            digest.update(part)

    add(__version__.encode(), msgspec.json.encode(settings, order="deterministic"))
    for document in corpus.documents:
        add(b"document", _bytes(document.path), _bytes(document.text))
    for file in corpus.citation_files:
        add(b"citations", _bytes(file.path), _bytes(file.text))
    for path, data in sorted(corpus.assets.items()):
        add(b"asset", _bytes(path), data)
    if theme is not None:
        for name, source in sorted(theme.templates.items()):
            add(b"template", _bytes(name), _bytes(source))
        for name, data in sorted(theme.assets.items()):
            add(b"theme", _bytes(name), data)
        if settings.chat.enabled:
            for name, data in sorted(theme.functions.items()):
                add(b"function", _bytes(name), data)
    if index:
        add(b"index", index.encode())
    return digest.hexdigest()[:16]


def _assets(theme: Theme, chat: bool) -> dict[str, bytes]:
    """The assets that ship; those of the chat panel only with the chat function."""
    return {
        path: data
        for path, data in theme.assets.items()
        if chat or not path.startswith(_PANEL_ASSETS)
    }


class _Sheets:
    """The style sheets of foreign pages, each parsed once."""

    def __init__(self, assets: Mapping[str, bytes]) -> None:
        self._assets = assets
        self._parsed: dict[tuple[str, tuple[str, ...], str | None], Sheet] = {}

    def of(self, article: Article) -> tuple[Sheet, ...]:
        if article.format != "html":
            return ()
        return tuple(self._sheets(article))

    def _sheets(self, article: Article) -> Iterator[Sheet]:
        from exactquote.rendered.linked import linked_styles

        for one in linked_styles(article.html, article.path, self._assets):
            name = (one.key, one.media, one.layer)
            made = self._parsed.get(name)
            if made is None:
                made = self._parsed[name] = sheet(one.css, media=one.media, layer=one.layer)
            yield made


def _rows(proved: Proof) -> list[Row]:
    rows = []
    for verdict in proved.verdicts:
        if verdict.link is None:
            continue
        source = verdict.written.source
        page = proved.pages.get(source)
        rows.append(
            Row(
                verdict.written.claim,
                verdict.quote or "",
                proved.pages[verdict.doc].title,
                page_url(page_path(verdict.doc)),
                verdict.link.href,
                verdict.id,
                page.title if page else "",
                page_path(source) if page else "",
            )
        )
    return rows


def _aliases(pages: Mapping[str, Page]) -> dict[str, str]:
    """Other names of a document: with its suffix, and a folder's for its index page."""
    aliases: dict[str, str] = {}
    for doc in pages:
        aliases[f"{doc}.html"] = doc
        if doc.endswith("/index"):
            folder = doc.removesuffix("/index")
            aliases[folder] = aliases[f"{folder}/"] = doc
    return aliases


def _matches(path: str, patterns: Sequence[str]) -> bool:
    """Whether a glob covers the path; `*` stays within a folder and `**` does not."""
    return any(_glob(path.split("/"), pattern.split("/")) for pattern in patterns)


def _glob(parts: list[str], pattern: list[str]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_glob(parts[at:], pattern[1:]) for at in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _glob(parts[1:], pattern[1:])


def _nav_item(article: Article) -> NavItem:
    return NavItem(
        article.title, page_path(article.id), article.id, _section(article), article.summary
    )


def _in_reading_order(articles: Mapping[str, Article]) -> list[Article]:
    """By section, then the `order` of the front matter; a section goes by its index page's."""

    def key(article: Article) -> tuple[object, ...]:
        section = _section(article)
        index = articles.get(f"{section}/index")
        return (
            section != "",
            _order(index) if index else _LAST,
            section,
            article is not index and article.id != "index",
            _order(article),
            article.id,
        )

    return sorted(articles.values(), key=key)


_LAST = 1_000_000


def _order(article: Article) -> int:
    order = str(article.front.get("order", ""))
    return int(order) if order.isdecimal() and len(order) < 7 else _LAST


def _section(article: Article) -> str:
    section = str(PurePosixPath(article.id).parent)
    return "" if section == "." else section


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _silent(what: str, done: int, of: int) -> None:
    """No progress is shown."""
