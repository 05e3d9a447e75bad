"""Numbered migrations. A file's schema version is its `user_version`; its `application_id` tells whether it was made
from the migrations that this moot knows."""

from __future__ import annotations

import glob
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from pathlib import Path

from moot.core.errors import StoreError
from moot.store import DatabaseStatus
from moot.store.migrations import check_schema, fingerprint, read_migrations
from moot.store.patience import BUSY_SECONDS
from moot.store.sqlite.connection import sql
from moot.store.sqlite.writer import readable


@cache
def migrations() -> Sequence[str]:
    return read_migrations("moot.store.sqlite")


def migrate(connection: sqlite3.Connection) -> int:
    """Bring the schema up to date in one transaction; return its version."""
    newest = len(migrations())
    if _version(connection) == newest:
        return newest
    connection.execute("begin immediate")
    try:
        version = _version(connection)  # another process may have been first
        for text in migrations()[version:]:
            for statement in _statements(text):
                connection.execute(statement)
        connection.execute(f"pragma application_id = {fingerprint(migrations())}")
        connection.execute(f"pragma user_version = {newest}")
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise
    return newest


def check_file(path: Path) -> None:
    """Raises WrongSchema or StoreError when the file is not a database this moot may open. Changes nothing in it, not
    even the journal mode."""
    if not path.is_file() or not path.stat().st_size:
        return
    with closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as connection:
        version = _version(connection)
        _refuse_foreign(path, connection, version)
        check_schema(str(path), version, _value(connection, "application_id"), migrations())


def database_status(path: Path) -> DatabaseStatus:
    """Read a file's status without creating or changing it."""
    newest = len(migrations())
    if not path.is_file() or not path.stat().st_size:
        return DatabaseStatus(place=str(path), version=0, newest=newest)
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)) as reader:
            version = _version(reader)
            _refuse_foreign(path, reader, version)
            if version <= newest:
                check_schema(str(path), version, _value(reader, "application_id"), migrations())
            if not version:
                return DatabaseStatus(place=str(path), version=0, newest=newest)
            return DatabaseStatus(
                place=str(path),
                version=version,
                newest=newest,
                debates=dict(reader.execute(sql("counts")).fetchall()),
                turns=reader.execute("select coalesce(sum(turn_count), 0) from debate_sessions").fetchone()[0],
                bytes=sum(each.stat().st_size for each in path.parent.glob(f"{glob.escape(path.name)}*")),
            )
    except sqlite3.Error as error:
        raise readable(error) from error


def _refuse_foreign(path: Path, connection: sqlite3.Connection, version: int) -> None:
    if not version and connection.execute("select count(*) from sqlite_master").fetchone()[0]:
        raise StoreError(f"The database {path} belongs to another program. Choose another with --db.")


def _version(connection: sqlite3.Connection) -> int:
    return _value(connection, "user_version")


def _value(connection: sqlite3.Connection, pragma: str) -> int:
    return connection.execute(f"pragma {pragma}").fetchone()[0]


def _statements(text: str) -> Sequence[str]:
    found: list[str] = []
    pending = ""
    for line in text.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending)
            pending = ""
    return found
