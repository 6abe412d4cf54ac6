"""`dist/functions`, copied alone, runs with nothing but what its requirements name."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from exactquote import cli
from tests.servers import free_port

PAGE = """# Kiln

The kiln is fired on Fridays only. [Then](cite:kiln "The kiln is fired on Fridays only.") it cools.
"""
# What starts the function, and what it had imported by then and afterwards.
STARTED = """
import sys
sys.path[:0] = [{packages!r}, {folder!r}]
import uvicorn
from main import app
ours = sorted(name for name in sys.modules if name.partition(".")[0] == "exactquote")
places = sorted({{str(module.__file__) for name, module in sys.modules.items()
    if name.startswith("exactquote_site") and module.__file__}})
try:
    import exactquote
except ImportError:
    print("alone", ours, all(place.startswith({folder!r}) for place in places), flush=True)
uvicorn.run(app, port={port}, log_level="warning")
"""
# One call for each event that is read, as a host of functions makes it.
HANDLED = """
import json, sys
sys.path[:0] = [{packages!r}, {folder!r}]
from mangum import Mangum
from main import app
handler = Mangum(app)
for event in json.load(sys.stdin):
    print(json.dumps(handler(event, None)))
"""


def needed(requirements: str) -> dict[str, Distribution]:
    """The installed distributions that requirements name, and what those need in turn."""
    found: dict[str, Distribution] = {}
    todo = [Requirement(line) for line in requirements.splitlines()]
    while todo:
        wanted = todo.pop()
        name = re.sub(r"[-_.]+", "-", wanted.name).lower()
        installed = distribution(name)
        assert wanted.specifier.contains(installed.version, prereleases=True), wanted
        if name in found and not wanted.extras:
            continue
        found[name] = installed
        for line in installed.requires or ():
            more = Requirement(line)
            extras = wanted.extras or {""}
            if more.marker is None or any(more.marker.evaluate({"extra": e}) for e in extras):
                todo.append(more)
    return found


def copied(distributions: dict[str, Distribution], into: Path) -> Path:
    """A folder of packages that holds these distributions and no other."""
    for name, installed in distributions.items():
        assert installed.files, name
        for top in {file.parts[0] for file in installed.files if file.parts[0] != ".."}:
            source, target = Path(str(installed.locate_file(top))), into / top
            if source.exists() and not target.exists() and top != "__pycache__":
                target.symlink_to(source)
    return into


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The function of a small site with vectors, alone in a folder that nobody can write."""
    root = tmp_path_factory.mktemp("alone")
    (root / "docs").mkdir()
    (root / "docs/kiln.md").write_text(PAGE)
    assert cli.main(["build", str(root / "docs"), "-o", str(root / "dist"), "-q"]) == 0
    shutil.copytree(root / "dist/functions", root / "moved/here")
    shutil.rmtree(root / "dist")
    return root / "moved/here"


@contextmanager
def running(folder: Path, packages: Path, port: int) -> Iterator[str]:
    program = STARTED.format(packages=str(packages), folder=str(folder), port=port)
    # Isolated, and without the packages of this environment: all it has is what is named.
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-B", "-c", program],
        cwd=folder.parent,
        env={"PATH": os.defpath, "TMPDIR": str(folder.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline().decode()
        if not said:
            raise AssertionError(process.communicate(timeout=60)[1].decode())
        yield said
    finally:
        process.kill()
        process.communicate(timeout=60)


def ask(port: int, path: str, body: bytes | None = None) -> dict[str, object]:
    for attempt in range(200):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            headers = {"Content-Type": "application/json"} if body else {}
            connection.request("POST" if body else "GET", path, body, headers)
            return dict(json.loads(connection.getresponse().read()))
        except ConnectionRefusedError:
            if attempt == 199:
                raise
            time.sleep(0.1)
        finally:
            connection.close()
    raise AssertionError


def test_the_folder_runs_alone_with_its_own_requirements(folder: Path, tmp_path: Path) -> None:
    distributions = needed((folder / "requirements.txt").read_text())
    assert "exactquote" not in distributions
    assert not {"jinja2", "selectolax", "markdown-it-py"} & set(distributions)
    packages = copied(distributions, tmp_path)
    port = free_port()
    with running(folder, packages, port) as said:
        assert said == "alone [] True\n"
        status = ask(port, "/api/status")
        assert status["state"] == "passages"
        answer = ask(port, "/api/chat", b'{"question": "When is the kiln fired?"}')
    assert answer["outcome"] == "passages"
    assert answer["words_only"] is False, "vectors are of use, so the embedder is there"
    quotes = [part["quote"] for part in answer["segments"] if part["type"] == "quote"]  # type: ignore[attr-defined]
    assert "The kiln is fired on Fridays only." in quotes
    assert not list(folder.rglob("__pycache__"))


def test_a_host_of_functions_is_answered_through_an_adapter(folder: Path, tmp_path: Path) -> None:
    distributions = needed((folder / "requirements.txt").read_text() + "mangum\n")
    packages = copied(distributions, tmp_path)
    body = json.dumps({"question": "When is the kiln fired?"})
    events = [event("GET", "/api/status"), event("POST", "/api/chat", body)]
    ended = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-B",
            "-c",
            HANDLED.format(packages=str(packages), folder=str(folder)),
        ],
        input=json.dumps(events).encode(),
        env={"PATH": os.defpath, "TMPDIR": str(folder.parent)},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr.decode()
    status, answer = map(json.loads, ended.stdout.splitlines())
    assert (status["statusCode"], json.loads(status["body"])["state"]) == (200, "passages")
    told = json.loads(answer["body"])
    assert (answer["statusCode"], told["outcome"]) == (200, "passages")
    quotes = [part["quote"] for part in told["segments"] if part["type"] == "quote"]
    assert "The kiln is fired on Fridays only." in quotes


def event(method: str, path: str, body: str = "") -> dict[str, object]:
    """A request as API Gateway hands it on, payload format 2.0."""
    http = {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1"}
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"host": "example.org", "content-type": "application/json"},
        "requestContext": {"domainName": "example.org", "http": http, "stage": "$default"},
        "body": body,
        "isBase64Encoded": False,
    }
