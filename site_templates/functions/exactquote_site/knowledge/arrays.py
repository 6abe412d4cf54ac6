"""Packs named arrays into one file of bytes, and reads them back without copying.

The file is a line that names its kind, a line of JSON that describes the arrays, and the
arrays one after the other, little-endian. It holds no date and nothing compressed, since
compressors of other versions give other bytes for the same arrays.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactquote_site.wire.allowlist import WireError

VERSION = 1
_KINDS = {"|u1": 1, "<u2": 2, "<u4": 4, "<f4": 4, "<f8": 8}
# Each array begins at a multiple of this many bytes, so that it is read where it lies.
_ALIGNED = 16
_HEADER_BYTES_MAX = 1 << 20

Settings = dict[str, str | int | float]


def pack(
    kind: str, arrays: Mapping[str, NDArray[Any]], settings: Mapping[str, str | int | float]
) -> bytes:
    """The arrays, of dtype uint8, uint16, uint32, float32 or float64, with some settings.

    The same arrays give the same bytes on any machine.
    """
    described, bodies = [], []
    for name in sorted(arrays):
        array = arrays[name]
        body = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
        if body.dtype.str not in _KINDS:
            raise TypeError(f"{name}: arrays of {body.dtype} have no form in a file")
        described.append([name, body.dtype.str, list(body.shape)])
        bodies.append(body.tobytes() + bytes(-body.nbytes % _ALIGNED))
    rest = b"".join(bodies)
    header = {"arrays": described, "crc32": zlib.crc32(rest), "settings": dict(settings)}
    line = json.dumps(header, sort_keys=True, separators=(",", ":"))
    begin = _first_line(kind) + line.encode("utf-8")
    return begin + b" " * (-(len(begin) + 1) % _ALIGNED) + b"\n" + rest


def unpack(kind: str, data: bytes) -> tuple[dict[str, NDArray[Any]], Settings]:
    """The arrays, read-only and backed by `data`, and the settings.

    Raises `WireError` for a file of another kind or version, and for one that was cut or
    changed.
    """
    first = _first_line(kind)
    if not data.startswith(first):
        begin = bytes(data[:40]).partition(b"\n")[0]
        raise WireError(f"{kind}: wants a file that begins with {first!r}, not {begin!r}")
    end = data.find(b"\n", len(first), len(first) + _HEADER_BYTES_MAX)
    if end < 0:
        raise WireError(f"{kind}: the header has no end")
    try:
        header = json.loads(data[len(first) : end].decode("utf-8"))
        described = [(str(name), str(dtype), list(form)) for name, dtype, form in header["arrays"]]
        crc32, settings = header["crc32"], dict(header["settings"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise WireError(f"{kind}: the header can't be read: {error}") from error
    rest = memoryview(data)[end + 1 :]
    if zlib.crc32(rest) != crc32:
        raise WireError(f"{kind}: the file was cut or changed after it was written")
    return _arrays(kind, described, rest), settings


def _first_line(kind: str) -> bytes:
    return f"exactquote {kind} {VERSION}\n".encode("ascii")


def _arrays(
    kind: str, described: list[tuple[str, str, list[Any]]], rest: memoryview
) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}
    start = 0
    for name, dtype, form in described:
        if dtype not in _KINDS or not all(type(side) is int and side >= 0 for side in form):
            raise WireError(f"{kind}: array {name!r} has no form that can be read")
        count = math.prod(form)
        size = count * _KINDS[dtype]
        if name in found or start + size > len(rest):
            raise WireError(f"{kind}: array {name!r} is given twice or isn't all there")
        found[name] = np.frombuffer(rest, dtype, count, start).reshape(form)
        start += size + -size % _ALIGNED
    if start != len(rest):
        raise WireError(f"{kind}: {len(rest) - start} bytes belong to no array")
    return found
