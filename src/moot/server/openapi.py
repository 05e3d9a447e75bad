"""The OpenAPI 3.1 description of the API, with every error and every event, for client generators."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast, get_args

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic.json_schema import models_json_schema
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from moot import __version__
from moot.core import lifecycle, types
from moot.core.types import Json
from moot.formats.format import Effort, Tone
from moot.runtime.threads import in_thread
from moot.server import schemas, stream_schema
from moot.server.chat import schemas as chat
from moot.server.context import Needs
from moot.server.problems import Problem, documented

PATH = "/openapi.json"
DESCRIPTION = """\
Debates as resources, what happens in them as live events. Errors are `application/problem+json` (RFC 9457); their
`type` is stable. Those of `/v1/models`, `/v1/chat/` and `/v1/responses` have OpenAI's shape. Times are seconds since
1970, UTC.
"""
TAGS = {
    "debates": "Create debates, list them, look at one",
    "lifecycle": "Start, stop, resume, cancel, retry, fork, rate and guide a debate",
    "deletion": "Delete debates, export them and import them",
    "transcript": "What was said: turns, events, live streams, audit and proof",
    "gates": "What debates ask people, and the answers",
    "records": "Documents made from debates: decision records, issues, ledgers of claims, comparisons",
    "sharing": "Links that show one debate to everyone who has them",
    "memory": "Past decisions and reasoning templates",
    "evaluations": "Whether debates help: stored evaluations and their reports",
    "catalog": "Formats, models and the configuration",
    "session": "Who the caller is, and a browser's login",
    "health": "Whether the server lives and can work, and its numbers",
    "chat": "Debates as models, for OpenAI's clients",
}
LICENSE = "Apache-2.0"

# Choices that several schemas share; each becomes a schema of its own, so that a client has one type for it.
_CHOICES: Mapping[str, Any] = {
    "Status": types.Status,
    "Action": lifecycle.Action,
    "RestingStatus": lifecycle.RestingStatus,
    "Scope": types.Scope,
    "Tier": types.Tier,
    "StepKind": types.StepKind,
    "GateKind": types.GateKind,
    "FailureKind": types.FailureKind,
    "Effort": Effort,
    "Tone": Tone,
}
_DATA = ("default", "example", "examples", "enum", "const")  # keywords whose values are no schemas
_REF = "#/components/schemas/"
_EVERYWHERE = ("too-many-requests", "misdirected", "internal", "store-unavailable")
_CHANGES = ("too-large", "unsupported-media-type", "bad-request")


def route(app: FastAPI, routers: Sequence[APIRouter]) -> Route:
    """Answers with the description. Anyone may ask for it, so it is made and written once, in a thread."""
    written = b""

    async def answer(request: Request) -> Response:
        nonlocal written
        written = written or await in_thread(lambda: json.dumps(describe(app, routers), ensure_ascii=False).encode())
        return Response(written, media_type="application/json")

    return Route(PATH, answer, include_in_schema=False)


def describe(app: FastAPI, routers: Sequence[APIRouter]) -> Json:
    """The description, made on first use."""
    if app.openapi_schema is None:
        app.openapi_schema = _described(app, routers)
    return app.openapi_schema


def _described(app: FastAPI, routers: Sequence[APIRouter]) -> Json:
    made = get_openapi(
        title="moot",
        version=__version__,
        description=DESCRIPTION,
        license_info={"name": LICENSE, "identifier": LICENSE},
        servers=[{"url": "/", "description": "the server that has this description"}],
        tags=[{"name": name, "description": about} for name, about in TAGS.items()],
        routes=app.routes,
    )
    components: Json = made.setdefault("components", {})
    named: Json = components.setdefault("schemas", {})
    streamed = (Problem, *stream_schema.KINDS.values())
    _, extra = models_json_schema([(model, "serialization") for model in streamed], ref_template=_REF + "{model}")
    for name, schema in cast(Json, extra["$defs"]).items():
        named.setdefault(name, schema)
    for unused in ("HTTPValidationError", "ValidationError"):
        named.pop(unused, None)
    named |= stream_schema.SCHEMAS
    components["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "made by the operator of the server"},
        "session": {"type": "apiKey", "in": "cookie", "name": "moot_session", "description": "see `login`"},
    }
    made = _renamed(made)
    for route in routes(routers):
        for method in route.methods or ():
            operation = made["paths"][route.path_format][method.lower()]
            _complete(operation, method, scope_of(route), in_chat="chat" in route.tags)
    return _tidied(made)


def _tidied(made: Json) -> Json:
    """Without the titles that the validation library makes of field names: generators would take them for names of
    classes, and several schemas have the same. With one schema for each of `_CHOICES`."""
    components = made["components"]
    choices: Json = {name: {"type": "string", "enum": list(get_args(of))} for name, of in _CHOICES.items()}
    refs = {tuple(choice["enum"]): f"{_REF}{name}" for name, choice in choices.items()}
    schemas_: Json = {name: _schema(schema, refs) for name, schema in components["schemas"].items()}
    choices["Action"]["x-labels"] = schemas.LABELS
    paths = {path: _schema(methods, refs) for path, methods in made["paths"].items()}
    return {**made, "paths": paths, "components": {**components, "schemas": schemas_ | choices}}


def _schema(node: Any, refs: Mapping[tuple[str, ...], str]) -> Any:
    """A schema, or anything that contains some, without titles and with references to shared choices."""
    if isinstance(node, list):
        return [_schema(each, refs) for each in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    found = {name: value for name, value in cast(Json, node).items() if name != "title"}
    shared = refs.get(tuple(found["enum"])) if found.get("type") == "string" and "enum" in found else None
    if shared is not None:
        about = {name: value for name, value in found.items() if name not in ("type", "enum")}
        return {"$ref": shared, **about}
    return {name: _inside(name, value, refs) for name, value in found.items()}


def _inside(keyword: str, value: Any, refs: Mapping[tuple[str, ...], str]) -> Any:
    if keyword in _DATA:
        return value
    if keyword == "properties":  # its keys are names, of which one may be `title`
        return {name: _schema(each, refs) for name, each in value.items()}
    return _schema(value, refs)


def _renamed(made: Json) -> Json:
    """Where two modules use a name, `schemas` keeps it, and the others' get their module's name in front."""
    text = json.dumps(made)
    for name in made["components"]["schemas"]:
        *modules, last = name.split("__")
        if modules:
            own = modules[-1] == "schemas"
            text = text.replace(f'{name}"', f'{"" if own else modules[-1].capitalize()}{last}"')
    return json.loads(text)


def _given(schema: Json) -> Json:
    """The schema of a parameter that is given: it can be left out, but an address has no null. Its description is the
    parameter's."""
    kinds: list[Json] = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    only: Json = kinds[0] if len(kinds) == 1 else {}
    dropped = {"description", *(("anyOf",) if only else ())}
    return {**only, **{name: value for name, value in schema.items() if name not in dropped}}


def _in_chat(*slugs: str) -> dict[int | str, Json]:
    content = {"application/json": {"schema": {"$ref": f"{_REF}ChatError"}}}
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
    for parameter in operation.get("parameters", ()):
        parameter["schema"] = _given(parameter["schema"])
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
    else:
        operation["security"] = []
