from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.test_serve import Process, serving

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    with serving(tmp_path_factory.mktemp("clients")) as process:
        yield process


def output(folder: Path, environ: dict[str, str], *command: str | Path) -> str:
    """What a client prints, which must end well."""
    done = subprocess.run(
        [str(each) for each in command],
        env=environ,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=900,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
