"""Connections to the file, and the statements under `sql/`."""

from __future__ import annotations

import sqlite3
from functools import cache
from importlib.resources import files
from pathlib import Path

from moot.store.copies import with_columns
from moot.store.patience import BUSY_SECONDS


def connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    connection.create_function("lowered", 1, str.lower, deterministic=True)  # SQLite's lower() knows ASCII only
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = full")
    connection.execute("pragma foreign_keys = on")
    connection.execute("pragma secure_delete = on")  # what is deleted is overwritten, too
    return connection


def load_statements() -> None:
    """Read every statement, so that a debate under way needs no file."""
    for file in (files("moot.store.sqlite") / "sql").iterdir():
        sql(file.name.removesuffix(".sql"))


@cache
def sql(name: str) -> str:
    return with_columns((files("moot.store.sqlite") / "sql" / f"{name}.sql").read_text())
