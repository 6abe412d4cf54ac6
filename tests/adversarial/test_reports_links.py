"""Links inside a site that tools are known to have called dead, or alive, in error."""

from __future__ import annotations

from pathlib import Path

from .driver import found, run_check

CITED = '\n\nThe pump is off. [Said](cite:{0} "The pump is off.").\n'


def _page(title: str, body: str, doc: str) -> str:
    return f"# {title}\n\n{body}" + CITED.format(doc)


def test_prevents_a_text_link_from_being_called_a_dead_anchor(tmp_path: Path) -> None:
    target = "# P\n\n## Setup\n\nNow run it once.\n"
    links = """
[id and text](p.md#setup:~:text=run%20it)
[text alone](p.md#:~:text=run%20it)
[id alone](p.md#setup)
[page](p.md)
"""
    exit_code, report, _ = run_check(tmp_path, {"p.md": target, "a.md": _page("A", links, "a")})
    assert (exit_code, report["diagnostics"]) == (0, [])


def test_prevents_a_text_link_with_a_dead_anchor_from_passing(tmp_path: Path) -> None:
    target = "# P\n\n## Setup\n\nNow run it once.\n"
    links = "[id is dead](p.md#gone:~:text=run%20it)\n"
    _, report, _ = run_check(tmp_path, {"p.md": target, "a.md": _page("A", links, "a")})
    assert [(one["path"].rsplit("/")[-1], one["line"]) for one in found(report, "EQ031")] == [
        ("a.md", 3)
    ]


def test_prevents_a_text_link_whose_text_is_gone_from_passing(tmp_path: Path) -> None:
    target = "# P\n\n## Setup\n\nNow run it once.\n"
    links = "[text is gone](p.md#setup:~:text=run%20it%20twice)\n"
    _, report, _ = run_check(tmp_path, {"p.md": target, "a.md": _page("A", links, "a")})
    assert [one["line"] for one in found(report, "EQ031")] == [3]


def test_prevents_dead_anchors_that_depend_on_the_order_of_pages(tmp_path: Path) -> None:
    seen = []
    for number, names in enumerate((("a", "m", "z"), ("z", "a", "m"), ("m", "z", "a"))):
        linking, target, last = names
        files = {
            f"{linking}.md": _page("L", f"[x]({target}.md) [y]({target}.md#missing)", linking),
            f"{target}.md": _page("T", f"## Here\n\n[x]({last}.md#nothing)", target),
            f"{last}.md": _page("Z", f"[back]({target}.md#here) [z]({target}.md#lost)", last),
        }
        _, report, _ = run_check(tmp_path / str(number), files)
        roles = dict(zip(names, ("linking", "target", "last"), strict=True))
        seen.append(sorted(roles[Path(one["path"]).stem] for one in found(report, "EQ031")))
    assert seen == [["last", "linking", "target"]] * 3


def test_prevents_a_renamed_heading_from_passing_for_years(tmp_path: Path) -> None:
    files = {
        "p.md": "# P\n\n## Old name\n\nText.\n",
        "a.md": _page("A", "[there](p.md#old-name)", "a"),
    }
    strict = {"exactquote.toml": '[severity]\nEQ031 = "error"\n'}
    exit_code, report, _ = run_check(tmp_path / "before", files | strict)
    assert (exit_code, report["diagnostics"]) == (0, [])
    files["p.md"] = files["p.md"].replace("Old name", "New name")
    # It is reported without being asked for, and stops the gate where the house says so.
    exit_code, report, _ = run_check(tmp_path / "after", files)
    assert [one["severity"] for one in found(report, "EQ031")] == ["warning"]
    exit_code, report, _ = run_check(tmp_path / "strict", files | strict)
    assert exit_code == 1
    assert [one["severity"] for one in found(report, "EQ031")] == ["error"]


def test_prevents_a_deleted_heading_that_was_cited_from_passing(tmp_path: Path) -> None:
    files = {
        "p.md": "# P\n\n## Cleaning the pump\n\nText.\n",
        "a.md": '# A\n\n[Said](cite:p "Cleaning the pump").\n',
    }
    exit_code, report, _ = run_check(tmp_path / "before", files)
    assert (exit_code, report["counts"]["bound"]) == (0, 1)
    files["p.md"] = "# P\n\nText.\n"
    exit_code, report, _ = run_check(tmp_path / "after", files)
    assert (exit_code, report["counts"]["refused"]) == (1, 1)
