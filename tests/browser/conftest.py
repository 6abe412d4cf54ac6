"""Gives the tests of this folder the browsers that they share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.landing import BROWSERS, Browsers


@pytest.fixture(scope="session")
def browsers() -> Iterator[Browsers]:
    """Running browsers by name, closed at the end of the run."""
    yield BROWSERS
    BROWSERS.close()
