"""Cut a page into the chunks that are retrieved: what stands together under one heading.

A heading begins a section. A section that is too long is split between sentences, and small
ones are merged with their neighbours under the heading that they have in common.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

from exactquote.model import Passage
from exactquote.rendered.page import Kind, Page, Run
from exactquote_site.knowledge.chunk import Chunk

# A section below this part of the wanted size says too little to be found on its own.
_SMALL = 3
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


def corpus_chunks(
    pages: Iterable[Page],
    passages: Iterable[Passage],
    chunk_chars: int,
    *,
    aliases: Mapping[str, tuple[str, ...]],
    faq: Container[str] = frozenset(),
) -> tuple[Chunk, ...]:
    """The chunks of all pages, by document id; `passages` are all of the pages.

    `aliases` are those of a document by its id, and `faq` are ids of reviewed answers.
    """
    of_page: dict[str, list[Passage]] = {}
    for passage in passages:
        of_page.setdefault(passage.doc, []).append(passage)
    return tuple(
        chunk
        for page in sorted(pages, key=lambda page: page.doc)
        for chunk in page_chunks(
            page,
            of_page.get(page.doc, []),
            chunk_chars,
            aliases=aliases.get(page.doc, ()),
            faq=page.doc in faq,
        )
    )


def page_chunks(
    page: Page,
    passages: Sequence[Passage],
    chunk_chars: int,
    *,
    aliases: tuple[str, ...] = (),
    faq: bool = False,
) -> tuple[Chunk, ...]:
    """The chunks of a page in reading order; each of its `passages` is in exactly one.

    `passages` are all those of the page, in reading order. A chunk has about `chunk_chars`
    characters at most; only a passage that alone is longer makes a longer one. Answers of a
    reviewed FAQ aren't merged: each is given as it stands.
    """
    sections = _merged(_sections(page, passages), 0 if faq else chunk_chars)
    parts = (part for section in sections for part in _parts(section, chunk_chars))
    return tuple(
        Chunk(
            doc=page.doc,
            title=page.title,
            trail=part.trail,
            anchor=part.anchor,
            language=page.language,
            text=_text(page, part),
            passages=tuple(piece.passage for piece in part.pieces if piece.passage),
            aliases=aliases,
            headings=tuple(piece.passage for piece in part.pieces if piece.names_section),
            faq=faq,
            rows=tuple(_rows(part)),
        )
        for part in parts
    )


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of one run: a passage with the white space behind it, or a run without any."""

    run: Run
    start: int
    end: int
    passage: str
    trail: tuple[str, ...]
    heading: bool

    @property
    def chars(self) -> int:
        return self.end - self.start

    @property
    def names_section(self) -> bool:
        return self.heading and bool(self.passage)


@dataclass(frozen=True, slots=True)
class _Section:
    trail: tuple[str, ...]
    pieces: tuple[_Piece, ...]

    @property
    def chars(self) -> int:
        return sum(piece.chars for piece in self.pieces)

    @property
    def bare(self) -> bool:
        return all(piece.heading for piece in self.pieces)

    @property
    def anchor(self) -> str:
        own = (piece for piece in self.pieces if piece.trail == self.trail)
        return next(own, self.pieces[0]).run.anchor


def _sections(page: Page, passages: Sequence[Passage]) -> Iterator[_Section]:
    for trail, pieces in groupby(_pieces(page, passages), lambda piece: piece.trail):
        yield _Section(trail, tuple(pieces))


def _pieces(page: Page, passages: Sequence[Passage]) -> Iterator[_Piece]:
    marked = any(run.main for run in page.runs)
    ahead = iter(passages)
    passage = next(ahead, None)
    for run in page.runs:
        if run.kind is not Kind.TEXT or (marked and not run.main):
            continue
        heading = run.tag in _HEADINGS
        trail = _trail(page, run, heading)
        inside: list[Passage] = []
        while passage is not None and passage.span.start < run.end:
            inside.append(passage)
            passage = next(ahead, None)
        # What is no passage, such as a lone number, goes with the one before it.
        starts = [run.start, *(one.span.start for one in inside[1:])]
        ends = [*starts[1:], run.end]
        names = [one.id for one in inside] or [""]
        for start, end, name in zip(starts, ends, names, strict=True):
            yield _Piece(run, start, end, name, trail, heading)
    if passage is not None:
        raise ValueError(f"passage {passage.id} is in no run of {page.doc}")


def _trail(page: Page, run: Run, heading: bool) -> tuple[str, ...]:
    """The headings that a run stands under; a heading belongs to the section it begins."""
    trail = page.trails[min(run.trail + heading, len(page.trails) - 1)]
    return trail[1:] if trail[:1] == (page.title,) else trail


def _merged(sections: Iterable[_Section], chunk_chars: int) -> list[_Section]:
    merged: list[_Section] = []
    for section in sections:
        if merged and _belong(merged[-1], section, chunk_chars):
            last = merged.pop()
            common = _common(last.trail, section.trail)
            # Headings without a text of their own stand above the one that follows.
            above = last.bare and common == last.trail
            section = _Section(section.trail if above else common, last.pieces + section.pieces)
        merged.append(section)
    return merged


def _belong(one: _Section, other: _Section, chunk_chars: int) -> bool:
    """Whether two neighbours are siblings or parent and child, and one of them is small.

    Headings that have no text of their own always go with what follows.
    """
    if one.bare:
        return True
    small = min(one.chars, other.chars) * _SMALL < chunk_chars
    related = len(_common(one.trail, other.trail)) >= len(one.trail) - 1
    return small and related and one.chars + other.chars <= chunk_chars


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    same = (a == b for a, b in zip(one, other, strict=False))
    return one[: sum(takewhile(bool, same))]


def _parts(section: _Section, chunk_chars: int) -> Iterator[_Section]:
    """The section in parts of about one size, none above `chunk_chars` if that can be."""
    left = section.chars
    part: list[_Piece] = []
    size = 0
    for piece in section.pieces:
        wanted = (left + size) / -(-(left + size) // chunk_chars)
        full = size + piece.chars > chunk_chars or size + piece.chars / 2 > wanted
        # A heading is no part of its own: it leads what follows.
        if part and full and not all(before.heading for before in part):
            yield _Section(section.trail, tuple(part))
            part, size = [], 0
        part.append(piece)
        size += piece.chars
        left -= piece.chars
    if part:
        yield _Section(section.trail, tuple(part))


def _rows(section: _Section) -> Iterator[tuple[str, ...]]:
    """The passages of each row of a table, and each passage of a definition behind its term."""
    # A heading in a cell is one of the chunk's headings, which are no part of what is said.
    pieces = [piece for piece in section.pieces if piece.passage and not piece.names_section]
    term = ""
    for row, group in groupby(pieces, lambda piece: piece.run.row):
        cells = list(group)
        # Head cells alone say nothing by themselves.
        if row and any(piece.run.tag != "th" for piece in cells):
            yield tuple(piece.passage for piece in cells)
            continue
        for piece in cells:
            if piece.run.tag == "dt":
                term = piece.passage
            elif piece.run.tag == "dd" and term:
                yield term, piece.passage
            else:
                term = ""


def _text(page: Page, section: _Section) -> str:
    """What a reader sees, a line for each block; headings of the trail aren't repeated."""
    said = {page.title, *section.trail}
    shown = [
        piece
        for piece in section.pieces
        if not (piece.heading and page.text[piece.run.start : piece.run.end] in said)
    ]
    text = ""
    for run, group in groupby(shown or section.pieces, lambda piece: piece.run):
        pieces = list(group)
        text += page.quote(pieces[0].start, pieces[-1].end).rstrip()
        text += "\n" if run.joint in ("block", "br") else " "
    return text.strip()
