"""Turns a citation file `NAME.citations.json|yaml|toml` into the citations that it lists.

An entry that can't be used is a fault at its own place; the others are read all the same.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from exactquote.codes import fault
from exactquote.model import CitationFile, Diagnostic, Place, Written
from exactquote.readers.cite_links import CITE_ID
from exactquote.readers.nodes import Malformed, Node, surrogate_at

_DEPTH_MAX = 20
_SYNONYMS = (("doc", "docId"), ("quote", "passage"))


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One citation of a citation file.

    `doc` or `docId` is the cited document; `quote` or `passage` the exact passage, or else
    `from` and `to` its first and last words. `occurrence` counts from 0.
    """

    id: str | UnsetType = UNSET
    doc: str | UnsetType = UNSET
    doc_id: str | UnsetType = msgspec.field(default=UNSET, name="docId")
    quote: str | UnsetType = UNSET
    passage: str | UnsetType = UNSET
    claim: str | UnsetType = UNSET
    occurrence: int | UnsetType = UNSET
    prefix: str | UnsetType = UNSET
    suffix: str | UnsetType = UNSET
    from_: str | UnsetType = msgspec.field(default=UNSET, name="from")
    to: str | UnsetType = UNSET


KEYS = tuple(Entry.__struct_encode_fields__)


def read_sidecar(
    file: CitationFile, source: str = ""
) -> tuple[tuple[Written, ...], tuple[Diagnostic, ...]]:
    """The citations of a file, and its faults; `source` is the document it stands beside."""
    try:
        entries = _entries(file)
    except Malformed as problem:
        place = Place(file.path, problem.line, problem.column)
        cure = _YAML_CURE if problem.message.startswith("not YAML") else _CURE
        return (), (fault("EQ020", place, problem.message, cure),)
    written: list[Written] = []
    faults: list[Diagnostic] = []
    for index, node in enumerate(entries):
        try:
            written.append(_written(node, file.path, source))
        except _Wrong as wrong:
            place = Place(file.path, wrong.line, wrong.column)
            faults.append(fault("EQ020", place, f"entry {index}: {wrong.message}", wrong.help))
    return tuple(written), tuple(faults)


_CURE = (
    'write a list of entries such as {"doc": "guide/setup", "quote": "exact passage"}, '
    "in TOML as tables `[[citations]]`"
)


_YAML_CURE = "put text that has `: ` or ` #`, or begins with a sign, in quotes; indent with spaces"
_TYPE_CURES = {
    "Expected `int": "write a number, without quotes",
    "Expected `str": "write text, in quotes",
}


class _Wrong(Exception):
    """One entry can't be used; caught where its diagnostic is made."""

    def __init__(self, message: str, at: tuple[int, int], help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.line, self.column = at
        self.help = help or "an entry has `doc` and `quote`, or `doc`, `from` and `to`"


def _entries(file: CitationFile) -> list[Node]:
    node = _root(file.text.removeprefix("\ufeff"), _suffix(file.path))
    if isinstance(node.value, dict):
        if node.doubled:
            key, line, column = node.doubled[0]
            raise Malformed(f"the key `{key}` is given twice", line, column)
        for key in node.value:
            if key != "citations":
                raise Malformed(f"unknown key `{_short(key)}` beside `citations`", *node.keys[key])
        if "citations" in node.value:
            node = node.value["citations"]
    if not isinstance(node.value, list):
        raise Malformed("a citation file holds a list of entries", node.line, node.column)
    return node.value


def _suffix(path: str) -> str:
    return path.rsplit(".", 1)[-1].lower()


def _root(text: str, suffix: str) -> Node:
    if suffix == "json":
        from exactquote.readers.json_nodes import json_node

        return json_node(text, _DEPTH_MAX)
    if suffix == "toml":
        from exactquote.readers.toml_nodes import toml_node

        return toml_node(text, _DEPTH_MAX)
    from exactquote.readers.yaml_nodes import yaml_node

    node = yaml_node(text, _DEPTH_MAX)
    if node is None:
        raise Malformed("the file is empty", 1, 1)
    return node


def _written(node: Node, path: str, source: str) -> Written:
    entry = _entry(node, _suffix(path))
    doc = _either(entry.doc, entry.doc_id)
    quote = _either(entry.quote, entry.passage)
    first, last = _either(entry.from_), _either(entry.to)
    at = (node.line, node.column)
    if doc is None:
        raise _Wrong("`doc` is missing", at)
    if quote is not None and (first is not None or last is not None):
        raise _Wrong("`quote` and `from`, `to` exclude each other", at)
    if quote is None and (first is None or last is None):
        raise _Wrong("`quote` is missing, or `from` and `to` as a pair", at)
    for keys, text in (
        (("doc", "docId"), doc),
        (("quote", "passage"), quote),
        (("from",), first),
        (("to",), last),
    ):
        if text is not None and not text.strip():
            key = next(key for key in keys if key in node.keys)
            raise _Wrong(f"`{key}` is empty", node.keys[key])
    occurrence = None if entry.occurrence is UNSET else entry.occurrence
    if occurrence is not None and occurrence < 0:
        raise _Wrong("`occurrence` counts from 0, so it can't be negative", node.keys["occurrence"])
    id = _either(entry.id)
    if id is not None and not CITE_ID.match(id):
        help = "use a-z, 0-9 and `-`, at most 64, beginning with a letter or digit"
        raise _Wrong(f"`{_short(id)}` is no id", node.keys["id"], help)
    return Written(
        Place(path, *at),
        doc,
        quote if quote is not None else first or "",
        claim=_either(entry.claim) or "",
        id=id or "",
        occurrence=occurrence,
        prefix=_either(entry.prefix) or "",
        suffix=_either(entry.suffix) or "",
        quote_end=last or "",
        source=source,
    )


def _entry(node: Node, suffix: str) -> Entry:
    """A node as an entry: no key unknown, given twice or of another type."""
    at = (node.line, node.column)
    if not isinstance(node.value, dict):
        raise _Wrong("this is no entry, which has keys and values", at)
    if node.doubled:
        key, line, column = node.doubled[0]
        raise _Wrong(f"the key `{_short(key)}` is given twice", (line, column))
    for key in node.value:
        if key not in KEYS:
            from difflib import get_close_matches

            near = get_close_matches(key[:40], KEYS, 1)
            help = f"did you mean `{near[0]}`?" if near else f"keys are {', '.join(KEYS)}"
            raise _Wrong(f"unknown key `{_short(key)}`", node.keys[key], help)
    for one, other in _SYNONYMS:
        if one in node.value and other in node.value:
            raise _Wrong(f"`{one}` and `{other}` mean the same; give one", node.keys[other])
    values = {}
    for key, item in node.value.items():
        value = item.unplaced()
        if isinstance(value, str):
            if surrogate_at(value) >= 0:
                raise _Wrong(f"`{key}` holds half a surrogate pair", node.keys[key])
            if item.plain:
                value = _typed(key, value, node.keys[key], suffix)
        values[key] = value
    try:
        return msgspec.convert(values, Entry)
    except msgspec.ValidationError as error:
        reason, _, where = str(error).partition(" - at `$.")
        key = where.rstrip("`").split("[")[0].split(".")[0]
        message = f"`{key}`: {reason[:1].lower()}{reason[1:]}" if key else reason
        help = next((cure for start, cure in _TYPE_CURES.items() if reason.startswith(start)), "")
        raise _Wrong(message, node.keys.get(key, at), help) from None


def _typed(key: str, value: str, at: tuple[int, int], suffix: str) -> str | int:
    """A value without quotes: YAML text as it is, but `occurrence` only as a whole number."""
    if suffix == "toml":
        raise _Wrong(f"`{key}` is a date; put it in quotes", at)
    if key != "occurrence":
        return value
    if value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    raise _Wrong("`occurrence` must be a whole number, 0 or more", at)


def _either(*values: str | UnsetType) -> str | None:
    return next((value for value in values if not isinstance(value, UnsetType)), None)


def _short(text: str) -> str:
    """At most 40 characters of what an author wrote, on one line."""
    return ascii(text[:40])[1:-1] if not text.isprintable() else text[:40]
