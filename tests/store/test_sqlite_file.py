"""A database file that is deleted, replaced, written over or put back while it is open, and a disk that fills up."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from moot.core.errors import NotWritable, StoreError
from moot.store.sqlite import SqliteStore
from tests.store.samples import debate

GONE = "was deleted or replaced while moot had it open"


def using(path: Path, check: Callable[[SqliteStore], Awaitable[None]]) -> None:
    async def main() -> None:
        store = SqliteStore(path)
        try:
            await check(store)
        finally:
            await store.close()

    asyncio.run(main())


async def refuses(store: SqliteStore) -> None:
    for write in (store.writable(), store.create(debate(2)), store.drop_token("x")):
        with pytest.raises(NotWritable, match=GONE):
            await write


@pytest.mark.parametrize("written", [True, False], ids=["after a write", "before the first write"])
def test_a_deleted_file_takes_no_more_writes(tmp_path, written):
    path = tmp_path / "m.db"

    async def check(store: SqliteStore) -> None:
        if written:
            await store.create(debate(1))
        path.unlink()
        await refuses(store)

    using(path, check)


def test_a_replaced_file_takes_no_more_writes(tmp_path):
    path, other = tmp_path / "m.db", tmp_path / "other.db"
    using(other, lambda store: store.create(debate(7)))

    async def check(store: SqliteStore) -> None:
        await store.create(debate(1))
        os.replace(other, path)
        await refuses(store)

    using(path, check)


def test_neither_does_one_whose_log_is_gone(tmp_path):
    """What was not yet copied from the log would be lost when the process is killed."""

    async def check(store: SqliteStore) -> None:
        await store.create(debate(1))
        (tmp_path / "m.db-wal").unlink()
        await refuses(store)

    using(tmp_path / "m.db", check)


def test_a_file_that_is_put_back_goes_on(tmp_path):
    path, away = tmp_path / "m.db", tmp_path / "away.db"

    async def check(store: SqliteStore) -> None:
        await store.create(debate(1))
        path.rename(away)
        await refuses(store)
        away.rename(path)
        await store.create(debate(3))
        assert len((await store.page()).debates) == 2

    using(path, check)
    using(path, lambda store: store.create(debate(4)))


def test_a_file_that_goes_away_during_a_write_has_not_stored_it(tmp_path):
    path = tmp_path / "m.db"

    async def check(store: SqliteStore) -> None:
        with pytest.raises(NotWritable, match=GONE):
            await store._writer.do(lambda _: path.unlink())

    using(path, check)


def test_a_file_that_can_not_be_reached_is_not_called_deleted(tmp_path):
    folder, away = tmp_path / "data", tmp_path / "away"

    async def check(store: SqliteStore) -> None:
        await store.create(debate(1))
        folder.rename(away)
        folder.symlink_to(folder)  # as a folder without permissions is for anyone but root: something, but no way in
        with pytest.raises(NotWritable, match=r"m\.db can't be reached any more \(.*symbolic links\)"):
            await store.writable()
        folder.unlink()
        away.rename(folder)
        await store.writable()

    using(folder / "m.db", check)


def test_a_file_that_a_backup_was_written_over_takes_no_more_writes(tmp_path):
    path, backup = tmp_path / "m.db", tmp_path / "backup.db"
    using(path, lambda store: store.create(debate(1)))
    shutil.copyfile(path, backup)
    using(path, lambda store: store.create(debate(2, topic="long " * 100_000)))

    async def check(store: SqliteStore) -> None:
        await store.create(debate(3))
        whole = path.read_bytes()
        shutil.copyfile(backup, path)
        for write in (store.writable(), store.create(debate(4))):
            with pytest.raises(NotWritable, match="written over the database file m.db"):
                await write
        path.write_bytes(whole)  # what is remembered of it may be wrong all the same
        with pytest.raises(NotWritable, match="start moot again"):
            await store.writable()

    using(path, check)


def written_over(path: Path, backup: Path, prepare: Callable[[SqliteStore], Awaitable[object]]) -> None:
    """A backup of the same length or longer is copied over the file, which keeps its inode."""

    async def check(store: SqliteStore) -> None:
        await prepare(store)
        assert backup.stat().st_size >= path.stat().st_size
        inode = path.stat().st_ino
        shutil.copyfile(backup, path)
        assert path.stat().st_ino == inode
        for write in (store.writable(), store.create(debate(9))):
            with pytest.raises(NotWritable, match="written over the database file m.db"):
                await write

    using(path, check)


def test_a_backup_of_equal_length_that_is_written_over_is_noticed(tmp_path):
    path, backup = tmp_path / "m.db", tmp_path / "backup.db"
    using(path, lambda store: store.create(debate(1)))
    shutil.copyfile(path, backup)
    written_over(path, backup, lambda store: store.create(debate(2)))


def test_so_is_one_before_the_first_write(tmp_path):
    path, backup = tmp_path / "m.db", tmp_path / "backup.db"
    using(path, lambda store: store.create(debate(1)))
    shutil.copyfile(path, backup)
    written_over(path, backup, lambda store: store.page())


def test_so_is_a_longer_one_and_one_with_its_time_of_change(tmp_path):
    path, backup = tmp_path / "m.db", tmp_path / "backup.db"
    using(backup, lambda store: store.create(debate(1, topic="long " * 100_000)))

    async def prepare(store: SqliteStore) -> None:
        await store.create(debate(2))
        os.utime(backup, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))

    written_over(path, backup, prepare)


def test_so_is_one_after_a_checkpoint(tmp_path):
    path, backup = tmp_path / "m.db", tmp_path / "backup.db"

    async def prepare(store: SqliteStore) -> None:
        await store.create(debate(1, topic="long " * 100_000))
        assert await asyncio.to_thread(store._empty_log)
        shutil.copyfile(path, backup)
        await store.create(debate(2))

    written_over(path, backup, prepare)


CHECKPOINTS = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1], isolation_level=None)
other.execute("create table if not exists other (text)")
for n in range(200):
    other.execute("insert into other values (zeroblob(20000))")
    other.execute(f"pragma wal_checkpoint({('passive', 'restart', 'truncate')[n % 3]})")
"""


def test_checkpoints_here_and_of_other_processes_are_no_overwriting(tmp_path):
    path = tmp_path / "m.db"

    async def check(store: SqliteStore) -> None:
        await store.create(debate(0))
        other = await asyncio.create_subprocess_exec(sys.executable, "-c", CHECKPOINTS, str(path))
        ended = asyncio.create_task(other.wait())
        n = 0
        while not ended.done() or n < 50:
            n += 1
            await store.create(debate(n, topic="long " * 10_000))
            await store.writable()
        assert await ended == 0

    using(path, check)


def test_two_stores_of_one_process_keep_each_others_locks(tmp_path):
    """Closing a descriptor of SQLite's shared memory would drop the locks of every connection here."""
    path = tmp_path / "m.db"

    async def check(store: SqliteStore) -> None:
        await store.create(debate(1))
        other = SqliteStore(path)
        await other.create(debate(2))

        def hold(connection: sqlite3.Connection) -> str:
            asyncio.run(other.close())
            tried = subprocess.run([sys.executable, "-c", TRIES, str(path)], capture_output=True, text=True)
            return tried.stdout.strip()

        assert await store._writer.do(hold) == "database is locked"

    using(path, check)


TRIES = """
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("begin immediate")
except sqlite3.OperationalError as error:
    print(error)
"""


def test_a_file_that_has_become_unreadable_is_not_ready(tmp_path):
    path = tmp_path / "m.db"

    async def check(store: SqliteStore) -> None:
        await store.writable()
        was = path.stat()
        path.write_bytes(b"x" * was.st_size)
        os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
        with pytest.raises(StoreError, match="not a moot database .* Restore a backup"):
            await store.writable()

    using(path, check)


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """A disk of 20 MB of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if (
        not shutil.which("mount")
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=20m", "moot-test", str(folder)], check=False, capture_output=True
        ).returncode
    ):
        pytest.skip("a disk can only be mounted as root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_noticed_before_anything_fails_and_free_space_heals_it(small_disk):
    ballast = small_disk / "ballast"

    async def check(store: SqliteStore) -> None:
        await store.writable()
        ballast.write_bytes(b"x" * 5_000_000)
        with pytest.raises(NotWritable, match="The disk of the database is full"):
            await store.writable()
        await store.create(debate(1))  # there is some room left
        with pytest.raises(OSError, match="No space left"):
            ballast.write_bytes(b"x" * 30_000_000)
        with pytest.raises(NotWritable, match="disk is full"):
            await store.create(debate(2, topic="long " * 100_000))
        ballast.unlink()
        await store.writable()
        await store.create(debate(3))
        assert len((await store.page()).debates) == 2

    using(small_disk / "m.db", check)
