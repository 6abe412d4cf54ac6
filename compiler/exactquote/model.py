"""The values that flow through the compiler, from a document to a build."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Format = Literal["markdown", "mdx", "html"]
Severity = Literal["error", "warning", "off"]

NO_FRONT_MATTER: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where something is written; line and column count from 1, column in code points."""

    path: str
    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that explains a diagnostic, such as the other occurrence."""

    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """An author's mistake: what is wrong, where, and how to mend it."""

    code: str
    place: Place
    message: str
    help: str = ""
    related: tuple[Related, ...] = ()
    severity: Severity = "error"


@dataclass(frozen=True, slots=True)
class Document:
    """One source file, decoded: no byte-order mark, line ends are LF.

    `id` is the path under the corpus without its suffix (`guide/setup`);
    `path` is that path as the author knows it (`guide/setup.mdx`).
    """

    id: str
    path: str
    format: Format
    text: str


@dataclass(frozen=True, slots=True)
class Written:
    """A citation as its author wrote it, inline or in a sidecar; nothing is proved yet.

    `doc` is "" where a passage is cited by `ref`, the id it was given elsewhere.
    `occurrence` counts from 0 over every verbatim occurrence on the page.
    A range citation has `quote_end`: the passage runs from `quote` to `quote_end`.
    """

    place: Place
    doc: str
    quote: str
    claim: str = ""
    id: str = ""
    ref: str = ""
    occurrence: int | None = None
    prefix: str = ""
    suffix: str = ""
    quote_end: str = ""
    source: str = ""
    """Id of the document whose page shows the claim; "" for a sidecar without one."""
    inline: int = -1
    """Which chip of the source page this is, counted from 0; -1 for a sidecar entry."""


@dataclass(frozen=True, slots=True)
class Article:
    """A document as body HTML, before the site's page is put around it.

    Inline citations stand in `html` as `<eq-chip n="N"></eq-chip>` right behind
    `<span class="eq-claim">claim</span>`; N counts `written` from 0.
    """

    id: str
    path: str
    format: Format
    html: str
    title: str = ""
    summary: str = ""
    language: str = ""
    front: Mapping[str, object] = field(default_factory=lambda: NO_FRONT_MATTER)
    written: tuple[Written, ...] = ()
    draft: bool = False
    aliases: tuple[str, ...] = ()
    """Other words that the page is to be found by, from its front matter."""
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of one page's text: offsets into `Page.text`, in code points."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A citable sentence of a page, with its stable id."""

    id: str
    doc: str
    span: Span
    quote: str


@dataclass(frozen=True, slots=True)
class DeepLink:
    """A proved link: `href` is relative to the site's root, `directive` begins with `#`."""

    href: str
    directive: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one written citation: bound to a span with a link, or refused."""

    written: Written
    id: str
    doc: str
    quote: str | None = None
    span: Span | None = None
    link: DeepLink | None = None
    code: str | None = None

    @property
    def bound(self) -> bool:
        """Whether the passage was found, once, and its link was proved."""
        return self.link is not None


@dataclass(frozen=True, slots=True)
class AllowEntry:
    """One line of the allowlist: an id and the only URL that it may become."""

    id: str
    href: str
    quote: str
    doc: str
    title: str
    cited: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """What a run looked at and what came of it."""

    documents: int = 0
    passages: int = 0
    citations: int = 0
    bound: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Build:
    """Everything a run produced; `files` is empty when an error was found."""

    build_id: str
    counts: Counts
    verdicts: tuple[Verdict, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    """Text of each source file by path, for showing the line of a diagnostic."""

    @property
    def failed(self) -> bool:
        """Whether any diagnostic is an error."""
        return any(d.severity == "error" for d in self.diagnostics)


@dataclass(frozen=True, slots=True)
class CitationFile:
    """A sidecar `NAME.citations.json|yaml|toml`, decoded, with its path under the corpus."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """The configuration that a run was given, with its path as seen from the corpus."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """Everything that a run reads: documents, sidecars, and what could not be read."""

    documents: tuple[Document, ...] = ()
    citation_files: tuple[CitationFile, ...] = ()
    assets: Mapping[str, bytes] = field(default_factory=dict)
    """Pictures and other files that pages show, copied to the site as they are."""
    diagnostics: tuple[Diagnostic, ...] = ()
    config: ConfigFile | None = None
    """For the places of faults that are written there; its values are in the settings."""


@dataclass(frozen=True, slots=True)
class Theme:
    """What the site's pages are made with: Jinja sources by name, and files to ship.

    `functions` are the files of the chat function, by their path in its folder.
    """

    templates: Mapping[str, str]
    assets: Mapping[str, bytes]
    functions: Mapping[str, bytes] = field(default_factory=dict)
