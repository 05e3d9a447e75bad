"""Opening the app, its database and a debate, as every command needs them."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from urllib.parse import unquote, urlsplit

from moot.app import App
from moot.cli.download import Download
from moot.cli.printer import replace_unprintable
from moot.client import Client
from moot.config import Config, load
from moot.core.ceilings import for_server
from moot.core.errors import InputError
from moot.core.settings import Ceilings, read


@asynccontextmanager
async def open_app(args: Namespace, download: Download | None = None, *, measured: bool = False) -> AsyncGenerator[App]:
    """The app for a command. Reads the configuration only; `App.open` opens the database."""
    replace_unprintable()
    environ = dict(os.environ)
    config = load_config(args, environ)
    app = App(config.settings, environ, origins=config.origins, progress=download or Download(), measured=measured)
    try:
        yield app
    finally:
        await app.close()


@asynccontextmanager
async def open_client(args: Namespace, download: Download | None = None) -> AsyncGenerator[Client]:
    """What a command does with debates, for the user of this machine. Debates run in this process."""
    async with open_app(args, download) as app:
        yield Client(app)


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
