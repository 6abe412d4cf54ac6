"""What the compiler writes for serving code can be read back, and nothing else can."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import exactquote_site
from exactquote.passages import passage_id
from exactquote_site.wire.allowlist import Entry, WireError, load_allowlist, shard_path
from exactquote_site.wire.tokens import CiteToken, find_tokens, id_token, is_made_id
from tests.hangs import no_hang

ENTRY = {"href": "a.html#:~:text=x", "quote": "x", "doc": "a", "title": "A", "cited": True}


def load(**files: object):
    """Load an allowlist from values by file name, `allowlist` being the first."""
    paths = {"allowlist": "allowlist.json"}
    data = {
        paths.get(name, f"allowlist/{name[1:]}.json"): (
            value if isinstance(value, bytes) else json.dumps(value).encode()
        )
        for name, value in files.items()
    }
    return load_allowlist(lambda path: data[path])


def listing(entries: object, **more: object) -> dict[str, object]:
    return {"version": 1, "build_id": "b1", "entries": entries} | more


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A claim [[cite:p7f3k2]].", [("p7f3k2", "", "")]),
        ("[[cite:a]][[cite:b]]", [("a", "", ""), ("b", "", "")]),
        ("[[cite:0-9]] and [[cite:" + "a" * 64 + "]]", [("0-9", "", ""), ("a" * 64, "", "")]),
        (
            "[[cite:guide/setup|The cache is cleared.]]",
            [("", "guide/setup", "The cache is cleared.")],
        ),
        ("[[cite:a|one\ntwo]]", [("", "a", "one\ntwo")]),
        ("[[cite:a|see [1]]]", [("", "a", "see [1]")]),
        ("[[cite:a|x | y]]", [("", "a", "x | y")]),
        ("[[cite:blog/[slug]|words]]", [("", "blog/[slug]", "words")]),
        ("[[cite:Guide/Ü 1|words]]", [("", "Guide/Ü 1", "words")]),
        ("[[cite:a|open [[cite:b]]", [("b", "", "")]),
        ("[[[cite:a]]]", [("a", "", "")]),
        ("[[cite:]] [[cite:|x]] [[cite:a|]]", []),
        ("[[cite:A]] [[cite:-a]] [[cite:a_b]] [[cite:" + "a" * 65 + "]]", []),
        ("[cite:a] [[ cite:a]] [[Cite:a]] [[cite:a ]]", []),
        ("[[cite:a", []),
        ("[[cite:a\nb|x]]", []),
    ],
)
def test_cite_tokens(text, found):
    tokens = find_tokens(text)
    assert [(t.id, t.doc, t.passage) for t in tokens] == found
    for token in tokens:
        assert text[token.start : token.end].startswith("[[cite:")
        assert text[token.start : token.end].endswith("]]")


def test_a_token_that_is_written_is_found():
    assert find_tokens(id_token("p7f3k2")) == (CiteToken(0, 15, id="p7f3k2"),)
    with pytest.raises(ValueError, match="passage id"):
        id_token("a]] [[cite:b")


@pytest.mark.parametrize("text", ["[[cite:", "[[cite:a|", "[[cite:a|x]", "[", "[[cite:a|" + "]"])
def test_prevents_an_answer_that_takes_for_ever_to_search(text):
    with no_hang():
        assert find_tokens(text * 20_000) == ()


@pytest.mark.parametrize(
    ("text", "made"),
    [
        *((passage_id("kiln", "So it is.", copy, 8 + 4 * copy), True) for copy in range(10)),
        *((text, False) for text in ("", "p", "kiln-day", "pabcdefg", "pabcdefg1", "Pabcdefgh")),
        *((text, False) for text in ("pabcdefgh\n", "pabcdefghi", "p" + "a" * 52)),
    ],
)
def test_the_shape_of_an_id_is_that_of_those_that_are_made(text: str, made: bool) -> None:
    assert is_made_id(text) is made


def test_an_allowlist_is_loaded_with_its_shards():
    loaded = load(
        allowlist=listing({"a": ENTRY}, shards=["allowlist/00.json", "allowlist/01.json"]),
        s00=listing({"b": ENTRY | {"cited": False}}),
        s01=listing({}),
    )
    assert loaded.build_id == "b1"
    assert loaded.entries == {
        "a": Entry("a", "a.html#:~:text=x", "x", "a", "A", True),
        "b": Entry("b", "a.html#:~:text=x", "x", "a", "A", False),
    }


def test_the_shard_of_an_id_does_not_depend_on_the_process():
    assert [shard_path(id, 16) for id in ("p7f3k2", "a", "z-9")] == [
        "allowlist/0e.json",
        "allowlist/03.json",
        "allowlist/03.json",
    ]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"allowlist": b"{"}, "allowlist.json: "),
        ({"allowlist": b"\xff"}, "allowlist.json: "),
        ({"allowlist": b"[" * 100_000}, "allowlist.json: "),
        ({"allowlist": b'{"version":1,"version":1,"build_id":"b","entries":{}}'}, "given twice"),
        ({"allowlist": []}, "wants the keys"),
        ({"allowlist": listing({}, more=1)}, "wants the keys"),
        ({"allowlist": {"version": 1, "entries": {}}}, "wants the keys"),
        ({"allowlist": listing({}) | {"version": 2}}, "version 2"),
        ({"allowlist": listing({}) | {"version": True}}, "version True"),
        ({"allowlist": listing({}) | {"build_id": ""}}, "build_id"),
        ({"allowlist": listing([])}, "entries must be"),
        ({"allowlist": listing({"A": ENTRY})}, "passage id"),
        ({"allowlist": listing({"a": ENTRY | {"x": 1}})}, "'a': wants the keys"),
        ({"allowlist": listing({"a": None})}, "'a': wants the keys"),
        ({"allowlist": listing({"a": ENTRY | {"cited": 1}})}, "cited must"),
        ({"allowlist": listing({"a": ENTRY | {"title": None}})}, "must be strings"),
        ({"allowlist": listing({"a": ENTRY | {"quote": ""}})}, "can't be empty"),
        ({"allowlist": listing({}, shards=["allowlist/../x.json"])}, "shards must name"),
        ({"allowlist": listing({}, shards=["other/00.json"])}, "shards must name"),
        ({"allowlist": listing({}, shards=["allowlist/00.json"] * 2)}, "names a shard twice"),
        (
            {
                "allowlist": listing({}, shards=["allowlist/00.json"]),
                "s00": listing({}) | {"build_id": "b2"},
            },
            "is of build 'b2', not of 'b1'",
        ),
        (
            {
                "allowlist": listing({"a": ENTRY}, shards=["allowlist/00.json"]),
                "s00": listing({"a": ENTRY}),
            },
            "'a' was already given",
        ),
        (
            {
                "allowlist": listing({}, shards=["allowlist/00.json"]),
                "s00": listing({}, shards=["allowlist/01.json"]),
            },
            "can't name shards",
        ),
    ],
)
def test_a_malformed_allowlist_is_refused_whole(files, said):
    with pytest.raises(WireError, match=said):
        load(**files)


@pytest.mark.parametrize(
    "href",
    [
        "https://evil.example/",
        "JavaScript:alert(1)",
        "//evil.example/",
        "/a.html",
        "\\\\evil.example",
        "a\\..\\b",
        "../a.html",
        "a/../../b.html",
        "%2E%2e/a.html",
        "a/..",
        "..#x",
        "a b.html",
        "a\n.html",
        'a.html"onclick=',
        "a.html<b>",
    ],
)
def test_prevents_a_link_that_leads_away_from_the_site(href):
    with pytest.raises(WireError, match="relative"):
        load(allowlist=listing({"a": ENTRY | {"href": href}}))


@pytest.mark.parametrize("href", ["a.html#..", "a..b.html", "a.html#:~:text=%2E%2E%2F", "ü/x.html"])
def test_a_link_within_the_site_is_kept(href):
    loaded = load(allowlist=listing({"a": ENTRY | {"href": href}}))
    assert loaded.entries["a"].href == href


def test_serving_code_imports_only_the_standard_library():
    home = Path(exactquote_site.__file__).parents[1]
    program = (
        "import sys; before = set(sys.modules)\n"
        "import exactquote_site.wire.allowlist\n"
        "new = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "assert new - set(sys.stdlib_module_names) == {'exactquote_site'}, new\n"
    )
    subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(home)!r})\n{program}"],
        check=True,
    )
