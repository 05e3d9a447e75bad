"""The server's clock, which leases and times go by, so that all processes agree.

Asking for it each time would cost every commit a round trip. It is asked now and then, and computed in between from a
monotonic clock."""

from __future__ import annotations

import time
from collections.abc import Callable

from moot.store.postgres.connections import Connection

SYNC_SECONDS = 30.0  # between two syncs: good clocks drift by a few milliseconds in that time
SLOW_SECONDS = 0.5  # an answer that takes longer is too imprecise
SAME_SECONDS = 0.5  # a wall clock this close to the server's is used as it is: NTP keeps it better than we can
JUMP_SECONDS = 1.0  # by which wall and monotonic clock may diverge before a sync: one was set, or the machine slept


def monotonic() -> float:
    """A monotonic clock that also counts time asleep, where the system has one."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)


class ServerClock:
    def __init__(
        self,
        given: Callable[[], float] | None = None,
        *,
        monotonic: Callable[[], float] = monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """`given`: a clock that all processes share, used instead of the server's. `wall` is used until the first sync,
        and while it agrees with the server."""
        self._given, self._monotonic, self._wall = given, monotonic, wall
        self._offset: float | None = None  # server's time minus monotonic time
        self._synced: tuple[float, float] | None = None  # when, by the monotonic and the wall clock

    def __call__(self) -> float:
        if self._given is not None:
            return self._given()
        wall = self._wall()
        if self._offset is None:
            return wall
        computed = self._monotonic() + self._offset
        return wall if abs(wall - computed) <= SAME_SECONDS else computed

    async def sync(self, connection: Connection) -> None:
        """Ask the server for the time, if that is due."""
        if self._given is not None or not self._due():
            return
        began = self._monotonic()
        (row,) = await connection.fetch("select extract(epoch from clock_timestamp())::double precision as now")
        ended, wall = self._monotonic(), self._wall()
        quick = ended - began <= SLOW_SECONDS
        if quick or self._offset is None:
            self._offset = row["now"] - (began + ended) / 2
            self._synced = (ended, wall) if quick else None

    def _due(self) -> bool:
        if self._synced is None:
            return True
        elapsed, by_wall = self._monotonic() - self._synced[0], self._wall() - self._synced[1]
        return elapsed > SYNC_SECONDS or abs(elapsed - by_wall) > JUMP_SECONDS
