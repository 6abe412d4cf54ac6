"""Which sentences are plain words: whatever is accepted comes out of an answer as it went in."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactquote.refusals import BUILT_IN
from exactquote_site.serve.segments import Resolver, Text
from exactquote_site.wire.plain import hidden_fault, is_blank, plain_fault

PLAIN = [
    *(text for line in BUILT_IN for text in line.texts.values()),
    "No.",
    "Not here; ask the office, or call.",
    "It costs 3.50 or more; who knows, perhaps.",
    "„Das“ steht nirgends – leider …",
    "Ces pages n'en disent rien !",
    "¿No? Aquí no.",
    "ここには書いてありません。すみません。",
    "“ここ”には、ありません！",
    "这些页面没有回答。",
    "이 페이지에는 답이 없습니다.",
    "ไม่มีคำตอบในหน้าเหล่านี้",
    "इन पृष्ठों में इसका उत्तर नहीं है।",
    "این صفحه‌ها پاسخ نمی‌دهند؟",
    "הדפים האלה לא עונים על כך.",
    "لا تجيب هذه الصفحات عن ذلك؟",
    "Das wäre schön 😕\ufe0f, steht hier aber nicht.",
    "PLease excite us, published possible.",
]
# What an answer would be changed for, or might be some day.
OTHER = [
    "No, see example.com.",
    "No, see http: now.",
    "No, www… is away.",
    "No, xn--a is away.",
    "No, see httpː now.",
    "答え：ありません",
    "he/she knows",
    "No, see example。com now.",
    "No, see ｅｘａｍｐｌｅ．ｃｏｍ now.",
    "No, see ⒈com now.",
    "So\u00adrry.",
    "No\u0000.",
    "No \u202enever.",
    "No \u200bnever.",
    "No\u200c, never.",
    "No \ufe0enever.",
    "No \u3164 never.",
    "Ask mailto:me now.",
    "Ask tel:123 now.",
    "Ask ℡:123 now.",
    "Say data:x now.",
    "No ［cite:x］ now.",
    "No [[cite:x]] now.",
    "No (cite:x) now.",
    "No 「cite： x」 now.",
    "No (сite: x) now.",
    "No «cite",
    "No cite:x now.",
    "See //host/now.",
    "See http://[::1]/",
    "See 10.0.0.1/x now.",
    "Write me@example.org.",
    "No <b>way</b>.",
    "No `code`.",
    "No \\[way].",
    "No | never.",
    "No \ue000.",
    "No.\u0301",
    "No\u200e, never.",
]


def comes_out(text: str, pieces: list[str], refusals: tuple[str, ...] = ()) -> tuple[str, bool]:
    """What an answer shows of a text that a model wrote in pieces, and if it is the refusal."""
    resolver = Resolver({}, refusals)
    segments = [one for piece in pieces for one in resolver.feed(piece)] + resolver.finish()
    return "".join(one.text for one in segments if isinstance(one, Text)), resolver.refused


def assert_unchanged(text: str) -> None:
    for pieces in ([text], list(text)):
        assert comes_out(text, pieces) == (text, False)
        for before in ("", "So. "):
            left, refused = comes_out(text, [before, *pieces], (text,))
            assert refused
            # A mark that begins the sentence may be left, and no word of it.
            assert not any(character.isalnum() for character in left.removeprefix(before.strip()))


@pytest.mark.parametrize("text", PLAIN)
def test_plain_words_are_accepted_and_come_out_unchanged(text: str) -> None:
    assert plain_fault(text) == ""
    assert_unchanged(text)


@pytest.mark.parametrize("text", OTHER)
def test_prevents_a_sentence_that_would_not_be_known_again(text: str) -> None:
    assert plain_fault(text)


# Where addresses and tokens are made of, with what stands around them in sentences.
PARTS = st.sampled_from(
    "cite CITE сite ci ｃｉｔｅ http data mailto www xn-- p2abcdefg example com org a z".split()
    + "給 料 の ا ไ ก 한 é 1 42 . , ; : ː ! ? / - _ ( ) [ ] « »".split()
    + "「 」 。 ． ： ／ ， … ' \" & @ # % \\ <".split()
    + ["\u200d", "\u00ad", "\u202e", "\ufe0f", "⒈", "℡", "😕", "﹕", "∶"]
)


@settings(max_examples=1_500, deadline=None)
@given(st.lists(st.one_of(PARTS, st.just(" ")), min_size=1, max_size=9))
def test_whatever_is_plain_comes_out_unchanged(parts: list[str]) -> None:
    text = " ".join("".join(parts).split())
    if any(character.isalnum() for character in text) and not plain_fault(text):
        assert_unchanged(text)


@settings(max_examples=500, deadline=None)
@given(st.text(min_size=1, max_size=12))
def test_whatever_text_is_plain_comes_out_unchanged(drawn: str) -> None:
    text = " ".join(drawn.split())
    if any(character.isalnum() for character in text) and not plain_fault(text):
        assert_unchanged(text)


@pytest.mark.parametrize(
    ("text", "blank"),
    [
        *(
            (text, True)
            for text in ("", " \n", "\u200b", "\u200b \ufeff", "\u3164", "\u2800", "\0")
        ),
        *((text, True) for text in ("\u00ad", "\u202e", "\u0301", "\ufe0f")),
        *((text, False) for text in ("a", "\u200ba", "給", "?", "+", "😕", "ก", "1", "\ue000")),
    ],
)
def test_what_a_reader_sees_nothing_of_is_blank(text: str, blank: bool) -> None:
    assert is_blank(text) is blank


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("a\u202e", "U+202E"),
        ("a\u200d", "U+200D"),
        ("می\u200cخ", ""),
        ("😕\ufe0f", ""),
        ("a\tb\n", ""),
        ("12\u200e ₪", ""),
        ("a\u2067b", "U+2067"),
        ("\u0600۱", ""),
        ("\U000e0041", "U+E0041"),
        ("\x1b[1m", "U+001B"),
    ],
)
def test_what_nobody_sees_is_named(text: str, hidden: str) -> None:
    assert hidden_fault(text) == hidden
