"""The stories of `tests/spec`: small corpora, and all that must be said of each.

A file is for one code; a case is a heading, a sentence that says why, files in fences, and a
list of everything that is expected:

- `EQ004 page.md:3:1` (or `… warning`): a diagnostic; one that isn't listed fails the case.
- `bound N` of all citations, `quote "…"` and `directive "…"` of each that is bound, in order.
- `refused CODE`: the code of each citation that isn't bound, in order, where it needs saying.
- `message "…"`, `cure "…"`, `related path:line:column "…"`: part of what some diagnostic says.
- `cure binds "…"`: the cure shows this text, and a citation of it is bound.

A fence's info string is the file's path; `escaped` behind it turns `\\xNN`, `\\uXXXX` and `\\r`
in the file into what they stand for, and `link` makes a symbolic link. Texts are JSON strings.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from exactquote.codes import CODES
from exactquote.model import Build, CitationFile, Corpus, Diagnostic
from tests.compiling import compiled, compiled_folder, unproved_links

SPEC = Path(__file__).parent / "spec"
FENCE = re.compile(r"(`{3,}|~{3,})(.+?)(?: (escaped|link))?$")
ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(r))")
FOUND = re.compile(r"(EQ\d{3}) (\S+:\d+:\d+)( warning)?$")
TOLD = re.compile(r'(message|cure|cure binds|quote|directive|refused|related \S+) (".*"|EQ\d{3})$')


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    files: tuple[tuple[str, str, str], ...]
    diagnostics: tuple[str, ...]
    bound: int
    told: tuple[tuple[str, str], ...]

    def all(self, kind: str) -> list[str]:
        return [text for name, text in self.told if name == kind]


def cases_of(path: Path) -> list[Case]:
    """The cases of a file; a fence may hold lines that look like headings and lists."""
    parts: list[tuple[str, list[str], list[tuple[str, str, str]], list[str]]] = []
    lines = iter(path.read_text(encoding="utf-8").split("\n"))
    for line in lines:
        if line.startswith("## "):
            parts.append((line[3:], [], [], []))
        elif fence := FENCE.match(line):
            text = [f"{inner}\n" for inner in iter(lambda: next(lines), fence[1])]
            parts[-1][2].append((fence[2], fence[3] or "", "".join(text)))
        elif line.startswith("- "):
            parts[-1][3].append(line[2:])
        elif line.strip() and parts:
            parts[-1][1].append(line)
    return [case_of(*part) for part in parts]


def case_of(name: str, why: list[str], files: list[tuple[str, str, str]], items: list[str]) -> Case:
    assert why, f"{name}: say why"
    diagnostics: list[str] = []
    told: list[tuple[str, str]] = []
    bound = -1
    for item in items:
        if FOUND.match(item):
            diagnostics.append(item)
        elif found := re.match(r"bound (\d+)$", item):
            bound = int(found[1])
        elif found := TOLD.match(item):
            told.append((found[1], json.loads(found[2]) if found[2][0] == '"' else found[2]))
        else:
            raise ValueError(f"{name}: {item}")
    assert bound >= 0, f"{name}: say how many are bound"
    return Case(name, tuple(files), tuple(diagnostics), bound, tuple(told))


CASES = [(path.stem, case) for path in sorted(SPEC.glob("*.md")) for case in cases_of(path)]


@pytest.mark.parametrize(
    "case", [c for _, c in CASES], ids=[f"{code}-{c.name}" for code, c in CASES]
)
def test_case(case: Case, tmp_path: Path) -> None:
    corpus, made = compiled_folder(written(case, tmp_path))
    assert sorted(map(shown, made.diagnostics)) == sorted(case.diagnostics), heard(made)
    assert sum(verdict.bound for verdict in made.verdicts) == case.bound
    assert (made.counts.bound, made.counts.citations) == (case.bound, len(made.verdicts))
    bound = [verdict for verdict in made.verdicts if verdict.link]
    if quotes := case.all("quote"):
        assert [verdict.quote for verdict in bound] == quotes
    if directives := case.all("directive"):
        assert [verdict.link.directive for verdict in bound if verdict.link] == directives
    if refused := case.all("refused"):
        assert [verdict.code for verdict in made.verdicts if not verdict.bound] == refused
    for kind, text in case.told:
        if kind in ("message", "cure") or kind.startswith("related"):
            assert any(text in said for said in sayings(made, kind)), heard(made)
    for text in case.all("cure binds"):
        assert any(f'"{text}"' in d.help for d in made.diagnostics), heard(made)
        assert binds(corpus, made, text)
    assert unproved_links(corpus, made) == []


def test_every_code_has_cases() -> None:
    told = dict.fromkeys((*CODES, "bound"), 0)
    for code, _ in CASES:
        told[code] += 1
    assert {code: count for code, count in told.items() if count < 5} == {}


def test_every_case_of_a_code_is_about_it_or_its_nearest_neighbour() -> None:
    for code in CODES:
        mine = [case for stem, case in CASES if stem == code]
        named = [case for case in mine if any(code in found for found in case.diagnostics)]
        assert named, f"{code} is never reported"
        assert len(named) < len(mine), f"{code} has no case in which it must not be reported"


def written(case: Case, root: Path) -> Path:
    for path, flag, text in case.files:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if flag == "link":
            file.symlink_to(text.strip())
        elif flag == "escaped":
            file.write_bytes(unescaped(text))
        else:
            file.write_bytes(text.encode())
    return root


def unescaped(text: str) -> bytes:
    out, done = b"", 0
    for found in ESCAPE.finditer(text):
        out += text[done : found.start()].encode()
        if found[1]:
            out += bytes.fromhex(found[1])
        elif found[4]:
            out += b"\r"
        else:
            out += chr(int(found[2] or found[3], 16)).encode("utf-8", "surrogatepass")
        done = found.end()
    return out + text[done:].encode()


def shown(found: Diagnostic) -> str:
    place = f"{found.place.path}:{found.place.line}:{found.place.column}"
    return f"{found.code} {place}" + (" warning" if found.severity == "warning" else "")


def sayings(made: Build, kind: str) -> list[str]:
    if kind == "message":
        return [found.message for found in made.diagnostics]
    if kind == "cure":
        return [found.help for found in made.diagnostics]
    place = kind.removeprefix("related ")
    return [
        other.message
        for found in made.diagnostics
        for other in found.related
        if f"{other.place.path}:{other.place.line}:{other.place.column}" == place
    ]


def heard(made: Build) -> str:
    """Everything a build says, for the report of a case that fails."""
    lines = []
    for found in made.diagnostics:
        lines.append(f"{shown(found)} {found.message}\n    cure: {found.help}")
        for other in found.related:
            place = f"{other.place.path}:{other.place.line}:{other.place.column}"
            lines.append(f"    see: {place} {other.message}")
    for verdict in made.verdicts:
        lines.append(f"{verdict.code or 'bound'} {verdict.quote!r}")
    return "\n".join(lines)


def binds(corpus: Corpus, made: Build, text: str) -> bool:
    """Whether the text, pasted in place of the refused passage, is bound."""
    doc = next(verdict.doc for verdict in made.verdicts if not verdict.bound)
    entry = json.dumps([{"doc": doc, "quote": text}])
    again = compiled(Corpus(corpus.documents, (CitationFile("again.citations.json", entry),)))
    (verdict,) = (v for v in again.verdicts if v.written.place.path == "again.citations.json")
    return verdict.bound and verdict.quote == text
