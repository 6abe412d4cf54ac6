"""Turn a folder of HTML pages, built by any generator, into a `Corpus`."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from exactquote.checks.breaks_links import SCRIPT_SUFFIXES, SERVER_FILES
from exactquote.disk.corpus import FORMATS, Kinds, read_folder, require_folder
from exactquote.disk.tree import read_file, walk
from exactquote.model import Corpus, Format
from exactquote.settings import Settings

# A bundle of this size is more than a regular expression has to say about.
SCRIPT_BYTES_MAX = 2_000_000
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
    Its scripts and what its server is told are read too, up to `SCRIPT_BYTES_MAX` each.
    Raises `Refusal` when `root` or an extra file can't be read at all.
    """
    corpus = read_folder(root, settings, _PAGES, extra_citations, skip)
    return replace(corpus, assets={**corpus.assets, **_beside(root, skip)})


def _beside(root: Path, skip: Sequence[Path]) -> dict[str, bytes]:
    """Scripts and server files; one that can't be read changes no page, and is passed over."""

    def wanted(name: str) -> bool:
        return name in SERVER_FILES or name.lower().endswith(SCRIPT_SUFFIXES)

    read = {e.path: read_file(e, SCRIPT_BYTES_MAX) for e in walk(root, wanted, skip).entries}
    return {path: content for path, content in read.items() if isinstance(content, bytes)}


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
