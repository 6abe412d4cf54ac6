"""Citation files: every entry is read or refused at its own place."""

from __future__ import annotations

import json

import pytest

from exactquote.model import CitationFile, Diagnostic, Written
from exactquote.readers.sidecar import read_sidecar
from tests.hangs import no_hang
from tests.shared_data import shared


def read(
    text: str, suffix: str = "json", source: str = ""
) -> tuple[tuple[Written, ...], tuple[Diagnostic, ...]]:
    return read_sidecar(CitationFile(f"guide/a.citations.{suffix}", text), source)


def shown(text: str, suffix: str = "json") -> tuple[list[str], list[str]]:
    """The citations and the faults of a file, each as one line with its place."""
    written, faults = read(text, suffix)
    assert all(d.code == "EQ020" and d.help and d.place.path.startswith("guide/a") for d in faults)
    return (
        [f"{w.place.line}:{w.place.column} {w.doc} {w.quote!r} {w.occurrence}" for w in written],
        [f"{d.place.line}:{d.place.column} {d.message}" for d in faults],
    )


READ = [
    ("json", "[]", []),
    ("json", '{"citations": []}', []),
    ("json", '\ufeff[{"doc":"a","quote":"b"}]', ["1:2 a 'b' None"]),
    (
        "json",
        '[\n  {"docId": "a/b", "passage": "x\\ny", "occurrence": 0}\n]',
        ["2:3 a/b 'x\\ny' 0"],
    ),
    ("json", '{"citations": [{"doc": "\\ud83d\\ude00", "quote": "\\""}]}', ["1:16 😀 '\"' None"]),
    (
        "yaml",
        "- doc: a\n  quote: 2024-01-01\n- doc: no\n  quote: 012\n  occurrence: 12\n",
        ["1:3 a '2024-01-01' None", "3:3 no '012' 12"],
    ),
    ("yml", "citations:\n  - {docId: a, passage: 'it''s'}\n", ['2:5 a "it\'s" None']),
    ("yaml", "- doc: a\n  quote: >-\n    two\n    lines\n", ["1:3 a 'two lines' None"]),
    (
        "toml",
        '[[citations]]\ndoc = "a"\nquote = """\nb"""\noccurrence = 1\n\n'
        '[[ citations ]]\ndocId="c"\npassage="d"',
        ["1:1 a 'b' 1", "7:1 c 'd' None"],
    ),
    ("toml", "", None),
]


@pytest.mark.parametrize(("suffix", "text", "written"), READ)
def test_read(suffix: str, text: str, written: list[str] | None) -> None:
    got, faults = shown(text, suffix)
    if written is None:
        assert (got, faults) == ([], ["1:1 a citation file holds a list of entries"])
    else:
        assert (got, faults) == (written, [])


def test_every_field_arrives() -> None:
    entry = {
        "id": "my-id", "doc": "d", "quote": "q", "claim": "c", "occurrence": 2,
        "prefix": "p", "suffix": "s",
    }  # fmt: skip
    ranged = {"docId": "d", "from": "first words", "to": "last words"}
    [one, two], faults = read(json.dumps([entry, ranged]), source="guide/a")
    assert faults == ()
    assert (one.id, one.doc, one.quote, one.claim) == ("my-id", "d", "q", "c")
    assert (one.occurrence, one.prefix, one.suffix, one.quote_end) == (2, "p", "s", "")
    assert (one.source, one.inline, one.ref) == ("guide/a", -1, "")
    assert (two.quote, two.quote_end, two.occurrence) == ("first words", "last words", None)


GOOD = '{"doc":"a","quote":"b"}'
REFUSED = [
    ('{"docid":"a","quote":"b"}', "2:2 entry 1: unknown key `docid`", "`docId`"),
    ('{"doc":"a","qoute":"b"}', "2:12 entry 1: unknown key `qoute`", "`quote`"),
    ('{"doc":"a","quote":"b","zz":1}', "2:24 entry 1: unknown key `zz`", "keys are id, doc"),
    (
        '{"doc":"a","docId":"a","quote":"b"}',
        "2:12 entry 1: `doc` and `docId` mean the same; give one",
        "",
    ),
    (
        '{"doc":"a","passage":"a","quote":"b"}',
        "2:12 entry 1: `quote` and `passage` mean the same; give one",
        "",
    ),
    ('{"quote":"b"}', "2:1 entry 1: `doc` is missing", ""),
    ('{"doc":"a"}', "2:1 entry 1: `quote` is missing, or `from` and `to` as a pair", ""),
    ('{"doc":"a","from":"b"}', "2:1 entry 1: `quote` is missing, or `from` and `to` as a pair", ""),
    (
        '{"doc":"a","quote":"b","to":"c"}',
        "2:1 entry 1: `quote` and `from`, `to` exclude each other",
        "",
    ),
    ('{"doc":"a","quote":""}', "2:12 entry 1: `quote` is empty", ""),
    ('{"doc":"a","passage":" \\n"}', "2:12 entry 1: `passage` is empty", ""),
    ('{"docId":"","quote":"b"}', "2:2 entry 1: `docId` is empty", ""),
    ('{"doc":"a","from":"x","to":""}', "2:23 entry 1: `to` is empty", ""),
    ('{"doc":"a","quote":null}', "2:12 entry 1: `quote`: expected `str`, got `null`", ""),
    ('{"doc":1,"quote":"b"}', "2:2 entry 1: `doc`: expected `str`, got `int`", ""),
    ('{"doc":["a"],"quote":"b"}', "2:2 entry 1: `doc`: expected `str`, got `array`", ""),
    (
        '{"doc":"a","quote":"b","occurrence":-1}',
        "2:24 entry 1: `occurrence` counts from 0, so it can't be negative",
        "",
    ),
    (
        '{"doc":"a","quote":"b","occurrence":true}',
        "2:24 entry 1: `occurrence`: expected `int`, got `bool`",
        "",
    ),
    (
        '{"doc":"a","quote":"b","occurrence":1.0}',
        "2:24 entry 1: `occurrence`: expected `int`, got `float`",
        "",
    ),
    (
        '{"doc":"a","quote":"b","occurrence":"1"}',
        "2:24 entry 1: `occurrence`: expected `int`, got `str`",
        "",
    ),
    (
        '{"doc":"a","quote":"b","occurrence":99999999999999999999}',
        "2:24 entry 1: `occurrence`: expected `int`, got `float`",
        "",
    ),
    ('{"doc":"a","doc":"b","quote":"b"}', "2:12 entry 1: the key `doc` is given twice", ""),
    ('{"doc":"a","quote":"\\ud800"}', "2:12 entry 1: `quote` holds half a surrogate pair", ""),
    ('{"id":"","doc":"a","quote":"b"}', "2:2 entry 1: `` is no id", "a-z"),
    ('{"id":"A","doc":"a","quote":"b"}', "2:2 entry 1: `A` is no id", "a-z"),
    ('{"id":"a\\n","doc":"a","quote":"b"}', "2:2 entry 1: `a\\n` is no id", "a-z"),
    (
        '{"id":"' + "a" * 65 + '","doc":"a","quote":"b"}',
        f"2:2 entry 1: `{'a' * 40}` is no id",
        "a-z",
    ),
    ("3", "2:1 entry 1: this is no entry, which has keys and values", ""),
    ("[]", "2:1 entry 1: this is no entry, which has keys and values", ""),
]


@pytest.mark.parametrize(("entry", "fault", "help"), REFUSED)
def test_a_bad_entry_is_refused_and_hides_no_other(entry: str, fault: str, help: str) -> None:
    written, faults = read(f"[{GOOD},\n{entry},\n{GOOD}]")
    assert [(w.place.line, w.place.column) for w in written] == [(1, 2), (3, 1)]
    [d] = faults
    assert f"{d.place.line}:{d.place.column} {d.message}" == fault
    assert help in d.help


WHOLE = [
    ("json", "", "1:1 not JSON: a value is missing at the end"),
    ("json", "{", "1:2 not JSON: a key in double quotes is missing"),
    ("json", '"x"', "1:1 a citation file holds a list of entries"),
    ("json", '{"citation": []}', "1:2 unknown key `citation` beside `citations`"),
    ("json", '{"citations": {}}', "1:15 a citation file holds a list of entries"),
    ("json", '{"citations": [],\n"citations": []}', "2:1 the key `citations` is given twice"),
    ("json", "[NaN]", "1:2 not JSON: `NaN` is no value"),
    ("json", "[-Infinity]", "1:2 not JSON: `-Infinity` is no value"),
    ("json", "[1e999]", "1:2 not JSON: `1e999` is too large"),
    ("json", "[1,]", "1:4 not JSON: `]` begins no value"),
    ("json", "[] []", "1:4 not JSON: something follows the value"),
    ("json", "[\n// no\n]", "2:1 not JSON: `/` begins no value"),
    ("json", "[" * 100_000, "1:21 not JSON: nesting is deeper than 20 levels"),
    ("json", '{"a":' * 100_000, "1:101 not JSON: nesting is deeper than 20 levels"),
    ("yaml", "", "1:1 the file is empty"),
    ("yaml", "doc: a\nquote: b\n", "1:1 unknown key `doc` beside `citations`"),
    ("yaml", "- &a x\n- *a\n", "1:3 the anchor `&a` is refused"),
    ("yaml", "- !!int 3\n", "1:3 the tag `tag:yaml.org,2002:int` is refused"),
    ("yaml", "--- []\n--- []\n", "2:1 a second document begins here"),
    ("yaml", "- " * 30 + "a", "1:41 nesting is deeper than 20 levels"),
    ("yaml", "- 'open", "1:8 not YAML: found unexpected end of stream"),
    ("toml", "x = 1\n", "1:1 unknown key `x` beside `citations`"),
    ("toml", "[[citations]\n", None),
    ("toml", "citations = " + "[" * 5_000, None),
]


@pytest.mark.parametrize(("suffix", "text", "fault"), WHOLE)
def test_a_file_that_is_no_list(suffix: str, text: str, fault: str | None) -> None:
    written, faults = shown(text, suffix)
    assert written == []
    assert len(faults) == 1
    assert fault is None or faults == [fault]


YAML_ENTRIES = [
    ("doc: a\n  quote:\n", "2:3", "`quote`: expected `str`, got `null`"),
    ('doc: a\n  quote: b\n  occurrence: "1"\n', "3:3", "`occurrence`: expected `int`, got `str`"),
    ("doc: a\n  quote: b\n  occurrence: -1\n", "3:3", "must be a whole number"),
    ("doc: a\n  quote: b\n  occurrence: 1.0\n", "3:3", "must be a whole number"),
    ("doc: a\n  quote: b\n  occurrence: yes\n", "3:3", "must be a whole number"),
    ("doc: a\n  quote: b\n  occurrence: 1_0\n", "3:3", "must be a whole number"),
    ("doc: a\n  quote: b\n  occurrence: ١\n", "3:3", "must be a whole number"),
    ("doc: a\n  doc: b\n  quote: b\n", "2:3", "the key `doc` is given twice"),
]


@pytest.mark.parametrize(("entry", "place", "words"), YAML_ENTRIES)
def test_yaml_guesses_nothing(entry: str, place: str, words: str) -> None:
    written, [fault] = shown(f"- {entry}- doc: ok\n  quote: yes\n", "yaml")
    assert [w.split(" ", 1)[1] for w in written] == ["ok 'yes' None"]
    assert words in fault
    assert fault.startswith(place)


def test_toml_places_and_dates() -> None:
    text = (
        '[[citations]]\ndoc = "a"\nquote = """\nquote = 1\n[[citations]]\n"""\n'
        '[[citations]]\ndoc = "a"\nquote = 2024-01-01\n'
        '[[citations]]\ndoc = "a"\nqoute = "b"\n'
    )
    written, faults = shown(text, "toml")
    assert written == ["1:1 a 'quote = 1\\n[[citations]]\\n' None"]
    assert faults == [
        "9:1 entry 1: `quote` is a date; put it in quotes",
        "12:1 entry 2: unknown key `qoute`",
    ]


def test_every_file_of_the_json_suite() -> None:
    files = sorted((shared("suites/JSONTestSuite") / "test_parsing").glob("*.json"))
    assert len(files) == 318
    empty = []
    for file in files:
        with no_hang():
            written, faults = read(file.read_bytes().decode("utf-8", "surrogateescape"))
        assert written == (), file.name
        assert all(d.code == "EQ020" and d.message for d in faults), file.name
        not_json = any(d.message.startswith("not JSON") for d in faults)
        if file.name.startswith("y_"):
            assert not not_json, file.name
        elif file.name.startswith("n_"):
            assert not_json, (file.name, faults)
        if not faults:
            empty.append(file.name)
    assert empty == ["y_array_empty.json", "y_structure_whitespace_array.json"]


@pytest.mark.parametrize("suffix", ["json", "yaml", "toml"])
def test_prevents_time_that_grows_faster_than_the_file(suffix: str) -> None:
    entry = {
        "json": '{"doc":"a","quote":"b"},\n',
        "yaml": "- {doc: a, quote: b}\n",
        "toml": '[[citations]]\ndoc="a"\nquote="b"\n',
    }[suffix]
    text = entry * 8_000
    with no_hang():
        written, _ = read(f"[{text}{GOOD}]" if suffix == "json" else text, suffix)
    assert len(written) >= 8_000


def test_naughty_strings_in_every_field() -> None:
    for string in json.loads((shared("suites/blns") / "blns.json").read_text("utf-8")):
        for key in ("doc", "quote", "id", "claim", "prefix", string):
            entry = {"doc": "a", "quote": "b", key: string}
            written, faults = read(json.dumps([entry]))
            assert len(written) + len(faults) == 1
