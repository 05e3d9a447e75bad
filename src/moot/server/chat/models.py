"""`/v1/models`: every format and every preset, as a model."""

from __future__ import annotations

from fastapi import APIRouter

from moot.app import App
from moot.client.presets import named
from moot.core.errors import UnknownName
from moot.core.types import Json
from moot.request import Request
from moot.server.chat import schemas
from moot.server.chat.callers import Reader
from moot.server.context import Context, ServerContext
from moot.server.problems import Refused

router = APIRouter(tags=["chat"])

PREFIX = "moot/"


@router.get(
    "/v1/models",
    operation_id="listModels",
    summary="Every format and every preset, as a model",
    response_model=schemas.ChatModelList,
)
async def list_models(context: Context, caller: Reader) -> Json:
    return {"object": "list", "data": [_model(context, name) for name in named(context.app)]}


@router.get(
    "/v1/models/{name:path}",
    operation_id="getModel",
    summary="One of them",
    response_model=schemas.ChatModel,
    responses=schemas.documented("not-found"),
)
async def get_model(name: str, context: Context, caller: Reader) -> Json:
    find_model(context.app, name)
    return _model(context, name.removeprefix(PREFIX))


def find_model(app: App, name: str) -> Request:
    """The format or preset called `moot/NAME` or `NAME`. Raises Refused when there is none."""
    known = named(app)
    found = known.get(name.removeprefix(PREFIX))
    if found is None:
        hint = str(UnknownName("model", name, [PREFIX + each for each in known]))
        raise Refused("not-found", f"{hint} GET /v1/models lists them.", code="model_not_found", param="model")
    return found


def _model(context: ServerContext, name: str) -> Json:
    preset = named(context.app)[name]
    format_ = context.app.formats.get(preset.format or "")
    about = format_.summary if format_ else "The format that suits the question."
    return {
        "id": PREFIX + name,
        "object": "model",
        "created": 0,
        "owned_by": "moot",
        "description": about,
    }
