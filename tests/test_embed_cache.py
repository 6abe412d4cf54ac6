"""The cache of vectors: what is embedded anew, what is reused, and what damage does."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from exactquote.disk.refusal import Refusal
from exactquote.embed.cache import FILE_NAME, VectorCache, default_cache_folder
from exactquote.embed.remembering import Remembering
from exactquote_site.knowledge.embedders import EmbedderDown
from exactquote_site.knowledge.vectors import Vectors

DAY = 86_400.0


class Hashing:
    """Makes a vector of a text's hash, remembers what it was asked, and fails when told."""

    def __init__(self, id: str = "hashing@1", dimension: int = 8, fails_at: str = "") -> None:
        self.id = id
        self.dimension = 0
        self.asked: list[str] = []
        self._makes = dimension
        self._fails_at = fails_at

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._fails_at in texts and self._fails_at:
            raise EmbedderDown("it is down")
        self.asked.extend(texts)
        self.dimension = self._makes
        seeds = [hashlib.sha256(text.encode("utf-8", "replace")).digest() for text in texts]
        drawn = [np.random.default_rng(list(seed)).normal(size=self._makes) for seed in seeds]
        return np.array(drawn, np.float32).reshape(len(texts), self._makes)


def run(
    folder: Path | None, texts: Sequence[str], embedder: Hashing | None = None, now: float = 0.0
) -> tuple[bytes, list[str], int, int]:
    """One build's vectors as bytes, what its embedder was asked, and the two counts."""
    embedder = embedder or Hashing()
    cache = VectorCache(folder, now=lambda: now) if folder else None
    remembering = Remembering(embedder, cache)
    matrix = remembering.embed(texts)
    written = Vectors(remembering.id, matrix).to_bytes()
    return written, embedder.asked, remembering.embedded, remembering.reused


TEXTS = [f"text {number}" for number in range(200)]


def test_only_what_is_new_is_embedded(tmp_path: Path) -> None:
    cold, asked, embedded, reused = run(tmp_path, TEXTS)
    assert (asked, embedded, reused) == (TEXTS, 200, 0)
    changed = [*TEXTS[:50], "new", *TEXTS[60:]]
    _, asked, embedded, reused = run(tmp_path, changed)
    assert (asked, embedded, reused) == (["new"], 1, 190)
    warm, asked, embedded, reused = run(tmp_path, TEXTS)
    assert (asked, embedded, reused) == ([], 0, 200)
    assert warm == cold


def test_prevents_a_warm_build_from_differing_from_a_cold_one(tmp_path: Path) -> None:
    without = run(None, TEXTS)[0]
    assert run(tmp_path, TEXTS[:70])[0] != without
    assert run(tmp_path, TEXTS)[0] == run(tmp_path, TEXTS)[0] == without
    # In another order, texts are other neighbours to each other.
    run(tmp_path / "other", TEXTS[::-1])
    assert run(tmp_path / "other", TEXTS)[0] == without


def test_a_text_that_is_there_twice_is_embedded_once(tmp_path: Path) -> None:
    written, asked, embedded, reused = run(tmp_path, ["a", "b", "a"])
    assert (asked, embedded, reused) == (["a", "b"], 3, 0)
    assert (Vectors.from_bytes(written).matrix[0] == Vectors.from_bytes(written).matrix[2]).all()


def test_texts_that_come_in_parts_are_counted_together(tmp_path: Path) -> None:
    run(tmp_path, ["a"])
    heard: list[tuple[int, int]] = []
    embedder = Remembering(
        Hashing(), VectorCache(tmp_path), lambda done, of: heard.append((done, of))
    )
    embedder.embed(["a", "b"])
    embedder.embed(["b", "c"])
    assert (embedder.embedded, embedder.reused) == (3, 1)
    assert heard == [(1, 2), (2, 2), (0, 1), (1, 1)]


def test_no_texts_are_no_work(tmp_path: Path) -> None:
    embedder = Hashing()
    assert Remembering(embedder, VectorCache(tmp_path)).embed([]).shape[0] == 0
    assert embedder.asked == []


@pytest.mark.parametrize("text", ["", " ", "\0", "\ud800", "ä", "a\u0308", "x" * 100_000])
def test_any_text_is_found_again_and_no_other(tmp_path: Path, text: str) -> None:
    run(tmp_path, [text])
    assert run(tmp_path, [text, f"{text}."])[1] == [f"{text}."]


def test_prevents_vectors_of_another_embedder_from_being_reused(tmp_path: Path) -> None:
    run(tmp_path, ["a", "1 b"])
    assert run(tmp_path, ["a"], Hashing("hashing@2"))[1] == ["a"]
    # Nor by an id and a text that read alike when they stand together.
    assert run(tmp_path, ["b"], Hashing("hashing@1 1"))[1] == ["b"]


def test_prevents_vectors_of_two_dimensions_from_being_mixed(tmp_path: Path) -> None:
    run(tmp_path, ["a", "b"])
    # A model that was changed under its name; what it made before can't be compared.
    written, asked, _, _ = run(tmp_path, ["a", "b", "c"], Hashing(dimension=5))
    assert sorted(asked) == ["a", "b", "c"]
    assert Vectors.from_bytes(written).dimension == 5
    run(tmp_path / "mixed", ["a"])
    run(tmp_path / "mixed", ["b"], Hashing(dimension=5))
    assert run(tmp_path / "mixed", ["a", "b"], Hashing(dimension=5))[1] == ["a", "b"]


def test_what_was_made_before_a_failure_is_kept(tmp_path: Path) -> None:
    with pytest.raises(EmbedderDown):
        run(tmp_path, TEXTS, Hashing(fails_at="text 150"))
    _, asked, embedded, reused = run(tmp_path, TEXTS)
    assert reused >= 100
    assert asked == TEXTS[reused:]
    assert embedded == 200 - reused


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2 + 100])


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def no_database(file: Path) -> None:
    file.write_bytes(b"this is no database, whatever it is called" * 100)


def overwritten(file: Path) -> None:
    content = bytearray(file.read_bytes())
    for start in range(5000, len(content), 500):
        content[start : start + 20] = bytes(byte ^ 0x5A for byte in content[start : start + 20])
    file.write_bytes(content)


def head_overwritten(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[:100] + bytes(range(256)) * 16 + content[100 + 4096 :])


@pytest.mark.parametrize("damage", [cut, emptied, no_database, overwritten, head_overwritten])
def test_prevents_a_damaged_cache_from_changing_or_stopping_a_build(
    tmp_path: Path, damage: object
) -> None:
    cold = run(tmp_path, TEXTS)[0]
    damage(tmp_path / FILE_NAME)  # type: ignore[operator]
    mended, asked, _, _ = run(tmp_path, TEXTS)
    assert mended == cold
    assert asked, "the damage wasn't met"
    again, asked, _, _ = run(tmp_path, TEXTS)
    assert (again, asked) == (cold, [])


def test_prevents_one_flipped_bit_from_reaching_a_build(tmp_path: Path) -> None:
    cold = run(tmp_path, ["a"])[0]
    file = tmp_path / FILE_NAME
    content = bytearray(file.read_bytes())
    codes = VectorCache(tmp_path).find("hashing@1", ["a"], 0)["a"]
    content[content.index(codes) + 3] ^= 4
    file.write_bytes(content)
    assert VectorCache(tmp_path).find("hashing@1", ["a"], 0) == {}
    assert run(tmp_path, ["a"])[:2] == (cold, ["a"])
    assert run(tmp_path, ["a"])[:2] == (cold, [])


def test_prevents_a_cache_that_grows_for_ever(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path, bytes_max=200_000, now=lambda: 0.0)
    for number in range(100):
        cache.keep("e", {f"{number} {i}": bytes(512) for i in range(16)})
    assert (tmp_path / FILE_NAME).stat().st_size < 250_000
    last = [f"99 {i}" for i in range(16)]
    assert VectorCache(tmp_path).find("e", last, 512).keys() <= set(last)


def test_what_is_unused_for_longest_is_dropped_first(tmp_path: Path) -> None:
    day = 0.0
    cache = VectorCache(tmp_path, bytes_max=200_000, now=lambda: day * DAY)
    cache.keep("e", {f"old {i}": bytes(512) for i in range(64)})
    day = 1
    cache.keep("e", {f"used {i}": bytes(512) for i in range(64)})
    day = 2
    assert len(cache.find("e", [f"used {i}" for i in range(64)], 512)) == 64
    cache.keep("e", {f"new {i}": bytes(512) for i in range(250)})
    assert len(cache.find("e", [f"old {i}" for i in range(64)], 512)) == 0
    assert len(cache.find("e", [f"used {i}" for i in range(64)], 512)) > 0


TWO = """
import sys
from pathlib import Path
from tests.test_embed_cache import TEXTS, Hashing, run
print(__import__("hashlib").sha256(run(Path(sys.argv[1]), TEXTS)[0]).hexdigest())
"""


def test_runs_at_the_same_time_share_one_cache(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TWO, str(tmp_path)]
    root = Path(__file__).parents[1]
    path = ":".join(p for p in [str(root), *sys.path] if p)
    started = [
        subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root, env={"PYTHONPATH": path})
        for _ in range(3)
    ]
    told = {process.communicate(timeout=120)[0].decode().strip() for process in started}
    assert told == {hashlib.sha256(run(None, TEXTS)[0]).hexdigest()}
    assert run(tmp_path, TEXTS)[1] == []


# environment, folder
FOLDERS = [
    ({"HOME": "/home/ann"}, "/home/ann/.cache/exactquote"),
    ({"HOME": "/home/ann", "XDG_CACHE_HOME": "/caches"}, "/caches/exactquote"),
    ({"HOME": "/home/ann", "XDG_CACHE_HOME": ""}, "/home/ann/.cache/exactquote"),
    ({"HOME": "/home/ann", "XDG_CACHE_HOME": "relative"}, "/home/ann/.cache/exactquote"),
    ({"HOME": "relative"}, None),
    ({}, None),
]  # fmt: skip


@pytest.mark.parametrize(("environment", "folder"), FOLDERS)
def test_default_cache_folder(environment: dict[str, str], folder: str | None) -> None:
    assert default_cache_folder(environment) == (Path(folder) if folder else None)


def test_a_folder_that_is_a_file_is_refused_with_a_cure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Refusal, match="--cache"):
        VectorCache(tmp_path / "file")
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(Refusal, match="--no-cache"):
        VectorCache(tmp_path)
