"""Tests may be coroutines, and have an app and processes on a PostgreSQL database of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.app import App
from tests.coroutines import Opened
from tests.workers.crew import Crew, on


@pytest.fixture
def app(opened: Opened, database_url: str, tmp_path: Path) -> App:
    return opened(on(database_url, tmp_path))


@pytest.fixture
def crew(database_url: str, tmp_path: Path) -> Iterator[Crew]:
    with Crew(database_url, tmp_path) as crew:
        yield crew
