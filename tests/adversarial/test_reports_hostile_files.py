"""Files that are made to leak, to run, to hang or to deceive."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from .driver import cites, codes, found, run, run_build, run_check, statuses, tree, write

OK = '# Ok\n\nThe pump is off.\n\n[Said](cite:ok "The pump is off.").\n'
SECRET = "Launch codes are in the blue folder."


def _with_link(tmp_path: Path, name: str, target: str | Path, **files: str) -> Path:
    """A corpus with a link, beside a folder `outside` with a secret document."""
    write(tmp_path / "outside", {"secret.md": f"# Secret\n\n{SECRET}\n", "pic.svg": SECRET})
    folder = write(tmp_path / "corpus", {"ok.md": OK, **files})
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).symlink_to(target)
    return folder


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("leak.md", "/etc/hostname"),
        ("leak.md", "../outside/secret.md"),
        ("deep/leak.md", "../../outside/secret.md"),
        ("leak", "../outside"),
        ("loop", "."),
        ("inside.md", "ok.md"),
        ("broken.md", "nowhere.md"),
        ("self.md", "self.md"),
        ("ok.citations.json", "../outside/secret.md"),
        ("pic.svg", "../outside/pic.svg"),
    ],
)
def test_prevents_a_link_that_publishes_a_file_outside(
    tmp_path: Path, name: str, target: str
) -> None:
    folder = _with_link(tmp_path, name, target)
    # The build must not follow it either: it reads through an entry point of its own.
    exit_code, report, out = run_build(tmp_path, {})
    assert exit_code in (1, 2)
    assert {Path(one["path"]).name for one in found(report, "EQ024")} == {Path(name).name}
    assert not out.exists()
    done = run("check", folder, "--format", "json")
    assert done.returncode in (1, 2)
    assert SECRET not in done.stdout + done.stderr


def test_prevents_a_built_site_from_reading_through_links(tmp_path: Path) -> None:
    write(tmp_path / "outside", {"secret.html": f"<p>{SECRET}</p>"})
    folder = write(
        tmp_path / "corpus",
        {
            "ok.html": "<!doctype html><title>T</title><p>The pump is off.</p>",
            "ok.citations.json": cites("ok", {"a": "The pump is off."}),
            "more.citations.json": cites("leak", {"b": SECRET}),
        },
    )
    (folder / "leak.html").symlink_to("../outside/secret.html")
    exit_code, report, _ = run_check(tmp_path, {})
    assert exit_code in (1, 2)
    assert "EQ024" in codes(report)
    assert statuses(report).get("b") != "bound"


@pytest.mark.parametrize("doc", ["../outside/secret", "/etc/hostname", "ok/../../outside/secret"])
def test_prevents_a_citation_that_names_a_file_outside(tmp_path: Path, doc: str) -> None:
    write(tmp_path / "outside", {"secret.md": SECRET})
    exit_code, report, _ = run_check(
        tmp_path, {"ok.md": OK, "ok.citations.json": cites(doc, {"leak": SECRET})}
    )
    assert exit_code == 1
    assert statuses(report)["leak"] != "bound"


def test_prevents_a_pipe_from_stopping_the_run(tmp_path: Path) -> None:
    write(tmp_path / "corpus", {"ok.md": OK})
    os.mkfifo(tmp_path / "corpus" / "pipe.md")
    exit_code, report, _ = run_check(tmp_path, {}, seconds=30)
    assert exit_code in (1, 2)
    assert [Path(one["path"]).name for one in found(report, "EQ024")] == ["pipe.md"]


@pytest.mark.parametrize(
    "value",
    [
        "!!python/object/apply:os.system ['touch {0}']",
        "!!python/object/new:os.system ['touch {0}']",
        "!!python/name:os.system",
        "!custom x",
        "&a [*a]",
    ],
)
def test_prevents_front_matter_that_builds_objects(tmp_path: Path, value: str) -> None:
    made = tmp_path / "made"
    front = f"---\ntitle: T\nother: {value.format(made)}\n---\n\n# B\n"
    exit_code, report, _ = run_check(tmp_path, {"ok.md": OK, "b.md": front})
    assert exit_code == 1
    (one,) = found(report, "EQ017")
    assert (Path(one["path"]).name, one["line"]) == ("b.md", 3)
    assert not made.exists()


def test_prevents_a_sidecar_that_builds_objects(tmp_path: Path) -> None:
    made = tmp_path / "made"
    side = f"- doc: ok\n  quote: !!python/object/apply:os.system ['touch {made}']\n"
    exit_code, report, _ = run_check(tmp_path, {"ok.md": OK, "ok.citations.yaml": side})
    assert exit_code == 1
    assert [one["line"] for one in found(report, "EQ020")] == [2]
    assert not made.exists()


BILLION = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n"
SLOW = {
    "emphasis": "*_" * 32_000,
    "stars": "*a " * 20_000 + "\n" + "**a" * 10_000,
    "brackets": "[" * 32_000 + "]" * 32_000,
    "links": "[a](" * 16_000,
    "images": "![" * 20_000,
    "quotes": "> " * 3_000 + "x",
    "backticks": "".join("e" + "`" * n for n in range(1, 350)),
    "entities": "&" * 30_000 + "&amp" * 10_000,
    "references": "[a]: u\n\n" + "[a]" * 20_000,
    "tables": "|" * 5_000 + "\n" + "|-" * 5_000 + "|\n" + "|x" * 5_000,
    "lists": "\n".join("  " * n + "- x" for n in range(400)),
    "html": "<a " * 20_000,
    "comments": "<!--" * 16_000,
    "autolinks": "<" * 60_000,
    "notes": "".join(f"[^{n}]: n\n" for n in range(3_000)),
    "aliases": f"---\n{BILLION}---\n\nx\n",
}


@pytest.mark.parametrize("text", SLOW.values(), ids=SLOW)
def test_prevents_a_small_file_that_takes_minutes(tmp_path: Path, text: str) -> None:
    exit_code, report, _ = run_check(tmp_path, {"ok.md": OK, "slow.md": text}, seconds=60)
    assert exit_code in (0, 1)
    assert report["counts"]["bound"] == 1
    if exit_code == 1:
        assert all(one["path"].endswith("slow.md") for one in report["diagnostics"])


MDX_SLOW = {
    "braces": "{" * 30_000,
    "closed-braces": "{" * 10_000 + "}" * 10_000,
    "tags": "<A>" * 3_000,
    "attributes": "<A b={" * 5_000,
    "exports": "export const a = [\n" * 3_000,
}


@pytest.mark.parametrize("text", MDX_SLOW.values(), ids=MDX_SLOW)
def test_prevents_a_small_mdx_file_that_takes_minutes(tmp_path: Path, text: str) -> None:
    exit_code, report, _ = run_check(tmp_path, {"ok.md": OK, "slow.mdx": text}, seconds=60)
    assert exit_code == 1
    assert report["counts"]["bound"] == 1


EMBEDDINGS = [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]
MARKS = [0x200E, 0x200F, 0x061C]
TAGS = [0xE0001, 0xE0041, 0xE007F]


def _reported(tmp_path: Path, points: list[int]) -> tuple[int, dict[int, tuple[int, int]]]:
    """One file per character: where each was reported, told by its code point."""
    files = {f"{p:x}.md": f"# P\n\nThe price is {chr(p)}0001 EUR.\n" for p in points}
    exit_code, report, _ = run_check(tmp_path, {"ok.md": OK, **files})
    places = {}
    for one in found(report, "EQ029"):
        point = int(Path(one["path"]).stem, 16)
        assert f"{point:04X}" in one["message"].upper()
        places[point] = (one["line"], one["column"])
    return exit_code, places


def test_prevents_characters_that_reorder_text_from_being_reviewed_unseen(tmp_path: Path) -> None:
    exit_code, places = _reported(tmp_path, EMBEDDINGS)
    assert (exit_code, places) == (1, dict.fromkeys(EMBEDDINGS, (3, 14)))


def test_prevents_direction_marks_from_being_reviewed_unseen(tmp_path: Path) -> None:
    exit_code, places = _reported(tmp_path, MARKS)
    assert (exit_code, places) == (1, dict.fromkeys(MARKS, (3, 14)))


def test_prevents_tag_characters_from_smuggling_text(tmp_path: Path) -> None:
    exit_code, places = _reported(tmp_path, TAGS)
    assert (exit_code, places) == (1, dict.fromkeys(TAGS, (3, 14)))


def test_prevents_a_refusal_of_characters_that_are_meant(tmp_path: Path) -> None:
    scotland = "🏴" + "".join(chr(0xE0000 + ord(sign)) for sign in "gbsct") + "\U000e007f"
    meant = f"# P\n\nText with \u202eintent\u202c and a {scotland} flag.\n"
    emoji = f"\ufeff# E\n\nA 👩\u200d🚒 works under a {scotland}, and me\u200cra too.\n"
    listed = {"exactquote.toml": 'hidden_controls = ["rtl/**"]\n'}
    exit_code, report, _ = run_check(
        tmp_path, {"ok.md": OK, "rtl/p.md": meant, "e.md": emoji, **listed}
    )
    assert (exit_code, report["diagnostics"]) == (0, [])


def test_prevents_a_citation_with_hidden_characters(tmp_path: Path) -> None:
    side = cites("ok", {"a": "The pump is \u202eoff\u202c."})
    side = side.encode().decode("unicode_escape")
    assert "\u202e" in side
    exit_code, report, _ = run_check(tmp_path, {"ok.md": OK, "ok.citations.json": side})
    assert exit_code == 1
    assert {Path(one["path"]).name for one in found(report, "EQ029")} == {"ok.citations.json"}


def test_prevents_hidden_characters_behind_a_character_reference(tmp_path: Path) -> None:
    page = "# P\n\nThe price is &#x202e;0001&#8236; EUR.\n"
    exit_code, report, _ = run_check(tmp_path, {"ok.md": OK, "p.md": page})
    assert exit_code == 1
    assert {one["line"] for one in found(report, "EQ029")} == {3}


CLUSTERS = {
    "ogonek": ("Zamknij drzwi za sob\u0105", "Zamknij drzwi za soba"),
    "decomposed": ("Zamknij okno za sob" + "a\u0328", "Zamknij okno za soba"),
    "marks": ("Take the word e\u0301\u0323", "Take the word e"),
    "family": ("They are a 👩\u200d👩\u200d👧", "They are a 👩"),
    "skin": ("We say yes 👍🏽", "We say yes 👍"),
    "flag": ("It is made in 🇩🇪", "It is made in 🇩"),
    "keycap": ("Press the key 1\ufe0f\u20e3", "Press the key 1"),
    "hangul": ("이것은 각", "이것은 가"),
    "devanagari": ("यह है क्षि", "यह है क्"),
    "heart": ("With much love ❤\ufe0f\u200d🔥", "With much love ❤"),
    "start": ("\u00e9tude for two hands", "\u0301tude for two hands"),
}


def test_prevents_a_match_inside_one_visible_character(tmp_path: Path) -> None:
    page = "# Clusters\n\n" + "\n\n".join(whole for whole, _ in CLUSTERS.values()) + "\n"
    whole = {f"{name}-whole": text for name, (text, _) in CLUSTERS.items()}
    cut = {f"{name}-cut": text for name, (_, text) in CLUSTERS.items()}
    exit_code, report, _ = run_check(
        tmp_path, {"c.md": page, "c.citations.json": cites("c", whole | cut)}
    )
    assert exit_code == 1
    verdicts = statuses(report)
    assert {id for id in cut if verdicts[id] == "bound"} == set()
    # Firefox finds no end of a word behind a detached accent, so nothing can land there.
    unreachable = dict.fromkeys(("decomposed-whole", "marks-whole"), "EQ013")
    wanted = dict.fromkeys(whole, "bound") | unreachable
    assert {id: verdicts[id] for id in whole} == wanted
    whole = {id: text for id, text in whole.items() if id not in unreachable}
    shown = {one["id"]: one["quote"] for one in report["citations"]}
    for id, text in whole.items():
        assert unicodedata.normalize("NFC", shown[id]) == unicodedata.normalize("NFC", text)


def test_prevents_a_failed_build_from_leaving_a_new_site(tmp_path: Path) -> None:
    exit_code, _, out = run_build(tmp_path, {"ok.md": OK})
    before = tree(out)
    assert exit_code == 0
    assert before
    exit_code, _, out = run_build(
        tmp_path, {"ok.md": OK.replace("pump is off.\n", "pump is on.\n")}
    )
    assert exit_code == 1
    assert tree(out) == before
