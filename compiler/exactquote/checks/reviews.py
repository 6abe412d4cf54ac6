"""EQ037 and EQ038: an answer that is given word for word was not reviewed, or long ago."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from exactquote.codes import fault
from exactquote.model import Diagnostic, Document
from exactquote.readers.front_matter import FrontMatter, as_text, split_front_matter
from exactquote.settings import Settings

# `date.fromisoformat` would also take 20261129 and 2026-W48-7.
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
# Where the reviewer is, it can be tomorrow already.
_DAYS_AHEAD = 1
_CURE = "let someone read it, and name them and the day: `reviewed_by: …`, `reviewed_on: {}`"


def check(document: Document, settings: Settings, today: date | None) -> Iterator[Diagnostic]:
    """Faults of the review that the front matter of an FAQ document tells of.

    `today` judges the age of a review, by UTC; without it the age isn't judged.
    """
    front = split_front_matter(document.text, document.path, settings.limits)
    if front.diagnostics:
        # That it can't be read is told already.
        return
    example = today.isoformat() if today else "2026-11-29"
    malformed: list[Diagnostic] = []
    by, on = (as_text(front, key, malformed) for key in ("reviewed_by", "reviewed_on"))
    if malformed:
        yield from malformed
        return
    absent = [key for key, text in (("reviewed_by", by), ("reviewed_on", on)) if not text]
    if absent:
        told = " and ".join(f"`{key}`" for key in absent)
        message = f"this page answers questions word for word, but has no {told}"
        yield fault("EQ037", front.place(absent[0]), message, _CURE.format(example))
    if on:
        yield from _day_faults(on, front, settings.knowledge.faq_days_max, today)


def _day_faults(
    on: str, front: FrontMatter, days_max: int, today: date | None
) -> Iterator[Diagnostic]:
    place = front.place("reviewed_on")
    day = _day(on)
    if day is None:
        message = f"`reviewed_on` is {on!r}, which is no day of the calendar"
        yield fault("EQ037", place, message, "write the day as `reviewed_on: 2026-11-29`")
    elif today is not None and (day - today).days > _DAYS_AHEAD:
        message = f"`reviewed_on` is {on}, a day that is still to come"
        yield fault("EQ037", place, message, "write the day on which it was read")
    elif today is not None and (today - day).days > days_max:
        age = f"the review is {(today - day).days} days old, more than {days_max}"
        cure = f"read it again, mend what has changed, and write `reviewed_on: {today}`"
        yield fault("EQ038", place, age, cure)


def _day(text: str) -> date | None:
    if not _DAY.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
