"""EQ009: an edge of the passage is inside one visible character, such as a joined emoji.

Such a link does not only fail: it freezes Chromium's tab.
"""

from __future__ import annotations

from exactquote.codes import fault
from exactquote.model import Diagnostic, Span, Written
from exactquote.rendered.graphemes import is_boundary
from exactquote.rendered.page import Page


def check(written: Written, span: Span, page: Page) -> Diagnostic | None:
    """A fault when an edge is no boundary between grapheme clusters."""
    for edge, at in (("begins", span.start), ("ends", span.end)):
        if not is_boundary(page.text, at):
            points = " ".join(f"U+{ord(c):04X}" for c in page.text[max(0, at - 2) : at + 2])
            return fault(
                "EQ009",
                written.place,
                f"the passage {edge} inside one visible character ({points})",
                "quote the whole character, with its accents, joiners and skin tones",
            )
    return None
