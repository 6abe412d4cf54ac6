"""What CSS does to text: the cases of `spec_styles`, also asked of a real Chromium."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from exactquote.rendered.style_media import DESKTOP, DESKTOP_WIDTH, PHONE, PHONE_WIDTH
from exactquote.rendered.styles import PLAIN, Look, Sheet, Styles, apply, sheet
from tests.hangs import no_hang

SPEC = Path(__file__).parent / "spec_styles"


@dataclass
class Case:
    name: str
    sheets: list[str] = field(default_factory=list)
    html: str = ""
    media: str = ""
    doctype: bool = True
    browser: bool = True
    want: dict[str, Look] = field(default_factory=dict)
    phone: dict[str, Look] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()

    @property
    def page(self) -> str:
        return ("<!doctype html>" if self.doctype else "") + self.html


def _cases() -> list[Case]:
    """Read `## name` paragraphs; each `want` names every field that isn't as in a plain look.

    `phone` does so for a phone, where that makes a difference.
    """
    cases: list[Case] = []
    for path in sorted(SPEC.glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition(": ")
            if line.startswith("## "):
                cases.append(Case(f"{path.stem}: {line[3:]}"))
            elif key in ("css", "sheet"):
                cases[-1].sheets.append(value)
            elif key == "want" and value.startswith("skipped"):
                cases[-1].skipped = tuple(value.removeprefix("skipped").strip().split(" | "))
            elif key in ("want", "phone"):
                identity, *words = value.split()
                getattr(cases[-1], key)[identity] = _look(words)
            elif key in ("doctype", "browser"):
                setattr(cases[-1], key, value != "no")
            elif line.strip():
                assert key.rstrip(":") in ("html", "media"), line
                setattr(cases[-1], key.rstrip(":"), value)
    return cases


def _look(words: list[str]) -> Look:
    names = {"white": "white_space", "content": "content_visibility"}
    fields: dict[str, object] = {}
    for word in words:
        key, _, value = word.partition("=")
        if word != "plain":
            fields[names.get(key, key)] = value or True
    return Look(**fields)  # type: ignore[arg-type]


CASES = _cases()


def style(case: Case, screen: int = DESKTOP) -> tuple[LexborHTMLParser, Styles]:
    tree = LexborHTMLParser(case.page)
    return tree, apply(tree, [sheet(css, media=case.media) for css in case.sheets], screen)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_looks(case: Case) -> None:
    for screen, wanted_looks in ((DESKTOP, case.want), (PHONE, case.want | case.phone)):
        styles = _asserted(case, screen, wanted_looks)
        assert styles.responsive == bool(case.phone)


def _asserted(case: Case, screen: int, wanted_looks: dict[str, Look]) -> Styles:
    tree, styles = style(case, screen)
    looks = {}
    for identity in wanted_looks:
        node = tree.css_first(f"#{identity}")
        assert node is not None, identity
        looks[identity] = styles.of(node)
    assert looks == {
        # Values that a rule spelled out are kept though they change nothing.
        identity: _like(wanted, looks[identity])
        for identity, wanted in wanted_looks.items()
    }
    assert styles.skipped == tuple(text for text in case.skipped if text)
    return styles


def _like(wanted: Look, found: Look) -> Look:
    """A plain look also stands for the one in which only defaults are spelled out."""
    natural = {None, "visible", "normal"}
    if wanted == PLAIN and found.display in (None, "inline"):
        spelled = {found.white_space, found.content_visibility}
        rest = (found.floated, found.positioned, found.hidden, found.clipped, found.transformed)
        if spelled <= natural and not any(rest) and found.display is None:
            return found
    return wanted


def test_names_are_unique() -> None:
    names = [case.name for case in CASES]
    assert len(names) == len(set(names)) > 100


def test_an_element_that_no_rule_touches_costs_nothing() -> None:
    tree = LexborHTMLParser("<!doctype html><p id=a>x</p>" + "<p>y</p>" * 50)
    styles = apply(tree, [sheet("#a { display: none } .b { float: left }")])
    touched = {node.tag for node in tree.css("*") if node.mem_id in styles.looks}
    assert touched == {"head", "p"}
    assert len(styles.looks) == 2


def test_elements_without_attributes_have_defaults_too() -> None:
    tree = LexborHTMLParser("<!doctype html><dialog>x</dialog><p>y</p><script>z</script>")
    styles = apply(tree, [])
    looks = {tag: styles.of(tree.css_first(tag)) for tag in ("dialog", "p", "script")}
    assert looks["dialog"] == Look(display="none", positioned=True)
    assert looks["p"] == PLAIN
    assert looks["script"] == Look(display="none")


def test_imports_are_handed_back() -> None:
    css = '@import "a.css"; @import url(b.css) print; @import url("c.css") layer(x.y) screen;'
    found = [(one.url, one.media, one.layer) for one in sheet(css + "b { float: left }").imports]
    assert found == [("a.css", "", None), ("b.css", "print", None), ("c.css", "screen", "x.y")]


def test_a_sheet_in_a_layer_is_weaker_than_one_outside() -> None:
    tree = LexborHTMLParser("<!doctype html><b id=a>x</b>")
    weak = sheet("#a { display: none }", layer="theme")
    node = tree.css_first("#a")
    assert apply(tree, [sheet("b { display: block }"), weak]).of(node).display == "block"
    assert apply(tree, [weak]).of(node).display == "none"


def test_same_looks_whatever_the_order_of_names() -> None:
    css = "".join(f".c{n} {{ display: {'none' if n % 2 else 'block'} }}" for n in range(40))
    names = " ".join(f"c{n}" for n in range(40))
    tree = LexborHTMLParser(f"<!doctype html><b id=a class='{names}'>x</b>")
    assert apply(tree, [sheet(css)]).of(tree.css_first("#a")).display == "none"


HOSTILE = {
    "brackets": "a" + "(" * 50_000 + "{display:none}",
    "rules in rules": "a{display:none;" * 3_000,
    "queries in queries": "@media screen{" * 3_000 + "a{display:none}",
    "not in not": ":not(" * 2_000 + "a" + ")" * 2_000 + "{display:none}",
    "a long list": ",".join(f".c{n}" for n in range(5_000)) + "{display:none}",
    "a long selector": "a" + " a" * 10_000 + "{display:none}",
    "parents squared": "a,b{" + "&,& &{" * 25 + "display:none",
    "a query of brackets": "@media " + "(" * 3_000 + "width" + ")" * 3_000 + "{a{float:left}}",
    "not in a query": "@media " + "not (" * 400 + "width" + ")" * 400 + "{a{float:left}}",
    "a deep layer": "@layer " + ".".join("abc" * 1_000) + "{a{display:none}}",
    "no number": "@media (min-width:1e999px) or (min-aspect-ratio:1/0){a{float:left}}",
    "control characters": "\x00\ufffd\x1b{}}}}]])\"'\n\\" * 1_000,
    "an endless comment": "/*" * 30_000,
}


@pytest.mark.parametrize("css", HOSTILE.values(), ids=HOSTILE)
def test_prevents_a_style_sheet_that_stops_the_run(css: str) -> None:
    tree = LexborHTMLParser("<!doctype html><p><a id=a>x</a></p><u id=u>y</u>")
    with no_hang():
        styles = apply(tree, [sheet(css), sheet("u { display: none }")])
    assert styles.of(tree.css_first("#u")).display == "none"


def test_prevents_deep_pages_from_taking_squared_time() -> None:
    tree = LexborHTMLParser("<!doctype html>" + "<div style='white-space:pre'>" * 20_000 + "x")
    with no_hang():
        styles = apply(tree, [sheet("div { visibility: inherit } div { display: flex }")])
    assert len(styles.looks) == 20_001


def test_prevents_a_big_theme_from_slowing_every_page() -> None:
    rules = "".join(
        f".theme-part-{n} .item-{n % 97}, .theme-part-{n}:hover > .label {{"
        f" color: red; margin: 0 auto; display: {'none' if n % 3 else 'block'} }}\n"
        for n in range(2_500)
    )
    theme = sheet(rules)
    page = "".join(f"<p class=item-{n % 97}>x <b class=label>y</b></p>" for n in range(150))
    tree = LexborHTMLParser("<!doctype html><div class=theme-part-7>" + page)
    with no_hang():
        for _ in range(500):
            apply(tree, [theme])


# --- the same cases in a browser --------------------------------------------------------

_ASK = """
const cases = JSON.parse(document.getElementById('cases').textContent);
const found = [];
let waiting = cases.length;
cases.forEach((one, index) => {
  const frame = document.createElement('iframe');
  frame.width = one.width; frame.height = 800; frame.style.border = '0';
  frame.onload = () => {
    const view = frame.contentWindow;
    one.sheets.forEach((css) => {
      const style = frame.contentDocument.createElement('style');
      style.textContent = css;
      if (one.media) style.media = one.media;
      frame.contentDocument.head.append(style);
    });
    one.ids.forEach((id) => {
      const look = view.getComputedStyle(frame.contentDocument.getElementById(id));
      found.push([index, id, look.display, look.float, look.position, look.visibility,
        look.whiteSpaceCollapse, look.contentVisibility, look.textTransform]);
    });
    if (--waiting === 0) {
      const all = JSON.stringify(found);
      document.body.innerHTML = '';
      document.body.append(Object.assign(document.createElement('pre'), {textContent: all}));
    }
  };
  frame.srcdoc = one.html;
  document.body.append(frame);
});
"""
_SOFT = {"inline-block", "inline-flex", "inline-grid", "inline-table"}


def test_chromium_computes_the_same(tmp_path: Path) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    asked = [(case, DESKTOP, DESKTOP_WIDTH) for case in CASES if case.browser and case.want]
    asked += [(case, PHONE, PHONE_WIDTH) for case in CASES if case.browser and case.phone]
    data = [
        {
            "html": case.page,
            "sheets": case.sheets,
            "media": case.media,
            "width": width,
            "ids": [*case.want],
        }
        for case, _, width in asked
    ]
    source = tmp_path / "ask.html"
    source.write_text(
        "<!doctype html><meta charset=utf-8><script type=application/json id=cases>"
        + json.dumps(data).replace("<", "\\u003c")
        + f"</script><body><script>{_ASK}</script>",
        encoding="utf-8",
    )
    quiet = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync"
    offline = "--disable-background-networking --disable-component-update"
    command = [chromium, "--headless", *quiet.split(), *offline.split(), "--dump-dom"]
    command += [f"--user-data-dir={tmp_path}", "--virtual-time-budget=20000", source.as_uri()]
    dumped = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    answer = re.search(r"<pre>(\[.*?\])</pre>", dumped.stdout, re.DOTALL)
    assert answer, dumped.stdout[-500:]
    rows = json.loads(html.unescape(answer.group(1)))
    assert len(rows) == sum(len(case.want) for case, _, _ in asked)
    wrong = []
    for index, identity, *computed in rows:
        case, screen, _ = asked[index]
        tree, styles = style(case, screen)
        node = tree.css_first(f"#{identity}")
        mine, its = _compared(styles.of(node), node.tag or "", computed)
        if mine != its:
            wrong.append((case.name, screen, identity, mine, its))
    assert not wrong, "\n".join(map(str, wrong))


def _compared(look: Look, tag: str, computed: list[str]) -> tuple[dict, dict]:
    display, floats, position, visibility, white_space, content, transform = computed
    kept = {"collapse": "normal", "preserve-breaks": "pre-line"}
    its: dict[str, object] = {
        "floated": floats != "none",
        "positioned": position in ("absolute", "fixed"),
        "hidden": visibility != "visible",
        "content": content,
        "transformed": transform != "none",
    }
    mine: dict[str, object] = {
        "floated": look.floated,
        "positioned": look.positioned,
        "hidden": look.hidden,
        "content": look.content_visibility or "visible",
        "transformed": look.transformed,
    }
    if look.display is not None:
        mine["display"] = look.display
        its["display"] = "cut-soft" if display in _SOFT else display
        if display not in ("none", "inline", "contents") and display not in _SOFT:
            its["display"] = "block"
    if look.white_space is not None:
        mine["white"] = look.white_space
        its["white"] = kept.get(white_space, "pre")
    return mine, its


def test_a_sheet_can_be_shared_by_pages() -> None:
    shared_sheet: Sheet = sheet("b { display: none }")
    for _ in range(2):
        tree = LexborHTMLParser("<!doctype html><b>x</b>")
        assert apply(tree, [shared_sheet]).of(tree.css_first("b")).display == "none"
