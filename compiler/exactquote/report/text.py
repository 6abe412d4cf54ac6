"""Turn a build into the report that a person reads in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from exactquote.model import Build, Diagnostic, Place
from exactquote.report.caret import caret
from exactquote.report.machine import reported
from exactquote.report.visible import visible

LIMIT = (
    "Bound means that the passage is there, once, and reachable; not that it supports the claim."
)

_RED, _YELLOW, _GREEN, _BOLD, _DIM, _OFF = (
    "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[1m", "\x1b[2m", "\x1b[0m"
)  # fmt: skip
_GUTTER = 5


@dataclass(frozen=True, slots=True)
class Style:
    """How a report is written; `bound` lists the citations that passed, too."""

    columns: int = 100
    color: bool = False
    summary: bool = True
    bound: bool = False


def text_report(build: Build, shown: Callable[[str], str], style: Style) -> str:
    """The report as text; `shown` turns a path of the corpus into the reader's own."""
    paint = _Paint(style.color)
    lines: list[str] = []
    sources = _Sources(build.sources)
    for found in reported(build):
        lines += _finding(found, sources, shown, style, paint)
        lines.append("")
    if style.bound:
        lines += _bound(build, shown, paint)
    if style.summary:
        lines.append(_summary(build, paint))
        lines.append(paint(_DIM, LIMIT))
    elif lines and not lines[-1]:
        lines.pop()
    return "".join(f"{line}\n" for line in lines)


class _Paint:
    """Puts colour around a text, where colour is wanted."""

    def __init__(self, color: bool) -> None:
        self._color = color

    def __call__(self, color: str, text: str) -> str:
        return f"{color}{text}{_OFF}" if self._color else text


class _Sources:
    """Lines of the source files; each file is split once."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._lines: dict[str, list[str]] = {}

    def line(self, place: Place) -> str | None:
        if place.path not in self._lines:
            # Only LF ends a line here; a page may well hold U+2028 inside of one.
            text = self._texts.get(place.path)
            self._lines[place.path] = [] if text is None else text.split("\n")
        lines = self._lines[place.path]
        return lines[place.line - 1] if 0 < place.line <= len(lines) else None


def _finding(
    found: Diagnostic,
    sources: _Sources,
    shown: Callable[[str], str],
    style: Style,
    paint: _Paint,
) -> Iterator[str]:
    error = found.severity == "error"
    code = paint(_RED if error else _YELLOW, found.code)
    message = visible(found.message)
    yield f"{_at(found.place, shown, paint)} {code} {'' if error else 'warning: '}{message}"
    yield from _excerpt(found.place, sources, style, paint)
    yield from _labelled("cure", [visible(line) for line in found.help.split("\n")])
    for other in found.related:
        yield from _labelled("see", [f"{_at(other.place, shown, paint)} {visible(other.message)}"])


def _at(place: Place, shown: Callable[[str], str], paint: _Paint) -> str:
    return paint(_BOLD, f"{visible(shown(place.path))}:{place.line}:{place.column}")


def _excerpt(place: Place, sources: _Sources, style: Style, paint: _Paint) -> Iterator[str]:
    line = sources.line(place)
    if line is None or not line.strip():
        return
    shown, mark = caret(line, place.column, style.columns - _GUTTER - 3)
    yield paint(_DIM, f"{place.line:>{_GUTTER}} |") + f" {shown}"
    yield paint(_DIM, f"{'':>{_GUTTER}} |") + f" {paint(_GREEN, mark)}"


def _labelled(label: str, lines: Sequence[str]) -> Iterator[str]:
    # What is to be pasted may have several lines; all of them stand below the first.
    for i, line in enumerate(lines if any(lines) else ()):
        yield f"  {label + ':' if i == 0 else '':<6}{line}".rstrip()


def _bound(build: Build, shown: Callable[[str], str], paint: _Paint) -> Iterator[str]:
    for verdict in build.verdicts:
        if verdict.link is not None:
            place = _at(verdict.written.place, shown, paint)
            yield f"{place} {paint(_GREEN, 'bound')} {visible(verdict.id)} {verdict.link.href}"


def _summary(build: Build, paint: _Paint) -> str:
    counts = build.counts
    bound = f"{counts.bound} of {many(counts.citations, 'citation')} bound"
    pages = f"in {many(counts.documents, 'document')} ({many(counts.passages, 'passage')})"
    found = reported(build)
    errors = sum(one.severity == "error" for one in found)
    faults = [many(errors, "error")] if errors else []
    if len(found) > errors:
        faults.append(many(len(found) - errors, "warning"))
    line = f"{bound} {pages}" + (f"; {', '.join(faults)}" if faults else "")
    return paint(_RED if build.failed else _GREEN, line)


def many(number: int, noun: str) -> str:
    """A number with its noun, in the plural where it is one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
