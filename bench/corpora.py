"""Unpacks the corpora that benches run on, and draws passages from them by seed."""

from __future__ import annotations

import json
import os
import random
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from exactquote.disk.corpus import read_corpus
from exactquote.disk.theme import load_theme
from exactquote.model import Corpus, Passage
from exactquote.pipeline import Proof, prove
from exactquote.settings import MdxSettings, Settings

_BESIDE = Path(__file__).resolve().parents[2] / "shared"


def shared(name: str) -> Path:
    """Path in the shared data; ends the bench with a clear word where it is absent."""
    path = Path(os.environ.get("EXACTQUOTE_SHARED") or _BESIDE) / name
    if not path.exists():
        sys.exit(f"shared data not found: {name} (set EXACTQUOTE_SHARED to its folder)")
    return path


@contextmanager
def unpacked(name: str) -> Iterator[Path]:
    """A corpus in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="exactquote-bench-") as folder:
        with tarfile.open(shared(f"corpora/{name}.tar.xz")) as archive:
            archive.extractall(folder, filter="data")
        inner = Path(folder) / name
        yield inner if inner.is_dir() else Path(folder)


def settings_for(name: str) -> Settings:
    """How a corpus is read: react.dev writes MDX in .md, with components of its own."""
    mdx = MdxSettings(in_markdown=True, unknown="transparent", expressions="drop")
    return Settings(
        title=name,
        language={"fastapi-de": "de", "react-zh": "zh"}.get(name, "en"),
        allow_empty=True,
        mdx=mdx if name.startswith("react") else MdxSettings(),
    )


def proved(root: Path, name: str) -> tuple[Corpus, Proof]:
    """A corpus read and rendered, its passages listed."""
    settings = settings_for(name)
    corpus = read_corpus(root, settings)
    return corpus, prove(corpus, settings, load_theme())


def drawn(proof: Proof, count: int, seed: int) -> list[Passage]:
    """`count` passages of a corpus, the same for the same seed."""
    passages = list(proof.passages)
    return random.Random(seed).sample(passages, min(count, len(passages)))


def write_citations(root: Path, passages: list[Passage]) -> Path:
    """The passages as a citation file beside the corpus's first document."""
    first = min(path for path in root.rglob("*.md"))
    path = first.with_name(f"{first.stem}.citations.json")
    entries = [{"doc": passage.doc, "quote": passage.quote} for passage in passages]
    path.write_text(json.dumps(entries, ensure_ascii=False), encoding="utf-8")
    return path
