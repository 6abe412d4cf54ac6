"""Answers as models write them, each in several encodings of the same JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator

from exactquote_site.wire.allowlist import Entry

REFUSAL = "These pages don't say."
_QUOTES = {
    "p7f3k2abc": "Fired on [Fri].",
    "x-1": "Two words",
    "twin-a": "Said twice",
    "twin-b": "Said twice",
}
GIVEN = {id: Entry(id, f"a.html#{id}", q, "g/a", "A", False) for id, q in _QUOTES.items()}

# Tokens that resolve, that don't, and all that looks like one; links; the refusal; and text in
# which any of these could begin.
ANSWERS = (
    "On Fridays [[cite:x-1]].",
    "One[[cite:x-1]] two [[cite:p7f3k2abc]] one [[cite:x-1]]",
    "[[cite:g/a|Two  words]] so",
    "[[cite:g/a|Fired on [Fri].]]",
    "([[cite:x-1]]) [[[cite:x-1]]]",
    "So [[cite:nope]]. Then",
    "So [[cite:g/a|Said twice]]!",
    "a [[cite:x-1, p7f3k2abc]] b",
    "a [cite:x-1] b",
    "a [[ cite : x-1 ]] b",
    "a [[Cite:x-1]] b",
    "a 【cite:x-1】 b【x】",
    "a [[сite:x-1]] b",
    "a [[ｃｉｔｅ：x-1]] b",
    "a \\[\\[cite:x-1\\]\\] \\ b",
    "{{cite:x-1}} <cite:x-1>",
    "a cite:x-1 b cite: c",
    "a [[cite x-1]] [[cite]] b",
    "a [[cites]] (cite this)",
    "by p7f3k2abc b",
    "[[ci\u200bte:x\u00ad-1]] b",
    "a [[ci\u200dte:nope]] b",
    "a [[cite:x-1",
    "a [[cite:x-1]",
    "a [[",
    "a [[cite:x-1 b\nc",
    "a [[cite:x-1 [[cite:x-1]] b",
    "a [[cite:g/a|Two [[cite:x-1]]",
    '"Quoted" \\n isn\'t\na\tline\r\n',
    "a[0] f(c) [city] x[[0]] [",
    "back\\slash \\\\ \\u0041 /",
    "日本語です[[cite:x-1]]。窯は金曜",
    "窯【cite:nope】は 日本 http://e.test/です",
    "Größe ändern [[cite:x-1]] ß",
    "🦀 [[cite:x-1]] 👩‍👩‍👧 🇩🇪",
    "e\u0301 a\u0300[[cite:x-1]] \U00020000",
    "ไทย [[cite:x-1]] العربية",
    "See https://e.test/a?b=[c].",
    "[go](http://e.test) ![](//e.com/x)",
    "javascript:a`1` a@b.test",
    "www.e.test, e.com; e.g. 1.2",
    "htt\u200bp://e.test main.rs",
    "http://[::1]/x std::io",
    "HtTpS:\\\\e.com",
    REFUSAL,
    f"Sorry. {REFUSAL}",
    f"No. {REFUSAL} Yes [[cite:x-1]].",
    REFUSAL[:-1],
    "These pages [[cite:x-1]]",
    f"{REFUSAL}x [[cite:x-1]]",
    "These pages [[cite:x-1]]\ndon’t  say.",
    f"**{REFUSAL[:-1]}** [[cite:x-1]]",
    f"[[{REFUSAL} cite :x-1]]",
    "Sorryp7f3k2abc Sorry, e.com",
    "[[x-1]] a[[0]] [[c i t e:x-1]]",
    "[\u0301[cite:x-1]] [[c\u0338ite:x]]",
    "&#99;ite:x %5B[cite:x-1]]",
    "e&#46;com https%3A%2F%2Fe.com",
    "日本.com e\u0338.com/ 日。com",
    "_e.com_ 0http://e x@e.com",
    "\u202ee.com\u202c xn--e1a.app",
    "",
    " ",
    "[[cite:x-1]]",
    # As long as what visitors get.
    "The kiln is fired on Fridays [[cite:x-1]]. Nobody opens it before noon [[cite:p7f3k2abc]], "
    "since a glaze that cools too fast [[cite:nope]] tears.",
    'Der Ofen wird freitags gebrannt [[cite:x-1]].\n\nVorher "trocknet" die Glasur zwei Tage '
    "[[cite:g/a|Two words]]; mehr auf www.e.test/ofen (cite: Seite 3).",
    "窯は毎週金曜日に焼かれます[[cite:x-1]]。土曜日の正午まで開けません🦀"
    "[[cite:g/a|Fired on [Fri].]]。詳しくは https://e.test/窯 をご覧ください。"
    "それ以外は[[ cite: x-1 ]]わかりません。",
    f"Two things are certain: [1] the price [[cite:twin-a]], and {{2}} the day [[cite:x-1]] \\o/. "
    f"{REFUSAL} The rest [[cite:p7f3k2abc]] isn't",
)


def encodings() -> Iterator[str]:
    """Every answer in four encodings: plain, with escapes, spread out, and with its keys turned."""
    for answer in ANSWERS:
        value = {"answer": answer, "answered": True, "sources": ["x-1"]}
        yield json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        yield json.dumps(value, separators=(",", ":"))
        yield json.dumps(value, ensure_ascii=False, indent=1).replace("/", "\\/")
        turned = {"sources": [], "answered": False, "answer": answer}
        yield json.dumps(turned, ensure_ascii=False)
