"""EQ023: two files of a corpus, or a file and a page the site makes itself, have one address."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from exactquote.codes import fault
from exactquote.emit.functions import FOLDER
from exactquote.emit.site import RESERVED_PAGES
from exactquote.model import Corpus, Diagnostic, Place

_FOLDERS = ("allowlist/", "knowledge/")
_FILES = frozenset({"allowlist.json", "build.json", "sitemap.xml", "robots.txt", "llms.txt"})


def check(corpus: Corpus, assets: Collection[str], chat: bool) -> Iterator[Diagnostic]:
    """A fault for each file that would be overwritten, or lie among the function's own.

    `assets` are the paths of the theme's; `chat` tells whether the chat function ships.
    """
    made = RESERVED_PAGES | _FILES | set(assets)
    for document in corpus.documents:
        page = f"{document.id}.html"
        # No visitor sees the function's folder, so a page in it would be lost.
        if page in made:
            yield _taken(document.path, page)
        elif chat and page.startswith(FOLDER):
            yield _hidden(document.path)
    pages = {f"{document.id}.html" for document in corpus.documents}
    for path in corpus.assets:
        if path in made or path in pages or path.startswith(_FOLDERS):
            yield _taken(path, path)
        elif chat and path.startswith(FOLDER):
            yield _hidden(path)


def _taken(path: str, name: str) -> Diagnostic:
    return fault(
        "EQ023", Place(path), f"the site makes a file {name} itself", "give this file another name"
    )


def _hidden(path: str) -> Diagnostic:
    return fault(
        "EQ023",
        Place(path),
        f"the site keeps its chat function in {FOLDER}, and shows nothing of that folder",
        "move this file to another folder",
    )
