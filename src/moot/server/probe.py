"""Whether the database can be read and written, found out by doing both."""

from __future__ import annotations

import asyncio

from moot.store import Store

PROBE_SECONDS = 1.5  # longest wait: clients that ask for readiness have a time-out of their own


class Probe:
    """One probe at a time: those that ask while it is under way share it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._task: asyncio.Task[None] | None = None

    async def run(self) -> bool:
        """Return whether the database answered in time. Raises StoreError when it can't be used."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._probe(), name="probe")
            self._task.add_done_callback(_retrieve)
        done, _ = await asyncio.wait({self._task}, timeout=PROBE_SECONDS)
        if done:
            self._task.result()
        return bool(done)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _probe(self) -> None:
        await self._store.writable()
        await self._store.find("ready")


def _retrieve(task: asyncio.Task[None]) -> None:
    """Take note of an error that came after everyone had stopped waiting, or asyncio would log it as forgotten."""
    if not task.cancelled():
        task.exception()
