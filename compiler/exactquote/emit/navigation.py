"""Turns the list of all pages into the small part of it that one page shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

# A reader looks a list of this size through; more would make each page of a large corpus
# as heavy as all of its titles.
ITEMS_MAX = 40


@dataclass(frozen=True, slots=True)
class NavItem:
    """A page in the navigation; `section` is "" for a page of the top level.

    `page` is its path in the site, `summary` is told in the site's own lists of pages.
    """

    title: str
    page: str
    doc: str
    section: str
    summary: str = ""

    @property
    def href(self) -> str:
        """The page's URL, from the root of the site."""
        return page_url(self.page)


@dataclass(frozen=True, slots=True)
class NavGroup:
    """A section as it is shown: its name, where it leads, and the pages that are listed.

    `items` is empty for a section that is not open. `earlier` and `later` lead to the
    pages of the section on either side of the part that is listed.
    """

    title: str
    href: str
    items: tuple[NavItem, ...] = ()
    earlier: str = ""
    later: str = ""
    summary: str = ""


@dataclass(frozen=True, slots=True)
class NavView:
    """What one page shows: pages of the top level, then sections, one of them open."""

    top: NavGroup
    sections: tuple[NavGroup, ...]
    earlier: str = ""
    later: str = ""


class Navigation:
    """All pages in order; asked by a page for what to show, and for its neighbours."""

    def __init__(self, items: Sequence[NavItem]) -> None:
        """Take the pages in reading order."""
        self.items = tuple(items)
        self._order = {item.doc: number for number, item in enumerate(self.items)}
        grouped: dict[str, list[NavItem]] = {"": []}
        for item in self.items:
            grouped.setdefault(item.section, []).append(item)
        self._top = grouped.pop("")
        self._sections = [_Section(name, pages) for name, pages in grouped.items()]
        self._place: dict[str, tuple[int, int]] = {}
        for number, item in enumerate(self._top):
            self._place[item.doc] = (-1, number // ITEMS_MAX)
        for index, section in enumerate(self._sections):
            for number, item in enumerate(section.listed):
                self._place[item.doc] = (index, number // ITEMS_MAX)
            if section.head:
                self._place[section.head.doc] = (index, 0)

    def place(self, doc: str) -> tuple[int, int]:
        """Which view a document has: its section's number, and which part of the section."""
        return self._place.get(doc, (-1, 0))

    def view(self, place: tuple[int, int]) -> NavView:
        """The navigation at a place; all documents of one place share it."""
        section, part = place
        shown = max(section, 0) // ITEMS_MAX * ITEMS_MAX
        sections = self._sections[shown : shown + ITEMS_MAX]
        return NavView(
            _part(NavGroup("", ""), self._top, part if section < 0 else 0),
            tuple(
                _part(one.group, one.listed, part) if number == section else one.closed
                for number, one in enumerate(sections, shown)
            ),
            self._sections[shown - 1].first.href if shown else "",
            self._sections[shown + ITEMS_MAX].first.href
            if shown + ITEMS_MAX < len(self._sections)
            else "",
        )

    def item(self, doc: str) -> NavItem | None:
        """The entry of a document, if it is in the navigation."""
        number = self._order.get(doc)
        return None if number is None else self.items[number]

    def neighbours(self, doc: str) -> tuple[NavItem | None, NavItem | None]:
        """The page before a document and the one after it, in reading order."""
        number = self._order.get(doc)
        if number is None:
            return None, None
        before = self.items[number - 1] if number else None
        after = self.items[number + 1] if number + 1 < len(self.items) else None
        return before, after

    def groups(self) -> tuple[NavGroup, ...]:
        """Every page of the site, by section, for a page that lists them all."""
        top = (NavGroup("", "", tuple(self._top)),) if self._top else ()
        return top + tuple(
            NavGroup(
                one.title,
                one.group.href,
                tuple(one.listed),
                summary=one.head.summary if one.head else "",
            )
            for one in self._sections
        )


def page_url(page: str) -> str:
    """The URL of a path in the site, from its root: percent-encoded, never with a scheme."""
    return quote(page, safe="/")


class _Section:
    """A section with its own page taken from the list of its pages to stand at the head."""

    def __init__(self, name: str, pages: Sequence[NavItem]) -> None:
        heads = [item for item in pages if item.doc in (name, f"{name}/index")]
        self.head = heads[0] if heads else None
        self.first = self.head or pages[0]
        self.listed = [item for item in pages if item is not self.head]
        self.title = self.head.title if self.head else _spoken(name)
        # A section without a page of its own leads to its first page while it is closed;
        # when it is open that page is in the list, and a link to it would be there twice.
        self.group = NavGroup(self.title, self.head.href if self.head else "")
        self.closed = NavGroup(self.title, self.first.href)


def _part(group: NavGroup, items: Sequence[NavItem], part: int) -> NavGroup:
    start = part * ITEMS_MAX
    end = start + ITEMS_MAX
    return NavGroup(
        group.title,
        group.href,
        tuple(items[start:end]),
        items[start - 1].href if start else "",
        items[end].href if end < len(items) else "",
    )


def _spoken(name: str) -> str:
    """A folder's name as a title: `getting-started` is "Getting started"."""
    if name != name.lower() or " " in name:
        return name
    words = name.rsplit("/", 1)[-1].replace("-", " ").replace("_", " ").strip()
    return words[:1].upper() + words[1:] if words else name
