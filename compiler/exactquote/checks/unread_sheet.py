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
        for unread in unread_styles(page.html, page.path, files):
            if unread.href not in first:
                text = files[unread.path].decode("utf-8", "replace") if unread.path in files else ""
                text = page.html if unread.path == page.path else text
                at = max(text.find(unread.href), 0)
                column = at - text.rfind("\n", 0, at)
                first[unread.href] = Place(unread.path, text.count("\n", 0, at) + 1, column)
            count[unread.href] = count.get(unread.href, 0) + 1
    for href, place in first.items():
        many = "a cited page" if count[href] == 1 else f"{count[href]} cited pages"
        yield fault(
            "EQ042",
            place,
            f"the style sheet {href} isn't in the folder, and {many} would use it: what it hides"
            " counts as shown",
            "check the folder that is served, with its style sheets; or take out a dead link",
        )
