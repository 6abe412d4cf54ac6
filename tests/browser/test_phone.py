"""What EQ041 says of phones, asked of a real Chromium with the screen of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from exactquote.browsers.landing import BrowserName
from exactquote.browsers.telling import promised
from tests.browser.landing import judge_site
from tests.compiling import compiled_folder, final_page
from tests.test_spec import CASES, Case, written

BOTH: tuple[BrowserName, ...] = ("chromium", "phone")


@pytest.mark.parametrize(
    "case", [case for code, case in CASES if code == "EQ041"], ids=lambda case: case.name
)
def test_a_phone_fails_exactly_where_the_gate_warns(case: Case, tmp_path: Path) -> None:
    folder = written(case, tmp_path)
    corpus, made = compiled_folder(folder)
    links = [
        promised(final_page(corpus, made, one.doc), one.link.href, one.quote or "", one.span)
        for one in made.verdicts
        if one.link
    ]
    warned = any(found.code == "EQ041" for found in made.diagnostics)
    landings = [(result.browser, result.exact) for result in judge_site(folder, links, BOTH)]
    assert landings == [("chromium", True), ("phone", not warned)]
