"""Errors in OpenAI's shape, and the way to go for paths of OpenAI's that moot does not have."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from moot.config import masked
from moot.core.types import Json
from moot.server.problems import MEDIA_TYPE, Refused

PATHS = ("/v1/models", "/v1/chat/", "/v1/responses")

# ASCII: text in flight can end in the middle of a character, which UTF-8 has no form for.
dumps = json.JSONEncoder(separators=(",", ":")).encode

_TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}

_HERE = "This server has POST /v1/chat/completions, POST /v1/responses and GET /v1/models."
_WRONG_BASE = re.compile(r"/(?:(?:v1/){2,})?(?:chat/completions|responses|models|completions|embeddings)/?")


def error_of(status: int, message: str, code: str, param: str | None = None) -> Json:
    kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"message": message, "type": kind, "param": param, "code": code}


def error_of_refusal(refused: Refused) -> Json:
    return error_of(refused.kind.status, masked(refused.detail), refused.kind.slug.replace("-", "_"))


def way_to_go(path: str, known: Collection[str] = ()) -> str | None:
    """What to do instead of asking for a path that moot does not have; None if it is none that OpenAI's clients could
    use. `known`: the first names in the paths of moot's own API, whose errors are moot's."""
    names, path = path.strip("/").split("/"), path[:100]
    if _WRONG_BASE.fullmatch(path):
        return f"There is no {path} here. Is the base URL right? It ends in /v1, once. {_HERE}"
    if names[0] == "v1" and (len(names) == 1 or names[1] not in known):
        return f"There is no {path} here. {_HERE} /openapi.json lists every path."
    return None


class OpenAIErrors:
    """Middleware: problems in OpenAI's shape on the paths that its clients use, those of the guard included."""

    def __init__(self, app: ASGIApp, paths: Iterable[str]) -> None:
        """`paths`: of all routes of the API."""
        self.app = app
        self._known = {name for _, version, name, *_ in (f"{path}//".split("/") for path in paths) if version == "v1"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        advice = way_to_go(scope["path"], self._known) if scope["type"] == "http" else None
        if scope["type"] != "http" or not (advice or scope["path"].startswith(PATHS)):
            await self.app(scope, receive, send)
            return
        begun: Message | None = None
        body = b""

        async def translated(message: Message) -> None:
            nonlocal begun, body
            if message["type"] == "http.response.start" and _is_problem(message):
                begun = message
            elif begun is None:
                await send(message)
            else:
                body += message.get("body", b"")
                if not message.get("more_body"):
                    error = _translated(begun["status"], json.loads(body), advice)
                    headers = MutableHeaders(scope=begun)
                    headers["content-type"], headers["content-length"] = "application/json", str(len(error))
                    await send(begun)
                    await send({"type": "http.response.body", "body": error})

        await self.app(scope, receive, translated)


def _is_problem(message: Message) -> bool:
    return (MutableHeaders(scope=message).get("content-type") or "").startswith(MEDIA_TYPE)


def _translated(status: int, problem: Json, advice: str | None) -> bytes:
    wrong: list[Any] = problem.get("errors") or []
    where = str(wrong[0].get("where", "")).removeprefix("body.") if wrong else None
    code = problem.get("code") or str(problem.get("type", "")).rpartition(":")[2].replace("-", "_")
    told = advice if status in (404, 405) and advice else str(problem.get("detail", ""))
    return dumps({"error": error_of(status, told, code, problem.get("param") or where)}).encode()
