"""Turn a folder and the options given into a checked `Build`."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from exactquote.cli.options import Options
from exactquote.cli.speak import ProgressLine
from exactquote.config import load_config
from exactquote.disk.corpus import read_corpus, require_folder
from exactquote.disk.refusal import Refusal
from exactquote.model import Build, Corpus
from exactquote.settings import Settings


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
    return check_corpus(corpus, settings, options)


def check_corpus(corpus: Corpus, settings: Settings, options: Options) -> Build:
    """Check a corpus that was read."""
    from exactquote.disk.theme import load_theme
    from exactquote.pipeline import check

    with progress(options) as line:
        return check(corpus, settings, load_theme(), line)


def build_folder(folder: Path, settings: Settings, options: Options, output: Path) -> Build:
    """Check the corpus in a folder and make the files of its site."""
    from exactquote.disk.site_dir import is_site
    from exactquote.disk.theme import load_theme
    from exactquote.pipeline import build

    if is_site(folder):
        raise Refusal(
            f"{folder} has HTML pages only, which are built already;"
            f" `exactquote check {folder}` checks citations of them"
        )
    corpus = read_corpus(folder, settings, skip=[output])
    with progress(options) as line:
        return build(corpus, settings, load_theme(), line)


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
