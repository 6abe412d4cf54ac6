"""Where a visible character, and where a word, may be cut: Unicode's samples and measured cases."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise

import pytest

from exactquote.rendered.edges import BROWSERS, edge, inside_word
from exactquote.rendered.graphemes import is_boundary
from tests.shared_data import shared


def samples(name: str) -> Iterator[tuple[str, set[int]]]:
    """Each sample of a break test, and the offsets where it may be cut."""
    for line in shared(f"suites/unicode/{name}").read_text(encoding="utf-8").splitlines():
        text, cuts = "", set()
        for sign in line.partition("#")[0].split():
            if sign == "÷":
                cuts.add(len(text))
            elif sign != "×":
                text += chr(int(sign, 16))
        if text:
            yield text, cuts


def cuts(text: str) -> list[str]:
    """The text with a bar at each boundary inside it."""
    edges = [i for i in range(len(text) + 1) if is_boundary(text, i)]
    return [text[a:b] for a, b in pairwise(edges)]


def test_every_grapheme_sample_of_unicode() -> None:
    checked = 0
    for text, wanted in samples("GraphemeBreakTest.txt"):
        checked += 1
        assert {i for i in range(len(text) + 1) if is_boundary(text, i)} == wanted, ascii(text)
    assert checked > 600


@pytest.mark.parametrize(
    "whole",
    [
        "👩‍💻",  # woman, joiner, computer
        "👍🏽",  # a skin tone
        "🇩🇪",
        "e\u0301",
        "각",
        "\u1100\u1161\u11a8",
        "क्ष",  # a conjunct
        "நி",
        "1️⃣",
        "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
        "\r\n",
    ],
)
def test_prevents_a_quote_that_ends_inside_a_visible_character(whole: str) -> None:
    assert cuts(f"a{whole}b") == ["a", whole, "b"]
    assert is_boundary(whole, 0)
    assert is_boundary(whole, len(whole))


@pytest.mark.parametrize(
    "text", ["ab", "a b", "a\u00a0b", "é|", "🚀a", "🚀🚀", "文字", "🇩🇪🇫🇷", "क ष", "👩💻", "ก ข"]
)
def test_leaves_whole_characters_apart(text: str) -> None:
    assert len(cuts(text)) == len(text.replace("🇩🇪", "1").replace("🇫🇷", "1"))


def test_flags_pair_from_the_left() -> None:
    assert cuts("🇩🇪🇫") == ["🇩🇪", "🇫"]


# Text with a bar at the offset; what all browsers, Chromium, Firefox and WebKit say of it.
EDGES = """
r|ange           yes yes yes yes
max|_tokens      yes yes yes yes
max_|tokens      yes yes yes yes
12|345           yes yes yes yes
2|k              yes yes yes yes
camel|Case       yes yes yes yes
cafe|\u0301      yes yes yes yes
foo|\u00adbar    yes yes yes yes
foo\u00ad|bar    yes yes yes yes
foo\u200b|bar    yes yes yes yes
naï|ve           yes yes yes yes
при|вет          yes yes yes yes
문|장            yes yes yes yes
מש|פט            yes yes yes yes
🇩|🇪              yes yes yes yes
👩|‍💻             yes yes yes yes
צ|'              yes yes yes yes
3|.14            some yes no yes
3.|14            some yes no yes
123|,456         some yes no yes
dog|'s           some yes no yes
dog'|s           some yes no yes
dog|’s           some yes no yes
dog\u00ad|'s     some yes no yes
l|’été           some yes no yes
example|.com     some no no yes
example.|com     some no no yes
צה|"ל            some yes no yes
a|:b             some some no some
北|京            some some some some
京|都            some some some some
東京|タワー      some some some some
で|す            some some some some
カ|タ            some some some some
ภา|ษา            some some some some
Thai|ไทย         some some some some
human|-in        no no no no
and|/or          no no no no
95|%             no no no no
$|50             no no no no
end|.            no no no no
end.|\u0020Next  no no no no
claim|[1]        no no no no
Note|:\u0020x    no no no no
a.|1             no no no no
a,|b             no no no no
3.|\u0020May     no no no no
“|go             no no no no
go|”             no no no no
dogs|'\u0020x    no no no no
foo|\u200b\u0020 no no no no
React|中文       no no no no
第|3             no no no no
。|次            no no no no
文|。            no no no no
🚀|a             no no no no
a|(b)            no no no no
x|—y             no no no no
"""


def edge_cases() -> list[list[str]]:
    rows = [re.split(" +", line) for line in EDGES.strip().splitlines()]
    return [[row[0].replace("\\u0020", " "), *row[1:]] for row in rows]


# The escape for a space was read by Python already, so its rows have one column more.
@pytest.mark.parametrize("row", edge_cases())
def test_what_each_browser_says_of_an_edge(row: list[str]) -> None:
    text, wanted = " ".join(row[:-4]), row[-4:]
    i = text.index("|")
    text = text.replace("|", "")
    assert [inside_word(text, i), *(edge(text, i, b) for b in BROWSERS)] == wanted


@pytest.mark.parametrize("text", ["", "word", "文", "'", "\u0301", "\u200bword\u200b"])
def test_the_ends_of_a_run_are_edges(text: str) -> None:
    for i in (0, len(text)):
        assert inside_word(text, i) == "no"
        assert all(edge(text, i, browser) == "no" for browser in BROWSERS)


def test_the_word_samples_of_unicode_as_webkit_reads_them() -> None:
    """Where UAX 29 joins, the answer isn't "no", but for what is stated here; and the reverse."""
    checked = 0
    for text, wanted in samples("WordBreakTest.txt"):
        for i in range(1, len(text)):
            told = edge(text, i, "webkit")
            if told == "some":
                continue
            checked += 1
            joined = i not in wanted
            if told == "yes":
                # A mark or a joiner in a flag: no browser may cut the visible character.
                assert joined or not is_boundary(text, i - 1) or "\u200d" in text
            elif joined:
                left, right = text[i - 1], text[i]
                assert (
                    re.search("[\\s\x01]", text)  # Control characters and runs of spaces.
                    or not (left.isalnum() or left in "_\u0308")
                    or not re.search("\\w", text[i:])  # Only ignorable text follows.
                    or right in "\u00ad\u2060"
                ), (ascii(text), i)
    assert checked > 4000


def test_measured_edges_of_all_browsers() -> None:
    """A row of the browser matrix matched only where no edge was inside a word, and always then."""
    checked = 0
    for line in shared("cases/browser-matrix.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["group"] != "d" or row["id"] == "d-combining-base":
            continue
        text = re.sub("<[^>]*>", "", row["html"])
        start = text.index(row["expected_passage"])
        end = start + len(row["expected_passage"])
        for browser in BROWSERS:
            result = row["results"].get(browser)
            told = {edge(text, start, browser), edge(text, end, browser)}
            if not isinstance(result, dict) or "some" in told:
                continue
            checked += 1
            matched = result["verdict"].startswith("yes")
            assert matched == (told == {"no"}), (row["id"], browser)
    assert checked > 90
