"""Every error as `application/problem+json` (RFC 9457). The types are stable; docs/api.md lists them."""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from moot.config import masked
from moot.core.errors import (
    MOST_QUOTED,
    AmbiguousId,
    DatabaseAway,
    DatabaseHeld,
    DebateDeleted,
    InputError,
    KeyReused,
    ModelError,
    MootError,
    NoSuchDebate,
    NotWritable,
    OverBudget,
    ScopeMissing,
    ScriptError,
    StoreError,
    Superseded,
    UnknownModel,
    UnknownName,
    WrongStatus,
)
from moot.core.explaining import in_words, sentence
from moot.core.types import record

log = logging.getLogger("moot.server")

MEDIA_TYPE = "application/problem+json"
NOT_UTF8 = "The body is not UTF-8, or has a character 0. Send JSON in UTF-8, with control characters escaped."
RETRY_AFTER = "5"  # seconds, for a database that may be free or back by then
_PREFIX = "urn:moot:problem:"


@record
class Kind:
    slug: str
    status: int
    title: str


KINDS = [
    Kind(slug="bad-request", status=400, title="The request can't be read"),
    Kind(slug="token-needed", status=401, title="A token is needed"),
    Kind(slug="scope-missing", status=403, title="The token does not allow this"),
    Kind(slug="cross-origin", status=403, title="The request comes from another site"),
    Kind(slug="not-found", status=404, title="There is no such thing"),
    Kind(slug="unknown-debate", status=404, title="There is no such debate"),
    Kind(slug="method-not-allowed", status=405, title="This can't be done with it"),
    Kind(slug="too-slow", status=408, title="The request took too long to arrive"),
    Kind(slug="ambiguous-id", status=409, title="Several debates have ids that begin so"),
    Kind(slug="wrong-status", status=409, title="The debate's status does not allow this"),
    Kind(slug="already-answered", status=409, title="Someone else was first"),
    Kind(slug="rules-changed", status=409, title="The record and the rules part"),
    Kind(slug="deleted", status=410, title="The debate was deleted"),
    Kind(slug="stale", status=412, title="It has changed since you looked"),
    Kind(slug="too-large", status=413, title="The request is too large"),
    Kind(slug="unsupported-media-type", status=415, title="The body must be JSON"),
    Kind(slug="misdirected", status=421, title="This server is not known under that name"),
    Kind(slug="invalid", status=422, title="The request is not valid"),
    Kind(slug="unknown-name", status=422, title="There is no such name"),
    Kind(slug="unknown-model", status=422, title="There is no such model"),
    Kind(slug="key-reused", status=422, title="The idempotency key was used for something else"),
    Kind(slug="too-many-requests", status=429, title="Too many requests"),
    Kind(slug="over-budget", status=429, title="The budget is used up"),
    Kind(slug="internal", status=500, title="A bug in moot"),
    Kind(slug="model-failed", status=502, title="A model gave no usable answer"),
    Kind(slug="store-unavailable", status=503, title="The database can't be used"),
    Kind(slug="too-many-connections", status=503, title="Too many connections are open"),
    Kind(slug="too-many-streams", status=503, title="Too many streams are open"),
]
# Why FastAPI could not read a body, apart from wrong syntax: the first that fits.
_UNREAD: list[tuple[type[Exception], str]] = [
    (UnicodeError, NOT_UTF8),
    (RecursionError, "The body is nested too deeply. Send lists and objects in fewer levels."),
    (ValueError, "A number in the body has too many digits. Send a shorter one, or the digits as text."),
]
_LONGEST, _DEEPEST, _MOST_ERRORS = 100, 10, 20  # of what is quoted from a request
_BY_SLUG = {kind.slug: kind for kind in KINDS}
_BY_STATUS = {400: "bad-request", 401: "token-needed", 404: "not-found", 405: "method-not-allowed", 413: "too-large"}

# The first that fits; the tree is drawn in moot/core/errors.py.
_BY_ERROR: list[tuple[type[MootError], str]] = [
    (DebateDeleted, "deleted"),
    (NoSuchDebate, "unknown-debate"),
    (AmbiguousId, "ambiguous-id"),
    (ScopeMissing, "scope-missing"),
    (KeyReused, "key-reused"),
    (WrongStatus, "wrong-status"),
    (OverBudget, "over-budget"),
    (UnknownModel, "unknown-model"),
    (UnknownName, "unknown-name"),
    (InputError, "invalid"),
    (ScriptError, "rules-changed"),
    (ModelError, "model-failed"),
    (Superseded, "wrong-status"),
    (StoreError, "store-unavailable"),
]


# What callers are told of a database; the error itself tells the operator what to do. The first that fits.
_UNUSABLE: list[tuple[type[StoreError], str]] = [
    (DatabaseHeld, "The server can't write to its database just now. Nothing was stored: try again in a few seconds."),
    (DatabaseAway, "The server can't reach its database just now. Nothing was stored: try again in a few seconds."),
    (
        NotWritable,
        "The server can't write to its database. Nothing was stored: try again later, or tell whoever runs this "
        "server. Its log says why.",
    ),
]
# What is added to the text of an error, by its remedy.
_REMEDIES = {
    "list": "{} with GET /v1/debates.",
    "step": "{}. Give it in `at`.",
    "scope": "{}. Ask the operator of this server for one that has it.",
}


class Wrong(BaseModel):
    """One thing that is wrong with a request."""

    where: str = Field(description="a dotted path into the request, for example `body.settings`")
    message: str


class Problem(BaseModel):
    """Why a request was refused, and what to do."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(description="stable: `urn:moot:problem:` and a slug", examples=[f"{_PREFIX}wrong-status"])
    title: str = Field(description="the same for all problems of a type")
    status: int = Field(ge=400, le=599)
    detail: str = Field(description="what happened here, and what to do next")
    plain: str | None = Field(None, description="the detail without words of this API, for people; null: it has none")
    instance: str = Field(description="the path that was asked for")
    errors: list[Wrong] | None = Field(None, description="of a request that is not valid: everything that is wrong")
    actions: list[str] | None = Field(None, description="of a debate with the wrong status: what can be done instead")
    opens_at: float | None = Field(None, description="of a budget that is used up: when it opens again, in seconds")
    answered_by: str | None = Field(None, description="of a question that was answered already: by whom")


class Refused(HTTPException):
    """Raised by routes and the guard to answer with a problem. Of what is raised while a body is received, FastAPI lets
    only an `HTTPException` through."""

    headers: dict[str, str]

    def __init__(self, slug: str, detail: str, *, headers: Mapping[str, str] | None = None, **extensions: Any) -> None:
        self.kind = _BY_SLUG[slug]
        super().__init__(self.kind.status, detail, dict(headers or {}))
        self.extensions = extensions

    def __str__(self) -> str:
        return self.detail


def response(refused: Refused, path: str) -> Response:
    kind = refused.kind
    problem = Problem(
        type=_PREFIX + kind.slug,
        title=kind.title,
        status=kind.status,
        detail=masked(refused.detail),
        instance=path[:MOST_QUOTED],
        **refused.extensions,
    )
    # ASCII: a refusal may quote half a character, which has no other form.
    body = json.dumps(problem.model_dump(exclude_none=True))
    return Response(body, kind.status, refused.headers, MEDIA_TYPE)


def refusal(error: MootError) -> Refused:
    slug = next((slug for kind, slug in _BY_ERROR if isinstance(error, kind)), "internal")
    if isinstance(error, OverBudget):
        # OpenAI's clients retry a 429 by themselves, after `Retry-After` seconds: this one may be hours away.
        headers = {"Retry-After": str(math.ceil(max(1.0, error.opens_at - time.time()))), "X-Should-Retry": "false"}
        return Refused(slug, str(error), headers=headers, opens_at=error.opens_at)
    headers = {"Retry-After": RETRY_AFTER} if isinstance(error, DatabaseHeld | DatabaseAway) else None
    unusable = next((words for kind, words in _UNUSABLE if isinstance(error, kind)), None)
    if unusable is not None:
        log.warning("a request was refused: %s", masked(str(error)))
        return Refused(slug, unusable, headers=headers)
    remedy = _REMEDIES.get(error.remedy)
    if remedy is None:
        return Refused(slug, str(error), headers=headers)
    return Refused(slug, remedy.format(str(error).removesuffix(".")), headers=headers, plain=masked(str(error)))


def documented(*slugs: str) -> dict[int | str, dict[str, Any]]:
    """For the `responses` of a route: problems of these types. What may be unknown may also have been deleted."""
    slugs = (*slugs, "deleted") if "unknown-debate" in slugs else slugs
    found: dict[int | str, list[str]] = {}
    for kind in (_BY_SLUG[slug] for slug in slugs):
        found.setdefault(kind.status, []).append(kind.slug)
    return {status: _documented(slugs) for status, slugs in found.items()}


def _documented(slugs: list[str]) -> dict[str, Any]:
    description = ". ".join(f"{_BY_SLUG[slug].title} (`{slug}`)" for slug in slugs)
    return {"description": description, "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}


def handle(app: FastAPI, routes: Sequence[APIRoute]) -> None:
    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, Refused)
        return response(error, request.url.path)

    async def moot_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, MootError)
        return response(refusal(error), request.url.path)

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return response(_invalid(error), request.url.path)

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return response(_http(error, request.url.path, routes), request.url.path)

    app.add_exception_handler(Refused, refused)
    app.add_exception_handler(MootError, moot_error)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)


def unexpected() -> Refused:
    """The problem for an unexpected error. It has no details, which could hold anything: the log has them."""
    return Refused("internal", "Something unexpected happened. It is a bug in moot; the server's log says where.")


def _invalid(error: RequestValidationError) -> Refused:
    found = error.errors()
    wrong = [Wrong(where=_quoted(each["loc"]), message=in_words(each)[:_LONGEST]) for each in found[:_MOST_ERRORS]]
    if any(each["type"] == "json_invalid" for each in found):
        return Refused("bad-request", "The body is not valid JSON.", errors=wrong)
    first = "; ".join(sentence(each.where, each.message) for each in wrong[:3])
    more = f" {len(wrong) - 3} more problems follow in `errors`." if len(wrong) > 3 else ""
    more += f" There are {len(found) - len(wrong):,} others." if len(found) > len(wrong) else ""
    return Refused("invalid", f"{first}.{more} /openapi.json has the shape of every request.", errors=wrong)


def _quoted(path: Sequence[int | str]) -> str:
    """A place in a request. The names in it are the caller's, and as long as it pleases."""
    named = [str(part) for part in path[:_DEEPEST]]
    return ".".join(name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…" for name in named)


def _http(error: HTTPException, path: str, routes: Sequence[APIRoute]) -> Refused:
    headers = error.headers or {}
    if error.status_code == 405:
        # The header names the methods of the first route only that has the path.
        methods = sorted({method for each in routes if each.path_regex.match(path) for method in each.methods or ()})
        allow = ", ".join(methods) or headers.get("allow", "")
        return Refused("method-not-allowed", f"It takes {allow}.", headers={"Allow": allow})
    if error.status_code == 404:
        return Refused("not-found", "There is nothing here. /openapi.json lists every path.")
    unread = next((words for kind, words in _UNREAD if isinstance(error.__cause__, kind)), None)
    if error.status_code == 400 and unread is not None:
        return Refused("bad-request", unread)
    slug = _BY_STATUS.get(error.status_code, "bad-request" if error.status_code < 500 else "internal")
    return Refused(slug, str(error.detail), headers=headers)
