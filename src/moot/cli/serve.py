"""The command `moot serve`."""

from __future__ import annotations

import asyncio
import logging
from argparse import Namespace

from moot.app import App
from moot.cli.commands import DONE
from moot.cli.download import Download
from moot.cli.printer import note
from moot.cli.session import as_input_errors, configure_logging, open_app, open_database
from moot.core.errors import InputError
from moot.core.settings import Settings, read
from moot.runtime.outage import until_there

log = logging.getLogger("moot.server")

WARM_UP_SECONDS = 0.5  # the server itself starts first


async def serve(args: Namespace) -> int:
    from moot.server.app import create_app, demands_token
    from moot.server.serving import Server, address_of, listen

    download = Download()
    async with open_app(args, download, measured=True) as app:
        flags = {"serve_host": args.host, "serve_port": args.port}
        given = {name: value for name, value in flags.items() if value is not None}
        app.settings = settings = read(Settings, app.settings.model_dump() | given)
        configure_logging(app)
        if app.queue is not None:  # an SQLite file is there, or is made
            with as_input_errors(app):
                await until_there(app.runtime.store.open, log)
        if demands_token(app, settings.serve_host) and not await _has_tokens(app):
            raise InputError(
                f"On {settings.serve_host} others can reach moot, so everyone needs a token, and there is none yet. "
                "Make one with: moot token create NAME --scope read,run,decide"
            )
        bound = listen(settings.serve_host, settings.serve_port)
        await (await open_database(app)).store.writable()
        url = address_of(bound, settings.serve_host)
        server = Server(create_app(app, host=settings.serve_host), behind_proxy=bool(settings.serve_hosts))
        print(f"moot listens on {url}", flush=True)
        note("Ctrl-C ends it: steps in flight finish first, and debates go on when it is started again.")
        if app.queue is None:  # debates run here
            asyncio.get_running_loop().call_later(WARM_UP_SECONDS, app.warm_up)
        if args.open:
            _open_soon(url)
        await server.run_on(bound)
        note("Ended. Debates that were running go on when moot serve is started again.")
    return DONE


async def _has_tokens(app: App) -> bool:
    """Whether there is a token. Never creates a database."""
    return app.database.exists() and bool(await (await open_database(app)).store.tokens())


def _open_soon(url: str) -> None:
    import webbrowser

    asyncio.get_running_loop().call_later(0.5, lambda: asyncio.create_task(asyncio.to_thread(webbrowser.open, url)))
