"""Turn a finished run into output; a reader who has gone changes no exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from exactquote.cli.options import Options
from exactquote.disk.refusal import Refusal
from exactquote.model import Build
from exactquote.report.visible import visible


def say(text: str) -> None:
    """Print text that ends with a line end. Raises `Refusal` when it can't be printed."""
    try:
        # JSON and reports are UTF-8 whatever the locale says, as every file of ours is.
        stream = getattr(sys.stdout, "buffer", None)
        if stream is None:
            sys.stdout.write(text)
        else:
            sys.stdout.flush()
            stream.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise Refusal(f"the report can't be printed: {error.strerror}") from None


def say_report(build: Build, root: Path, options: Options) -> None:
    """Print the report on a build in the form that was asked for."""
    shown = shown_from(root)
    if options.json:
        from exactquote.report.machine import json_report

        say(json_report(build, shown))
    else:
        from exactquote.report.text import Style, text_report

        style = Style(options.columns, options.color, not options.quiet, options.verbose)
        say(text_report(build, shown, style))


def shown_from(root: Path) -> Callable[[str], str]:
    """A function that turns a path under `root` into one seen from the working folder."""
    here = _readable(os.getcwd())
    base = _readable(root)
    memo: dict[str, str] = {}

    def shown(path: str) -> str:
        if path not in memo:
            joined = os.path.normpath(os.path.join(base, path))
            if os.path.isabs(joined) and joined.startswith(here.rstrip("/") + "/"):
                joined = os.path.relpath(joined, here)
            memo[path] = joined.replace(os.sep, "/")
        return memo[path]

    return shown


def _readable(path: str | Path) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


class ProgressLine:
    """One line on the terminal that says how far a run is; it is gone at the end."""

    def __init__(self, enabled: bool) -> None:
        """A line that is shown only when `enabled`."""
        self._enabled = enabled
        self._shown = ""

    def __call__(self, what: str, done: int, of: int) -> None:
        """Show that `done` of `of` steps are made; only every hundredth part is drawn."""
        if not self._enabled or (done % max(of // 100, 1) and done != of):
            return
        line = f"{visible(what)} {done} of {of}" if of else visible(what)
        if line != self._shown:
            self._shown = line
            sys.stderr.write(f"\r\x1b[K{line[:78]}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = ""
