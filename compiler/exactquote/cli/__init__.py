"""Turn a command line into a run, its output and an exit code."""

from __future__ import annotations

import gc
import importlib
import io
import os
import sys
from collections import UserDict
from collections.abc import Sequence
from typing import Any

import click

from exactquote import __version__
from exactquote.disk.refusal import Refusal

CLEAN, FINDINGS, WRONG_USE, OUR_BUG, INTERRUPTED = 0, 1, 2, 3, 130

# Each command lives in a module of its own, so that a run imports only what it needs.
_COMMANDS = {
    "build": "Check a corpus and write its site.",
    "ask": "Find the passages of a built site that answer a question.",
    "check": "Check a corpus or a built site; writes nothing.",
    "evidence": "Find the passages of a built site that support a claim.",
    "demo": "Show the gate refuse a passage that was made up.",
    "explain": "Explain a diagnostic code.",
    "init": "Begin a new corpus.",
    "serve": "Serve a built site with its chat function.",
    "gaps": "List the questions that the chat couldn't answer.",
    "forget": "Delete what the chat has kept of visitors.",
    "replay": "Verify the receipt of an answer against a build.",
    "land": "Open a built site's links in real browsers.",
    "stats": "Count the passages of a corpus by how they can be linked.",
    "schema": "Print the JSON schema of a file.",
}

_EPILOG = """\b
Exit codes:
  0  clean
  1  findings: the report says where, what and how to mend it
  2  wrong use, or input that can't be read (no such folder, bad configuration)
  3  a bug of ours

\b
Examples:
  exactquote init                    begin a corpus here
  exactquote check docs              check every citation in docs/
  exactquote build docs -o public    check, then write the site to public/
  exactquote explain EQ004           what is wrong and how it is mended
"""


class _LazyCommands(UserDict[str, Any]):
    """Commands by name; each is imported when it is asked for."""

    def __getitem__(self, name: str) -> click.Command:
        command: click.Command = importlib.import_module(f"exactquote.cli.{name}").command
        return command


class _Commands(click.Group):
    """A group whose help needs no command, and which knows what was nearly typed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], _COMMANDS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(_COMMANDS)}"
            raise click.UsageError(f"no such command {args[0]!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Commands,
    commands=_LazyCommands(_COMMANDS),
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=False,
    invoke_without_command=True,
)
@click.version_option(__version__, "-V", "--version", message="exactquote %(version)s")
@click.pass_context
def exactquote(ctx: click.Context) -> int:
    """Prove that every citation of a site is an exact quote, found exactly once."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        return WRONG_USE
    return CLEAN


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code and raises nothing."""
    words = list(sys.argv[1:] if args is None else args)
    # Whoever starts us may have closed them.
    sys.stdout, sys.stderr = sys.stdout or io.StringIO(), sys.stderr or io.StringIO()
    _make_printable()
    thresholds = gc.get_threshold()
    try:
        # A run makes many values and hardly a cycle among them, so that looking for cycles as
        # often as usual is a tenth of the time of a check.
        gc.set_threshold(100_000, 20, 100)
        code = exactquote.main(words, prog_name="exactquote", standalone_mode=False)
        sys.stdout.flush()
    except (KeyboardInterrupt, click.Abort):
        _complain("interrupted")
        return INTERRUPTED
    except click.ClickException as error:
        _show_usage(error)
        return WRONG_USE
    except Refusal as refusal:
        _complain(str(refusal))
        return WRONG_USE
    except SystemExit as end:
        # click ends like this when what it prints is no longer read.
        return end.code if isinstance(end.code, int) else CLEAN
    except BrokenPipeError:
        _silence_stdout()
        return CLEAN
    except Exception as error:
        _report_bug(error, verbose=any(word in ("-v", "--verbose") for word in words))
        return OUR_BUG
    finally:
        gc.set_threshold(*thresholds)
    return code if isinstance(code, int) else CLEAN


def _make_printable() -> None:
    # A terminal that can't show a character gets its escape instead of a traceback.
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _show_usage(error: click.ClickException) -> None:
    context = getattr(error, "ctx", None)
    hint = f" (see {context.command_path} --help)" if context is not None else ""
    # Choices come on lines of their own.
    _complain(error.format_message().replace("\n\t", " ") + hint)


def _complain(message: str) -> None:
    from exactquote.report.visible import visible

    lines = [visible(line) for line in message.split("\n")]
    try:
        print("\n".join(f"exactquote: {line}" for line in lines), file=sys.stderr)
    except OSError:
        _silence_stdout()


def _report_bug(error: Exception, verbose: bool) -> None:
    # Slow to load, and needed only here.
    import platform
    import traceback

    _complain(
        f"this is a bug of ours, not a fault of yours: {type(error).__name__}: {error}\n"
        "please report it with the command you ran and the output of the same command with -v\n"
        f"(exactquote {__version__}, Python {platform.python_version()}, {platform.platform()})"
    )
    if verbose:
        traceback.print_exception(error)


def _silence_stdout() -> None:
    # Whoever read our output has gone; what the interpreter flushes at its end goes nowhere.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
