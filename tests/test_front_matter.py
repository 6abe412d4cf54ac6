"""Front matter: what is split off, what stays text, and what is refused where."""

from __future__ import annotations

import pytest

from exactquote.model import Diagnostic
from exactquote.readers.front_matter import FrontMatter, as_flag, as_text, split_front_matter
from exactquote.settings import LimitSettings
from tests.hangs import no_hang


def split(text: str, **limits: int) -> FrontMatter:
    return split_front_matter(text, "a.md", LimitSettings(**limits))


READ = [
    ("---\ntitle: A\n---\nbody", {"title": "A"}, "body", 4),
    ("\ufeff---\ntitle: A\n---\n\nbody", {"title": "A"}, "\nbody", 4),
    ("--- \t\n---\t\nbody", {}, "body", 3),
    ("---\n# only a comment\n---\n", {}, "", 4),
    ("---\na: 2024-01-01\nb: yes\nc: 012\nd: ~\ne: null\nf:\ng: 1e3\n---\n", None, "", 10),
    ("---\na: [x, {b: c}]\nd: >\n  two\n  lines\n---\n", None, "", 7),
    (
        "+++\ntitle = 'A'\nd = 2024-01-01\nt = 2024-01-01T10:00:00Z\nn = 1\nf = false\n+++\nb",
        None,
        "b",
        8,
    ),
    ("text\n---\na: b\n---\n", {}, "text\n---\na: b\n---\n", 1),
    (" ---\na: b\n---\n", {}, " ---\na: b\n---\n", 1),
    ("----\na: b\n----\n", {}, "----\na: b\n----\n", 1),
    ("---\nnever closed", {}, "---\nnever closed", 1),
    ("---", {}, "---", 1),
    ("---\na: b\n--- x\n", {}, "---\na: b\n--- x\n", 1),
    ("+++\na = 1\n---\n", {}, "+++\na = 1\n---\n", 1),
    ("", {}, "", 1),
]
VALUES = {
    4: {"a": "2024-01-01", "b": "yes", "c": "012", "d": "~", "e": "null", "f": None, "g": "1e3"},
    5: {"a": ["x", {"b": "c"}], "d": "two lines\n"},
    6: {"title": "A", "d": "2024-01-01", "t": "2024-01-01T10:00:00+00:00", "n": 1, "f": False},
}


@pytest.mark.parametrize("index", range(len(READ)))
def test_read(index: int) -> None:
    text, values, body, line = READ[index]
    front = split(text)
    assert front.diagnostics == ()
    assert dict(front.values) == (VALUES[index] if values is None else values)
    assert (front.body, front.body_line) == (body, line)


REFUSED = [
    ("---\na: &x 1\nb: *x\n---\nbody", "2:4", "anchor"),
    ("---\na: *x\n---\nbody", "2:4", "alias"),
    ("---\na: !!python/object:os.system x\n---\nbody", "2:4", "tag"),
    ("---\na: !t x\n---\nbody", "2:4", "tag"),
    ("---\na: 1\nb: 2\na: 3\n---\nbody", "4:1", "twice"),
    ("---\nx:\n  a: 1\n  a: 3\n---\nbody", "4:3", "twice"),
    ("---\n[a]: b\n---\nbody", "2:1", "key must be text"),
    ("---\n?\n: b\n---\nbody", "2:2", "key must be text"),
    ("---\n- a\n---\nbody", "2:1", "lines"),
    ("---\njust words\n---\nbody", "2:1", "lines"),
    ("---\na: b\n... \nc: d\n---\nbody", "4:1", ""),
    ("---\na: 'open\n---\nbody", "3:1", "not YAML"),
    ("---\na: b: c\n---\nbody", "2:5", "not YAML"),
    ("---\n\ta: b\n---\nbody", "2:1", "not YAML"),
    ("---\na: \x00\n---\nbody", "1:1", "not YAML"),
    ("---\na: \ud800\n---\nbody", "2:4", "surrogate"),
    ("---\na: " + "[" * 30 + "]" * 30 + "\n---\nbody", "2:23", "deeper than 20"),
    ("---\n" + "a: b\n" * 60_000 + "---\nbody", "1:1", "over the limit"),
    ("+++\na = 1\na = 2\n+++\nbody", "3:6", "not TOML"),
    ("+++\na = \n+++\nbody", "2:5", "not TOML"),
    ("+++\na = " + "[" * 30 + "]" * 30 + "\n+++\nbody", "2:1", "deep"),
    ("+++\na = " + "[" * 30_000 + "\n+++\nbody", "1:1", "deep"),
]


@pytest.mark.parametrize(("text", "place", "words"), REFUSED)
def test_refused_at_its_place_and_kept_out_of_the_body(text: str, place: str, words: str) -> None:
    front = split(text)
    assert front.body == "body"
    assert text.split("\n")[front.body_line - 1] == "body"
    assert dict(front.values) == {}
    [d] = front.diagnostics
    assert d.code == "EQ017"
    assert f"{d.place.line}:{d.place.column}" == place
    assert words in d.message
    assert d.help


FLAGS = [("true", True), ("yes", True), ("false", False), ("no", False)]
NO_FLAGS = ["True", "YES", "on", "1", "", "[true]", "~"]


@pytest.mark.parametrize(("written", "flag"), FLAGS)
def test_flag(written: str, flag: bool) -> None:
    faults: list[Diagnostic] = []
    assert as_flag(split(f"---\nx: 1\ndraft: {written}\n---\n"), "draft", faults) is flag
    assert as_flag(split(f"---\nx: 1\ndraft: '{written}'\n---\n"), "draft", faults) is flag
    assert faults == []


@pytest.mark.parametrize("written", NO_FLAGS)
def test_no_flag_is_guessed(written: str) -> None:
    faults: list[Diagnostic] = []
    front = split(f"---\nx: 1\ndraft: {written}\n---\n")
    assert as_flag(front, "draft", faults) is False
    assert [(d.code, d.place.line, d.place.column) for d in faults] == [("EQ017", 3, 1)]


def test_a_text_field_is_text() -> None:
    faults: list[Diagnostic] = []
    front = split("+++\ntitle = 3\nsummary = 'a\tb'\n+++\n")
    assert as_text(front, "title", faults) == ""
    assert as_text(front, "summary", faults) == "a b"
    assert as_text(front, "missing", faults) == ""
    assert [(d.code, d.place.line, d.place.column) for d in faults] == [("EQ017", 2, 1)]


@pytest.mark.parametrize(
    "text",
    [
        "---\na: " + "{a: " * 15_000 + "\n---\n",
        "---\n" + "- " * 30_000 + "\n---\n",
        "---\n" + "? " * 30_000 + "\n---\n",
        "---\na: |\n" + "  x\n" * 15_000 + "---\n",
        "+++\n" + "a." * 30_000 + "b = 1\n+++\n",
        "+++\n" + "".join(f"[a{i}]\n" for i in range(8_000)) + "+++\n",
        "---\n" * 50_000,
        "---\n" + "---x\n" * 50_000,
    ],
)
def test_prevents_front_matter_that_takes_forever(text: str) -> None:
    with no_hang():
        split(text)
