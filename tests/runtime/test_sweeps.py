"""When a worker sweeps."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, cast

from moot.runtime.worker import Worker
from moot.store.queue import Swept


class Sweeps:
    """A queue that notes which workers each sweep was told are dead."""

    def __init__(self) -> None:
        self.told: asyncio.Queue[list[str]] = asyncio.Queue()

    async def workers(self) -> Mapping[str, int]:
        return {"one": 3, "another": 1}

    async def sweep(self, quiet_seconds: float, dead: Collection[str] = ()) -> Swept:
        self.told.put_nowait([*dead])
        return Swept()


async def test_a_sweep_does_not_wait_for_its_time_when_a_known_worker_dies():
    dead: list[str] = []

    async def none() -> Sequence[Any]:
        return ()

    def dead_among(owners: Iterable[str]) -> list[str]:
        return [each for each in owners if each in dead]

    runtime = SimpleNamespace(
        gates=SimpleNamespace(expire=none), dead_among=dead_among, observer=None, store=None, lease_seconds=1e6
    )
    queue = Sweeps()
    worker = Worker(cast(Any, runtime), cast(Any, queue), at_once=1)
    sweeping = asyncio.create_task(worker._sweeps())
    async with asyncio.timeout(60):
        assert await queue.told.get() == []
        dead.append("another")
        assert await queue.told.get() == ["another"]
    sweeping.cancel()
    with suppress(asyncio.CancelledError):
        await sweeping
