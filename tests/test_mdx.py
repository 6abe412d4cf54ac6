"""MDX documents read as their authors wrote them, case by case.

A file of `spec_mdx` holds cases: `=== name`, the source, and behind `-->` lines what
becomes of it: `html`, `faults`, `cited`; `settings` go in. `python -m tests.test_mdx` writes
what the reader makes of them now; read the diff.
"""

from __future__ import annotations

import html
import json
import re
import tarfile
from collections import Counter
from pathlib import Path

import hypothesis
import msgspec
import pytest
from hypothesis import strategies

from exactquote.model import Article, Document
from exactquote.readers.mdx import line_marked_mdx, read_mdx
from exactquote.settings import Settings
from tests.hangs import no_hang
from tests.shared_data import shared

SPEC = Path(__file__).parent / "spec_mdx"
SHOWN = (
    "doc",
    "quote",
    "quote_end",
    "ref",
    "claim",
    "id",
    "occurrence",
    "prefix",
    "suffix",
    "inline",
)
LENIENT = {"mdx": {"unknown": "transparent", "expressions": "drop"}}


def read(source: str, settings: object = None) -> Article:
    document = Document("doc", "doc.mdx", "mdx", source)
    return read_mdx(document, msgspec.convert(settings or {}, Settings))


def cases() -> list[tuple[str, str, dict[str, str]]]:
    """File and name of each case, and its parts by name; the source is "source"."""
    found = []
    for path in sorted(SPEC.glob("*.txt")):
        for case in re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.M)[1:]:
            name, _, rest = case.partition("\n")
            source, *parts = re.split(r"^--> (\w+)\n", rest, flags=re.M)
            named = dict(zip(parts[::2], parts[1::2], strict=True))
            found.append((path.name, name, {"source": source, **named}))
    return found


def outcome(parts: dict[str, str]) -> dict[str, str]:
    """What becomes of a case, in the form in which its file says it."""
    article = read(parts["source"], json.loads(parts.get("settings", "{}")))
    return {
        "html": re.sub(r"\n{2,}", "\n", article.html + "\n"),
        "faults": "".join(
            f"{d.place.line}:{d.place.column} {d.code} {d.message}\n" for d in article.diagnostics
        ),
        "cited": "".join(
            f"{w.place.line}:{w.place.column} "
            + json.dumps(
                {name: getattr(w, name) for name in SHOWN if getattr(w, name) not in ("", None)},
                ensure_ascii=False,
            )
            + "\n"
            for w in article.written
        ),
    }


CASES = cases()
IDS = [f"{file}-{name}".replace(" ", "_") for file, name, _ in CASES]


@pytest.mark.parametrize(("file", "name", "parts"), CASES, ids=IDS)
def test_case(file: str, name: str, parts: dict[str, str]) -> None:
    for part, text in outcome(parts).items():
        assert text == parts.get(part, ""), f"{part} of {name!r} in {file}"


@pytest.mark.parametrize(("file", "name", "parts"), CASES, ids=IDS)
def test_every_fault_has_a_cure_and_a_place_in_its_source(
    file: str, name: str, parts: dict[str, str]
) -> None:
    article = read(parts["source"], json.loads(parts.get("settings", "{}")))
    lines = parts["source"].split("\n")
    for fault in article.diagnostics:
        assert fault.help, f"{fault.message} in {name!r} of {file}"
        assert fault.place.column <= len(lines[fault.place.line - 1]) + 1
        if fault.code == "EQ026":
            assert lines[fault.place.line - 1][fault.place.column - 1] == "<"
    assert [written.inline for written in article.written] == list(range(len(article.written)))
    for written in article.written:
        line = lines[written.place.line - 1]
        assert line[written.place.column - 1] in "<[", f"{written} in {name!r} of {file}"


@pytest.mark.parametrize(("file", "name", "parts"), CASES, ids=IDS)
def test_line_marks_change_nothing_else(file: str, name: str, parts: dict[str, str]) -> None:
    settings = msgspec.convert(json.loads(parts.get("settings", "{}")), Settings)
    document = Document("doc", "doc.mdx", "mdx", parts["source"])
    marked = line_marked_mdx(document, settings)
    assert re.sub(r' data-eq-line="\d+"', "", marked) == read_mdx(document, settings).html


def test_blocks_carry_the_line_they_are_written_in() -> None:
    source = "---\ntitle: T\n---\n\na\n\n<div>\nb\n\n- c\n</div>\n\n<p>d</p>\n"
    marked = line_marked_mdx(Document("doc", "doc.mdx", "mdx", source), Settings())
    assert re.findall(r'<(\w+) data-eq-line="(\d+)"', marked) == [
        ("p", "5"),
        ("div", "7"),
        ("p", "8"),
        ("ul", "10"),
        ("li", "10"),
    ]


ENDLESS = {
    "nested braces": "{" * 10_000 + "}" * 10_000,
    "open braces": "a " + "{" * 10_000,
    "open braces in blocks": "{\n\n" * 5_000,
    "open braces in a list": "- x\n\n" + "  {\n\n" * 2_000,
    "open comments": "{/*\n\n" * 5_000,
    "open exports": "export const a = {\n\n" * 5_000,
    "exports": "export const a = 1\n\n" * 5_000,
    "nested tags": "a " + "<b>" * 10_000 + "c" + "</b>" * 10_000,
    "nested blocks": "<b>\n" * 10_000 + "c\n" + "</b>\n" * 10_000,
    "open tags": "<b>\n" * 10_000,
    "open tags in a quote": "> <b>\n" * 5_000,
    "stray tags": "</b>\n" * 10_000,
    "tags in attributes": "<a b={" * 2_000,
    "brackets before braces": "[" * 300 + "{" * 5_000,
    "attributes": "<a " + "b='c' " * 50_000 + "/>",
    "sums": "{" + "1+" * 10_000 + "1}",
    "templates": "{" + "`${" * 10_000 + "1" + "}`" * 10_000 + "}",
    "elements in code": "{" + "<a>{" * 10_000 + "1" + "}</a>" * 10_000 + "}",
    "a line": "word " * 200_000,
}


@pytest.mark.parametrize("name", ENDLESS)
def test_prevents_a_page_that_takes_forever(name: str) -> None:
    with no_hang():
        article = read(ENDLESS[name])
    assert "\0" not in article.html


@pytest.mark.parametrize(
    "name", ["nested braces", "nested tags", "nested blocks", "templates", "elements in code"]
)
def test_nesting_is_bounded_by_a_stated_limit(name: str) -> None:
    assert {"EQ028"} == {fault.code for fault in read(ENDLESS[name]).diagnostics}


def test_a_limit_set_lower_is_kept() -> None:
    settings = {"limits": {"nesting_max": 3}}
    source = "<b><i><u><s>deep</s></u></i></b>\n"
    article = read(source, settings)
    assert [(d.code, d.place.column) for d in article.diagnostics] == [("EQ028", 10)]
    assert "deep" in article.html
    assert not read(source).diagnostics


FRAGMENTS = (
    *(
        "a",
        "b c",
        "\n",
        "\n\n",
        "  ",
        "- ",
        "> ",
        "1. ",
        "# ",
        "---",
        "===",
        "|\n|-|-|\n",
        "*",
        "`",
    ),
    *("```\n", "[l](u)", "![p](q)", "[^1]", "^[n]", "!!! note\n    ", "&amp;", "\\<", "\\{", "\0"),
    *(
        "<b>",
        "</b>",
        "<div>",
        "</div>",
        "<i/>",
        "<B>",
        "</B>",
        "<>",
        "</>",
        "<br>",
        "<",
        ">",
        "<!--",
    ),
    *('{"x"}', "{`y${1}`}", "{/* z */}", "{", "}", "{x}", '<b c={"}"}>', '{\n\n"k"\n\n}', "-->"),
    *('<Cite doc="d" quote="q">', "</Cite>", '[c](cite:d "q")', "export const a = 1\n", "import "),
)


@hypothesis.settings(max_examples=400, deadline=None, derandomize=True)
@hypothesis.given(strategies.lists(strategies.sampled_from(FRAGMENTS), max_size=16).map("".join))
def test_no_source_stops_the_reader_or_loses_count_of_citations(source: str) -> None:
    article = read(source)
    chips = [int(n) for n in re.findall(r'<eq-chip n="(\d+)">', article.html)]
    assert sorted(chips) == [written.inline for written in article.written]
    assert "\0" not in article.html
    lines = source.split("\n")
    for fault in article.diagnostics:
        assert 1 <= fault.place.line <= len(lines)
        assert 1 <= fault.place.column <= len(lines[fault.place.line - 1]) + 1


def test_the_pages_of_a_real_site_have_no_faults() -> None:
    paths = sorted(shared("data/trigsight/content").rglob("*.mdx"))
    assert len(paths) > 5
    for path in paths:
        article = read(path.read_text(encoding="utf-8"))
        assert not article.diagnostics, path
        assert article.title
        assert len(article.html) > 1000


def test_documentation_written_in_mdx_keeps_every_word_of_its_prose() -> None:
    """Every 20th page of react.dev; prose is what is left without code and markup."""
    with tarfile.open(shared("corpora/react-en.tar.xz")) as tar:
        members = sorted((m for m in tar if m.name.endswith(".md")), key=lambda m: m.name)
        pages = [tar.extractfile(member).read().decode() for member in members[::20]]  # type: ignore[union-attr]
    words = 0
    for source in pages:
        article = read(source, LENIENT)
        assert not article.diagnostics
        wanted = Counter(_prose_words(source))
        shown = Counter(WORD.findall(html.unescape(re.sub(r"<[^>]*>", " ", article.html))))
        assert not wanted - shown
        words += wanted.total()
    assert words > 3000


WORD = re.compile(r"[^\W_]{2,}")


def _prose_words(source: str) -> list[str]:
    """Words of the paragraphs that hold neither markup nor code, found without a parser."""
    body = re.sub(r"\A---\n.*?\n---\n", "", source, flags=re.DOTALL)
    body = re.sub(r"^ *(`{3,}).*?^ *\1 *$", "", body, flags=re.DOTALL | re.MULTILINE)
    plain = [p for p in body.split("\n\n") if not re.search(r"[<>{}`\[\]|#=&]", p)]
    return WORD.findall("\n".join(plain))


def write_outcomes() -> None:
    for path in sorted(SPEC.glob("*.txt")):
        out = []
        for file, name, parts in cases():
            if file != path.name:
                continue
            out.append(f"=== {name}\n{parts['source']}")
            if "settings" in parts:
                out.append(f"--> settings\n{parts['settings']}")
            out.extend(f"--> {part}\n{text}" for part, text in outcome(parts).items() if text)
        path.write_text("".join(out), encoding="utf-8")


if __name__ == "__main__":
    write_outcomes()
