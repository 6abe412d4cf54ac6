"""A question's words lead to those of the corpus that mean the same, and to no others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from exactquote.emit.knowledge import knowledge_files
from exactquote.settings import KnowledgeSettings
from exactquote_site.knowledge.arrays import pack
from exactquote_site.knowledge.base import MEANING, WORDS, KnowledgeBase
from exactquote_site.knowledge.bridge import Bridge, bridge_words
from exactquote_site.knowledge.chunk import Chunk
from exactquote_site.knowledge.stored import BRIDGE_PATH, VECTORS_PATH
from exactquote_site.knowledge.use_multilingual import Multilingual
from exactquote_site.knowledge.weigh import by_spread, by_words
from exactquote_site.knowledge.words import topics
from exactquote_site.wire.allowlist import WireError

# Words of one line mean the same; each line is a direction of its own.
MEANINGS = ("file datei document", "kiln brennofen", "closed geschlossen", "window", "harbour")


class Dictionary:
    """An embedder that knows what a few words mean, each text being the sum of its words."""

    id = "dictionary@1"
    dimension = len(MEANINGS)

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        rows = np.full((len(texts), self.dimension), 1e-3, np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.casefold().replace(".", " ").replace("?", " ").split():
                row += [2.0 * (word in line.split()) for line in MEANINGS]
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def bridge(*words: str) -> Bridge:
    return Bridge(Dictionary.id, words, Dictionary().embed(words))


def led_to(built: Bridge, *asked: str) -> list[dict[str, float]]:
    vectors = dict(zip(unmet := built.unmet(asked), Dictionary().embed(unmet), strict=True))
    return built.widened({word: (f"~{word.casefold()}",) for word in asked}, vectors, ("en",))


def chunk(doc: str, text: str) -> Chunk:
    return Chunk(doc, "", (), "", "en", text, (doc,))


def files_of(texts: Mapping[str, str], kind: str = "multilingual") -> dict[str, bytes]:
    chunks = [chunk(doc, text) for doc, text in texts.items()]
    settings = KnowledgeSettings(embedder=kind)
    return knowledge_files(chunks, Dictionary(), settings, "b", quotes=texts)


# texts, the words that get a vector
KEPT: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "one in a single text is left out": (("kiln lid", "kiln"), ("kiln",)),
    "as it is mostly written": (("Kiln kiln Kiln", "the Kiln"), ("Kiln",)),
    "of equally many, the first": (("Kiln", "kiln"), ("Kiln",)),
    "no words that say nothing": (("the and der", "the and der"), ()),
    "no names of code, numbers or letters": (("a_b 12 x", "a_b 12 x"), ()),
    "in the order of their letters": (("ofen kiln", "ofen kiln"), ("kiln", "ofen")),
}


@pytest.mark.parametrize("name", KEPT)
def test_words_that_get_a_vector(name: str) -> None:
    texts, kept = KEPT[name]
    assert bridge_words(texts) == bridge_words(texts[::-1]) == kept


def test_a_word_leads_to_those_that_mean_the_same_and_to_no_others() -> None:
    built = bridge("file", "kiln", "window", "harbour")
    datei, kiln, unheard = led_to(built, "Datei", "kiln", "Xylophon")
    assert datei.keys() == {"~datei", "~file"}
    assert datei["~datei"] == 1 >= datei["~file"] > 0.9
    assert kiln == {"~kiln": 1}
    assert unheard["~xylophon"] == 1


def test_only_words_that_the_corpus_does_not_have_are_asked_for() -> None:
    built = bridge("file", "window")
    assert built.unmet(["FILE", "Datei", "x", "a_b", "the", "window"]) == ("Datei",)
    assert bridge().unmet(["Datei"]) == ()
    assert len(built.unmet(f"word{'a' * n}" for n in range(20))) == 12


def test_a_word_that_was_met_before_is_not_asked_for_again() -> None:
    built = bridge("file", "window")
    first = led_to(built, "Datei")
    assert built.unmet(["Datei", "brennofen"]) == ("brennofen",)
    assert built.widened({"Datei": ("~datei",)}, {}, ("en",)) == first


def test_a_question_in_another_language_finds_by_words() -> None:
    texts = {
        "file": "The file is closed. It is a file.",
        "other": "A file here. The harbour is closed.",
        "window": "The window of the harbour.",
    }
    embedder = Dictionary()
    base = KnowledgeBase.load(files_of(texts).__getitem__)
    found = base.search("Wann ist die Datei geschlossen?", embedder=embedder)
    assert embedder.asked == ["Wann ist die Datei geschlossen?", "Datei", "geschlossen"]
    assert found.hits[0].chunk.doc == "file"
    assert {hit.chunk.doc for hit in found.hits if WORDS in hit.ranks} == {"file", "other"}
    alone = base.search("Wann ist die Datei geschlossen?", embedder=None)
    assert MEANING in alone.off
    assert alone.hits == ()


def test_prevents_an_embedder_from_being_asked_for_words_that_it_was_not_measured_with() -> None:
    texts = {"a": "A file.", "b": "The file."}
    files = files_of(texts, "wordllama")
    assert VECTORS_PATH in files
    assert BRIDGE_PATH not in files
    base = KnowledgeBase.load(files.__getitem__)
    embedder = Dictionary()
    assert base.search("Datei", embedder=embedder).legs == (WORDS, MEANING)
    assert embedder.asked == ["Datei"]


@settings(max_examples=25)
@given(st.integers(3, 40), st.integers(3, 70), st.integers(0, 99))
def test_prevents_short_rows_from_hiding_the_nearest_word(
    count: int, dimension: int, seed: int
) -> None:
    """With more numbers in a row than are searched, each word still finds itself first."""
    random = np.random.default_rng(seed)
    matrix = random.standard_normal((count, dimension)).astype(np.float32)
    words = [chr(ord("a") + n % 26) * (3 + n // 26) for n in range(count)]
    built = Bridge("x", words, matrix)
    for found in built.widened(dict.fromkeys(words, ()), {}, ("en",)):
        assert max(found.values(), default=1.0) == pytest.approx(1, abs=1e-3)
    assert all(built.widened({words[0]: ()}, {}, ("en",)))


def test_a_bridge_is_read_as_it_was_written() -> None:
    built = bridge("Datei", "file", "über")
    again = Bridge.from_bytes(built.to_bytes())
    assert (again.words, again.embedder) == (built.words, built.embedder)
    assert again.to_bytes() == built.to_bytes()
    assert led_to(again, "document") == led_to(built, "document")
    assert Bridge.from_bytes(bridge().to_bytes()).words == ()


CODES = np.zeros((2, 3), np.uint8)
MALFORMED = {
    "no words": ({"codes": CODES}, {"by": "x"}, "wants words"),
    "no embedder": ({"codes": CODES, "words": np.zeros(0, np.uint8)}, {}, "wants words"),
    "fewer words than rows": (
        {"codes": CODES, "words": np.frombuffer(b"one", np.uint8)},
        {"by": "x"},
        "1 words have 2 rows",
    ),
    "codes in one row": (
        {"codes": CODES[0], "words": np.zeros(0, np.uint8)},
        {"by": "x"},
        "bytes in rows",
    ),
    "words that aren't UTF-8": (
        {"codes": CODES, "words": np.frombuffer(b"\xff", np.uint8)},
        {"by": "x"},
        "words: ",
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_prevents_a_malformed_bridge_from_being_crossed(name: str) -> None:
    arrays, settings, message = MALFORMED[name]
    with pytest.raises(WireError) as caught:
        Bridge.from_bytes(pack("bridge", arrays, settings))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "corpus"), [("Datei", "file"), ("simultaneously", "concurrently"), ("lock", "lock")]
)
def test_the_default_embedder_knows_words_of_one_meaning(asked: str, corpus: str) -> None:
    words = ["closed", "concurrently", "file", "harbour", "lock", "paragraph", "server", "window"]
    built = Bridge(Multilingual.id, words, Multilingual().embed(words))
    vectors = dict(
        zip(unmet := built.unmet([asked]), Multilingual().embed_questions(unmet), strict=True)
    )
    (found,) = built.widened({asked: ()}, vectors, ("en",))
    best = max(found, key=lambda term: found[term])
    (wanted,) = built.widened({corpus: ()}, {}, ("en",))
    assert best == max(wanted, key=lambda term: wanted[term])


# what is asked, what the corpus has, the words that are looked for
TOPICS: dict[str, tuple[str, frozenset[str], list[str]]] = {
    "what says nothing is left out": ("Wie öffne ich die Datei?", frozenset(), ["öffne", "Datei"]),
    "unless there is nothing else": ("what is it", frozenset(), ["what", "is", "it"]),
    "in pieces": ("Trace-Header senden", frozenset(), ["Trace", "Header", "senden"]),
    "and whole where it is known": (
        "useState",
        frozenset({"~usest"}),
        ["useState", "use", "State"],
    ),
    "once": ("file by file", frozenset(), ["file"]),
    "versions": ("since 1.2", frozenset(), ["1.2"]),
    "pairs of characters": ("窯の温度", frozenset(), ["窯の", "の温", "温度"]),
}


@pytest.mark.parametrize("name", TOPICS)
def test_what_a_question_is_about(name: str) -> None:
    asked, known, wanted = TOPICS[name]
    assert list(topics(asked, known=known)) == wanted


def test_prevents_one_rare_word_from_outweighing_all_else() -> None:
    """In a large corpus, a word that one chunk alone has would be at any height above others."""
    scores = np.zeros(100_000, np.float32)
    scores[7] = 10
    assert by_words(scores, 50).max() < 6 < scores.max() / scores.std()


def test_what_is_all_the_same_tells_nothing_apart() -> None:
    same = np.full(3, 0.4, np.float32)
    assert not by_spread(same, same).any()
    assert not by_spread(same, same[:0]).any()
    assert not by_words(np.zeros(3, np.float32), 0.0).any()
