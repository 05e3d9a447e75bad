"""The command `moot worker`."""

from __future__ import annotations

import asyncio
import logging
import signal
from argparse import Namespace
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from moot.app import App
from moot.cli.children import children_of
from moot.cli.commands import DONE
from moot.cli.session import ceilings_of, configure_logging, open_app
from moot.core.amounts import count
from moot.core.settings import Settings, read

log = logging.getLogger("moot.worker")


async def worker(args: Namespace) -> int:
    async with AsyncExitStack() as stack:
        app = await stack.enter_async_context(_open(args))
        driver = app.worker(children_of(app))  # refused before anything is written
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
