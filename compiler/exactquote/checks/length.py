"""EQ011 and EQ012: the passage is shorter or longer than the project allows.

Both limits are off unless configured: no length was found that a browser can't match.
"""

from __future__ import annotations

from exactquote.codes import fault
from exactquote.model import Diagnostic, Span, Written
from exactquote.rendered.page import Page
from exactquote.settings import LimitSettings


def check(written: Written, span: Span, page: Page, limits: LimitSettings) -> Diagnostic | None:
    """A fault when the passage breaks a configured limit."""
    chars = len(page.quote(span.start, span.end))
    if limits.passage_chars_min and chars < limits.passage_chars_min:
        return fault(
            "EQ011",
            written.place,
            f"the passage has {chars} characters, fewer than the {limits.passage_chars_min} set",
            "quote more of the sentence, or change limits.passage_chars_min",
        )
    if limits.passage_chars_max and chars > limits.passage_chars_max:
        return fault(
            "EQ012",
            written.place,
            f"the passage has {chars} characters, more than the {limits.passage_chars_max} set",
            "quote the sentence that matters, or change limits.passage_chars_max",
        )
    return None
