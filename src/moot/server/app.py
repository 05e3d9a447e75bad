"""The ASGI application: one FastAPI app around one `App`, with every router, middleware and mounted endpoint."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from moot import __version__
from moot.app import App
from moot.server import dashboard, openapi, problems
from moot.server.chat import routes as chat
from moot.server.chat.completions import OpenAIErrors
from moot.server.context import ServerContext
from moot.server.dispatch import Dispatcher, dispatcher_of
from moot.server.guard import ClientRates, Guard, Names, is_loopback
from moot.server.limits import Limits
from moot.server.mcp_endpoint import McpEndpoint
from moot.server.routes import (
    catalog,
    debates,
    deletion,
    gates,
    health,
    lifecycle,
    memory,
    records,
    session,
    stream,
    transcript,
)

# What OpenAPI describes; the dashboard and MCP are mounted in `create_app`.
ROUTERS = [
    debates.router,
    lifecycle.router,
    deletion.router,
    transcript.router,
    stream.router,
    gates.router,
    records.router,
    memory.router,
    catalog.router,
    session.router,
    health.router,
    chat.router,
]


def demands_token(app: App, host: str) -> bool:
    return app.settings.serve_tokens == "always" or not is_loopback(host)


def create_app(
    app: App, *, host: str | None = None, dispatcher: Dispatcher | None = None, files: int | None = None
) -> FastAPI:
    """`host` is the address that it will be served on, `files` how many this process may have open. The caller closes
    `app` when the server has ended. Raises InputError when there can be too few connections."""
    settings, host = app.settings, host or app.settings.serve_host
    limits = Limits.of(settings, files)
    mcp = McpEndpoint()

    @asynccontextmanager
    async def lifespan(api: FastAPI) -> AsyncGenerator[None]:
        await app.runtime.store.open()
        context = ServerContext(app, dispatcher or dispatcher_of(app), limits, demands_token=demands_token(app, host))
        api.state.context = context
        await context.dispatcher.open()
        try:
            async with app.retained():
                yield
        finally:
            context.closing.set()
            await context.probe.close()
            await mcp.close()
            await context.dispatcher.close()

    api = FastAPI(title="moot", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    api.state.limits = limits
    for router in ROUTERS:
        api.include_router(router)
    api.router.routes.extend(mcp.routes())
    api.router.routes.extend(dashboard.routes())
    problems.handle(api, openapi.routes(ROUTERS))
    api.add_middleware(
        Guard,
        names=Names(host, settings.serve_hosts),
        rates=ClientRates(settings.serve_rate),
        at_once=limits.client_connections,
    )
    api.add_middleware(OpenAIErrors)
    api.openapi = lambda: openapi.describe(api, ROUTERS)
    return api
