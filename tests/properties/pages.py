"""Random pages for properties: words, inline tags, blocks and all that stands between them."""

from __future__ import annotations

from hypothesis import strategies as st

# Few words, so that passages repeat; q, x and z are in none of them.
WORDS = (
    *("cache", "store", "night", "small", "the", "is", "Cache", "NIGHT", "don't", "re-read"),
    *("night,", "small.", "store:", "(fast)", "“so”", "3.14", "10,000", "A&amp;B", "50%", "a-b"),
    *("café", "naïve", "Straße", "cafe\u0301", "ﬁne", "Łódź", "don’t", "—", "…", "½"),
    *(
        "缓存。",
        "每晚清空",
        "キャッシュ",
        "🎉",
        "👍🏽",
        "👨\u200d👩\u200d👧",
        "🇩🇪",
        "data\u00adbase",
        "שלום",
        "مرحبا",
    ),
)
SPACES = (" ", " ", " ", "\n", "  ", "\t", "&nbsp;", "\u2009", "\u3000", "\u202f")
INLINE = ("em", "strong", "code", "a href='#'", "span", "sup", "mark", "kbd")
BLOCKS = ("p", "li", "h2 id='sec'", "blockquote", "div", "dd", "figcaption", "section")
BETWEEN = (
    " <br> ",
    "<br>",
    " <span hidden>hidden words</span> ",
    " <span style='display:none'>the cache</span> ",
    " <img src='x.png' alt='small night'> ",
    " <!-- a comment --> ",
    " <wbr> ",
    " <button>store</button> ",
)


@st.composite
def phrases(draw: st.DrawFn) -> str:
    """Words with white space between them, a few of them in inline tags."""
    out = []
    for word in draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=9)):
        if draw(st.integers(0, 5)) == 0:
            tag = draw(st.sampled_from(INLINE))
            word = f"<{tag}>{word}</{tag.split()[0]}>"
        out.append(word)
        out.append(draw(st.sampled_from(SPACES)))
    return "".join(out[:-1])


@st.composite
def blocks(draw: st.DrawFn) -> str:
    """One block of phrases, with breaks, pictures and hidden text between some of them."""
    parts = draw(st.lists(phrases(), min_size=1, max_size=3))
    inner = parts[0]
    for part in parts[1:]:
        inner += draw(st.sampled_from(BETWEEN)) + part
    kind = draw(st.integers(0, 11))
    if kind == 0:
        return f"<details><summary>{inner}</summary><p>{draw(phrases())}</p></details>\n"
    if kind == 1:
        return f"<table><tr><td>{inner}</td><td>{draw(phrases())}</td></tr></table>\n"
    if kind == 2:
        return f"<div hidden><p>{inner}</p></div>\n"
    if kind == 3:
        return f"<pre>{inner}</pre>\n"
    tag = draw(st.sampled_from(BLOCKS))
    return f"<{tag}>{inner}</{tag.split()[0]}>\n"


def pages() -> st.SearchStrategy[str]:
    """The HTML of a whole page."""
    return st.lists(blocks(), min_size=1, max_size=6).map(
        lambda made: (
            f"<!doctype html><meta charset=utf-8><title>t</title>\n<main>{''.join(made)}</main>"
        )
    )
