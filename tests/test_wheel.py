"""The wheel: what is in it, and that it works where there is no checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from exactquote.cli.starter import CORPUS

ROOT = Path(__file__).parents[1]
SOURCES = ("compiler", "site_templates", "corpus", "pyproject.toml", "README.md", "LICENSE")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy so that nothing is left in the checkout."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy(ROOT / name, source / name)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out)]
    made = subprocess.run([*command, str(source)], capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel; its requirements are those of this one."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=False, symlinks=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(home)}))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", str(site), str(wheel)], check=True)
    # A path file adds this environment's packages behind those of the wheel; the path files
    # in there, such as that of an editable install, are not followed.
    (site / "requirements.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return home


def run(home: Path, cwd: Path, *args: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.defpath, "HOME": str(cwd), "PYTHONSAFEPATH": "1"}
    return subprocess.run(
        [str(home / "bin/python"), *args],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_wheel_holds_two_packages_and_all_they_need(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "exactquote",
        "exactquote_site",
    }
    shipped = {
        "exactquote/py.typed",
        "exactquote/theme/codes/EQ001.md",
        *(f"exactquote/schemas/{file.name}" for file in ROOT.glob("compiler/exactquote/schemas/*")),
        *(
            f"exactquote/theme/{part}/{file.relative_to(ROOT / 'site_templates' / part)}"
            for part in ("pages", "assets")
            for file in (ROOT / "site_templates" / part).rglob("*")
            if file.is_file()
        ),
        *(
            f"exactquote/theme/functions/{name}"
            for name in ("Dockerfile", "main.py", "requirements.txt")
        ),
    }
    assert shipped <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.startswith("tests")]


def test_an_installed_wheel_builds_a_corpus_without_the_checkout(
    installed: Path, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    for name, text in CORPUS.items():
        (tmp_path / "docs" / name).write_text(text)
    where = run(installed, tmp_path, "-c", "import exactquote; print(exactquote.__file__)")
    assert where.stdout.startswith(str(installed)), where.stdout + where.stderr
    built = run(installed, tmp_path, "-m", "exactquote", "build", "docs", "--output", "out")
    assert (built.returncode, built.stderr) == (0, "")
    assert "2 of 2 citations bound" in built.stdout
    allowlist = json.loads((tmp_path / "out/allowlist.json").read_text())
    assert allowlist["entries"]["kiln-day"]["quote"] == "The kiln is fired on Fridays only."
    assert "#:~:text=" in (tmp_path / "out/index.html").read_text()
    sources = ROOT / "site_templates/functions"
    shipped = {
        file.relative_to(sources): file.read_bytes()
        for file in sources.rglob("*")
        if file.suffix in (".py", "") and file.is_file()
    }
    assert {path: (tmp_path / "out/functions" / path).read_bytes() for path in shipped} == shipped


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (["explain", "EQ004"], "## How to mend it"),
        (["schema", "report"], '"exactquote report"'),
        (["schema", "allowlist"], "$schema"),
        (["demo"], "Passed:"),
        (["--version"], "exactquote "),
    ],
)
def test_an_installed_wheel_has_every_command(
    installed: Path, tmp_path: Path, args: list[str], part: str
) -> None:
    ran = run(installed, tmp_path, "-m", "exactquote", *args)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert part in ran.stdout


def test_the_command_is_installed(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (points,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
    assert "exactquote = exactquote.cli:main" in archive.read(points).decode()
