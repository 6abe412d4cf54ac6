"""Turn the files of a build into a folder that is switched as a whole, or not at all."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from exactquote.disk.ours import is_our_output
from exactquote.disk.refusal import Refusal

_WAIT_SECONDS = 30.0
_POLL_SECONDS = 0.05
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
# Kernels and file systems that can't exchange two names say so in one of these ways.
_NO_EXCHANGE = frozenset((errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM))


def write_output(files: Mapping[str, bytes], target: Path, *, force: bool = False) -> None:
    """Make `target` hold exactly `files`.

    The files are written to a folder beside `target` and brought to the disk first; then
    the two change places in one step. Whatever goes wrong before that leaves the former
    folder as it was. A folder that isn't a build of ours is replaced only with `force`.
    Raises `Refusal` when the output can't be written.
    """
    _require_paths(files)
    place = Path(os.path.realpath(target))
    _require_ours(place, target, force)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with _alone(place.parent):
            _recover(place)
            _require_ours(place, target, force)
            _replace(files, place)
    except OSError as error:
        raise Refusal(
            f"{target} can't be written: {error.strerror or error}; it is as it was before"
        ) from None


def _require_paths(files: Mapping[str, bytes]) -> None:
    folders: set[str] = set()
    for path in files:
        path.encode()  # A lone surrogate has no name on the disk; `ValueError`, too.
        parts = path.split("/")
        if any(part in ("", ".", "..") for part in parts) or "\\" in path or "\0" in path:
            raise ValueError(f"no path for a file of a site: {path!r}")
        folders.update("/".join(parts[:i]) for i in range(1, len(parts)))
    for path in sorted(folders & files.keys()):
        raise Refusal(f"the build makes {path} both a page and a folder; rename one of the two")


def _require_ours(place: Path, target: Path, force: bool) -> None:
    """Raise `Refusal` when something would be lost that a build can't make again."""
    here = Path.cwd().resolve()
    if place == here or place in here.parents:
        raise Refusal(f"{target} is the folder you stand in, or holds it; name another output")
    if not os.path.lexists(place):
        return
    if not place.is_dir():
        raise Refusal(f"{target} is a file; name a folder for the output")
    if force or is_our_output(os.fsencode(place)):
        # A checkout inside, such as one of a publishing branch, is work of somebody else's.
        if (place / ".git").exists() and not force:
            raise Refusal(f"{target} holds a .git that would be lost; --force replaces it")
        return
    try:
        empty = not any(place.iterdir())
    except OSError as error:
        raise Refusal(f"{target} can't be listed: {error.strerror}") from None
    if not empty:
        raise Refusal(
            f"{target} is not empty and has no build.json of ours, so it is left alone;"
            " --force replaces it"
        )


@contextlib.contextmanager
def _alone(parent: Path) -> Iterator[None]:
    """Hold the lock of builds whose outputs lie in `parent`; it ends with the process."""
    # The folder itself is locked, so there is no lock file that could be left behind.
    descriptor = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        deadline = time.monotonic() + _WAIT_SECONDS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise Refusal(
                        f"another build has been writing to {parent} for"
                        f" {_WAIT_SECONDS:.0f} seconds; try again when it is done"
                    ) from None
                time.sleep(_POLL_SECONDS)
        yield
    finally:
        os.close(descriptor)


def _recover(place: Path) -> None:
    """Undo what a killed build left: nobody else works here while we hold the lock."""
    fresh, former = _fresh(place), _former(place)
    if former.is_dir() and not os.path.lexists(place):
        former.rename(place)
    _remove(fresh)
    _remove(former)


def _replace(files: Mapping[str, bytes], place: Path) -> None:
    fresh, former = _fresh(place), _former(place)
    try:
        _write(files, fresh)
        _to_disk(fresh, files)
        if not place.exists():
            fresh.rename(place)
        elif not _exchanged(fresh, place):
            _dance(fresh, former, place)
        with contextlib.suppress(OSError):
            # The switch is done, and both folders are whole on the disk already.
            _sync(place.parent)
    finally:
        # After the switch `fresh` is the former output; after a failure, what was written.
        _remove(fresh)
        if place.exists():
            _remove(former)


def _fresh(place: Path) -> Path:
    return place.with_name(f".exactquote-{place.name}.new")


def _former(place: Path) -> Path:
    return place.with_name(f".exactquote-{place.name}.old")


def _write(files: Mapping[str, bytes], folder: Path) -> None:
    folder.mkdir()
    made = {""}
    for path, content in files.items():
        parent = path.rpartition("/")[0]
        if parent not in made:
            os.makedirs(_inside(folder, parent), exist_ok=True)
            made.add(parent)
        with open(_inside(folder, path), "xb") as file:
            file.write(content)


def _inside(folder: Path, path: str) -> bytes:
    # The names of a site's files are UTF-8, as its links are, whatever the locale says.
    return os.path.join(os.fsencode(folder), path.encode())


def _to_disk(folder: Path, files: Mapping[str, bytes]) -> None:
    # One call for the file system is far quicker than one for each of thousands of files.
    syncfs = getattr(_libc(), "syncfs", None)
    if syncfs is not None:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if syncfs(descriptor) == 0:
                return
            if ctypes.get_errno() != errno.ENOSYS:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        finally:
            os.close(descriptor)
    folders = {path.rpartition("/")[0] for path in files} | {""}
    for path in [*files, *sorted(folders)]:
        _sync(_inside(folder, path))


def _sync(path: bytes | Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _exchanged(one: Path, other: Path) -> bool:
    """Let two folders change names in one step; False where that can't be done."""
    renameat2 = getattr(_libc(), "renameat2", None)
    if renameat2 is None:
        return False
    names = (_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other))
    if renameat2(*names, _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NO_EXCHANGE:
        return False
    raise OSError(number, os.strerror(number))


def _dance(fresh: Path, former: Path, place: Path) -> None:
    """Switch in two steps; a build killed between them is undone by the next one."""
    place.rename(former)
    try:
        fresh.rename(place)
    except OSError:
        former.rename(place)
        raise


def _libc() -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(None, use_errno=True)
    except OSError:
        return None


def _remove(path: Path) -> None:
    """Remove a folder of ours; a failure here must not hide what happened before."""
    if path.is_symlink() or path.is_file():
        with contextlib.suppress(OSError):
            path.unlink()
    else:
        shutil.rmtree(path, ignore_errors=True)
