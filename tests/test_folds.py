"""What is taken for equal: by a strict reader, by each browser, and by the widest fold."""

from __future__ import annotations

import json
import re
from urllib.parse import unquote

import pytest

from exactquote.rendered.folds import (
    CHROMIUM,
    FIREFOX,
    STRICT,
    WEBKIT,
    WIDE,
    Fold,
    fold_text,
    webkit_accepts,
)
from tests.shared_data import shared

FOLDS = {"s": STRICT, "c": CHROMIUM, "w": WEBKIT, "f": FIREFOX, "W": WIDE}

# Two texts, and the folds under which they are equal: s(trict), c(hromium), w(ebkit),
# f(irefox), W(ide).
PAIRS = [
    # Case, one letter for one.
    ("The Fox", "the FOX", "scwfW"),
    ("λόγος", "ΛΌΓΟΣ", "scwfW"),
    ("ς", "σ", "scwfW"),
    ("STRAẞE", "straße", "scwfW"),
    ("straße", "strasse", "cwW"),
    ("İstanbul", "istanbul", "cwfW"),
    ("ı", "i", "fW"),
    ("Kelvin", "\u212aelvin", "scwfW"),
    ("ǅ", "ǆ", "scwfW"),
    ("\u01f0", "J\u030c", "scwfW"),
    ("ᾳ", "αι", "W"),
    # Composed and decomposed.
    ("café", "cafe\u0301", "scwfW"),
    ("ế", "e\u0302\u0301", "scwfW"),
    ("ế", "ê\u0301", "scwfW"),
    ("q\u0323\u0307", "q\u0307\u0323", "scwfW"),
    ("한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8", "scwfW"),
    ("が", "か\u3099", "scwfW"),
    ("Å", "\u212b", "scwfW"),
    ("й", "и\u0306", "scwfW"),
    # Accents and letters with strokes.
    ("café", "cafe", "cwfW"),
    ("й", "и", "fW"),
    ("Łódź", "lodz", "cwfW"),
    ("Søren", "soren", "cwfW"),
    ("æon", "aeon", "cwW"),
    ("œuvre", "oeuvre", "cwW"),
    ("þing", "thing", "W"),
    ("מַיִם", "מים", "cwfW"),
    ("كتَاب", "كتاب", "cwfW"),
    # Quotation marks and apostrophes.
    ("“a”", '"a"', "scwfW"),
    ("it’s", "it's", "scwfW"),
    ("‘a’", "'a'", "scwfW"),
    ("„a“", '"a"', "swW"),
    ("‚a‘", "'a'", "swW"),
    ("«a»", '"a"', "wW"),
    ("‹a›", "'a'", "wW"),
    ("「a」", "'a'", "wW"),
    ("5′", "5'", "fW"),
    ("`a`", "'a'", ""),
    ('"a"', "'a'", ""),
    # Invisible characters.
    ("soft\u00adhyphen", "softhyphen", "scwfW"),
    ("zero\u200bwidth", "zerowidth", "scwfW"),
    ("a\u200db\u200cc\u2060d\ufeffe\u200ef", "abcdef", "scwfW"),
    ("\u180e", "", "scwfW"),
    # Dashes, dots, ligatures, widths, kana.
    ("10–20", "10-20", "fW"),
    ("non‑breaking", "non-breaking", "fW"),
    ("−5", "-5", "fW"),
    ("a—b", "a–b", "fW"),
    ("wait…", "wait...", "cwW"),
    ("ﬁnal", "final", "cwW"),
    ("ＡＢＣ", "abc", "cwfW"),
    ("𝐛𝐨𝐥𝐝", "bold", "cwW"),
    ("x²", "x2", "cwW"),
    ("Ⅳ", "iv", "cwW"),
    ("ℌ", "h", "cwfW"),
    ("テスト", "てすと", "cwW"),
    ("キャ", "キヤ", "W"),
    ("が", "か", "W"),
    ("ｱ", "ア", "cwW"),
    ("㌀", "アパート", "cwW"),
    # White space.
    ("a\u00a0b", "a b", "cwfW"),
    ("a\u2009b", "a b", "cwW"),
    ("a\u3000b", "a b", "cwW"),
    ("a\nb", "a b", "W"),
    # What nothing forgives.
    ("cat", "cot", ""),
    ("a b", "ab", ""),
    ("1", "l", ""),
    ("文", "字", ""),
    ("ไทย", "ไท", ""),
    ("कि", "का", ""),
    ("end.", "end", ""),
]


def same(a: str, b: str, fold: Fold) -> bool:
    return fold_text(a, fold).text == fold_text(b, fold).text


@pytest.mark.parametrize(("a", "b", "under"), PAIRS)
def test_which_folds_take_two_texts_for_equal(a: str, b: str, under: str) -> None:
    assert "".join(sign for sign, fold in FOLDS.items() if same(a, b, fold)) == under
    # In other company nothing changes.
    around = "Ünïcode “text” and ASCII, "
    for fold in FOLDS.values():
        assert same(around + a + around, around + b + around, fold) == same(a, b, fold)


@pytest.mark.parametrize(
    ("query", "page", "accepted"),
    [
        ("cafe", "café", True),
        ("café", "cafe", False),
        ("café", "cafe\u0301", True),
        ("cafe\u0301", "CAFÉ", True),
        ("résumé", "résume", False),
        ("straße", "strasse", False),
        ("strasse", "straße", True),
        ("soren", "Søren", True),
        ("Søren", "soren", False),
        ("final", "ﬁnal", True),
        ("ﬁnal", "final", True),
        ("“a”", '"a"', True),
        ('"a"', "«a»", True),
        ("テスト", "てすと", True),
        ("The Fox", "the fox", True),
        ("e\u0301\u0323", "e\u0323\u0301", True),
        ("e\u0301", "e\u0300", False),
        ("a\u00adb", "ab", True),
    ],
)
def test_webkit_takes_a_plain_letter_for_any_but_no_other(
    query: str, page: str, accepted: bool
) -> None:
    assert same(query, page, WEBKIT)
    assert webkit_accepts(query, page) is accepted


@pytest.mark.parametrize(
    ("text", "fold", "folded", "pairs"),
    [
        ("plain", WIDE, "plain", [(0, 0), (3, 3), (5, 5)]),
        ("Über", STRICT, "über", [(0, 0), (4, 4)]),
        ("aßb", CHROMIUM, "assb", [(0, 0), (1, 1), (3, 2), (4, 3)]),
        ("a\u00adb", STRICT, "ab", [(0, 0), (1, 2), (2, 3)]),
        ("e\u0301x", STRICT, "éx", [(0, 0), (1, 2), (2, 3)]),
        ("xe\u0301", CHROMIUM, "xe", [(1, 1), (2, 3)]),
        ("…", CHROMIUM, "...", [(0, 0), (3, 1)]),
        ("\u00ad\u00ada", STRICT, "a", [(0, 2), (1, 3)]),
    ],
)
def test_offsets_lead_back_and_forth(
    text: str, fold: Fold, folded: str, pairs: list[tuple[int, int]]
) -> None:
    found = fold_text(text, fold)
    assert found.text == folded
    for there, back in pairs:
        assert found.origin(there) == back
        assert found.position(back) == there


def test_a_match_that_ends_before_dropped_characters_may_leave_them_out() -> None:
    found = fold_text("cafe\u0301\u00ad x", CHROMIUM)
    assert found.text == "cafe x"
    assert (found.end_origin(4), found.origin(4)) == (5, 6)
    assert fold_text("aßb", CHROMIUM).end_origin(2) == 2
    assert fold_text("aßb", CHROMIUM).origin(2) == 1


def test_texts_that_keep_their_length_have_no_break_points() -> None:
    assert fold_text("Größe zählt: „Ja.“ – ÄÖÜ 文字 한국어 ＡＢＣ", FIREFOX).starts == ()
    assert fold_text("Größe zählt: „Ja.“ – ÄÖÜ 文字 한국어 ＡＢＣ", STRICT).starts == ()


def test_lone_surrogates_are_left_alone() -> None:
    assert fold_text("A\ud800É", STRICT).text == "a\ud800é"


def test_composed_and_decomposed_unicode_samples_are_equal() -> None:
    """Every canonical sample of Unicode's normalisation test, each with its case folded."""
    checked = 0
    lines = shared("suites/unicode/NormalizationTest.txt").read_text("utf-8").splitlines()
    for line in lines:
        columns = line.partition("#")[0].split(";")
        if len(columns) < 5:
            continue
        source, composed, decomposed = (
            "".join(chr(int(code, 16)) for code in column.split()) for column in columns[:3]
        )
        checked += 1
        wanted = fold_text(decomposed, STRICT).text
        assert fold_text(source, STRICT).text == wanted, ascii(source)
        assert fold_text(composed, STRICT).text == wanted, ascii(source)
    assert checked > 18_000


def test_measured_look_alikes_of_all_browsers() -> None:
    """Each folding row of the browser matrix: who takes the first text for the query."""
    checked = 0
    for line in shared("cases/browser-matrix.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["group"] != "c":
            continue
        query = unquote(row["directive"].partition("text=")[2])
        first = re.sub("<[^>]*>", "", row["html"].partition("</p>")[0])
        for name, fold in (("chromium", CHROMIUM), ("firefox", FIREFOX), ("webkit", WEBKIT)):
            result = row["results"][name]
            found = fold_text(first, fold)
            wanted = fold_text(query, fold).text
            at = found.text.find(wanted)
            taken = at >= 0
            if taken and name == "webkit":
                matched = first[found.origin(at) : found.origin(at + len(wanted))]
                taken = webkit_accepts(query, matched)
            checked += 1
            took_first = result["matched"] and result["text"] == first
            assert taken == took_first, (row["id"], name)
            assert not taken or fold_text(query, WIDE).text in fold_text(first, WIDE).text
    assert checked > 80
