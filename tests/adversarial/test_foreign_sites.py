"""Pages as other generators build them; each names, in its last comment, what is bound on it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from exactquote.browsers.oracle import Link
from tests.browser.landing import assert_lands

from .driver import Report, run, tree

FOREIGN = Path(__file__).with_name("foreign")
PAGES = sorted(path.stem for path in FOREIGN.glob("*.html"))


def wanted(page: str) -> list[tuple[str, str]]:
    """What should become of each passage of a page: "bound" or a code, and the passage."""
    html = (FOREIGN / f"{page}.html").read_text(encoding="utf-8")
    lines = html.rpartition("<!-- wanted\n")[2].removesuffix("\n-->\n").split("\n")
    return [(status, quote) for status, _, quote in (line.partition(" | ") for line in lines)]


@cache
def report() -> Report:
    """The report on all pages together, every passage of theirs cited by page and number."""
    entries = [
        {"id": f"{page}-{number}", "doc": page, "quote": quote}
        for page in PAGES
        for number, (_, quote) in enumerate(wanted(page))
    ]
    with TemporaryDirectory() as folder:
        citations = Path(folder) / "wanted.json"
        citations.write_text(json.dumps(entries), encoding="utf-8")
        done = run("check", FOREIGN, "--site", "--citations", citations, "--format", "json")
    assert done.returncode == 1, done.stderr
    read: Report = json.loads(done.stdout)
    return read


@pytest.mark.parametrize("page", PAGES)
def test_prevents_a_foreign_page_from_being_read_otherwise_than_by_browsers(page: str) -> None:
    by_id = {one["id"]: one for one in report()["citations"]}
    verdicts = [by_id[f"{page}-{number}"] for number in range(len(wanted(page)))]
    got = [
        (verdict["code"] or verdict["status"], quote)
        for verdict, (_, quote) in zip(verdicts, wanted(page), strict=True)
    ]
    assert got == wanted(page)


def test_prevents_a_bound_link_into_a_foreign_page_from_missing() -> None:
    links = [
        Link(one["href"], one["quote"])
        for one in report()["citations"]
        if one["status"] == "bound"
    ]
    assert len(links) > 60
    assert_lands(tree(FOREIGN), links)
