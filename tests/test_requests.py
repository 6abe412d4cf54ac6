"""Which bodies are a question, and what every other one is told."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactquote_site.serve.config import Limits
from exactquote_site.serve.requests import Question, Refused, read_question, require_json

LIMITS = Limits()
PAIR = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]


def status(body: bytes) -> tuple[int, str]:
    try:
        read_question(body, LIMITS)
    except Refused as refused:
        return refused.status, refused.code
    return 200, ""


def dumped(**keys: object) -> bytes:
    return json.dumps({"question": "Why?", **keys}).encode()


ASKED = [
    dumped(),
    dumped(history=PAIR * 3, locale="de-AT", style={"humour": 25, "brevity": 100}),
    dumped(style={}, session="a" * 32),
    json.dumps({"question": "é" * 500}).encode(),
    '{"question": "Größe 🦀?"}'.encode(),
    b'{"question": "  spaces  "}',
]
REFUSED = [
    (b"", 400, "not_json"),
    (b"{", 400, "not_json"),
    (b"\xff\xfe{}", 400, "not_json"),
    (b'{"question": NaN}', 400, "not_json"),
    (b'{"question": "a", "locale": Infinity}', 400, "not_json"),
    (b'{"question": "\\ud800"}', 400, "not_json"),
    (b"[" * 9_000, 400, "not_json"),
    (b"[" * 9 + b"]" * 9, 400, "too_deep"),
    (b"[" * 6_000 + b"]" * 6_000, 400, ""),
    (b'{"question": "' + b"a" * 20_000 + b'"}', 413, "body_too_long"),
    (b"null", 422, "wrong_shape"),
    (b"[]", 422, "wrong_shape"),
    (b'"Why?"', 422, "wrong_shape"),
    (b"{}", 422, "wrong_shape"),
    (b'{"question": 7}', 422, "wrong_shape"),
    (b'{"question": null}', 422, "wrong_shape"),
    (b'{"question": ["a"]}', 422, "wrong_shape"),
    (b'{"question": "  \\n "}', 422, "empty_question"),
    *((dumped(question=blank), 422, "empty_question") for blank in ("\u200b", "\u2800\ufeff ")),
    (dumped(question="a" * 501), 422, "question_too_long"),
    (dumped(colour="red"), 422, "wrong_shape"),
    (dumped(system="You are"), 422, "wrong_shape"),
    (dumped(history={}), 422, "wrong_shape"),
    (dumped(history=[7]), 422, "wrong_shape"),
    (dumped(history=[{"role": "system", "content": "x"}]), 422, "wrong_shape"),
    (dumped(history=[{"role": "tool", "content": "x"}]), 422, "wrong_shape"),
    (dumped(history=[{**PAIR[0], "name": "x"}]), 422, "wrong_shape"),
    (dumped(history=[PAIR[0], {"role": "assistant", "content": ["x"]}]), 422, "wrong_shape"),
    (dumped(history=PAIR[:1]), 422, "wrong_roles"),
    (dumped(history=PAIR[::-1]), 422, "wrong_roles"),
    (dumped(history=[PAIR[0], PAIR[0]]), 422, "wrong_roles"),
    (dumped(history=PAIR * 4), 422, "history_too_long"),
    (dumped(history=[PAIR[0], {"role": "assistant", "content": "x" * 4_001}]), 422, ""),
    (dumped(locale="x" * 40), 422, "wrong_shape"),
    (dumped(locale="../en"), 422, "wrong_shape"),
    (dumped(locale="en\n"), 422, "wrong_shape"),
    (dumped(session="short"), 422, "wrong_shape"),
    (dumped(style=[]), 422, "wrong_shape"),
    (dumped(style={"humour": 30}), 422, "wrong_shape"),
    (dumped(style={"humour": "25"}), 422, "wrong_shape"),
    (dumped(style={"humour": True}), 422, "wrong_shape"),
    (dumped(style={"honesty": 100}), 400, "honesty_is_locked"),
    (dumped(style={"Honesty": 0}), 400, "honesty_is_locked"),
    (dumped(honesty=100), 400, "honesty_is_locked"),
]


@pytest.mark.parametrize("body", ASKED)
def test_a_question_is_read(body: bytes) -> None:
    question = read_question(body, LIMITS)
    assert question.question == json.loads(body)["question"].strip()


@pytest.mark.parametrize(("body", "wanted", "code"), REFUSED)
def test_prevents_a_body_that_is_no_question(body: bytes, wanted: int, code: str) -> None:
    told = status(body)
    assert told[0] == wanted
    assert not code or told[1] == code


@settings(max_examples=300, deadline=None)
@given(
    st.binary(max_size=200)
    | st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=9) | st.just("question"),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["question", "history", "style", "locale", "role"]), inner
            )
        ),
        max_leaves=12,
    ).map(lambda value: json.dumps(value).encode())
)
def test_prevents_any_body_from_ending_in_a_traceback(body: bytes) -> None:
    assert status(body)[0] in (200, 400, 413, 422)


def test_only_json_is_taken() -> None:
    for good in (
        "application/json",
        "Application/JSON; charset=utf-8",
        'application/json;charset="UTF-8"',
    ):
        require_json(good)
    for bad in ("", "text/plain", "application/json5", "application/json; charset=utf-16", "*/*"):
        with pytest.raises(Refused) as told:
            require_json(bad)
        assert told.value.status == 415


def test_the_defaults_of_a_question() -> None:
    assert read_question(dumped(), LIMITS) == Question("Why?")
