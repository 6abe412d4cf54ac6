"""Reads what the environment of a function holds: URLs, tokens and keys.

What a file or a secret manager puts into a variable often ends with a line break. It is no
part of the value; anything else that can't be sent is told at the start, and never repeated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from exactquote_site.wire.allowlist import WireError

_KEY = re.compile(r"[!-~]+")


def variable(environ: Mapping[str, str], name: str) -> str:
    """What a variable holds, without white space around it; "" where it isn't set.

    Raises `WireError` for characters that nobody could have typed.
    """
    value = environ.get(name, "").strip()
    if not value.isprintable():
        raise WireError(f"${name} holds control characters")
    return value


def key_in(environ: Mapping[str, str], name: str) -> str:
    """The key in a variable; "" where it isn't set.

    Raises `WireError` for what no header of a request can hold.
    """
    value = environ.get(name, "").strip()
    if value and not _KEY.fullmatch(value):
        raise WireError(f"${name} holds characters that no key has")
    return value
