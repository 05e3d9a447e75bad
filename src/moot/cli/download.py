"""Progress of the one-time download of the embedded model's weights."""

from __future__ import annotations

import sys
import threading
import time

MEGABYTE = 1_000_000
BAR = 24


class Download:
    """A progress callback that draws a bar. Thread-safe."""

    def __init__(self) -> None:
        self.embedded = False  # a live view shows `text` instead
        self._done = self._total = 0
        self._drawn = 0.0
        self._lock = threading.Lock()

    def __call__(self, done: int, total: int) -> None:
        with self._lock:
            first, self._done, self._total = self._total == 0, done, total
            if self.embedded:
                return
            if sys.stderr.isatty():
                self._draw(ended=done >= total)
            elif first:
                _say(f"Fetching the embedded model's weights, once ({total / MEGABYTE:.0f} MB).\n")
            elif done >= total:
                _say("The embedded model's weights are here.\n")

    @property
    def text(self) -> str:
        """The progress in a line; empty if no download is under way."""
        done, total = self._done, self._total
        if not total or done >= total:
            return ""
        full = BAR * done // total
        bar = "█" * full + "░" * (BAR - full)
        return f"Fetching the embedded model, once  {bar}  {done / MEGABYTE:.0f} of {total / MEGABYTE:.0f} MB"

    def _draw(self, *, ended: bool) -> None:
        now = time.monotonic()
        if ended:
            _say("\r\x1b[K")
        elif now - self._drawn > 0.1:
            self._drawn = now
            _say(f"\r\x1b[K{self.text}")


def _say(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
