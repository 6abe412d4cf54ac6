"""Equal sentences of a page are different passages, whoever cites one of them."""

from __future__ import annotations

import json
from typing import Any

from tests.compiling import compiled, corpus_of

QUOTE = "The owner agrees in writing."
SOLD = {"A": "Apples", "B": "Plums", "C": "Pears"}
PAGE = "# I\n" + "".join(f"\n## {name}\n\n{QUOTE} {f} are sold.\n" for name, f in SOLD.items())


def entries(*citations: dict[str, Any]) -> tuple[list[str], dict[str, dict[str, Any]]]:
    """The ids of the citations, and the allowlist of their build."""
    listed = [{"doc": "index", "claim": "It is so.", **one} for one in citations]
    made = compiled(corpus_of({"index.md": PAGE, "index.citations.json": json.dumps(listed)}))
    assert not made.failed, made.diagnostics
    allowed = json.loads(made.files["allowlist.json"])["entries"]
    return [verdict.id for verdict in made.verdicts], allowed


def anchors(allowed: dict[str, dict[str, Any]], quote: str) -> list[tuple[str, bool]]:
    """Where the entries with a quote lead to, and whether they are cited."""
    return sorted(
        (entry["href"].partition("#")[2].partition(":")[0], entry["cited"])
        for entry in allowed.values()
        if entry["quote"] == quote
    )


def test_a_pinned_sentence_has_the_id_of_its_own_passage():
    _, uncited = entries({"quote": "Apples are sold."})
    ids, allowed = entries({"quote": QUOTE, "occurrence": 1}, {"quote": QUOTE, "occurrence": 2})
    assert len(set(ids)) == 2
    assert anchors(allowed, QUOTE) == [("a", False), ("b", True), ("c", True)]
    assert allowed.keys() == uncited.keys()
    assert all(allowed[id]["href"] == uncited[id]["href"] for id in allowed)


def test_equal_parts_of_sentences_have_ids_of_their_own():
    part = "The owner agrees"
    ids, allowed = entries(*({"quote": part, "occurrence": number} for number in range(3)))
    assert len(set(ids)) == 3
    assert anchors(allowed, part) == [("a", True), ("b", True), ("c", True)]


def test_a_passage_that_is_cited_by_an_id_of_the_authors_own_counts_as_cited():
    _, allowed = entries({"id": "mine", "quote": QUOTE, "occurrence": 1})
    assert allowed["mine"]["cited"]
    assert anchors(allowed, QUOTE) == [("a", False), ("b", True), ("b", True), ("c", False)]
