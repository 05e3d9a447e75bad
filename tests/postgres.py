"""A PostgreSQL server for the tests: one that was given, or one of our own that is gone when the run is.

MOOT_TEST_DATABASE_URL names a server on which databases may be created; every test gets a new one there, and nothing
else is touched. Without it a cluster is started in a temporary folder; all workers share it.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest

from perf.cluster import MISSING, PASSWORD, Cluster, a_cluster, binaries, hold, wait_until_gone

__all__ = ["PASSWORD", "Cluster", "Databases", "binaries", "execute", "other"]

GIVEN = "MOOT_TEST_DATABASE_URL"
RUN = "TESTS_OF_MOOT"  # the folder that the processes of one run share; set by the run itself
TEMPLATE = "moot_template"


def execute(url: str, *statements: str) -> list[Any]:
    """Run SQL over a connection of its own; return the rows of the last statement."""
    import asyncpg

    async def main() -> list[Any]:
        connection = await asyncpg.connect(url)
        try:
            rows: list[Any] = []
            for statement in statements:
                rows = await connection.fetch(statement)
            return rows
        finally:
            await connection.close()

    return asyncio.run(main())


class Databases:
    """Makes databases on a server: each with moot's current schema, or empty."""

    def __init__(self, url: str, template: str) -> None:
        self.url, self._template = url, template
        self._made: list[str] = []

    def make(self, *, empty: bool = False) -> str:
        name = f"moot_test_{uuid.uuid4().hex[:12]}"
        template = "template0" if empty else self._template
        execute(self.url, f"create database {name} template {template} strategy file_copy")  # half as long
        self._made.append(name)
        return other(self.url, name)

    def drop(self) -> None:
        for name in self._made:
            execute(self.url, f"drop database if exists {name} with (force)")
        self._made.clear()


def other(url: str, database: str) -> str:
    """The same server, another database."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))


@pytest.fixture(scope="session")
def shared_server() -> dict[str, str]:
    """The server that all processes of this run share: its address, and the template for databases."""
    run = Path(os.environ[RUN])
    with (run / "setup").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        told = run / "server.json"
        if not told.exists():
            url = os.environ.get(GIVEN) or _started(run)
            template = f"{TEMPLATE}_{uuid.uuid4().hex[:12]}"
            execute(url, f"create database {template} template template0")
            _migrate(other(url, template))
            told.write_text(json.dumps({"url": url, "template": template}))
    return json.loads(told.read_text())


@pytest.fixture
def databases(shared_server: dict[str, str]) -> Iterator[Databases]:
    made = Databases(shared_server["url"], shared_server["template"])
    yield made
    made.drop()


@pytest.fixture
def database_url(databases: Databases) -> str:
    """A database of its own for one test, with the current schema."""
    return databases.make()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A server of its own, to be stopped, restarted and given roles."""
    check_installed()
    with a_cluster() as made:
        yield made


def pytest_configure(config: pytest.Config) -> None:
    folder = Path(tempfile.mkdtemp(prefix="moot-tests-"))
    os.environ[RUN] = str(folder)  # workers inherit it
    alive = config.stash[_ALIVE] = hold(folder / "alive")
    os.register_at_fork(after_in_child=alive.close)  # a worker that outlives the run does not keep its server


def pytest_unconfigure(config: pytest.Config) -> None:
    alive = config.stash.get(_ALIVE, None)
    if alive is None:
        return
    folder = Path(os.environ.pop(RUN))
    told = folder / "server.json"
    if os.environ.get(GIVEN) and told.exists():
        server = json.loads(told.read_text())
        execute(server["url"], f"drop database if exists {server['template']} with (force)")
    alive.close()
    wait_until_gone(folder)
    shutil.rmtree(folder, ignore_errors=True)


def check_installed() -> None:
    if binaries() is None:
        raise RuntimeError(f"{MISSING}, or name a server on which databases may be created in {GIVEN}.")


_ALIVE = pytest.StashKey[Any]()


def _started(run: Path) -> str:
    check_installed()
    return Cluster.started(run, run / "alive").url()


def _migrate(url: str) -> None:
    from moot.store.postgres import PostgresStore

    async def main() -> None:
        store = PostgresStore(url)
        await store.open()
        await store.close()

    asyncio.run(main())
