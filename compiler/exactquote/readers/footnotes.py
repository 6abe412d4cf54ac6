"""Turns `[^label]` and `^[note]` into numbered marks, and their notes into a list at the end.

Notes are numbered in the order in which the page, and then the notes themselves, refer to
them. A mark reads `[1]`, since a bare digit would be glued to the word before it.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.helpers import parseLinkLabel
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_core.state_core import StateCore
from markdown_it.rules_inline.state_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.footnote.index import footnote_def

from exactquote.readers.notes import notes_of

_REF = re.compile(r"\[\^([^\s\[\]]{1,999})\]")
_WORDS = {
    "en": ("Footnotes", "Back to reference {}"),
    "de": ("Fußnoten", "Zurück zum Verweis {}"),
    "fr": ("Notes", "Retour à l’appel {}"),
    "es": ("Notas", "Volver a la llamada {}"),
    "zh": ("脚注", "返回引用 {}"),
    "ja": ("脚注", "参照 {} に戻る"),
}


def footnotes(md: MarkdownIt) -> None:
    """Add footnotes to a parser."""
    alt: RuleOptionsType = {"alt": ["paragraph", "reference"]}
    md.block.ruler.before("reference", "footnote_def", footnote_def, alt)
    md.inline.ruler.before("link", "footnote_ref", _ref)
    md.inline.ruler.after("image", "footnote_inline", _inline_note)
    md.inline.add_terminator_char("^")
    md.core.ruler.after("inline", "footnotes", _move_notes)
    md.add_render_rule("footnote_ref", _render_ref)
    md.add_render_rule("footnote_block_open", _render_block_open)
    md.add_render_rule("footnote_block_close", _render_block_close)
    md.add_render_rule("footnote_open", _render_open)
    md.add_render_rule("footnote_close", _render_close)
    md.add_render_rule("footnote_back", _render_back)


def _ref(state: StateInline, silent: bool) -> bool:
    """Inline rule: `[^label]`, where such a note is defined."""
    if not state.src.startswith("[^", state.pos) or "footnotes" not in state.env:
        return False
    found = _REF.match(state.src, state.pos, state.posMax)
    if not found or ":" + found[1] not in state.env["footnotes"]["refs"]:
        return False
    if not silent:
        state.push("footnote_ref", "", 0).meta = {"label": found[1]}
    state.pos = found.end()
    return True


def _inline_note(state: StateInline, silent: bool) -> bool:
    """Inline rule: `^[text of the note]`."""
    start = state.pos + 2
    if not state.src.startswith("^[", state.pos) or state.html_terminator_last("]") < start:
        return False
    end = parseLinkLabel(state, state.pos + 1)
    if end < 0:
        return False
    if not silent:
        notes = notes_of(state.env)
        children: list[Token] = []
        base = notes.base
        notes.base = base + start
        state.md.inline.parse(state.src[start:end], state.md, state.env, children)
        notes.base = base
        block_map = notes.tokens[notes.index].map
        body = [
            Token("paragraph_open", "p", 1, block=True, map=block_map),
            Token("inline", "", 0, children=children, map=block_map),
            Token("paragraph_close", "p", -1, block=True),
        ]
        # A blank can't be part of a label, so a note written inline can't meet a defined one.
        inline_notes = state.env.setdefault("inline_notes", {})
        label = f" {len(inline_notes)}"
        inline_notes[label] = body
        state.push("footnote_ref", "", 0).meta = {"label": label}
    state.pos = end + 1
    return True


def _move_notes(state: StateCore) -> None:
    """Core rule: number the marks and move the notes they refer to behind the page's text."""
    defined = "footnotes" in state.env
    if not defined and "inline_notes" not in state.env:
        return
    body, definitions = _split(state.tokens) if defined else (state.tokens, {})
    definitions |= state.env.get("inline_notes", {})
    marks: dict[str, int] = {}
    _number(body, marks, definitions)
    done = 0
    while done < len(marks):
        for label in list(marks)[done:]:
            _number(definitions[label], marks, definitions)
            done += 1
    if marks:
        state.tokens = [*body, Token("footnote_block_open", "", 1)]
        for number, (label, count) in enumerate(marks.items(), 1):
            state.tokens += _note(definitions[label], number, count)
        state.tokens.append(Token("footnote_block_close", "", -1))
    else:
        state.tokens = body
    _refuse_unshown(definitions, marks, state)


def _split(tokens: Sequence[Token]) -> tuple[list[Token], dict[str, list[Token]]]:
    """The page's own tokens, and those of each definition; of two with one label the first."""
    definitions: dict[str, list[Token]] = {}
    streams: list[list[Token]] = [[]]
    for token in tokens:
        if token.type == "footnote_reference_open":
            streams.append([])
            definitions.setdefault(token.meta["label"], streams[-1])
        elif token.type == "footnote_reference_close":
            streams.pop()
        else:
            streams[-1].append(token)
    return streams[0], definitions


def _number(
    tokens: Sequence[Token], marks: dict[str, int], definitions: dict[str, list[Token]]
) -> None:
    """Give each mark its note's number and its own among the marks of that note."""
    numbers = {label: n for n, label in enumerate(marks, 1)}
    for token in tokens:
        for child in token.children or ():
            if child.type != "footnote_ref":
                continue
            label = child.meta["label"]
            if label not in marks:
                marks[label] = 0
                numbers[label] = len(marks)
            marks[label] += 1
            child.meta.update(number=numbers[label], turn=marks[label])


def _note(content: list[Token], number: int, count: int) -> list[Token]:
    """One note as a list item; its back links stand in its last paragraph."""
    back = [
        Token("footnote_back", "", 0, meta={"number": number, "turn": turn})
        for turn in range(1, count + 1)
    ]
    if len(content) > 1 and content[-1].type == "paragraph_close":
        text = content[-2]
        text.children = [*(text.children or ()), *back]
        inside = content
    else:
        inside = [
            *content,
            Token("paragraph_open", "p", 1, block=True),
            Token("inline", "", 0, children=back),
            Token("paragraph_close", "p", -1, block=True),
        ]
    return [
        Token("footnote_open", "", 1, meta={"number": number}),
        *inside,
        Token("footnote_close", "", -1),
    ]


def _refuse_unshown(
    definitions: dict[str, list[Token]], marks: dict[str, int], state: StateCore
) -> None:
    """A citation in a note that nothing refers to would be checked by nobody."""
    if not notes_of(state.env).cited:
        return
    for label, tokens in definitions.items():
        if label in marks:
            continue
        for child in (c for token in tokens for c in token.children or ()):
            if "cite" in child.meta:
                notes_of(state.env).add(
                    "EQ032",
                    child.meta["cite"],
                    f"this citation is in footnote `{label}`, which nothing refers to, "
                    "so no page shows it",
                    f"refer to it with `[^{label}]`, or remove it",
                )


def _ref_id(token: Token) -> str:
    number, turn = token.meta["number"], token.meta["turn"]
    return f"{number}" if turn == 1 else f"{number}-{turn}"


def _words(env: MutableMapping[str, Any]) -> tuple[str, str]:
    return _WORDS.get(notes_of(env).language.split("-")[0].lower(), _WORDS["en"])


def _render_ref(
    self: object, tokens: Sequence[Token], idx: int, options: object, env: MutableMapping[str, Any]
) -> str:
    token = tokens[idx]
    number = token.meta["number"]
    return (
        f'<sup class="footnote-ref"><a href="#fn-{number}" id="fnref-{_ref_id(token)}" '
        f'role="doc-noteref">[{number}]</a></sup>'
    )


def _render_block_open(
    self: object, tokens: Sequence[Token], idx: int, options: object, env: MutableMapping[str, Any]
) -> str:
    return f'<section class="footnotes" role="doc-endnotes" aria-label="{_words(env)[0]}">\n<ol>\n'


def _render_block_close(
    self: object, tokens: Sequence[Token], idx: int, options: object, env: MutableMapping[str, Any]
) -> str:
    return "</ol>\n</section>\n"


def _render_open(
    self: object, tokens: Sequence[Token], idx: int, options: object, env: MutableMapping[str, Any]
) -> str:
    return f'<li id="fn-{tokens[idx].meta["number"]}">'


def _render_close(
    self: object, tokens: Sequence[Token], idx: int, options: object, env: MutableMapping[str, Any]
) -> str:
    return "</li>\n"


def _render_back(
    self: object, tokens: Sequence[Token], idx: int, options: object, env: MutableMapping[str, Any]
) -> str:
    ref = _ref_id(tokens[idx])
    label = _words(env)[1].format(ref)
    return (
        f' <a href="#fnref-{ref}" class="footnote-backref" role="doc-backlink" '
        f'aria-label="{label}"><span>↩</span></a>'
    )
