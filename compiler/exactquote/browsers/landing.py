"""What one visit to a link comes to, whichever browser made it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

BrowserName = Literal["chromium", "firefox", "webkit", "phone"]
"""A phone is Chromium with the screen of one."""

BETWEEN_RANGES = " || "
"""Stands between the texts of several highlighted ranges."""


@dataclass(frozen=True, slots=True)
class Target:
    """The element that `:target` stands for: its id, its text, and whether it is in the window."""

    id: str
    text: str
    shown: bool


@dataclass(frozen=True, slots=True)
class Landing:
    """What a browser highlighted for one link.

    `text` is the highlighted text as the document holds it, with a line end where a block
    or `<br>` begins, and without what is not rendered. `element_id` is the nearest id around
    its start, `before` the page's text in front of it. `error` says why a browser could not
    answer; `frozen` that its tab never answered again, `slow` that the page never finished
    loading. `target` is the element that the address names, where there is one.
    """

    matched: bool = False
    text: str | None = None
    element_id: str | None = None
    ranges: int = 0
    scrolled: bool = False
    error: str | None = None
    frozen: bool = False
    slow: bool = False
    before: str = ""
    target: Target | None = None


class Silent(Exception):
    """The browser did not answer in time; `frozen` if its tab answered nothing at all."""

    def __init__(self, message: str, *, frozen: bool = True) -> None:
        """Say what was waited for."""
        super().__init__(message)
        self.frozen = frozen


class Gone(Exception):
    """The browser, its driver or its tab ended."""


class Refused(Exception):
    """The browser answered that it can't do what it was asked."""


def is_timeout(refusal: Refused) -> bool:
    """Whether a driver gave up waiting for the page, rather than refused."""
    return "timeout" in str(refusal).partition(":")[0]


class Engine(Protocol):
    """A running browser with one tab, driven through whatever protocol it speaks."""

    version: str

    def visit(self, url: str, token: str) -> Landing:
        """Open `url` as a new document and say what is highlighted.

        `token` is part of the address and unlike any before, so that the answer can be
        told from one about the page before. When it is "", the address could not be
        marked, and the way must lead through `about:blank`.
        Raises `Silent`, `Gone` or `Refused`.
        """

    def fresh_tab(self) -> None:
        """Go on in a new tab that never saw a page."""

    def close(self) -> None:
        """End every process and remove every file that the browser was given."""
