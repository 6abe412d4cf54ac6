"""What is read of the JSON that a model writes, while it is written and at its end."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactquote_site.serve.provider import ProviderFault
from exactquote_site.serve.reply import REPLY_CHARS_MAX, Reply, ReplyReader


def read(*pieces: str) -> tuple[str, Reply | None]:
    """The words that were told on the way, and the reply with those that were left."""
    reader = ReplyReader()
    told = "".join(reader.feed(piece) for piece in pieces)
    ended = reader.finish()
    return told, None if ended is None else ended[1]


ANSWER = 'A "quote"\n\\ ü 🦀 \u2028 [[cite:x]]'
TURNED = {"sources": ["answer", '"answer": "'], "answered": True, "answer": ANSWER}
NESTED = {"x": {"answer": "no"}, "answer": ANSWER, "answered": True, "sources": []}


@pytest.mark.parametrize("ascii", [True, False])
@pytest.mark.parametrize("value", [TURNED, NESTED])
def test_the_answer_is_told_while_it_is_written(value: dict[str, object], ascii: bool) -> None:
    raw = json.dumps(value, ensure_ascii=ascii)
    at = raw.rindex("[[cite")
    reader = ReplyReader()
    assert "".join(map(reader.feed, raw[:at])) == ANSWER[:-10]
    assert read(raw) == read(*raw)
    assert read(raw)[0] == ANSWER


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=20), st.booleans(), st.integers(0, 80), st.integers(0, 80))
def test_pieces_or_whole_is_the_same(answer: str, ascii: bool, first: int, second: int) -> None:
    raw = json.dumps({"answer": answer, "answered": True, "sources": []}, ensure_ascii=ascii)
    assert read(raw[:first], raw[first:][:second], raw[first:][second:]) == read(raw)
    told, reply = read(*raw)
    assert reply is not None
    assert reply.answer.startswith(told)
    assert (told, reply) == read(raw)


# What is told of it, though it is no reply in the end.
BROKEN = [
    ('{"answer": "cut', "cut"),
    ('{"answer": "a\\ud83e", "answered": true, "sources": []}', "a"),
    ('{"answer": "a\\ud83ebc and much more", "answered": true, "sources": []}', "a"),
    ('{"answer": "a\\x b and much more", "answered": true, "sources": []}', "a"),
    ('{"answer": "a\nb and much more", "answered": true, "sources": []}', "a"),
    ('{"answer": "a", "answer": "b", "answered": true, "sources": []}', "a"),
    ('Sure: {"answer": "a"}', ""),
    ('[{"answer": "a"}]', ""),
    ('{"answer": ["a"], "answered": true, "sources": []}', ""),
]


@pytest.mark.parametrize(("raw", "told"), BROKEN)
def test_prevents_words_of_what_is_no_reply(raw: str, told: str) -> None:
    assert read(raw) == read(*raw) == (told, None)


def test_an_answer_behind_a_long_list_is_told_at_its_end() -> None:
    value = {"sources": ["x" * 60] * 100, "answered": True, "answer": "a"}
    told, reply = read(*json.dumps(value))
    assert told == ""
    assert reply is not None
    assert reply.answer == "a"


def test_prevents_a_reply_without_end() -> None:
    reader = ReplyReader()
    assert reader.feed('{"answer": "' + "x" * (REPLY_CHARS_MAX - 12)) == "x" * (
        REPLY_CHARS_MAX - 12
    )
    with pytest.raises(ProviderFault) as broken:
        reader.feed("x")
    assert broken.value.code == "broken"


def test_prevents_a_reader_that_reads_everything_again_for_each_piece() -> None:
    reader = ReplyReader()
    reader.feed('{"answer": "')
    for _ in range(2_000):
        assert reader.feed("word ") == "word "
        assert len(reader._rest) < 16
