"""Gives an element id to each block whose sentences no text directive can point at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from selectolax.lexbor import LexborHTMLParser

from exactquote.emit.chips import fill_chips
from exactquote.model import DeepLink, Passage
from exactquote.rendered.page import Page, read_page

# What a reader sees as one piece when it is marked. The article itself would be the whole page.
BLOCKS = frozenset(
    "blockquote caption dd div dt figcaption h1 h2 h3 h4 h5 h6 li p pre summary td th".split()
)
# Body HTML is our own writing: balanced, names in lower case, double quotes around values.
_TAG = re.compile(
    r"<!--.*?-->|<(?P<name>[a-z][a-z0-9-]*)(?P<rest>(?:[^\"'>]++|\"[^\"]*+\"|'[^']*+')*+)>",
    re.DOTALL,
)
_ID = re.compile(r"\sid=\"([^\"]*)\"")
_ARTICLE = ("<article>", "</article>")
_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))


@dataclass(frozen=True, slots=True)
class Blocks:
    """A page with ids on its blocks. `ids` has those of passages, by passage id.

    A passage that stands in no block of its own, such as bare text of the article, has none.
    """

    html: str
    ids: Mapping[str, str]


def give_ids(html: str, page: Page, passages: Iterable[Passage]) -> Blocks:
    """The page with an id on the block of each passage: its own, or that of the first passage.

    The text that browsers search is the same as before, which is proved by reading it again.
    """
    listed = tuple(passages)
    tags = list(_tags(html)) if listed else []
    if not tags:
        return Blocks(html, {})
    block_of = _blocks_by_run(html, page, tags)
    own, named = _own_ids(html, tags), _named(html)
    taken = set(named)
    given: dict[int, str] = {}
    ids: dict[str, str] = {}
    for passage in listed:
        number = block_of.get(page.run_at(passage.span.start))
        if number is None:
            continue
        if number not in given:
            given[number] = own.get(number) or _free(passage.id, taken)
            taken.add(given[number])
        ids[passage.id] = given[number]
    made = _rewritten(html, tags, {n: i for n, i in given.items() if i != own.get(n)})
    quotes = [(passage.quote, ids[passage.id]) for passage in listed if passage.id in ids]
    _prove(made, page, named, quotes)
    return Blocks(made, ids)


def block_link(page: Page, element_id: str) -> DeepLink:
    """The link to a block of a page."""
    tail = f"#{quote(element_id, safe='')}"
    return DeepLink(quote(page.path, safe="/") + tail, tail)


def _tags(html: str) -> Iterator[re.Match[str]]:
    """The start tags of the article."""
    start, end = html.find(_ARTICLE[0]), html.rfind(_ARTICLE[1])
    if start >= 0:
        for tag in _TAG.finditer(html, start + len(_ARTICLE[0]), max(end, 0)):
            if tag["name"]:
                yield tag


def _blocks_by_run(html: str, page: Page, tags: list[re.Match[str]]) -> dict[int, int]:
    """The block, as a number into `tags`, that each run stands in.

    Every block is marked with an id for the occasion and no other element has one, so that
    the nearest id is that of the block.
    """
    mark = "eq-block"
    while mark in html:
        mark += "-"
    marks = {n: f"{mark}{n}" for n, tag in enumerate(tags) if tag["name"] in BLOCKS}
    named = {n: "" for n, tag in enumerate(tags) if n not in marks and _ID.search(tag[0])}
    marked = _read(_rewritten(html, tags, marks | named), page)
    if marked.text != page.text:
        raise AssertionError(f"ids changed the text of {page.doc}")
    found = {}
    for number, run in enumerate(marked.runs):
        if run.anchor.startswith(mark):
            block = int(run.anchor.removeprefix(mark))
            # Behind a heading, that is nearer than the block around both.
            if tags[block]["name"] == run.tag:
                found[number] = block
    return found


def _rewritten(html: str, tags: list[re.Match[str]], ids: Mapping[int, str]) -> str:
    """The page with other ids on some of its tags; none where the id is ""."""
    parts: list[str] = []
    end = 0
    for number, element_id in sorted(ids.items()):
        tag = tags[number]
        rest = _ID.sub("", tag["rest"])
        parts += html[end : tag.start()], "<", tag["name"]
        parts += [f' id="{element_id}"'] if element_id else []
        parts += rest, ">"
        end = tag.end()
    return "".join((*parts, html[end:]))


def _own_ids(html: str, tags: list[re.Match[str]]) -> dict[int, str]:
    """The ids that tags have; none where an earlier element has the same, and any link goes there.

    What an element is only the parser knows: text may well say `id="it"`, too.
    """
    mark = "data-eq-tag"
    while mark in html:
        mark += "-"
    parts: list[str] = []
    end = 0
    for number, tag in enumerate(tags):
        parts += html[end : tag.end("name")], f' {mark}="{number}"'
        end = tag.end("name")
    first: dict[str, str | None] = {}
    for node in LexborHTMLParser("".join((*parts, html[end:]))).css("[id]"):
        first.setdefault(node.id or "", node.attributes.get(mark))
    return {int(number): id for id, number in first.items() if id and number is not None}


def _named(html: str) -> set[str]:
    """Every name in a page that a link can lead to."""
    tree = LexborHTMLParser(html)
    ids = {node.id or "" for node in tree.css("[id]")}
    return ids | {node.attributes.get("name") or "" for node in tree.css("[name]")}


def _free(wanted: str, taken: set[str]) -> str:
    number, free = 1, wanted
    while free in taken:
        number += 1
        free = f"{wanted}-{number}"
    return free


def _read(html: str, page: Page) -> Page:
    bare = fill_chips(html, {}, page.path)
    return read_page(bare, doc=page.doc, path=page.path, article_only=True)


def _prove(html: str, page: Page, named: set[str], quotes: Iterable[tuple[str, str]]) -> None:
    """Raises `AssertionError` unless the text is the same, every name that the page had is
    there still, and each block has its quotes.
    """
    if not named <= _named(html):
        raise AssertionError(f"ids of {page.doc} were lost")
    again = _read(html, page)
    if [run._replace(anchor="") for run in again.runs] != [
        run._replace(anchor="") for run in page.runs
    ] or again.text != page.text:
        raise AssertionError(f"ids changed the text of {page.doc}")
    found = {
        node.id: _bare(node.text(deep=True))
        for node in reversed(LexborHTMLParser(html).css("[id]"))
    }
    for words, element_id in quotes:
        if _bare(words) not in found.get(element_id, ""):
            raise AssertionError(f"the block {element_id} of {page.doc} lacks its quote")


def _bare(text: str) -> str:
    return "".join(text.translate(_UNSEEN).split())
