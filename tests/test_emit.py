"""The files beside the pages: allowlist, build.json, sitemap, robots.txt and llms.txt."""

from __future__ import annotations

import json
from hashlib import sha256
from importlib.resources import files as package_files
from xml.etree import ElementTree

import jsonschema
import pytest

from exactquote.emit import indexes
from exactquote.emit.allowlist import allowlist_files
from exactquote.emit.indexes import index_files
from exactquote.emit.manifest import build_json
from exactquote.emit.site import NavItem, SiteContext
from exactquote.model import AllowEntry, Counts
from exactquote_site.wire.allowlist import load_allowlist

COUNTS = Counts(documents=2, passages=30, citations=3, bound=3)


def schema(name: str) -> jsonschema.Draft202012Validator:
    text = package_files("exactquote").joinpath(f"schemas/{name}.schema.json").read_text("utf-8")
    jsonschema.Draft202012Validator.check_schema(json.loads(text))
    return jsonschema.Draft202012Validator(json.loads(text))


def entry(id: str, *, cited: bool = False, quote: str = "Words.") -> AllowEntry:
    return AllowEntry(id, f"guide/a.html#:~:text={id}", quote, "guide/a", "A", cited)


def context(base_url: str = "", *nav: NavItem) -> SiteContext:
    return SiteContext("The *site*", "What it\nis.", base_url, "en", "b1", nav)


MANY = [entry(f"p{number:04d}", cited=number % 10 == 0) for number in range(500)]


def test_the_allowlist_byte_for_byte():
    files = allowlist_files([entry("b", quote='“ü” "\u2028'), entry("a", cited=True)], "b1")
    assert files == {
        "allowlist.json": (
            '{"build_id":"b1","entries":{'
            '"a":{"cited":true,"doc":"guide/a","href":"guide/a.html#:~:text=a",'
            '"quote":"Words.","title":"A"},'
            '"b":{"cited":false,"doc":"guide/a","href":"guide/a.html#:~:text=b",'
            '"quote":"“ü” \\"\u2028","title":"A"}},"version":1}\n'
        ).encode()
    }
    schema("allowlist").validate(json.loads(files["allowlist.json"]))


def test_an_allowlist_without_entries_is_one_file():
    assert allowlist_files([], "b1") == {
        "allowlist.json": b'{"build_id":"b1","entries":{},"version":1}\n'
    }


@pytest.mark.parametrize("shard_bytes", [1_000, 5_000, 20_000])
def test_a_large_allowlist_holds_the_cited_and_names_the_shards_of_the_rest(shard_bytes):
    files = allowlist_files(MANY, "b1", shard_bytes)
    first = json.loads(files["allowlist.json"])
    assert set(first["entries"]) == {e.id for e in MANY if e.cited}
    assert first["shards"] == sorted(files.keys() - {"allowlist.json"})
    assert len(first["shards"]) > 1
    for path, data in files.items():
        schema("allowlist").validate(json.loads(data))
        assert json.loads(data)["build_id"] == "b1"
        assert path == "allowlist.json" or len(data) <= shard_bytes
    loaded = load_allowlist(files.__getitem__)
    assert {id: e.cited for id, e in loaded.entries.items()} == {e.id: e.cited for e in MANY}


def test_the_allowlist_does_not_depend_on_the_order_of_passages():
    assert allowlist_files(MANY[::-1], "b1", 5_000) == allowlist_files(MANY, "b1", 5_000)


def test_a_large_allowlist_with_nothing_but_cited_passages_has_no_shards():
    files = allowlist_files([entry(f"p{n}", cited=True) for n in range(50)], "b1", 100)
    assert list(files) == ["allowlist.json"]
    assert "shards" not in json.loads(files["allowlist.json"])


def test_prevents_two_passages_of_one_id():
    with pytest.raises(ValueError, match="one id"):
        allowlist_files([entry("a"), entry("a", quote="Other.")], "b1")


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"build_id": ""},
        {"more": 1},
        {"shards": []},
        {"shards": ["../00.json"]},
        {"entries": {"Big": {}}},
        {"entries": {"a": {"href": "a", "quote": "q", "doc": "d", "title": "t"}}},
        {"entries": {"a": {"href": "a", "quote": "q", "doc": "d", "title": "t", "cited": 1}}},
        *(
            {"entries": {"a": {"href": h, "quote": "q", "doc": "d", "title": "", "cited": True}}}
            for h in ("", "/a", "//a", "x:a", "a b", "a\\b", "../a", "a/%2E%2e")
        ),
    ],
)
def test_the_allowlist_schema_refuses(change):
    value = {"version": 1, "build_id": "b1", "entries": {}} | change
    with pytest.raises(jsonschema.ValidationError):
        schema("allowlist").validate(value)


def test_build_json_names_every_other_file():
    value = json.loads(build_json("b1", COUNTS, {"b.html": b"", "a/ü.html": b"x"}))
    assert value == {
        "version": 1,
        "build_id": "b1",
        "counts": {"documents": 2, "passages": 30, "citations": 3, "bound": 3, "refused": 0},
        "files": {
            "a/ü.html": {"sha256": sha256(b"x").hexdigest(), "bytes": 1},
            "b.html": {"sha256": sha256(b"").hexdigest(), "bytes": 0},
        },
    }
    assert list(value["files"]) == ["a/ü.html", "b.html"]
    schema("build").validate(value)


def test_build_json_does_not_depend_on_the_order_of_files():
    files = {"b.html": b"b", "a.html": b"a"}
    assert build_json("b1", COUNTS, files) == build_json("b1", COUNTS, dict(sorted(files.items())))


def test_prevents_a_manifest_that_hashes_itself():
    with pytest.raises(ValueError, match="own hash"):
        build_json("b1", COUNTS, {"build.json": b""})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("version", "1"),
        ("build_id", None),
        ("counts", {"documents": 1}),
        ("counts", {"documents": -1, "passages": 0, "citations": 0, "bound": 0, "refused": 0}),
        ("files", {"build.json": {"sha256": "0" * 64, "bytes": 1}}),
        ("files", {"/a": {"sha256": "0" * 64, "bytes": 1}}),
        ("files", {"a": {"sha256": "0" * 63, "bytes": 1}}),
        ("files", {"a": {"sha256": "0" * 64, "bytes": 1, "more": 1}}),
        ("more", 1),
    ],
)
def test_the_build_schema_refuses(key, value):
    good = json.loads(build_json("b1", COUNTS, {"a": b""}))
    with pytest.raises(jsonschema.ValidationError):
        schema("build").validate(good | {key: value})


NAV = (
    NavItem("Home", "index.html", "index", ""),
    NavItem("Set [up] & go", "guide/a b.html", "guide/a b", "guide", "First\nsteps."),
    NavItem("Guide", "guide/index.html", "guide/index", "guide", "How to."),
)


def test_without_a_base_url_there_is_no_sitemap_and_links_are_relative():
    files = index_files(context("", *NAV))
    assert files == {
        "robots.txt": b"User-agent: *\nAllow: /\n",
        "llms.txt": (
            b"# The *site*\n\n> What it is.\n\n"
            b"## Pages\n\n- [Home](index.html)\n\n"
            b"## Guide\n\n- [Guide](guide/index.html): How to.\n"
            b"- [Set \\[up\\] & go](guide/a%20b.html): First steps.\n\n"
            b"## Evidence\n\n- [Every claim with its quote](evidence.html)\n"
        ),
    }


def test_with_a_base_url_every_url_is_absolute():
    files = index_files(context("https://ex.org/dö&cs/", *NAV))
    root = ElementTree.fromstring(files["sitemap.xml"])
    assert [loc.text for loc in root.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")] == [
        "https://ex.org/d%C3%B6&cs/",
        "https://ex.org/d%C3%B6&cs/guide/a%20b.html",
        "https://ex.org/d%C3%B6&cs/guide/index.html",
        "https://ex.org/d%C3%B6&cs/evidence.html",
    ]
    assert b"\nSitemap: https://ex.org/d%C3%B6&cs/sitemap.xml\n" in files["robots.txt"]
    assert b"](https://ex.org/d%C3%B6&cs/guide/a%20b.html)" in files["llms.txt"]


def test_a_sitemap_beyond_the_limit_of_the_protocol_is_split(monkeypatch):
    monkeypatch.setattr(indexes, "SITEMAP_URLS_MAX", 3)
    files = index_files(context("https://ex.org", *NAV))
    assert sorted(files) == [
        "llms.txt",
        "robots.txt",
        "sitemap-1.xml",
        "sitemap-2.xml",
        "sitemap.xml",
    ]
    assert files["sitemap.xml"].count(b"<sitemap><loc>https://ex.org/sitemap-") == 2
    assert files["sitemap-1.xml"].count(b"<url>") == 3
    assert files["sitemap-2.xml"].count(b"<url>") == 1
