"""EQ023: two files of a corpus, or a file and a page the site makes itself, have one address."""

from __future__ import annotations

from collections.abc import Iterator

from exactquote.codes import fault
from exactquote.emit.site import RESERVED_PAGES
from exactquote.model import Corpus, Diagnostic, Place, Theme

_FILES = frozenset({"allowlist.json", "build.json", "sitemap.xml", "robots.txt", "llms.txt"})


def check(corpus: Corpus, theme: Theme) -> Iterator[Diagnostic]:
    """A fault for each file that would be overwritten."""
    made = RESERVED_PAGES | _FILES | set(theme.assets)
    for document in corpus.documents:
        if f"{document.id}.html" in made:
            yield _taken(document.path, f"{document.id}.html")
    pages = {f"{document.id}.html" for document in corpus.documents}
    for path in corpus.assets:
        if path in made or path in pages or path.startswith("allowlist/"):
            yield _taken(path, path)


def _taken(path: str, name: str) -> Diagnostic:
    return fault(
        "EQ023", Place(path), f"the site makes a file {name} itself", "give this file another name"
    )
