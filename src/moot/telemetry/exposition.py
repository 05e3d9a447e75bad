"""All metrics as one text: of this process, and of the database."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as MEDIA_TYPE
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from moot.core.errors import StoreError
from moot.store.overview import Overview
from moot.telemetry.instruments import Instruments, gauge, of_database

__all__ = ["MEDIA_TYPE", "Exposition", "render"]

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
        self._instruments, self._overview = instruments or Instruments(), overview
        self._driven, self._retries = driven, retries
        self._cached: tuple[float, Overview] | None = None
        self._lock = asyncio.Lock()

    async def text(self, more: Iterable[Metric] = ()) -> str:
        """Render all metrics. Never raises: an unreachable database is reported as `moot_database_up 0`."""
        overview = await self._query()
        return render([*self._of_process(), *_of_database(overview), *more])

    def _of_process(self) -> Iterator[Metric]:
        yield from self._instruments.registry.collect()
        yield gauge("moot_debates_driven", "Debates that this process drives now.", self._driven())
        tries = "Tries to reach the database again after it was gone."
        yield CounterMetricFamily("moot_store_retries_total", tries, value=self._retries())

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


def render(metrics: Iterable[Metric]) -> str:
    """The text format of Prometheus, without the time at which each series began."""
    return generate_latest(_Given(metrics)).decode()


class _Given(Collector):
    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        for metric in self._metrics:
            metric.samples = [each for each in metric.samples if not each.name.endswith("_created")]
            yield metric


def _of_database(overview: Overview | None) -> Iterator[Metric]:
    yield gauge("moot_database_up", "Whether the database answers.", overview is not None)
    if overview is not None:
        yield from of_database(overview)
