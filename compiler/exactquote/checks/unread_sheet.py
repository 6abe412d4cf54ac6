"""EQ042: a cited page links a style sheet of its own site that isn't among the files read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from exactquote.codes import fault
from exactquote.model import Diagnostic, Place, Verdict
from exactquote.rendered.linked import unread_styles
from exactquote.rendered.page import Page


def check(
    verdicts: Sequence[Verdict], pages: Mapping[str, Page], files: Mapping[str, bytes]
) -> Iterator[Diagnostic]:
    """A warning for each such sheet, at its first link, with how many cited pages link it.

    `files` are those of the site by path, among them all style sheets.
    """
    first: dict[str, Place] = {}
    count: dict[str, int] = {}
    for doc in sorted({verdict.doc for verdict in verdicts if verdict.bound}):
        page = pages[doc]
        for href in unread_styles(page.html, page.path, files):
            if href not in first:
                line = page.html.count("\n", 0, max(page.html.find(href), 0)) + 1
                first[href] = Place(page.path, line)
            count[href] = count.get(href, 0) + 1
    for href, place in first.items():
        many = "" if count[href] == 1 else f" by {count[href]} cited pages"
        yield fault(
            "EQ042",
            place,
            f"the style sheet {href} is linked{many} and isn't in the folder: what it hides"
            " counts as shown",
            "check the folder that is served, with its style sheets",
        )
