"""Reads the site's templates and assets, from the installed package or from the checkout."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from exactquote.model import Theme

_TEMPLATE_SUFFIX = ".html.j2"
_PACKAGE = "exactquote_site"
# What stands beside the package in the function's folder.
_BESIDE = ("Dockerfile", "main.py", "requirements.txt")


def load_theme() -> Theme:
    """Templates by name (`page.html.j2`), assets by their path in the site (`assets/site.css`),
    and the chat function by its paths in its folder (`exactquote_site/serve/app.py`).

    Raises `FileNotFoundError` when neither the package nor a checkout has them.
    """
    home = _theme_home()
    templates = {
        name: entry.read_text(encoding="utf-8")
        for name, entry in _files(home.joinpath("pages"), "")
        if name.endswith(_TEMPLATE_SUFFIX)
    }
    assets = {
        name: entry.read_bytes() for name, entry in _files(home.joinpath("assets"), "assets/")
    }
    return Theme(templates, assets, _functions(home))


def _functions(home: Traversable) -> dict[str, bytes]:
    found = {name: home.joinpath("functions", name).read_bytes() for name in _BESIDE}
    # The package itself is what is imported here, wherever it was installed.
    for name, entry in _files(files(_PACKAGE), f"{_PACKAGE}/"):
        if name.endswith(".py"):
            found[name] = entry.read_bytes()
    return found


def _theme_home() -> Traversable:
    installed = files("exactquote").joinpath("theme")
    if installed.is_dir():
        return installed
    checkout = Path(__file__).resolve().parents[3] / "site_templates"
    if checkout.joinpath("pages").is_dir():
        return checkout
    raise FileNotFoundError(f"the site's templates are neither in {installed} nor in {checkout}")


def _files(folder: Traversable, prefix: str) -> list[tuple[str, Traversable]]:
    """Every file below a folder with its path, sorted; hidden ones are no part of a theme."""
    found: list[tuple[str, Traversable]] = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            found += _files(entry, f"{prefix}{entry.name}/")
        else:
            found.append((prefix + entry.name, entry))
    return found
