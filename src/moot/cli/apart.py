"""The processes in which `moot serve`, `moot mcp` and `moot worker` have debates under suspicion driven."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from argparse import Namespace
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from moot.app import App
from moot.cli.session import load_config
from moot.formats import installed
from moot.formats.prompts import load_all
from moot.runtime.isolation import Report, drive_apart
from moot.runtime.outage import until_there
from moot.runtime.processes import ForkedProcesses
from moot.tools import abilities

if TYPE_CHECKING:
    from moot.tools.sandbox.probe import Standing

log = logging.getLogger("moot.worker")

CLOSE_SECONDS = 30.0  # that such a process has to close its connections

Open = Callable[[Namespace], AbstractAsyncContextManager[App]]


@contextmanager
def processes_of(args: Namespace, open_: Open, *, queued: bool) -> Generator[ForkedProcesses | None]:
    """Fork the process that these are forked from; it ends with the context. To be entered before anything is opened.
    None if there is nothing to drive: `queued` says whether it is to be done where debates are put on a queue, or where
    they are not."""
    processes = _begun(args, open_, queued=queued) if hasattr(os, "fork") else None  # not on Windows
    try:
        yield processes
    finally:
        if processes is not None:
            processes.recall()


def _begun(args: Namespace, open_: Open, *, queued: bool) -> ForkedProcesses | None:
    environ = dict(os.environ)
    settings = load_config(args, environ).settings.model_copy(update={"traces": False})  # which would begin a thread
    queue = App(settings, environ).queue
    if (queue is not None) != queued:
        return None
    if queue is not None:
        queue.preload()
    installed()
    load_all()
    return ForkedProcesses(partial(_program, args, open_), abilities.found)


def _program(
    args: Namespace, open_: Open, debates: Sequence[str], standing: Standing | None, ended: int, report: Report
) -> None:
    abilities.take_over(standing)
    asyncio.run(_drive(args, open_, debates, ended, report))


async def _drive(args: Namespace, open_: Open, debates: Sequence[str], ended: int, report: Report) -> None:
    over, loop = asyncio.Event(), asyncio.get_running_loop()

    def end() -> None:
        loop.remove_reader(ended)
        over.set()

    async with open_(args) as app, _killed_if_stuck(app.settings.lease_seconds):
        loop.add_reader(ended, end)
        if await until_there(app.runtime.store.open, log, over):
            await drive_apart(app.runtime, debates, report, over.wait())


@asynccontextmanager
async def _killed_if_stuck(seconds: float) -> AsyncGenerator[None]:
    """Have the kernel end this process if its event loop stands still for so long: nothing else would, and what it
    drives could not be taken over."""

    async def prove_alive() -> None:
        while True:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            await asyncio.sleep(seconds / 3)

    proving = asyncio.create_task(prove_alive())
    try:
        yield
    finally:
        proving.cancel()
        signal.setitimer(signal.ITIMER_REAL, max(seconds, CLOSE_SECONDS))
