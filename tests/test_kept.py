"""What an owner does with what the chat has kept: gaps, forgetting, and checking a receipt."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from exactquote import cli
from exactquote_site.serve.app import create_app
from exactquote_site.serve.store.database import open_database
from exactquote_site.serve.store.exchanges import DAY_SECONDS, Exchange, Exchanges
from exactquote_site.serve.store.outbox import Outbox

CONFIG = """
[knowledge]
embedder = "none"

[chat]
languages = ["en", "de"]

[[chat.refusals]]
version = 1
digest = "a673313e0e09068b"
texts.en = "No page says so."

[[chat.refusals]]
version = 2
digest = "DIGEST"
texts.en = "No page here says so."
texts.de = "Das steht auf keiner Seite."
"""
PAGE = """# Kiln

The kiln is fired on Fridays only. Glaze dries for two days.

[Then](cite:kiln "The kiln is fired on Fridays only.") it cools.
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from exactquote.refusals import digest

    root = tmp_path_factory.mktemp("kept")
    texts = {"en": "No page here says so.", "de": "Das steht auf keiner Seite."}
    (root / "docs").mkdir()
    (root / "docs/kiln.md").write_text(PAGE)
    (root / "docs/exactquote.toml").write_text(CONFIG.replace("DIGEST", digest(texts)))
    command = ["build", str(root / "docs"), "-o", str(root / "dist"), "-q"]
    assert cli.main(command) == 0
    return root / "dist"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    url = f"sqlite:///{tmp_path / 'kept.db'}"
    monkeypatch.setenv("EXACTQUOTE_STORE_URL", url)
    return url


def kept(url: str, *rows: tuple[str, str | None, str, float]) -> None:
    """Exchanges as (question, answer, found, days ago)."""
    database = open_database(url)
    for number, (question, answer, found, days) in enumerate(rows):
        Exchanges(database).keep(
            Exchange(
                id=f"{number:032x}",
                at=time.time() - days * DAY_SECONDS,
                session=f"session-{number:010}",
                build_id="b1",
                language="en",
                kind="answer",
                outcome="unanswered" if answer else "answered",
                question=question,
                answer=answer,
                found=tuple(found.split()),
            )
        )
    database.close()


def run(capsys: pytest.CaptureFixture[str], *args: str | Path) -> tuple[int, str, str]:
    capsys.readouterr()
    code = cli.main([str(arg) for arg in args])
    said = capsys.readouterr()
    return code, said.out, said.err


ROWS = (
    ("Do you ship?", "I looked. No page here says so.", "kiln faq", 1.0),
    ("do you  ship", "No page here says so.", "kiln", 0.5),
    ("Versendet ihr?", "Das steht auf keiner Seite.", "", 3.0),
    ("An old one?", "No page says so.", "kiln", 40.0),
    ("One before any sentence of ours?", "These pages don't answer that.", "", 50.0),
    ("Does it say this?", "No page here says so. It does.", "kiln", 1.0),
    ("When?", None, "kiln", 1.0),
)


def test_gaps_are_found_by_every_sentence_that_was_ever_in_force(
    built: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kept(store, *ROWS)
    code, out, err = run(capsys, "gaps", "--dist", built, "--json")
    assert (code, err) == (1, "")
    told = json.loads(out)
    assert [(gap["times"], gap["question"], gap["found"]) for gap in told["gaps"]] == [
        (2, "do you  ship", ["kiln"]),
        (1, "Versendet ihr?", []),
        (1, "An old one?", ["kiln"]),
        (1, "One before any sentence of ours?", []),
    ]
    assert told["asked"] == len(ROWS)
    assert told["build_id"] == json.loads((built / "build.json").read_text())["build_id"]


def test_gaps_are_told_with_what_was_found(
    built: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kept(store, *ROWS)
    code, out, _ = run(capsys, "gaps", "--dist", built, "--days", "7")
    assert code == 1
    assert "2x do you  ship" in out
    assert "found: kiln\n" in out
    assert "found: nothing; a page may be missing" in out
    assert out.endswith("2 gaps in 5 questions.\n")
    assert "An old one" not in out


def test_a_store_without_gaps_is_clean(
    built: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kept(store, ROWS[-1])
    assert run(capsys, "gaps", "--dist", built) == (0, "0 gaps in 1 question.\n", "")


def test_prevents_a_question_from_writing_to_the_terminal(
    built: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kept(store, ("\x1b[2J\u202ehi", "No page here says so.", "a\x1b[1m", 1.0))
    out = run(capsys, "gaps", "--dist", built)[1]
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_the_commands_find_the_store_that_the_function_uses(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("EXACTQUOTE_STORE_URL", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code, _, err = run(capsys, "gaps", "--dist", built)
    assert code == 2
    assert "nothing was asked yet" in err
    assert not list(tmp_path.iterdir())
    with TestClient(create_app(built / "functions", {})) as client:
        asked = client.post(
            "/api/chat", json={"question": "Wird hier Zement verkauft, und was kostet er?"}
        )
    assert asked.json()["outcome"] == "unanswered"
    code, out, _ = run(capsys, "gaps", "--dist", built)
    assert code == 1
    assert "1x Wird hier Zement verkauft" in out
    assert run(capsys, "forget", "--dist", built, "--all", "--yes")[1] == "Forgot 1 question.\n"
    assert run(capsys, "gaps", "--dist", built)[0] == 0


# what is asked to be forgotten, which questions are left
FORGOTTEN = [
    (("--session", "session-0000000002"), 1, {0, 1, 3, 4, 5, 6}),
    (("--session", "another"), 0, {0, 1, 2, 3, 4, 5, 6}),
    (("--before", "30"), 2, {0, 1, 2, 5, 6}),
    (("--before", "0"), 7, set()),
    (("--all", "--yes"), 7, set()),
]


@pytest.mark.parametrize(("wish", "gone", "left"), FORGOTTEN)
def test_what_is_to_be_forgotten_is_gone_and_nothing_else(
    built: Path,
    store: str,
    capsys: pytest.CaptureFixture[str],
    wish: tuple[str, ...],
    gone: int,
    left: set[int],
) -> None:
    kept(store, *ROWS)
    code, out, err = run(capsys, "forget", "--dist", built, "--json", *wish)
    assert (code, json.loads(out), err) == (0, {"version": 1, "forgotten": gone}, "")
    database = open_database(store)
    assert {int(one.id, 16) for one in Exchanges(database).kept()} == left
    database.close()


def test_mail_that_has_to_be_sent_is_forgotten_with_all_and_not_with_what_is_old(
    built: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    database = open_database(store)
    Outbox(database).put("session-0000000001", "Call me.", time.time() - 9 * DAY_SECONDS)
    for wish, waiting in ((("--before", "1"), 1), (("--all", "--yes"), 0)):
        assert run(capsys, "forget", "--dist", built, *wish)[0] == 0
        assert Outbox(database).counts()["waiting"] == waiting
    database.close()


def test_all_is_forgotten_only_when_that_is_confirmed(built: Path, store: str) -> None:
    kept(store, *ROWS)
    for answer, left in (("n\n", 7), ("", 7), ("y\n", 0)):
        command = ["forget", "--dist", str(built), "--all"]
        CliRunner().invoke(cli.exactquote, command, input=answer, standalone_mode=False)
        database = open_database(store)
        assert len(Exchanges(database).kept()) == left
        database.close()


# the command, what it says on standard error
REFUSED = [
    (("forget",), "one of --session, --before and --all"),
    (("forget", "--all", "--before", "3"), "one of --session, --before and --all"),
    (("forget", "--before", "-1"), "--before"),
    (("gaps", "--days", "0"), "--days"),
    (("gaps", "--store", "mysql://h/n"), "a store is sqlite:///PATH or postgresql://HOST/NAME"),
    (
        ("gaps", "--store", "sqlite:////nowhere/at/all.db"),
        "there is no store at /nowhere/at/all.db",
    ),
    (("gaps", "--dist", "absent"), "absent: no such folder"),
    (("gaps", "--dist", "."), ". has no chat function; build it with chat.enabled = true"),
    (("replay", "absent.json"), "absent.json can't be read"),
    (("replay", "."), ". can't be read"),
]


@pytest.mark.parametrize(("args", "message"), REFUSED)
def test_wrong_use_is_refused(
    tmp_path: Path,
    built: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    args: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    dist = () if "--dist" in args else ("--dist", str(built))
    code, out, err = run(capsys, *args, *dist)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def answered(built: Path) -> dict[str, object]:
    app = create_app(
        built / "functions", {"EXACTQUOTE_STORE_URL": f"sqlite:///{built.parent / 'q.db'}"}
    )
    with TestClient(app) as client:
        answer = client.post("/api/chat", json={"question": " When is the kiln fired? "}).json()
    assert answer["outcome"] == "passages"
    return dict(answer)


def test_a_receipt_is_verified_against_the_build_that_gave_it(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = answered(built)
    for value in (answer, answer["receipt"]):
        file = tmp_path / "receipt.json"
        file.write_text(json.dumps(value))
        code, out, err = run(capsys, "replay", file, "--dist", built)
        assert (code, err) == (0, "")
        assert "The kiln is fired on Fridays only." in out
        assert "kiln.html#:~:text=" in out
        assert out.endswith(f"Verified against build {answer['build_id']}.\n")
        code, out, _ = run(
            capsys,
            "replay",
            file,
            "--dist",
            built,
            "--question",
            "When is the kiln fired?",
            "--json",
        )
        assert (code, json.loads(out)["verified"]) == (0, True)
        code, out, _ = run(capsys, "replay", file, "--dist", built, "--question", "When?", "--json")
        assert (code, json.loads(out)["faults"]) == (1, ["the question was another one"])


def test_a_receipt_of_words_that_changed_is_not_verified(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    receipt = answered(built)["receipt"]
    assert isinstance(receipt, dict)
    receipt["passages"][0]["sha256"] = "0" * 64
    receipt["passages"].append({"id": "pgone", "sha256": "0" * 64})
    receipt["build_id"] = "\x1b[1mother"
    (tmp_path / "r.json").write_text(json.dumps(receipt))
    code, out, _ = run(capsys, "replay", tmp_path / "r.json", "--dist", built)
    assert code == 1
    assert "reads otherwise in build" in out
    assert "pgone: isn't in the allowlist of build" in out
    assert "note: it was given by build" in out
    assert "\x1b" not in out
    assert out.endswith("Not verified.\n")


@pytest.mark.parametrize("outcome", ["answered", "passages", "unanswered", "declined"])
def test_prevents_an_answer_that_stands_on_nothing_from_being_verified(
    outcome: str, built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    receipt = answered(built)["receipt"]
    assert isinstance(receipt, dict)
    (tmp_path / "r.json").write_text(json.dumps(receipt | {"passages": [], "outcome": outcome}))
    code, out, _ = run(capsys, "replay", tmp_path / "r.json", "--dist", built)
    stands = outcome in ("answered", "passages")
    assert code == stands
    assert ("Not verified." in out) == stands
    assert (f"the outcome is '{outcome}', and yet no passage is named" in out) == stands


@pytest.mark.parametrize(
    "change",
    [
        {"outcome": "certain"},
        {"kind": "prophecy"},
        {"answer": "x"},
        {"text_sha256": "0"},
        {"question_sha256": "0" * 64 + "\n"},
        {"passages": [{"id": "p", "sha256": "x"}]},
        {"passages": None},
    ],
)
def test_prevents_a_receipt_that_nothing_of_ours_gave(
    change: dict[str, object], built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    receipt = answered(built)["receipt"]
    assert isinstance(receipt, dict)
    (tmp_path / "r.json").write_text(json.dumps(receipt | change))
    code, out, err = run(capsys, "replay", tmp_path / "r.json", "--dist", built)
    assert (code, out) == (2, "")
    assert "r.json is no receipt" in err


@pytest.mark.parametrize(
    ("column", "value"),
    [("found", "no list"), ("at", 1e300), ("answer", b"\xff"), ("lost", "[3]")],
)
def test_prevents_a_damaged_store_from_passing_for_a_bug(
    column: str,
    value: object,
    built: Path,
    store: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kept(store, *ROWS)
    database = open_database(store)
    with database.transaction() as transaction:
        transaction.execute(f"UPDATE exchange SET {column} = ? WHERE id LIKE '%3'", (value,))
    database.close()
    code, out, err = run(capsys, "gaps", "--dist", built)
    assert (code, out) == (2, "")
    assert err == f"exactquote: the store failed: the table exchange is damaged, in {column}\n"


def test_a_store_whose_variable_holds_no_url_is_wrong_use(
    built: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EXACTQUOTE_STORE_URL", "sqlite:///zanzibar\x1b")
    code, out, err = run(capsys, "gaps", "--dist", built)
    assert (code, out, err) == (
        2,
        "",
        "exactquote: $EXACTQUOTE_STORE_URL holds control characters\n",
    )


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b"\xff", b"[" * 100_000, b'{"receipt": {"version": 2}}', b"1e999"],
)
def test_what_is_no_receipt_is_refused(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    (tmp_path / "r.json").write_bytes(content)
    code, out, err = run(capsys, "replay", tmp_path / "r.json", "--dist", built)
    assert (code, out) == (2, "")
    assert "r.json is no receipt" in err
