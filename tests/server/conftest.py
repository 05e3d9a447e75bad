from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.serving import Served, served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One for all tests of a module; each makes its own debates."""
    with served(tmp_path_factory.mktemp("served")) as running:
        yield running
