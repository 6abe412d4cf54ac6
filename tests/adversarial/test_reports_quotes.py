"""Quotes that a reader would call false, or true, and that tools are known to have misjudged."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from urllib.parse import unquote

from .driver import cites, codes, found, quotes, run_build, run_check, statuses

LEASE = """# Lease

The tenant may not sublet before May. Keys are returned in June.

The tenant may move out in June, if the landlord agrees in writing.

- Heating is included.
- Water is not included.
"""


def test_prevents_an_ellipsis_that_swallows_a_negation(tmp_path: Path) -> None:
    false = {
        "dots": "The tenant may ... sublet before May",
        "ellipsis": "The tenant may … sublet before May",
        "brackets": "The tenant may [...] sublet before May",
        "bracketed": "The tenant may [not] sublet before May",
        "dropped": "The tenant may sublet before May",
        "reordered": "Keys are returned in June. The tenant may not sublet before May.",
        "quilted": "The tenant may not move out in June",
        "distant": "The tenant may not sublet before May … if the landlord agrees in writing",
        "negated": "Heating is not included.",
        "affirmed": "Water is included.",
        "reworded": "The tenant must not sublet before May",
    }
    true = {"whole": "The tenant may not sublet before May.", "part": "not sublet before May"}
    exit_code, report, _ = run_check(
        tmp_path, {"lease.md": LEASE, "lease.citations.json": cites("lease", {**false, **true})}
    )
    assert exit_code == 1
    verdicts = statuses(report)
    assert {id for id, verdict in verdicts.items() if verdict == "bound"} == set(true)
    refused = [one for one in report["citations"] if one["id"] in false]
    assert [(one["quote"], one["href"], one["directive"]) for one in refused] == [
        (None, None, None)
    ] * len(false)
    assert report["counts"]["refused"] == len(false)


def test_prevents_a_contract_that_promises_other_than_it_does(tmp_path: Path) -> None:
    page = (
        "# Contract\n\nThe Caf\u00e9 \u201cRoyal\u201d isn\u2019t open\non Mondays.\n\n"
        "Take the co\u00adop\u00aderation seriously.\n\n"
        "Pages 3\u20135 cover the \ufb01rst re\u0301sum\u00e9\u2026 and 10\u00b2 cases.\n\n"
        "The \uff21\uff22\uff23 form is due.\n"
    )
    forgiven = {
        "case": "the CAF\u00c9 \u201croyal\u201d",
        "straight": 'The Caf\u00e9 "Royal" isn\'t open',
        "decomposed": "The Cafe\u0301 \u201cRoyal\u201d",
        "spaces": "isn\u2019t  open on\tMondays.",
        "hyphens": "Take the cooperation seriously.",
        "zero-width": "Take the co\u200boperation seriously.",
    }
    other = {
        "accent": "The Cafe \u201cRoyal\u201d isn\u2019t open",
        "dash": "Pages 3-5 cover",
        "dots": "first r\u00e9sum\u00e9... and",
        "ligature": "cover the first",
        "superscript": "102 cases",
        "width": "The ABC form is due.",
        "punctuation": "isn\u2019t open, on Mondays.",
    }
    exit_code, report, _ = run_check(
        tmp_path,
        {"contract.md": page, "contract.citations.json": cites("contract", {**forgiven, **other})},
    )
    assert exit_code == 1
    verdicts = statuses(report)
    assert {id: verdicts[id] for id in forgiven} == dict.fromkeys(forgiven, "bound")
    assert "bound" not in {verdicts[id] for id in other}
    exact = {id: verdicts[id] for id in ("accent", "dash", "dots", "ligature", "width")}
    assert exact == dict.fromkeys(exact, "EQ003")
    shown = quotes(report)
    # The quote is the page's text, not the author's.
    assert unicodedata.normalize("NFC", shown["case"] or "") == "The Caf\u00e9 \u201cRoyal\u201d"
    assert shown["spaces"] == "isn\u2019t open on Mondays."
    cures = {one["help"] for one in found(report, "EQ003")}
    assert any("3\u20135" in cure for cure in cures)


def test_prevents_a_quote_across_a_picture_that_no_browser_finds(tmp_path: Path) -> None:
    page = """# Valve

Press ![](key.svg) twice to arm the valve.

Hold **both** `keys` *for* [three](valve.md) ~~long~~ seconds.
"""
    wanted = {
        "across": "Press twice to arm the valve",
        "across-whole": "Press twice to arm the valve.",
        "beside": "twice to arm the valve",
        "inline": "Hold both keys for three long seconds.",
    }
    exit_code, report, _ = run_check(
        tmp_path,
        {
            "valve.md": page,
            "key.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
            "valve.citations.json": cites("valve", wanted),
        },
    )
    assert exit_code == 1
    verdicts = statuses(report)
    assert verdicts["beside"] == verdicts["inline"] == "bound"
    assert verdicts["across"] == verdicts["across-whole"] == "EQ006"
    for one in found(report, "EQ006"):
        assert re.search(r"image|picture|img", one["message"] + one["help"]), one


def test_prevents_letters_lost_beside_an_encoded_comma(tmp_path: Path) -> None:
    wanted = {
        "umlauts": "Größe, Gewicht und Höhe",
        "signs": "50 % & mehr, a-b + c/d?",
        "emoji": "Gut 👍🏽, sehr gut 👩‍🚒!",
        "chinese": "数据，备份，规则。",
        "colons": "Siehe :~:text=x, dann weiter.",
    }
    page = "# Maße\n\n" + "\n\n".join(f"{quote}" for quote in wanted.values()) + "\n"
    exit_code, report, _ = run_check(
        tmp_path, {"masse.md": page, "masse.citations.json": cites("masse", wanted)}
    )
    assert exit_code == 0, report["diagnostics"]
    for one in report["citations"]:
        text = one["directive"].partition(":~:text=")[2]
        assert re.fullmatch(r"(?:[A-Za-z0-9_.~,]|-,|,-|%[0-9A-F]{2})+", text), text
        assert wanted[one["id"]] in [unquote(part) for part in text.split(",")], text
        assert one["href"].endswith(one["directive"])


BLOCKS = {
    "paragraphs": "<p>{0}</p><p>{1}</p>",
    "divs": "<div>{0}</div><div>{1}</div>",
    "sections": "<section>{0}</section><section>{1}</section>",
    "heading": "<h2>{0}</h2><p>{1}</p>",
    "items": "<ul><li>{0}</li><li>{1}</li></ul>",
    "terms": "<dl><dt>{0}</dt><dd>{1}</dd></dl>",
    "cells": "<table><tr><td>{0}</td><td>{1}</td></tr></table>",
    "heads": "<table><tr><th>{0}</th><td>{1}</td></tr></table>",
    "rows": "<table><tr><td>{0}</td></tr><tr><td>{1}</td></tr></table>",
    "caption": "<table><caption>{0}</caption><tr><td>{1}</td></tr></table>",
    "quotation": "<blockquote>{0}</blockquote><p>{1}</p>",
    "figure": "<figure><p>{0}</p><figcaption>{1}</figcaption></figure>",
    "details": "<details open><summary>{0}</summary>{1}</details>",
    "break": "<p>{0}<br>{1}</p>",
    "rule": "<div>{0}<hr>{1}</div>",
    "code": "<pre>{0}</pre><pre>{1}</pre>",
    "nested": "<div>{0}<div>{1}</div></div>",
    "asides": "<aside>{0}</aside><main>{1}</main>",
    "styled": '<p>{0} <span style="display:block">{1}</span></p>',
    "floating": '<p>{0} <span style="float:left">{1}</span></p>',
    "flexible": '<p style="display:flex"><b>{0}</b> <i>{1}</i></p>',
}


def test_prevents_a_quote_across_two_blocks(tmp_path: Path) -> None:
    body, across, inside = "", {}, {}
    for number, (name, form) in enumerate(BLOCKS.items()):
        left, right = f"Left part {number}a ends", f"right part {number}b starts"
        body += form.format(left, right) + "\n"
        across[f"{name}-across"] = f"{left} {right}"
        inside[f"{name}-left"] = left
        inside[f"{name}-right"] = right
    page = f"<!doctype html><html><head><title>Blocks</title></head><body>{body}</body></html>"
    exit_code, report, _ = run_check(
        tmp_path, {"blocks.html": page, "blocks.citations.json": cites("blocks", across | inside)}
    )
    assert exit_code == 1
    verdicts = statuses(report)
    assert {id: verdicts[id] for id in across} == dict.fromkeys(across, "EQ006")
    assert {id: verdicts[id] for id in inside} == dict.fromkeys(inside, "bound")


def test_prevents_a_page_without_text_from_passing(tmp_path: Path) -> None:
    empty = {
        "nothing.md": "",
        "blank.md": " \n\n\t\n",
        "picture.md": "![Only a picture](p.png)\n",
        "comment.md": "<!-- Only a comment -->\n",
        "front.md": "---\ntitle: Only front matter\n---\n",
    }
    citations = [
        f'{{"id": "{name[:-3]}", "doc": "{name[:-3]}", "quote": "Only a sentence here."}}'
        for name in empty
    ]
    exit_code, report, _ = run_check(
        tmp_path,
        {
            **empty,
            "p.png": b"\x89PNG\r\n\x1a\n",
            "all.md": "# All\n\nSome text.\n",
            "all.citations.json": f"[{','.join(citations)}]",
        },
    )
    assert exit_code == 1
    assert set(statuses(report).values()).isdisjoint({"bound"})
    assert report["counts"]["refused"] == len(empty)


def test_prevents_a_gate_that_checked_nothing(tmp_path: Path) -> None:
    for name, files in {
        "no-files": {"readme.txt": "x"},
        "no-citations": {"a.md": "# A\n\nText without a citation.\n"},
        "no-entries": {"a.md": "# A\n\nText.\n", "a.citations.json": "[]"},
    }.items():
        exit_code, report, _ = run_check(tmp_path / name, files)
        assert exit_code != 0, name
        assert "EQ016" in codes(report), name
    allowed = {"a.md": "# A\n\nText.\n", "exactquote.toml": "allow_empty = true\n"}
    exit_code, report, _ = run_check(tmp_path / "allowed", allowed)
    assert (exit_code, report["diagnostics"]) == (0, [])


def test_prevents_a_chip_that_opens_the_passage_of_another(tmp_path: Path) -> None:
    sentences = [f"Pump {name} runs at level {name}." for name in ("one", "two", "three", "four")]
    page = "# Pumps\n\n" + " ".join(sentences) + "\n"
    claims = "# Claims\n\n" + "\n".join(
        f'- [claim {n}](cite:pumps "{sentence}")' for n, sentence in enumerate(sentences)
    )
    exit_code, report, out = run_build(tmp_path, {"pumps.md": page, "claims.md": claims})
    assert exit_code == 0, report["diagnostics"]
    directives = [one["directive"] for one in report["citations"]]
    assert len(set(directives)) == len(sentences)
    shown = (out / "claims.html").read_text(encoding="utf-8")
    places = [shown.find(directive.replace("&", "&amp;")) for directive in directives]
    assert -1 not in places
    assert places == sorted(places)
