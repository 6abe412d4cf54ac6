"""What the checks look at: the rendered pages of one run, and how to name places in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from exactquote.model import Place, Span
from exactquote.rendered.page import Page
from exactquote.settings import Settings


@dataclass(frozen=True, slots=True)
class Site:
    """The pages by document id. `aliases` are other names that a document answers to."""

    pages: Mapping[str, Page]
    unpublished: Mapping[str, str]
    """Why a document that exists has no page, by document id."""
    aliases: Mapping[str, str]
    settings: Settings
    locate: Callable[[Page, Span], Place]

    def known(self, doc: str) -> str:
        """The document id that `doc` stands for; `doc` itself when there is none."""
        return doc if doc in self.pages or doc in self.unpublished else self.aliases.get(doc, doc)


def shown(text: str, chars_max: int = 160) -> str:
    """A passage in quotation marks for a message, its middle left out when it is long."""
    text = " ".join(text.replace("\x00", " ").split())
    if len(text) > chars_max:
        half = chars_max // 2 - 1
        text = f"{text[:half].rstrip()} … {text[-half:].lstrip()}"
    return f'"{text}"'
