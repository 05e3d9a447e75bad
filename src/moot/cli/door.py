"""How every command gets at the app, its database and a debate in it."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from moot.app import App
from moot.cli.download import Download
from moot.cli.paper import forgive_encoding
from moot.errors import InputError, NoSuchDebate, StoreError
from moot.runtime.runtime import Runtime
from moot.settings import Settings
from moot.types import Debate


@asynccontextmanager
async def opened(args: Namespace, download: Download | None = None) -> AsyncGenerator[App]:
    """Nothing is read or written until the database is asked for."""
    forgive_encoding()
    environ = dict(os.environ)
    if args.db is not None:
        if not args.db.strip():
            raise InputError("--db needs the path of a file.")
        environ["MOOT_DATABASE_URL"] = args.db
    app = App(Settings.from_env(environ), environ, progress=download or Download())
    try:
        yield app
    finally:
        await app.close()


def database(app: App) -> Runtime:
    """Open the database, and create it if there is none. One that can't be used is the caller's to fix."""
    try:
        return app.runtime
    except StoreError as error:
        raise InputError(str(error) if str(app.database) in str(error) else f"{app.database}: {error}") from error


async def find(app: App, prefix: str) -> Debate:
    """Looking for a debate never creates a database."""
    if not app.database.exists():
        raise NoSuchDebate(prefix)
    runtime = database(app)
    return await runtime.store.get(await runtime.find(prefix))


def wants_screen(args: Namespace) -> bool:
    """Whether someone sits at a terminal that can move its cursor."""
    return sys.stdout.isatty() and not args.plain and not args.json and os.environ.get("TERM", "dumb") != "dumb"
