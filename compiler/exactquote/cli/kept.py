"""Turn the folder of a build into what its chat function has kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from exactquote.cli.options import dist_option
from exactquote.disk.refusal import Refusal
from exactquote.emit.functions import FOLDER
from exactquote_site.serve.config import CHAT_PATH, ChatConfig, read_config
from exactquote_site.serve.store.database import Database, StoreDown, WrongStore, open_database
from exactquote_site.serve.store.place import store_url
from exactquote_site.wire.allowlist import WireError


def with_store(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options that name a store: `dist` and `store`."""
    command = click.option(
        "--store",
        help="URL of the store, instead of the one that the function would use here.",
    )(command)
    found: Callable[..., int] = dist_option()(command)
    return found


def function_folder(dist: Path) -> Path:
    """The folder of a build's chat function. Raises `Refusal` where there is none."""
    if not dist.is_dir():
        raise Refusal(f"{dist}: no such folder; run `exactquote build`, or name the built site")
    folder = dist / FOLDER.rstrip("/")
    if not (folder / CHAT_PATH).is_file():
        raise Refusal(
            f"{dist} has no chat function; build it with chat.enabled = true, which is the default"
        )
    return folder


def function_config(folder: Path) -> ChatConfig:
    """What the function is to do. Raises `Refusal` when that can't be read."""
    try:
        return read_config((folder / CHAT_PATH).read_bytes())
    except OSError as error:
        raise Refusal(f"{folder / CHAT_PATH} can't be read: {error.strerror}") from None
    except WireError as error:
        raise Refusal(f"{folder}: {error}; build again") from None


@contextmanager
def opened_store(dist: Path, url: str | None) -> Iterator[tuple[ChatConfig, Database]]:
    """The store that the function of a build keeps things in, or the one at `url`.

    Raises `Refusal` for a folder without a function and a store that can't be opened.
    """
    folder = function_folder(dist)
    config = function_config(folder)
    try:
        found = url or store_url(folder, config.store, os.environ)
    except WireError as error:
        raise Refusal(str(error)) from None
    path = found.removeprefix("sqlite:///")
    if path != found and not Path(path).is_file():
        # Opening would make it, and an empty one would pass for a store without questions.
        raise Refusal(f"there is no store at {path}; nothing was asked yet, or name it by --store")
    try:
        database = open_database(found)
    except (StoreDown, WrongStore) as error:
        raise Refusal(f"the store can't be opened: {error}") from None
    try:
        yield config, database
    except StoreDown as error:
        raise Refusal(f"the store failed: {error}") from None
    finally:
        database.close()


def counted(number: int, noun: str) -> str:
    """A number with its noun, such as "1 gap" and "2 gaps"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def json_line(value: dict[str, Any]) -> str:
    """One object of JSON with the version of its form."""
    import msgspec

    text = msgspec.json.format(msgspec.json.encode({"version": 1, **value}), indent=2)
    return text.decode() + "\n"
