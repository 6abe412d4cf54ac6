"""Turn a sound corpus into a proof that the gate refuses a passage that was made up."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import click

from exactquote.cli.options import Options, folder_argument, with_options
from exactquote.cli.run import check_folder, settings_for
from exactquote.cli.speak import say, say_report
from exactquote.cli.starter import CORPUS
from exactquote.disk.refusal import Refusal
from exactquote.model import Build, Corpus, Verdict
from exactquote.report.visible import visible
from exactquote.settings import Settings

_MADE_UP_ID = "made-up-passage"
_MADE_UP_FILE = "made-up.citations.json"
_WORD = "never"

_EPILOG = """\b
The corpus is copied to a temporary folder; the one given is only read. Without
DIR it is corpus/, or a small one that comes with exactquote.

\b
Exit codes: 0 only if exactly the made-up passage was refused, 1 otherwise,
2 wrong use or unreadable input, 3 a bug of ours
"""


@dataclass(frozen=True, slots=True)
class _Trial:
    """A check before and after the passage was added, and the verdict on it."""

    before: Build
    after: Build
    made_up: Verdict | None
    quote: str

    @property
    def passed(self) -> bool:
        """Whether the made-up passage was refused, and nothing else changed."""
        told = [found for found in self.after.diagnostics if found.severity == "error"]
        others = [verdict for verdict in self.after.verdicts if verdict is not self.made_up]
        return (
            self.made_up is not None
            and not self.made_up.bound
            and len(told) == 1
            and told[0].code == self.made_up.code
            and [_result(verdict) for verdict in others]
            == [_result(verdict) for verdict in self.before.verdicts]
        )


@click.command("demo", epilog=_EPILOG)
@folder_argument()
@with_options
def command(folder: Path | None, options: Options) -> int:
    """Add a made-up passage to a copy of the corpus and show that it is refused."""
    with tempfile.TemporaryDirectory(prefix="exactquote-demo-") as temporary:
        copy = Path(temporary) / "corpus"
        settings = _copy(folder, copy, options)
        before = check_folder(copy, settings, options)
        bound = [verdict for verdict in before.verdicts if verdict.bound and verdict.quote]
        if before.failed or not bound:
            say_report(before, copy, options)
            raise Refusal("the demo needs a corpus that is clean and has a bound citation")
        quote = _made_up(bound[0].quote or "")
        extra = Path(temporary) / _MADE_UP_FILE
        entry = {"id": _MADE_UP_ID, "doc": bound[0].doc, "quote": quote}
        extra.write_text(json.dumps([entry], ensure_ascii=False, indent=2) + "\n", "utf-8")
        after = check_folder(copy, settings, options, [extra])
        verdicts = {verdict.id: verdict for verdict in after.verdicts}
        trial = _Trial(before, after, verdicts.get(_MADE_UP_ID), quote)
        say(_as_json(trial, copy) if options.json else _as_text(trial, copy, options))
        return 0 if trial.passed else 1


def _copy(folder: Path | None, copy: Path, options: Options) -> Settings:
    if folder is None and not Path("corpus").is_dir():
        for path, text in CORPUS.items():
            _write(copy, path, text.encode())
        return Settings()
    root = folder if folder is not None else Path("corpus")
    settings = settings_for(root, options)
    corpus = _read(root, settings)
    if any(found.severity == "error" for found in corpus.diagnostics):
        first = corpus.diagnostics[0]
        raise Refusal(
            f"{root / first.place.path}: {first.message}; the demo needs a clean corpus"
            " (see `exactquote check`)"
        )
    if not corpus.documents:
        raise Refusal(f"{root} has no documents; the demo needs a corpus with a bound citation")
    # Just what was read is copied, so a corpus beside large other things is no trouble.
    for document in corpus.documents:
        _write(copy, document.path, document.text.encode())
    for citation_file in corpus.citation_files:
        _write(copy, citation_file.path, citation_file.text.encode())
    for path, content in corpus.assets.items():
        _write(copy, path, content)
    return settings


def _read(root: Path, settings: Settings) -> Corpus:
    from exactquote.disk.corpus import read_corpus
    from exactquote.disk.site_dir import is_site, read_site

    return read_site(root, settings) if is_site(root) else read_corpus(root, settings)


def _write(folder: Path, path: str, content: bytes) -> None:
    # Paths of a corpus are UTF-8, whatever the locale says.
    file = os.path.join(os.fsencode(folder), path.encode())
    try:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "xb") as stream:
            stream.write(content)
    except OSError as error:
        raise Refusal(f"the corpus can't be copied to {folder}: {error.strerror}") from None


def _made_up(quote: str) -> str:
    """A passage that reads like the real one and says something else."""
    words = quote.split()
    middle = max(1, len(words) // 2)
    return " ".join([*words[:middle], _WORD, *words[middle:]])


def _result(verdict: Verdict) -> tuple[str, str, str | None, bool]:
    return verdict.id, verdict.doc, verdict.quote, verdict.bound


def _as_text(trial: _Trial, copy: Path, options: Options) -> str:
    from exactquote.report.text import Style, many, text_report

    before, after = trial.before.counts, trial.after.counts

    def shown(path: str) -> str:
        return Path(path).name if path.startswith("../") else f"{copy.name}/{path}"

    style = Style(options.columns, options.color, summary=False, bound=options.verbose)
    report = text_report(trial.after, shown, style).rstrip("\n")
    outcome = (
        f"Passed: the {after.bound} true citations are still bound, and the made-up one is refused."
        if trial.passed
        else "FAILED: the made-up passage was not the one and only fault found."
    )
    if options.quiet:
        return f"{outcome}\n"
    return "\n".join(
        (
            f"1. A copy of the corpus: {before.bound} of {many(before.citations, 'citation')} bound"
            f" in {many(before.documents, 'document')}.",
            f'2. Added a passage that nobody wrote: "{visible(trial.quote)}"',
            f"3. Checked again: {after.bound} bound, {after.refused} refused.",
            "",
            *(f"   {line}" if line else "" for line in report.split("\n")),
            "",
            f"{outcome}\n",
        )
    )


def _as_json(trial: _Trial, copy: Path) -> str:
    from exactquote.report.machine import report_object

    def shown(path: str) -> str:
        return Path(path).name if path.startswith("../") else f"{copy.name}/{path}"

    record = {
        "version": 1,
        "passed": trial.passed,
        "made_up": trial.quote,
        "before": report_object(trial.before, shown),
        "after": report_object(trial.after, shown),
    }
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"
