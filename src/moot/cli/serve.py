"""The command `moot serve`."""

from __future__ import annotations

import asyncio
from argparse import Namespace

from moot.app import App
from moot.cli.commands import DONE
from moot.cli.download import Download
from moot.cli.printer import note
from moot.cli.session import ceilings_of, configure_logging, open_app, open_database
from moot.core.ceilings import debate_usd
from moot.core.errors import InputError
from moot.core.settings import Settings, read

WARM_UP_SECONDS = 0.5  # the server itself starts first


async def serve(args: Namespace) -> int:
    from moot.server.app import create_app, demands_token
    from moot.server.limits import raise_file_limit
    from moot.server.serving import Server, address_of, listen

    download = Download()
    async with open_app(args, download, measured=True) as app:
        flags = {"serve_host": args.host, "serve_port": args.port}
        given = {name: value for name, value in flags.items() if value is not None}
        app.settings = settings = read(Settings, app.settings.model_dump() | given)
        app.ceilings = ceilings_of(app, args)
        configure_logging(app)
        if demands_token(app, settings.serve_host) and not await _has_tokens(app):
            raise InputError(
                f"On {settings.serve_host} others can reach moot, so everyone needs a token, and there is none yet. "
                "Make one with: moot token create NAME --scope read,run,decide"
            )
        api = create_app(app, host=settings.serve_host, files=raise_file_limit())
        bound = listen(settings.serve_host, settings.serve_port)
        await (await open_database(app)).store.writable()
        url = address_of(bound, settings.serve_host)
        server = Server(api, behind_proxy=bool(settings.serve_hosts))
        print(f"moot listens on {url}", flush=True)
        note(_ceilings(app))
        note("Ctrl-C ends it: steps in flight finish first, and debates go on when it is started again.")
        if app.queue is None:  # debates run here
            asyncio.get_running_loop().call_later(WARM_UP_SECONDS, app.warm_up)
        if args.open:
            _open_soon(url)
        await server.run_on(bound)
        note("Ended. Debates that were running go on when moot serve is started again.")
    return DONE


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


async def _has_tokens(app: App) -> bool:
    """Whether there is a token. Never creates a database."""
    return app.database.exists() and bool(await (await open_database(app)).store.tokens())


def _open_soon(url: str) -> None:
    import webbrowser

    asyncio.get_running_loop().call_later(0.5, lambda: asyncio.create_task(asyncio.to_thread(webbrowser.open, url)))
