"""Turn the final HTML of a page into the text that browsers search: runs between cuts.

A run is a stretch of text that every supported browser can match as one piece. Inline
markup doesn't end a run; blocks, table parts, line breaks and replaced elements do. Only
this module makes a `Page`, so whoever holds one need not ask whether it was rendered.

The rules and their measurements are in the handbook, `corpus/reference/text-model.md`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property, lru_cache, wraps
from typing import Any, NamedTuple, TypeVar
from unicodedata import category, is_normalized

from selectolax.lexbor import LexborHTMLParser, LexborNode

from exactquote.rendered.edges import in_words
from exactquote.rendered.folds import CHROMIUM, fold_text
from exactquote.rendered.generated import (
    BUTTONS,
    Written,
    default_label,
    labels_of,
    texts_of,
    written_by,
)
from exactquote.rendered.hazards import hazards
from exactquote.rendered.scripted import parse
from exactquote.rendered.style_media import DESKTOP, phone_for
from exactquote.rendered.styles import BLOCK_TAGS, PRE_TAGS, Beside, Look, Sheet, Styles, apply

# Between two runs in `Page.text`. An HTML parser never yields NUL, so no quote can hold it.
CUT = "\x00"
# Punctuation that can stand inside a word or a number.
_JOINERS = frozenset("'’.,:;·_@-‐‑")

_LETTERED = re.compile(r"<(?:ol|ul|li)\b[^<>]*[\s/]type\b", re.IGNORECASE)
_NUMBERED = re.compile(r"<ol\b", re.IGNORECASE)
_LISTS = frozenset({"ol", "ul", "menu", "dir"})
_COUNTED_ON = re.compile(r"<(?:ol|li)\b[^<>]*[\s/](?:start|value)\b", re.IGNORECASE)
_MARKED = re.compile(r"list-style|counter-|list-item", re.IGNORECASE)
# The highest that a counter holds in browsers
_ANY_NUMBER = 2**31 - 1
_LIST_ITEM = re.compile("<(?:li|summary)[\\s>/]|list-item", re.IGNORECASE)


class Kind(IntEnum):
    """Who sees the text of a run."""

    TEXT = 0
    """Every reader, in every supported browser: the only kind that can be cited."""
    CHROME = 1
    """Every reader, but it belongs to the site's frame, not to the document."""
    CONTROL = 2
    """A button's label: visible, but browsers disagree on what surrounds it."""
    FOREIGN = 3
    """Text of svg, math or ruby, shadow roots and custom elements: browsers disagree."""
    CLIPPED = 4
    """For screen readers only: browsers match it, but no one who looks at the page sees it."""
    ALT = 5
    """Alternative text; Firefox matches it where the picture is missing."""
    VALUE = 6
    """What a form field holds; WebKit doesn't match it."""
    LABEL = 7
    """What a browser writes on a button of a form: it searches it apart from the page's text."""
    HIDDEN = 8
    """Not rendered: no browser matches it."""


class Run(NamedTuple):
    """One searchable piece: `start` and `end` are offsets into the page's text."""

    start: int
    end: int
    kind: Kind
    pre: bool
    """White space is kept as written."""
    joint: str
    """What ends the run: "block", or the inline cut that not every browser makes."""
    space_before: bool
    space_after: bool
    """White space stood at the rim and was trimmed."""
    anchor: str
    """Nearest element id, "" when none comes before."""
    trail: int
    """Index into `Page.trails`."""
    marks: tuple[tuple[int, int], ...]
    """Where superscripts stand, as offsets into the page's text."""
    tag: str
    """The block element that holds the run."""
    main: bool
    """Inside the page's main part."""
    opens: bool
    closes: bool
    """Whether an atomic element began right behind the last run, or ended before this one."""
    closed: int
    """Which closed `<details>`, or element hidden until found, holds the run; 0 for none."""
    resumed: tuple[int, ...] = ()
    """Where inline elements with a button or the like in them end, as offsets into the text."""
    row: int = 0
    """Which row of a table holds the run; 0 for none."""
    worn: tuple[int, ...] = ()
    """Where a letter stands right before that a style sheet writes, as offsets into the text."""
    initial: bool = False
    """Whether a style sheet has a rule for the first letter: WebKit highlights beside it then."""


@dataclass(frozen=True)
class Page:
    """The searchable text of one final page. Offsets are code points into `text`."""

    doc: str
    path: str
    text: str
    runs: tuple[Run, ...]
    trails: tuple[tuple[str, ...], ...]
    html: str = field(repr=False)
    title: str = ""
    language: str = ""
    generated: frozenset[str] = frozenset()
    """What style sheets and `<q>` may write into the page: Firefox meets it as it searches."""
    labels: frozenset[str] = frozenset()
    """What browsers write into form fields."""
    marks: frozenset[str] = frozenset()
    """What style sheets put before items of lists: bullets, figures, numerals, letters."""
    items: int = 0
    """How many items its longest ordered list has."""
    responsive: bool = False
    """Whether style sheets make something else of it on another screen."""

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """What others make of the page and need again, under keys of their own."""
        return {}

    @cached_property
    def frail(self) -> frozenset[int]:
        """Rims of runs at which words on both sides may be one word for some browser.

        A picture, a form field or hidden text between them cuts the run, but no white space
        says that a word ends there.
        """
        found: list[int] = []
        last: Run | None = None
        joint, spaced, opens, closes = "block", True, False, False
        unseen_end = 0
        for run in self.runs:
            found.extend(run.worn)
            if joint == "eaten" and last is not None:
                # Chromium leaves out the space here, and takes what stands around for a word.
                if not self._breaks(last.end - 1, run.start):
                    found += (last.end, run.start)
                spaced = False
            opens, closes = opens or run.opens, closes or run.closes
            if run.kind in (Kind.HIDDEN, Kind.LABEL, Kind.ALT):
                apart = joint != "invisible" or spaced or run.space_before
                # Firefox sees a word go on in text that takes its place unseen.
                if last is not None and not apart and not self._breaks(last.end - 1, run.start):
                    found.append(last.end)
                unseen_end = run.end if run.joint == "invisible" and not run.space_after else 0
                joint = _stronger(joint, run.joint)
                continue
            if unseen_end and not run.space_before and not self._breaks(unseen_end - 1, run.start):
                found.append(run.start)
            unseen_end = 0
            soft = joint not in ("block", "br")
            if last is not None and soft and not self._breaks(last.end - 1, run.start):
                # What isn't rendered at all leaves the words side by side; beside anything
                # else the space has to stand at the very rim.
                unseen = joint == "hidden"
                if joint != "eaten" and not (
                    spaced or (run.space_before and (unseen or not opens))
                ):
                    found.append(last.end)
                if joint != "eaten" and not (
                    run.space_before or (spaced and (unseen or not closes))
                ):
                    found.append(run.start)
            last, joint, spaced = run, run.joint, run.space_after
            opens = closes = False
        return frozenset(found)

    def _breaks(self, left: int, right: int) -> bool:
        """Whether a word ends between two characters, whatever stands between them."""
        return self._ends_word(left, -1) or self._ends_word(right, 1)

    def _ends_word(self, at: int, step: int) -> bool:
        char = self.text[at]
        if char in _JOINERS:
            beyond = self.text[at + step : at + step + 1] if at + step >= 0 else ""
            return not beyond.isalnum()
        return category(char)[0] in "PSZ" and not in_words(char)

    @cached_property
    def freezing(self) -> bool:
        """Whether the page has what can freeze Chromium.

        Characters beyond U+FFFF, or letters that are written as two characters, with a mark.
        """
        return max(self.text, default="") > "\uffff" or not is_normalized("NFC", self.text)

    @cached_property
    def numbered(self) -> int:
        """The highest number that a browser may write before an item of a list; 0 for none."""
        if "figures" in self.marks:
            return _ANY_NUMBER
        if not self.items:
            return 0
        return _ANY_NUMBER if _COUNTED_ON.search(self.html) else self.items

    @cached_property
    def styled_initials(self) -> bool:
        """Whether the first letter of any block is styled."""
        return any(run.initial for run in self.runs)

    @cached_property
    def bulleted(self) -> bool:
        """Whether a browser may write a sign before an item of a list."""
        return "bullets" in self.marks or _LIST_ITEM.search(self.html) is not None

    @cached_property
    def lettered(self) -> bool:
        """Whether the page may have items of lists that are marked by letters or words."""
        return "letters" in self.marks or _LETTERED.search(self.html) is not None

    @cached_property
    def hazards(self) -> tuple[tuple[str, int], ...]:
        """What scripts of the page do against links into it, in words, and in which line."""
        return hazards(self.html)

    @cached_property
    def _starts(self) -> list[int]:
        return [run.start for run in self.runs]

    @cached_property
    def has_closed(self) -> bool:
        """Whether some of the page is folded away until a reader opens it."""
        return any(run.closed for run in self.runs)

    @cached_property
    def passed_over(self) -> bool:
        """Whether it has text that browsers pass over in search of context."""
        return self.has_closed or any(run.kind in PASSED_OVER for run in self.runs)

    def run_at(self, offset: int) -> int:
        """Index of the run that holds `offset`; the one before when it is a cut."""
        return bisect_right(self._starts, offset) - 1

    def quote(self, start: int, end: int) -> str:
        """What a reader sees from `start` to `end`: the page's own text, cuts as spaces."""
        text = self.text[start:end]
        if CUT in text:
            first, last = self.run_at(start), self.run_at(end - 1)
            shown = [run for run in self.runs[first : last + 1] if run.kind < Kind.ALT]
            text = " ".join(self.text[max(r.start, start) : min(r.end, end)] for r in shown)
        return text.translate(_UNSHOWN)


T = TypeVar("T")


def once_per_page(make: Callable[[Page], T]) -> Callable[[Page], T]:
    """`make`, called once for each page: what it gives is kept with the page."""

    @wraps(make)
    def kept(page: Page) -> T:
        if make not in page.kept:
            page.kept[make] = make(page)
        made: T = page.kept[make]
        return made

    return kept


PASSED_OVER = frozenset({Kind.ALT, Kind.VALUE, Kind.LABEL, Kind.HIDDEN})
"""Kinds of text that stand beside no other: browsers go on behind a field in search of context."""


def read_page(
    html: str,
    *,
    doc: str,
    path: str,
    title: str = "",
    language: str = "",
    sheets: Sequence[Sheet] = (),
    article_only: bool = False,
    phone: bool = False,
) -> Page:
    """Parse a final page and cut its text into runs, as a desktop or a phone shows it.

    `article_only` makes text outside `<article>` citable by nobody (it still counts where
    uniqueness is concerned): our own pages mark their documents that way.
    """
    tree = parse(html)
    inert = {node.mem_id for node in tree.css("[inert]")}
    styled = bool(sheets) or _STYLED.search(html) is not None
    screen = phone_for(_viewports(tree)) if phone else DESKTOP
    styles = apply(tree, sheets, screen) if styled else Styles({})
    walk = _Walk(styles, _ids(tree), inert, article_only)
    walk.turkic = _TURKIC.search(html) is not None
    walk.tree = tree
    if "shadowrootmode" in html.lower():
        walk.hosts = _hosts(tree)
    root = tree.root
    if root is not None:
        walk.go(root)
    written = [one.written for one in sheets]
    written += _own_marks(tree, html, sheets=bool(sheets))
    return Page(
        doc=doc,
        path=path,
        text=CUT.join(walk.texts),
        runs=tuple(walk.runs),
        trails=tuple(walk.trails),
        html=html,
        title=title or _title(tree),
        language=language,
        generated=texts_of(written, tree).union(_QUOTE_MARKS if _QUOTE.search(html) else ()),
        labels=labels_of(html, tree),
        marks=frozenset().union(*(one.marks for one in written)),
        items=_most_items(tree) if _NUMBERED.search(html) else 0,
        responsive=styles.responsive,
    )


def _viewports(tree: LexborHTMLParser) -> list[str]:
    """What a page says of its layout on phones."""
    metas = tree.css("meta[name=viewport i], meta[name=handheldfriendly i]")
    said = [(node.attributes.get("name") or "", node.attributes.get("content")) for node in metas]
    views = [content or "" for name, content in said if name.lower() == "viewport"]
    friendly = any(content == "true" for name, content in said if name.lower() != "viewport")
    return views or ["width=device-width"] * friendly


# Of other elements only custom ones can; WHATWG DOM, "valid shadow host name".
_HOSTS = frozenset(
    "article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section"
    " span".split()
)


def _hosts(tree: LexborHTMLParser) -> dict[int, int]:
    """The template of each element that a page gives a shadow root, both by `mem_id`."""
    hosts: dict[int, int] = {}
    for node in tree.css("template[shadowrootmode]"):
        mode = (node.attributes.get("shadowrootmode") or "").lower()
        host = node.parent
        if mode in ("open", "closed") and host is not None:
            tag = host.tag or ""
            if tag in _HOSTS or "-" in tag:
                hosts.setdefault(host.mem_id, node.mem_id)
    return hosts


def _most_items(tree: LexborHTMLParser) -> int:
    """How many items the longest ordered list has; any that a browser counts on with them."""
    counts: dict[int, int] = {}
    # The ordered list that an element's items count in, 0 for none.
    within: dict[int, int] = {}
    for node in tree.css("*"):
        parent = node.parent
        counter = within.get(parent.mem_id, 0) if parent is not None else 0
        if node.tag in ("li", "summary") and counter:
            counts[counter] = counts.get(counter, 0) + 1
        if node.tag in _LISTS:
            counter = node.mem_id if node.tag == "ol" else 0
        if counter:
            within[node.mem_id] = counter
    return max(counts.values(), default=0)


def _own_marks(tree: LexborHTMLParser, html: str, *, sheets: bool) -> Iterator[Written]:
    """What a page itself says of the marks of lists; its `<style>` may be among the sheets."""
    if _MARKED.search(html):
        if not sheets:
            yield from (written_by(node.text() or "") for node in tree.css("style"))
        styles = (node.attributes.get("style") or "" for node in tree.css("[style]"))
        yield from (written_by(style) for style in styles if _MARKED.search(style))


# The tags that cut nothing: measured with passages across each of them.
_TRANSPARENT = frozenset(
    "a abbr b bdi bdo cite code data del dfn em i ins kbd mark q s samp small span strong"
    " sub sup time u var wbr label output font tt big nobr acronym strike".split()
)
_NO_TEXT = frozenset("script style template noscript head meta link base title noframes".split())
# What stands in a menu or in another window isn't cut from the text but left out of it.
_BLOCK = BLOCK_TAGS - {"frame", "frameset", "optgroup", "option"}
_HEADING = {f"h{level}": level for level in range(1, 7)}
_FOREIGN = frozenset({"svg", "math", "ruby"})
# Their content is a fallback that a browser with the feature never shows.
_EMBEDDED = frozenset("iframe object video audio canvas embed frameset meter progress".split())
# Behind them Chromium begins anew, with the text of the elements around, one after the other.
_RESTARTING = frozenset("button svg math input inline-block float".split())
_FORM = frozenset({"input", "textarea", "select"})

# Without a style sheet, only these make an element look other than its tag does.
_STYLED = re.compile(
    r"[\s/\"'](?:style|hidden|popover|contenteditable)\b"
    r"|<(?:dialog|noembed|datalist|marquee|rp)\b",
    re.IGNORECASE,
)
# They stay in the text, since a link that leaves them out fails beside a space; what readers
# are shown goes without. ZWJ and ZWNJ are shown: emoji and Persian words are made with them.
_UNSHOWN = {0x00AD: None, 0x200B: None, 0x2060: None, 0xFEFF: None}
_QUOTE = re.compile(r"<q[\s/>]", re.IGNORECASE)
_QUOTE_MARKS = ('"', "'")
_TURKIC = re.compile(r"\blang\s*=\s*[\"']?(?:tr|az)\b", re.IGNORECASE)
# NBSP is no collapsible space: browsers keep it, and match it as a space.
# A form feed is white space in HTML, but no browser finds text across one.
_SPACES = re.compile("[ \t\n\r]+")
_RIM = " \t\n\r\f"
_ANY_TEXT = "\ufffc"


class _Here:
    """What holds for the text in an element, until it is left."""

    __slots__ = (
        "closed",
        "initial",
        "invisible",
        "kind",
        "lines",
        "pre",
        "row",
        "tag",
        "transformed",
    )

    def __init__(self) -> None:
        self.kind = Kind.TEXT
        self.tag = "body"
        self.closed = self.row = 0
        self.pre = False
        # `pre-line`: line ends are kept, and cut as `<br>` does.
        self.lines = False
        # Unlike display:none, a child can undo visibility:hidden.
        self.invisible = False
        self.transformed = self.initial = False

    def copy(self) -> _Here:
        """The same, for an element inside."""
        made = _Here.__new__(_Here)
        made.kind, made.tag, made.closed, made.row = self.kind, self.tag, self.closed, self.row
        made.pre, made.lines, made.invisible = self.pre, self.lines, self.invisible
        made.transformed, made.initial = self.transformed, self.initial
        return made


class _Walk:
    """One pass over the tree; what it gathers is read off by `read_page`."""

    def __init__(
        self, styles: Styles, ids: dict[int, str], inert: set[int], article_only: bool
    ) -> None:
        self.texts: list[str] = []
        self.runs: list[Run] = []
        self.trails: list[tuple[str, ...]] = [()]
        self._styles = styles
        self._ids = ids
        self._inert = inert
        # The elements with a shadow root, by id, and the templates that are one.
        self.hosts: dict[int, int] = {}
        self._article_only = article_only
        self._offset = 0
        self._pieces: list[str] = []
        self._length = 0
        self._space_before = False
        self._gap = False
        self._recast = False
        self.tree: LexborHTMLParser | None = None
        self.turkic = False
        """Whether some of the page is in a language with two letters i."""
        self._here = _Here()
        self._opens = self._closes = False
        self._marks: list[tuple[int, int]] = []
        self._drawings: dict[str, str] = {}
        # Open elements that don't cut, each with whether one in it did.
        self._inlines: list[bool] = []
        self._resumed: list[int] = []
        self._worn: list[int] = []
        # What a style sheet wrote right before, until text of the page follows.
        self._beside: Beside = ""
        self._main = 0
        self._details: list[tuple[int, int]] = []
        self._order = 0
        self._open_ids: list[tuple[int, str]] = []
        self._heading: tuple[int, str] = (-1, "")
        self._stack: list[tuple[int, str]] = []
        self._in_heading = 0
        self._heading_texts: list[str] = []
        self._heading_id: tuple[int, str] | None = None

    def go(self, root: LexborNode) -> None:
        """Visit every node in document order, without recursion: pages nest as they like."""
        node: LexborNode | None = root
        parents: list[tuple[LexborNode, Any]] = []
        while node is not None:
            undo = self._enter(node)
            child = node.first_child if undo is not _SKIP else None
            if child is not None:
                parents.append((node, undo))
                node = child
                continue
            if undo is not None and undo is not _SKIP:
                undo()
            following = node.next
            while following is None and parents:
                node, undo = parents.pop()
                if undo is not None:
                    undo()
                following = node.next
            node = following
        self._cut("block")

    def _enter(self, node: LexborNode) -> Any:
        """Take in one node; returns what to do when it is left, or `_SKIP`."""
        tag = node.tag
        if tag == "-text":
            self._text(node.text_content or "")
            return None
        if tag is None or tag[0] in "-!":
            return None
        if tag == "q" and not node.text().strip():
            # Its marks keep the white space on both sides of it apart.
            self._soften("styled")
        look = self._styles.looks.get(node.mem_id)
        identity = self._ids.get(node.mem_id)
        plain = look is None and identity is None and node.mem_id not in self._inert
        plain = plain and node.mem_id not in self.hosts
        if plain and tag in _TRANSPARENT:
            return self._open_inline(self._mark_end() if tag == "sup" else None)
        if tag == "template" and node.parent and self.hosts.get(node.parent.mem_id) == node.mem_id:
            self._shadow(node)
            return _SKIP
        if tag in _NO_TEXT:
            # Not even hidden text: a script's source is no text of the page.
            self._soften("hidden")
            return _SKIP
        return self._element(node, tag, look, identity)

    def _element(self, node: LexborNode, tag: str, look: Look | None, identity: str | None) -> Any:
        outer, ids = self._here, len(self._open_ids)
        here = self._here = outer.copy()
        joint = _joint(tag, look)
        inert = node.mem_id in self._inert
        is_host = node.mem_id in self.hosts
        if inert or is_host:
            joint = joint or "mixed"
        if here.kind is Kind.HIDDEN:
            joint = joint and "hidden"
        elif look is not None and look.hidden != here.invisible:
            joint = joint or "invisible"
        if joint:
            self._cut(joint)
        if identity:
            # Behind the cut: text that stands before the element isn't near its id.
            self._order += 1
            self._open_ids.append((self._order, identity))
            if self._in_heading and self._heading_id is None:
                self._heading_id = (self._order, identity)
        atomic = joint not in ("", "block", "br")
        if atomic and not (self._gap or self._space_before):
            self._opens = True
        close_inline = None if joint else self._open_inline(None)
        boxed = tag == "marquee" or (look is not None and look.display in ("block", "cut-soft"))
        restarts = joint == "block" or joint in _RESTARTING or (boxed and joint != "hidden")
        inlines, self._inlines = (self._inlines, []) if joint else (None, self._inlines)
        undo_heading = None
        if tag in _HEADING:
            undo_heading = self._open_heading(_HEADING[tag], identity)
        if tag in ("main", "article"):
            self._main += 1
        elif tag == "details":
            self._details.append((here.closed, self._offset + 1))
            if "open" not in node.attributes:
                here.closed = self._offset + 1
        elif tag == "summary" and self._details:
            here.closed = self._details[-1][0]
        elif tag == "tr":
            here.row = self._offset + 1
        if (node.attributes.get("hidden") or "").lower() == "until-found":
            here.closed = self._offset + 1
        if joint == "block":
            here.tag = tag
        kind = _kind(tag) if look is None else max(_kind(tag), _kind_by_look(look))
        if inert:
            # Shown, but Chromium and Firefox don't search it.
            kind = Kind.HIDDEN
        if is_host:
            # What it holds besides is shown in a slot, or not at all.
            kind = max(kind, Kind.FOREIGN)
        if look is not None:
            here.invisible = look.hidden
            here.transformed = look.transformed
            here.initial = here.initial or look.initial
        if kind > here.kind:
            here.kind = kind
        if look is not None and look.white_space is not None:
            here.lines = look.white_space == "pre-line"
            here.pre = look.white_space == "pre"
        elif tag in PRE_TAGS:
            here.pre, here.lines = True, False
        self._aside(node, tag)
        if tag in _EMBEDDED:
            here.kind = Kind.HIDDEN
        mark_end = self._mark_end() if tag == "sup" else None
        if look is not None:
            self._write_beside(look.before)

        def leave() -> None:
            if look is not None:
                self._write_beside(look.after)
            if mark_end is not None:
                mark_end()
            if joint:
                self._cut(joint)
            if close_inline is not None:
                close_inline()
            if inlines is not None:
                self._inlines = [True] * len(inlines) if restarts else inlines
            self._closes = self._closes or atomic
            if undo_heading is not None:
                undo_heading()
            if tag in ("main", "article"):
                self._main -= 1
            elif tag == "details":
                self._details.pop()
            self._here = outer
            del self._open_ids[ids:]

        return leave

    def _is_recast(self, raw: str) -> bool:
        if self.turkic and "I" in raw:
            # Its lower case there is the dotless letter, which is another one.
            return True
        return not raw.isascii() and any(map(_is_recast, raw))

    def _text(self, raw: str) -> None:
        if self._here.lines and "\n" in raw:
            for number, line in enumerate(raw.split("\n")):
                if number:
                    self._cut("br")
                self._text(line)
            return
        if self._beside and raw:
            self._meet(raw)
        if "\r" in raw or (self._here.transformed and self._is_recast(raw)):
            # A carriage return, which only a reference can write, is no white space to WebKit.
            self._recast = True
        if self._here.pre:
            if self._length or raw.strip():
                self._pieces.append(raw)
                self._length += len(raw)
            elif raw:
                self._space_before = True
            return
        text = raw
        if "\n" in raw or "  " in raw or "\t" in raw or "\r" in raw:
            text = _SPACES.sub(" ", raw)
        if not text:
            return
        if text[0] == " " and (not self._length or self._pieces[-1][-1] == " "):
            if not self._length:
                self._space_before = True
            text = text[1:]
            if not text:
                return
        self._pieces.append(text)
        self._length += len(text)

    def _write_beside(self, beside: Beside) -> None:
        """Take in what the text of a pseudo-element does to the text around it."""
        if beside == "out":
            self._cut("float")
        elif beside == "block":
            self._cut("eaten")
            self._inlines = [True] * len(self._inlines)
        elif beside:
            self._beside = beside

    def _meet(self, text: str) -> None:
        """Text of the page follows what a style sheet wrote."""
        beside, self._beside = self._beside, ""
        blank = text[0] in _RIM
        if self._length:
            ends = self._pieces[-1][-1] in _RIM
        else:
            last = self.runs[-1] if self.runs else None
            open_line = last is not None and last.joint not in ("block", "br", "eaten")
            ends = self._gap or self._space_before or not open_line or self.runs[-1].space_after
        if "space" in beside and blank and not ends and not self._here.pre:
            # The page's space is dropped behind it, and with it that which Chromium searches.
            self._cut("eaten")
        elif "letter" in beside and not blank:
            self._worn.append(self._length)

    def _open_inline(self, undo: Any) -> Any:
        """Note an element that doesn't cut; returns what to do when it is left."""
        self._inlines.append(False)

        def close() -> None:
            if undo is not None:
                undo()
            if self._inlines.pop() and self._length:
                self._resumed.append(self._length)

        return close

    def _mark_end(self) -> Any:
        start = self._length
        runs = len(self.runs)

        def end() -> None:
            if len(self.runs) == runs and self._length > start:
                self._marks.append((start, self._length))

        return end

    def _aside(self, node: LexborNode, tag: str) -> None:
        """Text that lives in attributes, as runs of its own."""
        if tag in ("img", "area"):
            self._lone(node.attributes.get("alt"), Kind.ALT, _natural_joint(tag))
        elif tag == "input":
            attributes = node.attributes
            shape = (attributes.get("type") or "").lower()
            if shape not in ("hidden", "checkbox", "radio", "password"):
                value = attributes.get("value")
                if value and shape not in BUTTONS:
                    self._lone(value, Kind.VALUE, "input")
                else:
                    # Firefox reads on behind a button as if it weren't there.
                    self._lone(value or default_label(shape), Kind.LABEL, "input")
        elif tag == "use":
            self._lone(self._used(node), Kind.FOREIGN, "svg")
        elif tag == "details" and node.css_first("summary") is None:
            self._lone(default_label("details"), Kind.LABEL, "block")

    def _used(self, node: LexborNode) -> str:
        """The text of a drawing that is shown at another place; one sign for what isn't known."""
        attributes = node.attributes
        href = attributes.get("href") or attributes.get("xlink:href") or ""
        if not href.startswith("#"):
            return _ANY_TEXT if "#" in href else ""
        if href not in self._drawings and self.tree is not None:
            name = href[1:].replace("\\", "\\\\").replace('"', '\\"')
            drawn = self.tree.css_first(f'[id="{name}"]') if "\n" not in name else None
            self._drawings[href] = drawn.text() if drawn is not None else ""
        return self._drawings[href]

    def _lone(self, text: str | None, kind: Kind, joint: str) -> None:
        if text and text.strip():
            outer = self._here.kind
            self._here.kind = max(kind, outer)
            self._text(text)
            self._cut(joint)
            self._here.kind = outer

    def _shadow(self, node: LexborNode) -> None:
        """Text of a declarative shadow root: WebKit doesn't show what it matched there."""
        self._cut("block")
        for fragment in node.template_fragments():
            self._text(fragment.text(separator=" "))
            self._cut("block")

    def _soften(self, joint: str) -> None:
        """An element without text stands here: a passage may not span it."""
        if self._length:
            self._cut(joint)

    def _cut(self, joint: str) -> None:
        """End the run here. Of several cuts in a row the block wins, then the mixture."""
        if joint in ("block", "br"):
            self._beside = ""
        if not self._length:
            self._gap = self._gap or self._space_before
            self._space_before = False
            self._rejoin(joint)
            return
        text = "".join(self._pieces)
        lead = 0
        if self._here.pre:
            stripped = text.rstrip(_RIM)
            lead = len(text) - len(text.lstrip("\n"))
            space_after = len(stripped) < len(text)
            self._space_before = self._space_before or lead > 0
            text = stripped[lead:]
        else:
            space_after = text[-1] == " "
            if space_after:
                text = text[:-1]
        if not text.strip():
            self._forget(space=True)
            self._rejoin(joint)
            return
        kind = Kind.HIDDEN if self._here.invisible else self._here.kind
        if self._recast:
            kind = max(kind, Kind.FOREIGN)
        if kind is Kind.TEXT and self._article_only and not self._main:
            kind = Kind.CHROME
        start = self._offset
        marks = tuple((start + max(0, a - lead), start + b - lead) for a, b in self._marks)
        if self._in_heading and kind <= Kind.CHROME:
            self._heading_texts.append(text)
        self.texts.append(text)
        self.runs.append(
            Run(
                start,
                start + len(text),
                kind,
                self._here.pre,
                joint,
                self._space_before or self._gap,
                space_after,
                self._anchor(),
                len(self.trails) - 1,
                marks,
                self._here.tag,
                bool(self._main),
                self._opens,
                self._closes,
                self._here.closed,
                tuple(
                    start + at - lead
                    for at in dict.fromkeys(self._resumed)
                    if lead < at < lead + len(text)
                ),
                self._here.row,
                tuple(start + at - lead for at in self._worn if lead <= at < lead + len(text)),
                self._here.initial,
            )
        )
        self._opens = self._closes = False
        self._offset = start + len(text) + 1
        self._forget(space=False)

    def _forget(self, *, space: bool) -> None:
        self._pieces = []
        self._length = 0
        self._marks = []
        self._resumed = []
        self._worn = []
        self._recast = False
        self._space_before = False
        self._gap = space

    def _rejoin(self, joint: str) -> None:
        """A further cut with no text since the last one."""
        if not self.runs:
            return
        last = self.runs[-1]
        if last.joint == joint or last.joint == "block":
            return
        self.runs[-1] = last._replace(joint=_stronger(last.joint, joint))

    def _anchor(self) -> str:
        best = self._heading
        if self._open_ids and self._open_ids[-1][0] > best[0]:
            best = self._open_ids[-1]
        return best[1]

    def _open_heading(self, level: int, identity: str | None) -> Any:
        self._in_heading += 1
        self._heading_texts = []
        self._heading_id = (self._order, identity) if identity else None

        def close() -> None:
            self._in_heading -= 1
            kept = [item for item in self._stack if item[0] < level]
            self._stack = [*kept, (level, " ".join(self._heading_texts))]
            self.trails.append(tuple(text for _, text in self._stack))
            if self._heading_id is not None:
                self._heading = self._heading_id

        return close


_SKIP = object()


@lru_cache(maxsize=4096)
def _is_recast(c: str) -> bool:
    """Whether another case of a character is another letter, as of a dotless i.

    Chromium and WebKit search what `text-transform` makes of a text, Firefox what is written.
    """
    cases = (c, c.upper(), c.lower(), c.title())
    return len({fold_text(case, CHROMIUM).text for case in cases}) > 1


def _joint(tag: str, look: Look | None) -> str:
    """Which cut an element makes at its rims; "" for none."""
    natural = _natural_joint(tag)
    if look is None:
        return natural
    if look.display == "none":
        # Not even a block cuts where it isn't shown: the words around it stand together.
        return "hidden"
    if look.floated or look.positioned:
        return "float"
    if look.display == "block":
        return "block"
    if look.display == "cut-soft":
        return "inline-block" if natural in ("", "block", "other") else natural
    if look.display in ("inline", "contents") and natural == "block":
        # The page says that its blocks flow as text; no browser was measured there.
        return "styled"
    if look.hidden:
        return natural or "invisible"
    if look.clipped:
        return natural or "mixed"
    return natural


def _natural_joint(tag: str) -> str:
    if tag in _BLOCK:
        return "block"
    if tag in _TRANSPARENT or tag == "picture":
        return ""
    if tag in ("br", "img", "button", "ruby", "svg", "math"):
        return tag
    if tag in _FORM:
        return "input"
    if tag in _EMBEDDED:
        return "embed"
    return "other"


def _kind(tag: str) -> Kind:
    if tag in _FOREIGN:
        return Kind.FOREIGN
    if tag == "button":
        return Kind.CONTROL
    if tag == "textarea":
        return Kind.VALUE
    if tag in ("select", "datalist"):
        return Kind.HIDDEN
    return Kind.TEXT


def _stronger(first: str, second: str) -> str:
    if first == second:
        return first
    return next((one for one in ("block", "eaten") if one in (first, second)), "mixed")


def _kind_by_look(look: Look) -> Kind:
    if look.display == "none" or look.content_visibility == "hidden":
        return Kind.HIDDEN
    return Kind.CLIPPED if look.clipped else Kind.TEXT


def _ids(tree: LexborHTMLParser) -> dict[int, str]:
    """Element ids by node, each id only where it stands first: a browser goes there."""
    found: dict[int, str] = {}
    seen: set[str] = set()
    for node in tree.css("[id]"):
        identity = node.id
        if identity and identity not in seen and not identity.isspace():
            seen.add(identity)
            found[node.mem_id] = identity
    return found


def _title(tree: LexborHTMLParser) -> str:
    node = tree.css_first("h1") or tree.css_first("title")
    return " ".join(node.text().split()) if node is not None else ""
