"""`/readyz` tells the truth about real databases: deleted, replaced, written over, locked, full."""

from __future__ import annotations

import asyncio
import gc
import math
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import asyncpg
import pytest

from moot.core.errors import StoreError
from moot.server.probe import Probe
from moot.store import Store
from moot.store.patience import patience
from moot.store.sqlite.file import LEAST_FREE_BYTES
from tests.server.serving import Served, served
from tests.store.test_sqlite_file import GONE, small_disk

pytestmark = pytest.mark.slow

__all__ = ["small_disk"]


def check(server: Served, status: int) -> dict[str, Any]:
    response = server.get("/readyz")
    assert response.status_code == status, response.text
    assert response.json()["status"] == ("ready" if status == 200 else "not ready")
    return next(each for each in response.json()["checks"] if each["name"] == "database")


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_is_gone(tmp_path: Path, replaced: bool, caplog: pytest.LogCaptureFixture):
    with served(tmp_path) as server:
        done = server.completed(settings={"max_rounds": 1})
        check(server, 200)
        os.unlink(tmp_path / "moot.db")
        if replaced:
            sqlite3.connect(tmp_path / "moot.db").close()
            (tmp_path / "moot.db").touch()
        assert GONE in check(server, 503)["detail"]
        refused = server.ask()
        assert refused.status_code == 503
        assert "tell whoever runs this server" in refused.json()["detail"]
        assert GONE in caplog.text, "the log says why"
        assert server.debate(done["id"])["status"] == "completed"  # what is known can still be read
        assert server.get("/healthz").status_code == 200


def test_a_file_that_something_was_written_over(tmp_path: Path):
    with served(tmp_path) as server:
        check(server, 200)
        (tmp_path / "moot.db").write_bytes(b"")
        assert "written over the database file moot.db" in check(server, 503)["detail"]
        assert server.ask().status_code == 503


def test_a_locked_file_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(patience.get(), "seconds", math.inf)  # what has no patience of its own waits for the end
    with served(tmp_path) as server, closing(sqlite3.connect(tmp_path / "moot.db", isolation_level=None)) as other:
        check(server, 200)
        other.execute("begin exclusive")
        with monkeypatch.context() as quick:
            quick.setattr("moot.server.probe.PROBE_SECONDS", 0.1)
            assert "another process may hold it" in check(server, 503)["detail"]
            assert "another process may hold it" in check(server, 503)["detail"]
        other.execute("rollback")
        server.get("/readyz")  # may still be the one that waited
        check(server, 200)


async def test_a_locked_table_is_not_waited_for(tmp_path: Path, database_url: str):
    with served(tmp_path, database_url=database_url) as server:
        check(server, 200)
        connection = await asyncpg.connect(database_url)
        async with connection.transaction():
            await connection.execute("lock table debate_sessions in access exclusive mode")
            assert "another process may hold it" in check(server, 503)["detail"]
        await connection.close()
        server.get("/readyz")
        check(server, 200)


def test_a_full_disk(small_disk: Path, tmp_path: Path):
    with served(tmp_path, database_url=str(small_disk / "moot.db")) as server:
        check(server, 200)
        (small_disk / "ballast").write_bytes(b"x" * (20 * 2**20 - LEAST_FREE_BYTES))
        assert "full" in check(server, 503)["detail"]
        (small_disk / "ballast").unlink()
        check(server, 200)


async def test_an_error_that_comes_late_is_not_logged_as_forgotten(monkeypatch: pytest.MonkeyPatch):
    class Held:
        async def writable(self) -> None:
            await given_up.wait()
            raise StoreError("held")

    given_up, forgotten = asyncio.Event(), list[dict[str, Any]]()
    asyncio.get_running_loop().set_exception_handler(lambda _, about: forgotten.append(about))
    monkeypatch.setattr("moot.server.probe.PROBE_SECONDS", 0)
    probe = Probe(cast(Store, Held()))
    assert not await probe.run()
    given_up.set()
    while not probe._task.done():
        await asyncio.sleep(0)
    probe._task = None
    gc.collect()
    await asyncio.sleep(0)
    assert not forgotten
