"""The knowledge base of a build: its files, and what a search finds in them and how."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from exactquote.emit.collisions import check as collisions
from exactquote.model import Build, Corpus
from exactquote.pipeline import build
from exactquote.settings import KnowledgeSettings, Settings
from exactquote_site.knowledge.base import MEANING, WORDS, Found, KnowledgeBase, rows_of
from exactquote_site.knowledge.best import best_passages
from exactquote_site.knowledge.chunk import Chunk
from exactquote_site.knowledge.embedders import EmbedderDown
from exactquote_site.knowledge.fuse import fuse
from exactquote_site.knowledge.stored import (
    BRIDGE_PATH,
    CHUNKS_PATH,
    FOLDER,
    HEADER_PATH,
    VECTORS_PATH,
    WORDS_PATH,
)
from exactquote_site.knowledge.tokens import estimated_tokens
from exactquote_site.wire.allowlist import WireError, load_allowlist
from tests.compiling import TODAY, corpus_of, theme

# What each word is about; a text is about all its words.
TOPICS = {
    "kiln": 0, "oven": 0, "brennofen": 0, "fired": 0, "hot": 0,
    "refund": 1, "money": 1, "price": 1,
    "key": 2, "lock": 2, "door": 2,
}  # fmt: skip


class Topical:
    """An embedder that knows a few words; it counts the texts that it was given."""

    dimension = 4

    def __init__(self, id: str = "topical-1", down: str = "") -> None:
        self.id = id
        self.down = down
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.down:
            raise EmbedderDown(self.down)
        self.seen += texts
        rows = np.full((len(texts), self.dimension), 0.01, np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().replace(".", " ").replace("?", " ").split():
                if word in TOPICS:
                    row[TOPICS[word]] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


FILES = {
    "index.md": "# Studio\n\nWe make pots. [Warm](cite:kiln 'It is fired on Fridays.').\n",
    "kiln.md": "# Kiln\n\nIt is fired on Fridays. Nobody opens it before Saturday.\n",
    "door.md": "---\ntitle: Door\naliases: [entrance code]\n---\n\nThe key hangs by the lock.\n",
    "faq/money.md": "---\ntitle: Money\nreviewed_by: Sam\nreviewed_on: 2026-11-01\n---\n\n"
    "## Do I get my money back?\n\nYes. A refund takes a week.\n",
}


def built(
    files: Mapping[str, str] = FILES, embedder: Topical | None = None, **knowledge: Any
) -> Build:
    settings = Settings(knowledge=KnowledgeSettings(**knowledge))
    made = build(corpus_of(files), settings, theme(), embedder=embedder, today=TODAY)
    assert made.diagnostics == ()
    return made


def base_of(made: Build) -> KnowledgeBase:
    return KnowledgeBase.load(lambda path: made.files[path])


def docs(found: Found) -> list[str]:
    return [hit.chunk.doc for hit in found.hits]


def test_the_files_are_of_the_build_and_listed_with_it() -> None:
    made = built(embedder=Topical())
    mine = {path for path in made.files if path.startswith(f"{FOLDER}/")}
    assert mine == {HEADER_PATH, CHUNKS_PATH, WORDS_PATH, VECTORS_PATH, BRIDGE_PATH}
    for path in mine:
        assert made.build_id.encode() in made.files[path][:200], path
        assert path in json.loads(made.files["build.json"])["files"]


def test_every_passage_of_the_allowlist_that_no_author_named_is_in_one_chunk() -> None:
    made = built()
    entries = load_allowlist(lambda path: made.files[path]).entries
    ids = [id for chunk in base_of(made).chunks for id in chunk.passages]
    assert len(ids) == len(set(ids)) == made.counts.passages
    assert set(ids) <= entries.keys()


def test_the_header_says_what_there_is() -> None:
    header = base_of(built(embedder=Topical(), words_weight=0.5)).header
    assert header.embedder is not None
    assert (header.embedder.id, header.embedder.dimension) == ("topical-1", 4)
    assert (header.words_weight, header.meaning_weight) == (0.5, 0.7)
    assert header.languages == ("en",)
    assert header.chunks == len(base_of(built()).chunks)
    assert header.tokens > 0


def test_without_an_embedder_there_are_no_vectors_and_the_header_says_so() -> None:
    made = built()
    assert not made.files.keys() & {VECTORS_PATH, BRIDGE_PATH}
    assert base_of(made).header.embedder is None


def test_a_removed_page_leaves_the_index_with_the_same_build() -> None:
    embedder = Topical()
    before = base_of(built(embedder=embedder))
    assert docs(before.search("key", embedder=embedder))[0] == "door"
    left = {path: text for path, text in FILES.items() if path != "door.md"}
    made = built(left, embedder)
    after = base_of(made)
    assert "door" not in {chunk.doc for chunk in after.chunks}
    assert "door" not in docs(after.search("key", embedder=embedder))
    assert not any(b"hangs by the lock" in data for data in made.files.values())
    assert after.vectors is not None
    assert len(after.chunks) < len(before.chunks)
    assert len(after.vectors) == len(rows_of(after.chunks))


@pytest.mark.parametrize("kept_out", ["draft", "exclude"])
def test_prevents_a_page_that_is_not_published_from_being_found(kept_out: str) -> None:
    front = "---\ndraft: true\n---\n" if kept_out == "draft" else ""
    files = {**FILES, "secret.md": f"{front}# Plans\n\nThe oven is sold in spring.\n"}
    settings = Settings(exclude=["secret.md"] if kept_out == "exclude" else [])
    made = build(corpus_of(files), settings, theme(), embedder=Topical(), today=TODAY)
    assert not made.failed
    assert not any(b"sold in spring" in data for data in made.files.values())


def test_two_builds_have_the_same_bytes_and_the_day_changes_none() -> None:
    one, other = built(embedder=Topical()), built(embedder=Topical())
    assert one.files == other.files
    late = build(
        corpus_of(FILES), Settings(), theme(), embedder=Topical(), today=TODAY.replace(year=2028)
    )
    assert [found.code for found in late.diagnostics] == ["EQ038"]
    assert late.files == one.files


def test_another_embedder_makes_another_build() -> None:
    ids = {built(embedder=embedder).build_id for embedder in (None, Topical(), Topical("other"))}
    assert len(ids) == 3


def test_both_legs_find_and_say_where() -> None:
    embedder = Topical()
    base = base_of(built(embedder=embedder))
    found = base.search("When is the kiln fired?", embedder=embedder)
    assert found.legs == (WORDS, MEANING)
    assert found.notes == ()
    best = found.hits[0]
    assert best.chunk.doc == "kiln"
    assert best.ranks[WORDS] == best.ranks[MEANING] == 1
    assert best.score == max(hit.score for hit in found.hits) > 0
    assert best.scores.keys() == best.ranks.keys()


def test_meaning_finds_what_no_word_does() -> None:
    embedder = Topical()
    base = base_of(built(embedder=embedder))
    found = base.search("Brennofen", embedder=embedder)
    assert found.hits[0].chunk.doc == "kiln"
    assert WORDS not in found.hits[0].ranks
    assert found.notes == ("words found nothing",)
    assert base.search("Brennofen", embedder=None).hits == ()


def test_an_alias_is_found() -> None:
    base = base_of(built())
    assert docs(base.search("entrance code", embedder=None)) == ["door"]


# embedder at the time of the build, at that of the question, weights, why a leg is off
OFF = {
    "built without": (None, Topical(), {}, {MEANING: "this build has no vectors"}),
    "asked without": (Topical(), None, {}, {MEANING: "there is no embedder to make a vector"}),
    "another one": (Topical(), Topical("topical-2"), {}, {MEANING: "were made by topical-1, and"}),
    "down": (Topical(), Topical(down="no route to host"), {}, {MEANING: "no route to host"}),
    "no meaning": (Topical(), Topical(), {"meaning_weight": 0}, {MEANING: "its weight is 0"}),
    "no words": (Topical(), Topical(), {"words_weight": 0}, {WORDS: "its weight is 0"}),
}


@pytest.mark.parametrize("name", OFF)
def test_prevents_a_leg_that_is_off_in_silence(name: str) -> None:
    builder, asker, weights, wanted = OFF[name]
    found = base_of(built(embedder=builder, **weights)).search("kiln", embedder=asker)
    assert found.off.keys() == wanted.keys()
    for leg, why in wanted.items():
        assert why in found.off[leg]
        assert leg not in found.legs
        assert not any(leg in hit.ranks for hit in found.hits)
        assert any(note.startswith(f"{leg} is off: ") for note in found.notes)
    assert found.hits[0].chunk.doc == "kiln"
    if asker is not None and MEANING in wanted:
        assert asker.seen == [] or name == "down"


def test_prevents_words_that_were_cut_otherwise_from_being_looked_up() -> None:
    base = base_of(built(embedder=Topical()))
    cut = replace(base, header=replace(base.header, words="00000000"))
    found = cut.search("the kiln", embedder=Topical())
    assert found.legs == (MEANING,)
    assert "were cut otherwise" in found.off[WORDS]
    assert cut.search("the kiln", embedder=None).hits == ()


def test_an_empty_question_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        base_of(built()).search(" \n", embedder=None)


def test_a_small_corpus_is_given_whole_and_ranked_all_the_same() -> None:
    base = base_of(built())
    assert base.header.mode == "whole"
    assert base.for_model("key", 1, embedder=None) == base.all_chunks() == base.chunks
    assert docs(base.search("key", 1, embedder=None)) == ["door"]


@pytest.mark.parametrize("limit", ["off", "one too low", "just enough"])
def test_a_larger_one_is_retrieved_from(limit: str) -> None:
    tokens = base_of(built()).header.tokens
    most = {"off": 0, "one too low": tokens - 1, "just enough": tokens}[limit]
    base = base_of(built(whole_notes_tokens_max=most))
    whole = limit == "just enough"
    assert base.header.mode == ("whole" if whole else "retrieve")
    assert len(base.for_model("key", 1, embedder=None)) == (len(base.chunks) if whole else 1)


@pytest.mark.parametrize("limit", [0, 12_000])
def test_a_required_page_that_is_empty_fails_the_build_in_both_modes(limit: int) -> None:
    settings = Settings(
        required=["kiln", "terms"], knowledge=KnowledgeSettings(whole_notes_tokens_max=limit)
    )
    files = {**FILES, "terms.md": "---\ntitle: Terms\nsummary: Said.\n---\n<!-- to come -->\n"}
    made = build(corpus_of(files), settings, theme(), today=TODAY)
    assert [found.code for found in made.diagnostics] == ["EQ018"]
    assert made.files == {}


def test_reviewed_answers_are_marked_and_others_are_not() -> None:
    marked = {chunk.doc: chunk.faq for chunk in base_of(built()).chunks}
    assert marked == {"index": False, "kiln": False, "door": False, "faq/money": True}


def test_prevents_an_answer_that_nobody_reviewed_from_being_given_word_for_word() -> None:
    files = {**FILES, "faq/money.md": "# Money\n\nA refund takes a week.\n"}
    settings = Settings(severity={"EQ037": "off"})
    made = build(corpus_of(files), settings, theme(), today=TODAY)
    assert not made.failed
    assert not any(chunk.faq for chunk in base_of(made).chunks)


TOKENS = [("", 0), ("abcd", 1), ("abcde", 2), ("釜は金曜日", 5), ("Der Ofen", 2), ("เตาเผา", 6)]


@pytest.mark.parametrize(("text", "tokens"), TOKENS)
def test_tokens_are_estimated_by_one_rule(text: str, tokens: int) -> None:
    assert estimated_tokens(text) == tokens


def other(value: dict[str, Any], **changed: Any) -> bytes:
    return json.dumps({**value, **changed}).encode()


# path, what becomes of the file, what is said
BROKEN = {
    "a header cut short": (HEADER_PATH, lambda data: data[:-20], "header.json"),
    "a list for a header": (HEADER_PATH, lambda _: b"[]", "must be an object"),
    "a header of tomorrow": (
        HEADER_PATH,
        lambda data: other(json.loads(data), version=2),
        "version 2 can't be read, only 1",
    ),
    "a header without its build": (
        HEADER_PATH,
        lambda data: other(json.loads(data), build_id=None),
        "build_id is missing",
    ),
    "an unknown mode": (
        HEADER_PATH,
        lambda data: other(json.loads(data), mode="half"),
        "mode 'half'",
    ),
    "a weight that is no number": (
        HEADER_PATH,
        lambda data: data.replace(b'"words_weight": 1.0', b'"words_weight": NaN'),
        "out of range",
    ),
    "a header of more chunks": (
        HEADER_PATH,
        lambda data: other(json.loads(data), chunks=99),
        "4 chunks, not 99",
    ),
    "a header of another embedder": (
        HEADER_PATH,
        lambda data: data.replace(b"topical-1", b"topical-2"),
        "isn't what knowledge/header.json says",
    ),
    "chunks of another build": (
        CHUNKS_PATH,
        lambda data: other(json.loads(data), build_id="b2"),
        "is of build 'b2'",
    ),
    "a chunk without text": (
        CHUNKS_PATH,
        lambda data: data.replace(b'"text"', b'"test"'),
        "chunk 0 wants the keys",
    ),
    "a chunk of numbers": (
        CHUNKS_PATH,
        lambda data: data.replace(b'"trail":[]', b'"trail":[1]'),
        "must list texts",
    ),
    "words of another build": (
        WORDS_PATH,
        lambda data: b"exactquote-words 1 b2\n" + data.partition(b"\n")[2],
        "is of build 'b2'",
    ),
    "vectors for words": (
        WORDS_PATH,
        lambda data: data.replace(b"-words ", b"-vectors ", 1),
        "holds no words",
    ),
    "words cut short": (WORDS_PATH, lambda data: data[:-8], ""),
    "vectors of another build": (
        VECTORS_PATH,
        lambda data: b"exactquote-vectors 1 b2\n" + data.partition(b"\n")[2],
        "is of build 'b2'",
    ),
    "a bridge of another build": (
        BRIDGE_PATH,
        lambda data: b"exactquote-bridge 1 b2\n" + data.partition(b"\n")[2],
        "is of build 'b2'",
    ),
    "a bridge of another embedder": (
        BRIDGE_PATH,
        lambda data: data.replace(b"topical-1", b"topical-2"),
        "isn't what knowledge/header.json says",
    ),
    "a bridge cut short": (BRIDGE_PATH, lambda data: data[:-8], ""),
    "vectors that aren't sealed": (VECTORS_PATH, lambda data: b"", "holds no vectors"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_prevents_parts_that_do_not_belong_together_from_being_searched(name: str) -> None:
    path, change, message = BROKEN[name]
    files = dict(built(embedder=Topical()).files)
    changed = change(files[path])
    assert changed != files[path]
    files[path] = changed
    with pytest.raises(WireError) as caught:
        KnowledgeBase.load(lambda name: files[name])
    assert message in str(caught.value)


def test_a_base_survives_being_written_and_read() -> None:
    embedder = Topical()
    base = base_of(built(embedder=embedder))
    again = KnowledgeBase(base.chunks, base.postings, base.vectors, base.header, base.bridge)
    for question in ("kiln", "money back", "Brennofen"):
        assert again.search(question, embedder=embedder) == base.search(question, embedder=embedder)


TAKEN = {
    "knowledge/header.json": True,
    "knowledge/picture.png": True,
    "knowledge.png": False,
    "guide/knowledge/a.png": False,
}


@pytest.mark.parametrize("path", TAKEN)
def test_a_picture_can_not_stand_where_the_knowledge_base_does(path: str) -> None:
    corpus = replace(Corpus(), assets={path: b"x"})
    assert [found.code for found in collisions(corpus, (), True)] == ["EQ023"] * TAKEN[path]


def test_a_document_may_have_its_name() -> None:
    made = built({**FILES, "knowledge/header.md": "# Header\n\nIt is a page.\n"})
    assert "knowledge/header.html" in made.files
    assert json.loads(made.files[HEADER_PATH])["build_id"] == made.build_id


# rankings, weights, the order that comes of them
FUSED = [
    ({"a": [1, 2, 3]}, {"a": 1}, [1, 2, 3]),
    ({"a": [1, 2], "b": [2, 3]}, {"a": 1, "b": 1}, [2, 1, 3]),
    ({"a": [1, 2], "b": [3, 4]}, {"a": 1, "b": 0.3}, [1, 2, 3, 4]),
    ({"a": [1, 2], "b": [3, 4]}, {"a": 0.3, "b": 1}, [3, 4, 1, 2]),
    ({"a": [9], "b": [4]}, {"a": 1, "b": 1}, [4, 9]),
    ({"a": [1], "b": [2]}, {"a": 1, "b": 0}, [1]),
    ({"a": [], "b": []}, {"a": 1, "b": 1}, []),
    ({}, {}, []),
]


@pytest.mark.parametrize(("rankings", "weights", "order"), FUSED)
def test_rankings_are_fused_by_rank(
    rankings: dict[str, list[int]], weights: dict[str, float], order: list[int]
) -> None:
    assert [thing for thing, _ in fuse(rankings, weights)] == order


@given(st.lists(st.permutations(range(8)), min_size=1, max_size=3))
def test_what_all_rankings_put_first_is_first(rankings: list[list[int]]) -> None:
    led = {str(i): [99, *ranking] for i, ranking in enumerate(rankings)}
    fused = fuse(led, dict.fromkeys(led, 1.0))
    assert fused[0][0] == 99
    assert [score for _, score in fused] == sorted((s for _, s in fused), reverse=True)
    assert fused == fuse(dict(reversed(led.items())), dict.fromkeys(led, 1.0))


def best_of(question: str, embedder: Topical | None, text: str) -> tuple[tuple[str, ...], Chunk]:
    made = built({**FILES, "long.md": text}, embedder)
    base = base_of(made)
    entries = load_allowlist(lambda path: made.files[path]).entries
    quotes = {id: entry.quote for id, entry in entries.items()}
    found = base.search(question, 3, embedder=embedder)
    best = next(
        one
        for one in best_passages(base, found, quotes, embedder=embedder)
        if one.hit.chunk.doc == "long"
    )
    return tuple(quotes[id] for id in best.passages), best.hit.chunk


# question, whether with the embedder, the page, the passages that are shown
BEST = {
    "the sentence with the words": (
        "When does the glaze dry?",
        False,
        "# Glaze\n\nIt is mixed by hand in buckets. The glaze dries in nine hours and a half."
        " Then it is fired, as all else is.\n",
        ("The glaze dries in nine hours and a half.",),
    ),
    "the sentence with the meaning": (
        "Brennofen",
        True,
        "# Rules\n\nThe door is to be closed at night, always. The oven is far too hot to touch"
        " on a Friday. The price of clay is on the wall.\n",
        ("The oven is far too hot to touch on a Friday.",),
    ),
    "not the heading that asks the same": (
        "Is the shelf glazed?",
        False,
        "# Shelves\n\n## Is the shelf glazed?\n\nNobody does, as it would stick to the pots.\n\n"
        "## Is the floor clean?\n\nIt is swept by whoever leaves last, and washed on Sundays.\n",
        ("Nobody does, as it would stick to the pots.",),
    ),
    "a short one with what follows": (
        "Is the shelf glazed?",
        False,
        "# Shelves\n\n## Is the shelf glazed?\n\nNo. It would stick to the pots, and they to it."
        "\n\n## Is the floor clean?\n\nYes.\n",
        ("No.", "It would stick to the pots, and they to it."),
    ),
    "not the title of a note": (
        "What is the tip?",
        False,
        "# Glaze\n\n!!! tip\n    Mix it in a bucket by hand, and never alone.\n\n"
        "It dries in nine hours.\n",
        ("Mix it in a bucket by hand, and never alone.",),
    ),
    "not a scrap of a list, where a sentence is": (
        "Is it the glaze brush?",
        False,
        "# Tools\n\nEverything is put back in its place at night.\n\n- the glaze brush\n"
        "- the long knife\n",
        ("Everything is put back in its place at night.",),
    ),
    "what a colon announces": (
        "What is needed for the glaze?",
        False,
        "# Tools\n\nNeeded for the glaze:\n\n- a brush\n- a bucket\n\nAll else is in the yard.\n",
        ("Needed for the glaze:", "a brush", "a bucket"),
    ),
    "no title behind a short sentence": (
        "Is the shelf glazed?",
        False,
        "# Shelves\n\nIs the shelf glazed? No.\n\n!!! tip\n    Mix it in a bucket by hand.\n",
        ("Is the shelf glazed?", "No."),
    ),
    "a cell with its own row": (
        "When is the wheel oiled?",
        False,
        "# Year\n\nThe shelves are dusted daily.\n\n| Month | Work |\n| --- | --- |\n"
        "| March | wheel oiled |\n| May | check the weight |\n",
        ("March", "wheel oiled"),
    ),
    "not the head of a table": (
        "Which month, which work?",
        False,
        "# Year\n\n| Month | Work |\n| --- | --- |\n| March | all work of that month |\n",
        ("March", "all work of that month"),
    ),
    "a definition with its term": (
        "Which ware is bisque?",
        False,
        "# Words\n\nbisque\n: Ware that was fired once.\n: It takes glaze.\n\nslip\n"
        ": Clay in water.\n",
        ("bisque", "Ware that was fired once."),
    ),
    "never across a heading": (
        "Is the floor clean?",
        False,
        "# Shelves\n\n## Is the floor clean?\n\nYes.\n\n## Is the shelf glazed?\n\nNo.\n",
        ("Yes.",),
    ),
}


@pytest.mark.parametrize("name", BEST)
def test_the_best_passage_of_a_chunk(name: str) -> None:
    question, meant, text, wanted = BEST[name]
    shown, chunk = best_of(question, Topical() if meant else None, text)
    assert shown == wanted
    assert chunk.doc == "long"


def shown_for(question: str, files: Mapping[str, str]) -> list[str]:
    """The pages whose passages are shown, best first."""
    made = built({**FILES, **files})
    entries = load_allowlist(lambda path: made.files[path]).entries
    quotes = {id: entry.quote for id, entry in entries.items()}
    base = base_of(made)
    found = base.search(question, 8, embedder=None)
    return [one.hit.chunk.doc for one in best_passages(base, found, quotes, embedder=None)]


def test_prevents_passages_that_fit_far_less_than_the_best() -> None:
    strong = {
        "a.md": "# Ash\n\nAsh glaze is sieved twice before the second firing.\n",
        "b.md": "# Bone\n\nAsh glaze is sieved twice before the third firing.\n",
    }
    weak = {"c.md": "# Cups\n\nThe cups are counted before they are sold in town.\n"}
    asked = "Is ash glaze sieved twice before firing?"
    assert set(shown_for(asked, {**strong, **weak})) == {"a", "b"}
    assert shown_for("Are cups sold before?", {**strong, **weak})[0] == "c"


def test_the_first_is_shown_however_weak_it_is() -> None:
    assert shown_for("Cups?", {"c.md": "# Town\n\nThe cups are sold.\n"}) == ["c"]
