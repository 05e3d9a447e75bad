"""Opening moot: the same store, configuration and models as the command line, unless other ones are given."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from moot.app import App
from moot.client import Client
from moot.config import Config, load
from moot.core.errors import InputError
from moot.dispatch import QueueDispatcher
from moot.library.session import AsyncMoot

if TYPE_CHECKING:
    from moot.library.blocking import Moot


class Opening:
    """What `moot.open` returns: `async with` gives an `AsyncMoot`, `with` a `Moot`, whose methods wait."""

    def __init__(self, config: Config, environ: Mapping[str, str], *, workers: bool) -> None:
        self._config, self._environ, self._workers = config, environ, workers
        self._entered: AsyncMoot | None = None
        self._blocking: Moot | None = None

    def session(self) -> AsyncMoot:
        """A new session. Must be called where its event loop runs."""
        app = App(self._config.settings, self._environ, origins=self._config.origins)
        queue = app.workers_queue() if self._workers else None  # refused before a database is opened
        return AsyncMoot(Client(app, None if queue is None else QueueDispatcher(app.runtime, queue)))

    async def __aenter__(self) -> AsyncMoot:
        self._entered = self.session()
        return self._entered

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._entered is not None:
            await self._entered.close()

    def __enter__(self) -> Moot:
        from moot.library.blocking import Moot

        self._blocking = Moot(lambda: self)
        return self._blocking.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._blocking is not None:
            self._blocking.__exit__(kind, error, trace)


def open(
    *,
    database: str | Path | None = None,
    data_dir: str | Path | None = None,
    config: str | Path | Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    workers: bool = False,
) -> Opening:
    """Open moot: `async with moot.open() as m` in asynchronous code, `with moot.open() as m` elsewhere.

    By default everything is as on the command line: database, configuration files, environment variables, models.
    `database`: an SQLite file, or the address of a PostgreSQL database. `data_dir`: the folder for database and
    weights. `config`: the user's configuration file, or settings that win over all files and variables. `environ`:
    instead of this process's environment variables. `workers`: leave debates to the workers of a PostgreSQL database.
    Raises InputError if something in the configuration is wrong.
    """
    environ = dict(os.environ if environ is None else environ)
    flags: dict[str, tuple[str, Any]] = {}
    if isinstance(config, Mapping):
        flags = {name: (f"config[{name!r}]", value) for name, value in config.items()}
    elif config is not None:
        environ["MOOT_CONFIG"] = str(config)
    for name, setting, given in (("database", "database_url", database), ("data_dir", "data_dir", data_dir)):
        if given is not None and not str(given).strip():
            raise InputError(f"{name} is empty. Give a path, or leave it out.")
        if given is not None:
            flags[setting] = (name, str(given))
    return Opening(load(environ, flags=flags), environ, workers=workers)
