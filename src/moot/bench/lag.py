"""How late an event loop runs what is due. Inside this process, or of a whole `moot` command:

    python -m moot.bench.lag FILE serve --port 0

runs that command, and writes what it saw to FILE when it has ended."""

from __future__ import annotations

import asyncio
import atexit
import json
import runpy
import sys
import time
from pathlib import Path

BEAT_SECONDS = 0.01


class Lag:
    """Looks 100 times a second, from the moment it is made until the loop ends."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.seen: list[tuple[float, float]] = []  # when it was due (monotonic), and how many ms later it ran
        self._due = loop.time() + BEAT_SECONDS
        loop.call_at(self._due, self._beat)

    def between(self, begin: float, end: float) -> list[float]:
        return [late for due, late in self.seen if begin <= due <= end]

    def _beat(self) -> None:
        now = time.monotonic()
        self.seen.append((self._due, max(0.0, now - self._due) * 1000))
        self._due = now + BEAT_SECONDS
        self._loop.call_at(self._due, self._beat)


def main(file: Path, arguments: list[str]) -> None:
    lags: list[Lag] = []
    make = asyncio.events.new_event_loop

    def watched() -> asyncio.AbstractEventLoop:
        loop = make()
        lags.append(Lag(loop))
        return loop

    asyncio.events.new_event_loop = watched  # which `asyncio.run` calls
    atexit.register(lambda: file.write_text(json.dumps([seen for lag in lags for seen in lag.seen])))
    command = Path(sys.executable).with_name("moot")
    sys.argv = [str(command), *arguments]
    runpy.run_path(str(command), run_name="__main__")


def read(file: Path, begin: float, end: float) -> list[float]:
    return [late for due, late in json.loads(file.read_text()) if begin <= due <= end]


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
