"""The command `moot serve`."""

from __future__ import annotations

import asyncio
import logging
from argparse import Namespace
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from moot.app import App
from moot.cli.children import children_of
from moot.cli.commands import DONE
from moot.cli.download import Download
from moot.cli.printer import note
from moot.cli.session import ceilings_of, configure_logging, open_app
from moot.core.amounts import count, money
from moot.core.ceilings import debate_usd
from moot.core.errors import InputError
from moot.core.settings import Settings, read
from moot.estimate import still_to_use
from moot.runtime.outage import until_there

log = logging.getLogger("moot.server")

WARM_UP_SECONDS = 0.5  # the server itself starts first


async def serve(args: Namespace) -> int:
    from moot.dispatch import dispatcher_of
    from moot.mcp.endpoint import PATH as MCP_PATH
    from moot.mcp.endpoint import McpEndpoint
    from moot.server import dashboard
    from moot.server.app import create_app, demands_token
    from moot.server.limits import raise_file_limit
    from moot.server.serving import Server, address_of, listen

    async with AsyncExitStack() as stack:
        app = await stack.enter_async_context(_open(args))
        settings = app.settings
        if app.queue is not None and args.no_resume:
            raise InputError(
                "--no-resume is for SQLite: on PostgreSQL the workers go on with interrupted debates, and this server "
                "runs none. Leave it out."
            )
        if app.queue is not None:  # an SQLite file is there, or is made
            with app.naming_database():
                await until_there(app.runtime.store.open, log)
        if demands_token(app, settings.serve_host) and not await _has_tokens(app):
            raise InputError(
                f"On {settings.serve_host} others can reach moot, so everyone needs a token, and there is none yet. "
                "Make one with: moot token create NAME --scope read,run,decide"
            )
        api = create_app(
            app,
            host=settings.serve_host,
            dispatcher=dispatcher_of(app, children_of(app), resume=not args.no_resume),
            files=raise_file_limit(),
            mounts={MCP_PATH: McpEndpoint},
        )
        bound = listen(settings.serve_host, settings.serve_port)
        await (await app.open()).store.writable()
        url = address_of(bound, settings.serve_host)
        server = Server(api, behind_proxy=bool(settings.serve_hosts))
        print(f"moot listens on {url}", flush=True)
        if not dashboard.is_built():
            note(
                "This installation has no dashboard, so only the API is served. Run `make web` in the checkout that it "
                "comes from, or install a package that was built after that."
            )
        note(_ceilings(app))
        note("Ctrl-C ends it: steps in flight finish first, and debates go on when it is started again.")
        if app.queue is None:  # debates run here
            await _tell_of_interrupted(app, resume=not args.no_resume)
            asyncio.get_running_loop().call_later(WARM_UP_SECONDS, app.warm_up)
        if args.open:
            _open_soon(url)
        await server.run_on(bound)
        note("Ended. Debates that were running go on when moot serve is started again.")
    return DONE


@asynccontextmanager
async def _open(args: Namespace) -> AsyncGenerator[App]:
    async with open_app(args, Download(), measured=True) as app:
        flags = {"serve_host": args.host, "serve_port": args.port}
        given = {name: value for name, value in flags.items() if value is not None}
        app.settings = read(Settings, app.settings.model_dump() | given)
        app.ceilings = ceilings_of(app, args)
        configure_logging(app)
        yield app


def _ceilings(app: App) -> str:
    """The ceilings, in a sentence."""
    most, debate = app.ceilings, debate_usd(app.ceilings)
    parts = [f"A debate may cost ${debate:,.2f}"] if debate is not None else []
    parts += [
        f"{what} {f'${value:,.2f}' if unit == 'usd' else f'{value:,} output tokens'}"
        for what, name in (("a debate", "debate"), ("a caller a day", "caller"), ("all together a day", "day"))
        for unit in ("usd", "tokens")
        if (name, unit) != ("debate", "usd") and (value := getattr(most, f"{name}_{unit}")) is not None
    ]
    if not parts:
        return "Nothing limits what debates may cost. Set `ceilings` to change that."
    return f"{'; '.join(parts)} at most. The setting `ceilings` changes that."


async def _tell_of_interrupted(app: App, *, resume: bool) -> None:
    """Say what the interrupted debates may still cost, before they go on."""
    debates = await app.interrupted()
    if not debates:
        return
    left = await still_to_use(app, debates)
    debate = count(len(debates), "interrupted debate")
    what = f"{debate} will go on" if resume else f"{debate} will stay as they are until someone resumes them"
    most = f"at most {count(left.tokens_out, 'token')} are still to be written, {money(left.cost_usd)}"
    note(f"{what}: {most}." + (" Start with --no-resume to leave them as they are." if resume else ""))


async def _has_tokens(app: App) -> bool:
    """Whether there is a token. Never creates a database."""
    return app.database.exists() and bool(await (await app.open()).store.tokens())


def _open_soon(url: str) -> None:
    import webbrowser

    asyncio.get_running_loop().call_later(0.5, lambda: asyncio.create_task(asyncio.to_thread(webbrowser.open, url)))
