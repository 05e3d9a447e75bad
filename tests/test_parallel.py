"""The workers of a run of the tests: nothing is left out or run twice, also when one of them dies."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
TESTS = """
import os, signal, pytest

@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    yield os.getpid()
    print("torn down")

@pytest.mark.parametrize("n", range(40))
def test_passes(n, tmp_path):
    (tmp_path / "kept").write_text(str(n))

@pytest.mark.parametrize("n", range(3))
def test_shares(shared, n):
    assert shared == os.getpid()

def test_fails():
    assert 1 + 1 == 3, "sums"

def test_dies():
    os.kill(os.getpid(), signal.SIGKILL)

def test_is_skipped():
    pytest.skip("for a reason")
"""


@pytest.fixture
def run(tmp_path: Path):
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow: it waits\n")
    (tmp_path / "test_it.py").write_text(TESTS)

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pytest", "-p", "tests.parallel", "-p", "no:cacheprovider", "--workers", *args]
        return subprocess.run(
            command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=120
        )

    return run


def test_every_test_is_run_once_and_one_that_kills_its_worker_fails(run, tmp_path):
    done = run()
    assert done.returncode == 1
    assert "2 failed, 43 passed, 1 skipped" in done.stdout
    assert "AssertionError: sums" in done.stdout
    assert "The process that ran this test ended by SIGKILL." in done.stdout
    durations = json.loads((tmp_path / ".artifacts/durations.json").read_text())
    assert len(durations) == 45  # all but the one that died
    assert all(took["wall"] >= 0 and took["cpu"] >= 0 for took in durations.values())
    assert "the 20 slowest" in done.stdout


def test_it_stops_at_the_first_failure_when_asked_to(run):
    done = run("-x", "-k", "fails or shares")
    assert done.returncode == 1
    assert "stopping after 1 failures" in done.stdout


def test_a_test_that_can_not_be_imported_is_an_error(run, tmp_path):
    (tmp_path / "test_broken.py").write_text("import nothing_of_that_name")
    done = run()
    assert done.returncode == 2
    assert "nothing_of_that_name" in done.stdout
