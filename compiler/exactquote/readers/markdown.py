"""Turns a Markdown document into an article: body HTML, title, citations and faults."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import html_block
from markdown_it.rules_inline import html_inline, link
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin

from exactquote.model import Article, Diagnostic, Document
from exactquote.readers import blocks, cite_links, headings, sanitise
from exactquote.readers.controls import hidden_controls, referenced_controls
from exactquote.readers.footnotes import footnotes
from exactquote.readers.front_matter import (
    FrontMatter,
    as_flag,
    as_language,
    as_text,
    as_texts,
    misspelt_keys,
    split_front_matter,
)
from exactquote.readers.notes import Notes, env_with
from exactquote.readers.render import PageRenderer
from exactquote.readers.tokenizers import BlockTokenizer, InlineTokenizer, read_inlines
from exactquote.settings import Settings

# Every level takes a few frames of Python's stack, of which there are a thousand.
NESTING_MAX = 100


@lru_cache(maxsize=4)
def parser(nesting_max: int = NESTING_MAX) -> MarkdownIt:
    """The parser of Markdown pages; it is shared, so whoever adds to it takes `new_parser`."""
    return new_parser(nesting_max)


def new_parser(nesting_max: int = NESTING_MAX) -> MarkdownIt:
    """A parser of one's own: CommonMark and everything that pages may use besides."""
    md = MarkdownIt("commonmark", renderer_cls=PageRenderer)
    md.inline = InlineTokenizer()
    md.block = BlockTokenizer()
    options = {"maxNesting": min(nesting_max, NESTING_MAX), "tasklists": True, "alerts": True}
    md.configure("commonmark", options_update=options)
    md.enable(["table", "strikethrough"])
    md.core.ruler.at("inline", read_inlines)
    footnotes(md)
    deflist_plugin(md)
    blocks.noted_blocks(md)
    md.inline.ruler.at("link", cite_links.link)
    md.inline.ruler.at("image", cite_links.image)
    md.inline.ruler.at("autolink", cite_links.autolink)
    md.inline.ruler.at("html_inline", sanitise.html_inline)
    md.inline.ruler.push("stray_citation", cite_links.stray_citation)
    md.core.ruler.push("citations", cite_links.take_citations)
    md.add_render_rule("cite_close", cite_links.render_cite_close)
    md.core.ruler.after("block", "written_ids", headings.take_written_ids)
    md.core.ruler.after("text_join", "heading_ids", headings.give_ids)
    return md


def commonmark_parser() -> MarkdownIt:
    """The same parser where CommonMark's own examples show output that pages don't have.

    Headings get no ids, raw HTML stays as written instead of being made safe, and links to
    `.md` files stay links to those. Everything else is as in `parser`.
    """
    md = new_parser()
    md.core.ruler.disable(["written_ids", "heading_ids"])
    md.block.ruler.at("html_block", html_block, {"alt": ["paragraph", "reference", "blockquote"]})
    md.inline.ruler.at("html_inline", html_inline)
    md.inline.ruler.at("link", link)
    return md


def read_markdown(document: Document, settings: Settings) -> Article:
    """Read a Markdown document."""
    return _read(document, settings, line_marks=False)


def line_marked_markdown(document: Document, settings: Settings) -> str:
    """The same body HTML, each block with its source line as `data-eq-line`."""
    return _read(document, settings, line_marks=True).html


def _read(document: Document, settings: Settings, line_marks: bool) -> Article:
    front = split_front_matter(document.text, document.path, settings.limits)
    notes = Notes(
        path=document.path,
        document=document.id,
        line=front.body_line,
        nesting_max=min(settings.limits.nesting_max, NESTING_MAX),
        line_marks=line_marks,
    )
    head, faults = read_head(front, document, settings)
    notes.language = head.language
    md = parser(notes.nesting_max)
    env = env_with(notes)
    tokens = md.parse(front.body, env)
    title = head.title or first_heading(tokens) or title_from_id(document.id)
    if line_marks:
        mark_lines(tokens, notes)
    html = md.renderer.render(without_title(tokens, title), md.options, env)
    if notes.html:
        html = sanitise.sanitise(html, line_marks)
    return replace(
        head,
        html=html,
        title=title,
        written=env.get("written", ()),
        diagnostics=(
            *front.diagnostics,
            *faults,
            *hidden_controls(document.text, document.path, settings),
            *referenced_controls(html, document.text, document.path, settings),
            *sorted(notes.diagnostics, key=lambda d: d.place),
        ),
    )


def read_head(
    front: FrontMatter, document: Document, settings: Settings
) -> tuple[Article, tuple[Diagnostic, ...]]:
    """What the front matter says of a document, as an article that has no body yet."""
    faults = list(misspelt_keys(front))
    summary = as_text(front, "summary", faults) or as_text(front, "description", faults)
    language = as_language(front, "lang", faults) or as_language(front, "language", faults)
    article = Article(
        id=document.id,
        path=document.path,
        format=document.format,
        html="",
        title=as_text(front, "title", faults),
        summary=summary,
        language=language or settings.language,
        front=front.values,
        draft=as_flag(front, "draft", faults),
        aliases=as_texts(front, "aliases", faults),
    )
    return article, tuple(faults)


def first_heading(tokens: list[Token]) -> str:
    """The text of a page's first heading that has any."""
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            text = headings.plain_text(tokens[index + 1].children or ())
            if text:
                return text
    return ""


def title_from_id(id: str) -> str:
    """A readable title for a page without one: `guide/first-steps` is "First steps"."""
    words = id.rsplit("/", 1)[-1].replace("-", " ").replace("_", " ").split()
    text = " ".join(words)
    return text[:1].upper() + text[1:]


def without_title(tokens: list[Token], title: str) -> list[Token]:
    """The tokens of a page whose title is shown above its body, and so isn't repeated in it.

    A heading that says the same is left out when nothing visible is before it; its id
    stays, as an empty anchor. One with a citation, note, link or picture in it stays whole.
    """
    wanted = " ".join(title.split())
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            children = tokens[index + 1].children or []
            if any(child.type not in _PLAIN for child in children):
                return tokens
            if headings.plain_text(children) != wanted:
                return tokens
            anchor = Token("title_anchor", "", 0, meta={"id": token.attrs.get("id", "")})
            return [*tokens[:index], anchor, *tokens[index + 3 :]]
        if token.type == "html_block" and not sanitise.has_text(token.content):
            continue
        if token.type in ("paragraph_open", "paragraph_close"):
            continue
        if token.type == "inline" and all(
            child.type in ("html_inline", "softbreak") for child in token.children or ()
        ):
            continue
        return tokens
    return tokens


_PLAIN = frozenset(
    {
        "text",
        "code_inline",
        "softbreak",
        "em_open",
        "em_close",
        "strong_open",
        "strong_close",
        "s_open",
        "s_close",
    }
)


def mark_lines(tokens: list[Token], notes: Notes) -> None:
    """Give every block the line of the source that it begins in."""
    for token in tokens:
        if token.map and token.nesting >= 0 and token.type not in ("inline", "html_block"):
            token.attrs["data-eq-line"] = notes.line + token.map[0]
