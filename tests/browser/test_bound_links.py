"""Whatever the gate binds lands exactly on its passage in real browsers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from exactquote.browsers.oracle import Link
from exactquote.config import load_config
from exactquote.disk.corpus import read_corpus
from exactquote.disk.theme import load_theme
from exactquote.emit.chips import fill_chips
from exactquote.model import CitationFile, Corpus, Document
from exactquote.pipeline import Proof, prove
from exactquote.settings import MdxSettings, Settings
from tests.browser.landing import assert_lands
from tests.shared_data import shared

HANDBOOK = Path(__file__).resolve().parents[2] / "corpus"
BEFORE_CHARS = 40
WEBKIT_LINKS = 20


def bound(proof: Proof, prefix: str = "") -> tuple[dict[str, bytes], list[Link]]:
    """The pages of a proof under a folder, and a link for each citation that was bound."""
    files = {f"{prefix}{path}": data for path, data in load_theme().assets.items()}
    for doc, html in proof.raw.items():
        path = proof.pages[doc].path
        files[f"{prefix}{path}"] = fill_chips(html, {}, path).encode()
    links = []
    for verdict in proof.verdicts:
        if verdict.link is None or verdict.span is None:
            continue
        page = proof.pages[verdict.doc]
        run = page.runs[page.run_at(verdict.span.start)]
        before = page.text[max(run.start, verdict.span.start - BEFORE_CHARS) : verdict.span.start]
        links.append(Link(prefix + verdict.link.href, verdict.quote or "", before=before))
    return files, links


def test_all_56_citations_of_a_foreign_portfolio_land() -> None:
    root = shared("data/trigsight/content")
    proof = prove(read_corpus(root, Settings()), Settings(), load_theme())
    files, links = bound(proof)
    assert len(links) == 56
    assert_lands(files, links)


def test_every_bound_passage_of_the_handed_cases_lands() -> None:
    files: dict[str, bytes] = {}
    links: list[Link] = []
    for line in shared("cases/gate-passages.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        more_files, more_links = bound(case(row), f"{row['id']}/")
        assert more_links or row["right_verdict"] != "pass", row["id"]
        files |= more_files
        links += more_links
    assert len(links) > 25
    assert_lands(files, links)


def test_the_handbooks_own_citations_land() -> None:
    settings, _ = load_config(HANDBOOK, None)
    files, links = bound(prove(read_corpus(HANDBOOK, settings), settings, load_theme()))
    assert len(links) >= 45
    assert_lands(files, links)
    assert_lands(files, links[:WEBKIT_LINKS], ("webkit",))


def case(row: Mapping[str, str]) -> Proof:
    """One handed case, its passage cited from a sidecar beside the page."""
    path = row["file"]
    entry = {"doc": path.rsplit(".", 1)[0], "quote": row["passage"]}
    entry |= {key: row[key] for key in ("prefix", "occurrence") if row[key] is not None}
    stem = path.rsplit(".", 1)[0]
    document = Document(
        stem,
        path,
        "mdx" if path.endswith(".mdx") else "markdown",
        row["mdx"].removeprefix("\ufeff").replace("\r\n", "\n"),
    )
    corpus = Corpus((document,), (CitationFile(f"{stem}.citations.json", json.dumps([entry])),))
    settings = Settings(
        publish=["work/*.mdx", "projects/*.mdx"], mdx=MdxSettings(unknown="transparent")
    )
    return prove(corpus, settings, load_theme())
