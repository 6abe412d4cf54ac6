"""Turn a diagnostic code into its page of the handbook; `exactquote explain`."""

from __future__ import annotations

import re
from pathlib import Path

import click

import exactquote
from exactquote.cli.options import Options, with_options
from exactquote.cli.speak import say
from exactquote.codes import CODES, Code
from exactquote.disk.refusal import Refusal

_PACKAGE = Path(exactquote.__file__).parent
# Installed, the pages lie in the package; in a checkout they are part of the handbook.
_FOLDERS = (_PACKAGE / "theme" / "codes", _PACKAGE.parents[1] / "corpus" / "codes")

_EPILOG = """\b
Examples:
  exactquote explain            all codes, one a line
  exactquote explain EQ004      also: eq4, 4, repeated
"""


@click.command("explain", epilog=_EPILOG)
@click.argument("code", required=False)
@with_options
def command(code: str | None, options: Options) -> int:
    """Explain a diagnostic code by number or name; without one, list them all."""
    if code is None:
        listed = list(CODES.values())
        say(_json([_object(one) for one in listed]) if options.json else _list(listed))
        return 0
    found = _find(code)
    page = _page(found)
    if options.json:
        say(_json({**_object(found), "page": page}))
    else:
        say(page)
    return 0


def _find(wanted: str) -> Code:
    folded = wanted.strip().casefold()
    number = re.fullmatch(r"(?:eq)?-?0*(\d{1,3})", folded)
    if number is not None:
        code = f"EQ{int(number[1]):03}"
        if code in CODES:
            return CODES[code]
    by_name = {code.name: code for code in CODES.values()}
    name = re.sub(r"[\s_]+", "-", folded)
    if name in by_name:
        return by_name[name]
    raise Refusal(f"there is no code {wanted!r}; {_near(name, by_name)}")


def _near(name: str, by_name: dict[str, Code]) -> str:
    import difflib

    known = {code.code.casefold(): code for code in CODES.values()} | by_name
    near = [known[key] for key in difflib.get_close_matches(name, known, n=3, cutoff=0.5)]
    if not near:
        return "`exactquote explain` lists all"
    return f"near are {', '.join(f'{code.code} ({code.name})' for code in dict.fromkeys(near))}"


def _page(code: Code) -> str:
    for folder in _FOLDERS:
        try:
            text = (folder / f"{code.code}.md").read_text("utf-8")
        except FileNotFoundError:
            continue
        return _without_front_matter(text, code)
    return f"{_heading(code)}\n\n{code.summary[0].upper()}{code.summary[1:]}.\n"


def _without_front_matter(text: str, code: Code) -> str:
    title = _heading(code)
    front = re.match(r"---\n(.*?)^---\n", text, re.DOTALL | re.MULTILINE)
    if front is not None:
        text = text[front.end() :]
        given = re.search(r"^title:\s*(.+?)\s*$", front[1], re.MULTILINE)
        if given is not None:
            title = f"# {given[1].strip(chr(34) + chr(39))}"
    body = text.strip("\n")
    return f"{body}\n" if body.startswith("# ") else f"{title}\n\n{body}\n"


def _heading(code: Code) -> str:
    return f"# {code.code} {code.name}"


def _list(codes: list[Code]) -> str:
    longest = max(len(code.name) for code in codes)
    lines = (
        f"{code.code}  {code.severity:<7}  {code.name:<{longest}}  {code.summary}\n"
        for code in codes
    )
    return "".join(lines)


def _object(code: Code) -> dict[str, object]:
    return {
        "code": code.code,
        "name": code.name,
        "severity": code.severity,
        "core": code.core,
        "summary": code.summary,
    }


def _json(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
