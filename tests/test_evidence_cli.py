"""`exactquote evidence`: which passages of a built site support a claim, and how it says so."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from numpy.typing import NDArray

from exactquote import cli
from exactquote_site.knowledge import likeness
from exactquote_site.knowledge.embedders import EmbedderUnfit
from exactquote_site.knowledge.stored import CHUNKS_PATH, HEADER_PATH

ROOT = Path(__file__).parents[1]
SCHEMA = json.loads((ROOT / "compiler/exactquote/schemas/evidence.schema.json").read_text())
Run = Callable[..., tuple[int, str, str]]
LIMIT = "remains for a person to judge"
FILES = {
    "index.md": (
        "# Workshop\n\nNobody works alone at the kiln.\n\n"
        '[Come on Friday](cite:kiln "The kiln is fired on Fridays.").\n'
    ),
    "kiln.md": (
        "# Kiln\n\n## Firing\n\nThe kiln is fired on Fridays. It holds at most 35 pots.\n\n"
        "```\nkiln = fired\ndays = Mondays\n```\n"
    ),
    "ofen.md": (
        "---\nlanguage: de\n---\n\n# Brennofen\n\nDer Ofen wird nicht am Montag geöffnet.\n"
    ),
    "exactquote.toml": '[knowledge]\nembedder = "none"\n',
}


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Run:
    """Runs a command in this process, in a folder with a built site, with no network."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(socket, "socket", refuse)
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


def test_support_is_shown_with_quote_source_link_words_and_the_limit(run: Run) -> None:
    code, out, err = run("evidence", "On Fridays the kiln is fired.")
    assert (code, err) == (0, "")
    assert out.startswith(
        "Supported by 1 passage.\n\n1. Kiln > Firing\n   The kiln is fired on Fridays.\n"
        "   kiln.html#"
    )
    assert "   found: Fridays, kiln, fired\n" in out
    assert LIMIT in " ".join(out.split())
    assert LIMIT not in " ".join(run("evidence", "The kiln is fired on Fridays.", "-q")[1].split())


def test_none_is_said_plainly_with_the_nearest_and_what_differs(run: Run) -> None:
    code, out, err = run("evidence", "The kiln holds at most 30 pots.")
    assert (code, err) == (1, "")
    assert out.startswith("Not supported. No passage says this; the nearest are:\n")
    assert "   It holds at most 35 pots.\n" in out
    assert "   missing: at most 30\n" in out or "   missing: 30\n" in out
    assert "   differs: figure 30 differs: the passage says 35\n" in out
    assert LIMIT in " ".join(out.split())
    code, out, _ = run("evidence", "Xylophones tune quarks.")
    assert code == 1
    assert out.startswith("Not supported. No passage is near.\n")


@pytest.mark.parametrize(
    ("claim", "supported"),
    [
        ("The kiln holds up to 35 pots.", True),
        ("Der Ofen wird am Montag nicht geöffnet.", True),
        ("Der Ofen wird am Montag geöffnet.", False),
        ("Somebody works alone at the kiln.", False),
        ("The kiln is fired on Mondays.", False),
    ],
)
@pytest.mark.parametrize("flags", [["--json"], ["--format", "json"]])
def test_json_is_as_its_schema_says(
    run: Run, claim: str, supported: bool, flags: list[str]
) -> None:
    code, out, err = run("evidence", claim, *flags)
    report = json.loads(out)
    jsonschema.validate(report, SCHEMA, cls=jsonschema.Draft202012Validator)
    assert (code, err, report["supported"]) == (0 if supported else 1, "", supported)
    assert report["claim"] == claim
    assert report["build_id"] == json.loads(Path("dist/build.json").read_text())["build_id"]
    assert LIMIT in report["limit"]
    entries = json.loads(Path("dist/allowlist.json").read_text())["entries"]
    assert bool(report["supporting"]) is supported
    for passage in (*report["supporting"], *report["nearest"]):
        entry = entries[passage["id"]]
        assert (passage["href"], passage["quote"]) == (entry["href"], entry["quote"])


def test_the_schema_refuses_support_with_something_missing(run: Run) -> None:
    report = json.loads(run("evidence", "The kiln is fired on Fridays.", "--json")[1])
    report["supporting"][0]["missing"] = ["pots"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(report, SCHEMA, cls=jsonschema.Draft202012Validator)


@pytest.mark.parametrize(
    "claim", ["", " ", "\u200b", "\u2060\n", "it is", "?", "kiln", "kiln fired " * 200]
)
def test_what_is_no_claim_is_wrong_use(run: Run, claim: str) -> None:
    code, out, err = run("evidence", claim)
    assert (code, out) == (2, "")
    assert "claim" in err
    assert "Traceback" not in err


def test_prevents_a_traceback_where_the_encoder_is_down(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Unfit:
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            raise EmbedderUnfit(f"no vectors of {texts[0]}")

    monkeypatch.setattr(likeness, "_embedder", Unfit)
    monkeypatch.setattr(likeness, "_vectors", {})
    code, out, err = run("evidence", "The oven is fired on Fridays.")
    assert (code, out) == (2, "")
    assert "no vectors of" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("missing", [HEADER_PATH, CHUNKS_PATH, "allowlist.json", "build.json"])
def test_prevents_an_answer_from_half_a_build(run: Run, missing: str) -> None:
    (Path("dist") / missing).unlink()
    code, out, err = run("evidence", "The kiln is fired on Fridays.")
    assert (code, out) == (2, "")
    assert "Traceback" not in err


def test_there_is_no_answer_without_a_build(run: Run) -> None:
    code, out, err = run("evidence", "The kiln is fired on Fridays.", "--dist", "public")
    assert (code, out) == (2, "")
    assert "there is no folder public" in err


@pytest.mark.parametrize("language", ["german", "d", "de_DE", "de-"])
def test_a_language_that_is_no_tag_is_refused(run: Run, language: str) -> None:
    code, out, err = run("evidence", "The kiln is fired.", "--language", language)
    assert (code, out) == (2, "")
    assert err == f"exactquote: {language!r} is no language tag, as en, de or pt-BR are\n"
