"""Tell of a directive that fits whether some browser fails to get as far as the place it fits.

Each fault is one of a browser's own search, not of the text: it loses its way in a form field,
goes back too little after half a match, or never ends.
"""

from __future__ import annotations

import itertools
import re

from exactquote.deeplink.directive import Directive
from exactquote.deeplink.query import Query, back_over_blanks, collapse, on_over_blanks, parts_of
from exactquote.deeplink.views import view
from exactquote.model import Span
from exactquote.rendered.folds import SIGNS, WIDE, fold_text
from exactquote.rendered.generated import may_hold
from exactquote.rendered.page import CUT, Kind, Page, once_per_page

# What a browser writes before the items of a list: "1.", "•", and where a page asks for it,
# "b)", "iv" or a word.
_NUMBER_MARK = re.compile(r"-?(\d*)[.)]?")
_BULLETS = frozenset(fold_text(sign, WIDE).text for sign in "•◦▪▸▾▶▼")
_LETTERED_MARK = re.compile(r"\w+[.)、]?")
_NUMERAL_MARK = re.compile(r"(?:\w{1,2}|[ivxlcdm]+)[.)]?")
_MARK_CHARS_MAX = 9
_OVERLOOKED = re.compile("\u00ad[\U00010000-\U0010ffff]")
# Firefox keeps their text in trees of their own.
_OWN_TREES = frozenset({Kind.FOREIGN, Kind.ALT, Kind.VALUE, Kind.LABEL})


def stumbles(page: Page, directive: Directive, span: Span) -> bool:
    """Whether a browser may never reach `span`, which is the first place that fits."""
    if _strands(page, directive, span) or _goes_astray(page, directive, span):
        return True
    if page.freezing and _overlooks(page, directive, span):
        return True
    if directive.suffix and _ends_at_a_closed_rim(page, directive, span):
        return True
    if _letter_marks(page) and _stands_unmarked_before(page, directive, span):
        return True
    return page.freezing and freezes(page, directive)


def freezes(page: Page, directive: Directive) -> bool:
    """Whether Chromium may spin for ever: it does when it has to pass over a match.

    Measured: any place on the page, before or behind the wanted one, that equals a part of
    the directive but for the edge of a word or grapheme, where the edge is a character
    beyond U+FFFF, or where the place begins with a letter that is written as two characters
    and that ICU sorts by itself, as U+0438 U+0306 is. Of Latin and Greek there are none.
    """
    seen = view(page, "chromium")
    for part in parts_of(directive):
        query = Query.of(seen, Directive(part))
        if query is not None and query.passed_over_in_vain():
            return True
    return False


def _strands(page: Page, directive: Directive, span: Span) -> bool:
    """Whether Firefox may first meet a part in text with a tree of its own.

    That is a form field, a picture's text, a shadow root, the mark of a list, or what a style
    sheet writes. It goes on from there, if the rest doesn't fit, with a search that ends in
    that element: the part of the document behind it is never searched.
    """
    first = directive.prefix or directive.start
    if page.bulleted and any(part and _is_mark(part, page) for part in (first, directive.end)):
        return True
    bare = not (directive.end or directive.prefix or directive.suffix)
    if bare and not (page.generated or page.labels):
        return False
    parts = [first]
    if directive.end and directive.suffix:
        parts.append(directive.end)
    wanted = [fold_text(collapse(part), WIDE).text for part in parts]
    # Behind the start it may meet the end there, which it takes although its range can't.
    end = fold_text(collapse(directive.end), WIDE).text
    behind = [*wanted, end] if end else wanted
    # Even what stands alone is found there, if it is no part of a word: quotation marks are,
    # and in Chromium the labels of fields.
    if any(may_hold(text, part) for text in _written(page) for part in behind):
        return True
    if bare:
        return False
    for start, text in _own_trees(page):
        if start >= span.end:
            break
        if any(part in text for part in (behind if start > span.start else wanted)):
            return True
    return False


@once_per_page
def _own_trees(page: Page) -> tuple[tuple[int, str], ...]:
    """Where the runs begin that have a tree of their own, and what they hold, folded."""
    return tuple(
        (run.start, fold_text(collapse(page.text[run.start : run.end]), WIDE).text)
        for run in page.runs
        if run.kind in _OWN_TREES
    )


@once_per_page
def _written(page: Page) -> frozenset[str]:
    """What style sheets may write into a page, and browsers into its fields, folded."""
    return frozenset(fold_text(collapse(text), WIDE).text for text in page.generated | page.labels)


def _is_mark(part: str, page: Page) -> bool:
    if len(part) > _MARK_CHARS_MAX:
        return False
    folded = fold_text(part, WIDE).text
    if "numerals" in page.marks and _NUMERAL_MARK.fullmatch(folded):
        return True
    if page.lettered and any(map(_LETTERED_MARK.fullmatch, (part, folded))):
        return True
    number = _NUMBER_MARK.fullmatch(folded)
    if number is None:
        return folded in _BULLETS
    return 0 < page.numbered >= int(number[1] or 0)


def _goes_astray(page: Page, directive: Directive, span: Span) -> bool:
    """Whether text right before a part equals the beginning of that part.

    Firefox takes it for a match until the part itself shows that it is none. It doesn't go
    back far enough then, if markup stands between: it goes on at the next text node, as if
    the character that it began with stood before it.
    """
    seen = view(page, "firefox")
    first = seen.folded.position(seen.from_page(span.start))
    bare = not (directive.end or directive.prefix)
    if bare and (not first or seen.folded.text[first - 1] == CUT):
        return False
    if bare and not directive.suffix:
        last = seen.folded.position(seen.from_page(span.end - 1) + 1)
        return _is_led_by(seen.folded.text, first, seen.folded.text[first:last])
    query = Query.of(seen, directive)
    if query is None:
        return True
    if query.prefix:
        stop = seen.folded.position(back_over_blanks(seen.raw, seen.from_page(span.start)))
        first = stop - len(query.prefix)
        # Chromium goes on behind a prefix that nothing followed: "+" twice is "+" once to it.
        again = seen.folded.text.endswith(query.prefix, 0, first)
        found = again or _is_led_by(seen.folded.text, first, query.prefix)
    else:
        # So it does behind a start that no suffix followed.
        again = bool(query.suffix) and seen.folded.text.endswith(query.start, 0, first)
        found = again or _is_led_by(seen.folded.text, first, query.start)
    if found or not query.end:
        return found
    last = seen.folded.position(seen.from_page(span.end - len(directive.end)))
    return _is_led_by(seen.folded.text, last, query.end)


def _overlooks(page: Page, directive: Directive, span: Span) -> bool:
    """Whether a part has, or begins with, a character that Firefox never finds.

    Of one beyond U+FFFF it drops half where a soft hyphen stands right before.
    """
    seen = view(page, "firefox")
    if not _OVERLOOKED.search(seen.raw):
        return False
    start = back_over_blanks(seen.raw, seen.from_page(span.start)) - len(directive.prefix)
    end = on_over_blanks(seen.raw, seen.from_page(span.end - 1) + 1) + len(directive.suffix)
    return _OVERLOOKED.search(seen.raw, max(0, start - 1), end) is not None


def _is_led_by(text: str, at: int, part: str) -> bool:
    begin = text.find(part[0], max(0, at - len(part) + 1), at)
    while begin >= 0:
        if part.startswith(text[begin:at]) and not (begin and text[begin - 1].isalnum()):
            return True
        begin = text.find(part[0], begin + 1, at)
    return False


def _ends_at_a_closed_rim(page: Page, directive: Directive, span: Span) -> bool:
    """Whether a place before the span ends where a closed `<details>` begins or ends.

    Chromium looks for the suffix beyond that rim, and then misses what follows.
    """
    if not page.has_closed:
        return False
    seen = view(page, "chromium")
    bare = Directive(
        directive.end or directive.start, prefix="" if directive.end else directive.prefix
    )
    query = Query.of(seen, bare)
    for _, end, _ in query.starts() if query else ():
        stop = seen.to_page_end(end)
        if stop >= span.end:
            break
        index = page.run_at(stop - 1)
        run, *after = page.runs[index : index + 2]
        if after and after[0].closed != run.closed and not page.text[stop : run.end].strip():
            return True
    return False


@once_per_page
def _letter_marks(page: Page) -> frozenset[str]:
    """The marks of a page that are letters set above another.

    Firefox skips them, ICU takes them for the letter: no fold can say both.
    """
    beyond = frozenset() if page.text.isascii() else frozenset(page.text)
    return frozenset(c for c in beyond if c in SIGNS and WIDE[ord(c)].isalnum())


def _stands_unmarked_before(page: Page, directive: Directive, span: Span) -> bool:
    """Whether a part has a letter for a mark, or stands before the span but for such marks."""
    marks = _letter_marks(page)
    if any(not marks.isdisjoint(part) for part in parts_of(directive)):
        return True
    text, starts = _unmarked(page)
    index = page.run_at(span.end - 1)
    stop = starts[index] + len(_without_marks(page, page.runs[index].start, span.end))
    parts = {directive.start, directive.end or directive.start}
    return any(text.count(fold_text(collapse(part), WIDE).text, 0, stop) > 1 for part in parts)


@once_per_page
def _unmarked(page: Page) -> tuple[str, tuple[int, ...]]:
    """The page without such marks, folded, and where each run begins in it."""
    texts = [_without_marks(page, run.start, run.end) + CUT for run in page.runs]
    return "".join(texts), tuple(itertools.accumulate(map(len, texts), initial=0))


def _without_marks(page: Page, start: int, end: int) -> str:
    unmarked = str.maketrans(dict.fromkeys(_letter_marks(page), ""))
    return fold_text(collapse(page.text[start:end].translate(unmarked)), WIDE).text
