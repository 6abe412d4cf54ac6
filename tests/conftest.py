"""Settings that all tests share."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# A slow machine is no fault of the code, and what failed once in CI must fail again here.
settings.register_profile("exactquote", deadline=None, derandomize=os.environ.get("CI") == "true")
settings.load_profile("exactquote")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update",
        action="store_true",
        help="write what the tests find as what they expect; read the diff afterwards",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Vectors are kept from one run of the tests to the next, and not where the user's are."""
    cache = getattr(config, "cache", None)
    if cache is not None:
        os.environ["XDG_CACHE_HOME"] = str(cache.mkdir("vectors"))


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether expected files are to be written anew."""
    return bool(request.config.getoption("--update"))
