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


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether expected files are to be written anew."""
    return bool(request.config.getoption("--update"))
