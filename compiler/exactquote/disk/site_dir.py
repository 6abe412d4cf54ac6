"""Turn a folder of HTML pages, built by any generator, into a `Corpus`."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

from exactquote.disk.corpus import FORMATS, Kinds, read_folder, require_folder
from exactquote.disk.tree import walk
from exactquote.model import Corpus, Format
from exactquote.settings import Settings

HTML_FORMATS: Mapping[str, Format] = {".html": "html", ".htm": "html"}


def read_site(
    root: Path,
    settings: Settings,
    *,
    extra_citations: Sequence[Path] = (),
    skip: Sequence[Path] = (),
) -> Corpus:
    """Read the pages under `root` and their citations.

    A document's id is its path without `.html`; `guide/index.html` is `guide/index`.
    Raises `Refusal` when `root` or an extra file can't be read at all.
    """
    return read_folder(root, settings, _PAGES, extra_citations, skip)


def is_site(root: Path) -> bool:
    """Whether a folder has HTML pages and no Markdown, so that it is a built site."""
    require_folder(root)
    pages = tuple(HTML_FORMATS)
    sources = tuple(FORMATS)

    def wanted(name: str) -> bool:
        return not name.startswith(".") and name.lower().endswith(pages + sources)

    names = [entry.path.lower() for entry in walk(root, wanted).entries]
    return bool(names) and not any(name.endswith(sources) for name in names)


def _never(name: str) -> str | None:
    # Whatever else a generator put into its site is not ours to judge by its name.
    return None


def _same_page(document_id: str) -> str:
    # The site exists already, so its pages may differ by case alone, as those of APIs do.
    return unicodedata.normalize("NFC", document_id)


# Style sheets say which text of a page is shown; nothing else beside the pages matters.
_PAGES = Kinds(HTML_FORMATS, frozenset((".css",)), _never, _same_page)
