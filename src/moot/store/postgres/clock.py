"""The server's clock, by which all processes agree on leases and times. Asked for it each time, every commit would take
a round trip more: so it is asked now and then, and reckoned in between by a clock that nobody can set."""

from __future__ import annotations

import time
from collections.abc import Callable

from moot.store.postgres.link import Link

LOOK_SECONDS = 30.0  # after which the server is asked again: two good clocks differ by a few milliseconds by then
SLOW_SECONDS = 0.5  # an answer that took longer says too little
SAME_SECONDS = 0.5  # a wall clock that is no further off is taken as it is: it is kept better than we can reckon
JUMP_SECONDS = 1.0  # by which the wall clock and the steady one may part before something has happened to one of them


def steady() -> float:
    """Seconds since whenever, also those that the machine was asleep where that can be told."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)


class ServerClock:
    def __init__(
        self,
        given: Callable[[], float] | None = None,
        *,
        steady: Callable[[], float] = steady,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """`given`: one that everyone shares, so that nobody needs the server's. `wall` counts until the server was
        asked first, and where it is right."""
        self._given, self._steady, self._wall = given, steady, wall
        self._ahead: float | None = None  # of the steady one
        self._looked: tuple[float, float] | None = None  # when the server was asked, by both of our clocks

    def __call__(self) -> float:
        if self._given is not None:
            return self._given()
        wall = self._wall()
        if self._ahead is None:
            return wall
        reckoned = self._steady() + self._ahead
        return wall if abs(wall - reckoned) <= SAME_SECONDS else reckoned

    async def look(self, link: Link) -> None:
        """Ask the server, if it is time to."""
        if self._given is not None or not self._due():
            return
        began = self._steady()
        (row,) = await link.fetch("select extract(epoch from clock_timestamp())::double precision as now")
        ended, wall = self._steady(), self._wall()
        quick = ended - began <= SLOW_SECONDS
        if quick or self._ahead is None:
            self._ahead = row["now"] - (began + ended) / 2
            self._looked = (ended, wall) if quick else None

    def _due(self) -> bool:
        if self._looked is None:
            return True
        steadily, by_wall = self._steady() - self._looked[0], self._wall() - self._looked[1]
        return steadily > LOOK_SECONDS or abs(steadily - by_wall) > JUMP_SECONDS
