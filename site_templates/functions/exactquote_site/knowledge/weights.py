"""Checks that the weights in an installed package are those that an index was made with."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from exactquote_site.knowledge.embedders import EmbedderUnfit


def installed_version(package: str, cure: str) -> str:
    """Version of an installed package. Raises `EmbedderUnfit` with the cure for none."""
    try:
        return version(package)
    except PackageNotFoundError:
        raise EmbedderUnfit(f"the package {package} isn't installed; {cure}") from None


def checked_folder(module: str, sha256: Mapping[str, str], cure: str) -> Path:
    """The folder of a module, whose files have the given hashes.

    The paths of `sha256` are relative to it. Raises `EmbedderUnfit` for a file that is
    missing or another one, and says the cure.
    """
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise EmbedderUnfit(f"the module {module} can't be imported; {cure}")
    folder = Path(spec.origin).parent
    for name, wanted in sha256.items():
        try:
            with open(folder / name, "rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise EmbedderUnfit(
                f"{module}/{name} can't be read: {error.strerror or error}; {cure}"
            ) from None
        if found != wanted:
            raise EmbedderUnfit(
                f"{module}/{name} isn't the file that vectors are made with:"
                f" its sha256 begins {found[:12]}, not {wanted[:12]}; {cure}"
            )
    return folder
