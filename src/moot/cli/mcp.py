"""The command `moot mcp`."""

from __future__ import annotations

import asyncio
import signal
import sys
from argparse import Namespace
from contextlib import suppress

from moot.cli.commands import DONE
from moot.cli.printer import note
from moot.cli.session import configure_logging, open_app, open_database

GRACE_SECONDS = 1.0  # for steps in flight; clients kill a server that takes longer than two to end


async def mcp(args: Namespace) -> int:
    async with open_app(args, measured=True) as app:
        configure_logging(app)
        runtime = await open_database(app)
        from moot.mcp.service import ToolService
        from moot.mcp.stdio import serve
        from moot.server.dispatch import dispatcher_of

        closing = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):
                loop.add_signal_handler(number, closing.set)
        if sys.stdin.isatty():
            note("This serves an MCP client on standard input. Put `moot mcp` into your client's configuration.")
        dispatcher = dispatcher_of(app)
        await dispatcher.open()
        try:
            await serve(ToolService(app, dispatcher, closing))
        finally:
            await runtime.hand_back(GRACE_SECONDS)
            await dispatcher.close()
    return DONE
