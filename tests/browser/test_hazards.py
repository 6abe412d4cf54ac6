"""What a page does against its own links as it loads is seen, and told with a cure."""

from __future__ import annotations

import pytest

from exactquote.browsers.links import hazards_seen
from exactquote.browsers.oracle import Link
from exactquote.report.landing import Asked
from tests.browser.landing import Browsers

TEXT = "<main><p id=a>The store is small.</p><p id=b>It opens late.</p></main>"
LATER = "addEventListener('load', () => setTimeout(() => { %s }, 200))"

# name, what the page's script does, part of what is said of it ("" for nothing)
STORIES = [
    ("text is put in after the load", LATER % "a.after('More text.')", "text comes into"),
    ("the article is put in anew", "onload = () => { const m = document.querySelector('main');"
     " m.innerHTML = m.innerHTML; }", "is replaced"),
    ("a word is changed", LATER % "a.firstChild.data = 'The shop is small.'", "is replaced"),
    ("it scrolls to the top", "onload = () => scrollTo(0, 0)", "scrolls it"),
    ("it scrolls the root element", "onload = () => { document.documentElement.scrollTop = 0; }",
     "scrolls it"),
    ("it brings another element into view", "onload = () => b.scrollIntoView()", "scrolls it"),
    ("it scrolls the root by a method", LATER % "document.documentElement.scrollTo(0, 0)",
     "scrolls it"),
    ("it puts the focus out of view", "const i = document.createElement('input');"
     " document.body.prepend(i); a.style.marginTop = '5000px'; onload = () =>"
     " setTimeout(() => i.focus(), 200)", "scrolls it"),
    ("the whole body is put in anew", "onload = () => { const m = document.body;"
     " m.innerHTML = m.innerHTML; }", "is replaced"),
    ("the second article is put in anew", "const n = document.createElement('article');"
     " n.textContent = 'A teaser.'; document.body.prepend(n); onload = () => {"
     " const m = document.querySelector('main'); m.innerHTML = m.innerHTML; }", "is replaced"),
    ("it replaces the address", "history.replaceState(null, '', location.pathname)",
     "changes its address"),
    ("it sets the fragment", "onload = () => { location.hash = 'b'; }", "changes its address"),
    ("it leads on", "location.replace('other.html')", "leads on"),
    ("it leads on after the load", LATER % "location.href = 'other.html'", "leads on"),
    ("it adds a class", LATER % "document.body.classList.add('js')", ""),
    ("it adds a comment and a style",
     LATER % "a.append(document.createComment('x'), document.createElement('style'))", ""),
    ("it puts text elsewhere", LATER % "document.body.append('Results: none')", ""),
    ("it puts a button and a permalink beside the text", LATER % (
        "a.insertAdjacentHTML('afterend', '<button>Copy this text</button><a href=#a>¶</a>')"), ""),
    ("it puts contents into the article", LATER % (
        "a.insertAdjacentHTML('beforebegin', '<nav>On this page: the store</nav>')"), ""),
    ("a clock goes on", "a.insertAdjacentHTML('afterend', '<time>now</time>'); onload = () =>"
     " setTimeout(() => { document.querySelector('time').textContent = 'a moment ago'; }, 200)",
     ""),
    ("it scrolls a box of its own", "const n = document.createElement('div'); n.innerHTML ="
     " '<p style=height:900px>x</p><b>y</b>'; n.style = 'height:90px;overflow:auto';"
     " document.body.append(n); onload = () => n.lastChild.scrollIntoView({block: 'nearest'})", ""),
    ("it scrolls when it is clicked", "onclick = () => scrollTo(0, 0)", ""),
]  # fmt: skip


def page(script: str) -> bytes:
    head = "<!doctype html><meta charset=utf-8><title>t</title>"
    return f"{head}{TEXT}<script>{script}</script>".encode()


@pytest.mark.parametrize(
    ("script", "said"), [one[1:] for one in STORIES], ids=[s[0] for s in STORIES]
)
def test_what_a_page_does_is_told(browsers: Browsers, script: str, said: str) -> None:
    assert browsers["chromium"]
    site = {"dir/page.html": page(script), "dir/other.html": page("")}
    link = Link("dir/page.html#:~:text=The%20store%20is%20small.", "The store is small.")
    found = hazards_seen(site, [Asked("a", link, True)], ["chromium"])
    assert [one.page for one in found] == ["dir/page.html"] * bool(said), found
    assert all(said in one.message and one.help for one in found)


def test_a_page_without_scripts_is_not_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(name: str) -> None:
        raise AssertionError("a browser was started")

    monkeypatch.setattr("exactquote.browsers.watch_pages.Browser", started)
    site = {"page.html": TEXT.encode()}
    assert hazards_seen(site, [Asked("a", Link("page.html#a", "x"), True)], ["chromium"]) == ()
    site = {"page.html": page("")}
    assert hazards_seen(site, [Asked("a", Link("page.html#a", "x"), True)], ["firefox"]) == ()
