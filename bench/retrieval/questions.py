"""Reads the questions of `questions.jsonl`, and tells which share no word with their answer."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import snowballstemmer

PATH = Path(__file__).parent / "questions.jsonl"
# More of them, by which settings were chosen; one answer each.
CHOOSING = PATH.with_name("choosing.jsonl")
CORPORA = ("rustbook", "otel-en", "fastapi-de", "handbook")
# Words that carry grammar and no topic. A question and its answer may have these in common.
FUNCTION_WORDS = frozenset(
    """
    a about after all also am an and any anymore are as at be because been before being but by can
    could did do does don each either else ever every for from get gets had has have he her his
    how i if in into is isn it its just ll me may might more most must my no nor not of off on once
    one only or other our out over own re s she should so some such t than that the their them then
    there these they this those to too two up us ve very was we were what when where whether which
    while who whom whose why will with would you your
    aber alle allem allen aller alles als also am an ander anderen auch auf aus bei beim bis da
    damit dann das dass dein dem den denselben denn der des die dies diese diesem diesen dieser
    dieses doch dort durch ein eine einem einen einer eines er es etwas euch euer für gegen gleich
    hab habe haben hat hatte hier ihr ihre ihrem ihren ihrer ihres im in ins ist ja jede jedem jeden
    jeder jedes kann kein keine keinem keinen keiner können könnte man mehr mein meine meinem
    meinen meiner mich mir mit muss müssen nach nicht nichts noch nun nur ob oder ohne schon sehr
    sein seine seinem seinen seiner selbst sich sie sind so sobald solche soll sollen sollte sollten
    sondern um und uns unser unter vom von vor wann war warum was wegen weil welche welchem welchen
    welcher welches wem wen wenn wer werde werden weshalb wie wieso wir wird wo wobei womit wozu
    wurde wurden würde zu zum zur zwar zwei zwischen
    """.split()
)
_WORD = re.compile(r"[^\W_]+")
_STEMMERS = (snowballstemmer.stemmer("english"), snowballstemmer.stemmer("german"))


@dataclass(frozen=True, slots=True)
class Gold:
    """A sentence that answers, as the rendered page has it."""

    doc: str
    quote: str


@dataclass(frozen=True, slots=True)
class Question:
    """`language` is that of the question; no `gold` means that the corpus has no answer.

    `half` is "tune" or "choosing" for choosing settings and "held" for judging them.
    """

    id: str
    corpus: str
    language: Literal["de", "en"]
    question: str
    half: Literal["tune", "held", "choosing"]
    gold: tuple[Gold, ...] = ()


def read_questions(path: Path = PATH) -> list[Question]:
    """All questions in file order; a line of another shape raises."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        fields = json.loads(line)
        fields["gold"] = tuple(Gold(**gold) for gold in fields["gold"])
        found.append(Question(**fields))
    return found


def shares_no_word(question: Question) -> bool:
    """Whether no sentence that answers has a content word of the question.

    A content word is a run of letters and digits that is no function word. Two are the same
    when they are equal without regard to case, or have one stem in English or in German.
    """
    asked = _forms(question.question)
    return bool(question.gold) and all(not asked & _forms(gold.quote) for gold in question.gold)


def _forms(text: str) -> set[str]:
    words = {word.casefold() for word in _WORD.findall(text)} - FUNCTION_WORDS
    return words | {stemmer.stemWord(word) for stemmer in _STEMMERS for word in words}
