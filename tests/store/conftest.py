"""Tests may be coroutines, and have stores that are closed in the end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from moot.store.postgres import PostgresStore
from moot.store.sqlite import SqliteStore
from tests.coroutines import Opened
from tests.postgres import Cluster, execute, other
from tests.store.samples import Clock


@asynccontextmanager
async def closing_store(store: Any) -> AsyncIterator[Any]:
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def on_sqlite(opened: Opened, tmp_path, clock) -> SqliteStore:
    return opened(closing_store(SqliteStore(tmp_path / "moot.db", clock=clock)))


@pytest.fixture
def on_postgres(opened: Opened, database_url: str, clock) -> PostgresStore:
    return opened(closing_store(PostgresStore(database_url, clock=clock)))


@pytest.fixture
def database_to_restart(cluster: Cluster) -> str:
    """On a server that can be restarted."""
    execute(cluster.url(), "drop database if exists restarted with (force)", "create database restarted")
    return other(cluster.url(), "restarted")
