"""EQ039: the texts of a refusal sentence aren't those that its version line was written for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from exactquote.codes import fault
from exactquote.model import ConfigFile, Diagnostic, Place
from exactquote.refusals import digest, known_lines
from exactquote.settings import RefusalLine, Settings

_HEADER = re.compile(r"\s*\[\[\s*[\w.\s]*\bchat\s*\.\s*refusals\s*\]\]")


def check(settings: Settings, config: ConfigFile | None) -> Iterator[Diagnostic]:
    """A fault for each line whose digest doesn't hold; its place is in the configuration."""
    lines = known_lines(settings.chat)
    shipped = len(lines) - len(settings.chat.refusals)
    for number, line in enumerate(lines):
        right = digest(line.texts)
        if line.digest == right:
            continue
        if number < shipped:
            # No author can mend what came with the program.
            raise AssertionError("the built-in refusal sentence was edited without a new line")
        yield _fault(line, right, lines[-1].version + 1, _place(config, number - shipped))


def _fault(line: RefusalLine, right: str, following: int, place: Place) -> Diagnostic:
    if not line.digest:
        return fault(
            "EQ039",
            place,
            f"version {line.version} of the refusal sentence has no digest",
            f'write `digest = "{right}"` beside its texts',
        )
    return fault(
        "EQ039",
        place,
        f"the texts of version {line.version} of the refusal sentence were edited;"
        " the gaps that were logged under it would be lost",
        f"put the former texts back, and record the new ones below: `[[chat.refusals]]`,"
        f' `version = {following}`, `digest = "{right}"`, and the texts',
    )


def _place(config: ConfigFile | None, number: int) -> Place:
    """The line of an entry's header; the file's first line where it is written otherwise."""
    if config is None:
        return Place("exactquote.toml")
    headers = [at for at, text in enumerate(config.text.split("\n"), 1) if _HEADER.match(text)]
    return Place(config.path, headers[number] if number < len(headers) else 1)
