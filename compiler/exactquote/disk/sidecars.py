"""Tell citation files by their names, and names that were meant to be theirs."""

from __future__ import annotations

import re

SUFFIXES = (".json", ".yaml", ".yml", ".toml")

_SIDECAR = re.compile(r"[^.].*\.citations(\.json|\.yaml|\.yml|\.toml)", re.DOTALL)
# What editors leave beside a file while it is open, and what is set aside on purpose.
_BACKUP = re.compile(r"^\.?#|~$|\.(bak|orig|rej|swp|tmp)$")
_TEXT_SUFFIXES = frozenset((".md", ".markdown", ".mdx", ".html", ".htm"))
_DATA = ("json", "yaml", "yml", "toml", "json5", "jsonc", "jsonl", "ndjson", "txt")
_SHORT = frozenset(("cite", "cites", "citation", "citations", "citatons", "citaions"))


def is_sidecar(name: str) -> bool:
    """Whether a file of this name is read as citations of the document beside it."""
    return _SIDECAR.fullmatch(name) is not None


def documented_by(path: str) -> str:
    """Path without suffixes of the document that a sidecar belongs to."""
    return path[: path.rindex(".citations.")]


def misnamed(name: str) -> str | None:
    """The name that a citation file should have had, or None for any other file.

    `a.citation.json`, `a.cite.yaml`, `a-citations.json`, `a.citations.jsn`,
    `a.Citations.JSON`, `citations.json` and `.a.citations.json` all look to their author
    like files that are checked.
    """
    folded = name.casefold()
    if "cit" not in folded or is_sidecar(name) or _BACKUP.search(folded):
        return None
    if any(folded.endswith(suffix) for suffix in _TEXT_SUFFIXES):
        return None
    stem, word, rest = _split(folded)
    if word is None:
        return None
    suffix = _data_suffix(rest)
    if suffix is None:
        return None
    own = name[: len(stem)].strip(".-_ ")
    return f"{own or 'NAME'}.citations{suffix}"


def _split(folded: str) -> tuple[str, str | None, str]:
    # The last part that reads like "citations" is taken, so that a document's own name may
    # hold the word.
    for found in reversed(list(re.finditer(r"[^._\- ]+", folded))):
        before = folded[: found.start()]
        dotted = not before or before.endswith(".")
        if (dotted and found[0] in _SHORT) or _near(found[0], "citations"):
            return before, found[0], folded[found.end() :]
    return folded, None, ""


def _data_suffix(rest: str) -> str | None:
    parts = [part for part in rest.split(".") if part]
    if not parts:
        return SUFFIXES[0]
    for suffix in SUFFIXES:
        if suffix[1:] in parts:
            return suffix
    if len(parts) == 1 and any(_near(parts[0], known) for known in _DATA):
        close = (suffix for suffix in SUFFIXES if _near(parts[0], suffix[1:]))
        return next(close, SUFFIXES[0])
    return None


def _near(word: str, wanted: str) -> bool:
    """Whether the two are equal but for one or, in long words, two edits."""
    if word == wanted:
        return True
    if abs(len(word) - len(wanted)) > 2:
        return False
    row = list(range(len(wanted) + 1))
    for i, letter in enumerate(word, 1):
        above, row[0] = row[0], i
        for j, other in enumerate(wanted, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (letter != other))
    return row[-1] <= (2 if len(wanted) > 6 else 1)
