"""The server: one FastAPI app around one `App`. What is served is listed here and nowhere else."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from moot import __version__
from moot.app import App
from moot.server import dashboard, openapi, problems
from moot.server.agents import Agents
from moot.server.chat import routes as chat
from moot.server.chat.replies import Errors
from moot.server.going import Runs, runs_of
from moot.server.guard import Guard, Names, Rates, is_loopback
from moot.server.house import House
from moot.server.routes import (
    catalog,
    debates,
    gates,
    health,
    lifecycle,
    memory,
    records,
    session,
    stream,
    transcript,
)

# What the description of the API has; other ways in (the dashboard, MCP) mount themselves in `create_app`.
ROUTERS = [
    debates.router,
    lifecycle.router,
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


def create_app(app: App, *, host: str | None = None, runs: Runs | None = None) -> FastAPI:
    """`host` is the address that it will be served on. The caller closes `app` when the server has ended."""
    settings, host = app.settings, host or app.settings.serve_host
    agents = Agents()

    @asynccontextmanager
    async def lifespan(api: FastAPI) -> AsyncGenerator[None]:
        await app.runtime.store.open()
        house = House(app, runs or runs_of(app), demands_token=demands_token(app, host))
        api.state.house = house
        await house.runs.open()
        try:
            yield
        finally:
            house.closing.set()
            await agents.close()
            await house.runs.close()

    api = FastAPI(title="moot", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    for router in ROUTERS:
        api.include_router(router)
    api.router.routes.extend(agents.routes())
    api.router.routes.extend(dashboard.routes())
    problems.handle(api, openapi.routes(ROUTERS))
    api.add_middleware(Guard, names=Names(host, settings.serve_hosts), rates=Rates(settings.serve_rate))
    api.add_middleware(Errors)
    api.openapi = lambda: openapi.describe(api, ROUTERS)
    return api
