"""Turns the parts of a knowledge base into the bytes of its files, and back.

Every file names its build, so that parts of two builds are never searched together. What is
wrong with a file is a `WireError`, never a chunk less.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from exactquote_site.knowledge.chunk import Chunk
from exactquote_site.wire.allowlist import WireError

KNOWLEDGE_VERSION = 1
FOLDER = "knowledge"
HEADER_PATH = f"{FOLDER}/header.json"
CHUNKS_PATH = f"{FOLDER}/chunks.json"
WORDS_PATH = f"{FOLDER}/words.bin"
VECTORS_PATH = f"{FOLDER}/vectors.bin"
BRIDGE_PATH = f"{FOLDER}/bridge.bin"

# The first line of a file of bytes: what it is and which build it is of.
_SEAL = re.compile(rb"exactquote-([a-z]{1,20}) ([0-9]{1,9}) ([\x21-\x7e]{1,64})\n")


@dataclass(frozen=True, slots=True)
class EmbedderNote:
    """Which embedder made the vectors; `kind` and `model` are as in the configuration."""

    kind: Literal["multilingual", "wordllama", "endpoint"]
    model: str
    id: str
    dimension: int


@dataclass(frozen=True, slots=True)
class Header:
    """What a knowledge base says of itself.

    `mode` is "whole" when the corpus is small enough to be given to a model as it is, and
    "retrieve" otherwise. `tokens` is an estimate of its size. `languages` are those of its
    pages. The weights are the search's own, and `words` tells how words were cut.
    """

    build_id: str
    mode: Literal["whole", "retrieve"]
    chunks: int
    passages: int
    tokens: int
    languages: tuple[str, ...]
    words_weight: float
    meaning_weight: float
    words: str
    embedder: EmbedderNote | None = None


def header_json(header: Header) -> bytes:
    """The bytes of `header.json`, indented for people to read."""
    value = {"version": KNOWLEDGE_VERSION, **asdict(header)}
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True).encode() + b"\n"


def read_header(data: bytes) -> Header:
    """Read `header.json`. Raises `WireError` when it isn't one that this code can read."""
    value = _object(HEADER_PATH, data)
    told = value.get("embedder")
    note = None
    if told is not None:
        note = EmbedderNote(**_typed(HEADER_PATH, told, _NOTE))
        if note.kind not in ("multilingual", "wordllama", "endpoint"):
            raise WireError(f"{HEADER_PATH}: embedder {note.kind!r} is unknown")
    known = _typed(HEADER_PATH, value, _HEADER)
    if known["mode"] not in ("whole", "retrieve"):
        raise WireError(f"{HEADER_PATH}: mode {known['mode']!r} is unknown")
    return Header(**{**known, "languages": tuple(known["languages"])}, embedder=note)


def chunks_json(chunks: Sequence[Chunk], build_id: str) -> bytes:
    """The bytes of `chunks.json`; a chunk is known by its place in the list."""
    listed = [asdict(chunk) for chunk in chunks]
    value = {"version": KNOWLEDGE_VERSION, "build_id": build_id, "chunks": listed}
    compact = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return compact.encode() + b"\n"


def read_chunks(data: bytes, build_id: str) -> tuple[Chunk, ...]:
    """Read `chunks.json`. Raises `WireError` when it is malformed or of another build."""
    value = _object(CHUNKS_PATH, data)
    found = value.get("build_id")
    if found != build_id:
        raise WireError(f"{CHUNKS_PATH}: is of build {found!r}, not of {build_id!r}")
    listed = value.get("chunks")
    if not isinstance(listed, list):
        raise WireError(f"{CHUNKS_PATH}: chunks must be a list")
    return tuple(_chunk(number, chunk) for number, chunk in enumerate(listed))


def sealed(kind: str, build_id: str, content: bytes) -> bytes:
    """Bytes with a first line that says what they are and which build they are of."""
    seal = f"exactquote-{kind} {KNOWLEDGE_VERSION} {build_id}\n".encode()
    if not _SEAL.fullmatch(seal):
        raise ValueError(f"{kind} of build {build_id!r} can't be sealed")
    return seal + content


def unsealed(path: str, kind: str, build_id: str, data: bytes) -> bytes:
    """What was sealed. Raises `WireError` when it is another thing or of another build."""
    seal = _SEAL.match(data)
    if seal is None or seal[1].decode() != kind:
        raise WireError(f"{path}: holds no {kind} of a knowledge base")
    if int(seal[2]) != KNOWLEDGE_VERSION:
        raise WireError(f"{path}: version {int(seal[2])} can't be read, only {KNOWLEDGE_VERSION}")
    if seal[3].decode() != build_id:
        raise WireError(f"{path}: is of build {seal[3].decode()!r}, not of {build_id!r}")
    return data[seal.end() :]


_NOTE: Mapping[str, type | tuple[type, ...]] = {
    "kind": str,
    "model": str,
    "id": str,
    "dimension": int,
}
_HEADER: Mapping[str, type | tuple[type, ...]] = {
    "build_id": str,
    "mode": str,
    "chunks": int,
    "passages": int,
    "tokens": int,
    "languages": list,
    "words_weight": (int, float),
    "meaning_weight": (int, float),
    "words": str,
}
_CHUNK_KEYS = frozenset(field.name for field in fields(Chunk))
_TEXTS = ("doc", "title", "anchor", "language", "text")
_LISTS = ("trail", "passages", "aliases", "headings")


def _object(path: str, data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise WireError(f"{path}: {error}") from error
    if not isinstance(value, dict):
        raise WireError(f"{path}: must be an object")
    version = value.get("version")
    if type(version) is not int or version != KNOWLEDGE_VERSION:
        raise WireError(f"{path}: version {version!r} can't be read, only {KNOWLEDGE_VERSION}")
    return value


def _typed(
    path: str, value: object, wanted: Mapping[str, type | tuple[type, ...]]
) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise WireError(f"{path}: embedder must be an object or null")
    for key, kind in wanted.items():
        if isinstance(value.get(key), bool) or not isinstance(value.get(key), kind):
            raise WireError(f"{path}: {key} is missing or malformed")
        if isinstance(value[key], list) and not _texts(value[key]):
            raise WireError(f"{path}: {key} must list texts")
        if isinstance(value[key], (int, float)) and not 0 <= value[key] < 2**53:
            raise WireError(f"{path}: {key} is out of range")
    return {key: value[key] for key in wanted}


def _chunk(number: int, value: object) -> Chunk:
    where = f"{CHUNKS_PATH}: chunk {number}"
    if not isinstance(value, dict) or value.keys() != _CHUNK_KEYS:
        raise WireError(f"{where} wants the keys {', '.join(sorted(_CHUNK_KEYS))}")
    if not all(isinstance(value[key], str) for key in _TEXTS):
        raise WireError(f"{where}: {', '.join(_TEXTS)} must be texts")
    if not all(_texts(value[key]) for key in _LISTS):
        raise WireError(f"{where}: {', '.join(_LISTS)} must list texts")
    if not isinstance(value["faq"], bool):
        raise WireError(f"{where}: faq must be true or false")
    if not isinstance(value["rows"], list) or not all(map(_texts, value["rows"])):
        raise WireError(f"{where}: rows must list lists of texts")
    lists = {key: tuple(value[key]) for key in _LISTS}
    return Chunk(**{**value, **lists, "rows": tuple(map(tuple, value["rows"]))})


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)
