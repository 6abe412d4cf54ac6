"""Makes raw HTML in a page harmless and balanced; text that a reader would see stays.

It happens twice. Each piece of raw HTML is *settled* as it is read: it may not leave a tag,
comment or script open that would swallow the text after it, tags that aren't allowed go, and
tags that nest too deep show as text. At last the whole body passes nh3's allow-list.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from markdown_it.rules_inline import html_inline as base_html_inline
from markdown_it.rules_inline.state_inline import StateInline

from exactquote.model import Place
from exactquote.readers.cite_links import FORMS, page_href
from exactquote.readers.notes import Notes, notes_of

if TYPE_CHECKING:
    import nh3


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TAGS = _words(
    "a abbr address article aside b bdi bdo blockquote br caption center cite code col colgroup "
    "dd del details dfn dialog div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header "
    "hgroup hr i img input ins kbd label li main mark menu nav ol p picture pre q rp rt ruby s "
    "samp search section small source span strike strong sub summary sup table tbody td tfoot th "
    "thead time tr tt u ul var wbr"
)
_OURS = frozenset({"eq-chip"})
_CODE = frozenset({"script", "style", "iframe", "noembed", "noframes", "title"})
# The text of these is read without tags up to their end tag, and without one to the page's end.
_RAW_TEXT = _CODE | {"textarea", "xmp", "plaintext"}
_VOID = frozenset({"br", "col", "hr", "img", "input", "source", "wbr"})
# The next of their kind, or their parent's end, closes these, so they don't nest when left open.
_SELF_ENDING = _words("a caption colgroup dd dt li p rp rt tbody td tfoot th thead tr")
_ATTRIBUTES = {
    "*": {"class", "dir", "hidden", "id", "lang", "role", "style", "title"},
    "a": {"href", "hreflang", "name", "rel", "target"},
    "blockquote": {"cite"},
    "col": {"span"},
    "colgroup": {"span"},
    "del": {"cite", "datetime"},
    "details": {"name", "open"},
    "dialog": {"open"},
    "eq-chip": {"n"},
    "img": {"alt", "height", "loading", "sizes", "src", "srcset", "width"},
    "input": {"checked", "disabled", "type"},
    "ins": {"cite", "datetime"},
    "li": {"value"},
    "ol": {"reversed", "start", "type"},
    "q": {"cite"},
    "source": {"media", "srcset", "type"},
    "table": {"align", "summary"},
    "td": {"align", "colspan", "headers", "rowspan", "valign"},
    "th": {"abbr", "align", "colspan", "headers", "rowspan", "scope", "valign"},
    "time": {"datetime"},
    "tr": {"align", "valign"},
    "div": {"align"},
    "p": {"align"},
}
# None of these can hide text in a way that the page's text model doesn't see.
_STYLES = _words(
    "border border-bottom border-collapse border-left border-right border-top caption-side clear "
    "display float font-style font-weight height list-style-type max-width min-width padding "
    "padding-bottom padding-left padding-right padding-top text-align text-decoration "
    "vertical-align visibility white-space width"
)
_SCHEMES = _words(
    "data ftp ftps geo git http https irc ircs magnet mailto matrix news sftp sip sips sms ssh "
    "tel urn webcal xmpp"
)
_DATA_PICTURE = re.compile(r"data:image/(?:gif|png|jpeg|webp);", re.IGNORECASE)
_CONSTRUCT = re.compile(r"<(?:(!--)|([!?]|/(?![a-zA-Z]))|(/?)([a-zA-Z][^\s/>\0]*))")
_RAW_TEXT_TAG = re.compile(rf"<({'|'.join(sorted(_RAW_TEXT))})(?=[\s/>])", re.IGNORECASE)
# Attributes as the HTML standard reads them: `=` begins a name, quotes count after `=` only.
_REST_OF_TAG = re.compile(
    r"""(?:[\s/]++|[^\s/>][^\s/>=]*+"""
    r"""(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|(?!["'])[^\s>]*+)|(?!\s*+=\s*+["'])))*+>"""
)
_COMMENT_END = re.compile("--!?>")
# Of the element `<cite>`, which names a work, these are no attributes.
_CITES = re.compile(r"\s(?:doc|quote|cite|from|to|ref)\s*=", re.IGNORECASE)
_HREF = re.compile(r"""(\shref\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)""", re.IGNORECASE)
_ID = re.compile(r"""\s(?:id|name)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_ANY_TAG = re.compile("<[^>]*>")
_FAILURES_MAX = 50


def sanitise(html: str, line_marks: bool = False) -> str:
    """Body HTML through the allow-list: balanced, without code, its visible text kept."""
    return _cleaner(line_marks, "data:" in html.lower()).clean(html)


@lru_cache(maxsize=4)
def _cleaner(line_marks: bool, data: bool) -> nh3.Cleaner:
    import nh3

    attributes = {tag: set(names) for tag, names in _ATTRIBUTES.items()}
    if line_marks:
        attributes["*"].add("data-eq-line")
    return nh3.Cleaner(
        tags=TAGS | _OURS,
        clean_content_tags=set(_CODE),
        attributes=attributes,
        attribute_filter=_without_data if data else None,
        link_rel=None,
        generic_attribute_prefixes={"aria-"},
        url_schemes=set(_SCHEMES),
        filter_style_properties=set(_STYLES),
    )


def _without_data(tag: str, name: str, value: str) -> str | None:
    """A `data:` address may only be a picture."""
    if value[:5].lower() == "data:" and not (name == "src" and _DATA_PICTURE.match(value)):
        return None
    return value


def html_inline(state: StateInline, silent: bool) -> bool:
    """Inline rule: markdown-it's raw tag; a script in a line ends in it, or else is text."""
    start = state.pos
    found = _RAW_TEXT_TAG.match(state.src, start)
    if found:
        tag = _REST_OF_TAG.match(state.src, found.end())
        end = _raw_text_end(state, found[1].lower(), tag.end()) if tag else -1
        if end < 0:
            return False
        if not silent:
            state.push("html_inline", "", 0)
        state.pos = end
    elif not base_html_inline(state, silent):
        return False
    if not silent:
        notes = notes_of(state.env)
        piece = state.src[start : state.pos]
        state.tokens[-1].content = settle(piece, notes, lambda: notes.place(start))
    return True


def _raw_text_end(state: StateInline, name: str, start: int) -> int:
    """Where the end tag of a script or the like ends in this line, or -1."""
    notes = notes_of(state.env)
    if notes.endless_in is not state.src:
        notes.endless_in = state.src
        notes.endless.clear()
    if name in notes.endless:
        return -1
    found = _end_tag(name).search(state.src, start, state.posMax)
    if not found:
        notes.endless.add(name)
        return -1
    return found.end()


def settle(content: str, notes: Notes, place: Callable[[], Place]) -> str:
    """A piece of raw HTML in which every construct ends, tags are allowed, and `<` else is text.

    `place` tells where the piece begins. Comments go, as they do at last.
    """
    notes.html = True
    out: list[str] = []
    position = 0
    failures = 0
    while found := _CONSTRUCT.search(content, position):
        start = found.start()
        out.append(content[position:start])
        end = _end(content, found)
        if not end:
            out.append("&lt;")
            position = start + 1
            failures += 1
            # Each attempt reads on to the end, so a flood of them would take quadratic time.
            if failures > _FAILURES_MAX:
                out.append(content[position:].replace("<", "&lt;"))
                return "".join(out)
            continue
        position = end
        if found[4]:
            out.append(_settled_tag(content, found, end, notes, place))
    out.append(content[position:])
    return "".join(out)


def _end(content: str, found: re.Match[str]) -> int:
    """Where a comment, declaration, tag or raw text element ends; 0 if it never does."""
    if found[1]:
        if content.startswith((">", "->"), found.end()):
            return content.index(">", found.end()) + 1
        comment = _COMMENT_END.search(content, found.end())
        return comment.end() if comment else 0
    if found[2]:
        return content.find(">", found.end()) + 1
    tag = _REST_OF_TAG.match(content, found.end())
    if not tag:
        return 0
    name = found[4].lower()
    if name not in _RAW_TEXT or found[3]:
        return tag.end()
    ended = _end_tag(name).search(content, tag.end())
    return ended.end() if ended else 0


def _settled_tag(
    content: str, found: re.Match[str], end: int, notes: Notes, place: Callable[[], Place]
) -> str:
    """An allowed tag, or what stays of another one."""
    name = found[4].lower()
    tag = content[found.start() : end]
    if name in _RAW_TEXT:
        if name in _CODE or found[3]:
            return ""
        inner = tag[tag.index(">", len(name)) + 1 : tag.rindex("</")]
        return (
            inner.replace("&", "&amp;").replace("<", "&lt;")
            if name == "xmp"
            else inner.replace("<", "&lt;")
        )
    if name not in TAGS:
        return ""
    if found[3]:
        if notes.open_tags.get(name):
            notes.open_tags[name] -= 1
            notes.open_tag_count -= 1
        return tag

    def here() -> Place:
        return _place_of(content, found.start(), place())

    if name not in _VOID and name not in _SELF_ENDING:
        if notes.open_tag_count >= notes.nesting_max:
            if not notes.deep_tags:
                notes.deep_tags = True
                notes.too_deep(here().line - notes.line)
            return tag.replace("<", "&lt;")
        notes.open_tags[name] = notes.open_tags.get(name, 0) + 1
        notes.open_tag_count += 1
    if name == "cite" and _CITES.search(tag):
        wrong = "<Cite> is read in MDX alone, so nobody would check this one"
        notes.add("EQ032", here(), wrong, f"{FORMS}, or give the file the ending .mdx")
        return ""
    for id in _ID.finditer(tag):
        notes.html_ids.add(id[1] or id[2] or id[3] or "")
    if name == "a" and (".m" in tag or "cite:" in tag.lower()):
        tag = _HREF.sub(lambda href: _settled_href(href, notes, here), tag)
    if notes.line_marks:
        tag = f"{tag[: len(name) + 1]} data-eq-line={here().line} {tag[len(name) + 1 :]}"
    return tag


def _settled_href(href: re.Match[str], notes: Notes, place: Callable[[], Place]) -> str:
    quoted = href[2]
    mark = quoted[0] if quoted[0] in "\"'" else ""
    address = quoted.strip(mark) if mark else quoted
    if address[:5].lower() == "cite:":
        notes.add("EQ032", place(), "a citation can't be written as an HTML link", FORMS)
        return ""
    return f"{href[1]}{mark}{page_href(address)}{mark}"


def _place_of(content: str, offset: int, place: Place) -> Place:
    line = content.count("\n", 0, offset)
    column = offset - content.rfind("\n", 0, offset)
    return Place(place.path, place.line + line, column if line else place.column + offset)


@lru_cache(maxsize=len(_RAW_TEXT))
def _end_tag(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}(?=[\s/>])[^>]*>", re.IGNORECASE)


def has_text(content: str) -> bool:
    """Whether settled raw HTML shows any text or picture."""
    return bool(_ANY_TAG.sub("", content).strip()) or "<img" in content.lower()
