"""Turn a folder of Markdown and MDX, with its sidecars and pictures, into a `Corpus`."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from exactquote.codes import fault
from exactquote.disk.decode import decode
from exactquote.disk.refusal import Refusal
from exactquote.disk.sidecars import SUFFIXES, documented_by, is_sidecar, misnamed
from exactquote.disk.tree import Entry, read_file, readable, walk
from exactquote.model import CitationFile, Corpus, Diagnostic, Document, Format, Place, Related
from exactquote.settings import Settings

FORMATS: Mapping[str, Format] = {".md": "markdown", ".markdown": "markdown", ".mdx": "mdx"}

ASSET_SUFFIXES = frozenset(
    (
        *(".apng", ".avif", ".bmp", ".gif", ".ico", ".jpeg", ".jpg", ".png", ".svg", ".webp"),
        *(".m4a", ".mp3", ".mp4", ".oga", ".ogg", ".ogv", ".opus", ".vtt", ".wav", ".webm"),
        *(".csv", ".pdf", ".tsv", ".txt", ".zip", ".otf", ".ttf", ".woff", ".woff2"),
    )
)


@dataclass(frozen=True, slots=True)
class Kinds:
    """What a run looks for in a folder, and which document names are taken for equal."""

    formats: Mapping[str, Format]
    assets: frozenset[str]
    misnamed: Callable[[str], str | None]
    same: Callable[[str], str]


def read_corpus(
    root: Path,
    settings: Settings,
    *,
    extra_citations: Sequence[Path] = (),
    skip: Sequence[Path] = (),
) -> Corpus:
    """Read all documents, sidecars and assets under `root`, in sorted order.

    What can't be read is a diagnostic of the corpus. `extra_citations` are sidecars that
    lie anywhere; `skip` are folders to pass over, such as the output inside the corpus.
    Raises `Refusal` when `root` or an extra file can't be read at all.
    """
    return read_folder(root, settings, _SOURCES, extra_citations, skip)


def read_folder(
    root: Path,
    settings: Settings,
    kinds: Kinds,
    extra_citations: Sequence[Path],
    skip: Sequence[Path],
) -> Corpus:
    """Read what `kinds` names from under `root`; see `read_corpus`."""
    require_folder(root)
    tree = walk(root, _wanted(kinds), skip)
    documents: list[Entry] = []
    sidecars: list[Entry] = []
    assets: list[Entry] = []
    faults = list(tree.faults)
    for entry in tree.entries:
        name = entry.path.rpartition("/")[2]
        wrong = kinds.misnamed(name)
        if _suffix(name) in kinds.formats:
            documents.append(entry)
        elif is_sidecar(name):
            sidecars.append(entry)
        elif wrong is not None:
            faults.append(fault("EQ021", Place(entry.path), *_misnaming(wrong)))
        else:
            assets.append(entry)
    documents = _without_twins(documents, kinds, faults)
    pages = {_document_id(entry.path) for entry in documents}
    for entry in sidecars:
        page = unicodedata.normalize("NFC", documented_by(entry.path))
        if page not in pages and f"{page}/index" not in pages:
            faults.append(_stray(entry.path, page, kinds))
    outside = [entry for entry in map(_extra(root), extra_citations) if entry not in sidecars]
    reader = _Reader(settings.limits.file_bytes_max, faults)
    corpus = Corpus(
        documents=tuple(
            Document(_document_id(entry.path), entry.path, kinds.formats[_suffix(entry.path)], text)
            for entry, text in reader.texts(documents)
        ),
        citation_files=tuple(
            CitationFile(readable(entry.path), text)
            for entry, text in reader.texts([*sidecars, *dict.fromkeys(outside)])
        ),
        assets={entry.path: content for entry, content in reader.contents(assets)},
    )
    return Corpus(
        corpus.documents,
        corpus.citation_files,
        corpus.assets,
        tuple(sorted(faults, key=lambda diagnostic: (diagnostic.place, diagnostic.code))),
    )


def require_folder(root: Path) -> None:
    """Raise `Refusal` unless `root` is a folder that can be listed."""
    try:
        with os.scandir(root):
            return
    except FileNotFoundError:
        raise Refusal(f"{root}: no such folder") from None
    except NotADirectoryError:
        raise Refusal(f"{root} is a file; give the folder that holds it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Refusal(f"{root} can't be listed: {reason}") from None


class _Reader:
    """Reads entries under one size limit and collects the faults of those that fail."""

    def __init__(self, bytes_max: int, faults: list[Diagnostic]) -> None:
        self._bytes_max = bytes_max
        self._faults = faults

    def texts(self, entries: Sequence[Entry]) -> list[tuple[Entry, str]]:
        texts: list[tuple[Entry, str]] = []
        for entry, content in self.contents(entries):
            text = decode(content, readable(entry.path))
            if isinstance(text, Diagnostic):
                self._faults.append(text)
            else:
                texts.append((entry, text))
        return texts

    def contents(self, entries: Sequence[Entry]) -> list[tuple[Entry, bytes]]:
        contents: list[tuple[Entry, bytes]] = []
        for entry in entries:
            content = read_file(entry, self._bytes_max)
            if isinstance(content, Diagnostic):
                self._faults.append(content)
            else:
                contents.append((entry, content))
        return contents


def _wanted(kinds: Kinds) -> Callable[[str], bool]:
    def wanted(name: str) -> bool:
        if is_sidecar(name) or kinds.misnamed(name) is not None:
            return True
        suffix = _suffix(name)
        return not name.startswith(".") and (suffix in kinds.formats or suffix in kinds.assets)

    return wanted


def _suffix(path: str) -> str:
    name = path.rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    return dot + suffix.lower() if stem else ""


def _document_id(path: str) -> str:
    return unicodedata.normalize("NFC", path[: len(path) - len(_suffix(path))])


def _without_twins(documents: list[Entry], kinds: Kinds, faults: list[Diagnostic]) -> list[Entry]:
    first: dict[str, Entry] = {}
    for entry in documents:
        same = kinds.same(_document_id(entry.path))
        twin = first.setdefault(same, entry)
        if twin is not entry:
            faults.append(
                fault(
                    "EQ023",
                    Place(entry.path),
                    f"this makes the same page as {twin.path}",
                    "keep one of the two, or give one of them another name"
                    " (case and Unicode form don't tell names apart)",
                    (Related(Place(twin.path), "the other file"),),
                )
            )
    return list(first.values())


def _misnaming(right: str) -> tuple[str, str]:
    return (
        "this looks like a citation file but its name is not that of one, so it isn't read",
        f"rename it to {right}, beside the document NAME it belongs to"
        if "NAME" in right
        else f"rename it to {right}",
    )


def _stray(path: str, page: str, kinds: Kinds) -> Diagnostic:
    wanted = " or ".join(f"{page}{suffix}" for suffix in kinds.formats)
    return fault(
        "EQ021",
        Place(path),
        "this citation file has no document beside it",
        f"name it after its document (it would belong to {wanted}), or remove it",
    )


def _extra(root: Path) -> Callable[[Path], Entry]:
    real_root = os.path.realpath(os.fsencode(root))

    def entry(path: Path) -> Entry:
        if path.suffix.lower() not in SUFFIXES:
            raise Refusal(f"{path}: a citation file ends in {', '.join(SUFFIXES)}")
        real = os.path.realpath(os.fsencode(path))
        if not os.path.exists(real):
            raise Refusal(f"{path}: no such citation file")
        if not os.path.isfile(real):
            raise Refusal(f"{path} is not a plain file")
        return Entry(os.path.relpath(real, real_root).decode("utf-8", "surrogateescape"), real)

    return entry


def _same_page(document_id: str) -> str:
    # Folding can undo the normal form, and case-insensitive file systems do both.
    return unicodedata.normalize("NFC", document_id.casefold())


_SOURCES = Kinds(FORMATS, ASSET_SUFFIXES, misnamed, _same_page)
