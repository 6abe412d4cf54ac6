"""Which questions name a topic that the owner won't discuss, in many scripts."""

from __future__ import annotations

import pytest

from exactquote_site.serve.config import Declined
from exactquote_site.serve.declined import declined_topic


def named(words: str, question: str) -> bool:
    return declined_topic(question, [Declined(topic="t", words=[words])]) == "t"


NAMED = [
    ("salary", "What is your SALARY?"),
    ("salary", "your salary's size"),
    ("salary", "_salary_, **salary**"),
    ("salary", "salary+bonus"),
    ("salary", "#salary"),
    ("salary", "sal\u200bary and sal\u00adary"),
    ("salary", "ｓａｌａｒｙ"),
    ("day rate", "And your day-rate?"),
    ("day  rate", "day\nrate"),
    ("Straße", "STRASSE"),
    ("Gehalt", "Wie hoch ist das Gehalt?"),
    # Names that end or begin with a sign.
    ("C++", "Do you know C++?"),
    ("C++", "c＋＋"),
    ("C#", "C# or F#"),
    (".NET", "something in .NET?"),
    ("C", "in C, or in (C)?"),
    ("R&D", "your r&d"),
    # Scripts that write no spaces.
    ("給料", "給料はいくらですか"),
    ("給料", "あなたの給料は？"),
    ("工资", "你的工资多少？"),
    ("レート", "レートはいくら"),
    ("API", "このAPIキーは"),
    ("salary", "給料salaryは"),
    ("เงินเดือน", "คุณได้เงินเดือนเท่าไหร่"),
    ("ຄ່າຈ້າງ", "ເຈົ້າໄດ້ຄ່າຈ້າງເທົ່າໃດ"),
    ("ប្រាក់ខែ", "តើប្រាក់ខែប៉ុន្មាន"),
    ("လစာ", "သင့်လစာဘယ်လောက်လဲ"),
    # A particle follows at once.
    ("급여", "급여는 얼마입니까?"),
    ("연봉", "당신의 연봉을 알려줘"),
    # Scripts with marks.
    ("वेतन", "आपका वेतन क्या है?"),
    ("বেতন", "আপনার বেতন কত?"),
    ("மாதச் சம்பளம்", "உங்கள் மாதச் சம்பளம் எவ்வளவு?"),
    ("راتب", "ما راتب المهندس؟"),
    ("שכר", "מה השכר? כמה שכר?"),
    ("зарплата", "Какая ЗАРПЛАТА?"),
    ("ﬁnance", "finance"),
    ("é", "e\u0301?"),
]
OTHER = [
    ("salary", "Is salarying a word?"),
    ("salary", "salary2"),
    ("day rate", "day by rate"),
    ("pay", "Do you repay?"),
    ("C++", "vitamin C?"),
    ("C++", "C+"),
    ("C", "C++ and C#?"),
    (".NET", "net pay"),
    ("ペイ", "ペイントは"),
    ("급여", "고급여행"),
    ("वेत", "वेतन"),
    ("वेतन", "वेतनमान"),
    ("เงินเดือ", "เงินเดือ\u0e49น"),
    ("зар", "зарплата"),
    ("?", "Why?"),
    ("++", "C++"),
    ("", "anything"),
]


@pytest.mark.parametrize(("words", "question"), NAMED)
def test_words_name_a_topic_where_they_stand_as_words(words: str, question: str) -> None:
    assert named(words, question)


@pytest.mark.parametrize(("words", "question"), OTHER)
def test_prevents_a_topic_that_is_found_in_other_words(words: str, question: str) -> None:
    assert not named(words, question)


def test_the_first_topic_counts() -> None:
    topics = [Declined(topic="a", words=["x", "給料"]), Declined(topic="b", words=["pay"])]
    assert declined_topic("pay for 給料", topics) == "a"
    assert declined_topic("pay", topics) == "b"
    assert declined_topic("nothing", topics) is None


@pytest.mark.parametrize("text", ["a", "a ", "給", "+", "a+", "\u0301", ".a"])
def test_prevents_a_question_that_is_searched_without_end(text: str) -> None:
    """A hundred times as much, of the longest words there may be; squared, it took minutes."""
    topics = [Declined(topic="t", words=[f"{text * 49}b"])]
    assert declined_topic(text * 100_000, topics) is None
