"""The command `moot mcp`."""

from __future__ import annotations

import asyncio
import signal
import sys
from argparse import Namespace
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from moot.app import App
from moot.cli.children import children_of
from moot.cli.commands import DONE
from moot.cli.printer import note
from moot.cli.session import ceilings_of, configure_logging, open_app
from moot.core.errors import InputError

GRACE_SECONDS = 1.0  # for steps in flight; clients kill a server that takes longer than two to end


async def mcp(args: Namespace) -> int:
    from moot.tokens import read_scopes

    scopes = read_scopes(args.scope.split(","))
    if "read" not in scopes and "admin" not in scopes:
        raise InputError("An MCP client can do nothing without the scope 'read'. Add it: --scope read,run")
    async with AsyncExitStack() as stack:
        app = await stack.enter_async_context(_open(args))
        await app.open()
        from moot.client import Client
        from moot.dispatch import dispatcher_of
        from moot.mcp.service import ToolService
        from moot.mcp.stdio import serve

        closing = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):
                loop.add_signal_handler(number, closing.set)
        if sys.stdin.isatty():
            note("This serves an MCP client on standard input. Put `moot mcp` into your client's configuration.")
        dispatcher = dispatcher_of(app, children_of(app))
        await dispatcher.open()
        try:
            await serve(ToolService(Client(app, dispatcher), closing), scopes)
        finally:
            await dispatcher.close(GRACE_SECONDS)
    return DONE


@asynccontextmanager
async def _open(args: Namespace) -> AsyncGenerator[App]:
    async with open_app(args, measured=True) as app:
        app.ceilings = ceilings_of(app, args)
        configure_logging(app)
        yield app
