"""Which terms a text is found by, and that a question finds what is written another way."""

from __future__ import annotations

import sys
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactquote_site.knowledge.compounds import parts
from exactquote_site.knowledge.words import (
    TERM_CHARS_MAX,
    corpus_words,
    fingerprint,
    forget_words,
    query_words,
    words,
)
from tests.hangs import no_hang

# a text, terms that it has, terms that it hasn't
TERMS = [
    ("The Cache", {"the", "cache", "~cach"}, {"Cache"}),
    ("snake_case_name", {"snake_case_name", "~snake", "~case", "~name"}, {"name", "snake"}),
    ("XMLHttpRequest", {"xmlhttprequest", "~xml", "~http", "~request"}, {"request"}),
    ("the APIs and IDs", {"apis", "~api", "~id"}, {"~is", "~ap"}),
    ("std::vec::Vec<T>", {"std::vec::vec", "~std", "~vec", "t"}, {"~ve"}),
    ("os.path.join(a)", {"os.path.join", "~os", "~path", "~join"}, set()),
    ("It ends. Then", {"ends", "then"}, {"ends.then"}),
    ("command-line", {"command-line", "~command", "~line"}, {"line"}),
    ("__init__.py", {"__init__.py", "~init", "~py"}, set()),
    ("run (--no-cache) -v", {"--no-cache", "no-cache", "~cach", "-v"}, {"--no"}),
    ("C++ and C#, not c", {"c++", "c#", "c"}, {"++"}),
    ("v1.2.3", {"v1.2.3", "~1.2.3", "~1.2", "~1"}, {"~2", "~3", "~2.3"}),
    ("1,000 rows, 1,2", {"1000", "~1000", "1", "2"}, {"1,000", "~000", "12"}),
    ("10ms", {"10ms", "~10", "~ms"}, {"10"}),
    ("user’s", {"user's", "~user"}, {"~s"}),
    ("ﬁle Ｆｕｌｌ ½", {"file", "full", "1", "2"}, {"ﬁle"}),
    ("Daten\u00adbank zero\u200bwidth", {"datenbank", "zerowidth"}, {"daten", "bank"}),
    ("我们的React组件", {"我们", "们的", "我", "react", "组件"}, {"的react", "的组"}),
    ("データベース", {"デー", "ース"}, {"データ"}),
    ("안녕하세요", {"안녕", "하세"}, {"안녕하세요"}),
    ("ที่นี่", {"ที่นี่"}, {"ท"}),
    ("हिन्दी", {"हिन्दी", "~हिन्दी"}, {"ह"}),
    ("٣٤", {"34"}, {"٣٤"}),
    ("\ud800 a\udfff", {"a"}, {"\ud800"}),
]  # fmt: skip

# a page's language and text, a question that is to find it
FINDS = [
    ("de", "Die Größe der Straße", "groesse"),
    ("de", "Die Größe der Straße", "GRÖSSE"),
    ("de", "Die Größe der Straße", "grosse strasse"),
    ("de", "wird ueberschrieben", "überschreiben überschrieben"),
    ("en", "ask Mueller", "Müller"),
    ("en", "ask Müller", "mueller"),
    ("en", "a naïve café", "naive"),
    ("en", "It was running", "runs"),
    ("en", "caching of indexes", "index"),
    ("de", "zwei Datenbanken", "Datenbank"),
    ("en", "call useState first", "use_state"),
    ("en", "call useState first", "use state"),
    ("en", "send an e-mail", "emails"),
    ("en", "the filename is", "file name"),
    ("en", "since version 1.2.3", "1.2"),
    ("en", "since v1.2.3", "1.2.3"),
    ("en", "set --force", "force"),
    ("en", "set force", "--force"),
    ("zh", "我们的组件", "组"),
    ("zh", "我们的组件", "组件怎么写"),
    ("de", "Die Verbindung zur Datenbank", "Datenbankverbindung"),
    ("fr", "les chevaux", "cheval"),
]

CORPUS = [
    ("Die Verbindung zur Datenbank steht. Eine Abhängigkeit, eine Injektion, ein System.", "de"),
    ("Die Datenbankverbindungen und das Abhängigkeitsinjektionssystem.", "de"),
]
KNOWN = {"datenbank", "daten", "bank", "verbindung", "fehler", "meldung", "hinweis"}


def found(language: str, text: str, question: str) -> set[str]:
    """The terms that a page and a question have in common."""
    page = corpus_words([(text, language)])[0]
    return set(page) & set(query_words(question, known=set(page), languages=(language, "en")))


@pytest.mark.parametrize(("text", "wanted", "unwanted"), TERMS)
def test_terms_of_a_text(text: str, wanted: set[str], unwanted: set[str]) -> None:
    terms = set(words(text))
    assert wanted <= terms, terms
    assert not unwanted & terms, terms


@pytest.mark.parametrize(("language", "text", "question"), FINDS)
def test_a_question_finds_what_is_written_another_way(
    language: str, text: str, question: str
) -> None:
    assert found(language, text, question)


@pytest.mark.parametrize("question", ["ort", "bin", "ache", "組件", "2.3", "tate"])
def test_a_question_finds_nothing_in_letters_that_only_look_alike(question: str) -> None:
    for language, text, _ in FINDS:
        assert not found(language, text, question), text


def test_terms_stand_in_order_with_repeats() -> None:
    assert words("b a b") == ["b", "~b", "a", "~a", "b", "~b"]


def test_a_compound_is_found_by_its_parts_and_finds_them() -> None:
    plain, compound = corpus_words(CORPUS)
    known = {*plain, *compound}
    assert {"~datenbank", "~verbind", "~injektion", "~system"} <= set(compound)
    assert "datenbank" not in compound
    asked = query_words("Datenbankverbindung", known=known, languages=["de"])
    assert {"~datenbank", "~verbind"} <= set(asked) & set(plain)


def test_prevents_an_english_word_from_being_split_on_an_english_page() -> None:
    page = corpus_words([("A password: to pass a word.", "en")])[0]
    assert page.count("~pass") == page.count("~word") == 1


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("datenbankverbindung", ("datenbank", "verbindung")),
        ("datenbankverbindungen", ("datenbank", "verbindung")),
        ("fehlermeldungshinweis", ("fehler", "meldung", "hinweis")),
        ("datenbank", ("daten", "bank")),
        ("datenbanx", ()),
        ("daten", ()),
        ("x" * 500, ()),
    ],
)
def test_the_fewest_known_parts_of_a_compound(word: str, wanted: tuple[str, ...]) -> None:
    assert parts(word, KNOWN) == wanted


def test_words_that_only_ask_are_left_out_of_a_question_but_not_of_a_page() -> None:
    assert "how" not in query_words("How do I cache?")
    assert "cache" in query_words("How do I cache?")
    assert "how" in query_words("How do you do?")
    assert "for" in query_words("Was ist for?")
    assert "how" in words("How do I cache?")


def test_a_loose_term_counts_twice_in_a_question() -> None:
    terms = query_words("cache", languages=["en"])
    assert (terms.count("cache"), terms.count("~cach")) == (1, 2)


def test_the_fingerprint_tells_another_way_of_cutting(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint()
    assert fingerprint() == before
    cut = sys.modules["exactquote_site.knowledge.words"]
    monkeypatch.setattr(cut, "stem", cache(lambda word, language: word))
    forget_words()
    assert fingerprint() != before
    monkeypatch.undo()
    forget_words()


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_has_terms_that_a_file_can_hold(text: str) -> None:
    for terms in (words(text, "de", known=KNOWN), query_words(text, known=KNOWN)):
        for term in terms:
            term.encode("utf-8")
            assert term
            assert not set(term) & set(" \n\r\t")


@given(st.text(st.characters(exclude_categories=())))
def test_a_text_finds_itself(text: str) -> None:
    terms = words(text, "en")
    assert bool(terms) == bool(set(terms) & set(query_words(text, known=set(terms))))


@given(st.text(), st.text())
def test_what_stands_beside_a_word_changes_no_term_of_it(left: str, right: str) -> None:
    assert words(f"{left}\n{right}") == words(left) + words(right)


@pytest.mark.parametrize(
    "unit",
    ["a", "A", "_", "-", ".", "a_", "a.", "Ab", "1.", "1,", "'", "字", "ก", "\u0301", "\ud800"],
)
def test_prevents_a_text_that_takes_more_than_linear_time(unit: str) -> None:
    with no_hang():
        terms = words("x" + unit * (200_000 // len(unit)))
    assert all(len(term) <= 2 * TERM_CHARS_MAX for term in terms)


def test_prevents_marks_in_a_row_from_being_sorted_for_minutes() -> None:
    with no_hang():
        assert len(words("a" + "\u0301\u0323" * 100_000 + "b")) == 2
