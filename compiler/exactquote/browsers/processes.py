"""Turns a command into a running program that can't outlive us, with a folder of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from exactquote.browsers.landing import Gone

Answer = TypeVar("Answer")

# The shell holds the program in its process group and waits for the end of its own input,
# which comes when we close it or end in any way, even by SIGKILL.
_GUARDED = """
folder=$1; shift
("$@" </dev/null >"$folder/output.txt" 2>&1; : >"$folder/ended") &
program=$!
cat >/dev/null
trap '' TERM
kill -TERM 0
(sleep 3; kill -KILL 0) &
wait $program
rm -rf -- "$folder"
kill -KILL 0
"""
# A program that is spoken to through descriptors 3 and 4 ends by itself at the end of input.
_PIPED = """
folder=$1; shift
"$@" 3<&0 4>&1 </dev/null >"$folder/output.txt" 2>&1
rm -rf -- "$folder"
"""
_POLL_SECONDS = 0.01
_GRACE_SECONDS = 1.0
_FOLDER_CHARS_MAX = 40


class Program:
    """A running program; `folder` is its home, and is removed with it."""

    def __init__(
        self,
        command: Callable[[Path], Sequence[str]],
        environment: Mapping[str, str],
        *,
        piped: bool = False,
    ) -> None:
        """Start what `command` makes of the folder; piped, it is spoken to through pipes."""
        self.folder = Path(tempfile.mkdtemp(prefix="exactquote-", dir=_short_folder()))
        try:
            self._shell = subprocess.Popen(
                [
                    *("/bin/sh", "-c", _PIPED if piped else _GUARDED),
                    *("sh", str(self.folder)),
                    *command(self.folder),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE if piped else subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={
                    **os.environ,
                    **environment,
                    "HOME": str(self.folder),
                    "TMPDIR": str(self.folder),
                },
                bufsize=0,
                start_new_session=True,
            )
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    @property
    def pipe(self) -> tuple[int, int]:
        """Descriptors to write to and to read from the program, if it is piped."""
        if self._shell.stdin is None or self._shell.stdout is None:
            raise ValueError("the program was not started with pipes")
        return self._shell.stdin.fileno(), self._shell.stdout.fileno()

    def wait_for(self, look: Callable[[], Answer | None], seconds: float) -> Answer:
        """What `look` finds, once it finds something. Raises `Gone` when that takes too long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if (answer := look()) is not None:
                return answer
            if (self.folder / "ended").exists():
                raise Gone(f"the program ended: {self._said}")
            time.sleep(_POLL_SECONDS)
        raise Gone(f"the program did not start: {self._said}")

    @property
    def _said(self) -> str:
        return self.output[-400:].strip() or "no output"

    @property
    def output(self) -> str:
        """What the program has printed."""
        try:
            return (self.folder / "output.txt").read_text("utf-8", "replace")
        except OSError:
            return ""

    def close(self) -> None:
        """End the program and everything that it started; remove its folder."""
        if self._shell.stdin is not None:
            self._shell.stdin.close()
        # A display that is killed at once leaves its socket behind.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._shell.wait(_GRACE_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._shell.pid, signal.SIGKILL)
        self._shell.wait()
        if self._shell.stdout is not None:
            self._shell.stdout.close()
        # A dying process may still write for a moment, which makes the removal of a folder fail.
        for _ in range(50):
            shutil.rmtree(self.folder, ignore_errors=True)
            if not self.folder.exists():
                return
            time.sleep(_POLL_SECONDS)


def _short_folder() -> str:
    # Browsers put sockets below it, and the path of a socket has at most 107 bytes.
    usual = tempfile.gettempdir()
    return usual if len(usual) <= _FOLDER_CHARS_MAX else "/tmp"
