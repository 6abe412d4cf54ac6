"""EQ002: the passage is not on the page; names the nearest real sentence."""

from __future__ import annotations

import re

from exactquote.checks.site import Site, shown
from exactquote.codes import fault
from exactquote.model import Diagnostic, Related, Span, Written
from exactquote.passages import citable_spans
from exactquote.rendered.find import find
from exactquote.rendered.page import Kind, Page

# Below this a sentence shares little more than small words with what was quoted.
_NEAR = 55.0
_WORD = re.compile(r"\S+")


def check(written: Written, quote: str, page: Page, site: Site) -> Diagnostic:
    """The fault for a passage that was found nowhere on its page."""
    message = f"the passage is not on the page of {page.doc}: {shown(quote)}"
    elsewhere = _elsewhere(quote, page, site)
    if elsewhere is not None:
        other, span = elsewhere
        place = site.locate(other, span)
        return fault(
            "EQ002",
            written.place,
            message,
            f"the page of {other.doc} has it: cite that document",
            (Related(place, "the passage is here"),),
        )
    near = nearest(quote, page)
    if near is None:
        return fault(
            "EQ002",
            written.place,
            message,
            "nothing on the page is near it: quote a sentence of it",
        )
    text = page.quote(near.start, near.end)
    return fault(
        "EQ002",
        written.place,
        message,
        f"the nearest text is {shown(text, 600)}",
        (Related(site.locate(page, near), "the nearest text is here"),),
    )


def nearest(quote: str, page: Page) -> Span | None:
    """The stretch of the page that is most like the quote: a sentence, or a part of one."""
    # Loaded where it is needed: a gate that is green never looks for what is near.
    from rapidfuzz import fuzz, process

    spans = citable_spans(page)
    texts = [page.quote(span.start, span.end) for span in spans]
    lowered = [text.lower() for text in texts]
    best = process.extractOne(quote.lower(), lowered, scorer=fuzz.ratio, score_cutoff=_NEAR)
    part = process.extractOne(
        quote.lower(),
        [text if len(text) >= len(quote) else "" for text in lowered],
        scorer=fuzz.partial_ratio,
        score_cutoff=70.0,
    )
    if part is not None and (best is None or part[1] > best[1] + 10):
        return _stretch(quote, texts[part[2]], spans[part[2]])
    return spans[best[2]] if best is not None else None


def _stretch(quote: str, text: str, span: Span) -> Span:
    """The part of a sentence that the quote was made from, grown to whole words."""
    from rapidfuzz import fuzz

    found = fuzz.partial_ratio_alignment(quote.lower(), text.lower())
    if found is None or len(text.lower()) != len(text):
        return span
    words = [
        m for m in _WORD.finditer(text) if m.start() < found.dest_end and m.end() > found.dest_start
    ]
    if not words:
        return span
    return Span(span.start + words[0].start(), span.start + words[-1].end())


def _elsewhere(quote: str, page: Page, site: Site) -> tuple[Page, Span] | None:
    for doc in sorted(site.pages):
        other = site.pages[doc]
        if other is page:
            continue
        for place in find(other, quote):
            if place.kind is Kind.TEXT:
                return other, Span(place.start, place.end)
    return None
