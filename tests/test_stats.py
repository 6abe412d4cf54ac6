"""`exactquote stats`: how the passages of a corpus can be linked, and why some can't."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from exactquote import cli
from exactquote.deeplink.generate import NoLink, deep_link
from exactquote.model import Passage, Place, Span
from exactquote.passages import citable_spans
from exactquote.rendered.page import Page, read_page
from exactquote.report.stats import (
    EXAMPLES_MAX,
    Figures,
    Reason,
    Stats,
    count,
    shape,
    stats_text,
    why,
)

ROOT = Path(__file__).parents[1]
SCHEMA = json.loads((ROOT / "compiler/exactquote/schemas/stats.schema.json").read_text())
CORPUS = {
    "index.md": "# Hours\n\nIt opens at nine. It is cold.\n\n## Kiln\n\nIt is hot. It is cold.\n",
    "list.md": "# Steps\n\nBegin here.\n\n" + "- Ask first.\n" * 9,
}
LONG = "The cat " + "sat down and ate the fish that lay there " * 9
APART = "nothing around it tells the two apart"
TOUCHES = "it touches an element that some browser reads across"


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Callable[..., tuple[int, str, str]]:
    """Runs `stats` in this process, in a folder with a small corpus."""
    monkeypatch.chdir(tmp_path)
    for path, text in CORPUS.items():
        (tmp_path / "corpus").mkdir(exist_ok=True)
        (tmp_path / "corpus" / path).write_text(text, encoding="utf-8")

    def run(*args: str) -> tuple[int, str, str]:
        capfdbinary.readouterr()
        code = cli.main(["stats", *args])
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    return run


def page_of(html: str) -> Page:
    return read_page(html, doc="a", path="a.html")


def counted(html: str) -> Stats:
    page = page_of(html)
    passages = [
        Passage("p", "a", span, page.quote(span.start, span.end)) for span in citable_spans(page)
    ]
    return count({"a": page}, passages, lambda page, span: Place("a.md", 1, span.start + 1))


# HTML; how many passages are linked by the quote alone, with context, as a range, not at all
SHAPES = [
    ("<p>The cat sat.</p>", (1, 0, 0, 0)),
    ("<p>The cat sat. A dog ran.</p>", (2, 0, 0, 0)),
    ("<p>Yes. The cat sat.</p><p>No. The cat sat.</p>", (3, 1, 0, 0)),
    (f"<p>{LONG}.</p>", (0, 0, 1, 0)),
    (f"<p>One. {LONG}.</p><p>Two. {LONG}.</p>", (2, 0, 2, 0)),
    (f"<ul>{'<li>Ask.' * 6}</ul>", (1, 1, 0, 4)),
    ("<p>1 2 3</p>", (1, 0, 0, 0)),
    ("<p>…</p>", (0, 0, 0, 0)),
]


@pytest.mark.parametrize(("html", "figures"), SHAPES)
def test_passages_are_counted_by_the_shape_of_their_links(
    html: str, figures: tuple[int, ...]
) -> None:
    stats = counted(html)
    total = stats.total
    assert (
        *(total.shapes[one] for one in ("exact", "context", "range")),
        total.unlinked,
    ) == figures
    assert total.passages == sum(figures)
    assert stats.reasons.total() == total.unlinked
    assert stats.documents == {"a.html": total}


# HTML, text of the passage, its number among equal ones, the reason and its kind
REASONS = [
    (f"<ul>{'<li>Ask.' * 6}</ul>", "Ask.", 3, "look-alike", f"equal text, and {APART}"),
    (
        "<ul><li>ask.<li>ask.<li>ask.<li>Ask.<li>ask.<li>ask.</ul>",
        "Ask.",
        0,
        "look-alike",
        f"text that a browser takes for it, and {APART}",
    ),
    ("<p>super<svg></svg>natural light</p>", "super", 0, "cannot-land", TOUCHES),
    ("<p>super<svg></svg>natural light</p>", "natural light", 0, "cannot-land", TOUCHES),
    (
        "<p>We met catdogs.</p>",
        "dogs.",
        0,
        "cannot-land",
        "an edge is inside a word for some browser",
    ),
    (
        "<p>See example.com now.</p>",
        "com now.",
        0,
        "cannot-land",
        "an edge is inside a word for some browser",
    ),
    (
        "<p>A family 👩\u200d💻</p>",
        "💻",
        0,
        "cannot-land",
        "an edge is inside a word for some browser",
    ),
]


@pytest.mark.parametrize(("html", "text", "number", "name", "kind"), REASONS)
def test_what_has_no_directive_has_a_reason(
    html: str, text: str, number: int, name: str, kind: str
) -> None:
    page = page_of(html)
    starts = [at for at in range(len(page.text)) if page.text.startswith(text, at)]
    span = Span(starts[number], starts[number] + len(text))
    link = deep_link(page, span)
    assert isinstance(link, NoLink)
    assert why(page, span, link) == Reason(name, kind)


def test_a_few_examples_are_kept_for_each_reason() -> None:
    stats = counted(f"<ul>{'<li>Ask.' * 12}</ul>")
    ((reason, number),) = stats.reasons.items()
    assert number > EXAMPLES_MAX == len(stats.examples[reason])
    assert {example.quote for example in stats.examples[reason]} == {"Ask."}
    places = [example.place for example in stats.examples[reason]]
    assert places == sorted(set(places))


# lengths, median, 95th percentile
LENGTHS: list[tuple[list[int], float, int]] = [
    ([], 0, 0),
    ([7], 7, 7),
    ([9, 1], 5, 9),
    ([3, 1, 2], 2, 3),
    (list(range(1, 101)), 50.5, 95),
    (list(range(20, 0, -1)), 10.5, 19),
]


@pytest.mark.parametrize(("lengths", "median", "most"), LENGTHS)
def test_lengths(lengths: list[int], median: float, most: int) -> None:
    figures = Figures(lengths=lengths)
    assert (figures.median(), figures.percentile(0.95)) == (median, most)


@pytest.mark.parametrize(
    ("fragment", "name"),
    [
        ("#a:~:text=x", "exact"),
        ("#:~:text=p-,x", "context"),
        ("#:~:text=x,-s", "context"),
        ("#:~:text=x,y", "range"),
        ("#:~:text=p-,x,y,-s", "range"),
        ("#:~:text=x%2Cy", "exact"),
    ],
)
def test_shapes(fragment: str, name: str) -> None:
    assert shape(fragment) == name


def test_the_report_names_each_page_the_total_and_the_reasons(run: Any) -> None:
    code, out, err = run()
    assert (code, err) == (0, "")
    head, index, steps, total, *_ = (line.split() for line in out.splitlines())
    assert head[:7] == ["page", "passages", "exact", "context", "range", "block", "section"]
    assert index[:7] == ["index.html", "6", "5", "1", "0", "0", "0"]
    assert steps[:7] == ["list.html", "11", "3", "2", "0", "6", "0"]
    assert total[:7] == ["total", "17", "8", "3", "0", "6", "0"]
    assert "By block, which the page marks: 6." in out
    assert "by section only" not in out
    assert "11 of 17 passages on 2 pages have a proved link." in out
    assert f"     6  look-alike: equal text, and {APART}\n" in out
    assert "list.md:" not in out
    assert "\x1b" not in out


def test_prose_and_code_are_counted_apart() -> None:
    stats = counted("<p>Say it. Say it.</p>" + "<pre>go()</pre>" * 6)
    prose, code = stats.kinds["prose"], stats.kinds["code"]
    assert (prose.passages, prose.unlinked) == (2, 0)
    assert (code.passages, code.unlinked) == (6, 4)
    assert stats.total.passages == prose.passages + code.passages
    told = stats_text(stats, str, color=False, documents=False, examples=False)
    assert "Prose: 2 of 2 (100 %), code: 2 of 6 (33.3 %).\n" in told


def test_prevents_a_share_that_is_rounded_up_to_all() -> None:
    stats = Stats()
    stats.kinds["prose"] = Figures(Counter(exact=99_999), unlinked=1)
    stats.kinds["code"] = Figures(unlinked=3)
    told = stats_text(stats, str, color=False, documents=False, examples=False)
    assert "Prose: 99999 of 100000 (99.9 %), code: 0 of 3 (0 %).\n" in told


def test_verbose_shows_where_such_passages_are_written(run: Any) -> None:
    _, out, err = run("corpus", "-v")
    assert err == "configuration: none, all defaults\n"
    places = [line.split()[0] for line in out.splitlines() if "list.md:" in line]
    assert places == [f"corpus/list.md:{line}:3" for line in (7, 8, 9, 10, 11)]


def test_quiet_leaves_out_the_pages(run: Any) -> None:
    _, out, _ = run("-q")
    assert "total" in out
    assert "index.html" not in out


def test_json_is_one_valid_object_with_the_same_figures(run: Any) -> None:
    code, out, err = run("--format", "json")
    assert (code, err) == (0, "")
    value = json.loads(out)
    jsonschema.validate(value, SCHEMA, cls=jsonschema.Draft202012Validator)
    assert [row["page"] for row in value["documents"]] == ["index.html", "list.html"]
    for key in ("passages", "exact", "context", "range", "block", "section_only"):
        assert value["total"][key] == sum(row[key] for row in value["documents"])
        assert value["total"][key] == value["prose"][key] + value["code"][key]
    (reason,) = value["reasons"]
    assert (reason["reason"], reason["passages"], len(reason["examples"])) == ("look-alike", 6, 5)
    assert reason["examples"][0]["path"] == "corpus/list.md"
    for change in ({"more": 1}, {"version": 2}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(value | change, SCHEMA, cls=jsonschema.Draft202012Validator)
    value["total"]["more"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, SCHEMA, cls=jsonschema.Draft202012Validator)


def test_a_corpus_with_faults_is_counted_all_the_same(run: Any, tmp_path: Path) -> None:
    (tmp_path / "corpus/list.md").write_text('# T\n\n[No.](cite:index "It is made up.")\n')
    code, out, _ = run()
    assert code == 0
    assert "2 pages have a proved link" in out


@pytest.mark.parametrize(
    ("files", "args", "code", "message"),
    [
        ({}, ["absent"], 2, "absent: no such folder"),
        ({"site/a.html": "<p>Text.</p>"}, ["site"], 2, "site has HTML pages only"),
        ({"none/a.txt": "x"}, ["none"], 1, ""),
    ],
)
def test_prevents_figures_of_nothing_from_passing(
    run: Any, tmp_path: Path, files: dict[str, str], args: list[str], code: int, message: str
) -> None:
    for path, text in files.items():
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_text(text)
    ran = run(*args)
    assert ran[0] == code
    assert message in ran[2]
    assert "Traceback" not in ran[2]


def test_a_file_that_cannot_be_read_is_named(run: Any, tmp_path: Path) -> None:
    corpus = tmp_path / "other"
    corpus.mkdir()
    (corpus / "a.md").write_text("# A\n\nThe store is small.\n")
    # A fault of citations is none of the figures' business.
    (corpus / "b.citations.json").write_text("[")
    assert run("other")[0] == 0
    (corpus / "c.md").write_bytes(b"# Gr\xfc\xdfe\n")
    code, out, err = run("other")
    assert code == 2
    assert "c.md: the file isn't UTF-8" in err
    assert "2 of 2 passages" in out


def test_nothing_is_written(run: Any, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert run()[0] == 0
    assert sorted(tmp_path.rglob("*")) == before
