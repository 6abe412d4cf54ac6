"""Turn a page into its citable passages: each sentence of the article with a stable id."""

from __future__ import annotations

import hashlib
import re
from base64 import b32encode
from collections.abc import Iterable, Iterator

from exactquote.model import Passage, Span
from exactquote.rendered.edges import inside_word
from exactquote.rendered.page import Kind, Page, Run, once_per_page
from exactquote.rendered.sentences import sentences

# 40 bits: among 20,000 passages one pair in 5,000 builds collides, and is told apart below.
_ID_CHARS = 8
_LETTER = re.compile(r"[^\W_]")
_PARAGRAPHS = re.compile(r"\n[ \t]*\n\s*")


def passage_id(doc: str, text: str, copy: int = 0, length: int = _ID_CHARS) -> str:
    """A short id made of the document and the text: another text has another id.

    `copy` counts equal texts of one document from 0.
    """
    key = f"{doc}\x00{' '.join(text.split())}\x00{copy or ''}".encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(key, digest_size=30).digest()
    return "p" + b32encode(digest).decode("ascii").lower()[:length]


def cited_id(page: Page, span: Span) -> str:
    """The id of what a citation quotes: that of its passage, if it is one.

    Of equal texts on a page each has an id of its own, be it a passage or a part of one.
    """
    quote = page.quote(span.start, span.end)
    equal = _by_quote(page).get(quote, ())
    if span in equal:
        return passage_id(page.doc, quote, equal.index(span))
    text = page.text[span.start : span.end]
    copy = len(equal)
    at = page.text.find(text)
    while 0 <= at < span.start:
        end = at + len(text)
        shown = page.runs[page.run_at(at)].kind is Kind.TEXT
        whole = "yes" not in (inside_word(page.text, at), inside_word(page.text, end))
        copy += shown and whole and Span(at, end) not in equal
        at = page.text.find(text, at + 1)
    return passage_id(page.doc, quote, copy)


@once_per_page
def _by_quote(page: Page) -> dict[str, list[Span]]:
    made: dict[str, list[Span]] = {}
    for span in citable_spans(page):
        made.setdefault(page.quote(span.start, span.end), []).append(span)
    return made


@once_per_page
def citable_spans(page: Page) -> tuple[Span, ...]:
    """Every sentence that can be cited, in document order; code counts by paragraph."""
    return tuple(_spans(page))


def _spans(page: Page) -> Iterator[Span]:
    # A page that marks no main part is citable as a whole.
    marked = any(run.main for run in page.runs)
    for run in page.runs:
        if run.kind is not Kind.TEXT or (marked and not run.main):
            continue
        for start, end in _code(page, run) if run.pre else _prose(page, run):
            if _LETTER.search(page.text, start, end):
                yield Span(start, end)


def passages(pages: Iterable[Page]) -> tuple[Passage, ...]:
    """All passages of a build; ids are unique in it, whatever the order of the pages."""
    found: list[Passage] = []
    taken: set[str] = set()
    for page in sorted(pages, key=lambda page: page.doc):
        copies: dict[str, int] = {}
        for span in citable_spans(page):
            quote = page.quote(span.start, span.end)
            copy = copies.get(quote, 0)
            copies[quote] = copy + 1
            identity = passage_id(page.doc, quote, copy)
            length = _ID_CHARS
            while identity in taken:
                length += 4
                identity = passage_id(page.doc, quote, copy, length)
            taken.add(identity)
            found.append(Passage(identity, page.doc, span, quote))
    return tuple(found)


def _prose(page: Page, run: Run) -> Iterator[tuple[int, int]]:
    for start, end in sentences(page.text[run.start : run.end], page.language):
        yield run.start + start, run.start + end


def _code(page: Page, run: Run) -> Iterator[tuple[int, int]]:
    """Paragraphs of preformatted text: what stands between blank lines."""
    text = page.text[run.start : run.end]
    done = 0
    for gap in [*_PARAGRAPHS.finditer(text), None]:
        stop = gap.start() if gap else len(text)
        piece = text[done:stop]
        stripped = piece.strip()
        if stripped:
            start = done + len(piece) - len(piece.lstrip())
            yield run.start + start, run.start + start + len(stripped)
        done = gap.end() if gap else stop
