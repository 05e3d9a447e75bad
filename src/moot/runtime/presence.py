"""A worker says from time to time that it is there, so that operators see it even when it has nothing to do."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Protocol

from moot.errors import NotWritable, StoreError
from moot.store.overview import Presence

log = logging.getLogger("moot.worker")

LAST_WORD_SECONDS = 2.0


class Crew(Protocol):
    async def check_in(self, worker: Presence) -> None: ...

    async def check_out(self, name: str) -> None: ...


@asynccontextmanager
async def present(crew: Crew, now: Callable[[], Presence], seconds: float) -> AsyncGenerator[None]:
    """Checks in every so many seconds, and out at the end. Raises NotWritable when that can't be done at the beginning:
    whoever can't even say that it is there could not drive anything."""

    def unheard(error: StoreError) -> None:
        log.warning("Could not say that this worker is there: %s", error)

    async def go_on() -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await crew.check_in(now())
            except StoreError as error:
                unheard(error)

    try:
        await crew.check_in(now())
    except NotWritable:
        raise
    except StoreError as error:
        unheard(error)
    task = asyncio.create_task(go_on(), name="moot-presence")
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        with suppress(StoreError, TimeoutError):  # a database that is gone keeps nobody from ending
            async with asyncio.timeout(LAST_WORD_SECONDS):
                await crew.check_out(now().name)
