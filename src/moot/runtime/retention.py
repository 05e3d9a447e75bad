"""Deleting debates by their age: once by hand, or now and then by a process that runs for long."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing, asynccontextmanager, suppress

from moot.core.errors import StoreError
from moot.core.lifecycle import OVER
from moot.core.types import Status
from moot.runtime.runtime import Runtime
from moot.store import Tombstone

log = logging.getLogger("moot.retention")

BATCH = 50  # debates that are deleted at once
EVERY_SECONDS = 3600.0
DAY_SECONDS = 86_400.0
BY = "retention_days"  # who has deleted a debate that became too old


async def purge(
    runtime: Runtime, before: float, *, by: str, statuses: Collection[Status] = OVER
) -> AsyncGenerator[Tombstone, None]:
    """Delete debates that have not changed since `before`, the oldest first, in small batches; yield each once it is
    gone. One that changes meanwhile is kept. Safe when several processes do it at once, or when it breaks off."""
    store, kept = runtime.store, set[str]()
    while True:
        found = await store.untouched(before, statuses, BATCH + len(kept))
        batch = [debate for debate in found if debate.id not in kept]
        if not batch:
            break
        deleting = [store.delete(each.id, by=by, expect=statuses, seen=each) for each in batch]
        for debate, gone in zip(batch, await asyncio.gather(*deleting), strict=True):
            if gone is None:
                kept.add(debate.id)
            else:
                runtime.forget(debate.id)
                yield gone
    await store.scrub()


@asynccontextmanager
async def retained(runtime: Runtime, days: float | None) -> AsyncGenerator[None]:
    """While the context lasts, delete what has ended more than `days` ago, at once and then every hour. None: keep
    everything, and only overwrite what an earlier process has deleted and not overwritten."""
    task = asyncio.create_task(_keep_purging(runtime, days), name="moot-retention")
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _keep_purging(runtime: Runtime, days: float | None) -> None:
    while True:
        try:
            if days is None:
                await runtime.store.scrub()
                return
            count = 0
            async with aclosing(purge(runtime, runtime.now() - days * DAY_SECONDS, by=BY)) as gone:
                async for _ in gone:
                    count += 1
            if count:
                log.info("Deleted %d debates that had ended more than %g days ago.", count, days)
        except StoreError as error:
            log.warning("Old debates could not be deleted: %s", error)
        except Exception as error:  # the next time may succeed; its text is not logged: it may quote anything
            log.error("Old debates could not be deleted: %s.", type(error).__name__, exc_info=error)
        await asyncio.sleep(EVERY_SECONDS)
