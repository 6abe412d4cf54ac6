"""Whatever fails while a build is written, the output is the former one or the new one."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from exactquote.disk import output
from exactquote.disk.output import write_output
from exactquote.disk.refusal import Refusal

MARK = b'{"build_id": "%s"}'
OLD = {"index.html": b"old", "a/b.html": b"old", "gone.html": b"old", "build.json": MARK % b"old"}
NEW = {"index.html": b"new" * 9000, "a/b.html": b"new", "build.json": MARK % b"new"}


def held(folder: Path) -> dict[str, bytes]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def beside(folder: Path) -> list[str]:
    return sorted(os.listdir(folder.parent))


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    write_output(OLD, tmp_path / "dist")
    return tmp_path / "dist"


@pytest.fixture(params=["exchange", "dance"])
def switch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of switching: in one step, and in two where the system knows no exchange."""
    if request.param == "dance":
        monkeypatch.setattr(output, "_exchanged", lambda one, other: False)
    return str(request.param)


def test_the_new_output_is_exactly_the_files_given(dist: Path, switch: str) -> None:
    write_output(NEW, dist)
    assert held(dist) == NEW
    assert beside(dist) == ["dist"]


def test_an_empty_folder_or_an_absent_one_is_filled(tmp_path: Path, switch: str) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("empty", "absent/deep/dist"):
        write_output(NEW, tmp_path / name)
        assert held(tmp_path / name) == NEW


def test_others_may_read_what_was_written(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_output(NEW, tmp_path / "dist")
    finally:
        os.umask(before)
    assert (tmp_path / "dist").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "dist/index.html").stat().st_mode & 0o777 == 0o644


def test_a_link_to_the_output_stays_a_link(tmp_path: Path) -> None:
    write_output(OLD, tmp_path / "real")
    (tmp_path / "dist").symlink_to("real")
    write_output(NEW, tmp_path / "dist")
    assert (tmp_path / "dist").is_symlink()
    assert held(tmp_path / "real") == NEW


# what the target holds, part of the refusal, whether force helps
NOT_OURS = {
    "a folder of someone else": ({"thesis.md": b"work"}, "is not empty", True),
    "a build.json of another tool": ({"build.json": b"{}", "x": b"work"}, "is not empty", True),
    "a build.json that is no JSON": ({"build.json": b"{", "x": b"work"}, "is not empty", True),
    "a checkout in the output": ({**OLD, ".git/HEAD": b"ref"}, "would be lost", True),
}


@pytest.mark.parametrize("name", NOT_OURS)
def test_prevents_the_loss_of_a_folder_that_is_not_ours(tmp_path: Path, name: str) -> None:
    files, message, forced = NOT_OURS[name]
    dist = tmp_path / "dist"
    for path, content in files.items():
        (dist / path).parent.mkdir(parents=True, exist_ok=True)
        (dist / path).write_bytes(content)
    with pytest.raises(Refusal, match=message):
        write_output(NEW, dist)
    assert held(dist) == files
    assert beside(dist) == ["dist"]
    write_output(NEW, dist, force=forced)
    assert held(dist) == NEW


def test_prevents_the_loss_of_the_folder_one_stands_in(
    dist: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(dist / "a")
    for target in (dist / "a", dist, dist.parent, Path("/")):
        with pytest.raises(Refusal, match="the folder you stand in"):
            write_output(NEW, target, force=True)
    assert held(dist) == OLD


def test_a_file_is_no_output(tmp_path: Path) -> None:
    (tmp_path / "dist").write_text("notes")
    with pytest.raises(Refusal, match="is a file"):
        write_output(NEW, tmp_path / "dist", force=True)
    with pytest.raises(Refusal, match="can't be written"):
        write_output(NEW, tmp_path / "dist/below")
    assert (tmp_path / "dist").read_text() == "notes"


@pytest.mark.parametrize("path", ["../x", "/x", "a/../x", "a//x", "./x", "", "a\\x", "a\0x", "a/"])
def test_prevents_a_file_outside_of_the_output(dist: Path, path: str) -> None:
    with pytest.raises(ValueError, match="no path for a file"):
        write_output({**NEW, path: b"x"}, dist)
    assert held(dist) == OLD


# files that can't be written, part of the refusal
UNWRITABLE = {
    "a page that is a folder": ({"a": b"x", "a/b.html": b"x"}, "both a page and a folder"),
    "a name too long": ({"x" * 300: b"x"}, "File name too long"),
}


@pytest.mark.parametrize("name", UNWRITABLE)
def test_files_that_cannot_be_written_change_nothing(dist: Path, name: str) -> None:
    files, message = UNWRITABLE[name]
    with pytest.raises(Refusal, match=message):
        write_output({**NEW, **files}, dist)
    assert held(dist) == OLD
    assert beside(dist) == ["dist"]


STEPS = ("_write", "_to_disk", "_exchanged")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, errno.EIO, errno.EDQUOT])
def test_an_error_at_any_step_changes_nothing(
    dist: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: int
) -> None:
    real: Callable[..., object] = getattr(output, step)

    def failing(*args: object) -> None:
        if step == "_write":
            real(*args)
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(output, step, failing)
    with pytest.raises(Refusal, match="as it was before"):
        write_output(NEW, dist)
    assert held(dist) == OLD
    assert beside(dist) == ["dist"]


def test_an_error_in_the_second_of_two_steps_is_undone(
    dist: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "_exchanged", lambda one, other: False)
    real = Path.rename

    def rename(self: Path, target: Path) -> Path:
        if self.name.endswith(".new"):
            raise OSError(errno.EACCES, "Permission denied")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(Refusal, match="Permission denied"):
        write_output(NEW, dist)
    assert held(dist) == OLD
    assert beside(dist) == ["dist"]


def in_child(work: Callable[[], None]) -> int:
    """Run `work` in a process of its own; its exit code, or minus the signal that ended it."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            work()
            code = 0
        except Refusal:
            code = 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def test_a_file_size_limit_changes_nothing(dist: Path) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        write_output(NEW, dist)

    assert in_child(limited) == 2
    assert held(dist) == OLD
    assert beside(dist) == ["dist"]


@contextlib.contextmanager
def tiny_disk(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("a file system of its own can't be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    with tiny_disk(tmp_path / "disk") as disk:
        write_output(OLD, disk / "dist")
        with pytest.raises(Refusal, match="No space left"):
            write_output({**NEW, "large.bin": bytes(100_000)}, disk / "dist")
        assert held(disk / "dist") == OLD
        assert beside(disk / "dist") == ["dist"]


def test_a_mount_point_is_no_output_but_is_left_whole(tmp_path: Path) -> None:
    with tiny_disk(tmp_path / "disk") as disk:
        with pytest.raises(Refusal, match="can't be written"):
            write_output(NEW, disk)
        assert held(disk) == {}
        assert beside(disk) == ["disk"]


# Functions of the module before or after which the process is killed.
MOMENTS = [
    (name, after)
    for name in ("_recover", "_write", "_to_disk", "_exchanged", "_remove")
    for after in (False, True)
]


@pytest.mark.parametrize(("name", "after"), MOMENTS)
def test_prevents_a_mixed_output_of_a_killed_build(dist: Path, name: str, after: bool) -> None:
    def killed() -> None:
        real = getattr(output, name)

        def dying(*args: object) -> object:
            if after:
                real(*args)
            os.kill(os.getpid(), signal.SIGKILL)
            return None

        setattr(output, name, dying)
        write_output(NEW, dist)

    assert in_child(killed) == -signal.SIGKILL
    assert held(dist) in (OLD, NEW)
    # The next build finds nothing in its way and leaves nothing of the killed one.
    write_output(NEW, dist)
    assert held(dist) == NEW
    assert beside(dist) == ["dist"]


def test_prevents_a_mixed_output_of_a_build_killed_at_any_time(dist: Path) -> None:
    many = {f"p/{i}.html": b"new" * 500 for i in range(300)} | NEW
    started = time.monotonic()
    write_output(many, dist)
    whole = time.monotonic() - started
    for part in range(12):
        write_output(OLD, dist, force=True)
        child = os.fork()
        if child == 0:
            write_output(many, dist)
            os._exit(0)
        time.sleep(whole * part / 10)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert held(dist) in (OLD, many)


def test_a_build_killed_between_two_steps_is_undone(dist: Path) -> None:
    dist.rename(dist.with_name(".exactquote-dist.old"))
    with pytest.raises(ValueError, match="no path"):
        write_output({"..": b""}, dist)
    (dist.parent / ".exactquote-dist.new").mkdir()
    # The former output comes back even when the next build fails.
    with pytest.raises(Refusal, match="File name too long"):
        write_output({"x" * 300: b"x"}, dist)
    assert held(dist) == OLD
    assert beside(dist) == ["dist"]


def test_two_builds_at_once_come_one_after_the_other(dist: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from exactquote.disk.output import write_output\n"
        "name = sys.argv[1].encode()\n"
        "files = {f'{i}.html': name for i in range(200)}\n"
        "files['build.json'] = b'{\"build_id\": \"x\"}'\n"
        "for _ in range(5): write_output(files, Path(sys.argv[2]))\n"
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", script, name, str(dist)], env=os.environ)
        for name in ("one", "two")
    ]
    assert [run.wait(timeout=60) for run in runs] == [0, 0]
    assert len({content for path, content in held(dist).items() if path != "build.json"}) == 1
    assert len(held(dist)) == 201
    assert beside(dist) == ["dist"]


def test_a_lock_that_is_never_freed_ends_in_a_message(
    dist: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "_WAIT_SECONDS", 0.1)
    descriptor = os.open(dist.parent, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with pytest.raises(Refusal, match="another build"):
            write_output(NEW, dist)
    finally:
        os.close(descriptor)
    assert held(dist) == OLD
