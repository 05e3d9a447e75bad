"""Whether the server lives, whether it can work, and its numbers."""

from __future__ import annotations

from fastapi import APIRouter, Response

from moot.core.errors import MootError
from moot.server import schemas, views
from moot.server.context import Context, Reader
from moot.server.probe import PROBE_SECONDS
from moot.telemetry.exposition import MEDIA_TYPE
from moot.telemetry.instruments import gauge

router = APIRouter(tags=["health"])


@router.get("/healthz", operation_id="isAlive", summary="Whether the server lives", response_model=schemas.Health)
async def healthz() -> schemas.Health:
    """Answers as long as the process does; it looks at nothing else."""
    return schemas.Health(status="ok")


@router.get(
    "/readyz",
    operation_id="isReady",
    summary="Whether the server can work: its database can be read and written",
    response_model=schemas.Readiness,
    responses={503: {"model": schemas.Readiness, "description": "It can't; the checks say why"}},
)
async def readyz(context: Context) -> Response:
    """503 when one of the checks fails; each says what it has found. It takes two seconds at most."""
    checks = [await _database(context), _running(context)]
    ready = all(check.ok for check in checks)
    view = schemas.Readiness(status="ready" if ready else "not ready", checks=checks)
    return Response(views.json_of(view), 200 if ready else 503, media_type="application/json")


@router.get(
    "/metrics",
    operation_id="getMetrics",
    summary="Numbers for Prometheus",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def get_metrics(context: Context, caller: Reader) -> Response:
    streams = gauge("moot_streams_open", "Event streams that are open here.", context.live.streams)
    return Response(await context.app.metrics([streams]), media_type=MEDIA_TYPE)


async def _database(context: Context) -> schemas.Check:
    try:
        answered = await context.probe.run()
    except MootError as error:
        return schemas.Check(name="database", ok=False, detail=views.masked(str(error)))
    if not answered:
        waited = f"It has not answered for {PROBE_SECONDS:g} seconds: another process may hold it, or its disk is slow."
        return schemas.Check(name="database", ok=False, detail=waited)
    return schemas.Check(name="database", ok=True, detail="It can be read and written.")


def _running(context: Context) -> schemas.Check:
    ok = not context.closing.is_set()
    return schemas.Check(name="server", ok=ok, detail="It takes requests." if ok else "It is about to end.")
