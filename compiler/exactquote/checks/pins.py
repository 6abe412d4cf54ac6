"""EQ022: `occurrence`, `prefix` or `suffix` names a place that the page doesn't have."""

from __future__ import annotations

from exactquote.checks.site import shown
from exactquote.codes import fault
from exactquote.model import Diagnostic, Written
from exactquote.rendered.find import Occurrence, folded_quote
from exactquote.rendered.folds import STRICT, fold_text
from exactquote.rendered.page import CUT, Page

_CONTEXT_CHARS = 2_000
_SHOWN_CHARS = 60
_SHOWN_MAX = 5


def pinned(
    written: Written, page: Page, found: tuple[Occurrence, ...]
) -> tuple[Occurrence, ...] | Diagnostic:
    """The occurrences that the author's pins leave; a fault when they name none.

    `occurrence` counts from 0 over all verbatim occurrences, whatever else is pinned.
    """
    kept = found
    if written.occurrence is not None:
        if written.occurrence >= len(found):
            times = "once" if len(found) == 1 else f"{len(found)} times"
            return fault(
                "EQ022",
                written.place,
                f"occurrence {written.occurrence} is asked for, but {subject(written)}"
                f" occurs {times} on the page of {page.doc} (counted from 0)",
                "leave occurrence out"
                if len(found) == 1
                else f"use an occurrence from 0 to {len(found) - 1}",
            )
        kept = (found[written.occurrence],)
    for name, context in (("prefix", written.prefix), ("suffix", written.suffix)):
        if context:
            fitting = with_context(written, page, kept, name, context)
            if isinstance(fitting, Diagnostic):
                return fitting
            kept = fitting
    return kept


def with_context(
    written: Written, page: Page, places: tuple[Occurrence, ...], name: str, context: str
) -> tuple[Occurrence, ...] | Diagnostic:
    """The places that have the author's prefix or suffix beside them; a fault when none has."""
    fitting = tuple(place for place in places if _fits(page, place, name, context))
    if fitting:
        return fitting
    side = "before" if name == "prefix" else "behind"
    kind = subject(written) if name == "prefix" else "the passage"
    real = list(dict.fromkeys(_beside(page, place, name) for place in places))
    listed = ", or ".join(real[:_SHOWN_MAX]) + ", …" * (len(real) > _SHOWN_MAX)
    cure = f"the page has {listed} there"
    message = f"the {name} {shown(context)} does not stand {side} {kind}"
    return fault("EQ022", written.place, message, cure)


def subject(written: Written) -> str:
    """What an author's `quote` or `from` is called."""
    return "the start of the range" if written.quote_end else "the passage"


def _beside(page: Page, place: Occurrence, name: str) -> str:
    text = _before(page, place) if name == "prefix" else _after(page, place)
    text = " ".join(text.split())
    near = text[-_SHOWN_CHARS:] if name == "prefix" else text[:_SHOWN_CHARS]
    return shown(near) if near else "nothing"


def _fits(page: Page, place: Occurrence, name: str, context: str) -> bool:
    needle = folded_quote(context, STRICT)
    if name == "prefix":
        return _folded(_before(page, place)).rstrip(" ").endswith(needle)
    return _folded(_after(page, place)).lstrip(" ").startswith(needle)


def _folded(text: str) -> str:
    return fold_text(" ".join(text.split()), STRICT).text


def _before(page: Page, place: Occurrence) -> str:
    return page.text[max(0, place.start - _CONTEXT_CHARS) : place.start].replace(CUT, " ")


def _after(page: Page, place: Occurrence) -> str:
    return page.text[place.end : place.end + _CONTEXT_CHARS].replace(CUT, " ")
