"""EQ024: a cited page declares another encoding than UTF-8, so browsers read other text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from exactquote.codes import fault
from exactquote.model import Diagnostic, Document, Place, Verdict

# Browsers look for a declaration in the first 1024 bytes; WHATWG HTML, section 13.2.3.2.
_PRESCANNED = 1024
_DECLARED = re.compile(r"<meta\b[^>]*?\bcharset\s*=\s*[\"']?\s*([\w:.+-]+)", re.IGNORECASE)
_UTF8 = frozenset(
    {"utf-8", "utf8", "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "x-unicode20utf8"}
)


def check(verdicts: Sequence[Verdict], documents: Mapping[str, Document]) -> Iterator[Diagnostic]:
    """A fault for each cited page that has other than ASCII and says it isn't UTF-8."""
    for doc in sorted({verdict.doc for verdict in verdicts if verdict.bound}):
        document = documents[doc]
        if document.text.isascii():
            continue
        declared = _DECLARED.search(document.text, 0, _PRESCANNED)
        if declared is None:
            yield replace(
                fault(
                    "EQ024",
                    Place(document.path),
                    "the page declares no encoding: a server that names none makes browsers"
                    " read other text",
                    'begin its head with <meta charset="utf-8">',
                ),
                severity="warning",
            )
        elif declared[1].lower() not in _UTF8:
            line = document.text.count("\n", 0, declared.start()) + 1
            column = declared.start() - document.text.rfind("\n", 0, declared.start())
            yield fault(
                "EQ024",
                Place(document.path, line, column),
                f"the page is UTF-8 but declares {declared[1]}, so browsers read other text",
                'declare <meta charset="utf-8">',
            )
