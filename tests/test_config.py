"""What a configuration may say, where it is looked for, and how its mistakes are told."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from exactquote.codes import CODES
from exactquote.config import ConfigError, config_schema, load_config
from exactquote.settings import Settings

SCHEMA = Path(__file__).parents[1] / "compiler/exactquote/schemas/config.schema.json"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a corpus, in which the run stands."""
    (tmp_path / "repo/.git").mkdir(parents=True)
    (tmp_path / "repo/docs/inner").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "repo")
    return tmp_path / "repo"


FAULTS = [
    # text, line, what the message says
    ("titel = 'x'\n", 1, "unknown key titel; did you mean title?"),
    ("\n\n[mdx]\nunknwon = 'drop'\n", 4, "unknown key mdx.unknwon; did you mean unknown?"),
    ("[limit]\nnesting_max = 3\n", 1, "unknown key limit; did you mean limits?"),
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
    ("base_url = 'example.org'\n", 1, "it must be like https://example.org/docs"),
    ("base_url = 'javascript:alert(1)'\n", 1, "it must be like https://"),
    ("base_url = 'https://[x'\n", 1, "it must be like https://"),
    ("exclude = ['']\n", 1, "exclude has an empty entry"),
    ("title = '''\ntitel = 1\n'''\ntitel = 1\n", 4, "unknown key titel"),
]


@pytest.mark.parametrize(("text", "line", "message"), FAULTS)
def test_a_mistake_is_told_with_its_line(folder: Path, text: str, line: int, message: str) -> None:
    (folder / "exactquote.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config(folder / "docs", None)
    assert str(caught.value).startswith(f"exactquote.toml:{line}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_all_mistakes_are_told_at_once(folder: Path) -> None:
    (folder / "exactquote.toml").write_text("a = 1\ntitle = 1\n[mdx]\nb = 2\n")
    with pytest.raises(ConfigError) as caught:
        load_config(folder, None)
    lines = str(caught.value).split("\n")
    assert [line.split(":")[1] for line in lines] == ["1", "2", "4"]


def test_a_line_is_found_in_pyproject_too(folder: Path) -> None:
    text = "[project]\nname = 'x'\ntitel = 1\n\n[tool.exactquote]\ntitel = 'x'\n"
    (folder / "pyproject.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"^pyproject\.toml:6: unknown key titel"):
        load_config(folder, None)


UNREADABLE = {
    "no TOML": (b"title = \n", "exactquote.toml: Invalid value (at line 1"),
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
    )
    settings, _ = load_config(folder, None)
    default = Settings()
    for part, plain in (
        (settings, default),
        (settings.mdx, default.mdx),
        (settings.limits, default.limits),
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
    *(({"severity": {code.code: "off"}}, not code.core) for code in CODES.values()),
]


@pytest.mark.parametrize(("value", "valid"), VALID)
def test_the_schema_accepts_what_is_read_and_nothing_else(
    value: dict[str, object], valid: bool
) -> None:
    validator = jsonschema.Draft202012Validator(config_schema())
    assert validator.is_valid(value) is valid
