"""What of a model's words is shown, and that it doesn't matter where they were cut."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from exactquote_site.serve.segments import Cite, Resolver, Text
from exactquote_site.wire.allowlist import Entry
from tests.leaks import leaks

REFUSAL = "These pages don't answer that."
# One begins within another, and one begins like it.
REFUSALS = (REFUSAL, "That. These pages don't.", "These pages have no answer.")
QUOTES = {
    "p7f3k2abc": "Hello [world] there.",
    "x-1": "Two words",
    "twin-a": "Said twice",
    "twin-b": "Said twice",
}
# Ids of the site that weren't given here.
KNOWN = frozenset(("pzzzzzzz2", "kiln-day", *QUOTES))
GIVEN = {id: Entry(id, f"a.html#{id}", q, "guide/a", "A", False) for id, q in QUOTES.items()}


def shown(*pieces: str) -> tuple[str, tuple[int, int, bool]]:
    """All text with `<number:id>` for a citation; and what was dropped, unlinked, refused."""
    resolver = Resolver(GIVEN, REFUSALS, KNOWN)
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
    ("a [[x-1]] [[ kiln-day ]] [[0]] [[x-2]] b", "a [[0]] [[x-2]] b", 2, 0),
    ("a [[c i t e : x-1]] [ [cite x-1]] {{cite|x-1}} b", "a b", 3, 0),
    ("a [[𝐜𝐢𝐭𝐞:x-1]] ⓒⓘⓣⓔ:x-1 ⸨cite:x-1⸩ ❲cite:x-1❳ b", "a b", 4, 0),
    ("a [\u0301[\u0332cite:x-1]] [[c\u0338ite:x-1]] b", "a <1:x-1> b", 1, 0),
    ("a [[\u202ecite:x-1\u202c]] b", "a <1:x-1> b", 0, 0),
    ("a &#99;ite:x-1 %63ite:x-1 [[cite&colon;x-1]] b", "a b", 3, 0),
    ('a "cite:" `cite:` cite:(x-1) b', 'a "cite:" `cite:` (x-1) b', 1, 0),
    ("a [[cite\n\n:x-1]] b", "a b", 1, 0),
    ("f((cite)) (cité : p. 3) [cite 3]", "f((cite)) (cité : p. 3) [cite 3]", 0, 0),
    ("a P7F3K2ABC ｐ７ｆ３ｋ２ａｂｃ pzzzzzzz2 b", "a b", 3, 0),
    ("a Kilnp7f3k2abcs b", "a b", 1, 0),
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
    ("https&#58;//evil.test https%3A%2F%2Fevil.test", "[link removed] [link removed]", 0, 2),
    ("evil&#46;com, evil%2Ecom/x.", "[link removed], [link removed].", 0, 2),
    ("javascript&colon;alert`1` data&#x3a;text/html", "[link removed]`1` [link removed]", 0, 2),
    ("x,javascript:(alert(1)) evil.app/(x)", "x,[link removed](alert(1)) [link removed](x)", 0, 2),
    ("日本.com 日本。com/p です。NETは", "日本[link removed] 日本[link removed] です。NETは", 0, 2),
    ("evil\u0338.com/x evil\u2024com", "[link removed] [link removed]", 0, 2),
    ("evil\u202e.com xn--e1awd7f.app", "[link removed] [link removed]", 0, 2),
    ("böse.eu //host/path <evil.shop/x>", "[link removed] [link removed] <[link removed]>", 0, 3),
    ("[a][b]\n\n[b]: <//e.test> 'x'", "[a][b]\n\n[b]: <[link removed]> 'x'", 0, 1),
    ("_evil.com_, ...evil.com", "_[link removed], ...[link removed]", 0, 2),
    ("a@b.evil.com a@my-evil.com evil.com-x", "a@b.evil.com a@my-evil.com [link removed]", 0, 1),
    ("www.日 evil.app/日", "[link removed]日 [link removed]日", 0, 2),
    # Longer than a word can be.
    ("," * 600 + "evil.com/login next", "[link removed] next", 0, 1),
    ("," * 507 + "p7f3k2abc. next", "[link removed] next", 0, 1),
    ("a," * 254 + "cite:x-1 (next)", "[link removed] (next)", 0, 1),
    # Names that are no URL.
    ("main.rs std::io a/b self.app x:y // no", "main.rs std::io a/b self.app x:y // no", 0, 0),
    ('if x != MY_FILE: f"a.b.{c}" llms.txt."', 'if x != MY_FILE: f"a.b.{c}" llms.txt."', 0, 0),
    ('texts.de = "x" {place.line:>{w}}', 'texts.de = "x" {place.line:>{w}}', 0, 0),
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
    cuts = range(len(written) + 1) if len(written) < 200 else (0, 5, 500, 511, 512, 513, 520)
    for first in cuts:
        for second in cuts:
            pieces = written[:first], written[first:second], written[max(first, second) :]
            if first <= second:
                assert shown(*pieces) == whole, pieces
    assert shown(*written) == whole


# What the model wrote, and what is shown before its refusal.
REFUSED = [
    (REFUSAL, ""),
    (f"Sorry. {REFUSAL}", "Sorry."),
    (f"{REFUSAL} {REFUSAL}", ""),
    (f"No. {REFUSAL} Yes, evil.com", "No."),
    ("No. That. These pages don't answer that.", "No. That."),
    ("That. These pages don't. Why?", ""),
    ("Well. These pages have no answer.", "Well."),
    # However it is spaced, drawn or wrapped.
    ("These\npages  don't\u00a0answer\u3000that.", ""),
    ("The\u00adse pa\u200bges don't answer that.", ""),
    ("These pages don’t answer that", ""),
    ("THESE PAGES DON'T ANSWER THAT!", ""),
    ("Ｔｈｅｓｅ pages don't a\u0301nswer that.", ""),
    ("T h e s e pages don't answer that.", ""),
    (f"Well: **{REFUSAL}**", "Well:"),
    (f"> “{REFUSAL}”", ""),
    (f"[[ {REFUSAL}", ""),
    (f"Yes [[cite:x-1]]. [[cite:x-1]]{REFUSAL}", "Yes <1:x-1>. <1:x-1>"),
    # A citation, given or not, within it or behind it.
    ("These pages [[cite:x-1]] don't [[cite:nope]] answer that.", ""),
    ("These pages don't answer that [[cite:x-1]].", ""),
    ("These pages don't answer that\n\n[[cite:x-1]] But", ""),
    # What is glued to it was never looked at by itself.
    (f"{REFUSAL}javascript:alert(1)", ""),
    (f"{REFUSAL}p7f3k2abc", ""),
    (f"x@{REFUSAL} evil.com", "x@"),
    (f"[[{REFUSAL} cite :x-1]]", ""),
]
# What isn't the sentence, and what is shown of it.
UNREFUSED = [
    ("These pages don't answer that question.", "These pages don't answer that question."),
    ("These pages don't answer that, I think.", "These pages don't answer that, I think."),
    ("These pages answer that.", "These pages answer that."),
    ("Otherthese pages don't answer that.", "Otherthese pages don't answer that."),
    (f"[[ci{REFUSAL}te:x-1]]", f"[[ci{REFUSAL}te:x-1]]"),
    (f"[[{REFUSAL}cite:x-1]]", "[[These pages don't answer]]"),
    (f"{REFUSAL}evil.com", "These pages don't answer [link removed]"),
]


@pytest.mark.parametrize(("written", "wanted"), REFUSED)
def test_prevents_the_refusal_in_the_words_of_a_model(written: str, wanted: str) -> None:
    told, (*_, refused) = whole = shown(written)
    assert (told, refused) == (wanted, True)
    assert shown(*written) == whole


@pytest.mark.parametrize(("written", "wanted"), UNREFUSED)
def test_prevents_another_sentence_that_is_taken_for_it(written: str, wanted: str) -> None:
    told, (*_, refused) = whole = shown(written)
    assert (told, refused) == (wanted, False)
    assert shown(*written) == whole


def test_prevents_a_refusal_without_a_mark_from_being_glued() -> None:
    for written in ("Nein p7f3k2abc", "Nein javascript:alert(1)", "[[Keine Antwort cite:x-1]]"):
        resolver = Resolver(GIVEN, ("Nein", "Keine Antwort"))
        assert [*resolver.feed(written), *resolver.finish()] == []
        assert resolver.refused
    for written, wanted in (("Neinp7f3k2abc", ""), ("Neinevil.com", "[link removed]")):
        resolver = Resolver(GIVEN, ("Nein",))
        told = [*resolver.feed(written), *resolver.finish()]
        assert told == ([Text(wanted)] if wanted else [])
        assert not resolver.refused


def test_shows_words_as_soon_as_they_are_decided() -> None:
    resolver = Resolver(GIVEN)
    assert resolver.feed("One two") == [Text("One")]
    assert resolver.feed(" [[cite:x") == [Text(" two")]
    told = resolver.feed("-1]]")
    assert [type(segment) for segment in told] == [Text, Cite]
    assert resolver.finish() == []


def test_prevents_an_answer_held_back_for_ever() -> None:
    for written in ("x" * 5_000, "日" * 100, "a" * 600 + " b c", '"' * 100):
        resolver = Resolver(GIVEN, REFUSALS)
        told = "".join(s.text for s in resolver.feed(written) if isinstance(s, Text))
        assert len(told) >= 14
    assert told.count('"') >= 80


PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            (
                *("[[cite:", "[[", "]]", "]", "[", "x-1", "nope", "guide/a|", "Two words", " "),
                *("cite", ":", "|", "http://", "evil.com", "(", ")", ".", "日", "\u200b", "\u200d"),
                *(
                    "[[cite:x-1]]",
                    "w",
                    "\\",
                    "\n",
                    "【",
                    "】",
                    "ci",
                    "te",
                    "evil",
                    ".com",
                    "/",
                    "。",
                ),
                *("p7f3k2abc", "p7f3", "k2abc", "pzzzzzzz2", "java", "script:", "data:", "www."),
                *("&#91;", "%5B", "&colon;", "%2E", "\u0301", "\u0338", "\u202e", "ｃ", "𝐢", "с"),
                *("{{", "<", ">", '"', "'", "*", "_", "-", ",", "@", "//", "xn--", "x" * 510),
                *(*REFUSALS, REFUSAL[:12], REFUSAL[12:], "That. ", "these", "pages", "don't"),
            )
        ),
        st.text(max_size=3),
    ),
    max_size=24,
)


@settings(max_examples=300, deadline=None)
@given(PIECES)
@example(["[[cite:guide/a|", "x" * 9_000, "]]"])
@example(["[[cite:", "x" * 600, "]]"])
@example(["["] * 12)
@example(["[[cite", REFUSAL])
@example(["[[", "cite", "\n", "\n", ":", "x-1"])
def test_pieces_or_whole_is_the_same(pieces: list[str]) -> None:
    whole = shown("".join(pieces))
    assert shown(*pieces) == whole
    assert shown(*"".join(pieces)) == whole
    # A citation is a mark beside the words, and parts what stands on both sides of it.
    for stretch in re.split(r"<\d+:[a-z0-9-]+>", whole[0]):
        assert [*leaks(stretch)] == []


@settings(max_examples=300, deadline=None)
@given(PIECES)
def test_prevents_a_leak_at_any_moment_of_the_stream(pieces: list[str]) -> None:
    resolver, seen = Resolver(GIVEN, REFUSALS, KNOWN), ""
    for piece in (*"".join(pieces), None):
        for segment in resolver.feed(piece) if piece is not None else resolver.finish():
            seen += segment.text if isinstance(segment, Text) else "\x1e"
        for stretch in seen.split("\x1e"):
            assert [*leaks(stretch, ("p7f3k2abc", "pzzzzzzz2"), whole=piece is None)] == []
