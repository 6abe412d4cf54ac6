"""Turns TOML into nodes; dates become their ISO text.

tomllib tells no places, so those of keys and of `[[tables]]` are found in the lines.
"""

from __future__ import annotations

import re
from datetime import date, time

from exactquote.readers.nodes import Malformed, Node, line_and_column

_AT = re.compile(r" \(at line (\d+), column (\d+)\)\Z")
_AT_END = re.compile(r" \(at end of document\)\Z")
_LINE = re.compile(
    r"""[ \t]*(?:\[\[[ \t]*(?P<table>[^\]]+?)[ \t]*\]\]|\[(?P<other>[^\]]*)\]"""
    r"""|(?P<quote>["']?)(?P<key>[A-Za-z0-9_-]+)(?P=quote)[ \t]*=)"""
)


def malformed_toml(error: ValueError, text: str) -> Malformed:
    """What tomllib said of `text`, with the place that it tells inside its message."""
    message = str(error)
    found = _AT.search(message)
    if "integer string" in message:
        return Malformed("not TOML: a number has too many digits", 1, 1)
    # It ends too early.
    line, column = (int(found[1]), int(found[2])) if found else (text.count("\n") + 1, 1)
    reason = _AT_END.sub("", _AT.sub("", message))
    return Malformed(f"not TOML: {reason}", line, column)


def toml_node(text: str, depth_max: int) -> Node:
    """The table of `text`. Raises `Malformed`."""
    import tomllib

    # tomllib takes quadratic time for a key of many parts.
    long_key = _dotted_key(depth_max).search(text)
    if long_key:
        at = line_and_column(text, long_key.start())
        raise Malformed(f"a key has more than {depth_max} parts", *at)
    try:
        values = tomllib.loads(text)
    except ValueError as error:
        raise malformed_toml(error, text) from None
    except RecursionError:
        raise Malformed(f"nesting is deeper than {depth_max} levels", 1, 1) from None
    return _node(values, (1, 1), _places(text), "", depth_max)


def _dotted_key(parts_max: int) -> re.Pattern[str]:
    part = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
    return re.compile(rf"^[ \t]*+\[{{0,2}}[ \t]*+(?:{part}){{{parts_max}}}", re.MULTILINE)


def _node(
    value: object,
    at: tuple[int, int],
    places: dict[str, tuple[int, int]],
    path: str,
    depth_left: int,
) -> Node:
    if isinstance(value, (dict, list)) and depth_left < 1:
        raise Malformed("nesting is too deep", *at)
    if isinstance(value, dict):
        keys = {key: places.get(f"{path}/{key}", at) for key in value}
        items = {
            key: _node(item, keys[key], places, f"{path}/{key}", depth_left - 1)
            for key, item in value.items()
        }
        return Node(items, *at, keys=keys)
    if isinstance(value, list):
        entries = [
            _node(item, places.get(f"{path}/{i}", at), places, f"{path}/{i}", depth_left - 1)
            for i, item in enumerate(value)
        ]
        return Node(entries, *at)
    if isinstance(value, (str, bool, int, float)):
        return Node(value, *at)
    assert isinstance(value, (date, time))
    return Node(str(value.isoformat()), *at, plain=True)


def _places(text: str) -> dict[str, tuple[int, int]]:
    """Places of keys at the start of a line, by path: `/citations/0/quote`."""
    places: dict[str, tuple[int, int]] = {}
    counts: dict[str, int] = {}
    prefix = ""
    inside = ""
    for number, line in enumerate(text.split("\n"), 1):
        if inside:
            inside = _still_open(line, inside)
            continue
        found = _LINE.match(line)
        if found and found["table"] is not None:
            name = found["table"]
            count = counts[name] = counts.get(name, -1) + 1
            places.setdefault(f"/{name}", (number, line.index("[") + 1))
            prefix = f"/{name}/{count}"
            places[prefix] = (number, line.index("[") + 1)
        elif found and found["other"] is not None:
            prefix = "/" + found["other"].strip().replace(".", "/")
            places.setdefault(prefix, (number, line.index("[") + 1))
        elif found:
            places.setdefault(f"{prefix}/{found['key']}", (number, found.start("key") + 1))
            inside = _opened(line[found.end() :])
    return places


def _opened(value: str) -> str:
    """The quotes of a text that goes on over several lines, or ""."""
    value = value.strip()
    for quotes in ('"""', "'''"):
        if value.startswith(quotes):
            return _still_open(value[3:], quotes)
    return ""


def _still_open(line: str, quotes: str) -> str:
    return "" if quotes in line else quotes
