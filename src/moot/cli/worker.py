"""The command `moot worker`."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from argparse import Namespace
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from moot.app import App
from moot.cli.commands import DONE
from moot.cli.session import ceilings_of, configure_logging, load_config, open_app
from moot.core.amounts import count
from moot.core.settings import Settings, read
from moot.formats import installed
from moot.formats.prompts import load_all
from moot.runtime.isolation import ForkedProcesses, Report
from moot.tools import abilities

if TYPE_CHECKING:
    from moot.tools.sandbox.probe import Standing

log = logging.getLogger("moot.worker")

CLOSE_SECONDS = 30.0  # that a process for debates under suspicion has to close its connections


async def worker(args: Namespace) -> int:
    _import_all(args)
    processes = ForkedProcesses(partial(_program, args), abilities.found)  # while there is nothing that can't be forked
    async with AsyncExitStack() as stack:
        stack.callback(processes.recall)
        app = await stack.enter_async_context(_open(args))
        driver = app.worker(processes)  # refused before anything is written
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, driver.stop)
        with app.naming_database():
            if not await driver.open():
                return DONE
        settings = app.settings
        if settings.metrics_port is not None:
            from moot.telemetry.endpoint import serve_metrics

            place = await stack.enter_async_context(
                serve_metrics(app.metrics, settings.metrics_host, settings.metrics_port)
            )
            log.info("Metrics are at %s", place)
        await stack.enter_async_context(app.presence(driver))
        await stack.enter_async_context(app.retained())
        log.info("Driving up to %d debates of %s. SIGTERM or Ctrl-C ends it.", settings.worker_debates, app.database)
        await driver.run()
        if driver.abandoned:
            left = count(driver.abandoned, "debate")
            log.warning("Ended. Another worker takes over %s when the leases expire.", left)
        else:
            log.info("Ended: what was in progress is finished or handed back.")
    return DONE


@asynccontextmanager
async def _open(args: Namespace) -> AsyncGenerator[App]:
    async with open_app(args, measured=True) as app:
        flags = {"worker_debates": args.debates, "metrics_port": args.metrics_port}
        given = {name: value for name, value in flags.items() if value is not None}
        app.settings = read(Settings, app.settings.model_dump() | given)
        app.ceilings = ceilings_of(app, args, server=False)
        configure_logging(app)
        yield app


def _program(args: Namespace, debates: Sequence[str], standing: Standing | None, ended: int, report: Report) -> None:
    abilities.take_over(standing)
    asyncio.run(_drive_apart(args, debates, ended, report))


async def _drive_apart(args: Namespace, debates: Sequence[str], ended: int, report: Report) -> None:
    """In a process of their own: drive debates under suspicion."""
    over, loop = asyncio.Event(), asyncio.get_running_loop()
    async with _open(args) as app, _killed_if_stuck(app.settings.lease_seconds):
        driver = app.worker()

        def end() -> None:
            loop.remove_reader(ended)
            driver.stop()
            over.set()

        loop.add_reader(ended, end)
        if await driver.open():
            await driver.drive_apart(debates, report, over.wait())


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


def _import_all(args: Namespace) -> None:
    """Import what drives debates, so that the processes that do so apart share it."""
    environ = dict(os.environ)
    settings = load_config(args, environ).settings.model_copy(update={"traces": False})  # which would begin a thread
    App(settings, environ).worker().queue.preload()
    installed()
    load_all()
