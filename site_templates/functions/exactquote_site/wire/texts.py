"""Which fixed texts the chat function has, and what may stand in each between braces."""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter

from exactquote_site.wire.plain import hidden_fault, is_blank

FIXED_TEXTS: Mapping[str, tuple[str, ...]] = {
    "bad_request": (),
    "broken": (),
    "busy": (),
    "declined": (),
    "hours": ("count",),
    "mailed": (),
    "minutes": ("count",),
    "more": (),
    "not_stored": (),
    "passages": (),
    "paused": (),
    "question_too_long": ("chars",),
    "refused_by_provider": (),
    "seconds": ("count",),
    "stored": ("days",),
    "stored_gaps": ("days",),
    "timeout": (),
    "too_many": ("wait",),
    "unavailable": (),
}


def text_fault(name: str, text: str) -> str:
    """What is wrong with a wording of a fixed text; "" if nothing is."""
    if name not in FIXED_TEXTS:
        return f"there is no fixed text of this name; there are {', '.join(FIXED_TEXTS)}"
    if is_blank(text):
        return "it is empty"
    if hidden := hidden_fault(text):
        return f"it holds {hidden}, which nobody sees"
    try:
        parts = list(Formatter().parse(text))
    except ValueError as error:
        return f"its braces can't be read: {error}"
    allowed = FIXED_TEXTS[name]
    for _, field, spec, conversion in parts:
        if field is None:
            continue
        if field not in allowed or spec or conversion:
            wanted = " or ".join(f"{{{one}}}" for one in allowed) or "nothing"
            return f"between braces {wanted} may stand, not {{{field}}}"
    return ""
