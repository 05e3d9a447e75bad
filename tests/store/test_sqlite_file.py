"""A database file that is deleted, replaced, written over or put back while it is open, and a disk that fills up."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.core.errors import NotWritable, StoreError
from moot.store.sqlite import SqliteStore
from tests.store.conftest import closing_store
from tests.store.samples import debate

GONE = "was deleted or replaced while moot had it open"


@pytest.fixture
def store(on_sqlite: SqliteStore) -> SqliteStore:
    return on_sqlite


async def written(path: Path, n: int, topic: str = "Tea?") -> Path:
    """A file that another process has written a debate to, and closed."""
    async with closing_store(SqliteStore(path)) as store:
        await store.create(debate(n, topic=topic))
    return path


async def refuses(store: SqliteStore) -> None:
    for write in (store.writable(), store.create(debate(2)), store.drop_token("x")):
        with pytest.raises(NotWritable, match=GONE):
            await write


@pytest.mark.parametrize("first_write", [True, False], ids=["after a write", "before the first write"])
async def test_a_deleted_file_takes_no_more_writes(store, first_write):
    if first_write:
        await store.create(debate(1))
    store.path.unlink()
    await refuses(store)


async def test_a_replaced_file_takes_no_more_writes(store, tmp_path):
    await store.create(debate(1))
    os.replace(await written(tmp_path / "other.db", 7), store.path)
    await refuses(store)


async def test_neither_does_one_whose_log_is_gone(store):
    """What was not yet copied from the log would be lost when the process is killed."""
    await store.create(debate(1))
    store.path.with_name("moot.db-wal").unlink()
    await refuses(store)


async def test_a_file_that_is_put_back_goes_on(store, tmp_path):
    await store.create(debate(1))
    store.path.rename(tmp_path / "away.db")
    await refuses(store)
    (tmp_path / "away.db").rename(store.path)
    await store.create(debate(3))
    assert len((await store.page()).debates) == 2
    await store.close()
    await written(store.path, 4)


async def test_a_file_that_goes_away_during_a_write_has_not_stored_it(store):
    with pytest.raises(NotWritable, match=GONE):
        await store._writer.do(lambda _: store.path.unlink())


async def test_a_file_that_can_not_be_reached_is_not_called_deleted(tmp_path):
    folder, away = tmp_path / "data", tmp_path / "away"
    async with closing_store(SqliteStore(folder / "m.db")) as store:
        await store.create(debate(1))
        folder.rename(away)
        folder.symlink_to(folder)  # as a folder without permissions is for anyone but root: something, but no way in
        with pytest.raises(NotWritable, match=r"m\.db can't be reached any more \(.*symbolic links\)"):
            await store.writable()
        folder.unlink()
        away.rename(folder)
        await store.writable()


async def notices_the_overwriting(store: SqliteStore, backup: Path) -> None:
    """A backup is copied over the file, which keeps its inode."""
    inode = store.path.stat().st_ino
    shutil.copyfile(backup, store.path)
    assert store.path.stat().st_ino == inode
    for write in (store.writable(), store.create(debate(9))):
        with pytest.raises(NotWritable, match="written over the database file m.db"):
            await write


async def test_a_file_that_a_backup_was_written_over_takes_no_more_writes(tmp_path):
    path = await written(tmp_path / "m.db", 1)
    backup = shutil.copyfile(path, tmp_path / "backup.db")
    await written(path, 2, "long " * 100_000)
    async with closing_store(SqliteStore(path)) as store:
        await store.create(debate(3))
        whole = path.read_bytes()
        await notices_the_overwriting(store, backup)
        path.write_bytes(whole)  # what is remembered of it may be wrong all the same
        with pytest.raises(NotWritable, match="start moot again"):
            await store.writable()


@pytest.mark.parametrize("first_write", [True, False], ids=["after a write", "before the first write"])
async def test_a_backup_of_equal_length_that_is_written_over_is_noticed(tmp_path, first_write):
    path = await written(tmp_path / "m.db", 1)
    backup = shutil.copyfile(path, tmp_path / "backup.db")
    async with closing_store(SqliteStore(path)) as store:
        await (store.create(debate(2)) if first_write else store.page())
        assert backup.stat().st_size >= path.stat().st_size
        await notices_the_overwriting(store, backup)


async def test_so_is_a_longer_one_and_one_with_its_time_of_change(tmp_path):
    path, backup = tmp_path / "m.db", await written(tmp_path / "backup.db", 1, "long " * 100_000)
    async with closing_store(SqliteStore(path)) as store:
        await store.create(debate(2))
        os.utime(backup, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
        assert backup.stat().st_size > path.stat().st_size
        await notices_the_overwriting(store, backup)


async def test_so_is_one_after_a_checkpoint(tmp_path):
    path = tmp_path / "m.db"
    async with closing_store(SqliteStore(path)) as store:
        await store.create(debate(1, topic="long " * 100_000))
        assert await asyncio.to_thread(store._empty_log)
        backup = shutil.copyfile(path, tmp_path / "backup.db")
        await store.create(debate(2))
        await notices_the_overwriting(store, backup)


CHECKPOINTS = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1], isolation_level=None)
other.execute("create table if not exists other (text)")
for n in range(200):
    other.execute("insert into other values (zeroblob(20000))")
    other.execute(f"pragma wal_checkpoint({('passive', 'restart', 'truncate')[n % 3]})")
"""


async def test_checkpoints_here_and_of_other_processes_are_no_overwriting(store):
    await store.create(debate(0))
    other = await asyncio.create_subprocess_exec(sys.executable, "-c", CHECKPOINTS, str(store.path))
    ended = asyncio.create_task(other.wait())
    n = 0
    while not ended.done() or n < 50:
        n += 1
        await store.create(debate(n, topic="long " * 10_000))
        await store.writable()
    assert await ended == 0


TRIES = """
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("begin immediate")
except sqlite3.OperationalError as error:
    print(error)
"""


async def test_two_stores_of_one_process_keep_each_others_locks(store):
    """Closing a descriptor of SQLite's shared memory would drop the locks of every connection here."""
    await store.create(debate(1))
    other = SqliteStore(store.path)
    await other.create(debate(2))

    def hold(connection: sqlite3.Connection) -> str:
        asyncio.run(other.close())
        tried = subprocess.run([sys.executable, "-c", TRIES, str(store.path)], capture_output=True, text=True)
        return tried.stdout.strip()

    assert await store._writer.do(hold) == "database is locked"


async def test_a_file_that_has_become_unreadable_is_not_ready(store):
    await store.writable()
    was = store.path.stat()
    store.path.write_bytes(b"x" * was.st_size)
    os.utime(store.path, ns=(was.st_atime_ns, was.st_mtime_ns))
    with pytest.raises(StoreError, match="not a moot database .* Restore a backup"):
        await store.writable()


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


async def test_a_full_disk_is_noticed_before_anything_fails_and_free_space_heals_it(small_disk):
    ballast = small_disk / "ballast"
    async with closing_store(SqliteStore(small_disk / "m.db")) as store:
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
