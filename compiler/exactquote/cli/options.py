"""Turn the options that several commands share into one value."""

from __future__ import annotations

import functools
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from exactquote.disk.sidecars import SUFFIXES

_COLUMNS = 100


@dataclass(frozen=True, slots=True)
class Options:
    """How a command reads its configuration and how it speaks."""

    json: bool = False
    quiet: bool = False
    verbose: bool = False
    color: bool = False
    progress: bool = False
    columns: int = _COLUMNS
    config: Path | None = None


def folder_argument(metavar: str = "[DIR]") -> Callable[[Any], Any]:
    """The corpus folder; `corpus/` where there is one, else the working folder."""
    return click.argument(
        "folder", required=False, metavar=metavar, type=click.Path(path_type=Path)
    )


def dist_option() -> Callable[[Any], Any]:
    """The folder of a built site that a command looks into."""
    return click.option(
        "--dist",
        default=Path("dist"),
        show_default=True,
        type=click.Path(path_type=Path),
        help="Folder of the built site.",
    )


def default_folder(folder: Path | None) -> Path:
    """The folder given, or the one that is meant when none is."""
    if folder is not None:
        return folder
    return Path("corpus") if Path("corpus").is_dir() else Path()


def with_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the shared options; it receives them as `options`."""

    @click.option(
        "--format",
        "output_format",
        type=click.Choice(["text", "json"]),
        default="text",
        help="How to print the report; json is one object on standard output.",
    )
    @click.option("-q", "--quiet", is_flag=True, help="Print findings only.")
    @click.option("-v", "--verbose", is_flag=True, help="List bound citations, too.")
    @click.option(
        "--config",
        type=click.Path(path_type=Path),
        help="Configuration to use instead of the one found.",
    )
    @click.option("--no-color", is_flag=True, help="No colours; so does NO_COLOR.")
    @functools.wraps(command)
    def wrapped(
        output_format: str,
        quiet: bool,
        verbose: bool,
        config: Path | None,
        no_color: bool,
        **own: Any,
    ) -> int:
        if quiet and verbose:
            raise click.UsageError("-q and -v exclude each other", click.get_current_context())
        terminal = sys.stdout.isatty()
        options = Options(
            json=output_format == "json",
            quiet=quiet,
            verbose=verbose,
            color=terminal and not no_color and _color_allowed(),
            progress=sys.stderr.isatty() and not quiet and _can_redraw(),
            columns=shutil.get_terminal_size((_COLUMNS, 24)).columns if terminal else _COLUMNS,
            config=config,
        )
        return command(options=options, **own)

    return wrapped


def _color_allowed() -> bool:
    return not os.environ.get("NO_COLOR") and _can_redraw()


def _can_redraw() -> bool:
    return os.environ.get("TERM") != "dumb"


class ManyCitations(click.Command):
    """Lets `--citations` take several files in a row, as a shell's pattern gives them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the option before each further file."""
        spread: list[str] = []
        taking = value_next = False
        for word in args:
            if value_next:
                taking, value_next = True, False
            elif word == "--citations":
                value_next = True
            elif taking and word.endswith(SUFFIXES) and not word.startswith("-"):
                spread.append("--citations")
            else:
                taking = False
            spread.append(word)
        return super().parse_args(ctx, spread)
