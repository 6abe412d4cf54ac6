"""Turn a folder and the options given into a checked `Build`."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from exactquote.cli.options import Options
from exactquote.cli.speak import ProgressLine
from exactquote.config import load_config
from exactquote.disk.corpus import read_corpus, require_folder
from exactquote.disk.refusal import Refusal
from exactquote.model import Build, ConfigFile, Corpus
from exactquote.settings import Settings

if TYPE_CHECKING:
    from exactquote_site.knowledge.embedders import Embedder


def settings_for(folder: Path, options: Options) -> Settings:
    """The settings for a corpus; says which file they come from when asked to be verbose."""
    require_folder(folder)
    settings, source = load_config(folder, options.config)
    if options.verbose:
        told = f"configuration: {source}" if source else "configuration: none, all defaults"
        print(told, file=sys.stderr)
    return settings


def check_folder(
    folder: Path,
    settings: Settings,
    options: Options,
    citations: Sequence[Path] = (),
    site: bool | None = None,
    skip: Sequence[Path] = (),
) -> Build:
    """Check the corpus, or the built site, in a folder; `site` None looks which it is."""
    from exactquote.disk.site_dir import is_site, read_site

    if site or (site is None and is_site(folder)):
        from exactquote.pipeline import check_site

        pages = read_site(folder, settings, extra_citations=citations, skip=skip)
        with progress(options) as line:
            return check_site(pages, settings, line)
    corpus = read_corpus(folder, settings, extra_citations=citations, skip=skip)
    return check_corpus(configured(corpus, folder, settings, options), settings, options)


def configured(corpus: Corpus, folder: Path, settings: Settings, options: Options) -> Corpus:
    """The corpus with its configuration's text, when something in it may be a fault."""
    if not settings.chat.refusals:
        return corpus
    source = load_config(folder, options.config)[1]
    if source is None:
        return corpus
    path = os.path.relpath(source, folder).replace(os.sep, "/")
    return replace(corpus, config=ConfigFile(path, source.read_text("utf-8-sig")))


def check_corpus(corpus: Corpus, settings: Settings, options: Options) -> Build:
    """Check a corpus that was read."""
    from exactquote.disk.theme import load_theme
    from exactquote.pipeline import check

    with progress(options) as line:
        return check(corpus, settings, load_theme(), line, today=today())


def build_folder(
    folder: Path,
    settings: Settings,
    options: Options,
    output: Path,
    embedder: Embedder | None = None,
) -> Build:
    """Check the corpus in a folder and make the files of its site.

    Raises `Refusal` when the embedder can't make vectors.
    """
    from exactquote.disk.site_dir import is_site
    from exactquote.disk.theme import load_theme
    from exactquote.pipeline import build

    if is_site(folder):
        raise Refusal(
            f"{folder} has HTML pages only, which are built already;"
            f" `exactquote check {folder}` checks citations of them"
        )
    corpus = configured(read_corpus(folder, settings, skip=[output]), folder, settings, options)
    from exactquote_site.knowledge.embedders import EmbedderDown

    with progress(options) as line:
        try:
            return build(corpus, settings, load_theme(), line, embedder=embedder, today=today())
        except EmbedderDown as error:
            raise Refusal(f"the knowledge base can't be made: {error}") from None


def today() -> date:
    """The day of this run, by UTC: that of `SOURCE_DATE_EPOCH`, where it is set.

    See https://reproducible-builds.org/specs/source-date-epoch/. Raises `Refusal` when it
    is no number of seconds.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not given:
        return datetime.now(UTC).date()
    try:
        return datetime.fromtimestamp(int(given), UTC).date()
    except (ValueError, OverflowError, OSError):
        raise Refusal(
            f"SOURCE_DATE_EPOCH is {given!r}; it must be a number of seconds since 1970"
        ) from None


def require_apart(folder: Path, output: Path) -> None:
    """Raise `Refusal` when writing the output would replace the corpus."""
    corpus, target = os.path.realpath(folder), os.path.realpath(output)
    if os.path.commonpath([corpus, target]) == target:
        raise Refusal(f"{output} is the corpus or holds it; name another output")


@contextlib.contextmanager
def progress(options: Options) -> Iterator[ProgressLine]:
    """A progress line for the time of a run."""
    line = ProgressLine(options.progress)
    try:
        yield line
    finally:
        line.clear()
