import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that PostgreSQL's user can reach, even if another session of pytest starts meanwhile.

    Every session closes the folder above `tmp_path` to other users.
    """
    with tempfile.TemporaryDirectory(prefix="moot-perf-") as name:
        yield Path(name)
