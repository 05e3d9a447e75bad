"""How every command gets at the app, its database and a debate in it."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

from moot.app import App
from moot.cli.download import Download
from moot.cli.paper import forgive_encoding
from moot.config import Config, load
from moot.errors import InputError, NoSuchDebate, StoreError
from moot.runtime.runtime import Runtime
from moot.types import Debate


@asynccontextmanager
async def opened(args: Namespace, download: Download | None = None, *, measured: bool = False) -> AsyncGenerator[App]:
    """Nothing but the configuration is read, and nothing written, until the database is asked for."""
    forgive_encoding()
    environ = dict(os.environ)
    config = configured(args, environ)
    app = App(config.settings, environ, origins=config.origins, progress=download or Download(), measured=measured)
    try:
        yield app
    finally:
        await app.close()


def configured(args: Namespace, environ: Mapping[str, str]) -> Config:
    if args.db is not None and not args.db.strip():
        raise InputError("--db needs the path of a file.")
    return load(environ, flags={} if args.db is None else {"database_url": ("--db", args.db)})


async def database(app: App) -> Runtime:
    """Open the database, and create it if there is none. One that can't be used is the caller's to fix."""
    try:
        runtime = app.runtime
        await runtime.store.open()
    except StoreError as error:
        said = str(error) if not isinstance(app.database, Path) or str(app.database) in str(error) else ""
        raise InputError(said or f"{app.database}: {error}") from error
    return runtime


async def find(app: App, prefix: str) -> Debate:
    """Looking for a debate never creates a database."""
    if not app.database.exists():
        raise NoSuchDebate(prefix)
    runtime = await database(app)
    return await runtime.store.get(await runtime.find(prefix))


def wants_screen(args: Namespace) -> bool:
    """Whether someone sits at a terminal that can move its cursor."""
    return sys.stdout.isatty() and not args.plain and not args.json and os.environ.get("TERM", "dumb") != "dumb"


def logged(app: App) -> None:
    """For commands that run for long: one place that says how logs are written."""
    from moot.telemetry.logs import configure, secrets_in

    database = app.settings.database_url or ""
    password = ""
    with suppress(ValueError):
        password = unquote(urlsplit(database).password or "")
    configure(app.settings.log_format, app.settings.log_level, secrets={*secrets_in(app.environ), password})
