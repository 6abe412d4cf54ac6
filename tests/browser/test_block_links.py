"""A sentence that no directive pins is shown by its block, in real browsers."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from exactquote.browsers.landing import BrowserName
from exactquote.browsers.links import Links, links_of_build
from exactquote.browsers.oracle import BROWSERS as NAMES
from exactquote.browsers.oracle import judge_one
from exactquote.browsers.server import Server
from exactquote.model import Build
from tests.browser.landing import Browsers, assert_lands
from tests.compiling import compiled, corpus_of

BEFORE, AFTER = (
    "\n\n".join(f"Paragraph {n} stands {side} them all." for n in range(60))
    for side in ("before", "after")
)
# Equal sentences with equal neighbours, in each kind of block that a page may have.
STORIES = {
    "list items": "- Ask first.\n" * 5,
    "loose list items": "- Ask first.\n\n  Then wait.\n" * 5,
    "numbered items": "1. Ask first.\n" * 5,
    "table cells": "| A | B |\n| - | - |\n" + "| so it is | so it is |\n" * 4,
    "paragraphs": "So it is.\n\n" * 5,
    "quotations": "> So it is.\n>\n" * 5,
    "code": "```\na = b\n```\n\n" * 4,
    "terms": "<dl>" + "<dt>Ask first.</dt><dd>Then wait.</dd>" * 5 + "</dl>\n",
    "captions": "<figure><figcaption>So it is.</figcaption></figure>\n" * 5,
    "summaries": "<details><summary>Ask first.</summary></details>\n" * 5,
    "closed details": "<details><summary>More</summary>\n\n" + "So it is.\n\n" * 5 + "</details>\n",
    "nested details": (
        "<details><summary>More</summary><details><summary>Still more</summary>\n\n"
        + "So it is.\n\n" * 5
        + "</details></details>\n"
    ),
    "an item with an id": "<ul>" + "<li>Ask first.</li>" * 3 + "<li id=mine>Ask first.</li>"
    "<li>Ask first.</li></ul>\n",
    "inline ids": "".join(f"- <b id=b{n}>Ask</b> first.\n" for n in range(5)),
}  # fmt: skip


def built(story: str) -> tuple[Build, Links]:
    cited = json.dumps([{"doc": "index", "quote": "Paragraph 7 stands before them all."}])
    text = f"# Hours\n\n{BEFORE}\n\n{STORIES[story]}\n\n{AFTER}\n"
    made = compiled(corpus_of({"index.md": text, "index.citations.json": cited}))
    assert not made.failed, made.diagnostics
    return made, links_of_build(made.build_id, made.files)


@pytest.mark.parametrize("story", STORIES)
def test_every_sentence_is_shown(browsers: Browsers, story: str) -> None:
    made, links = built(story)
    blocks = [asked.link for asked in links.others if asked.link.by_block]
    assert blocks, "every sentence was pinned"
    assert links.by_element_id == 0
    assert_lands(made.files, blocks[:3], NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_prevents_another_block_from_passing(browsers: Browsers, name: BrowserName) -> None:
    made, links = built("list items")
    (link, *_) = [asked.link for asked in links.others if asked.link.by_block]
    with Server(made.files) as server:
        url = server.url(link.url)
        for wrong in (
            replace(link, url=url, quote="Ask last."),
            replace(link, url=url, element_id="hours"),
            replace(link, url=server.url("index.html#absent")),
        ):
            assert not judge_one(browsers[name], wrong).exact


def test_an_id_never_takes_one_that_is_there() -> None:
    made, links = built("list items")
    (link, *_) = [asked.link for asked in links.others if asked.link.by_block]
    taken = link.element_id or ""
    STORIES["taken"] = STORIES["list items"] + f"\n<b id={taken}>Bold words.</b>\n"
    try:
        made, links = built("taken")
    finally:
        del STORIES["taken"]
    ids = {asked.link.element_id for asked in links.others if asked.link.by_block}
    assert f"{taken}-2" in ids
    assert taken not in ids
    html = made.files["index.html"].decode()
    assert html.count(f'id="{taken}"') == 1


def test_ids_stay_while_other_sentences_change() -> None:
    first = built("list items")[1]
    STORIES["changed"] = f"Another paragraph.\n\n{STORIES['list items']}"
    try:
        second = built("changed")[1]
    finally:
        del STORIES["changed"]
    assert {a.link.element_id for a in first.others} == {a.link.element_id for a in second.others}
