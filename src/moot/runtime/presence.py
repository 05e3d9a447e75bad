"""Presence of workers: each checks in from time to time, so that operators see it even when it is idle."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

from moot.core.errors import DatabaseAway, NotWritable, StoreError
from moot.store import Workers
from moot.store.overview import Presence

log = logging.getLogger("moot.worker")

CHECK_OUT_SECONDS = 2.0


@asynccontextmanager
async def present(
    store: Workers, now: Callable[[], Presence], seconds: float, news: asyncio.Event | None = None
) -> AsyncGenerator[None]:
    """Check in at once, then every `seconds` and when `news` is set, and check out at the end.

    Raises NotWritable when the first check-in can't be stored: such a worker could store no turn either. Later failures
    are logged.
    """

    told = news or asyncio.Event()

    def failed(error: StoreError) -> None:
        if not isinstance(error, DatabaseAway):  # which the worker's own loops report
            log.warning("This worker could not check in: %s", error)

    async def repeat() -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await told.wait()
            told.clear()
            try:
                await store.check_in(now())
            except StoreError as error:
                failed(error)

    try:
        await store.check_in(now())
    except NotWritable:
        raise
    except StoreError as error:
        failed(error)
    task = asyncio.create_task(repeat(), name="moot-presence")
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        with suppress(StoreError, TimeoutError):  # a lost database must not keep the process from ending
            async with asyncio.timeout(CHECK_OUT_SECONDS):
                await store.check_out(now().name)
