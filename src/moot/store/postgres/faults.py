"""What goes wrong between here and the server, in words that say what to do."""

from __future__ import annotations

import errno
import os
import socket

from moot.errors import InputError, MootError, NotWritable, StoreError
from moot.store.postgres.address import Address

LOST = ("08", "57P01", "57P02", "57P03", "57P05")  # the connection, or the server, is gone or not yet there
NOT_YET = ("57P03", "53300")  # it starts, stops, or has no connection to spare
CLASHED = ("40001", "40P01")  # nothing was written, and the next try may get through
UNIQUE = "23505"
_DENIED = ("28P01", "28000")


def state(error: BaseException) -> str:
    """PostgreSQL's code for the error; empty when it is not the server that complains."""
    return getattr(error, "sqlstate", None) or ""


def is_lost(error: BaseException) -> bool:
    """The server may be back soon. What was under way may have been written."""
    code = state(error)
    if code:
        return code.startswith(LOST) or code in NOT_YET
    closed = type(error).__name__ in ("InterfaceError", "InternalClientError")  # asyncpg: "connection is closed"
    return isinstance(error, OSError) or closed  # a time-out is an OSError, too


def readable(error: Exception, address: Address, *, opening: bool = False) -> Exception:
    """`opening`: nothing has worked yet, so the address is what to look at."""
    if isinstance(error, MootError):
        return error
    code, text = state(error), _said(error)
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
            f"A privilege is missing in {address} ({text}). Let its owner run `moot db migrate` and grant what "
            "docs/database.md lists, or use a database of your own."
        )
    if code == "3F000":
        return NotWritable(
            f"There is no schema in {address} that {user} may use ({text}). Let its owner grant what docs/database.md "
            "lists, or name another schema with ?search_path=…"
        )
    if code == "25006":
        return NotWritable(
            f"The database {address} is read-only ({text}). Give the address of the primary server with --db."
        )
    if code == "53100":
        return NotWritable(
            f"{server} has no disk space left ({text}). Free some, then `moot resume`: what is stored is whole."
        )
    if code == "53300":
        return StoreError(
            f"{server} has no connection to spare ({text}). Raise its max_connections, or run fewer processes."
        )
    if code == "42P01":
        return StoreError(f"A table is missing in {address} ({text}). Run `moot db migrate`, or restore a backup.")
    if code == "55P03":
        return StoreError(f"Another transaction holds a table of {address} ({text}). Wait for it, and try again.")
    if code and not is_lost(error):
        return StoreError(f"PostgreSQL: {text}.{' Check --db or MOOT_DATABASE_URL.' if opening else ''}")
    if not opening and isinstance(error, ValueError):
        return StoreError(f"PostgreSQL can't take this: {text}.")
    if type(error).__name__ == "ClientConfigurationError" or isinstance(error, ValueError):
        # The driver quotes what it can't read, and that may be a password.
        return InputError(f"The address of the database {address} can't be used. See docs/database.md for its forms.")
    if opening:
        return StoreError(
            f"{server} does not answer ({text}). Start it, or check host and port in --db or MOOT_DATABASE_URL."
        )
    return StoreError(f"{server} is gone ({text}). What is stored is whole: `moot resume` goes on when it is back.")


def _said(error: Exception) -> str:
    if isinstance(error, socket.gaierror):
        return "no such host"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    text = str(error).partition("\n")[0].rstrip(".")
    if "Connect call failed" in text:  # by several ways, none of which led there
        return os.strerror(errno.ECONNREFUSED)
    return text or ("no answer in time" if isinstance(error, TimeoutError) else type(error).__name__)
