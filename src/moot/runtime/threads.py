"""Work that may take longer than a few milliseconds, off the event loop.

Replays, documents and Markdown of others take time in proportion to their length. On the loop they would hold up every
debate of the process; here they hold up each other.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

from moot.core.types import Turn

T = TypeVar("T")

THREADS = 2  # they share one interpreter with the loop: more of them would only slow it down
LONG_REPLAY = 50_000  # characters in the turns of a debate whose replay takes longer than a few milliseconds


async def in_thread(work: Callable[[], T]) -> T:
    """Run `work` on one of a few threads, after whatever is waiting for them."""
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(_pool(), lambda: context.run(work))


async def replayed(work: Callable[[], T], turns: Sequence[Turn]) -> T:
    """Run the replay of these turns: here when it is short, in a thread when it is long."""
    if sum(len(turn.content) for turn in turns) < LONG_REPLAY:
        return work()
    return await in_thread(work)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, "moot-work")
