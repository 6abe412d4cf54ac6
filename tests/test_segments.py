"""What of a model's words is shown, and that it doesn't matter where they were cut."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from exactquote_site.serve.segments import Cite, Resolver, Text
from exactquote_site.wire.allowlist import Entry

REFUSAL = "These pages don't answer that."
# One begins within another, and one begins like it.
REFUSALS = (REFUSAL, "That. These pages don't.", "These pages have no answer.")
QUOTES = {
    "p7f3k2abc": "Hello [world] there.",
    "x-1": "Two words",
    "twin-a": "Said twice",
    "twin-b": "Said twice",
}
GIVEN = {id: Entry(id, f"a.html#{id}", q, "guide/a", "A", False) for id, q in QUOTES.items()}


def shown(*pieces: str) -> tuple[str, tuple[int, int, bool]]:
    """All text with `<number:id>` for a citation; and what was dropped, unlinked, refused."""
    resolver = Resolver(GIVEN, REFUSALS)
    segments = [segment for piece in pieces for segment in resolver.feed(piece)]
    segments += resolver.finish()
    told = "".join(
        segment.text if isinstance(segment, Text) else f"<{segment.number}:{segment.entry.id}>"
        for segment in segments
    )
    return told, (resolver.dropped, resolver.links_removed, resolver.refused)


# what the model wrote, what is shown, dropped tokens, removed links
CASES = [
    ("True [[cite:x-1]].", "True <1:x-1>.", 0, 0),
    ("A[[cite:x-1]] B[[cite:p7f3k2abc]] C[[cite:x-1]]", "A<1:x-1> B<2:p7f3k2abc> C<1:x-1>", 0, 0),
    ("By text [[cite:guide/a|Two  words]] too", "By text <1:x-1> too", 0, 0),
    ("[[cite:guide/a|Hello [world] there.]]", "<1:p7f3k2abc>", 0, 0),
    # Never given, or not exactly one.
    ("So [[cite:nope]]. Then", "So. Then", 1, 0),
    ("So [[cite:nope]] then", "So then", 1, 0),
    ("So [[cite:guide/a|Said twice]]!", "So!", 1, 0),
    ("So [[cite:guide/b|Two words]]!", "So!", 1, 0),
    # Brackets around a token are text.
    ("Note ([[cite:x-1]]) and [[[cite:x-1]]]", "Note (<1:x-1>) and [<1:x-1>]", 0, 0),
    # Look-alikes of a token.
    ("a [cite:x-1] b", "a b", 1, 0),
    ("a [[ cite : x-1 ]] b", "a b", 1, 0),
    ("a [[Cite:x-1]] b", "a b", 1, 0),
    ("a 【cite:x-1】 b", "a b", 1, 0),
    ("a [[сite:x-1]] b", "a b", 1, 0),
    ("a [[ｃｉｔｅ：x-1]] b", "a b", 1, 0),
    ("a \\[\\[cite:x-1\\]\\] b", "a b", 1, 0),
    ("a {{cite:x-1}} ((cite:x-1)) <cite:x-1> b", "a b", 3, 0),
    ("a [[cite:x-1, p7f3k2abc]] b", "a b", 1, 0),
    ("a [cite:guide/a|Two words] b", "a b", 1, 0),
    ("a cite:x-1 b", "a b", 1, 0),
    ("a [[cite x-1]] [[cite]] b", "a b", 2, 0),
    ("a [[cites]] (cite this) b", "a [[cites]] (cite this) b", 0, 0),
    ("a p7f3k2abc b", "a b", 1, 0),
    ("a [[ci\u200bte:x\u00ad-1]] b", "a <1:x-1> b", 0, 0),
    ("a [[ci\u200dte:nope]] b", "a b", 1, 0),
    ("a p7f3k2abc, (p7f3k2abc). b", "a, (). b", 2, 0),
    ("a id=p7f3k2abc b", "a id= b", 1, 0),
    ("a &#91;&#91;cite:x-1&#93;&#93; b", "a b", 1, 0),
    ("a %5B%5Bcite:x-1%5D%5D \\x5bcite:x-1 b", "a \\ b", 2, 0),
    ("to excite:x and recite:y", "to excite:x and recite:y", 0, 0),
    # What a dropped token stood in doesn't close up.
    ("a [[ci[[cite:nope]]te:x-1]] b", "a te:x-1]] b", 2, 0),
    ("evil.[[cite:nope]]com/path", "evil. com/path", 1, 0),
    ("evil[[cite:nope]].com/path", "evil .com/path", 1, 0),
    ("java[[cite:nope]]script:alert", "java script:alert", 1, 0),
    ("So[[cite:nope]].[[cite:nope]]", "So.", 2, 0),
    ("[[cite:nope]]So", "So", 1, 0),
    # Tokens that are never closed.
    ("a [[cite:x-1", "a", 1, 0),
    ("a [[cite:x-1]", "a", 1, 0),
    ("a [[ci", "a", 1, 0),
    ("a [[", "a", 1, 0),
    ("a [[cite:x-1 b\nc", "a b\nc", 1, 0),
    ("a [[cite:x-1 [[cite:x-1]] b", "a <1:x-1> b", 1, 0),
    ("a [[cite:guide/a|Two wo", "a", 1, 0),
    ("a [[cite:guide/a|Two [[cite:x-1]] b", "a <1:x-1> b", 1, 0),
    # Text that only begins like one.
    ("a[0] f(c) [city] (i) {x: 1} x[[0]]", "a[0] f(c) [city] (i) {x: 1} x[[0]]", 0, 0),
    ("to cite: see there", "to cite: see there", 0, 0),
    # URLs.
    ("See https://evil.test/a?b=[c]. Now", "See [link removed][c]. Now", 0, 1),
    ("[go](http://evil.test) ![](//evil.com/x)", "[go]([link removed]) ![]([link removed])", 0, 2),
    ("javascript:alert`1` and mailto:a@b.test", "[link removed]`1` and [link removed]", 0, 2),
    ("www.evil.test, evil.com;", "[link removed], [link removed];", 0, 2),
    ("(evil.test/path)", "([link removed])", 0, 1),
    ("http://[::1]/x", "[link removed][::1]/x", 0, 1),
    ("HtTpS:\\\\evil.com", "[link removed]\\\\[link removed]", 0, 2),
    ("htt\u200bp://evil.test", "[link removed]", 0, 1),
    ("ｈｔｔｐｓ：／／ｅｖｉｌ．ｔｅｓｔ／ｗ", "[link removed]", 0, 1),
    ("evil．com/p ev\u0456l.com/x", "[link removed] [link removed]", 0, 2),
    ("evil。com/p", "[link removed]", 0, 1),
    ("http:／／evil.test x", "[link removed] x", 0, 1),
    ("注意：ここ。Docker。React", "注意：ここ。Docker。React", 0, 0),
    ("javascript:(alert(1)) in javascript: x", "[link removed](alert(1)) in javascript: x", 0, 1),
    ("203.0.113.5:8080/steal 10.0.0.0/8 1.2.3.4", "[link removed] 10.0.0.0/8 1.2.3.4", 0, 1),
    ("日本語 http://evil.test/です", "日本語 [link removed]です", 0, 1),
    # Names that are no URL.
    ("main.rs std::io a/b self.app x:y // no", "main.rs std::io a/b self.app x:y // no", 0, 0),
    ("e.g. version 1.2.3", "e.g. version 1.2.3", 0, 0),
    ("the data: and a@b.com, 10:30", "the data: and a@b.com, 10:30", 0, 0),
    ("<b>bold</b> & **bold**", "<b>bold</b> & **bold**", 0, 0),
]  # fmt: skip


@pytest.mark.parametrize(("written", "wanted", "dropped", "removed"), CASES)
def test_what_is_shown(written: str, wanted: str, dropped: int, removed: int) -> None:
    assert shown(written) == (wanted, (dropped, removed, False))


@pytest.mark.parametrize("written", [written for written, *_ in CASES])
def test_prevents_a_cut_that_changes_what_is_shown(written: str) -> None:
    whole = shown(written)
    for first in range(len(written) + 1):
        for second in range(first, len(written) + 1):
            pieces = written[:first], written[first:second], written[second:]
            assert shown(*pieces) == whole, pieces
    assert shown(*written) == whole


def test_prevents_the_refusal_in_the_words_of_a_model() -> None:
    assert shown(f"Sorry. {REFUSAL}") == ("Sorry. ", (0, 0, True))
    assert shown(f"{REFUSAL} {REFUSAL}")[1] == (0, 0, True)
    assert shown(*f"No. {REFUSAL} Yes.") == shown(f"No. {REFUSAL} Yes.")
    assert shown("No. That. These pages don't answer that.") == ("No. That. ", (0, 0, True))
    assert shown("That. These pages don't. Why?") == (" Why?", (0, 0, True))
    assert shown("Well. These pages have no answer.") == ("Well. ", (0, 0, True))
    # Another sentence is another sentence.
    assert shown(REFUSAL[:-1]) == (REFUSAL[:-1], (0, 0, False))


def test_shows_words_as_soon_as_they_are_decided() -> None:
    resolver = Resolver(GIVEN)
    assert resolver.feed("One two") == [Text("One")]
    assert resolver.feed(" [[cite:x") == [Text(" two")]
    told = resolver.feed("-1]]")
    assert [type(segment) for segment in told] == [Text, Cite]
    assert resolver.finish() == []


def test_prevents_an_answer_held_back_for_ever() -> None:
    resolver = Resolver(GIVEN)
    told = "".join(s.text for s in resolver.feed("x" * 5_000) if isinstance(s, Text))
    assert len(told) >= 2_048
    resolver = Resolver(GIVEN)
    told = "".join(s.text for s in resolver.feed("日" * 100) if isinstance(s, Text))
    assert told == "日" * 100


HALF_TOKEN = re.compile(r"\[\[\s*(?i:cite)\b")
PIECES = st.lists(
    st.sampled_from(
        (
            *("[[cite:", "[[", "]]", "]", "[", "x-1", "nope", "guide/a|", "Two words", " ", "\n"),
            *("cite", ":", "|", "http://", "evil.com", "(", ")", ".", "日", "\u200b", "\u200d"),
            *(
                *REFUSALS,
                REFUSAL[:12],
                "That. ",
                "p7f3k2abc",
                "【",
                "】",
                "[[cite:x-1]]",
                "w",
                "\\",
            ),
        )
    ),
    max_size=24,
)


@settings(max_examples=400, deadline=None)
@given(PIECES)
@example(["[[cite:guide/a|", "x" * 9_000, "]]"])
@example(["[[cite:", "x" * 600, "]]"])
@example(["["] * 12)
def test_pieces_or_whole_is_the_same(pieces: list[str]) -> None:
    whole = shown("".join(pieces))
    assert shown(*pieces) == whole
    assert shown(*"".join(pieces)) == whole
    # A refusal that was taken out may have been glued to letters that look like a token's.
    assert whole[1][2] or not HALF_TOKEN.search(whole[0])
