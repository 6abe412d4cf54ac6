"""Turns a seed into a page on which much looks alike, and whose markup leaves nothing out."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from bench.landing.look_alikes import Kind, look_alike, strange_character

BLOCKS = (7, 15)
WORDS = (2, 12)
_TWIN_SHARE = 0.55
_MARKED_SHARE = 0.12
_BETWEEN_SHARE = 0.06

_WORDS = {
    "latin": (
        "cache store night small The is don't re-read night, small. store: (fast) “so” 3.14"
        " 10,000 A&B 50% a-b café naïve Straße Maß fine flow office encyclopædia cœur Łódź İzmir"
        " ılık fix — … x² ½ №5 e.g. U.S. example.com C++ f(x) snake_case 2024-01-02 it’s 'quoted'"
        ' "said" O’Neil co‑op mother-in-law data\u00adbase don’t, st. ﬁne Ⅷ™ 5℃ Ångström Öl'
        " resume résumé www.a.b #1 @me 7th I i I'm a"
    ),
    "greek": "ο λόγος σοφός Ὀδυσσεύς θάλασσα, μῦθος. καὶ τὸν ἄνδρα ἔννεπε Σίσυφος τίς;",
    "cyrillic": "кэш хранит ночью ёлка елка й Йод всё, объём. Киев-град маленький Ї і",
    "hebrew": "שלום עולם בְּרֵאשִׁית ספר קטן, לילה. ש״ס ג׳ירפה המטמון",
    "arabic": "مرحبا العالم الكتاب مُحَمَّد لا أحمد إلى، ليلة. صغير الذاكرة",
    "hangul": "캐시는 밤에 작다. 한국어 각 가나다 말뭉치, 저장소",
    "deva": "क्षत्रिय कैश रात हिन्दी क़लम किताब। छोटा",
    "emoji": (
        "🎉 👍🏽 👨\u200d👩\u200d👧 🇩🇪 🇩🇪🇫🇷 1️⃣ ❤️ ❤ 👩🏽\u200d🚀 ok👍 good 👍 𝐛𝐨𝐥𝐝 𝔘 𠮷野 𐐀𐐨"
        " 🏴\U000e0067\U000e0062\U000e007f fox 🦊fox ©️ →"
    ),
    "thai": "ภาษาไทย น้ำ กลางคืน แคช เล็ก ที่นี่ ๑๒",
    "code": "foo() a.b.c -x --flag a=b; <b> &amp; {x:1} // x_y $HOME ~/.cfg [1] `q` a|b i++ \\n",
}
_DENSE = {
    "kana": "キャッシュ は よる に ガ か が っ つ ヴ ｶﾞ ｷｬ ー カー ゝ ひらがな、 カナ。 パ ば ぱ 々",
    "han": "缓存 每晚 清空。 数据， 車 樂 人人 一 图书馆 「小」 日本語 東京 々 第3章 A 。",
    "thai dense": "ภาษา ไทย น้ำ กลางคืน แคช เล็ก ที่นี่",
}
_INLINE = (
    "em strong code a span mark kbd q del ins sub small abbr cite bdi b"
    " a:href='#' span:class=up span:class=caps span:class=low bdo:dir=rtl span:dir=rtl span:lang=tr"
    " a:class=arrow b:class=label b:class=tip code:class=pad span:class=broken span:class=aside"
).split()
_STYLE = (
    ".up{text-transform:uppercase}.low{text-transform:lowercase}.caps{font-variant:small-caps}"
    ".none{display:none}.unseen{visibility:hidden}.ib{display:inline-block}.fl{float:left}"
    ".sr{position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)}"
    ".keep{white-space:pre-wrap}.line{white-space:pre-line}.title{text-transform:capitalize}"
    '.arrow::after{content:" →"}.label::after{content:": "}.tip::before{content:"Tip"}'
    '.pad::before,.pad::after{content:" "}.broken::after{content:"";display:block}'
    '.aside::before{content:"night";position:absolute}.drop::first-letter{float:left}'
    'body{counter-reset:n}.step::before{counter-increment:n;content:"Step " counter(n) ": "}'
    ".alpha{list-style:lower-alpha}"
    ".sp{height:3000px}"
)
_BETWEEN = {
    "br": ("<br>", " <br> ", " <br>", "<br><br>"),
    "wbr": ("<wbr>", " <wbr> "),
    "comment": ("<!-- night -->", " <!-- x --> "),
    "img": (" <img alt='{}'> ", "<img alt='{}'>", " <img src=x.png alt='{}'>"),
    "input": (" <input value='{}'> ", "<input value='{}'>", " <input type=checkbox> "),
    "button": (" <button>{}</button> ", "<button>{}</button>"),
    "hidden": (" <span hidden>{}</span> ", "<span class=none>{}</span>", " <i class=none>{}</i>"),
    "invisible": (" <span class=unseen>{}</span> ", "<span class=unseen>{}</span>"),
    "clipped": (" <span class=sr>{}</span> ", "<span class=sr>{}</span>"),
    "inline-block": (" <span class=ib>{}</span> ", "<span class=ib>{}</span>"),
    "float": (" <span class=fl>{}</span> ", "<span class=fl>{}</span>"),
    "footnote": ("<sup>1</sup>", "<sup>[12]</sup>", "<sup><a>[3]</a></sup>", "<sup>*</sup>"),
    "svg": (" <svg><text>{}</text></svg> ", "<svg></svg>"),
    "ruby": (" <ruby>漢<rt>{}</rt></ruby> ", "<ruby>字<rp>(</rp><rt>じ</rt><rp>)</rp></ruby>"),
    "select": (" <select><option>{}</option></select> ",),
    "textarea": (" <textarea>{}</textarea> ",),
    "math": (" <math><mi>x</mi><mo>+</mo><mn>1</mn></math> ",),
    "label": (" <input placeholder='{}'> ", " <input type=submit> "),
    "badge": (" <x-badge class=ib>{}</x-badge> ", "<span style='display:block'>{}</span>"),
    "empty": ("<span></span>", " <a id=''></a> ", "<b> </b>"),
}  # fmt: skip
_SINGLE = (
    "p p p p p div blockquote h2 h3 dd figcaption section p:class=up p:class=title p:dir=rtl"
    " p:class=keep p:class=line p:lang=de p:lang=ja p:lang=tr"
    " p:class=drop h2:class=step p:class=tip"
).split()
_FRAMES = (
    "ul",
    "ol",
    "lettered",
    "table",
    "dl",
    "details",
    "open details",
    "hidden",
    "nested",
    "pre",
    "code",
)

CONSTRUCTS: tuple[Kind, ...] = tuple(
    sorted(
        {*_WORDS, *_DENSE, *_BETWEEN, *_FRAMES}
        | {*_SINGLE}
        | {"repeat", "another word", "strange", "inline tag"}
        | {f"inline {a}" for t, _, a in (s.partition(":") for s in _INLINE) if a and t != "a"}
    )
)
"""Everything that a page may be made of, but for the ways to look alike."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block with an id of its own, and all that was put into it, by name."""

    id: str
    html: str
    constructs: frozenset[Kind]


@dataclass(frozen=True, slots=True)
class Made:
    """A generated page and its blocks in document order."""

    path: str
    blocks: tuple[Block, ...]
    style: str = _STYLE

    @property
    def html(self) -> str:
        """The whole page; a tall space on both sides makes a landing scroll."""
        body = "\n".join(block.html for block in self.blocks)
        return (
            "<!doctype html><html lang=en><head><meta charset=utf-8><title>t</title>"
            f"<style>{self.style}</style></head><body><p id=lead>Lead.</p><div class=sp></div>\n"
            f"{body}\n<div class=sp></div></body></html>"
        )


def make_page(seed: int, number: int) -> Made:
    """The page with that number in the series of that seed; the same one each time."""
    return _Maker(random.Random(f"{seed} {number}")).page(f"{number}.html")


class _Maker:
    """Makes blocks one after the other, and remembers their words to vary them."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._told: list[tuple[str, str]] = []
        self._constructs: set[Kind] = set()
        self._ids = 0

    def page(self, path: str) -> Made:
        blocks: list[Block] = []
        # Most pages keep to one or two scripts, so that passages on them repeat.
        every = [*_WORDS, *_DENSE]
        scripts = ["latin", *self._rng.sample(every, self._rng.randint(0, 2))]
        for _ in range(self._rng.randint(*BLOCKS)):
            self._constructs = set()
            identity, html = self._block(scripts)
            blocks.append(Block(identity, html, frozenset(self._constructs)))
        return Made(path, tuple(blocks))

    def _block(self, scripts: Sequence[str]) -> tuple[str, str]:
        self._ids += 1
        identity = f"b{self._ids}"
        if self._rng.random() < 0.68:
            shape = self._rng.choice(_SINGLE)
            tag, _, attribute = shape.partition(":")
            self._note(shape if attribute else tag)
            inner = self._phrase(scripts)
            return identity, f"<{tag} id={identity} {attribute}>{inner}</{tag}>"
        frame = self._rng.choice(_FRAMES)
        self._note(frame)
        return identity, self._framed(frame, identity, scripts)

    def _framed(self, frame: str, identity: str, scripts: Sequence[str]) -> str:
        one, two = self._phrase(scripts), self._phrase(scripts)
        gap = self._rng.choice(("", " ", "\n"))
        if frame in ("ul", "ol"):
            items = f"<li id={identity}-1>{one}</li>{gap}<li id={identity}-2>{two}</li>"
            return f"<{frame} id={identity}>{items}</{frame}>"
        if frame == "lettered":
            items = f"<li id={identity}-1>{one}</li>{gap}<li id={identity}-2>{two}</li>"
            return f"<ol class=alpha id={identity}>{items}</ol>"
        if frame == "table":
            cells = f"<td id={identity}-1>{one}</td>{gap}<td id={identity}-2>{two}</td>"
            last = f"<tr><th id={identity}-3>{self._phrase(scripts)}</th></tr>"
            return f"<table id={identity}><tr>{cells}</tr>{last}</table>"
        if frame == "dl":
            return f"<dl id={identity}><dt id={identity}-1>{one}</dt>{gap}<dd>{two}</dd></dl>"
        if frame.endswith("details"):
            state = "open" if frame == "open details" else ""
            inner = f"<summary id={identity}-1>{one}</summary>{gap}<p>{two}</p>"
            return f"<details id={identity} {state}>{inner}</details>"
        if frame == "hidden":
            how = self._rng.choice(
                ("hidden", "class=none", "class=unseen", "class=sr", "hidden=until-found")
            )
            self._note(f"block {how}")
            return f"<div id={identity} {how}><p>{one}</p></div>"
        if frame == "nested":
            inner = f"{one}<div id={identity}-1>{two}</div>{self._phrase(scripts)}"
            return f"<div id={identity}>{inner}</div>"
        if frame == "pre":
            return f"<pre id={identity}>{gap}{one}\n  {two}</pre>"
        return f"<pre id={identity}><code>{one}\n\n{two}</code></pre>"

    def _phrase(self, scripts: Sequence[str]) -> str:
        """Marked-up words: new ones, or told before and changed in some place."""
        rng = self._rng
        if self._told and rng.random() < _TWIN_SHARE:
            script, text = rng.choice(self._told)
            text = self._varied(text)
        else:
            script = rng.choice(scripts)
            text = self._words(script)
        self._note(script)
        self._told.append((script, text))
        return self._marked_up(text)

    def _words(self, script: str) -> str:
        rng = self._rng
        count = rng.randint(*WORDS)
        if script in _DENSE:
            return "".join(rng.choice(_DENSE[script].split(" ")) for _ in range(count + 3))
        words = [rng.choice(_WORDS[script].split(" ")) for _ in range(count)]
        if rng.random() < 0.08:
            at = rng.randrange(count)
            words[at] += strange_character(rng) + rng.choice(("", "s"))
            self._note("strange")
        return " ".join(words)

    def _varied(self, text: str) -> str:
        rng = self._rng
        way = rng.random()
        if way < 0.2:
            self._note("repeat")
        elif way < 0.35:
            words = text.split(" ")
            words[rng.randrange(len(words))] = rng.choice(_WORDS["latin"].split(" "))
            text = " ".join(words)
            self._note("another word")
        else:
            text, kinds = look_alike(rng, text, rng.choice((1, 1, 1, 2, 3)))
            for kind in sorted(kinds):
                self._note(f"like: {kind}")
        if rng.random() < 0.25:
            more = rng.choice(_WORDS["latin"].split(" "))
            text = rng.choice((f"{more} {text}", f"{text} {more}"))
        return text

    def _marked_up(self, text: str) -> str:
        """The text with inline tags around some of it, and this or that in between."""
        rng = self._rng
        out: list[str] = []
        for number, word in enumerate(text.split(" ")):
            if number:
                out.append(" ")
            out.append(self._tagged(word) if rng.random() < _MARKED_SHARE else escape(word))
            if rng.random() < _BETWEEN_SHARE:
                kind = rng.choice(list(_BETWEEN))
                filler = escape(rng.choice((rng.choice(self._told)[1], "night", "a small")))
                out.append(rng.choice(_BETWEEN[kind]).replace("{}", filler))
                self._note(kind)
        if len(out) > 4 and rng.random() < 0.2:
            # A tag around several words.
            first, last = sorted(rng.sample(range(0, len(out), 1), 2))
            tag, attribute = self._tag()
            inner = "".join(out[first : last + 1])
            out[first : last + 1] = [f"<{tag} {attribute}>{inner}</{tag}>"]
        if rng.random() < 0.1:
            out.append(rng.choice(("\u200b", "\u00ad", " ", "\u00a0", "\n")))
        return "".join(out)

    def _tagged(self, word: str) -> str:
        tag, attribute = self._tag()
        opening = f"<{tag} {attribute}>"
        if self._rng.random() < 0.3 and len(word) > 1:
            # Inside a word.
            at = self._rng.randrange(1, len(word))
            return f"{escape(word[:at])}{opening}{escape(word[at:])}</{tag}>"
        inner = escape(word)
        if self._rng.random() < 0.2:
            other, second = self._tag()
            inner = f"<{other} {second}>{inner}</{other}>"
        return f"{opening}{inner}</{tag}>"

    def _tag(self) -> tuple[str, str]:
        shape = self._rng.choice(_INLINE)
        tag, _, attribute = shape.partition(":")
        self._note("inline tag" if not attribute or tag == "a" else f"inline {attribute}")
        return tag, attribute

    def _note(self, construct: Kind) -> None:
        self._constructs.add(construct)
