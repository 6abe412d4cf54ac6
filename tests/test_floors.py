"""Which module may import which, and what the pure middle may not touch."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COMPILER = ROOT / "compiler"
FUNCTIONS = ROOT / "site_templates/functions"

# From the ground up; what shares a floor may import each other.
FLOORS = [
    {"model", "settings"},
    {"codes", "refusals", "addresses", "languages", "chat_rules"},
    {"readers"},
    {"rendered"},
    {"passages", "chunks"},
    {"deeplink"},
    {"checks"},
    {"emit"},
    {"pipeline"},
    {"disk", "embed", "report", "config", "browsers"},
    {"cli"},
    {"__main__"},
]
WORLD = {"disk", "embed", "report", "config", "browsers", "cli", "__main__"}

# Modules through which a program reads or changes something outside of its arguments.
WORLDLY = frozenset(
    (
        *("asyncio", "builtins", "ctypes", "fcntl", "fileinput", "getpass", "glob", "http"),
        *("importlib", "io", "locale", "logging", "mmap", "multiprocessing", "os", "pathlib"),
        *("platform", "random", "resource", "secrets", "select", "shutil", "signal", "socket"),
        *("socketserver", "sqlite3", "ssl", "subprocess", "sys", "tempfile", "threading"),
        *("time", "urllib.request", "uuid", "webbrowser", "zoneinfo"),
    )
)
# A date is a value like any other; the clock is asked by these.
CLOCKS = {"now", "today", "utcnow"}
WORLDLY_CALLS = {"open", "input", "print", "exec", "eval", "__import__", "breakpoint"}


def modules(root: Path) -> dict[str, Path]:
    """Every module below a source folder, by its dotted name."""
    found = {}
    for file in sorted(root.rglob("*.py")):
        parts = file.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


OURS = modules(COMPILER)
SERVED = modules(FUNCTIONS)


def imports(name: str, file: Path) -> Iterator[str]:
    """Every module that a file imports, wherever the import stands in it."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            yield base
            # `from exactquote import cli` imports a module, too.
            yield from (f"{base}.{alias.name}" for alias in node.names)


def room(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def floor(name: str) -> int:
    return next(i for i, rooms in enumerate(FLOORS) if name in rooms)


@pytest.mark.parametrize("name", [name for name in OURS if room(name)])
def test_a_module_imports_from_its_own_floor_or_lower_ones(name: str) -> None:
    assert any(room(name) in rooms for rooms in FLOORS), f"{name} is on no floor"
    for imported in imports(name, OURS[name]):
        if imported.startswith("exactquote.") and imported in OURS:
            assert floor(room(imported)) <= floor(room(name)), f"{name} imports {imported}"


@pytest.mark.parametrize("name", [name for name in OURS if room(name) not in WORLD])
def test_the_middle_touches_nothing_of_the_world(name: str) -> None:
    # PurePath is no file, only its name.
    allowed = {"pathlib", "pathlib.PurePosixPath"}
    imported = set(imports(name, OURS[name]))
    if {module for module in imported if module.startswith("pathlib")} <= allowed:
        imported -= allowed
    assert not [
        module
        for module in imported
        if any(module == bad or module.startswith(f"{bad}.") for bad in WORLDLY)
    ]
    tree = ast.parse(OURS[name].read_text(encoding="utf-8"))
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert not {call.id for call in calls if isinstance(call, ast.Name)} & WORLDLY_CALLS
    assert not {call.attr for call in calls if isinstance(call, ast.Attribute)} & CLOCKS


@pytest.mark.parametrize("name", SERVED)
def test_what_is_served_never_imports_the_compiler(name: str) -> None:
    for imported in imports(name, SERVED[name]):
        assert imported.partition(".")[0] != "exactquote", f"{name} imports {imported}"


@pytest.mark.parametrize("name", [n for n in SERVED if room(n) == "wire"])
def test_the_wire_needs_the_standard_library_alone(name: str) -> None:
    for imported in imports(name, SERVED[name]):
        top = imported.partition(".")[0]
        assert top in sys.stdlib_module_names or top == "exactquote_site", imported
        if top == "exactquote_site":
            assert room(imported) in ("", "wire"), imported


@pytest.mark.parametrize("name", [n for n in SERVED if room(n) == "knowledge"])
def test_the_knowledge_base_stands_on_the_wire_alone(name: str) -> None:
    for imported in imports(name, SERVED[name]):
        if imported.partition(".")[0] == "exactquote_site":
            assert room(imported) in ("", "wire", "knowledge"), imported


@pytest.mark.parametrize("name", [n for n in SERVED if room(n) not in ("wire", "knowledge")])
def test_the_function_stands_on_the_wire_and_the_knowledge_base_alone(name: str) -> None:
    for imported in imports(name, SERVED[name]):
        if imported.partition(".")[0] == "exactquote_site":
            assert room(imported) in ("", "wire", "knowledge", "serve"), imported


@pytest.mark.parametrize("name", OURS)
def test_the_compiler_imports_only_what_both_must_do_alike(name: str) -> None:
    for imported in imports(name, OURS[name]):
        if imported.partition(".")[0] == "exactquote_site":
            # Only commands start what ships; what builds an index is what looks it up.
            started = room(name) == "cli" and room(imported) == "serve"
            alike = room(imported) in ("wire", "knowledge")
            assert alike or started, f"{name} imports {imported}"


def test_one_module_opens_the_files_of_a_corpus() -> None:
    opening = {
        name
        for name, file in OURS.items()
        if room(name) in ("disk", "report")
        and any(word in file.read_text(encoding="utf-8") for word in ("open(", "scandir("))
    }
    # The others open folders of our own making, or look into a folder without reading it.
    others = {"exactquote.disk.corpus", "exactquote.disk.ours", "exactquote.disk.output"}
    assert opening - others == {"exactquote.disk.tree"}


# a file's text, what it imports
FORMS = [
    ("import exactquote.cli as c, os", {"exactquote.cli", "os"}),
    ("from exactquote import cli", {"exactquote", "exactquote.cli"}),
    ("def f():\n    from os import path", {"os", "os.path"}),
    ("from . import absent", {"exactquote.checks", "exactquote.checks.absent"}),
    ("from .. import cli", {"exactquote", "exactquote.cli"}),
    ("from ..cli import main", {"exactquote.cli", "exactquote.cli.main"}),
    ("if TYPE_CHECKING:\n    import exactquote.disk", {"exactquote.disk"}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), FORMS)
def test_prevents_an_import_that_these_tests_do_not_see(
    tmp_path: Path, text: str, wanted: set[str]
) -> None:
    (tmp_path / "x.py").write_text(text)
    assert set(imports("exactquote.checks.x", tmp_path / "x.py")) == wanted
