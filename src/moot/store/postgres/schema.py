"""The numbered migrations. Many processes may start at once: one migrates, the others wait and find it done."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from moot.errors import StoreError, WrongSchema
from moot.store.postgres.address import Address
from moot.store.postgres.link import Link

OLDEST_SERVER = 13
_LOCK = 0x6D6F6F74  # "moot"


@cache
def migrations() -> Sequence[str]:
    folder = files("moot.store.postgres") / "migrations"
    return [
        entry.read_text() for entry in sorted(folder.iterdir(), key=lambda e: e.name) if entry.name.endswith(".sql")
    ]


async def version_of(link: Link) -> int:
    """0 when there is nothing of moot's; raises StoreError when there is, but of another program."""
    # Not `to_regclass`: in a transaction it answers from a cache that is older than the lock we may have waited for.
    rows = await link.fetch(
        "select relname from pg_class where relname in ('moot_schema', 'debate_sessions') and pg_table_is_visible(oid)"
    )
    tables = {row["relname"] for row in rows}
    if "moot_schema" in tables:
        rows = await link.fetch("select max(version) as version from moot_schema")
        return rows[0]["version"] or 0
    if tables:
        raise StoreError("The database has tables of another program under moot's names. Choose another with --db.")
    return 0


async def check_server(link: Link) -> None:
    (server,) = await link.fetch(
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


async def migrate(link: Link, address: Address) -> int:
    """Bring the schema up to date, all or nothing; gives its version. Raises WrongSchema when it is newer."""
    newest = len(migrations())
    version = await version_of(link)
    if version < newest:
        async with link.transaction():
            await link.execute("set local lock_timeout = '30s'")
            await link.execute(f"select pg_advisory_xact_lock({_LOCK})")
            version = await version_of(link)  # another process may have been first
            if version < newest:
                if version == 0:
                    await link.execute("create table moot_schema (version integer primary key)")
                for number, text in enumerate(migrations()[version:], version + 1):
                    await link.execute(text)
                    await link.execute(f"insert into moot_schema values ({number})")
                version = newest
    if version > newest:
        raise WrongSchema(
            f"The database {address} has schema {version}, this moot knows {newest}. "
            "Upgrade moot, or choose another database with --db."
        )
    return version
