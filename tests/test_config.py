"""What a configuration may say, where it is looked for, and how its mistakes are told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from exactquote.codes import CODES
from exactquote.config import ConfigError, config_schema, load_config
from exactquote.emit.functions import chat_json
from exactquote.settings import DeclinedSettings, RefusalLine, Settings

SCHEMA = Path(__file__).parents[1] / "compiler/exactquote/schemas/config.schema.json"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a corpus, in which the run stands."""
    (tmp_path / "repo/.git").mkdir(parents=True)
    (tmp_path / "repo/docs/inner").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "repo")
    return tmp_path / "repo"


REFUSAL = "[[chat.refusals]]\n{}\ntexts.en = '{}'\n\n"

FAULTS = [
    # text, line, what the message says
    ("titel = 'x'\n", 1, "unknown key titel; did you mean title?"),
    ("\n\n[mdx]\nunknwon = 'drop'\n", 4, "unknown key mdx.unknwon; did you mean unknown?"),
    ("[limit]\nnesting_max = 3\n", 1, "unknown key limit; did you mean limits?"),
    ("[severity]\ntitle = 'x'\n", 2, "unknown key severity.title; title stands before the first"),
    ("[limits]\nbase_url = 'x'\n", 2, "limits.base_url; base_url stands before the first [table]"),
    ("zzzz = 1\n", 1, "unknown key zzzz; known are allow_empty"),
    ("title = 3\n", 1, "title is a whole number; it must be a string"),
    ("allow_empty = 'yes'\n", 1, 'allow_empty is "yes"; it must be true or false'),
    ("allow_empty = 1\n", 1, "allow_empty is a whole number; it must be true or false"),
    ("publish = 'a'\n", 1, 'publish is "a"; it must be an array of strings'),
    ("publish = ['a', 1]\n", 1, "publish is an array; it must be an array of strings"),
    ("title = 2020-01-01\n", 1, "title is a date or time; it must be a string"),
    ("[limits]\n\nfile_bytes_max = 1.5\n", 3, "limits.file_bytes_max is a number"),
    ("[limits]\nnesting_max = true\n", 2, "limits.nesting_max is true; it must be a whole"),
    ("limits.nesting_max = 'x'\n", 1, 'limits.nesting_max is "x"'),
    ("limits = 3\n", 1, "limits is a whole number; it must be a table"),
    ("[limits]\nnesting_max = 0\n", 2, "limits.nesting_max is 0; it must be at least 1"),
    ("[limits]\npassage_chars_min = -1\n", 2, "limits.passage_chars_min is -1"),
    (
        "[limits]\npassage_chars_max = 3\npassage_chars_min = 9\n",
        3,
        "limits.passage_chars_min is 9, more than passage_chars_max, 3",
    ),
    ("[mdx]\nunknown = 'eror'\n", 2, 'mdx.unknown is "eror"; it must be "error" or "transparent"'),
    ("[mdx.components]\nNote = 1\n", 2, "mdx.components.Note is a whole number"),
    ("[severity]\nEQ004 = 'off'\n", 2, "EQ004 (repeated) is part of the promise"),
    ("[severity]\nEQ002 = 'warning'\n", 2, "EQ002 (absent) is part of the promise"),
    ("[severity]\nEQ019 = 'fatal'\n", 2, 'severity.EQ019 is "fatal"'),
    ("[severity]\nEQ999 = 'off'\n", 2, "there is no code 'EQ999'; codes run from EQ001 to EQ0"),
    ("[severity]\nrepeated = 'off'\n", 2, "did you mean EQ004?"),
    ("[severity]\neq019 = 'off'\n", 2, "did you mean EQ019?"),
    ("severity = {EQ001 = 'off'}\n", 1, "EQ001 (unknown-document)"),
    ("base_url = 'example.org'\n", 1, "base_url must be like https://example.org"),
    ("base_url = 'javascript:alert(1)'\n", 1, "must be like https://"),
    ("base_url = 'https://[x'\n", 1, "must be like https://"),
    ("base_url = 'https://example.org:99999'\n", 1, "must be like https://"),
    ("base_url = 'https://example.org:0/'\n", 1, "must be like https://"),
    ("base_url = 'https://a..b/'\n", 1, "must be like https://"),
    ("base_url = 'https://[::1]x/'\n", 1, "must be like https://"),
    ("exclude = ['']\n", 1, "exclude has an empty entry"),
    ("[knowledge]\nembedder = 'bert'\n", 2, 'knowledge.embedder is "bert"; it must be'),
    ("[knowledge]\nwords_weight = 'x'\n", 2, 'knowledge.words_weight is "x"; it must be a number'),
    ("[knowledge]\nwords_weight = -1\n", 2, "knowledge.words_weight is -1.0; it must be 0 to"),
    ("[knowledge]\nmeaning_weight = nan\n", 2, "knowledge.meaning_weight is nan"),
    ("[knowledge]\nmeaning_weight = inf\n", 2, "knowledge.meaning_weight is inf"),
    ("[knowledge]\nmeaning_weight = 0\nwords_weight = 0\n", 3, "both 0, which finds nothing"),
    ("[knowledge]\nchunk_chars = 99\n", 2, "knowledge.chunk_chars is 99; it must be 100 to"),
    ("[knowledge]\nfaq_days_max = 0\n", 2, "knowledge.faq_days_max is 0; it must be 1 to"),
    # The reader of the header takes no number beyond 2**53.
    ("[knowledge]\nwords_weight = 1e300\n", 2, "knowledge.words_weight is 1e+300"),
    ("[knowledge]\nembedder = 'none'\nwords_weight = 0\n", 3, "together they find nothing"),
    ("[knowledge]\nembedder = 'none'\npostgres_env = 'P'\n", 3, "is for vectors, and embedder"),
    ("[knowledge]\nwhole_notes_tokens_max = -1\n", 2, "whole_notes_tokens_max is -1"),
    ("[knowledge]\nfaq = ['']\n", 2, "knowledge.faq has an empty entry"),
    ("[knowledge]\nmodel = 'bge-m3'\n", 2, 'knowledge.model is for embedder = "endpoint"'),
    (
        "[knowledge]\nembedder = 'endpoint'\nmodel = 'bge-m3'\nbase_url = 'localhost'\n",
        4,
        "knowledge.base_url must be like https://",
    ),
    (
        "[knowledge]\nembedder = 'endpoint'\nbase_url = 'http://localhost:1/v1'\n",
        1,
        "knowledge.model is empty",
    ),
    ("[knowledge]\nembedder = 'endpoint'\nmodel = 'm'\n", 1, "knowledge.base_url is empty"),
    (
        "[knowledge]\nembedder = 'endpoint'\nbase_url = 'http://localhost:1/v1'\nmodel = ' '\n",
        4,
        "the endpoint wants its name",
    ),
    ("[chat]\nenabled = 'no'\n", 2, 'chat.enabled is "no"; it must be true or false'),
    ("[chat]\nbudget_usd_per_day = 0\n", 2, "chat.budget_usd_per_day is 0.0; it must be 0.01 to"),
    ("[chat]\nbudget_usd_per_day = nan\n", 2, "chat.budget_usd_per_day is nan"),
    ("[chat]\ntrusted_hops = -1\n", 2, "chat.trusted_hops is -1; it must be 0 to 20"),
    ("[chat]\nmode = 'poem'\n", 2, 'chat.mode is "poem"; it must be "answer" or "quotes"'),
    ("[chat]\nlanguages = ['en', 'German']\n", 2, "chat.languages has 'German'"),
    ("[chat]\nlanguages = ['en', 'en']\n", 2, "each is named once"),
    ("[chat]\nlanguages = ['fr']\n", 2, "has no text in 'fr'; add texts.fr"),
    ("[chat]\nadmin_token_env = 'hunter2 secret'\n", 2, "the name of an environment variable"),
    ("[chat.provider]\nkey_env = 'sk-abc'\n", 2, "chat.provider.key_env must be the name of"),
    (
        "[chat.provider]\nbase_url = 'example.org'\nmodel = 'm'\n[chat.provider"
        ".prices_usd_per_million]\ninput = 1\noutput = 1\n",
        2,
        "must be like https://",
    ),
    ("[chat.provider]\nbase_url = 'https://example.org/v1'\n", 2, "names none"),
    ("[chat.provider.prices_usd_per_million]\ninput = 1\n", 1, "is for a model"),
    (
        "[chat.provider]\nmodel = 'm'\nprices_usd_per_million = {input = 1}\n",
        3,
        "doesn't tell `output`, and without it no budget can be kept",
    ),
    (
        "[chat.provider]\nmodel = 'm'\n[chat.provider.prices_usd_per_million]\ninput = -1\n"
        "output = 2\n",
        4,
        "prices_usd_per_million.input is -1.0; it must be 0 to",
    ),
    ("[chat.provider.prices_usd_per_million]\ncached = 'x'\n", 2, "it must be a number"),
    (
        "[chat.provider]\nmodel = ' m'\nprices_usd_per_million = {input = 1, output = 1}\n",
        2,
        "must be the name of a model",
    ),
    (
        "[chat]\nbudget_usd_per_day = 0.5\n[chat.provider]\nmodel = 'm'\n"
        "output_tokens_max = 100_000\nprices_usd_per_million = {input = 1, output = 6}\n",
        2,
        "one answer of output_tokens_max may cost 0.60, so none would ever be given",
    ),
    ("[chat]\nadmin_token_env = 'EXACTQUOTE_API_KEY'\n", 2, "for the key of a model already"),
    ("[chat.store]\nurl_env = 'EXACTQUOTE_RATES_URL'\n", 1, "is for a database already"),
    ("[chat.limits]\nquestion_chars = 10_000\n", 1, "a question of question_chars may take 40,500"),
    ("[chat.rates]\nper_minute = -1\n", 2, "chat.rates.per_minute is -1"),
    ("[chat.rates]\nstorage_url = 'file:///x'\n", 2, "must be memory:// or redis://HOST"),
    ("[chat.rates]\nstorage_url = 'redis://:pw@h'\n", 2, "belongs into EXACTQUOTE_RATES_URL where"),
    ("[chat.rates]\nstorage_url = 'redis://'\n", 2, "must be memory:// or redis://HOST"),
    ("[chat.rates]\nstorage_url = 'redis://h:99999'\n", 2, "must be memory:// or redis://HOST"),
    ("[chat.rates]\nstorage_url = 'redis://h/one'\n", 2, "redis://HOST/NUMBER of a database"),
    ("[chat.rates]\nstorage_url = 'redis+sentinel://h'\n", 2, "redis+sentinel://HOST/SERVICE"),
    ("[chat.rates]\nstorage_url = 'redis+unix://h'\n", 2, "must be redis+unix:///PATH"),
    ("[chat.store]\nurl = 'postgresql://u:pw@h/n'\n", 2, "holds a user, a password"),
    ("[chat.store]\nurl = 'postgresql://h/n?sslkey=k'\n", 2, "behind ? only application_name"),
    (
        "[chat.store]\nurl = 'postgresql://h'\n",
        2,
        "must be sqlite:///PATH or postgresql://HOST/NAME",
    ),
    (
        "[chat.store]\nurl = 'postgresql://h:99999/n'\n",
        2,
        "must be sqlite:///PATH or postgresql://",
    ),
    ("[chat.store]\nurl = 'mysql://h/n'\n", 2, "must be sqlite:///PATH or postgresql://"),
    ("[chat.store]\nurl = 'sqlite:///'\n", 2, "must name a file"),
    ("[chat.store]\nurl = 'sqlite:////var/lib/'\n", 2, "must name a file"),
    ("[chat.store]\nurl = 'sqlite:///..'\n", 2, "must name a file"),
    (
        "[chat.store]\nurl = 'sqlite:///:memory:'\n",
        2,
        "names no file; what is kept in memory is lost",
    ),
    ("[chat.store]\nurl = 'sqlite:///file::memory:'\n", 2, "names no file"),
    ("[chat.store]\ndays = 0\n", 2, "chat.store.days is 0; it must be 1 to"),
    ("[chat.limits]\nquestion_chars = 5\n", 2, "chat.limits.question_chars is 5"),
    ("[chat.timeouts]\nidle = 0\n", 2, "chat.timeouts.idle is 0.0; it must be 0.1 to 600"),
    ("[chat.timeouts]\ntotal = 3\nfirst_byte = 4\n", 3, "more than the total, 3"),
    ("[chat.dials]\nhumour = 30\n", 2, "chat.dials.humour is a whole number; it must be 0 or 25"),
    ("[chat.dials]\nhonesty = 90\n", 2, "unknown key chat.dials.honesty"),
    ("[chat]\ndeclined = ['pay']\n", 2, "chat.declined has a string; each entry must be a table"),
    ("[chat]\ndeclined = 'pay'\n", 2, 'chat.declined is "pay"; it must be an array of tables'),
    ("[[chat.declined]]\ntopic = 'pay'\nwords = []\n", 3, "the words of the declined topic"),
    (
        "[[chat.declined]]\ntopic = 'pay'\nwords = ['pay']\n\n[[chat.declined]]\ntopic = 'kin'\n"
        "words = ['wife', '?']\n",
        7,
        "topic 'kin' are empty, or one is",
    ),
    (
        "[[chat.declined]]\nwords = ['a']\n[[chat.declined]]\n\ntopik = 'a'\n",
        5,
        "unknown key chat.declined[2].topik; did you mean topic?",
    ),
    ("[[chat.declined]]\nwords = ['a']\n", 1, "a declined topic has no name"),
    ("[[chat.declined]]\ntopic = 'p\u200ay\u200b'\nwords = ['a']\n", 2, "or one that isn't seen"),
    (f"[[chat.declined]]\ntopic = 'pay'\nwords = ['{'x' * 101}']\n", 3, "longer than 100"),
    ("[chat.texts.en]\nnever = 'x'\n", 2, "there is no fixed text of this name"),
    ("[chat.texts.en]\npaused = '{days}'\n", 2, "between braces nothing may stand, not {days}"),
    ("[chat.texts.en]\nstored = '{days!r}'\n", 2, "between braces {days} may stand"),
    ("[chat.texts.en]\nstored = '{'\n", 2, "its braces can't be read"),
    ("[chat.texts.en]\npaused = '\u200b'\n", 2, "it is empty"),
    ("[chat.texts.en]\npaused = 'Later\u202e.'\n", 2, "it holds U+202E, which nobody sees"),
    ("[chat.texts.fr]\npaused = 'Demain.'\n", 1, "chat.texts has 'fr', and the chat speaks en"),
    ("language = 'de'\n[chat.texts.en]\npaused = 'x'\n", 2, "the chat speaks de; nobody would"),
    ("[chat]\nsuggestions = ['']\n", 2, "has an empty entry; a question is wanted"),
    ("[chat]\nsuggestions = ['Why\u200b?']\n", 2, "has one with U+200B, which nobody sees"),
    (f"[chat]\nsuggestions = ['{'x' * 101}']\n", 2, "has one of 101 characters; 100 is the most"),
    ("[chat]\nsuggestions = ['a', 'b', 'c', 'd', 'e', 'f', 'g']\n", 2, "has 7; 6 is the most"),
    (
        "[chat.leads]\nto = 'me'\nsender = 'a@example.org'\n",
        2,
        "chat.leads.to must be an e-mail address",
    ),
    ("[chat.leads]\nto = 'me@example.org\\nBcc: x@y.org'\nsender = 'a@example.org'\n", 2, "e-mail"),
    ("[chat.leads]\nto = 'me@example.org'\n", 1, "chat.leads.sender must be an e-mail"),
    ("[chat.leads]\nsender = 'me@example.org'\n", 2, "which names nobody"),
    (REFUSAL.format("version = 0", "No."), 2, "the version of a refusal is 0 behind 0"),
    (REFUSAL.format("version = 2", "No.") + REFUSAL.format("version = 2", "Not."), 6, "2 behind 2"),
    (
        REFUSAL.format("version = 1", "No: https://x.org"),
        3,
        "texts.en of a refusal holds ':', which",
    ),
    (
        REFUSAL.format("version = 1", "No [[cite:a]]."),
        3,
        "holds '[', which could be part of a token",
    ),
    (REFUSAL.format("version = 1", "No, see example.com."), 3, "holds '.' where no sentence"),
    (REFUSAL.format("version = 1", "So\u00adrry."), 3, "holds U+00AD, which nobody sees"),
    (REFUSAL.format("version = 1", " No."), 3, "must be one line without spaces at its ends"),
    (REFUSAL.format("version = 1", "..."), 3, "texts.en of a refusal is empty"),
    (REFUSAL.format("version = 1", "No. " * 60 + "No."), 3, "is longer than 200 characters"),
    ("[[chat.refusals]]\nversion = 1\n", 1, "refusal 1 has no texts"),
    ("[chat]\nlanguages = ['de']\n" + REFUSAL.format("version = 1", "No."), 2, "no text in 'de'"),
    ("title = '''\ntitel = 1\n'''\ntitel = 1\n", 4, "unknown key titel"),
    ('language = "deutsch"\n', 1, "must be a language tag such as de or pt-BR"),
    ('language = ""\n', 1, "must be a language tag such as de or pt-BR"),
]


@pytest.mark.parametrize(("text", "line", "message"), FAULTS)
def test_a_mistake_is_told_with_its_line(folder: Path, text: str, line: int, message: str) -> None:
    (folder / "exactquote.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config(folder / "docs", None)
    assert str(caught.value).startswith(f"exactquote.toml:{line}:1: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


SECRET = "hunter2zanzibar"
# Texts in which a secret may be published, for the place of any address.
ADDRESSES = (
    f"https://user:{SECRET}@example.org/v1",
    f"https://{SECRET}@example.org/v1",
    f"https://{SECRET}%40example.org/v1",
    f"https://example.org/v1?key={SECRET}",
    f"https://example.org/v1?{SECRET}",
    f"https://example.org/v1#{SECRET}",
    f"//{SECRET}@example.org",
    f"postgresql://u:{SECRET}@h/n",
    f"postgresql://u%3A{SECRET}@h/n",
    f"postgresql://h/n?password={SECRET}",
    f"postgresql://h/n?sslmode=require&%70assword={SECRET}",
    f"postgresql://h/n?{SECRET}",
    f"postgresql://h/password={SECRET}",
    f"sqlite:///chat.db?password={SECRET}",
    f"redis://:{SECRET}@h",
    f"redis://{SECRET}@h",
    f"redis://h?password={SECRET}",
    f"rediss://h/0#{SECRET}",
    f"memory://?{SECRET}",
    f"sk-{SECRET}",
    SECRET,
)
# And for the place of any name of a variable.
NAMES = (
    *ADDRESSES,
    f"sk_live_{SECRET}",
    f"${SECRET}",
    f"hf_{SECRET}",
    "AKIA" + "Z2" * 20,
    f"KEY={SECRET}",
)


def places(part: msgspec.Struct, key: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every key of a text in the settings, so that none is forgotten."""
    for name in part.__struct_fields__:
        value = getattr(part, name)
        if isinstance(value, msgspec.Struct):
            yield from places(value, (*key, name))
        elif isinstance(value, str):
            yield (*key, name)


PLACES = [key for key in places(Settings()) if key[-1].endswith(("url", "_env"))]


@pytest.mark.parametrize("key", PLACES, ids=".".join)
def test_prevents_a_secret_that_is_published_or_told(
    folder: Path, key: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    for text in NAMES if key[-1].endswith("_env") else ADDRESSES:
        (folder / "exactquote.toml").write_text(f'{".".join(key)} = "{text}"\n')
        with pytest.raises(ConfigError) as caught:
            load_config(folder, None)
        assert ".".join(key) in str(caught.value)
        assert SECRET not in str(caught.value)
        assert "Z2Z2" not in str(caught.value)
        # Settings that nothing has looked at make no function either.
        settings: Any = text
        for name in reversed(key):
            settings = {name: settings}
        with pytest.raises(ValueError, match=r"\.".join(key)):
            chat_json(msgspec.convert(settings, Settings), "", "b")
    assert len(PLACES) == 13


@pytest.mark.parametrize("key", ["chat.provider.api", "chat.mode", "knowledge.embedder"])
def test_prevents_a_key_in_the_place_of_a_choice_from_being_told(folder: Path, key: str) -> None:
    (folder / "exactquote.toml").write_text(f"{key} = 'sk-{SECRET}'\n")
    with pytest.raises(ConfigError, match=f"{key} is a string; it must be") as caught:
        load_config(folder, None)
    assert SECRET not in str(caught.value)


def test_prevents_the_cure_from_telling_another_secret(folder: Path) -> None:
    (folder / "exactquote.toml").write_text(
        f"[chat.store]\nurl_env = 'sk-{SECRET}'\nurl = 'postgresql://u:{SECRET}@h/n'\n"
    )
    with pytest.raises(ConfigError) as caught:
        load_config(folder, None)
    assert "belongs into the variable of chat.store.url_env" in str(caught.value)
    assert SECRET not in str(caught.value)


USABLE = {
    "chat.store.url": (
        "sqlite:///chat.db",
        "sqlite:////var/lib/site/chat.db",
        "sqlite:///C:\\site\\chat.db",
        "postgresql://h/n",
        "postgres://site@h:5432/n",
        "postgresql://a:5432,b:5433/n?sslmode=require&target_session_attrs=read-write",
        "postgresql://[::1]:5432/n",
    ),
    "chat.rates.storage_url": (
        *("memory://", "redis://h", "rediss://h:6380/2", "redis+unix:///run/redis.sock"),
        *("redis+cluster://a:7000,b:7001", "redis+sentinel://a:26379,b:26379/main"),
    ),
    "base_url": (
        *("https://example.org", "http://localhost:8000/docs/", "https://[2001:db8::1]:8443/a"),
        *("https://büro.example/a%20b", "HTTPS://EXAMPLE.ORG./", "http://my_host:1/"),
    ),
    "chat.provider.key_env": ("K", "EXACTQUOTE_API_KEY", "_KEY_2", "SITE__KEY"),
}


@pytest.mark.parametrize("key", USABLE)
def test_what_can_be_used_is_accepted(folder: Path, key: str) -> None:
    for text in USABLE[key]:
        (folder / "exactquote.toml").write_text(f"{key} = '{text}'\n".replace("\\\\", "\\"))
        load_config(folder, None)


def test_all_mistakes_are_told_at_once(folder: Path) -> None:
    (folder / "exactquote.toml").write_text("a = 1\ntitle = 1\n[mdx]\nb = 2\n")
    with pytest.raises(ConfigError) as caught:
        load_config(folder, None)
    lines = str(caught.value).split("\n")
    assert [line.split(":")[1] for line in lines] == ["1", "2", "4"]


def test_a_line_is_found_in_pyproject_too(folder: Path) -> None:
    text = "[project]\nname = 'x'\ntitel = 1\n\n[tool.exactquote]\ntitel = 'x'\n"
    (folder / "pyproject.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"^pyproject\.toml:6:1: unknown key titel"):
        load_config(folder, None)


UNREADABLE = {
    "no TOML": (b"title = \n", "exactquote.toml:1:9: not TOML: Invalid value"),
    "TOML that ends too early": (b"a = 1\nb = [", "exactquote.toml:2:1: "),
    "no UTF-8": (b"title = '\xff'\n", "not UTF-8 at byte 9"),
    "nested beyond reason": (b"a = " + b"[" * 20_000, "exactquote.toml: "),
    "too large": (b"#" * 1_000_001, "larger than 1,000,000 bytes"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_an_unreadable_configuration_is_refused(folder: Path, name: str) -> None:
    content, message = UNREADABLE[name]
    (folder / "exactquote.toml").write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_config(folder, None)
    assert message in str(caught.value)


# files written (their title names them), explicit --config, title that wins
FOUND = [
    ([], None, ""),
    (["exactquote.toml"], None, "exactquote.toml"),
    (["exactquote.toml", "docs/exactquote.toml"], None, "docs/exactquote.toml"),
    (["docs/inner/exactquote.toml"], None, ""),
    (["pyproject.toml"], None, "pyproject.toml"),
    (["exactquote.toml", "docs/pyproject.toml"], None, "docs/pyproject.toml"),
    (["exactquote.toml", "other.toml"], "other.toml", "other.toml"),
    (["../exactquote.toml"], None, ""),
]


@pytest.mark.parametrize(("written", "explicit", "title"), FOUND)
def test_the_nearest_configuration_of_the_repository_is_used(
    folder: Path, written: list[str], explicit: str | None, title: str
) -> None:
    for name in written:
        table = "[tool.exactquote]\n" if "pyproject" in name else ""
        (folder / name).write_text(f'{table}title = "{name}"\n')
    settings, source = load_config(Path("docs"), Path(explicit) if explicit else None)
    assert settings.title == title
    assert (str(source) if source else "") == title


def test_outside_of_a_repository_the_search_ends_at_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work/docs").mkdir(parents=True)
    (tmp_path / "exactquote.toml").write_text("title = 'outer'\n")
    monkeypatch.chdir(tmp_path / "work")
    assert load_config(Path("docs"), None) == (Settings(), None)
    (tmp_path / "work/exactquote.toml").write_text("title = 'mine'\n")
    assert load_config(Path("docs"), None)[0].title == "mine"
    # A corpus that lies elsewhere answers for itself alone.
    monkeypatch.chdir(tmp_path / "work/docs")
    (tmp_path / "other").mkdir()
    assert load_config(tmp_path / "other", None) == (Settings(), None)


def test_two_configurations_in_one_folder_are_refused(folder: Path) -> None:
    (folder / "exactquote.toml").write_text("")
    (folder / "pyproject.toml").write_text("[tool.exactquote]\n")
    with pytest.raises(ConfigError, match="keep one of the two"):
        load_config(folder, None)


@pytest.mark.parametrize("text", ["[tool.other]\n", "[tool]\nexactquote = ", "# no table\n"])
def test_the_pyproject_of_another_project_is_none_of_our_business(folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text(text)
    if text.endswith("= "):
        with pytest.raises(ConfigError):
            load_config(folder, None)
    else:
        assert load_config(folder, None) == (Settings(), None)


@pytest.mark.parametrize("name", ["absent.toml", "docs", "pyproject.toml"])
def test_an_explicit_configuration_must_be_one(folder: Path, name: str) -> None:
    (folder / "pyproject.toml").write_text("[tool.other]\n")
    with pytest.raises(ConfigError, match=name):
        load_config(folder, Path(name))


def test_every_key_is_read(folder: Path) -> None:
    (folder / "exactquote.toml").write_text(
        "title='t'\ndescription='d'\nbase_url='https://example.org/a'\nlanguage='de'\n"
        "publish=['a/**']\nexclude=['b']\nrequired=['c']\nhidden_controls=['d']\n"
        "allow_empty=true\n[severity]\nEQ019='error'\nEQ001='error'\n"
        "[mdx]\nin_markdown=true\nunknown='drop'\nexpressions='drop'\n"
        "[mdx.components]\nA='transparent'\n"
        "[limits]\npassage_chars_min=1\npassage_chars_max=2\nfile_bytes_max=3\n"
        "front_matter_bytes_max=4\nfront_matter_depth_max=5\nnesting_max=6\n"
        "[knowledge]\nembedder='endpoint'\nbase_url='https://example.org/v1'\nmodel='m'\n"
        "key_env='KEY'\nwords_weight=2\nmeaning_weight=0.5\nchunk_chars=700\npostgres_env='P'\n"
        "whole_notes_tokens_max=0\nfaq=['a.md']\nfaq_days_max=30\n"
        "[chat]\nenabled=false\nlanguages=['de']\nmode='quotes'\nbudget_usd_per_day=2\n"
        "trusted_hops=1\nsuggestions=['a']\nadmin_token_env='A'\nmetrics=true\n"
        "[chat.texts.de]\npaused='Morgen.'\n"
        "[chat.provider]\nbase_url='https://example.org/v1'\nmodel='m'\nkey_env='K'\n"
        "api='responses'\noutput_tokens_max=100\n"
        "prices_usd_per_million={input=1,cached=0,output=2.5}\n"
        "[chat.rates]\nper_minute=1\nper_day=2\nstorage_url='redis://h'\n"
        "[chat.limits]\nbody_bytes=2000\nquestion_chars=100\nhistory_pairs=1\n"
        "history_chars=100\npassages=2\n"
        "[chat.timeouts]\nconnect=1\nfirst_byte=2\nidle=3\ntotal=4\n"
        "[chat.dials]\nenabled=true\nhumour=25\nbrevity=75\n"
        "[chat.store]\nurl='sqlite:////q.db'\nurl_env='U'\nconversations=true\ngaps=false\n"
        "days=1\n"
        "[chat.leads]\nto='a@example.org'\nsender='b@example.org'\nsmtp_url_env='S'\n"
        "api_url='https://example.org/mail'\napi_key_env='M'\n"
        "[[chat.declined]]\ntopic='pay'\nwords=['salary']\n"
        "[[chat.refusals]]\nversion=1\ndigest='d'\ntexts.de='Nein.'\n"
    )
    settings, _ = load_config(folder, None)
    default = Settings()
    for part, plain in (
        (settings, default),
        (settings.mdx, default.mdx),
        (settings.limits, default.limits),
        (settings.knowledge, default.knowledge),
        (settings.chat, default.chat),
        *(
            (getattr(settings.chat, name), getattr(default.chat, name))
            for name in ("provider", "rates", "limits", "timeouts", "dials", "store", "leads")
        ),
        (
            settings.chat.provider.prices_usd_per_million,
            default.chat.provider.prices_usd_per_million,
        ),
        (settings.chat.refusals[0], RefusalLine()),
        (settings.chat.declined[0], DeclinedSettings()),
    ):
        for name in part.__struct_fields__:
            assert getattr(part, name) != getattr(plain, name), name


def test_the_published_schema_is_that_of_the_settings(update: bool) -> None:
    text = json.dumps(config_schema(), indent=2, ensure_ascii=False) + "\n"
    if update:
        SCHEMA.write_text(text, encoding="utf-8")
    assert SCHEMA.read_text(encoding="utf-8") == text


VALID = [
    ({}, True),
    ({"title": "x", "mdx": {"components": {"A": "drop"}}}, True),
    ({"titel": "x"}, False),
    ({"severity": {"EQ019": "off"}}, True),
    ({"severity": {"EQ999": "off"}}, False),
    ({"limits": {"nesting_max": 0}}, False),
    ({"knowledge": {"words_weight": 1, "meaning_weight": 0.3}}, True),
    ({"knowledge": {"words_weight": -0.1}}, False),
    ({"knowledge": {"chunk_chars": 5}}, False),
    ({"knowledge": {"meaning_weight": 1e9}}, False),
    ({"chat": {"dials": {"humour": 75}, "budget_usd_per_day": 5}}, True),
    ({"chat": {"dials": {"humour": 30}}}, False),
    ({"chat": {"budget_usd_per_day": 0}}, False),
    ({"chat": {"provider": {"prices_usd_per_million": {"input": -1}}}}, False),
    ({"chat": {"limits": {"passages": 0}}}, False),
    *(({"severity": {code.code: "off"}}, not code.core) for code in CODES.values()),
]


@pytest.mark.parametrize(("value", "valid"), VALID)
def test_the_schema_accepts_what_is_read_and_nothing_else(
    value: dict[str, object], valid: bool
) -> None:
    validator = jsonschema.Draft202012Validator(config_schema())
    assert validator.is_valid(value) is valid
