"""Opening the app, its database and a debate, as every command needs them."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

from moot.app import App
from moot.cli.download import Download
from moot.cli.printer import replace_unprintable
from moot.config import Config, load
from moot.core.ceilings import for_server
from moot.core.errors import InputError, NoSuchDebate, StoreError
from moot.core.settings import Ceilings, read
from moot.core.types import Debate
from moot.runtime.runtime import Runtime


@asynccontextmanager
async def open_app(args: Namespace, download: Download | None = None, *, measured: bool = False) -> AsyncGenerator[App]:
    """The app for a command. Reads the configuration only; the database is opened by `open_database`."""
    replace_unprintable()
    environ = dict(os.environ)
    config = load_config(args, environ)
    app = App(config.settings, environ, origins=config.origins, progress=download or Download(), measured=measured)
    try:
        yield app
    finally:
        await app.close()


def load_config(args: Namespace, environ: Mapping[str, str]) -> Config:
    if args.db is not None and not args.db.strip():
        raise InputError("--db is empty. Give the path of a file, or the address of a PostgreSQL database.")
    return load(environ, flags={} if args.db is None else {"database_url": ("--db", args.db)})


def ceilings_of(app: App, args: Namespace, *, server: bool = True) -> Ceilings:
    """The ceilings of a command that runs for others: the configured ones, those given as `--ceiling NAME=VALUE`, and
    for a `server` the default."""
    given = app.settings.ceilings.model_dump(exclude_none=True)
    for pair in args.ceiling:
        name, equals, value = pair.partition("=")
        if not equals:
            raise InputError(f"--ceiling takes name=value, for example --ceiling day_usd=20; this is {pair!r}.")
        given[name.strip()] = value.strip()
    ceilings = read(Ceilings, given, "ceiling")
    return for_server(ceilings) if server else ceilings


async def open_database(app: App) -> Runtime:
    """Open the database, creating it if there is none. Raises InputError if it can't be used."""
    with as_input_errors(app):
        runtime = app.runtime
        await runtime.store.open()
        return runtime


@contextmanager
def as_input_errors(app: App) -> Generator[None]:
    """Raise InputError, which names the database, for one that can't be used."""
    try:
        yield
    except StoreError as error:
        named = not isinstance(app.database, Path) or str(app.database) in str(error)
        raise InputError(str(error) if named else f"{app.database}: {error}") from error


async def find_debate(app: App, prefix: str) -> Debate:
    """The debate whose id begins with `prefix`. Never creates a database."""
    if not app.database.exists():
        raise NoSuchDebate(prefix)
    runtime = await open_database(app)
    return await runtime.store.get(await runtime.find(prefix))


def is_interactive(args: Namespace) -> bool:
    """Whether standard output is a terminal that can move its cursor, and no plain or JSON output is asked for."""
    return sys.stdout.isatty() and not args.plain and not args.json and os.environ.get("TERM", "dumb") != "dumb"


def configure_logging(app: App) -> None:
    """Log as the settings say, for commands that run for long. Keys and passwords are masked."""
    from moot.telemetry.logs import configure, secrets_in

    password = ""
    with suppress(ValueError):
        password = unquote(urlsplit(app.settings.database_url or "").password or "")
    configure(app.settings.log_format, app.settings.log_level, secrets={*secrets_in(app.environ), password})
