"""How the legs of a search are weighed: the page around a chunk, its sentences, its share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from exactquote.emit.knowledge import knowledge_files
from exactquote.settings import KnowledgeSettings
from exactquote_site.knowledge.base import MEANING, PAGES, KnowledgeBase
from exactquote_site.knowledge.chunk import Chunk
from exactquote_site.knowledge.postings import Postings

DOCUMENTS = st.lists(st.lists(st.sampled_from("abcde"), max_size=6), min_size=1, max_size=6)


@given(DOCUMENTS, st.data())
def test_a_group_scores_as_one_document(documents: list[list[str]], data: st.DataObject) -> None:
    count = data.draw(st.integers(1, len(documents)))
    owners = sorted(i % count for i in range(len(documents)))
    whole: list[list[str]] = [[] for _ in range(count)]
    for owner, document in zip(owners, documents, strict=True):
        whole[owner] += document
    grouped, built = Postings.build(documents).grouped(owners), Postings.build(whole)
    assert grouped.to_bytes() == built.to_bytes()
    np.testing.assert_array_equal(grouped.scores("abcde"), built.scores("abcde"))


@given(DOCUMENTS, st.lists(st.sampled_from("abcdeXY"), max_size=8))
def test_no_score_is_above_the_ceiling(documents: list[list[str]], asked: list[str]) -> None:
    postings = Postings.build(documents)
    assert postings.scores(asked).max() <= postings.ceiling(asked) + 1e-4
    scores, ceiling = postings.pooled([{one: 1.0, "e": 0.4} for one in asked])
    assert scores.max() <= ceiling + 1e-4


@given(DOCUMENTS, st.lists(st.sampled_from("abcdeXY"), max_size=8))
def test_groups_of_one_term_score_as_their_terms(
    documents: list[list[str]], asked: list[str]
) -> None:
    postings = Postings.build(documents)
    scores, ceiling = postings.pooled([{one: 1.0} for one in asked])
    np.testing.assert_allclose(scores, postings.scores(asked), atol=1e-4)
    assert ceiling == pytest.approx(postings.ceiling(asked))


@given(DOCUMENTS)
def test_a_group_counts_as_one_word_that_is_written_in_several_ways(
    documents: list[list[str]],
) -> None:
    # Where no text has both, their numbers of texts add up to that of the one word.
    apart = [[term for term in document if term != "b"] for document in documents]
    apart += [["b"], ["a"]]
    merged = [["a" if term == "b" else term for term in document] for document in apart]
    pooled, _ = Postings.build(apart).pooled([{"a": 1.0, "b": 1.0}])
    np.testing.assert_allclose(pooled, Postings.build(merged).scores(["a"]), atol=1e-4)


class Listed:
    """An embedder with a vector for some words; a text gets the sum of those it has."""

    id = "listed"
    dimension = 3

    def __init__(self, vectors: Mapping[str, tuple[float, float, float]]) -> None:
        self.vectors = vectors

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.full((len(texts), 3), 1e-3, np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word, vector in self.vectors.items():
                row += np.float32(text.lower().count(word)) * np.asarray(vector, np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def chunk(doc: str, *sentences: str) -> Chunk:
    ids = tuple(f"{doc} {sentence}" for sentence in sentences)
    return Chunk(doc, "", (), "", "en", " ".join(sentences), ids)


def base_of(chunks: Sequence[Chunk], embedder: Listed | None, sentences: bool) -> KnowledgeBase:
    settings = KnowledgeSettings(embedder="multilingual" if embedder else "none")
    texts = {id: id.removeprefix(f"{one.doc} ") for one in chunks for id in one.passages}
    quotes = texts if sentences else None
    files = knowledge_files(chunks, embedder, settings, "b", quotes=quotes)
    return KnowledgeBase.load(files.__getitem__)


def test_a_page_about_the_question_lifts_its_chunks() -> None:
    """Of two chunks with the same words, the one whose page has more of them is first."""
    chunks = [
        chunk("aside", "The lid is heavy."),
        chunk("aside", "Nothing of that kind here."),
        chunk("kiln", "The lid is heavy."),
        chunk("kiln", "A kiln has one lid."),
    ]
    found = base_of(chunks, None, sentences=False).search("kiln lid", embedder=None)
    by_page = {hit.index: hit.ranks[PAGES] for hit in found.hits}
    assert found.hits[0].index == 3
    assert by_page[3] < by_page[2] < by_page[0]


def test_prevents_one_chance_word_from_counting_as_much_as_all() -> None:
    """Both questions rank the chunk alike; in the second, most words are nowhere."""
    embedder = Listed({})
    chunks = [chunk("door", "The door is painted every spring."), chunk("heat", "We heat it.")]
    base = base_of(chunks, embedder, sentences=False)
    whole, chance = (
        base.search(question, embedder=embedder).hits[0]
        for question in ("painted door spring", "fire burn bake warm spring")
    )
    assert whole.index == chance.index == 0
    assert whole.ranks == chance.ranks
    assert whole.score > chance.score


@pytest.mark.parametrize("sentences", [False, True])
def test_a_sentence_is_found_in_a_chunk_about_something_else(sentences: bool) -> None:
    embedder = Listed({"fire": (1, 0, 0), "heat": (1, 0, 0), "door": (0, 1, 0), "lid": (0, 0, 1)})
    chunks = [
        chunk("mixed", "Heat.", "The door door door.", "A door door door."),
        chunk("half", "Heat lid lid lid."),
    ]
    base = base_of(chunks, embedder, sentences)
    assert base.vectors is not None
    assert len(base.vectors) == (6 if sentences else 2)
    hits = base.search("fire", embedder=embedder).hits
    assert [hit.chunk.doc for hit in hits] == (
        ["mixed", "half"] if sentences else ["half", "mixed"]
    )
    assert all(MEANING in hit.ranks for hit in hits)
