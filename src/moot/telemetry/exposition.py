"""All metrics as one text: what this process has done, what it is, and how the database stands."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable

from moot.errors import StoreError
from moot.store.overview import Overview
from moot.telemetry.instruments import Instruments, of_database, of_process
from moot.telemetry.metrics import Metric, Numbers, render

FRESH_SECONDS = 5.0  # for so long the database is not asked again
PATIENCE_SECONDS = 5.0  # whoever reads metrics waits about ten


class Exposition:
    def __init__(
        self,
        instruments: Instruments | None,
        overview: Callable[[], Awaitable[Overview]],
        driven: Callable[[], int],
        retries: Callable[[], int],
    ) -> None:
        self._instruments, self._overview = instruments, overview
        self._driven, self._retries = driven, retries
        self._seen: tuple[float, Overview] | None = None
        self._looking = asyncio.Lock()

    async def text(self, more: Iterable[Metric] = ()) -> str:
        """Never fails: a database that is gone is a metric, too."""
        metrics = [*of_process()]
        if self._instruments is not None:
            self._instruments.driven.set(to=self._driven())
            self._instruments.retries.set(to=self._retries())
            metrics += self._instruments.all()
        up = Numbers("moot_database_up", "Whether the database answers.", "gauge")
        overview = await self._look()
        up.set(to=overview is not None)
        return render([*metrics, up, *(of_database(overview) if overview else ()), *more])

    async def _look(self) -> Overview | None:
        async with self._looking:
            if self._seen is not None and time.monotonic() - self._seen[0] < FRESH_SECONDS:
                return self._seen[1]
            try:
                async with asyncio.timeout(PATIENCE_SECONDS):
                    overview = await self._overview()
            except (StoreError, TimeoutError):
                return None
            self._seen = (time.monotonic(), overview)
            return overview
