"""All metrics as one text: of this process, and of the database."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable

from moot.core.errors import StoreError
from moot.store.overview import Overview
from moot.telemetry.instruments import Instruments, of_database, of_process
from moot.telemetry.metrics import Metric, Numbers, render

CACHE_SECONDS = 5.0  # for figures of the database
QUERY_SECONDS = 5.0  # scrapers time out after about ten


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
        self._cached: tuple[float, Overview] | None = None
        self._lock = asyncio.Lock()

    async def text(self, more: Iterable[Metric] = ()) -> str:
        """Render all metrics. Never raises: an unreachable database is reported as `moot_database_up 0`."""
        metrics = [*of_process()]
        if self._instruments is not None:
            self._instruments.driven.set(to=self._driven())
            self._instruments.retries.set(to=self._retries())
            metrics += self._instruments.all()
        up = Numbers("moot_database_up", "Whether the database answers.", "gauge")
        overview = await self._query()
        up.set(to=overview is not None)
        return render([*metrics, up, *(of_database(overview) if overview else ()), *more])

    async def _query(self) -> Overview | None:
        async with self._lock:
            if self._cached is not None and time.monotonic() - self._cached[0] < CACHE_SECONDS:
                return self._cached[1]
            try:
                async with asyncio.timeout(QUERY_SECONDS):
                    overview = await self._overview()
            except (StoreError, TimeoutError):
                return None
            self._cached = (time.monotonic(), overview)
            return overview
