"""Turn a folder into its plain files, refusing whatever could lead out of it.

No other module opens a file of a corpus.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from exactquote.codes import fault
from exactquote.disk.ours import is_our_output
from exactquote.model import Diagnostic, Place

SKIPPED_FOLDERS = frozenset({"node_modules"})

# Explicit embeddings, overrides and isolates: they make a name read as another one.
_REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_OPEN_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


@dataclass(frozen=True, slots=True)
class Entry:
    """A plain file: its path under the root, with `/`, and where to open it.

    Names are bytes on the disk. They are read as UTF-8 here, whatever the locale says, so
    that the same folder gives the same paths everywhere; other bytes become surrogates.
    """

    path: str
    file: bytes


@dataclass(frozen=True, slots=True)
class Tree:
    """The wanted files of a folder in sorted order, and those that were refused."""

    entries: tuple[Entry, ...]
    faults: tuple[Diagnostic, ...]


def walk(root: Path, wanted: Callable[[str], bool], skip: Collection[Path] = ()) -> Tree:
    """Find every file under `root` whose name is wanted.

    Folders whose names begin with a dot, `node_modules`, former output of ours and the
    real paths in `skip` are passed over. A link, a pipe or a device that has a wanted
    name is a fault, for its author believes that it is read; so is a link to a folder.
    """
    entries: list[Entry] = []
    faults: list[Diagnostic] = []
    folders = [("", os.path.realpath(os.fsencode(root)))]
    skipped = {os.path.realpath(os.fsencode(path)) for path in skip}
    while folders:
        under, folder = folders.pop()
        try:
            with os.scandir(folder) as listing:
                found = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            faults.append(_unreadable(under, f"the folder can't be listed: {error.strerror}"))
            continue
        for entry in found:
            name = entry.name.decode("utf-8", "surrogateescape")
            path = f"{under}/{name}" if under else name
            if entry.is_symlink():
                if wanted(name) or (_entered(name) and os.path.isdir(entry.path)):
                    faults.append(_link(path))
            elif entry.is_dir(follow_symlinks=False):
                if _entered(name) and entry.path not in skipped and not is_our_output(entry.path):
                    folders.append((path, entry.path))
            elif wanted(name):
                flaw = _flaw(path, entry)
                if flaw is None:
                    entries.append(Entry(path, entry.path))
                else:
                    faults.append(flaw)
    entries.sort(key=lambda entry: entry.path)
    faults.sort(key=lambda diagnostic: diagnostic.place)
    return Tree(tuple(entries), tuple(faults))


def read_file(entry: Entry, bytes_max: int) -> bytes | Diagnostic:
    """The bytes of a file, or why it isn't read."""
    try:
        # The file may have been replaced since it was listed, so the kind and the size are
        # asked of what was opened; O_NONBLOCK keeps a pipe from holding us up.
        descriptor = os.open(entry.file, _OPEN_FLAGS)
    except OSError as error:
        return _unreadable(entry.path, f"the file can't be opened: {error.strerror}")
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return _special(entry.path, status.st_mode)
        try:
            content = file.read(bytes_max + 1) if status.st_size <= bytes_max else b""
        except OSError as error:
            return _unreadable(entry.path, f"the file can't be read: {error.strerror}")
    size = max(status.st_size, len(content))
    if size <= bytes_max:
        return content
    return fault(
        "EQ024",
        Place(readable(entry.path)),
        f"the file has {size:,} bytes; the limit is {bytes_max:,}",
        "split the file, or raise `limits.file_bytes_max` in the configuration",
    )


def readable(path: str) -> str:
    """`path` with bytes that aren't UTF-8 written as escapes, so that it can be printed."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _entered(folder: str) -> bool:
    return not folder.startswith(".") and folder not in SKIPPED_FOLDERS


def _flaw(path: str, entry: os.DirEntry[bytes]) -> Diagnostic | None:
    if not entry.is_file(follow_symlinks=False):
        try:
            mode = entry.stat(follow_symlinks=False).st_mode
        except OSError as error:
            return _unreadable(path, f"the file can't be opened: {error.strerror}")
        return _special(path, mode)
    wrong = _wrong_in_name(path)
    if wrong is None:
        return None
    return fault(
        "EQ024",
        Place(readable(path)),
        f"the file's name has {wrong}",
        "rename the file: its name becomes the page's address",
    )


def _wrong_in_name(path: str) -> str | None:
    for character in path:
        category = unicodedata.category(character)
        if category == "Cs":
            return "bytes that aren't UTF-8"
        if category in ("Cc", "Zl", "Zp"):
            return f"the control character U+{ord(character):04X}"
        if character in _REORDERING:
            return f"the character U+{ord(character):04X}, which reorders text"
        if character == "\\":
            return "a backslash, which browsers take for a slash"
    return None


def _link(path: str) -> Diagnostic:
    return _unreadable(
        path,
        "a symbolic link is not followed",
        "put the file or folder itself there: what is checked must lie inside the corpus",
    )


def _special(path: str, mode: int) -> Diagnostic:
    kinds = (
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISBLK, "a device"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISLNK, "a symbolic link"),
    )
    kind = next((name for test, name in kinds if test(mode)), "no plain file")
    return _unreadable(
        path,
        f"this is {kind}; only plain files are read",
        "remove it, or put a plain file in its place",
    )


def _unreadable(path: str, message: str, cure: str = "") -> Diagnostic:
    cure = cure or "make it readable, or move it out of the corpus"
    return fault("EQ024", Place(readable(path)), message, cure)
