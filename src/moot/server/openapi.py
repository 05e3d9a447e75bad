"""The OpenAPI 3.1 description of the API, with every error and every event, for client generators."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic.json_schema import models_json_schema

from moot import __version__
from moot.core.types import Json
from moot.server import schemas
from moot.server.chat import schemas as chat
from moot.server.context import Needs
from moot.server.problems import Problem, documented

DESCRIPTION = """\
Debates as resources, what happens in them as live events. Errors are `application/problem+json` (RFC 9457); their
`type` is stable. Those of `/v1/models` and `/v1/chat/` have OpenAI's shape. Times are seconds since 1970, UTC.
"""
_STREAMED = (Problem, schemas.Event, schemas.Delta, schemas.End, schemas.DebateSummary)
_EVERYWHERE = ("too-many-requests", "misdirected", "internal", "store-unavailable")
_CHANGES = ("too-large", "unsupported-media-type", "bad-request")


def describe(app: FastAPI, routers: Sequence[APIRouter]) -> Json:
    """The description, made on first use."""
    if app.openapi_schema is None:
        app.openapi_schema = _described(app, routers)
    return app.openapi_schema


def _described(app: FastAPI, routers: Sequence[APIRouter]) -> Json:
    made = get_openapi(title="moot", version=__version__, description=DESCRIPTION, routes=app.routes)
    components: Json = made.setdefault("components", {})
    named: Json = components.setdefault("schemas", {})
    _, extra = models_json_schema(
        [(model, "serialization") for model in _STREAMED], ref_template="#/components/schemas/{model}"
    )
    for name, schema in cast(Json, extra["$defs"]).items():
        named.setdefault(name, schema)
    for unused in ("HTTPValidationError", "ValidationError"):
        named.pop(unused, None)
    components["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "made by the operator of the server"},
        "session": {"type": "apiKey", "in": "cookie", "name": "moot_session", "description": "see `login`"},
    }
    made = _renamed(made)
    for route in routes(routers):
        for method in route.methods or ():
            operation = made["paths"][route.path_format][method.lower()]
            _complete(operation, method, scope_of(route), in_chat="chat" in route.tags)
    return made


def _renamed(made: Json) -> Json:
    """Where two modules use a name, `schemas` keeps it, and the others' get their module's name in front."""
    text = json.dumps(made)
    for name in made["components"]["schemas"]:
        *modules, last = name.split("__")
        if modules:
            own = modules[-1] == "schemas"
            text = text.replace(f'{name}"', f'{"" if own else modules[-1].capitalize()}{last}"')
    return json.loads(text)


def _in_chat(*slugs: str) -> dict[int | str, Json]:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/ChatError"}}}
    return {
        status: {"description": response["description"], "content": content}
        for status, response in chat.documented(*slugs).items()
    }


def routes(routers: Sequence[APIRouter]) -> list[APIRoute]:
    """The routes that are described."""
    found = [route for router in routers for route in router.routes]
    return [route for route in found if isinstance(route, APIRoute) and route.include_in_schema]


def scope_of(route: APIRoute) -> schemas.Scope | None:
    """The scope that a route needs; None: no token is needed."""
    for dependency in route.dependant.dependencies:
        if isinstance(dependency.call, Needs):
            return dependency.call.scope
    return None


def _complete(operation: Json, method: str, scope: schemas.Scope | None, *, in_chat: bool) -> None:
    """Add what all routes have in common: errors (in OpenAI's shape for chat routes), scope, security."""
    slugs = [*_EVERYWHERE, *(() if method == "GET" else ("cross-origin", *_CHANGES))]
    slugs += ["token-needed", "scope-missing"] if scope else []
    responses: Json = operation["responses"]
    if "HTTPValidationError" in str(responses.get("422")):
        del responses["422"]
        slugs.append("invalid")
    for status, response in (_in_chat if in_chat else documented)(*slugs).items():
        have = responses.get(str(status))
        if have is None:
            responses[str(status)] = response
        elif response["description"] not in have["description"]:
            have["description"] += f". {response['description']}"
            have.setdefault("content", {}).update(response["content"])
    operation["responses"] = dict(sorted(responses.items()))
    if scope is not None:
        operation["security"] = [{}, {"token": []}, {"session": []}]
        operation["x-scope"] = scope
        operation["description"] = f"{operation.get('description', '').strip()}\n\nNeeds the scope `{scope}`.".strip()
