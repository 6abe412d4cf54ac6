"""Pages as other generators build them; each says in its last comment what becomes of its words.

A line there is `bound | passage` or `EQ007 | passage`. Where the verdict is wrong today, the
reason stands behind it, as in `EQ013 though all browsers land | passage`.
"""

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


def wanted(page: str) -> list[tuple[str, str, str]]:
    """Of each passage of a page its verdict, what is wrong with that, and the passage."""
    html = (FOREIGN / f"{page}.html").read_text(encoding="utf-8")
    lines = html.rpartition("<!-- wanted\n")[2].removesuffix("\n-->\n").split("\n")
    heads = [(line.partition(" | ")[0].partition(" "), line.partition(" | ")[2]) for line in lines]
    return [(verdict, wrong, quote) for (verdict, _, wrong), quote in heads]


@cache
def report() -> Report:
    """The report on all pages together, every passage of theirs cited by page and number."""
    entries = [
        {"id": f"{page}-{number}", "doc": page, "quote": quote}
        for page in PAGES
        for number, (_, _, quote) in enumerate(wanted(page))
    ]
    with TemporaryDirectory() as folder:
        citations = Path(folder) / "wanted.json"
        citations.write_text(json.dumps(entries), encoding="utf-8")
        done = run("check", FOREIGN, "--site", "--citations", citations, "--format", "json")
    assert done.returncode == 1, done.stderr
    read: Report = json.loads(done.stdout)
    return read


def found(page: str) -> list[Report]:
    """The verdicts on a page's passages; an error of the page itself is a verdict on each."""
    by_id = {one["id"]: one for one in report()["citations"]}
    verdicts = [by_id[f"{page}-{number}"] for number in range(len(wanted(page)))]
    for fault in report()["diagnostics"]:
        if fault["path"].endswith(f"/{page}.html") and fault["severity"] == "error":
            return [{**one, "code": fault["code"]} for one in verdicts]
    return verdicts


@pytest.mark.parametrize("page", PAGES)
def test_prevents_a_foreign_page_from_being_read_otherwise_than_by_browsers(page: str) -> None:
    got = [one["code"] or one["status"] for one in found(page)]
    quotes = [quote for _, _, quote in wanted(page)]
    assert list(zip(got, quotes, strict=True)) == [
        (verdict, quote) for verdict, _, quote in wanted(page)
    ]


def test_prevents_a_bound_link_into_a_foreign_page_from_missing() -> None:
    links = [
        Link(one["href"], one["quote"])
        for page in PAGES
        for one, (_, wrong, _) in zip(found(page), wanted(page), strict=True)
        if not one["code"] and not wrong
    ]
    assert len(links) > 60
    assert_lands(tree(FOREIGN), links)
