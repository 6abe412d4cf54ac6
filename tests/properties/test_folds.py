"""The widest fold is coarser than every browser's, and every fold keeps its offsets."""

from __future__ import annotations

import unicodedata
from functools import cache

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from exactquote.rendered.folds import (
    CHROMIUM,
    FIREFOX,
    STRICT,
    WEBKIT,
    WIDE,
    Fold,
    fold_text,
    webkit_accepts,
)

FOLDS = [STRICT, CHROMIUM, WEBKIT, FIREFOX, WIDE]
ASSIGNED = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]


@cache
def classes(name: str) -> dict[str, list[str]]:
    """Characters by what they become under a fold, where more than one does."""
    fold = next(fold for fold in FOLDS if fold.name == name)
    found: dict[str, list[str]] = {}
    for c in ASSIGNED:
        if unicodedata.category(c) not in ("Cn", "Co"):
            found.setdefault(fold[ord(c)], []).append(c)
    return {key: members for key, members in found.items() if len(members) > 1}


@pytest.mark.parametrize("fold", FOLDS, ids=repr)
def test_wide_is_coarser_for_every_character(fold: Fold) -> None:
    for c in ASSIGNED:
        assert fold[ord(c)].translate(WIDE) == WIDE[ord(c)], ascii(c)


@pytest.mark.parametrize("fold", FOLDS, ids=repr)
def test_what_a_character_becomes_is_left_alone(fold: Fold) -> None:
    for c in ASSIGNED:
        assert fold[ord(c)].translate(fold) == fold[ord(c)], ascii(c)


def test_no_letter_or_figure_of_ascii_is_lost_or_merged() -> None:
    for fold in FOLDS:
        kept = {fold[ord(c)] for c in "abcdefghijklmnopqrstuvwxyz0123456789"}
        assert len(kept) == 36


TEXT = st.lists(
    st.one_of(
        st.characters(),
        st.sampled_from(
            [
                *"aAeEsSiİıßﬁæøéйがか한각…“”‘’„«»–-−'\"",
                "e\u0301",
                "\u0323\u0307",
                "и\u0306",
                "\u00ad",
            ]
        ),
        st.sampled_from(
            ["\u1112", "\u1161", "\u11ab", "\u3099", "\u200b", "\u0345", "क्ष", "ﷺ", "㌀"]
        ),
    ),
    max_size=24,
).map("".join)


@settings(max_examples=300, deadline=None)
@given(TEXT, st.sampled_from(["strict", "chromium", "webkit", "firefox"]), st.data())
def test_wide_is_coarser_for_texts(text: str, name: str, data: st.DataObject) -> None:
    """Put look-alikes for some characters, and compare."""
    fold = next(fold for fold in FOLDS if fold.name == name)
    other = "".join(data.draw(st.sampled_from(classes(name).get(fold[ord(c)], [c]))) for c in text)
    assume(fold_text(text, fold).text == fold_text(other, fold).text)
    assert fold_text(text, WIDE).text == fold_text(other, WIDE).text


@settings(max_examples=300, deadline=None)
@given(TEXT)
def test_normal_forms_are_equal(text: str) -> None:
    """Under the version of Python that runs this, for characters that it knows."""
    assume(all(unicodedata.category(c) not in ("Cn", "Cs") for c in text))
    assume(not set(text) & INVISIBLE)
    for form in ("NFC", "NFD"):
        other = unicodedata.normalize(form, text)
        for fold in (STRICT, CHROMIUM, WEBKIT, WIDE):
            assert fold_text(text, fold).text == fold_text(other, fold).text


# Between a letter and its mark these keep the two apart for one spelling and not the other.
INVISIBLE = {c for c in ASSIGNED if STRICT[ord(c)] == ""}


@settings(max_examples=300, deadline=None)
@given(TEXT, st.sampled_from(FOLDS))
def test_offsets_keep_their_order_and_meet(text: str, fold: Fold) -> None:
    found = fold_text(text, fold)
    origins = [found.origin(i) for i in range(len(found.text) + 1)]
    ends = [found.end_origin(i) for i in range(len(found.text) + 1)]
    positions = [found.position(i) for i in range(len(text) + 1)]
    assert origins == sorted(origins)
    assert ends == sorted(ends)
    assert positions == sorted(positions)
    assert origins[-1] == len(text)
    assert ends[0] == 0
    assert positions[-1] == len(found.text)
    # A stretch between two offsets folds to what lies between their positions.
    for i in range(len(found.text)):
        start, end = origins[i], ends[i + 1]
        assert start < end
        assert found.text[i] in fold_text(text[start:end], fold).text
        assert found.position(start) <= i < found.position(end)


@settings(max_examples=300, deadline=None)
@given(TEXT)
def test_webkit_accepts_a_text_for_itself(text: str) -> None:
    assert webkit_accepts(text, text)
    assert webkit_accepts(text.replace("E", "e"), text.replace("e", "E"))
