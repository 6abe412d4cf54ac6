"""Source text that tools are known to have shown, hidden or read in error."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from .driver import cites, codes, found, quotes, run_build, run_check, statuses, tree

OK = "# Ok\n\nThe pump is off.\n"
SAID = '\n[Said](cite:ok "The pump is off.").\n'


def test_prevents_a_less_than_sign_in_prose_from_breaking_a_page(tmp_path: Path) -> None:
    text = "# Times\n\nAn answer comes in <3 s and takes <1 MB of space.\n"
    wanted = cites("times", ["An answer comes in <3 s and takes <1 MB of space."])
    exit_code, report, _ = run_check(
        tmp_path / "md", {"times.md": text, "times.citations.json": wanted}
    )
    assert (exit_code, statuses(report)) == (0, {"c0": "bound"})
    exit_code, report, _ = run_check(tmp_path / "mdx", {"times.mdx": text, "ok.md": OK + SAID})
    assert exit_code == 1
    assert [(one["line"], one["column"]) for one in found(report, "EQ025")] == [
        (3, text.split("\n")[2].index(sign) + 1) for sign in ("<3", "<1")
    ]


def test_prevents_a_broken_page_that_nobody_touched_from_passing(tmp_path: Path) -> None:
    files = {"ok.md": OK + SAID, "old/broken.mdx": "# Old\n\nA <Missing>tag.\n"}
    exit_code, report, _ = run_check(tmp_path, files)
    assert exit_code == 1
    assert {one["path"].endswith("old/broken.mdx") for one in report["diagnostics"]} == {True}
    assert report["counts"]["bound"] == 1


def test_prevents_a_comment_of_one_dialect_from_being_text_in_the_other(tmp_path: Path) -> None:
    text = "# Notes\n\nFirst words <!-- a secret note --> last words.\n"
    wanted = cites("notes", {"around": "First words last words.", "inside": "a secret note"})
    exit_code, report, _ = run_check(
        tmp_path / "md", {"notes.md": text, "notes.citations.json": wanted}
    )
    verdicts = statuses(report)
    assert (exit_code, verdicts["around"]) == (1, "bound")
    assert verdicts["inside"] in ("EQ002", "EQ007")
    exit_code, report, _ = run_check(tmp_path / "mdx", {"notes.mdx": text, "ok.md": OK + SAID})
    assert exit_code == 1
    assert [one["line"] for one in found(report, "EQ025")] == [3]


HIDDEN = {
    "style": "<style>.x{{}} /* {0} */</style>",
    "script": "<script>var x = '{0}'</script>",
    "json": '<script type="application/json">"{0}"</script>',
    "template": "<template><p>{0}</p></template>",
    "noscript": "<noscript>{0}</noscript>",
    "hidden": "<p hidden>{0}</p>",
    "inside-hidden": "<div hidden><section><p>{0}</p></section></div>",
    "dialog": "<dialog>{0}</dialog>",
    "alternative": '<p><img alt="{0}" src="x.png"></p>',
    "tooltip": '<p title="{0}">.</p>',
    "comment": "<p><!-- {0} -->.</p>",
    "own-style": '<p style="display:none">{0}</p>',
    "class": '<p class="gone">{0}</p>',
    "inside-class": '<div class="gone"><p>{0}</p></div>',
    "invisible": '<p class="unseen">{0}</p>',
    "sheet": '<p class="gone-by-sheet">{0}</p>',
    "important": '<p class="gone" style="display:block">{0}</p>',
    "screen-reader": '<p>See <span class="sr-only">{0}</span></p>',
    "field": "<textarea>{0}</textarea>",
    "frame": '<iframe srcdoc="{0}"></iframe>',
}
SEEN = {
    "aria-hidden": '<p aria-hidden="true">{0}</p>',
    "folded": "<details><summary>t</summary><p>{0}</p></details>",
    "until-found": "<p hidden=until-found>{0}</p>",
    "shown-again": '<p hidden class="shown">{0}</p>',
    "visible-again": '<p class="unseen">x <b style="visibility:visible">{0}</b></p>',
    "other-class": '<p class="goner">{0}</p>',
    "open-dialog": "<dialog open>{0}</dialog>",
    "print": '<p class="no-print">{0}</p>',
}
CSS = """
.gone { display: none !important } .unseen { visibility: hidden } .shown { display: block }
.sr-only { position: absolute; width: 1px; height: 1px; overflow: hidden; clip: rect(0,0,0,0) }
@media print { .no-print { display: none } }
"""


def test_prevents_text_that_no_reader_sees_from_being_cited(tmp_path: Path) -> None:
    body, wanted = "", {}
    for number, (name, form) in enumerate((HIDDEN | SEEN).items()):
        wanted[name] = f"Sentence number {number} stands here"
        body += form.format(wanted[name]) + "\n"
    page = (
        "<!doctype html><html><head><title>T</title><link rel=stylesheet href=theme/site.css>"
        f"<style>{CSS}</style></head><body>{body}</body></html>"
    )
    files = {
        "page.html": page,
        "theme/site.css": ".gone-by-sheet { display: none }",
        "page.citations.json": cites("page", wanted),
    }
    exit_code, report, _ = run_check(tmp_path, files)
    assert exit_code == 1
    verdicts = statuses(report)
    assert {id for id in HIDDEN if verdicts[id] == "bound"} == set()
    assert {verdicts[id] for id in HIDDEN} <= {"EQ007", "EQ002"}
    assert verdicts["hidden"] == verdicts["class"] == verdicts["script"] == "EQ007"
    assert {id: verdicts[id] for id in SEEN} == dict.fromkeys(SEEN, "bound")


def test_prevents_an_inline_chart_from_becoming_text(tmp_path: Path) -> None:
    chart = "<script>const points = [" + "'the pump is off', " * 260_000 + "]</script>"
    page = f"<!doctype html><title>T</title><p>The pump is off.</p>{chart}<p>It is quiet.</p>"
    assert len(page) > 4_000_000
    wanted = cites("chart", ["The pump is off.", "It is quiet."])
    exit_code, report, _ = run_check(
        tmp_path, {"chart.html": page, "chart.citations.json": wanted}, seconds=60
    )
    assert (exit_code, statuses(report)) == (0, {"c0": "bound", "c1": "bound"})
    assert report["counts"]["passages"] <= 3


def test_prevents_a_line_break_in_inline_markup_from_vanishing(tmp_path: Path) -> None:
    page = "<!doctype html><title>T</title><p><span>one\ntwo</span>\n<b>three</b>\tfour</p>"
    wanted = cites("page", {"joined": "onetwo three four", "spaced": "one two three four"})
    _, report, _ = run_check(tmp_path, {"page.html": page, "page.citations.json": wanted})
    verdicts = statuses(report)
    assert verdicts["spaced"] == "bound"
    assert verdicts["joined"] != "bound"
    assert quotes(report)["spaced"] == "one two three four"


def test_prevents_a_footnote_mark_from_being_skipped(tmp_path: Path) -> None:
    page = "# Notes\n\n**Alpha** and *beta* follow the word[^1]. Then more.\n\n[^1]: The note.\n"
    wanted = {
        "up-to": "Alpha and beta follow the word",
        "with": "follow the word[1].",
        "skipping": "follow the word. Then more.",
        "marks": "**Alpha** and *beta*",
    }
    exit_code, report, _ = run_check(
        tmp_path, {"notes.md": page, "notes.citations.json": cites("notes", wanted)}
    )
    assert exit_code == 1
    verdicts = statuses(report)
    assert verdicts["up-to"] == verdicts["with"] == "bound"
    assert verdicts["skipping"] != "bound"
    assert verdicts["marks"] != "bound"
    explained = [one for one in report["diagnostics"] if "[1]" in one["message"] + one["help"]]
    assert explained


def test_prevents_a_byte_order_mark_from_hiding_front_matter(tmp_path: Path) -> None:
    text = "---\ntitle: Pump manual\nsummary: All about it.\n---\n\n# Pump\n\nThe pump is off.\n"
    side = cites("pump", ["The pump is off."])
    plain = {"pump.md": text, "pump.citations.json": side}
    marked = {"pump.md": "\ufeff" + text, "pump.citations.json": "\ufeff" + side}
    trees = []
    for name, files in (("plain", plain), ("marked", marked)):
        exit_code, report, out = run_build(tmp_path / name, files)
        assert (exit_code, report["diagnostics"]) == (0, []), name
        trees.append(tree(out))
    assert trees[0] == trees[1]
    assert b"title: Pump manual" not in trees[0]["pump.html"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "latin-1"])
def test_prevents_other_encodings_from_being_read_as_text(tmp_path: Path, encoding: str) -> None:
    files = {"ok.md": OK + SAID, "other.md": "# Größe\n\nDie Größe zählt.\n".encode(encoding)}
    exit_code, report, _ = run_check(tmp_path, files)
    assert exit_code in (1, 2)
    (one,) = found(report, "EQ024")
    assert one["path"].endswith("other.md")
    assert "UTF-8" in one["message"] + one["help"]


def test_prevents_a_runaway_fence_from_turning_prose_into_code(tmp_path: Path) -> None:
    page = "# Run\n\nBefore.\n\n```sh\nrun it\n\n## Later\n\nThe **pump** is off.\n"
    exit_code, report, _ = run_check(
        tmp_path, {"run.md": page, "run.citations.json": cites("run", ["The pump is off."])}
    )
    assert exit_code == 1
    assert [(one["line"], one["severity"]) for one in found(report, "EQ030")] == [(5, "warning")]
    assert statuses(report)["c0"] != "bound"


def test_prevents_a_bar_in_code_from_losing_a_cell(tmp_path: Path) -> None:
    page = "# Table\n\n| a | b |\n| - | - |\n| `x | y` | last |\n| `x \\| y` | kept |\n"
    wanted = {"escaped": "x | y", "kept": "kept"}
    _, report, _ = run_check(
        tmp_path, {"table.md": page, "table.citations.json": cites("table", wanted)}
    )
    assert [one["line"] for one in found(report, "EQ034")] == [5]
    assert statuses(report) == {"escaped": "bound", "kept": "bound"}


HEADINGS = """# Example

## Example

## Example

## EXAMPLE

## Example 1

## example-1

## Tasks

## TASKS

## Ünïcode

## ünïcode

## !!!

## ???

The pump is off.

[^1]: note

Word[^1].
"""


def test_prevents_two_headings_with_one_id(tmp_path: Path) -> None:
    claims = '# C\n\n[Said](cite:heads "The pump is off.").\n'
    exit_code, report, out = run_build(tmp_path, {"heads.md": HEADINGS, "c.md": claims})
    assert exit_code == 0, report["diagnostics"]
    for path, content in tree(out).items():
        if path.endswith(".html"):
            markup = re.sub(r"<script.*?</script>", "", content.decode(), flags=re.DOTALL)
            ids = re.findall(r'<[a-z][^<>]*?\sid="?([^"\s>]+)', markup)
            folded = [id.casefold() for id in ids]
            assert len(folded) == len(set(folded)), (path, sorted(ids))
    page = (out / "heads.html").read_text(encoding="utf-8")
    targets = {unquote(target) for target in re.findall(r'href="#([^":]+)"', page)}
    assert targets <= set(re.findall(r'\sid="([^"]+)"', page))


def test_prevents_a_passage_that_silently_replaces_another(tmp_path: Path) -> None:
    page = (
        "# Tasks\n\n"
        + "The pump is off. " * 3
        + "\n\n## TASKS\n\nThe pump is off.\n\n- OFF.\n- Off.\n"
    )
    claims = '# C\n\n[Said](cite:ok "The pump is off.").\n'
    files = {"tasks.md": page, "more/tasks.md": page, "ok.md": OK, "c.md": claims}
    exit_code, report, out = run_build(tmp_path, files)
    assert exit_code == 0, report["diagnostics"]
    pairs: list[str] = []

    def collect(items: list[tuple[str, object]]) -> dict[str, object]:
        pairs.extend(key for key, value in items if isinstance(value, dict) and "href" in value)
        return dict(items)

    json.loads((out / "allowlist.json").read_text(encoding="utf-8"), object_pairs_hook=collect)
    assert len(pairs) == len(set(pairs)) > 0


def test_prevents_names_that_differ_only_in_case_from_replacing_each_other(tmp_path: Path) -> None:
    files = {"tasks.md": OK, "TASKS.md": "# Other\n\nIt is on.\n", "ok.md": OK + SAID}
    exit_code, report, _ = run_check(tmp_path, files)
    assert exit_code == 1
    assert "EQ023" in codes(report)


def test_prevents_page_text_from_being_run_as_a_template(tmp_path: Path) -> None:
    page = """---
title: "{{ 7*7 }} of {{ config }}"
summary: "{% if x %}{{ 6*6 }}"
---

# {{ 8*8 }} heading

Set {{ region }} and {% else %} here, then {{7*7}} and {# gone? #} and ${1+1}.

```
{{ code }} {% raw %}
```

[claim {{ 5*5 }}](cite:page "Set {{ region }} and {% else %} here, then {{7*7}} and {# gone? #}")
"""
    exit_code, report, out = run_build(tmp_path, {"page.md": page})
    assert exit_code == 0, report["diagnostics"]
    assert [one["status"] for one in report["citations"]] == ["bound"]
    html = (out / "page.html").read_text(encoding="utf-8")
    for kept in ("{{ 7*7 }} of {{ config }}", "{{ 8*8 }} heading", "{{7*7}}", "{# gone? #}"):
        assert kept in html, kept
    for run_text in ("49 of", "64 heading", "claim 25", "&lt;Config", "36</"):
        assert run_text not in html, run_text
