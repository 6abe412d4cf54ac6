"""`exactquote ask`: the passages of a built site that answer a question, and how it says so."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from exactquote import cli
from exactquote.cli import knowledge
from exactquote_site.knowledge.embedders import Embedder, EmbedderDown
from exactquote_site.knowledge.stored import CHUNKS_PATH, HEADER_PATH
from tests.test_knowledge import FILES, Topical

ROOT = Path(__file__).parents[1]
SCHEMA = json.loads((ROOT / "compiler/exactquote/schemas/ask.schema.json").read_text())
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Run:
    """Runs a command in this process, in a folder with a built site, with no network."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795910400")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(knowledge, "opened", opened)
    for path, text in FILES.items():
        (tmp_path / "corpus" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "corpus" / path).write_text(text, encoding="utf-8")

    def run(*args: str) -> tuple[int, str, str]:
        capfdbinary.readouterr()
        code = cli.main(args)
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    assert run("build")[0] == 0
    return run


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("the network is off")


def opened(settings: Any, patience: object = None) -> Embedder | None:
    """The embedder of these tests in place of each real one; `key_env` tells what it does."""
    if settings.embedder == "none":
        return None
    return Topical(down="no route to host" if settings.key_env == "DOWN" else "")


def configure(text: str) -> None:
    Path("corpus/exactquote.toml").write_text(f"[knowledge]\n{text}\n", encoding="utf-8")


def test_the_best_passages_are_shown_with_source_and_link(run: Run) -> None:
    code, out, err = run("ask", "When is the kiln fired?", "-n", "2")
    assert (code, err) == (0, "")
    assert out.startswith(
        "1. Kiln\n   It is fired on Fridays. Nobody opens it before Saturday.\n"
        "   kiln.html#:~:text="
    )
    # No other page says anything of it, however many are asked for.
    assert "\n2. " not in out
    assert "note:" not in out


def test_prevents_spaces_that_a_page_does_not_have(run: Run) -> None:
    # In Korean there is one, and none where a sentence ends a line.
    for text in (
        "窯は金曜日に焼く。土曜日まで開けない。",
        "가마는 금요일에 굽는다. 토요일까지 연다.",
    ):
        Path("corpus/oven.md").write_text(f"# 窯\n\n{text}\n", encoding="utf-8")
        assert run("build")[0] == 0
        _, out, _ = run("ask", text.split("。")[0].split(".")[0], "-n", "1")
        assert f"\n   {text}\n" in out


def test_a_reviewed_answer_is_given_whole_and_named_one(run: Run) -> None:
    _, out, _ = run("ask", "money back", "-n", "1")
    assert out.startswith(
        "1. Money > Do I get my money back? (reviewed answer)\n"
        "   Yes. A refund takes a week.\n   faq/money.html#do-i-get-my-money-back"
    )


def test_explain_shows_both_legs_their_ranks_scores_and_the_fusion(run: Run) -> None:
    _, out, _ = run("ask", "Is the kiln hot?", "--explain", "-n", "1")
    lines = [line.strip() for line in out.splitlines()]
    told = next(line for line in lines if line.startswith("chunk "))
    assert "words 1 (" in told
    assert "pages 1 (" in told
    assert "meaning 1 (" in told
    assert "sentences 1 (" in told
    assert 0.1 < float(told.rpartition("in all ")[2]) < 100
    assert any(line.startswith("passage p") for line in lines)
    assert any(line.startswith("words: on, weight 1, ") for line in lines)
    assert any(line.startswith("meaning: on, weight 0.7, 4 chunks") for line in lines)
    assert any(line.startswith("terms: ") and "kiln" in line for line in lines)
    assert "vectors: topical-1, 4 numbers each" in lines
    assert lines[-1].startswith("corpus: 4 chunks, ")
    assert lines[-1].endswith("(an estimate), given to a model whole")


@pytest.mark.parametrize("flags", [["--json"], ["--format", "json"]])
def test_json_is_as_its_schema_says(run: Run, flags: list[str]) -> None:
    code, out, _ = run("ask", "money back", *flags)
    report = json.loads(out)
    assert code == 0
    jsonschema.validate(report, SCHEMA, cls=jsonschema.Draft202012Validator)
    assert report["question"] == "money back"
    assert report["build_id"] == json.loads(Path("dist/build.json").read_text())["build_id"]
    assert [leg["off"] for leg in report["legs"]] == [None, None]
    best = report["answers"][0]
    assert (best["doc"], best["faq"]) == ("faq/money", True)
    assert [one["quote"] for one in best["passages"]] == ["Yes.", "A refund takes a week."]
    entries = json.loads(Path("dist/allowlist.json").read_text())["entries"]
    for answer in report["answers"]:
        for passage in answer["passages"]:
            assert entries[passage["id"]]["href"] == passage["href"]


def test_nothing_found_is_said_and_no_success(run: Run) -> None:
    configure('embedder = "none"')
    assert run("build")[0] == 0
    code, out, _ = run("ask", "xylophone")
    assert code == 1
    assert out.startswith("Nothing was found.\n")
    assert "note: meaning is off: this build has no vectors\n" in out
    assert "note: words found nothing\n" in out
    code, out, _ = run("ask", "xylophone", "--json")
    assert code == 1
    jsonschema.validate(json.loads(out), SCHEMA)
    assert json.loads(out)["answers"] == []


def test_quiet_leaves_the_notes_out(run: Run) -> None:
    configure('embedder = "none"')
    assert run("build")[0] == 0
    assert "note: meaning is off" in run("ask", "kiln")[1]
    assert "note:" not in run("ask", "kiln", "-q")[1]


# what the embedder does when it is asked for, what the note says
GONE = {
    "not installed": (EmbedderDown("it isn't installed"), "meaning is off: it isn't installed"),
    "of another kind": (
        Topical("topical-2"),
        "meaning is off: the vectors of this build were made by",
    ),
    "out of reach": (Topical(down="no route to host"), "meaning is off: no route to host"),
}


@pytest.mark.parametrize("name", GONE)
def test_prevents_a_silent_search_by_words_alone(
    run: Run, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    gone, note = GONE[name]

    def open_it(*_: object) -> Embedder:
        if isinstance(gone, Exception):
            raise gone
        return gone

    monkeypatch.setattr(knowledge, "opened", open_it)
    code, out, _ = run("ask", "kiln")
    assert code == 0
    assert f"note: {note}" in out
    assert out.startswith("1. Kiln\n")


def test_an_endpoint_that_no_configuration_names_is_off(run: Run) -> None:
    configure('embedder = "endpoint"\nbase_url = "http://localhost:9/v1"\nmodel = "m"')
    assert run("build")[0] == 0
    note = "note: meaning is off: an endpoint made the vectors, and no configuration here names"
    assert note in run("ask", "kiln")[1]
    shutil.copy("corpus/exactquote.toml", "exactquote.toml")
    assert "note:" not in run("ask", "kiln")[1]


def test_an_endpoint_that_is_down_fails_the_build_and_changes_nothing(run: Run) -> None:
    before = {path: path.read_bytes() for path in Path("dist").rglob("*") if path.is_file()}
    endpoint = 'embedder = "endpoint"\nbase_url = "http://localhost:9/v1"\nmodel = "m"'
    configure(f'{endpoint}\nkey_env = "DOWN"')
    # What was embedded before needs no endpoint.
    assert run("build", "-o", "other")[0] == 0
    code, _, err = run("build", "--no-cache")
    assert code == 2
    assert "the knowledge base can't be made: no route to host" in err
    after = {path: path.read_bytes() for path in Path("dist").rglob("*") if path.is_file()}
    assert after == before
    assert run("check")[0] == 0


def nothing(_: Path) -> None:
    """The folder is as it was built."""


def drop(name: str) -> Callable[[Path], None]:
    return lambda dist: (dist / name).unlink()


def older(dist: Path) -> None:
    listed = json.loads((dist / "build.json").read_text())
    listed["files"] = {k: v for k, v in listed["files"].items() if not k.startswith("knowledge/")}
    (dist / "build.json").write_text(json.dumps(listed))


def from_another_build(dist: Path) -> None:
    shutil.copytree(dist, "kept")
    Path("corpus/more.md").write_text("# More\n\nThere is more.\n")
    assert cli.main(["build", "-q"]) == 0
    shutil.copy(Path("kept") / CHUNKS_PATH, dist / CHUNKS_PATH)


# arguments, what is done to the build, what is said
REFUSED: dict[str, tuple[list[str], Callable[[Path], None], str]] = {
    "no folder": (["--dist", "public"], nothing, "there is no folder public; run `exactquote bu"),
    "no build": (["--dist", "corpus"], nothing, "corpus has no build.json, so it is no build"),
    "a file for a folder": (["--dist", "dist/index.html"], nothing, "there is no folder"),
    "a manifest of no one": (
        [],
        lambda dist: (dist / "build.json").write_text("[1]") and None,
        "dist/build.json is not one of ours",
    ),
    "a build without a knowledge base": ([], older, "dist has no knowledge base; build it again"),
    "a part that is missing": ([], drop(CHUNKS_PATH), "chunks.json can't be read: No such file"),
    "a part of another build": ([], from_another_build, "is not the file that build.json names"),
    "an allowlist that is missing": ([], drop("allowlist.json"), "allowlist.json can't be read"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_can_not_be_asked_is_refused(run: Run, name: str) -> None:
    args, change, message = REFUSED[name]
    change(Path("dist"))
    code, out, err = run("ask", "kiln", *args)
    assert (code, out) == (2, "")
    assert message in err
    assert "bug" not in err


@pytest.mark.parametrize("question", ["", "  ", "\n"])
def test_an_empty_question_is_refused(run: Run, question: str) -> None:
    code, out, err = run("ask", question)
    assert (code, out, err) == (2, "", "exactquote: the question is empty\n")


@pytest.mark.parametrize("question", ["?!", "🏺", "\udcff"])
def test_a_question_without_a_word_is_refused(run: Run, question: str) -> None:
    code, out, err = run("ask", question)
    assert (code, out, err) == (2, "", "exactquote: the question has no word\n")


def test_a_question_as_long_as_a_page_is_refused(run: Run) -> None:
    code, out, err = run("ask", "kiln " * 801)
    assert (code, out) == (2, "")
    assert err == "exactquote: the question is longer than 4,000 characters\n"


ODD = ["\x1b[31mkiln", "kiln\x00", "ß" * 4000, "a\nb", "%s {} \\", "-- kiln"]


@pytest.mark.parametrize("question", ODD)
def test_prevents_a_question_that_breaks_the_search_or_the_terminal(
    run: Run, question: str
) -> None:
    for flags in ([], ["--explain"], ["--json"]):
        code, out, err = run("ask", *flags, "--", question)
        assert code in (0, 1), err
        assert "\x1b" not in out
        assert err == ""


def test_a_second_build_embeds_what_was_edited_and_nothing_else(run: Run) -> None:
    assert (
        "16 vectors, of chunks, sentences and words: 0 embedded, 16 from the cache.\n"
        in run("build")[1]
    )
    page = Path("corpus/kiln.md")
    page.write_text(page.read_text() + "\nIt was built in May.\n", encoding="utf-8")
    assert ": 2 embedded, 15 from the cache.\n" in run("build")[1]
    edited = {path: path.read_bytes() for path in Path("dist").rglob("*") if path.is_file()}
    assert ": 17 embedded, 0 from the cache.\n" in run("build", "--no-cache")[1]
    again = {path: path.read_bytes() for path in Path("dist").rglob("*") if path.is_file()}
    assert again == edited
    page.unlink()
    Path("corpus/index.md").write_text("# Studio\n\n[Key](cite:door 'The key hangs').\n")
    # Two chunks have "key" now, which makes it a word with a vector of its own.
    told = run("build")[1]
    assert "12 vectors, of chunks, sentences and words: 3 embedded, 9 from the cache.\n" in told
    assert "kiln" not in run("ask", "kiln", "-n", "9")[1].lower()


def test_words_alone_are_said_to_be_so(run: Run) -> None:
    configure('embedder = "none"')
    _, out, _ = run("build")
    assert out.endswith("The knowledge base has words alone, as no embedder is configured.\n")
    assert "knowledge base" not in run("build", "-q")[1]


def test_a_machine_without_a_folder_for_caches_can_build(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    code, out, _ = run("build")
    assert code == 0
    assert "16 embedded, 0 from the cache.\nnote: no vector is kept: vectors can't be" in out
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    assert "note: no vector is kept: there is no folder for caches\n" in run("build")[1]
    code, _, err = run("build", "--cache", str(tmp_path / "file"))
    assert code == 2
    assert "vectors can't be kept in" in err
    assert run("build", "--cache", "kept", "--no-cache")[0] == 2


def test_the_question_may_come_from_a_site_elsewhere(run: Run, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    shutil.move("dist", "far/public")
    os.chdir(tmp_path / "far")
    code, out, _ = run("ask", "kiln", "--dist", "public")
    assert code == 0
    assert "kiln.html" in out


def test_the_header_names_the_embedder(run: Run) -> None:
    header = json.loads((Path("dist") / HEADER_PATH).read_text())
    assert header["embedder"] == {
        "kind": "multilingual",
        "model": "",
        "id": "topical-1",
        "dimension": 4,
    }


PAGES = {
    "index.md": "# Studio\n\nWelcome to the studio. The kiln is in the yard.\n",
    "kiln.md": "# Kiln\n\nIt is fired on Fridays. Nobody opens it before Saturday.\n",
    "money.md": "# Money\n\nA refund takes a week. Cards are taken, too.\n",
}


def test_the_embedder_of_the_package_embeds_what_was_edited_with_the_network_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    Path("corpus").mkdir()
    for path, text in PAGES.items():
        (Path("corpus") / path).write_text(text, encoding="utf-8")
    Path("corpus/exactquote.toml").write_text("allow_empty = true\n[chat]\nenabled = false\n")

    def told(*args: str) -> str:
        capfdbinary.readouterr()
        code = cli.main(args)
        out, err = capfdbinary.readouterr()
        assert code == 0, err.decode()
        return out.decode()

    # Three chunks; three headings and six sentences; and "kiln", which two chunks have.
    assert "13 vectors, of chunks, sentences and words: 13 embedded, 0 from" in told("build")
    page = Path("corpus/kiln.md")
    page.write_text(page.read_text().replace("Fridays", "Mondays"), encoding="utf-8")
    assert ": 2 embedded, 11 from the cache.\n" in told("build")
    # No word in common, and another language.
    report = json.loads(told("ask", "Bekomme ich mein Geld zurück?", "--json"))
    assert [leg["off"] for leg in report["legs"]] == [None, None]
    best = report["answers"][0]
    assert best["passages"][0]["quote"] == "A refund takes a week."
    assert best["chunk"]["words"] is None
    assert best["chunk"]["sentences"]["rank"] == 1
