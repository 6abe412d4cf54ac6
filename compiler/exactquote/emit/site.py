"""Turns articles into the pages of the site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup, escape

from exactquote.emit.chips import Chip, fill_chips, root_of
from exactquote.emit.navigation import NavGroup, Navigation, NavItem, page_url
from exactquote.emit.toc import first_h1, table_of_contents
from exactquote.model import Article, Theme

__all__ = ["Chip", "NavItem", "Row", "Site", "SiteContext", "fill_chips", "page_path", "page_url"]

HOME_PAGE = "index.html"
EVIDENCE_PAGE = "evidence.html"
NOT_FOUND_PAGE = "404.html"
# A document of one of these names would overwrite a page that the site makes itself.
RESERVED_PAGES = frozenset((EVIDENCE_PAGE, NOT_FOUND_PAGE))

_RIGHT_TO_LEFT = frozenset(("ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"))


@dataclass(frozen=True, slots=True)
class SiteContext:
    """What every page says of the site. `nav` holds all pages, in reading order.

    With `chat`, each page asks for the function that answers questions.
    """

    title: str
    description: str
    base_url: str
    language: str
    build_id: str
    nav: tuple[NavItem, ...]
    chat: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A claim on the Evidence page, with what it cites.

    `on_page` is the path of the page that makes the claim ("" for none);
    `source_href` and `link_href` are URLs from the root of the site.
    """

    claim: str
    quote: str
    source_title: str
    source_href: str
    link_href: str
    id: str
    on_page_title: str
    on_page: str


class Site:
    """The pages of one site; its templates are compiled once."""

    def __init__(self, theme: Theme, context: SiteContext) -> None:
        """Compile the theme's templates for this site."""
        self.context = context
        self._navigation = Navigation(context.nav)
        self._environment = Environment(
            loader=DictLoader(dict(theme.templates)),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        self._environment.globals["site"] = context
        self._page = self._environment.get_template("page.html.j2")
        self._navigation_html: dict[tuple[tuple[int, int], str], str] = {}

    def render_page(self, article: Article) -> str:
        """The whole page of an article, its chips still sentinels.

        The title is left out when the article's own first heading says it already, and
        the summary then follows that heading.
        """
        page = page_path(article.id)
        item = self._navigation.item(article.id)
        heading = first_h1(article.html)
        own = heading is not None and heading.text == " ".join(article.title.split())
        split = heading.end if heading and (own or not article.title) else 0
        named = article.title or (heading.text if heading else "")
        before, after = self._navigation.neighbours(article.id)
        return self._page.render(
            self._frame(
                page,
                named or (item.title if item else "") or article.id,
                article.summary,
                article.language,
                article.id,
            ),
            heading="" if split else article.title,
            summary=article.summary,
            body_head=Markup(article.html[:split]),
            body=Markup(article.html[split:]),
            toc=table_of_contents(article.html),
            before=before,
            after=after,
        )

    def fill_chips(self, html: str, chips: Mapping[int, Chip], page: str) -> str:
        """The page with its chips in place of their sentinels; see `chips.fill_chips`."""
        return fill_chips(html, chips, page)

    def render_home(self) -> str:
        """`index.html` of a corpus that has no document `index`: a list of all pages."""
        return self._environment.get_template("home.html.j2").render(
            self._frame(HOME_PAGE, self.context.title, self.context.description),
            groups=self._navigation.groups(),
        )

    def render_evidence(self, rows: Sequence[Row]) -> str:
        """`evidence.html`: every claim with its quote, by the page that makes the claim."""
        by_page: dict[str, list[tuple[Row, str]]] = {}
        anchors: set[str] = set()
        for row in rows:
            # Two claims may rest on one passage; an element id can only be given once.
            anchor = "" if row.id in anchors else row.id
            anchors.add(row.id)
            by_page.setdefault(row.on_page, []).append((row, anchor))
        groups = [
            (NavGroup(found[0][0].on_page_title, page_url(page)), found)
            for page, found in by_page.items()
        ]
        return self._environment.get_template("evidence.html.j2").render(
            self._frame(EVIDENCE_PAGE, "Evidence", ""),
            groups=groups,
            claims=len(rows),
            sources=len({row.source_href for row in rows}),
        )

    def render_not_found(self) -> str:
        """`404.html`, whose links hold at whatever address it is shown."""
        return self._environment.get_template("404.html.j2").render(
            self._frame(NOT_FOUND_PAGE, "Page not found", "")
        )

    def _frame(
        self, page: str, title: str, description: str, language: str = "", doc: str = ""
    ) -> dict[str, object]:
        """What the frame around every page needs; `doc` is "" for a page of no document."""
        language = language or self.context.language
        base = self.context.base_url.rstrip("/")
        root = root_of(page)
        canonical = f"{base}/{'' if page == HOME_PAGE else page_url(page)}" if base else ""
        if page == NOT_FOUND_PAGE:
            root, canonical = (f"{urlsplit(base).path}/" if base else ""), ""
        return {
            "page": page,
            "root": root,
            "title": title,
            "description": description,
            "language": language,
            # The frame speaks English; a page in another language says so where it does.
            "english": Markup("" if _primary(language) == "en" else ' lang="en"'),
            "direction": "rtl" if _primary(language) in _RIGHT_TO_LEFT else "",
            "canonical": canonical,
            "navigation": self._navigation_of(doc, page, root),
        }

    def _navigation_of(self, doc: str, page: str, root: str) -> Markup:
        """The navigation with the page itself marked.

        Pages of one place differ in that mark alone, so the list is rendered once for all.
        """
        place = self._navigation.place(doc)
        html = self._navigation_html.get((place, root))
        if html is None:
            template = self._environment.get_template("navigation.html.j2")
            html = template.render(root=root, view=self._navigation.view(place))
            self._navigation_html[place, root] = html
        link = f'<a href="{escape(root + page_url(page))}"'
        return Markup(html.replace(f"{link}>", f'{link} aria-current="page">', 1))


def page_path(doc_id: str) -> str:
    """The path of a document's page in the site: `guide/setup` is `guide/setup.html`."""
    return f"{doc_id}.html"


def _primary(language: str) -> str:
    return language.replace("_", "-").split("-")[0].lower()
