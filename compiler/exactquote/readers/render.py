"""Turns tokens into HTML, as markdown-it does, with less work a token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

_TAGS = {
    "em_open": "<em>",
    "em_close": "</em>",
    "strong_open": "<strong>",
    "strong_close": "</strong>",
    "s_open": "<s>",
    "s_close": "</s>",
    "link_close": "</a>",
    "softbreak": "\n",
}


class PageRenderer(RendererHTML):
    """markdown-it's renderer; the commonest tokens of a line skip its look-ups."""

    def renderInline(self, tokens: Sequence[Token], options: OptionsDict, env: EnvType) -> str:
        """The HTML of the tokens of one block's text."""
        out: list[str] = []
        rules = self.rules
        for index, token in enumerate(tokens):
            kind = token.type
            if kind == "text":
                out.append(escapeHtml(token.content))
            elif kind in _TAGS:
                if not token.hidden:
                    out.append(_TAGS[kind])
            elif kind in rules:
                out.append(rules[kind](tokens, index, options, env))
            else:
                out.append(self.renderToken(tokens, index, options, env))
        return "".join(out)

    def title_anchor(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any
    ) -> str:
        """Where a heading stood that the page shows as its title."""
        id = str(tokens[idx].meta["id"])
        return f'<a id="{escapeHtml(id)}"></a>\n' if id else ""
