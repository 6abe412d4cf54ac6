"""Sentences of a run: cases by language, UAX 29 where the rules agree, and what never holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactquote.rendered.edges import inside_word
from exactquote.rendered.graphemes import is_boundary
from exactquote.rendered.sentences import sentences
from tests.hangs import no_hang
from tests.shared_data import shared

CASES = Path(__file__).parent / "spec_sentences"
MARK = re.compile(r"( ?)\|( ?)")


def cut(text: str, language: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text, language)]


def cases() -> list[tuple[str, str]]:
    found = []
    for file in sorted(CASES.glob("*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            if not line or line.startswith("#"):
                continue
            language, case = line.split(": ", 1) if file.stem == "other" else (file.stem, line)
            found.append((language, case.replace("\\n", "\n").replace("\\t", "\t")))
    return found


def test_there_are_enough_cases() -> None:
    assert len(cases()) >= 120


@pytest.mark.parametrize(("language", "case"), cases())
def test_a_run_is_cut_where_its_sentences_end(language: str, case: str) -> None:
    wanted = [piece.strip() for piece in case.split("|")]
    # A space beside a mark stands in the text, once.
    text = MARK.sub(lambda m: " " if m[1] or m[2] else "", case)
    assert cut(text, language) == wanted


@pytest.mark.parametrize("text", ["", " ", "\n\t\u00a0\u3000"])
def test_white_space_has_no_sentences(text: str) -> None:
    assert sentences(text, "en") == []


# What UAX 29 says of these samples and we don't, by the rule that we have instead.
OTHER_RULES = {
    "a line or paragraph separator doesn't end a sentence": "[\r\n\x85\u2028\u2029]",
    "a stop without white space ends no sentence": r"[.!?]\S",
    "a sentence doesn't begin with a small letter": "[.!?].*[a-z]",
    "a wide stop ends a sentence wherever it stands": "[。！？]",
    "a mark keeps the white space that is its base": "\\s[\u0308\u00ad\u200d]",
    "white space and marks alone are no sentence": "^[\\s\u0308\u00ad]*$",
}


def test_agrees_with_the_unicode_samples_but_for_stated_rules() -> None:
    checked = 0
    lines = shared("suites/unicode/SentenceBreakTest.txt").read_text("utf-8").splitlines()
    for line in lines:
        sample = line.partition("#")[0].split()
        pieces: list[str] = []
        for sign in sample:
            if sign == "÷":
                pieces.append("")
            elif sign != "×":
                pieces[-1] += chr(int(sign, 16))
        text = "".join(pieces)
        if not text or any(re.search(rule, text) for rule in OTHER_RULES.values()):
            continue
        checked += 1
        assert cut(text, "en") == [p.strip() for p in pieces if p.strip()], ascii(text)
    assert checked > 100


AWKWARD = st.lists(
    st.one_of(
        st.sampled_from(
            [
                *'.!?…。！？．؟।"“”„«»()（）「」[1] \n-–,',
                *"\u00a0\u3000\u200b\u00ad\u200d\u0301\u0e31",
                ". ",
                "! ",
            ]
        ),
        st.sampled_from(
            ["Dr", "z. B", "A", "b", "3", "Word", "word", "camelCase", "文", "です", "ไทย"]
        ),
        st.sampled_from(["🎉", "👩‍💻", "🇩", "🇩🇪", "각", "ᄀ", "ᅡ", "क", "्", "é", "\ufe0f", "𝐛"]),
        st.characters(),
    ),
    max_size=40,
).map("".join)


@settings(max_examples=400, deadline=None)
@given(AWKWARD, st.sampled_from(["en", "de", "zh", "ja", "el", "fr", "und"]))
def test_every_character_is_in_one_sentence(text: str, language: str) -> None:
    spans = sentences(text, language)
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    covered = "".join(text[start:end] for start, end in spans)
    left = "".join(
        text[a:b] for a, b in zip([0, *edges[1::2]], [*edges[::2], len(text)], strict=True)
    )
    assert not left.strip()
    assert len(covered) + len(left) == len(text)
    for start, end in spans:
        assert start < end
        assert not text[end - 1].isspace()
        # A space keeps its place before a mark that has it for its base.
        assert not text[start].isspace() or not is_boundary(text, start + 1)
    for edge in edges:
        assert is_boundary(text, edge)
        assert inside_word(text, edge) != "yes"


def test_takes_linear_time() -> None:
    awkward = ["He (said. ", '"a." ', "A. ", "... ", "。）", "z. B. ", "((((", "x.[1]", "🎉. "]
    for piece in awkward:
        with no_hang():
            sentences(piece * 40_000, "de")
