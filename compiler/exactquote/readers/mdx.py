"""Turns an MDX document into an article: body HTML, title, citations and faults."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from markdown_it import MarkdownIt

from exactquote.model import Article, Document
from exactquote.readers.controls import hidden_controls, referenced_controls
from exactquote.readers.front_matter import split_front_matter
from exactquote.readers.markdown import (
    NESTING_MAX,
    first_heading,
    mark_lines,
    new_parser,
    read_head,
    title_from_id,
    without_title,
)
from exactquote.readers.mdx_body import add_render_rules, assemble
from exactquote.readers.mdx_elements import Elements, keep_elements
from exactquote.readers.mdx_rules import use_mdx
from exactquote.readers.mdx_tree import match_tags
from exactquote.readers.notes import Notes, env_with
from exactquote.readers.sanitise import sanitise
from exactquote.settings import Settings


def read_mdx(document: Document, settings: Settings) -> Article:
    """Read an MDX document."""
    return _read(document, settings, line_marks=False)


def line_marked_mdx(document: Document, settings: Settings) -> str:
    """The same body HTML, each block with its source line as `data-eq-line`."""
    return _read(document, settings, line_marks=True).html


@lru_cache(maxsize=4)
def _parser(nesting_max: int) -> MarkdownIt:
    md = new_parser(nesting_max)
    use_mdx(md)
    md.core.ruler.after("inline", "mdx_tags", match_tags)
    add_render_rules(md)
    return md


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
    elements = Elements(settings, notes, line_marks)
    md = _parser(notes.nesting_max)
    env = env_with(notes)
    keep_elements(env, elements)
    tokens = md.parse(front.body, env)
    title = head.title or first_heading(tokens) or title_from_id(document.id)
    if line_marks:
        mark_lines(tokens, notes)
    marked = md.renderer.render(without_title(tokens, title), md.options, env)
    html, written = assemble(marked, elements, env.get("written", ()))
    if elements.used:
        html = sanitise(html, line_marks)
    return replace(
        head,
        html=html,
        title=title,
        written=written,
        diagnostics=(
            *front.diagnostics,
            *faults,
            *hidden_controls(document.text, document.path, settings),
            *referenced_controls(html, document.text, document.path, settings),
            *sorted([*notes.diagnostics, *elements.unknown_components()], key=lambda d: d.place),
        ),
    )
