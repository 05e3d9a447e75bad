"""Numbered migrations. When many processes start at once, one migrates while the others wait for its lock."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from moot.core.errors import StoreError
from moot.store import DatabaseStatus
from moot.store.migrations import check_schema, fingerprint, read_migrations
from moot.store.postgres.address import Address, read_address
from moot.store.postgres.connections import Connection, connect, sql
from moot.store.postgres.faults import readable

OLDEST_SERVER = 13
_LOCK = 0x6D6F6F74  # "moot"


@cache
def migrations() -> Sequence[str]:
    return read_migrations("moot.store.postgres")


async def version_of(connection: Connection) -> tuple[int, int]:
    """The version of the schema and its fingerprint; zeros when there are no tables. Raises StoreError when there are
    some, but another program's."""
    # Not `to_regclass`: in a transaction its answer may be older than the lock that we waited for.
    rows = await connection.fetch(
        "select relname from pg_class where relname in ('moot_schema', 'debate_sessions') and pg_table_is_visible(oid)"
    )
    tables = {row["relname"] for row in rows}
    if "moot_schema" in tables:
        # Not by the column's name: tables of another build may not have it.
        rows = await connection.fetch(
            "select version, coalesce((to_jsonb(moot_schema) ->> 'fingerprint')::integer, 0) as fingerprint"
            " from moot_schema order by version desc limit 1"
        )
        return (rows[0]["version"], rows[0]["fingerprint"]) if rows else (0, 0)
    if tables:
        raise StoreError("The database has tables of another program under moot's names. Choose another with --db.")
    return 0, 0


async def check_server(connection: Connection) -> None:
    """Raises StoreError when the server is too old or the database can't hold every text."""
    (server,) = await connection.fetch(
        "select current_setting('server_version_num')::integer / 10000 as version,"
        " current_setting('server_encoding') as encoding"
    )
    if server["version"] < OLDEST_SERVER:
        raise StoreError(
            f"The server runs PostgreSQL {server['version']}; moot needs {OLDEST_SERVER} or newer. "
            "Upgrade it, or choose another with --db."
        )
    if server["encoding"] != "UTF8":
        raise StoreError(
            f"The database is encoded as {server['encoding']}, which can't hold every text. "
            "Create one with `createdb --encoding UTF8 --template template0 NAME`."
        )


async def migrate(connection: Connection, address: Address) -> int:
    """Bring the schema up to date in one transaction; return its version. Raises WrongSchema when it is newer or of
    another build."""
    known = migrations()
    newest = len(known)
    version, found = await version_of(connection)
    check_schema(str(address), version, found, known)
    if version < newest:
        async with connection.transaction():
            await connection.execute("set local lock_timeout = '30s'")
            await connection.execute(f"select pg_advisory_xact_lock({_LOCK})")
            version, found = await version_of(connection)  # another process may have been first
            check_schema(str(address), version, found, known)
            if version == 0:
                await connection.execute(
                    "create table moot_schema (version integer primary key, fingerprint integer not null)"
                )
            for number in range(version + 1, newest + 1):
                await connection.execute(known[number - 1])
                await connection.execute(f"insert into moot_schema values ({number}, {fingerprint(known[:number])})")
    return newest


async def database_status(url: str) -> DatabaseStatus:
    """Read a database's status without changing it."""
    address = read_address(url)
    connection: Connection | None = None
    try:
        connection = await connect(address)
        version, found = await version_of(connection)
        if version <= len(migrations()):
            check_schema(str(address), version, found, migrations())
        if not version:
            return DatabaseStatus(place=str(address), version=0, newest=len(migrations()))
        (sizes,) = await sql("sizes").on(connection, {})
        counts = await sql("counts").on(connection, {})
        return DatabaseStatus(
            place=str(address),
            version=version,
            newest=len(migrations()),
            debates={row["status"]: row["count"] for row in counts},
            turns=sizes["turns"],
            bytes=sizes["bytes"],
        )
    except Exception as error:
        raise readable(error, address, opening=True) from error
    finally:
        if connection is not None:
            await connection.close(timeout=2)
