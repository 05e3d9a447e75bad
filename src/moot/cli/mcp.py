"""The command `moot mcp`."""

from __future__ import annotations

import asyncio
import signal
import sys
from argparse import Namespace
from contextlib import suppress

from moot.cli.commands import DONE
from moot.cli.door import database, logged, opened
from moot.cli.paper import note

GRACE_SECONDS = 1.0  # for steps in flight; clients kill a server that takes longer than two to end


async def mcp(args: Namespace) -> int:
    async with opened(args, measured=True) as app:
        logged(app)
        runtime = await database(app)
        from moot.mcp.desk import Desk
        from moot.mcp.stdio import serve
        from moot.server.going import runs_of

        closing = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):
                loop.add_signal_handler(number, closing.set)
        if sys.stdin.isatty():
            note("This speaks MCP to a client on standard input. Put `moot mcp` into your client's configuration.")
        runs = runs_of(app)
        await runs.open()
        try:
            await serve(Desk(app, runs, closing))
        finally:
            await runtime.hand_back(GRACE_SECONDS)
            await runs.close()
    return DONE
