"""Compares the handbook and the project's documents with the code that they describe."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args, get_origin

import click
import msgspec
import pytest
from markdown_it import MarkdownIt

from bench.evidence.claims import base_of
from exactquote.cli import exactquote as group
from exactquote.cli import main
from exactquote.cli.knowledge import opened
from exactquote.codes import CODES
from exactquote.disk.corpus import read_corpus
from exactquote.disk.theme import load_theme
from exactquote.embed.cache import VectorCache, default_cache_folder
from exactquote.embed.remembering import Remembering
from exactquote.model import Article, Build, CitationFile, Document, Written
from exactquote.pipeline import build
from exactquote.readers.markdown import read_markdown
from exactquote.readers.mdx import read_mdx
from exactquote.readers.sidecar import read_sidecar
from exactquote.settings import (
    ChatSettings,
    DeclinedSettings,
    DialSettings,
    KnowledgeSettings,
    LeadSettings,
    LimitSettings,
    MdxSettings,
    PriceSettings,
    ProviderSettings,
    RateSettings,
    RefusalLine,
    RequestSettings,
    Settings,
    StoreSettings,
    TimeoutSettings,
)
from exactquote_site.knowledge.evidence import find_support

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "corpus"
SOURCES = sorted(path for path in CORPUS.rglob("*") if path.suffix in (".md", ".mdx"))
DOCUMENTS = [
    ROOT / f"{name}.md" for name in ("README", "ARCHITECTURE", "CONTRIBUTING", "CHANGELOG")
]
SIDECARS = sorted(CORPUS.rglob("*.citations.*"))
MARKDOWN = MarkdownIt("commonmark").enable("table")
INVARIANTS = 9
SHARED_OPTIONS = "Shared options"
# What click adds to each command by itself.
HELP = {"-h", "--help"}
PAGES_MIN = 15
CITATIONS_MIN = 45


@cache
def commands() -> dict[str, click.Command]:
    context = click.Context(group)
    found = {name: group.get_command(context, name) for name in group.list_commands(context)}
    return {name: command for name, command in found.items() if command is not None}


@cache
def settings() -> Settings:
    text = (ROOT / "exactquote.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Settings)


@cache
def article(path: Path) -> Article:
    """A page of the handbook as the readers see it."""
    name = path.relative_to(CORPUS).as_posix()
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".mdx":
        return read_mdx(Document(name[:-4], name, "mdx", text), settings())
    return read_markdown(Document(name[:-3], name, "markdown", text), settings())


@cache
def citations() -> tuple[Written, ...]:
    """Every citation of the handbook, inline and in citation files."""
    inline = [written for path in SOURCES for written in article(path).written]
    beside = [
        written
        for path in SIDECARS
        for written in read_sidecar(CitationFile(path.name, path.read_text(encoding="utf-8")))[0]
    ]
    return (*inline, *beside)


def section(text: str, title: str) -> str:
    """What stands under a second-level heading, up to the next one."""
    found = re.search(rf"^## {re.escape(title)}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def definitions(text: str) -> dict[str, str]:
    """Terms of the definition lists in a Markdown text, with their definitions."""
    return dict(re.findall(r"^(\S[^\n]*)\n: ([^\n]+)$", text, re.MULTILINE))


def commands_shown(text: str) -> Iterator[list[str]]:
    """The words of each `exactquote …` command that a document shows as code."""
    for token in (
        child for block in MARKDOWN.parse(text) for child in (block, *(block.children or ()))
    ):
        if token.type in ("fence", "code_inline"):
            for line in token.content.splitlines():
                shown = re.match(r"(?:\$ |exec |\s*- (?:run: )?)?exactquote ([^#]+)", line)
                if shown:
                    yield shown[1].split()


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_a_page_that_explains_it(code: str) -> None:
    page = article(CORPUS / "codes" / f"{code}.md")
    assert page.title == f"{code} {CODES[code].name}"
    assert page.summary
    text = (CORPUS / "codes" / f"{code}.md").read_text(encoding="utf-8")
    for title in ("Example", "Why it matters", "How to mend it", "Severity"):
        assert section(text, title).strip(), title
    severity = section(text, "Severity")
    assert ("Core: always an error." in severity) is CODES[code].core
    if not CODES[code].core:
        assert f"{CODES[code].severity} by default" in severity
    assert not page.written, "explain prints this page, where a citation is only noise"


def test_no_page_explains_a_code_that_does_not_exist() -> None:
    assert {path.stem for path in (CORPUS / "codes").glob("EQ*")} == set(CODES)


@pytest.mark.parametrize("code", CODES)
def test_the_table_of_codes_agrees_with_the_code(code: str) -> None:
    row = CODES[code]
    severity = "core" if row.core else row.severity
    link = f"[{code}](../codes/{code}.md)"
    wanted = f"| {link} | {row.name} | {row.summary} | {severity} |"
    assert wanted in (CORPUS / "reference/codes.md").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    ("struct", "titles"),
    [
        (Settings, ("The site", "Which pages")),
        (MdxSettings, ("MDX",)),
        (LimitSettings, ("Limits",)),
        (KnowledgeSettings, ("The knowledge base",)),
        (ChatSettings, ("The chat",)),
        (ProviderSettings, ("The model",)),
        (PriceSettings, ("Prices",)),
        (RateSettings, ("Rates",)),
        (RequestSettings, ("Requests",)),
        (TimeoutSettings, ("Time limits",)),
        (DialSettings, ("Dials",)),
        (StoreSettings, ("What is kept",)),
        (LeadSettings, ("Leads",)),
        (RefusalLine, ("The refusal sentence",)),
        (DeclinedSettings, ("Declined topics",)),
    ],
)
def test_configuration_names_every_key_with_its_default(
    struct: type[msgspec.Struct], titles: tuple[str, ...]
) -> None:
    text = (CORPUS / "reference/configuration.md").read_text(encoding="utf-8")
    explained = definitions("".join(section(text, title) for title in titles))
    fields = {field.name: field for field in msgspec.structs.fields(struct)}
    assert set(explained) == {name for name in fields if not is_table(struct, name)}
    for key, words in explained.items():
        if isinstance(fields[key].default, bool):
            assert f"Default: `{str(fields[key].default).lower()}`." in words, key
        elif isinstance(fields[key].default, int):
            assert f"Default: {fields[key].default:,}." in words, key
        elif isinstance(fields[key].default, float):
            assert f"Default: {fields[key].default:g}." in words, key
        elif isinstance(fields[key].default, str) and fields[key].default:
            assert f'Default: `"{fields[key].default}"`.' in words, key
        else:
            assert "Default: " in words, key
    for table in (name for name in fields if is_table(struct, name)):
        assert re.search(rf"`\[*(chat\.)?(provider\.)?{table}\]*`", text), table


def is_table(struct: type[msgspec.Struct], name: str) -> bool:
    """Whether a key stands in a section of its own."""
    if name == "severity" and struct is Settings:
        return True
    wanted = next(field.type for field in msgspec.structs.fields(struct) if field.name == name)
    inner = get_args(wanted)[0] if get_origin(wanted) is list else wanted
    return isinstance(inner, type) and issubclass(inner, msgspec.Struct)


@pytest.mark.parametrize("name", sorted(commands()))
def test_the_reference_names_every_option_of_a_command_and_no_other(name: str) -> None:
    text = (CORPUS / "reference/cli.md").read_text(encoding="utf-8")
    part = section(text, name)
    assert f"$ exactquote {name}" in part
    if "(#shared-options) apply" in part:
        part += section(text, SHARED_OPTIONS)
    explained = {
        flag
        for term in definitions(part)
        for flag in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", term)
    }
    parameters = commands()[name].params
    options = [one for one in parameters if isinstance(one, click.Option)]
    assert explained == {flag for one in options for flag in (*one.opts, *one.secondary_opts)}
    for argument in (one for one in parameters if isinstance(one, click.Argument)):
        assert (argument.metavar or argument.human_readable_name).upper() in part.upper()


def test_the_reference_has_no_section_for_a_command_that_does_not_exist() -> None:
    text = (CORPUS / "reference/cli.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^## ([a-z]+)$", text, re.MULTILINE)) == set(commands())
    for flag in (flag for one in group.params for flag in one.opts):
        assert f"`{flag}`" in text or f"exactquote {flag}`" in text


@pytest.mark.parametrize("path", [*SOURCES, *DOCUMENTS], ids=lambda path: path.name)
def test_every_command_shown_exists(path: Path) -> None:
    for name, *words in commands_shown(path.read_text(encoding="utf-8")):
        if name.startswith("-"):
            assert name in HELP | {flag for one in group.params for flag in one.opts}
            continue
        assert name == "COMMAND" or name in commands(), name
        flags = (
            {f for one in commands()[name].params for f in one.opts}
            if name in commands()
            else set()
        )
        for word in words:
            if word.startswith("-"):
                assert word in flags | HELP, (name, word)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_make_target_shown_exists(path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    for target in re.findall(r"(?:\$ |`)make ([a-z]+)", path.read_text(encoding="utf-8")):
        assert target in targets


def test_the_readme_begins_with_what_it_is_and_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    head = readme.partition("![")[0]
    assert "exactquote compiles" in head
    assert head.index("make build") < head.index("make test")


@pytest.mark.parametrize("path", [*SOURCES, *DOCUMENTS], ids=lambda path: path.name)
def test_internal_links_lead_to_a_file(path: Path) -> None:
    text = re.sub(r"\A---\n.*?\n---\n", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for token in MARKDOWN.parse(text):
        for child in token.children or ():
            address = str(child.attrs.get("href", child.attrs.get("src", "")))
            if not address or re.match(r"[a-z]+:", address):
                continue
            name, _, anchor = address.partition("#")
            target = (path.parent / name).resolve() if name else path
            assert target.is_file(), address
            if anchor:
                assert f'id="{anchor}"' in article(target).html, address


@pytest.mark.parametrize(
    "name", ["README.md", "corpus/guide/ten-minutes.mdx", "corpus/guide/mending.md"]
)
def test_the_report_shown_is_what_the_command_prints(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init"]) == 0
    page = tmp_path / "corpus" / "index.md"
    head, cite, claim = page.read_text(encoding="utf-8").rpartition("(cite:")
    assert " when " in claim
    page.write_text(head + cite + claim.replace(" when ", " if "), encoding="utf-8")
    capfdbinary.readouterr()
    assert main(["check"]) == 1
    printed = capfdbinary.readouterr().out.decode().partition("\n\n")[0]
    assert "EQ002" in printed
    assert printed in (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["README.md", "corpus/guide/evidence.md"])
def test_the_claims_shown_are_supported_by_the_handbook(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    claims = re.findall(r'exactquote evidence "([^"]+)"', text)
    assert claims
    for claim in claims:
        assert find_support(claim, *base_of("handbook")).supported, claim


def test_the_handbook_has_what_it_promises() -> None:
    pages = [path for path in SOURCES if path.parent.name != "codes"]
    assert len(pages) >= PAGES_MIN
    assert sum(path.suffix == ".mdx" for path in pages) >= 2
    assert any(article(path).language == "de" for path in pages)
    assert all(article(path).title and article(path).summary for path in SOURCES)


def test_the_handbook_cites_in_every_form() -> None:
    every = citations()
    assert len(every) >= CITATIONS_MIN
    inline = [written for written in every if written.inline >= 0]
    beside = [written for written in every if written.inline < 0]
    assert any(written.ref for written in inline)
    assert any(written.place.path.endswith(".mdx") for written in inline)
    for found in (inline, beside):
        assert any(written.quote_end for written in found)
    for pin in ("prefix", "suffix", "id"):
        assert any(getattr(written, pin) for written in beside), pin
    assert any(written.occurrence for written in beside)
    assert {path.suffix for path in SIDECARS} == {".json", ".yaml", ".toml"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_no_page_of_the_handbook_has_a_fault_of_its_own(path: Path) -> None:
    assert article(path).diagnostics == ()


@cache
def handbook() -> Build:
    folder = default_cache_folder(os.environ)
    embedder = Remembering(opened(settings().knowledge), VectorCache(folder) if folder else None)
    return build(read_corpus(CORPUS, settings()), settings(), load_theme(), embedder=embedder)


def test_the_gate_is_content_with_the_handbook() -> None:
    assert handbook().diagnostics == ()
    assert handbook().counts.bound == handbook().counts.citations == len(citations())
    assert all(verdict.link and verdict.link.directive for verdict in handbook().verdicts)


def test_every_file_of_a_build_names_the_same_build() -> None:
    files, id = handbook().files, handbook().build_id
    for path, data in files.items():
        if path.endswith(".html"):
            assert f'<meta name="exactquote-build" content="{id}">'.encode() in data, path
        elif path.endswith(".json"):
            assert json.loads(data)["build_id"] == id, path
        elif "knowledge/" in path and not path.endswith(".py"):
            assert data.partition(b"\n")[0].endswith(f" {id}".encode()), path
    listed = json.loads(files["build.json"])["files"]
    assert set(listed) == set(files) - {"build.json"}
    for path, record in listed.items():
        assert record["sha256"] == hashlib.sha256(files[path]).hexdigest(), path


def test_the_handbook_has_the_same_bytes_in_any_surroundings(tmp_path: Path) -> None:
    surroundings = [
        {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati", "LC_ALL": "C"},
        {"PYTHONHASHSEED": "2", "TZ": "America/St_Johns", "LC_ALL": "tr_TR.UTF-8"},
    ]
    for number, variables in enumerate(surroundings):
        cwd = tmp_path / f"here {number}"
        cwd.mkdir()
        command = ["build", str(CORPUS), "--quiet", "--output", "out"]
        subprocess.run(
            [sys.executable, "-m", "exactquote", *command],
            cwd=cwd,
            env={**os.environ, **variables, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=True,
        )
        made = sorted(path for path in (cwd / "out").rglob("*") if path.is_file())
        found = {path.relative_to(cwd / "out").as_posix(): path.read_bytes() for path in made}
        assert found == dict(handbook().files)


def test_every_kind_of_file_of_a_build_is_explained() -> None:
    text = (CORPUS / "reference/dist.md").read_text(encoding="utf-8")
    for path in handbook().files:
        name = path if "/" not in path else f"{path.partition('/')[0]}/"
        pictures = name == "img/"
        pages = path.endswith(".html") and path not in ("evidence.html", "404.html")
        assert f"`{'*.html' if pages else name}" in text or pictures, path
    assert "img/site.png" in handbook().files


def test_every_invariant_names_tests_that_exist() -> None:
    table = section((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"), "Invariants")
    rows = re.findall(r"^\| ([0-9]+) \|[^|]+\|([^|]+)\|$", table, re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, INVARIANTS + 1))
    for number, tests in rows:
        named = re.findall(r"`(tests/[\w/.]+)(?:::(\w+))?`", tests)
        assert named, number
        for file, function in named:
            assert (ROOT / file).is_file(), file
            if function:
                assert f"def {function}(" in (ROOT / file).read_text(encoding="utf-8"), function
