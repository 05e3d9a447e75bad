"""Event-loop lag: how late a loop runs timers that are due. In this process with `LoopLag`, or of a `moot` command:

    python -m perf.lag FILE serve --port 0

runs the command and writes the lags to FILE when it exits."""

from __future__ import annotations

import asyncio
import atexit
import json
import runpy
import sys
import time
from pathlib import Path

INTERVAL_SECONDS = 0.01


class LoopLag:
    """Samples the lag of `loop` 100 times a second, from its creation until the loop ends."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.samples: list[tuple[float, float]] = []  # when the timer was due (monotonic), and its lag in ms
        self._due = loop.time() + INTERVAL_SECONDS
        loop.call_at(self._due, self._sample)

    def between(self, begin: float, end: float) -> list[float]:
        return [lag for due, lag in self.samples if begin <= due <= end]

    def _sample(self) -> None:
        now = time.monotonic()
        self.samples.append((self._due, max(0.0, now - self._due) * 1000))
        self._due = now + INTERVAL_SECONDS
        self._loop.call_at(self._due, self._sample)


def main(file: Path, arguments: list[str]) -> None:
    lags: list[LoopLag] = []
    original = asyncio.events.new_event_loop

    def new_event_loop() -> asyncio.AbstractEventLoop:
        loop = original()
        lags.append(LoopLag(loop))
        return loop

    asyncio.events.new_event_loop = new_event_loop  # which `asyncio.run` calls
    atexit.register(lambda: file.write_text(json.dumps([sample for lag in lags for sample in lag.samples])))
    command = Path(sys.executable).with_name("moot")
    sys.argv = [str(command), *arguments]
    runpy.run_path(str(command), run_name="__main__")


def read(file: Path, begin: float, end: float) -> list[float]:
    """Lags in ms of the timers that were due between two monotonic times."""
    return [lag for due, lag in json.loads(file.read_text()) if begin <= due <= end]


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
