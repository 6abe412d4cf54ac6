"""Which element a sentence is shown by, when no directive pins it; an author's ids stay."""

from __future__ import annotations

import json

import pytest
from selectolax.lexbor import LexborHTMLParser

from exactquote_site.wire.allowlist import load_allowlist
from tests.compiling import compiled, corpus_of

MORE = "<li>Ask first.</li>" * 3
ITEMS = f"\n\n<ul>{MORE}<li id=mine>Ask first.</li>{MORE}</ul>\n"
LINK = "[There](#mine).\n\n"
# What stands before an element with the id `mine`, and whether the id is that element's own.
STORIES = {
    "nothing": ("", True),
    "the same in text": ('So it has an id="mine" of its own.\n\n', True),
    "the same in code": ('```html\n<li id="mine">\n```\n\n', True),
    "the same in a code span": ('Write `<li id="mine">` for it.\n\n', True),
    "the same in an attribute": ("<p title='an id=\"mine\"'>So.</p>\n\n", True),
    "a longer id": ("<p id=mine-2>So.</p>\n\n", True),
    "an element with the same": ("<p id=mine>So.</p>\n\n", False),
}


@pytest.mark.parametrize("story", STORIES)
def test_prevents_an_id_that_an_author_gave_from_being_lost(story: str) -> None:
    before, own = STORIES[story]
    text = f"# Hours\n\nAll of it is here.\n\n{LINK}{before}{ITEMS}"
    cited = json.dumps([{"doc": "index", "quote": "All of it is here."}])
    made = compiled(corpus_of({"index.md": text, "index.citations.json": cited}))
    assert not made.failed, made.diagnostics
    html = made.files["index.html"].decode()
    ids = [node.id for node in LexborHTMLParser(html).css("[id]")]
    assert ids.count("mine") == 1
    assert len(set(ids)) == len(ids)
    # The equal sentences that no directive pins are shown by their own elements.
    entries = load_allowlist(made.files.__getitem__).entries.values()
    tails = {entry.href.partition("#")[2] for entry in entries if entry.quote == "Ask first."}
    by_block = {tail for tail in tails if ":~:" not in tail}
    assert len(by_block) >= 3
    assert by_block <= set(ids)
    assert ("mine" in by_block) == own
