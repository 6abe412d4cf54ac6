"""Turn the folder of a build into its knowledge base, and settings into an embedder."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from exactquote.config import load_config
from exactquote.disk.refusal import Refusal
from exactquote.emit.manifest import MANIFEST_PATH
from exactquote.report.asking import Answered
from exactquote.settings import KnowledgeSettings
from exactquote_site.knowledge.base import MEANING, KnowledgeBase
from exactquote_site.knowledge.best import best_passages
from exactquote_site.knowledge.embedders import (
    ASKING,
    BUILDING,
    Embedder,
    EmbedderDown,
    Patience,
    open_embedder,
)
from exactquote_site.knowledge.stored import HEADER_PATH, Header
from exactquote_site.knowledge.vectors import Vectors, VectorStore
from exactquote_site.wire.allowlist import Allowlist, WireError, load_allowlist

_CURE = "name the folder that `exactquote build` wrote"


def open_knowledge(dist: Path, postgres: str = "") -> tuple[KnowledgeBase, Allowlist]:
    """The knowledge base of the build in a folder, and the links of its passages.

    With the URL of a PostgreSQL, the vectors are searched there. Raises `Refusal` for a folder
    that is no build of ours, has no knowledge base, or holds parts of different builds, and
    for a database that can't be used.
    """
    if not dist.is_dir():
        raise Refusal(f"there is no folder {dist}; run `exactquote build`, or {_CURE}")
    hashes = _hashes(dist)
    if HEADER_PATH not in hashes:
        raise Refusal(f"{dist} has no knowledge base; build it again with this exactquote")
    read = _reader(dist, hashes)
    try:
        base, allowlist = KnowledgeBase.load(read, _placed(postgres)), load_allowlist(read)
    except WireError as error:
        raise Refusal(f"{dist}: {error}; build again") from None
    except EmbedderDown as error:
        raise Refusal(str(error)) from None
    if allowlist.build_id != base.header.build_id:
        raise Refusal(f"{dist}: allowlist and knowledge base are of two builds; build again")
    for chunk in base.chunks:
        unknown = [id for id in chunk.passages if id not in allowlist.entries]
        if unknown:
            raise Refusal(f"{dist}: the allowlist lacks {unknown[0]}; build again")
    return base, allowlist


def postgres_url(config: Path | None) -> str:
    """Where the configuration of the working folder has vectors searched; "" is in memory.

    Raises `Refusal` when the variable that it names isn't set.
    """
    settings, _ = load_config(Path(), config)
    name = settings.knowledge.postgres_env
    if name and not os.environ.get(name):
        raise Refusal(f"set ${name} to the URL of the database of vectors")
    return os.environ[name] if name else ""


def open_allowlist(dist: Path) -> Allowlist:
    """The links of the build in a folder. Raises `Refusal` as `open_knowledge` does."""
    if not dist.is_dir():
        raise Refusal(f"there is no folder {dist}; run `exactquote build`, or {_CURE}")
    try:
        return load_allowlist(_reader(dist, _hashes(dist)))
    except WireError as error:
        raise Refusal(f"{dist}: {error}; build again") from None


def require_build(dist: Path) -> None:
    """Raise `Refusal` for a folder that is no build of ours, such as one of sources."""
    _hashes(dist)


def answer(
    base: KnowledgeBase,
    allowlist: Allowlist,
    question: str,
    count: int,
    embedder: Embedder | None,
    why: str = "",
) -> Answered:
    """The best passages for a question; `why` says why there is no embedder, when there is none.

    Where the vectors' embedder can't be had, the answer says so and is found by words alone.
    """
    found = base.search(question, count, embedder=embedder)
    if why and embedder is None and base.vectors is not None:
        found = replace(found, off={**found.off, MEANING: why})
    quotes = {id: entry.quote for id, entry in allowlist.entries.items()}
    try:
        best = best_passages(base, found, quotes, embedder=embedder)
    except EmbedderDown as error:
        # An endpoint that answered for the question, and not for the passages.
        counts = {leg: ranked for leg, ranked in found.found.items() if leg != MEANING}
        found = replace(found, found=counts, off={MEANING: str(error)}, vector=None)
        best = best_passages(base, found, quotes, embedder=None)
    return Answered(question, base, allowlist, found, best)


def embedder_of(header: Header, config: Path | None) -> tuple[Embedder | None, str]:
    """The embedder that made the vectors of a build, or why it can't be had.

    Where an endpoint made them, the configuration of the working folder says where it is.
    """
    if header.embedder is None:
        return None, ""
    knowledge = KnowledgeSettings(embedder=header.embedder.kind)
    if header.embedder.kind == "endpoint":
        settings, source = load_config(Path(), config)
        knowledge = settings.knowledge
        if knowledge.embedder != "endpoint":
            told = f"{source} names" if source else "no configuration here names"
            return None, f"an endpoint made the vectors, and {told} none"
    try:
        return opened(knowledge, ASKING), ""
    except EmbedderDown as error:
        return None, str(error)


def opened(knowledge: KnowledgeSettings, patience: Patience = BUILDING) -> Embedder:
    """The embedder that is configured. Raises `EmbedderDown` when it can't be had."""
    embedder = open_embedder(
        knowledge.embedder,
        base_url=knowledge.base_url,
        model=knowledge.model,
        key_env=knowledge.key_env,
        patience=patience,
    )
    if embedder is None:
        raise EmbedderDown("no embedder is configured")
    return embedder


def _placed(postgres: str) -> Callable[[Header, Vectors], VectorStore] | None:
    if not postgres:
        return None
    try:
        from exactquote_site.knowledge.pg_vectors import placed
    except ImportError:
        raise Refusal(
            "vectors in PostgreSQL need an extra: pip install 'exactquote[postgres]'"
        ) from None
    return placed(postgres)


def _hashes(dist: Path) -> dict[str, str]:
    path = dist / MANIFEST_PATH
    try:
        record: Any = json.loads(path.read_bytes())
        return {name: listed["sha256"] for name, listed in record["files"].items()}
    except FileNotFoundError:
        raise Refusal(
            f"{dist} has no {MANIFEST_PATH}, so it is no build of ours; {_CURE}"
        ) from None
    except OSError as error:
        raise Refusal(f"{path} can't be read: {error.strerror}") from None
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise Refusal(f"{path} is not one of ours; {_CURE}") from None


def _reader(dist: Path, hashes: Mapping[str, str]) -> Callable[[str], bytes]:
    def read(name: str) -> bytes:
        path = dist / name
        try:
            data = path.read_bytes()
        except OSError as error:
            raise Refusal(f"{path} can't be read: {error.strerror}; build again") from None
        # A copy that was cut short, or a file of an earlier build.
        if hashlib.sha256(data).hexdigest() != hashes.get(name):
            raise Refusal(f"{path} is not the file that {MANIFEST_PATH} names; build again")
        return data

    return read
