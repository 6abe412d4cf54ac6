"""Vectors: which rows are nearest, what their file holds, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from exactquote_site.knowledge.arrays import pack
from exactquote_site.knowledge.vectors import OtherEmbedder, Vectors, codes, nearest, rows
from exactquote_site.wire.allowlist import WireError


def vectors(*listed: list[float], embedder: str = "toy@1") -> Vectors:
    return Vectors(embedder, np.array(listed, np.float32))


def drawn(n: int, d: int, seed: int = 1) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


def query(*numbers: float) -> NDArray[np.float32]:
    return np.array(numbers, np.float32)


class Toy:
    """Counts the letters a and b."""

    id = "toy@1"
    dimension = 2

    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        return np.array([[text.count("a"), text.count("b")] for text in texts], np.float32)


# rows, query, count, the rows that are found
TOPS = [
    ([[1, 0], [0, 1], [1, 1]], (1, 0.2), 3, [0, 2, 1]),
    ([[1, 0], [0, 1], [1, 1]], (0, 5), 1, [1]),
    # The angle counts, not the length.
    ([[9, 9], [0, 0.1]], (0, 1), 2, [1, 0]),
    # Rows alike come in their order, at the edge too.
    ([[1, 1], [1, 0], [1, 1], [1, 1]], (1, 1), 2, [0, 2]),
    # What points elsewhere is still ranked; a blank row lies between.
    ([[-1, 0], [0, 0], [1, 0]], (1, 0), 3, [2, 1, 0]),
    ([[1, 0]], (1, 0), 9, [0]),
    ([[1, 0]], (1, 0), 0, []),
    ([[1, 0]], (1, 0), -1, []),
    ([[1, 0]], (0, 0), 1, []),
]  # fmt: skip


@pytest.mark.parametrize(("listed", "asked", "count", "wanted"), TOPS)
def test_top(
    listed: list[list[float]], asked: tuple[float, ...], count: int, wanted: list[int]
) -> None:
    assert [row for row, _ in vectors(*listed).top(query(*asked), count)] == wanted


def test_nothing_is_nearest_to_anything_in_no_rows() -> None:
    none = Vectors("toy@1", np.zeros((0, 2), np.float32))
    assert none.top(query(1, 0), 5) == []
    assert len(Vectors.from_bytes(none.to_bytes())) == 0


def test_top_is_what_sorting_all_exact_cosines_gives() -> None:
    kept = Vectors("toy@1", drawn(500, 64))
    asked = drawn(1, 64, seed=2)[0]
    exact = kept.matrix.astype(np.float64) @ (asked / np.linalg.norm(asked.astype(np.float64)))
    wanted = np.argsort(-exact, kind="stable")[:20]
    found = kept.top(asked, 20)
    assert [row for row, _ in found] == wanted.tolist()
    assert [score for _, score in found] == pytest.approx(exact[wanted].tolist(), abs=1e-8)


def test_prevents_equal_rows_from_changing_places() -> None:
    # Among so many rows, matrix products are summed by other code at the edges.
    same = np.tile(drawn(1, 512), (1001, 1))
    asked = drawn(1, 512, seed=3)[0]
    found = Vectors("toy@1", same).top(asked, 1001)
    assert [row for row, _ in found] == list(range(1001))
    assert len({score for _, score in found}) == 1


@given(st.lists(st.lists(st.floats(-1e30, 1e30), min_size=3, max_size=3), min_size=1, max_size=9))
def test_what_is_kept_is_what_is_read(listed: list[list[float]]) -> None:
    kept = vectors(*listed)
    again = Vectors.from_bytes(kept.to_bytes())
    assert again.to_bytes() == kept.to_bytes()
    assert np.array_equal(again.matrix, kept.matrix)
    assert np.array_equal(rows(codes(kept.matrix)), kept.matrix)
    lengths = np.linalg.norm(kept.matrix.astype(np.float64), axis=1)
    assert ((abs(lengths - 1) < 1e-6) | (lengths == 0)).all()


def test_keeping_turns_a_vector_by_less_than_a_degree() -> None:
    matrix = drawn(200, 512)
    kept = Vectors("toy@1", matrix).matrix
    cosines = (kept * matrix).sum(axis=1) / np.linalg.norm(matrix, axis=1)
    assert cosines.min() > np.cos(np.radians(1))


def test_prevents_the_last_bits_of_an_embedder_from_reaching_a_file() -> None:
    matrix = drawn(2000, 64).astype(np.float64)
    shaken = matrix * (1 + 1e-15 * np.random.default_rng(4).normal(size=matrix.shape))
    assert (shaken != matrix).any()
    assert Vectors("toy@1", shaken).to_bytes() == Vectors("toy@1", matrix).to_bytes()


def test_a_question_meets_the_vectors_of_its_own_embedder() -> None:
    assert nearest(vectors([1, 0], [0, 1]), Toy(), "bba", 1)[0][0] == 1


def test_prevents_a_question_from_meeting_vectors_of_another_embedder() -> None:
    with pytest.raises(OtherEmbedder, match=r"toy@2.*toy@1"):
        nearest(vectors([1, 0], embedder="toy@2"), Toy(), "a", 1)


@pytest.mark.parametrize("asked", [(1, 0, 0), (1,), (np.nan, 1), (np.inf, 1)])
def test_prevents_an_answer_to_a_query_that_is_none(asked: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match=r"query|finite"):
        vectors([1, 0]).top(query(*asked), 1)


@pytest.mark.parametrize(
    "matrix",
    [np.array([[np.nan, 1]]), np.array([[np.inf, 1]]), np.ones(3), np.ones((2, 0))],
)
def test_prevents_rows_that_are_no_vectors(matrix: NDArray[np.float64]) -> None:
    with pytest.raises(ValueError, match=r"finite|rows"):
        Vectors("toy@1", matrix)


GOOD = vectors([1, 2], [3, 4]).to_bytes()
ROW = np.array([[127, 1]], np.uint8)
BY = {"by": "toy@1"}
FILES = {
    "nothing": b"",
    "cut": GOOD[:-1],
    "longer": GOOD + b"\0",
    "changed": GOOD[:-17] + bytes([GOOD[-17] ^ 1]) + GOOD[-16:],
    "another kind": pack("words", {"codes": ROW}, BY),
    "no embedder": pack("vectors", {"codes": ROW}, {}),
    "an embedder that is a number": pack("vectors", {"codes": ROW}, {"by": 7}),
    "no codes": pack("vectors", {}, BY),
    "more than codes": pack("vectors", {"codes": ROW, "more": ROW}, BY),
    "one row that isn't in rows": pack("vectors", {"codes": ROW[0]}, BY),
    "codes that are floats": pack("vectors", {"codes": ROW.astype(np.float32)}, BY),
    "rows without columns": pack("vectors", {"codes": np.zeros((3, 0), np.uint8)}, BY),
    "a row whose largest isn't 127": pack("vectors", {"codes": np.array([[5, 1]], np.uint8)}, BY),
    "a code that isn't written": pack("vectors", {"codes": np.array([[128, 127]], np.uint8)}, BY),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_prevents_a_file_that_is_not_ours_from_being_searched(name: str) -> None:
    with pytest.raises(WireError):
        Vectors.from_bytes(FILES[name])


def test_a_file_is_a_byte_a_number_and_little_besides() -> None:
    assert 100 * 512 < len(Vectors("toy@1", drawn(100, 512)).to_bytes()) < 100 * 512 + 300


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12))
def test_a_part_of_the_rows_is_searched_by_itself(start: int, stop: int, count: int) -> None:
    kept = Vectors("toy@1", drawn(10, 8))
    asked = drawn(1, 8, seed=2)[0]
    wanted = [pair for pair in kept.top(asked, 10) if start <= pair[0] < stop][:count]
    assert kept.top(asked, count, start=start, stop=stop) == wanted
    found = [row for row, _ in wanted]
    cosines = pytest.approx([cosine for _, cosine in wanted], abs=1e-5)
    assert kept.cosines(asked, found) == cosines


def test_a_row_that_is_not_there_has_no_cosine() -> None:
    with pytest.raises(IndexError):
        vectors([1, 0]).cosines(query(1, 0), [1])
    with pytest.raises(ValueError, match="shape"):
        vectors([1, 0]).cosines(query(1, 0, 0), [0])
