"""The index ranks as the formula of BM25 says, and reads back only whole files."""

from __future__ import annotations

import subprocess
import sys
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from exactquote_site.knowledge.arrays import pack, unpack
from exactquote_site.knowledge.postings import Postings
from exactquote_site.wire.allowlist import WireError

DOCUMENTS = [
    ["cache", "is", "cleared", "cache"],
    ["the", "gate", "is", "red"],
    [],
    ["cache", "is", "cleared", "cache"],
    ["is", "größe", "c++"],
]
corpora = st.lists(st.lists(st.sampled_from("abcdefg"), max_size=30), min_size=1, max_size=20)


def plain_scores(documents: list[list[str]], asked: list[str]) -> list[float]:
    """BM25 as the paper writes it, one document and term at a time."""
    average = sum(map(len, documents)) / len(documents)
    scores = []
    for document in documents:
        score = 0.0
        for term in asked:
            tf = document.count(term)
            df = sum(term in other for other in documents)
            idf = log(1 + (len(documents) - df + 0.5) / (df + 0.5))
            if tf:
                score += idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * len(document) / average))
        scores.append(score)
    return scores


@given(corpora, st.lists(st.sampled_from("abcdefgh"), max_size=8))
def test_scores_are_those_of_the_formula(documents: list[list[str]], asked: list[str]) -> None:
    scores = Postings.build(documents).scores(asked)
    assert scores.shape == (len(documents),)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, plain_scores(documents, asked), rtol=1e-5)


@given(
    st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=20), min_size=2, max_size=12),
    st.sampled_from("abc"),
)
def test_one_term_ranks_as_rank_bm25_does(documents: list[list[str]], term: str) -> None:
    # A document without the term keeps it in the minority, where the two differ in idf alone,
    # which is one factor for all documents of a term.
    documents = documents + [["x"]] * len(documents)
    peer = np.asarray(BM25Okapi(documents, k1=1.2, b=0.75).get_scores([term]))
    ours = Postings.build(documents).scores([term])
    if peer.max() > 0:
        np.testing.assert_allclose(ours / ours.max(), peer / peer.max(), rtol=1e-5)
    else:
        held = [term in document for document in documents]
        assert not any(ours[~np.asarray(held)])


def test_the_best_come_first_and_equal_ones_in_order() -> None:
    postings = Postings.build(DOCUMENTS)
    top = postings.top(["cache", "cleared", "unheard-of"], 5)
    assert [i for i, _ in top] == [0, 3]
    assert top[0][1] == top[1][1] > 0
    assert postings.top(["cache"], 1) == postings.top(["cache"], 5)[:1]
    assert postings.top(["is"], 0) == postings.top([], 3) == postings.top(["unheard-of"], 3) == []


@given(corpora, st.lists(st.sampled_from("abcdefgh"), max_size=8), st.integers(1, 25))
def test_the_top_is_the_head_of_the_whole_ranking(
    documents: list[list[str]], asked: list[str], count: int
) -> None:
    postings = Postings.build(documents)
    scores = postings.scores(asked)
    ranked = sorted(range(len(documents)), key=lambda i: (-scores[i], i))
    wanted = [i for i in ranked if scores[i] > 0][:count]
    assert [i for i, _ in postings.top(asked, count)] == wanted


def test_a_term_in_every_document_never_counts_against_one() -> None:
    postings = Postings.build([["a"], ["a"], ["a", "b"]])
    assert (postings.scores(["a"]) > 0).all()


def test_a_term_that_is_asked_twice_counts_twice() -> None:
    postings = Postings.build(DOCUMENTS)
    np.testing.assert_allclose(postings.scores(["cache"] * 2), 2 * postings.scores(["cache"]))


def test_it_knows_which_terms_it_has() -> None:
    postings = Postings.build(DOCUMENTS)
    assert "größe" in postings
    assert "" not in postings
    assert postings.count == 5


@pytest.mark.parametrize(
    "documents", [[], [[]], [[], []], DOCUMENTS, [["a"] * 300], [["a"]] * 70_000]
)
def test_a_file_holds_the_whole_index(documents: list[list[str]]) -> None:
    built = Postings.build(documents)
    data = built.to_bytes()
    read = Postings.from_bytes(data)
    assert read.to_bytes() == data == Postings.build(documents).to_bytes()
    asked = ["cache", "größe", "a"]
    np.testing.assert_array_equal(read.scores(asked), built.scores(asked))


def test_prevents_another_file_on_another_run() -> None:
    program = (
        "from exactquote_site.knowledge.postings import Postings;"
        "from exactquote_site.knowledge.words import corpus_words;"
        "import hashlib;"
        "docs = corpus_words([('Größe der Datenbankverbindung, Datenbank Verbindung', 'de')]);"
        "print(hashlib.sha256(Postings.build(docs).to_bytes()).hexdigest())"
    )
    path = ":".join(sys.path)
    runs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONPATH": path, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(runs) == 1


@pytest.mark.parametrize("term", ["a\nb", "\ud800"])
def test_prevents_a_term_that_a_file_would_not_give_back(term: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        Postings.build([[term]])


WHOLE = Postings.build(DOCUMENTS).to_bytes()


@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_prevents_a_changed_byte_from_being_searched(at: int, by: int) -> None:
    changed = WHOLE[:at] + bytes([WHOLE[at] ^ by]) + WHOLE[at + 1 :]
    try:
        read = Postings.from_bytes(changed)
    except WireError:
        return
    # Only a setting of the header can be another and still be one.
    assert unpack("words", changed)[0].keys() == unpack("words", WHOLE)[0].keys()
    assert read.count == 5


@given(st.one_of(st.binary(), st.integers(0, len(WHOLE) - 1).map(lambda end: WHOLE[:end])))
def test_prevents_anything_but_a_whole_file_from_being_read(data: bytes) -> None:
    with pytest.raises(WireError):
        Postings.from_bytes(data)
    with pytest.raises(WireError):
        Postings.from_bytes(WHOLE + b"x" + data)


def _replaced(**changes: object) -> bytes:
    arrays, settings = unpack("words", WHOLE)
    arrays |= {name: value for name, value in changes.items() if name in arrays}
    settings |= {name: value for name, value in changes.items() if name in settings}
    return pack("words", arrays, settings)


U16, U32, U8 = np.uint16, np.uint32, np.uint8
ARRAYS = unpack("words", WHOLE)[0]
MALFORMED = [
    {"documents": np.full_like(ARRAYS["documents"], 5)},
    {"documents": np.zeros_like(ARRAYS["documents"])},
    {"documents": ARRAYS["documents"].astype(U32)},
    {"documents": ARRAYS["documents"][:-1]},
    {"starts": ARRAYS["starts"][:-1]},
    {"starts": ARRAYS["starts"][::-1]},
    {"starts": np.zeros(0, U32)},
    {"starts": ARRAYS["starts"] + U32(1)},
    {"repeats": np.zeros_like(ARRAYS["repeats"])},
    {"repeats": ARRAYS["repeats"].reshape(1, -1)},
    {"terms": np.frombuffer(b"\xff", U8)},
    {"terms": np.frombuffer(b"b\na", U8)},
    {"terms": np.zeros(0, U8)},
    {"k1": -1.0},
    {"b": 2.0},
    {"b": "x"},
    {"k1": float("nan")},
]  # fmt: skip


@pytest.mark.parametrize("changes", MALFORMED)
def test_prevents_lists_that_do_not_fit_each_other(changes: dict[str, object]) -> None:
    assert Postings.from_bytes(_replaced()).to_bytes() == WHOLE
    with pytest.raises(WireError):
        Postings.from_bytes(_replaced(**changes))


def test_prevents_an_array_that_has_no_form_in_a_file() -> None:
    with pytest.raises(TypeError):
        pack("words", {"a": np.asarray(["x"])}, {})
