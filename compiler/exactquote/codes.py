"""Every diagnostic code, its name, its severity unless configured, and what it says.

Each has a page in the handbook, `corpus/codes/<CODE>.md`, which `exactquote explain`
prints, and cases in `tests/spec/<CODE>.md`.
"""

from __future__ import annotations

from dataclasses import dataclass

from exactquote.model import Diagnostic, Place, Related, Severity


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of fault. A `core` code is the promise itself and can't be silenced."""

    code: str
    name: str
    severity: Severity
    core: bool
    summary: str


_TABLE = (
    Code("EQ001", "unknown-document", "error", True, "the cited document does not exist"),
    Code("EQ002", "absent", "error", True, "the passage is not on the page"),
    Code("EQ003", "wording-differs", "error", True, "the page has other characters there"),
    Code("EQ004", "repeated", "error", True, "the passage is on the page more than once"),
    Code("EQ005", "look-alike", "error", True, "a browser would take other text for it"),
    Code("EQ006", "crosses-block", "error", True, "the passage crosses a block or line break"),
    Code("EQ007", "not-visible", "error", True, "the passage is in text that no reader sees"),
    Code("EQ008", "cuts-word", "error", True, "the passage begins or ends inside a word"),
    Code("EQ009", "cuts-character", "error", True, "an edge is inside one visible character"),
    Code("EQ010", "cuts-note-mark", "error", True, "an edge is glued to a footnote mark"),
    Code("EQ011", "too-short", "error", False, "the passage is shorter than the limit set"),
    Code("EQ012", "too-long", "error", False, "the passage is longer than the limit set"),
    Code("EQ013", "cannot-land", "error", True, "no link can be proved to land on it"),
    Code("EQ014", "unpublished", "error", True, "the cited page is not part of the site"),
    Code("EQ015", "duplicate-id", "error", True, "two citations were given one id"),
    Code("EQ016", "nothing-checked", "error", True, "there was nothing to check"),
    Code("EQ017", "front-matter", "error", False, "the front matter can't be read"),
    Code("EQ018", "required-page", "error", False, "a required page is missing or empty"),
    Code("EQ019", "figure-differs", "warning", False, "the claim's figures aren't in the passage"),
    Code("EQ020", "citation-file", "error", True, "a citation file is malformed"),
    Code("EQ021", "stray-citation-file", "error", False, "a citation file is misnamed"),
    Code("EQ022", "pin-mismatch", "error", True, "the pin names a place that does not exist"),
    Code("EQ023", "duplicate-document", "error", True, "two files make one page"),
    Code("EQ024", "unreadable-file", "error", True, "a file can't be read as text"),
    Code("EQ025", "mdx-syntax", "error", False, "the MDX can't be parsed"),
    Code("EQ026", "unknown-component", "error", False, "a component isn't configured"),
    Code("EQ027", "mdx-expression", "error", False, "an expression has no text at build time"),
    Code("EQ028", "nested-too-deep", "error", True, "nesting is deeper than is rendered"),
    Code("EQ029", "hidden-controls", "error", False, "characters that reorder or hide text"),
    Code("EQ030", "unclosed-fence", "warning", False, "a code fence is never closed"),
    Code("EQ031", "dead-link", "warning", False, "an internal link goes nowhere"),
    Code("EQ032", "malformed-citation", "error", True, "an inline citation is malformed"),
    Code("EQ033", "component-failed", "error", True, "a component's template failed"),
    Code("EQ034", "lost-cells", "warning", False, "a table row has more cells than its head"),
    Code("EQ035", "unknown-passage-id", "error", True, "no citation was given the id cited"),
    Code("EQ036", "breaks-links", "warning", False, "a script of the page undoes its own links"),
    Code("EQ037", "unreviewed-answer", "error", False, "an answer of the FAQ was not reviewed"),
    Code("EQ038", "stale-review", "warning", False, "the review of an answer is too old"),
    Code("EQ039", "refusal-changed", "error", True, "the refusal sentence changed unrecorded"),
    Code("EQ040", "misspelt-key", "warning", False, "a key of front matter seems misspelt"),
    Code("EQ041", "fails-on-phone", "warning", False, "on a phone the link may not land"),
    Code("EQ042", "unread-sheet", "warning", False, "a linked style sheet is not in the folder"),
)

CODES: dict[str, Code] = {code.code: code for code in _TABLE}


def fault(
    code: str, place: Place, message: str, help: str = "", related: tuple[Related, ...] = ()
) -> Diagnostic:
    """A diagnostic with its code's own severity. Raises `KeyError` for an unknown code."""
    return Diagnostic(code, place, message, help, related, CODES[code].severity)
