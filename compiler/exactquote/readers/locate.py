"""Turns a document into its body HTML with the source line of every block on it.

Text and order are those of the page, so a sentence found here tells where it was written.
"""

from __future__ import annotations

from exactquote.model import Document
from exactquote.readers.markdown import line_marked_markdown
from exactquote.settings import Settings


def line_marked_html(document: Document, settings: Settings) -> str:
    """Body HTML in which each block carries `data-eq-line="N"`, its line in the source.

    A page of built HTML is its own source and stays as it is.
    """
    if document.format == "html":
        return document.text
    if document.format == "mdx" or (document.format == "markdown" and settings.mdx.in_markdown):
        from exactquote.readers.mdx import line_marked_mdx

        return line_marked_mdx(document, settings)
    return line_marked_markdown(document, settings)
