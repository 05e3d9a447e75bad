"""The heartbeat of a process that drives debates: it renews their leases and picks up changes from elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress

from moot.core.errors import StoreError
from moot.runtime.drive import Drive
from moot.store import Debates


class Heartbeat:
    def __init__(
        self,
        store: Debates,
        owner: Callable[[], str],
        drives: Mapping[str, Drive],
        *,
        lease_seconds: float,
        pause: Callable[[], float],
        now: Callable[[], float],
    ) -> None:
        """`pause` gives the seconds between two beats; leases are renewed after a third of `lease_seconds`."""
        self._store, self._owner, self._drives = store, owner, drives
        self._lease_seconds, self._pause, self._now = lease_seconds, pause, now
        self._due = asyncio.Event()

    def hurry(self) -> None:
        """Beat now: a debate that is driven here may have been changed by another process."""
        self._due.set()

    async def run(self) -> None:
        """Beat until canceled."""
        # The first clock stands still while a laptop sleeps, the second can be set.
        clocks = (asyncio.get_running_loop().time, self._now)
        renewed = [clock() for clock in clocks]
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._pause()):
                    await self._due.wait()
            self._due.clear()
            if not self._drives:
                continue
            due = self._lease_seconds / 3
            renew = any(abs(clock() - then) > due for clock, then in zip(clocks, renewed, strict=True))
            with suppress(StoreError):  # the next beat may get through; until then the lease runs on
                await self._beat(renew=renew)
                renewed = [clock() for clock in clocks] if renew else renewed

    async def _beat(self, *, renew: bool) -> None:
        epochs = {debate_id: drive.debate.epoch for debate_id, drive in self._drives.items()}
        asked = asyncio.get_running_loop().time()
        reply = await self._store.heartbeat(self._owner(), epochs, self._lease_seconds if renew else None)
        for debate_id, drive in list(self._drives.items()):
            if epochs.get(debate_id) != drive.debate.epoch:
                continue  # claimed since
            if debate_id in reply.lost:
                drive.signal("lost")
                continue
            if renew:
                drive.renewed(asked + self._lease_seconds)
            drive.guided(reply.guided.get(debate_id, 0))
            if reply.statuses.get(debate_id) == "stopping":
                drive.signal("finish")
