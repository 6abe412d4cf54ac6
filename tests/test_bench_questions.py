"""The retrieval bench's own questions: counts, languages, halves, and that answers are there."""

from __future__ import annotations

import tarfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from bench.corpora import proved
from bench.retrieval.questions import (
    CHOOSING,
    CORPORA,
    Gold,
    Question,
    read_questions,
    shares_no_word,
)
from tests.shared_data import shared

HANDBOOK = Path(__file__).resolve().parents[1] / "corpus"
QUESTIONS = read_questions()
MORE = read_questions(CHOOSING)
ANSWERABLE = [question for question in QUESTIONS if question.gold]


def passages_of(corpus: str, docs: Iterable[str], folder: Path) -> dict[str, set[str]]:
    """The passages of some documents of a corpus, rendered; the rest is left packed."""
    if corpus == "handbook":
        root = HANDBOOK
    else:
        wanted = {f"{corpus}/{doc}.md" for doc in docs}
        with tarfile.open(shared(f"corpora/{corpus}.tar.xz")) as archive:
            members = [m for m in archive if m.name.removeprefix("./") in wanted]
            archive.extractall(folder, members, filter="data")
        root = folder / corpus
    found: dict[str, set[str]] = {}
    for passage in proved(root, corpus)[1].passages:
        found.setdefault(passage.doc, set()).add(passage.quote)
    return found


def test_there_are_enough_questions_of_each_kind() -> None:
    of_corpus = Counter(question.corpus for question in ANSWERABLE)
    assert set(of_corpus) == set(CORPORA)
    assert len(ANSWERABLE) >= 88
    assert min(of_corpus.values()) >= 20
    assert len(QUESTIONS) - len(ANSWERABLE) == 25
    assert len({question.id for question in QUESTIONS}) == len(QUESTIONS)
    assert len({question.question for question in QUESTIONS}) == len(QUESTIONS)


def test_prevents_a_question_for_choosing_from_being_one_for_judging() -> None:
    assert {question.half for question in MORE} == {"choosing"}
    assert len({question.id for question in MORE}) == len(MORE) == 103
    judged = {gold for q in ANSWERABLE if q.half == "held" for gold in q.gold}
    assert not judged & {gold for question in MORE for gold in question.gold}


def test_half_of_the_questions_are_german_and_some_cross_languages() -> None:
    languages = Counter(question.language for question in ANSWERABLE)
    assert set(languages) == {"de", "en"}
    assert abs(languages["de"] - languages["en"]) <= 2
    on = Counter((question.corpus, question.language) for question in ANSWERABLE)
    assert on["rustbook", "de"] >= 4
    assert on["otel-en", "de"] >= 4
    assert on["fastapi-de", "en"] >= 4


def test_a_third_of_the_questions_have_no_word_of_their_answer() -> None:
    wordless = [question for question in ANSWERABLE if shares_no_word(question)]
    assert len(wordless) >= max(30, len(ANSWERABLE) / 3)


def test_the_halves_are_alike() -> None:
    halves = Counter((q.half, q.corpus, q.language, shares_no_word(q)) for q in ANSWERABLE)
    for half, *kind in list(halves):
        other = "held" if half == "tune" else "tune"
        # One more than when they were dealt out: an answer found later shares a word.
        assert abs(halves[half, *kind] - halves[other, *kind]) <= 2, kind


@pytest.mark.parametrize(
    ("asked", "answer", "expected"),
    [
        ("Can I restart it?", "It can be done by you.", True),
        ("Who restarts it?", "RESTARTED at once", False),
        ("Wann läuft das Zertifikat ab?", "Zertifikate gelten drei Monate.", False),
        ("Wann endet der Schutz?", "HTTPS-Zertifikate gelten drei Monate.", True),
        ("is snake_case fine", "Use a case of tools.", False),
    ],
)
def test_a_word_in_common_is_seen_through_case_and_endings(
    asked: str, answer: str, expected: bool
) -> None:
    question = Question("x", "x", "en", asked, "tune", (Gold("x", answer),))
    assert shares_no_word(question) is expected


@pytest.mark.parametrize("corpus", CORPORA)
def test_every_answer_is_a_passage_of_its_corpus(corpus: str, tmp_path: Path) -> None:
    """An answer that has been edited away would count as a miss of the retriever."""
    asked = [q for q in (*ANSWERABLE, *MORE) if q.corpus == corpus]
    golds = [(q.id, gold) for q in asked for gold in q.gold]
    found = passages_of(corpus, {gold.doc for _, gold in golds}, tmp_path)
    gone = [
        (name, gold.doc, gold.quote)
        for name, gold in golds
        if gold.quote not in found.get(gold.doc, set())
    ]
    assert not gone
