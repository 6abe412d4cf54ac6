"""How a build is phrased: as text with a caret, and as one JSON object."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactquote.codes import CODES, fault
from exactquote.model import Build, Counts, DeepLink, Diagnostic, Place, Related, Verdict, Written
from exactquote.report.caret import caret
from exactquote.report.machine import json_report
from exactquote.report.text import LIMIT, Style, text_report
from exactquote.report.visible import visible, width

SCHEMA = Path(__file__).parents[1] / "compiler/exactquote/schemas/report.schema.json"


def same(path: str) -> str:
    return path


def build(*found: Diagnostic, sources: dict[str, str] | None = None, **counts: int) -> Build:
    return Build("id", Counts(**counts), diagnostics=found, sources=sources or {})


def columns(text: str) -> int:
    return sum(map(width, text))


CARETS = [
    # line, column, columns, what is shown, what stands above the caret
    ("plain text", 7, 80, "plain text", "t"),
    ("plain text", 1, 80, "plain text", "p"),
    ("end", 4, 80, "end", ""),
    ("end", 99, 80, "end", ""),
    ("end", 0, 80, "end", "e"),
    ("", 1, 80, "", ""),
    ("\ta\tb", 4, 80, "    a   b", "b"),
    ("日本語のx", 5, 80, "日本語のx", "x"),
    ("日本語", 2, 80, "日本語", "本"),
    ("e\u0301te\u0301 x", 7, 80, "e\u0301te\u0301 x", "x"),
    ("a\x1b[31mb", 2, 80, "a\\x1b[31mb", "\\"),
    ("a\u202eb", 3, 80, "a\\u202eb", "b"),
    ("a\u200bb", 3, 80, "a\\u200bb", "b"),
    ("\ud55c\uae00 x", 4, 80, "한글 x", "x"),
    ("\u1112\u1161\u11ab x", 5, 80, "\u1112\u1161\u11ab x", "x"),
    ("x" * 50 + "HERE" + "y" * 50, 51, 20, "…xxxxxHERE", "H"),
    ("HERE" + "y" * 50, 1, 20, "HERE", "H"),
    ("x" * 50 + "HERE", 51, 20, "xxHERE", "H"),
    ("日" * 50 + "X" + "本" * 50, 51, 20, "…日", "X"),
]


@pytest.mark.parametrize(("line", "column", "room", "part", "above"), CARETS)
def test_the_caret_stands_below_its_character(
    line: str, column: int, room: int, part: str, above: str
) -> None:
    shown, mark = caret(line, column, room)
    assert part in shown
    assert columns(shown) <= room
    assert mark == " " * (len(mark) - 1) + "^"
    reached, found = 0, ""
    for character in shown:
        if reached == len(mark) - 1 and width(character):
            found = character
            break
        reached += width(character)
    assert found == above[:1]


texts = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\t \u0301\u200d\ufe0f日한👩é\u202e\x00\x1b\u2028\u1161\u00ad"),
    ),
    max_size=200,
)


@given(texts, st.integers(0, 250), st.integers(8, 120))
def test_the_caret_of_any_line_is_in_its_room_and_in_its_place(
    line: str, at: int, room: int
) -> None:
    at = min(at, len(line))
    # The one "@" of the line is what the caret must be found below.
    line = line[:at].replace("@", "a") + "@" + line[at + 1 :].replace("@", "a")
    shown, mark = caret(line, at + 1, room)
    assert visible(shown) == shown
    assert columns(shown) <= room
    assert mark == " " * (len(mark) - 1) + "^"
    assert columns(shown[: shown.index("@")]) == len(mark) - 1


@given(texts, st.integers(-9, 0) | st.integers(201, 999))
def test_a_column_outside_of_the_line_is_moved_into_it(line: str, column: int) -> None:
    inside = 1 if column < 1 else len(line) + 1
    assert caret(line, column, 60) == caret(line, inside, 60)


@given(st.text(st.characters()))
def test_nothing_that_a_terminal_obeys_is_shown(text: str) -> None:
    shown = visible(text)
    assert not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in shown)
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200f")
    assert visible("plain é 日本 👩‍🚀") == "plain é 日本 👩‍🚀"


@pytest.mark.parametrize("length", [100, 10_000, 1_000_000])
def test_a_very_long_line_is_shown_by_its_neighbourhood(length: int) -> None:
    line = "a" * length + "HERE" + "b" * length
    shown, mark = caret(line, length + 1, 60)
    assert shown[len(mark) - 1 :].startswith("HEREbbb")
    assert shown.startswith("…a")
    assert shown.endswith("b…")
    assert len(shown) <= 60


@pytest.mark.parametrize("after", ["", "y" * 50])
def test_a_cut_leaves_no_mark_without_its_letter(after: str) -> None:
    shown, _ = caret("e\u0301" * 50 + "X" + after, 101, 20)
    assert shown.startswith("…e\u0301")


FOUND = fault(
    "EQ004",
    Place("guide/a.md", 2, 5),
    "the passage is here twice\x1b[2J",
    "quote more:\n  one\n  two\x07",
    (Related(Place("guide/b.md", 7, 1), "the other"),),
)


def test_a_finding_has_its_place_its_line_its_cure_and_the_other_place() -> None:
    text = text_report(
        build(FOUND, sources={"guide/a.md": "one\ntwo three\n"}), lambda p: f"docs/{p}", Style()
    )
    assert text.split("\n")[:8] == [
        "docs/guide/a.md:2:5 EQ004 the passage is here twice\\x1b[2J",
        "    2 | two three",
        "      |     ^",
        "  cure: quote more:",
        "          one",
        "          two\\x07",
        "  see:  docs/guide/b.md:7:1 the other",
        "",
    ]
    assert "\x1b" not in text


SUMMARIES: list[tuple[tuple[Diagnostic, ...], dict[str, int], str]] = [
    (
        (),
        {"documents": 9, "passages": 612, "citations": 56, "bound": 56},
        "56 of 56 citations bound in 9 documents (612 passages)",
    ),
    (
        (),
        {"documents": 1, "passages": 1, "citations": 1, "bound": 1},
        "1 of 1 citation bound in 1 document (1 passage)",
    ),
    (
        (FOUND, fault("EQ019", Place("x"), "figure")),
        {"documents": 2, "citations": 3, "bound": 2, "refused": 1},
        "2 of 3 citations bound in 2 documents (0 passages); 1 error, 1 warning",
    ),
]


@pytest.mark.parametrize(("found", "counts", "line"), SUMMARIES)
def test_the_summary_counts_and_says_the_limit(
    found: tuple[Diagnostic, ...], counts: dict[str, int], line: str
) -> None:
    lines = text_report(build(*found, **counts), same, Style()).split("\n")
    assert lines[-3:] == [line, LIMIT, ""]
    assert "not that it supports the claim" in LIMIT
    quiet = text_report(build(*found, **counts), same, Style(summary=False))
    assert line not in quiet
    assert LIMIT not in quiet


def test_a_warning_says_that_it_is_one_and_a_silenced_code_says_nothing() -> None:
    warned = fault("EQ019", Place("x", 1, 1), "figure")
    silent = Diagnostic("EQ019", Place("y"), "never shown", severity="off")
    text = text_report(build(warned, silent), same, Style(summary=False))
    assert text == "x:1:1 EQ019 warning: figure\n"
    assert "never shown" not in json_report(build(warned, silent), same)


@pytest.mark.parametrize(("line", "column"), [(9, 1), (0, 1), (2, 1)])
def test_a_place_without_text_is_told_without_a_line(line: int, column: int) -> None:
    found = fault("EQ002", Place("a.md", line, column), "message")
    text = text_report(build(found, sources={"a.md": "x\n"}), same, Style(summary=False))
    assert text == f"a.md:{line}:{column} EQ002 message\n"


def test_only_a_line_feed_ends_a_source_line() -> None:
    found = fault("EQ002", Place("a.md", 2, 1), "message")
    sources = {"a.md": "one\u2028still one\x0cand\x85so\nsecond"}
    text = text_report(build(found, sources=sources), same, Style(summary=False))
    assert "    2 | second\n" in text


def test_colour_is_added_around_words_only() -> None:
    painted = text_report(build(FOUND), same, Style(color=True))
    plain = text_report(build(FOUND), same, Style())
    assert "\x1b[31mEQ004\x1b[0m" in painted
    for code in ("\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m"):
        painted = painted.replace(code, "")
    assert painted == plain


def test_bound_citations_are_listed_when_asked_for() -> None:
    whole = Build("id", Counts(), VERDICTS)
    listed = text_report(whole, same, Style(bound=True))
    assert "a.md:3:4 bound c1 b.html#:~:text=the%20quote\n" in listed
    assert "c2" not in listed
    assert "bound c1" not in text_report(whole, same, Style())


LINK = DeepLink("b.html#:~:text=the%20quote", "#:~:text=the%20quote")
BOUND = Written(Place("a.md", 3, 4), "b", "The quote", "claim")
REFUSED = Written(Place("a.md", 5), "b", "other")
VERDICTS = (
    Verdict(BOUND, "c1", "b", "the quote", link=LINK),
    Verdict(REFUSED, "c2", "b", "left over", code="EQ002"),
)


def read_report(whole: Build, shown: Callable[[str], str] = same) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(json_report(whole, shown))
    jsonschema.validate(
        report,
        json.loads(SCHEMA.read_text(encoding="utf-8")),
        cls=jsonschema.Draft202012Validator,
    )
    return report


def test_the_json_report_is_the_contract() -> None:
    report = read_report(
        Build("id", Counts(2, 9, 2, 1, 1), VERDICTS, (FOUND,)), lambda p: f"docs/{p}"
    )
    assert report == {
        "version": 1,
        "build_id": "id",
        "counts": {"documents": 2, "passages": 9, "citations": 2, "bound": 1, "refused": 1},
        "citations": [
            {
                "id": "c1",
                "doc": "b",
                "quote": "the quote",
                "claim": "claim",
                "written": {"path": "docs/a.md", "line": 3, "column": 4},
                "status": "bound",
                "code": None,
                "href": "b.html#:~:text=the%20quote",
                "directive": "#:~:text=the%20quote",
            },
            {
                "id": "c2",
                "doc": "b",
                "quote": None,
                "claim": "",
                "written": {"path": "docs/a.md", "line": 5, "column": 1},
                "status": "refused",
                "code": "EQ002",
                "href": None,
                "directive": None,
            },
        ],
        "diagnostics": [
            {
                "code": "EQ004",
                "name": "repeated",
                "severity": "error",
                "path": "docs/guide/a.md",
                "line": 2,
                "column": 5,
                "message": "the passage is here twice\x1b[2J",
                "help": "quote more:\n  one\n  two\x07",
                "related": [
                    {"path": "docs/guide/b.md", "line": 7, "column": 1, "message": "the other"}
                ],
            }
        ],
    }


@settings(max_examples=30)
@given(st.sampled_from(sorted(CODES)), st.text(st.characters(), min_size=1), st.integers(1, 99))
def test_any_finding_is_valid_json_and_printable_text(code: str, text: str, line: int) -> None:
    place = Place(text, line, line)
    written = Written(place, text, text, text, text)
    found = fault(code, place, text, text, (Related(place, text),))
    whole = Build(
        "id",
        Counts(),
        (Verdict(written, text, text, text, link=DeepLink("#x", "#x")), Verdict(written, "", "")),
        (found,),
        sources={text: text},
    )
    report = read_report(whole)
    assert report["diagnostics"][0]["message"] == text
    json_report(whole, same).encode("utf-8", "backslashreplace")
    lines = text_report(whole, same, Style(bound=True))
    assert lines.replace("\n", "").isprintable() or visible(lines.replace("\n", "")) == (
        lines.replace("\n", "")
    )
