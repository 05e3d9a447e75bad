"""Errors of the server and the connection: which can be retried, and what to tell people."""

from __future__ import annotations

import errno
import os
import socket

from moot.core.errors import DatabaseAway, InputError, MootError, NotWritable, StoreError
from moot.store.postgres.address import Address

LOST = ("08", "57P01", "57P02", "57P03", "57P05")  # connection or server gone, or not there yet
NOT_YET = ("57P03", "53300")  # starting, stopping, or out of connections
CLASHED = ("40001", "40P01")  # serialization failure or deadlock: nothing was written, a retry may succeed
UNIQUE = "23505"
DELETED = "MD410"  # raised by the trigger that keeps deleted debates from being created anew
_DENIED = ("28P01", "28000")


def sqlstate(error: BaseException) -> str:
    """Return PostgreSQL's error code; empty when the error did not come from the server."""
    return getattr(error, "sqlstate", None) or ""


def is_lost(error: BaseException) -> bool:
    """Whether the server may be back soon. A write that was under way may have been made."""
    code = sqlstate(error)
    if code:
        return code.startswith(LOST) or code in NOT_YET
    closed = type(error).__name__ in ("InterfaceError", "InternalClientError")  # asyncpg: "connection is closed"
    return isinstance(error, OSError) or closed  # TimeoutError is an OSError


def readable(error: Exception, address: Address, *, opening: bool = False) -> Exception:
    """Translate an error into one that says what to do. `opening`: nothing has worked yet, so suspect the address."""
    if isinstance(error, MootError):
        return error
    code, text = sqlstate(error), _message(error)
    server = f"The PostgreSQL server at {address.server}" if address.server else "The PostgreSQL server"
    user = f"user {address.user!r}" if address.user else "you"
    if code in _DENIED:
        return StoreError(
            f"{server} does not let {user} in ({text}). Check user and password in --db or MOOT_DATABASE_URL."
        )
    if code == "3D000":
        return StoreError(
            f"{server} has no database {address.database!r}. "
            f"Create it with `createdb {address.database}`, or name another with --db."
        )
    if code == "42501":
        return NotWritable(
            f"A privilege is missing in {address} ({text}). Use a database of your own, or let the owner of this one "
            "grant what docs/database.md lists and bring the schema up to date.",
            remedy="migrate",
        )
    if code == "3F000":
        return NotWritable(
            f"There is no schema in {address} that {user} may use ({text}). Let its owner grant what docs/database.md "
            "lists, or name another schema with ?search_path=…"
        )
    if code == "25006":
        return NotWritable(
            f"The database {address} is read-only ({text}). Give the address of the primary server.", remedy="database"
        )
    if code == "53100":
        return NotWritable(
            f"{server} has no disk space left ({text}). What is stored is whole: free some, then go on.",
            remedy="resume",
        )
    if code == "53300":
        return DatabaseAway(
            f"{server} has no connection to spare ({text}). Raise its max_connections, or run fewer processes."
        )
    if code == "42P01":
        missing = f"A table is missing in {address} ({text}). Restore a backup, or bring the schema up to date."
        return StoreError(missing, remedy="migrate")
    if code == "55P03":
        return StoreError(f"Another transaction holds a table of {address} ({text}). Wait for it, and try again.")
    if code and not is_lost(error):
        return StoreError(f"PostgreSQL: {text}.{' Check --db or MOOT_DATABASE_URL.' if opening else ''}")
    if not opening and isinstance(error, ValueError):
        return StoreError(f"PostgreSQL can't take this: {text}.")
    if type(error).__name__ == "ClientConfigurationError" or isinstance(error, ValueError):
        # The driver quotes what it can't read, and that may be a password.
        return InputError(f"The address of the database {address} can't be used. See docs/database.md for its forms.")
    away = DatabaseAway if is_lost(error) else StoreError
    if opening:
        return away(
            f"{server} does not answer ({text}). Start it, or check host and port in --db or MOOT_DATABASE_URL."
        )
    gone = f"{server} is gone ({text}). What is stored is whole: when it is back, go on."
    return away(gone, remedy="resume")


def _message(error: Exception) -> str:
    if isinstance(error, socket.gaierror):
        return "no such host"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    text = str(error).partition("\n")[0].rstrip(".")
    if "Connect call failed" in text:  # several addresses were tried, and all failed
        return os.strerror(errno.ECONNREFUSED)
    return text or ("no answer in time" if isinstance(error, TimeoutError) else type(error).__name__)
