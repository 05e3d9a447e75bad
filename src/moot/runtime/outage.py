"""Waiting for a database that is away, with one log line when it goes and one when it is back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from moot.core.errors import DatabaseAway, StoreError

FIRST_WAIT, LONGEST_WAIT = 0.5, 10.0  # seconds between two tries


class Outage:
    """Whether the database is away, as far as this process has noticed."""

    def __init__(self, log: logging.Logger) -> None:
        self._log, self._away = log, False

    def failed(self, what: str, error: StoreError) -> None:
        """Log that something could not be done; that the database is away, only once."""
        if not isinstance(error, DatabaseAway):
            self._log.warning("%s: %s", what, error)
        elif not self._away:
            self._away = True
            self._log.warning("The database is away; this process waits for it. %s", error)

    def over(self) -> None:
        """The database has answered."""
        if self._away:
            self._away = False
            self._log.info("The database is back.")


async def until_there(
    open_: Callable[[], Awaitable[None]], log: logging.Logger, stop: asyncio.Event | None = None
) -> bool:
    """Call `open_` until the database answers. Returns False when `stop` is set first. Raises any other StoreError."""
    outage, wait, stop = Outage(log), FIRST_WAIT, stop or asyncio.Event()
    while not stop.is_set():
        try:
            await open_()
        except DatabaseAway as error:
            outage.failed("", error)
        else:
            outage.over()
            return True
        with suppress(TimeoutError):
            async with asyncio.timeout(wait):
                await stop.wait()
        wait = min(2 * wait, LONGEST_WAIT)
    return False
