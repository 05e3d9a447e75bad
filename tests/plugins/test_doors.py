from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import moot.plugins
from moot.models import providers
from moot.plugins import Door

THREADS = 8


def test_threads_that_look_at_the_same_time_all_find_everything():
    expected = providers.DOOR.names()
    door = Door("moot.providers", "model provider", lambda _, loaded: loaded)
    moot.plugins.rescan()
    at_once = threading.Barrier(THREADS)

    def look(_: int) -> list[str]:
        at_once.wait()
        return door.names()

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(look, range(THREADS)))
    assert found == [expected] * THREADS
