"""The ASGI application: one FastAPI app around one `App`, with every router, middleware and mounted endpoint."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from moot import __version__
from moot.app import App
from moot.dispatch import Dispatcher, dispatcher_of
from moot.server import dashboard, openapi, problems
from moot.server.chat import completions, models, responses
from moot.server.chat.errors import OpenAIErrors
from moot.server.context import ServerContext, admit
from moot.server.guard import ClientRates, Guard, Names, is_loopback
from moot.server.limits import Limits
from moot.server.mounts import Mounted, Mounts
from moot.server.origins import Origins
from moot.server.request_ids import RequestIds
from moot.server.routes import (
    catalog,
    debates,
    deletion,
    evaluations,
    gates,
    health,
    lessons,
    lifecycle,
    memory,
    records,
    session,
    shares,
    stream,
    transcript,
)
from moot.server.slowing import Slowing

# What OpenAPI describes; the dashboard and other protocols are mounted in `create_app`.
ROUTERS = [
    debates.router,
    lifecycle.router,
    deletion.router,
    transcript.router,
    stream.router,
    gates.router,
    records.router,
    shares.router,
    memory.router,
    lessons.router,
    evaluations.router,
    catalog.router,
    session.router,
    health.router,
    models.router,
    completions.router,
    responses.router,
]


def demands_token(app: App, host: str) -> bool:
    return app.settings.serve_tokens == "always" or not is_loopback(host)


def create_app(
    app: App,
    *,
    host: str | None = None,
    dispatcher: Dispatcher | None = None,
    files: int | None = None,
    mounts: Mounts | None = None,
) -> FastAPI:
    """`host` is the address that it will be served on, `files` how many this process may have open, `mounts` other
    protocols that are served beside the API. The caller closes `app` when the server has ended. Raises InputError when
    there can be too few connections, and for origins that can't be let in."""
    settings, host = app.settings, host or app.settings.serve_host
    limits = Limits.of(settings, files)
    origins = Origins.of(settings.serve_origins, demands_token=demands_token(app, host))
    mounted = [Mounted(path, make) for path, make in (mounts or {}).items()]

    @asynccontextmanager
    async def lifespan(api: FastAPI) -> AsyncGenerator[None]:
        await app.open()
        context = ServerContext(app, dispatcher or dispatcher_of(app), limits, demands_token=demands_token(app, host))
        api.state.context = context
        await context.dispatcher.open()
        try:
            async with app.retained():
                yield
        finally:
            context.closing.set()
            context.live.close()
            await context.probe.close()
            for each in mounted:
                await each.close()
            await context.dispatcher.close()

    api = FastAPI(title="moot", version=__version__, lifespan=lifespan, openapi_url=None)
    api.state.limits = limits
    for router in ROUTERS:
        api.include_router(router)
    api.router.routes.extend(each.route() for each in mounted)
    api.router.routes.append(shares.route())
    api.router.routes.append(openapi.route(api, ROUTERS))
    api.router.routes.extend(dashboard.routes())
    problems.handle(api, openapi.routes(ROUTERS))
    api.add_middleware(
        Guard,
        names=Names(host, settings.serve_hosts),
        rates=ClientRates(settings.serve_rate),
        slowing=Slowing(settings.serve_rate),
        at_once=limits.client_connections,
        admit=admit,
        origins=origins,
        max_import=settings.serve_import_mb * 1_000_000,
    )
    api.add_middleware(OpenAIErrors, paths=[route.path for route in openapi.routes(ROUTERS)])
    api.add_middleware(RequestIds)
    origins.add_to(api)
    api.openapi = lambda: openapi.describe(api, ROUTERS)
    return api
