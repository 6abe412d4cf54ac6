"""Finds the URL of the store of a function, for the function itself and for its owner's tools."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from exactquote_site.serve.config import StoreConfig
from exactquote_site.serve.environment import variable


def store_url(folder: Path, store: StoreConfig, environ: Mapping[str, str]) -> str:
    """The store for the `functions` folder of a build: the environment's, else the
    configured one, else a file of this machine that is named for the folder.

    Raises `WireError` for a variable that holds no URL.
    """
    return variable(environ, store.url_env) or store.url or _default(folder)


def _default(folder: Path) -> str:
    """It lasts as long as the machine; a function whose folder can't be written has it too."""
    # Every process of one build finds the same file, and so does the next build.
    digest = hashlib.sha256(str(folder.resolve()).encode("utf-8", "surrogatepass")).hexdigest()
    # In a folder of the user's own, since others may write beside it.
    mine = Path(tempfile.gettempdir()) / f"exactquote-{getattr(os, 'geteuid', int)()}"
    return f"sqlite:///{mine / f'{digest[:16]}.db'}"
