"""Turns the bytes of a stream of server-sent events into the data of each event.

After the WHATWG specification of server-sent events (html.spec.whatwg.org, chapter 9.2). Names,
ids and waiting times of events are passed over: what an endpoint of the OpenAI protocol says is
in the data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass
class DataReader:
    """Reads one stream, in linear time. What it gives doesn't depend on where pieces were cut.

    An event that isn't ended by an empty line is none.
    """

    # The parts of a line that hasn't ended yet, and the data of an event that hasn't.
    _line: list[bytes] = field(default_factory=list)
    _data: list[bytes] = field(default_factory=list)
    _begun: bool = False
    # A line feed at the beginning of a piece belongs to the return at the end of the last one.
    _returned: bool = False

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The data of each event that is complete now, its lines parted by line feeds."""
        if self._returned and piece.startswith(b"\n"):
            piece = piece[1:]
            self._returned = False
        if not piece:
            return
        self._returned = piece.endswith(b"\r")
        *lines, rest = _LINE_END.split(piece)
        if lines:
            lines[0] = b"".join((*self._line, lines[0]))
            self._line.clear()
        self._line.append(rest)
        for line in lines:
            if not self._begun:
                line = line.removeprefix(_BYTE_ORDER_MARK)
                self._begun = True
            if line:
                self._field(line)
            elif self._data:
                yield b"\n".join(self._data)
                self._data.clear()

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
