"""What is read from a corpus folder, and what is refused there."""

from __future__ import annotations

import os
import socket
import unicodedata
from pathlib import Path

import pytest

from exactquote.disk.corpus import read_corpus
from exactquote.disk.refusal import Refusal
from exactquote.disk.site_dir import is_site, read_site
from exactquote.model import Corpus
from exactquote.settings import LimitSettings, Settings

SETTINGS = Settings()


def make(root: Path, files: dict[str, bytes]) -> Path:
    for path, content in files.items():
        file = Path(os.fsdecode(os.fsencode(root) + b"/" + os.fsencode(path)))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return root


def told(corpus: Corpus) -> list[tuple[str, str]]:
    return [(found.code, found.place.path) for found in corpus.diagnostics]


def test_documents_sidecars_and_assets_are_read_in_sorted_order(tmp_path: Path) -> None:
    names = ["b.md", "a/z.mdx", "a/Y.MARKDOWN", "a.citations.yml", "B2.MD", "ü.md", "x.png"]
    others = [".hidden.md", ".git/a.md", "node_modules/p/a.md", "a.py", "data.json", "page.html"]
    root = make(tmp_path, dict.fromkeys([*names, *others], b"text\n"))
    make(tmp_path, {"a.md": b"text\n"})
    corpus = read_corpus(root, SETTINGS)
    assert [(d.id, d.path, d.format) for d in corpus.documents] == [
        ("B2", "B2.MD", "markdown"),
        ("a", "a.md", "markdown"),
        ("a/Y", "a/Y.MARKDOWN", "markdown"),
        ("a/z", "a/z.mdx", "mdx"),
        ("b", "b.md", "markdown"),
        ("ü", "ü.md", "markdown"),
    ]
    assert [file.path for file in corpus.citation_files] == ["a.citations.yml"]
    assert dict(corpus.assets) == {"x.png": b"text\n"}
    assert corpus.diagnostics == ()


DECODED = [
    # bytes, the text, or the place and a part of the message
    (b"a\r\nb\rc\n", "a\nb\nc\n"),
    (b"\xef\xbb\xbf# T\n", "# T\n"),
    ("\u2028\x0c\x85".encode(), "\u2028\x0c\x85"),
    (b"", ""),
    (b"\xff\xfea\x00", (1, 1, "the file is UTF-16, not UTF-8")),
    (b"\xfe\xff\x00a", (1, 1, "the file is UTF-16")),
    (b"\xff\xfe\x00\x00a\x00\x00\x00", (1, 1, "the file is UTF-32")),
    (b"ab\r\nc\xe9d\n", (2, 2, "byte 0xe9 at offset 5")),
    (b"\xef\xbb\xbfa\xff", (1, 2, "byte 0xff at offset 4")),
    ("äö\n".encode() + b"x\xed\xa0\x80", (2, 2, "byte 0xed at offset 6")),
    (b"a\n\nb\x00", (3, 2, "NUL")),
    (b"a\x00b\x00", (1, 2, "UTF-16 without a mark")),
]


@pytest.mark.parametrize(("content", "wanted"), DECODED)
@pytest.mark.parametrize("name", ["a.md", "b.citations.json"])
def test_text_is_utf8_or_its_fault_is_placed(
    tmp_path: Path, name: str, content: bytes, wanted: str | tuple[int, int, str]
) -> None:
    corpus = read_corpus(make(tmp_path, {name: content, "b.md": b""}), SETTINGS)
    texts = {d.path: d.text for d in corpus.documents}
    texts |= {file.path: file.text for file in corpus.citation_files}
    if isinstance(wanted, str):
        assert texts[name] == wanted
        assert corpus.diagnostics == ()
        return
    line, column, message = wanted
    assert name not in texts
    (found,) = corpus.diagnostics
    assert (found.code, found.place.path) == ("EQ024", name)
    assert (found.place.line, found.place.column) == (line, column)
    assert message in found.message + found.help
    assert found.help


def test_a_file_over_the_limit_is_named_and_one_at_the_limit_is_read(tmp_path: Path) -> None:
    root = make(tmp_path, {"a.md": b"x" * 100, "b.md": b"x" * 101, "c.png": b"x" * 200})
    corpus = read_corpus(root, Settings(limits=LimitSettings(file_bytes_max=100)))
    assert [d.id for d in corpus.documents] == ["a"]
    assert told(corpus) == [("EQ024", "b.md"), ("EQ024", "c.png")]
    assert "101 bytes; the limit is 100" in corpus.diagnostics[0].message


def test_prevents_reading_through_links_and_special_files(tmp_path: Path) -> None:
    outside = make(tmp_path / "outside", {"secret.md": b"secret", "deep/page.md": b"secret"})
    root = make(tmp_path / "corpus", {"a.md": b"fine", "sub/b.md": b"fine"})
    (root / "link.md").symlink_to(outside / "secret.md")
    (root / "inner.md").symlink_to("a.md")
    (root / "folder").symlink_to(outside)
    (root / "loop").symlink_to(root)
    (root / "dangling.mdx").symlink_to("nowhere")
    (root / "a.citations.json").symlink_to(outside / "secret.md")
    (root / "picture.png").symlink_to(outside / "secret.md")
    os.mkfifo(root / "pipe.md")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        os.chdir(root)
        listener.bind("socket.md")
        os.chdir(here)
    # What would never be read is no fault, whatever it is.
    (root / "LICENSE").symlink_to(outside / "secret.md")
    (root / ".venv").symlink_to(outside)
    (root / "node_modules").symlink_to(outside)
    (root / ".#a.md").symlink_to("editor@host")
    os.mkfifo(root / "pipe")
    corpus = read_corpus(root, SETTINGS)
    assert [d.id for d in corpus.documents] == ["a", "sub/b"]
    assert corpus.citation_files == ()
    assert dict(corpus.assets) == {}
    names = "a.citations.json dangling.mdx folder inner.md link.md loop picture.png pipe.md"
    assert told(corpus) == [("EQ024", name) for name in [*names.split(), "socket.md"]]
    messages = {found.place.path: found.message for found in corpus.diagnostics}
    assert "symbolic link" in messages["inner.md"]
    assert "pipe" in messages["pipe.md"]
    assert "socket" in messages["socket.md"]
    assert "secret" not in repr(corpus)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="the system has no /dev/zero")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device")
def test_prevents_reading_a_device_for_ever(tmp_path: Path) -> None:
    try:
        os.mknod(tmp_path / "zero.md", 0o666 | 0o020000, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("this system lets not even root make a device")
    assert told(read_corpus(tmp_path, SETTINGS)) == [("EQ024", "zero.md")]


TWINS = [
    (["a.md", "a.mdx"], ("a.mdx", "a.md")),
    (["a.md", "a.markdown"], ("a.md", "a.markdown")),
    (["A.md", "a.md"], ("a.md", "A.md")),
    (["Guide/a.md", "guide/A.mdx"], ("guide/A.mdx", "Guide/a.md")),
    (["é.md", "e\u0301.md"], ("é.md", "e\u0301.md")),
    (["straße.md", "STRASSE.md"], ("straße.md", "STRASSE.md")),
    (["a.md", "b.md"], None),
    (["a.md", "a/index.md"], None),
]


@pytest.mark.parametrize(("names", "wanted"), TWINS)
def test_two_files_that_make_one_page_are_both_named(
    tmp_path: Path, names: list[str], wanted: tuple[str, str] | None
) -> None:
    corpus = read_corpus(make(tmp_path, dict.fromkeys(names, b"x")), SETTINGS)
    if wanted is None:
        assert corpus.diagnostics == ()
        assert len(corpus.documents) == len(names)
        return
    (found,) = corpus.diagnostics
    assert found.code == "EQ023"
    assert (found.place.path, found.related[0].place.path) == wanted
    assert wanted[1] in found.message
    assert [d.path for d in corpus.documents] == [wanted[1]]


def test_an_id_is_composed_and_a_path_is_as_it_is(tmp_path: Path) -> None:
    name = unicodedata.normalize("NFD", "größe.md")
    (document,) = read_corpus(make(tmp_path, {name: b"x"}), SETTINGS).documents
    assert (document.id, document.path) == ("größe", name)


CITATION_NAMES = [
    # name, what it should have been called (None: not taken for a citation file)
    ("a.citation.json", "a.citations.json"),
    ("a.citations.jsn", "a.citations.json"),
    ("a.cite.json", "a.citations.json"),
    ("a.cites.yaml", "a.citations.yaml"),
    ("a.Citations.JSON", "a.citations.json"),
    ("a.citations.JSON", "a.citations.json"),
    ("a.citations", "a.citations.json"),
    ("a.citatoins.toml", "a.citations.toml"),
    ("a.citations.json5", "a.citations.json"),
    ("a.citations.txt", "a.citations.json"),
    ("a.citations.json.txt", "a.citations.json"),
    ("a.citations.yaml.yaml", "a.citations.yaml"),
    ("a-citations.json", "a.citations.json"),
    ("a_citations.yml", "a.citations.yml"),
    ("citations.json", "NAME.citations.json"),
    (".a.citations.json", "a.citations.json"),
    ("a.citations.json~", None),
    ("a.citations.json.bak", None),
    (".a.citations.json.swp", None),
    (".#a.citations.json", None),
    ("#a.citations.json#", None),
    ("how-to-cite.json", None),
    ("cities.json", None),
    ("citations.py", None),
    ("explicit.yaml", None),
    ("package.json", None),
]


@pytest.mark.parametrize(("name", "right"), CITATION_NAMES)
def test_prevents_a_citation_file_that_nobody_reads(
    tmp_path: Path, name: str, right: str | None
) -> None:
    corpus = read_corpus(make(tmp_path, {"a.md": b"x", name: b"[]"}), SETTINGS)
    if right is None:
        assert told(corpus) == []
        return
    assert told(corpus) == [("EQ021", name)]
    assert f"rename it to {right}" in corpus.diagnostics[0].help
    assert corpus.citation_files == ()


def test_a_page_about_citations_is_a_page(tmp_path: Path) -> None:
    names = ["citations.md", "how-to.cite.mdx", "a.citations.md"]
    corpus = read_corpus(make(tmp_path, dict.fromkeys(names, b"x")), SETTINGS)
    assert corpus.diagnostics == ()
    assert len(corpus.documents) == 3


@pytest.mark.parametrize("document", ["a.md", "a.mdx", "a.markdown", "a/index.md"])
def test_a_sidecar_belongs_to_the_document_beside_it(tmp_path: Path, document: str) -> None:
    files = {document: b"x", "a.citations.json": b"[]", "sub/a.citations.toml": b""}
    corpus = read_corpus(make(tmp_path, files), SETTINGS)
    assert told(corpus) == [("EQ021", "sub/a.citations.toml")]
    assert "sub/a.md or sub/a.markdown or sub/a.mdx" in corpus.diagnostics[0].help
    # A stray one is read all the same, so that its own faults are told in the same run.
    assert [file.path for file in corpus.citation_files] == [
        "a.citations.json",
        "sub/a.citations.toml",
    ]


ODD_NAMES = [
    # name, part of the message (None: it works), path as shown
    ("a\nb.md", "U+000A", "a\nb.md"),
    ("a\x1b[31m.md", "U+001B", "a\x1b[31m.md"),
    ("a\u2028.md", "U+2028", "a\u2028.md"),
    ("a\u202egnp.md", "U+202E, which reorders text", "a\u202egnp.md"),
    ("a\\b.md", "backslash", "a\\b.md"),
    (os.fsdecode(b"a\xff.md"), "aren't UTF-8", "a\\xff.md"),
    (os.fsdecode(b"d\xff/a.md"), "aren't UTF-8", "d\\xff/a.md"),
    ("con.md", None, ""),
    ("a...md", None, ""),
    ("a .md", None, ""),
    (" .md", None, ""),
    ("dot./a.md", None, ""),
    ("a:b.md", None, ""),
    ("a?b#c%20d&e.md", None, ""),
    ("'\"<b>.md", None, ""),
    ("👩‍🚀.md", None, ""),
    ("می‌خواهم.md", None, ""),
    ("page.md/inner.md", None, ""),
]


@pytest.mark.parametrize(("name", "message", "shown"), ODD_NAMES)
def test_an_odd_name_works_or_is_told(
    tmp_path: Path, name: str, message: str | None, shown: str
) -> None:
    corpus = read_corpus(make(tmp_path, {name: b"x"}), SETTINGS)
    if message is None:
        assert [d.path for d in corpus.documents] == [name]
        assert corpus.diagnostics == ()
        return
    assert corpus.documents == ()
    assert told(corpus) == [("EQ024", shown)]
    assert message in corpus.diagnostics[0].message
    shown.encode("utf-8")


def test_a_folder_that_cannot_be_listed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make(tmp_path, {"a.md": b"x", "closed/b.md": b"x"})
    real = os.scandir

    def scandir(path: bytes) -> object:
        if os.fsencode(path).endswith(b"/closed"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    corpus = read_corpus(root, SETTINGS)
    assert told(corpus) == [("EQ024", "closed")]
    assert "Permission denied" in corpus.diagnostics[0].message
    assert [d.id for d in corpus.documents] == ["a"]


def test_the_output_inside_the_corpus_is_not_read(tmp_path: Path) -> None:
    files = {
        "a.md": b"x",
        "out/a.md": b"x",
        "old/a.md": b"x",
        "old/build.json": b'{"build_id":"1"}',
    }
    root = make(tmp_path, {**files, "kept/a.md": b"x", "kept/build.json": b"{}"})
    corpus = read_corpus(root, SETTINGS, skip=[root / "out"])
    assert [d.id for d in corpus.documents] == ["a", "kept/a"]


def test_very_deep_folders_are_read(tmp_path: Path) -> None:
    deep = "/".join(["d"] * 500)
    corpus = read_corpus(make(tmp_path, {f"{deep}/a.md": b"x"}), SETTINGS)
    assert [d.id for d in corpus.documents] == [f"{deep}/a"]


@pytest.mark.parametrize("read", [read_corpus, read_site])
def test_a_root_that_is_no_folder_is_refused(tmp_path: Path, read: object) -> None:
    make(tmp_path, {"file.md": b"x"})
    for name, message in (("absent", "no such folder"), ("file.md", "is a file")):
        with pytest.raises(Refusal, match=message):
            read(tmp_path / name, SETTINGS)  # type: ignore[operator]


def test_extra_citation_files_are_read_once_and_named_from_the_root(tmp_path: Path) -> None:
    make(tmp_path, {"c.json": b"[]", "root/a.md": b"x", "root/a.citations.json": b"[]"})
    root = tmp_path / "root"
    extra = [tmp_path / "c.json", root / "a.citations.json", tmp_path / "root/../c.json"]
    corpus = read_corpus(root, SETTINGS, extra_citations=extra)
    assert [file.path for file in corpus.citation_files] == ["a.citations.json", "../c.json"]


@pytest.mark.parametrize("name", ["absent.json", "c.txt", "folder.json"])
def test_an_extra_citation_file_must_be_one(tmp_path: Path, name: str) -> None:
    make(tmp_path, {"a.md": b"x", "c.txt": b"x", "folder.json/x": b"x"})
    with pytest.raises(Refusal, match=name):
        read_corpus(tmp_path, SETTINGS, extra_citations=[tmp_path / name])


def test_a_built_site_is_read_page_by_page(tmp_path: Path) -> None:
    names = ["index.html", "guide/index.html", "API.html", "api.html", "old.htm", "citations.json"]
    root = make(tmp_path, dict.fromkeys([*names, "guide.citations.json", "b.citations.json"], b"x"))
    make(root, {"css/site.css": b"p{}", "picture.png": b"x", "build.json": b'{"build_id":"x"}'})
    corpus = read_site(root, SETTINGS)
    assert [(d.id, d.format) for d in corpus.documents] == [
        ("API", "html"),
        ("api", "html"),
        ("guide/index", "html"),
        ("index", "html"),
        ("old", "html"),
    ]
    assert dict(corpus.assets) == {"css/site.css": b"p{}"}
    assert told(corpus) == [("EQ021", "b.citations.json")]


SITES = [
    (["index.html"], True),
    (["a/b.HTM"], True),
    (["index.html", "a.md"], False),
    (["a.mdx"], False),
    ([], False),
    (["x.png"], False),
    (["index.html", ".cache/a.md", "node_modules/p/README.md"], True),
]


@pytest.mark.parametrize(("names", "wanted"), SITES)
def test_a_folder_of_html_alone_is_a_site(tmp_path: Path, names: list[str], wanted: bool) -> None:
    assert is_site(make(tmp_path, dict.fromkeys(names, b"x"))) is wanted
