"""Puts the citation chips of a page in the place of their sentinels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import escape

# The sentinel as a reader writes it, behind everything that is none. Whole tags and comments
# are stepped over, so that an attribute or a comment that spells a sentinel stays what it is;
# in text it is escaped.
_SENTINEL = r'<eq-chip n="(?P<number>[0-9]{1,9})"></eq-chip>'
_COMMENT = r"<!--(?:.*?-->|.*+)"
_TAG = r"<[A-Za-z/](?:[^\"'>]++|\"[^\"]*+\"|'[^']*+')*+>"
_UP_TO_SENTINEL = re.compile(
    rf"(?P<other>(?:[^<]++|(?!<eq-chip n=\"[0-9]{{1,9}}\"></eq-chip>)(?:{_COMMENT}|{_TAG}|<))*+)"
    rf"{_SENTINEL}",
    re.DOTALL,
)
_BARE = '<a class="eq-chip"></a>'


@dataclass(frozen=True, slots=True)
class Chip:
    """The link beside a claim: where it leads (from the root of the site) and what it cites."""

    id: str
    href: str
    quote: str
    title: str


def fill_chips(html: str, chips: Mapping[int, Chip], page: str) -> str:
    """The page with each sentinel replaced: its chip, or a bare one where there is none.

    A bare chip and a filled one have the same element and no text, so a page reads the same
    before and after its citations are bound.
    """
    if "<eq-chip " not in html:
        return html
    root = root_of(page)
    parts: list[str] = []
    end = 0
    while match := _UP_TO_SENTINEL.match(html, end):
        chip = chips.get(int(match["number"]))
        parts += match["other"], _BARE if chip is None else _chip_html(chip, root)
        end = match.end()
    return "".join(parts) + html[end:]


def root_of(page: str) -> str:
    """What leads from a page to the root of the site: "" or "../" once per folder."""
    return "../" * page.count("/")


def _chip_html(chip: Chip, root: str) -> str:
    source = f" — {chip.title}" if chip.title else ""
    name = escape(f"“{chip.quote}”{source}")
    return (
        f'<a class="eq-chip" href="{escape(root + chip.href)}" target="_blank" rel="noopener"'
        f' aria-label="{name}" title="{name}" data-cite="{escape(chip.id)}"></a>'
    )
