"""EQ019: the claim has a figure that its passage doesn't have."""

from __future__ import annotations

import re

from exactquote.checks.site import shown
from exactquote.codes import fault
from exactquote.model import Diagnostic, Written

_FIGURE = re.compile(r"(?<![\w.])\d+(?:[.,'’\u00a0\u202f ]\d{3})*(?:[.,]\d+)*")
_MARKS = re.compile(r"[.,'’\u00a0\u202f ]")


def check(written: Written, quote: str) -> Diagnostic | None:
    """A warning when a number of the claim isn't among the passage's numbers."""
    claimed = figures(written.claim)
    if not claimed:
        return None
    quoted = {_digits(figure) for figure in figures(quote)}
    missing = [figure for figure in claimed if _digits(figure) not in quoted]
    if not missing:
        return None
    return fault(
        "EQ019",
        written.place,
        f"the claim says {' and '.join(missing)}, but its passage does not: {shown(quote)}",
        "correct the claim, or cite the passage that has the figure",
    )


def figures(text: str) -> list[str]:
    """The numbers in a text, as written, in order."""
    return list(dict.fromkeys(match[0].strip(" \u00a0\u202f") for match in _FIGURE.finditer(text)))


def _digits(figure: str) -> str:
    """A figure without its marks, since 10,000 and 10.000 are one number in two languages.

    A last group of other than three digits is a fraction and keeps its mark.
    """
    parts = _MARKS.split(figure)
    if len(parts) > 1 and len(parts[-1]) != 3:
        return "".join(parts[:-1]) + "." + parts[-1].rstrip("0")
    return "".join(parts)
