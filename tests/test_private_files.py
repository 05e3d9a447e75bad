"""What moot writes for itself is its owner's alone: database, files beside it, folders."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from moot.folders import make_private
from moot.store.sqlite.connection import connect
from moot.store.sqlite.database import Database

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def open_umask():
    """The system lets everyone read what a program makes, and even write it."""
    before = os.umask(0)
    yield
    os.umask(before)


def test_the_database_and_its_folder_are_the_owners(tmp_path: Path):
    folder = tmp_path / "share" / "moot"
    with used(folder / "moot.db"):
        files = sorted(folder.iterdir())
        assert [file.name for file in files] == ["moot.db", "moot.db-shm", "moot.db-wal"]
        assert {mode(file) for file in files} == {0o600}
        assert {mode(folder), mode(folder.parent)} == {0o700}


def test_a_folder_and_a_file_that_exist_keep_their_permissions(tmp_path: Path):
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o775)
    (folder / "moot.db").touch(mode=0o660)
    with used(folder / "moot.db"):
        assert (mode(folder), mode(folder / "moot.db"), mode(folder / "moot.db-wal")) == (0o775, 0o660, 0o660)
    make_private(folder / "models")
    assert (mode(folder), mode(folder / "models")) == (0o775, 0o700)


@contextmanager
def used(path: Path) -> Iterator[None]:
    """A database with a connection that has read, so that the files beside it are there."""
    database = Database(path)
    with closing(connect(path)) as reader:
        reader.execute("select count(*) from sqlite_schema").fetchall()
        yield
    asyncio.run(database.close())


def test_a_debate_on_the_command_line_leaves_nothing_to_others(tmp_path: Path):
    arguments = ["debate", "Tabs or spaces?", "--model", "sim:?tokens=20", "--set", "max_rounds=1"]
    done = subprocess.run(
        [Path(sys.executable).with_name("moot"), *arguments],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made = list((tmp_path / "data").rglob("*"))
    assert any(path.suffix == ".db" for path in made)
    assert {mode(path) for path in made} <= {0o600, 0o700}
