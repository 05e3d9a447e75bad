"""The dashboard: files that `make web` has built into the package. They know nothing but the public API.

Names of assets hold a hash of what is in them, so browsers may keep them for good; the page is asked for anew."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from collections.abc import Callable
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

STATIC = Path(__file__).parent / "static"

# The paths of the page's own: each is the same file, which shows what its path says.
PAGES = (
    "/",
    "/new",
    "/history",
    "/evaluations",
    "/evaluations/{evaluation_id}",
    "/login",
    "/compare",
    "/compare/{one}/{two}",
    "/debates/{debate_id}",
    "/debates/{debate_id}/record",
)

_FOR_GOOD = "public, max-age=31536000, immutable"
_TEXTUAL = ("text/", "application/javascript", "image/svg+xml")

_NOT_BUILT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>moot</title>
<h1>The dashboard is not built</h1>
<p>moot serves its API here all the same: <a href="/openapi.json">/openapi.json</a> and docs/api.md describe it.</p>
<p>To build the dashboard from a checkout, run:</p>
<pre>make web</pre>
<p>and load this page again. It needs no restart. Packages from an index have it built in.</p>
</html>
"""


def is_built(folder: Path = STATIC) -> bool:
    return (folder / "index.html").is_file()


def routes(folder: Path = STATIC) -> list[BaseRoute]:
    def page(request: Request) -> Response:
        try:
            body = (folder / "index.html").read_bytes()
        except OSError:
            return Response(_NOT_BUILT, 503, {"Cache-Control": "no-store"}, "text/html")
        return _answer(request, body, "text/html", "no-cache")

    def asset(request: Request) -> Response:
        name = request.path_params["name"]
        # Only a name that is there is ever joined to the folder.
        if name not in {each.name for each in _files(folder / "assets")}:
            raise HTTPException(404)
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return _answer(request, (folder / "assets" / name).read_bytes(), kind, _FOR_GOOD)

    return [_get(path, page) for path in PAGES] + [_get("/assets/{name}", asset)]


def _get(path: str, endpoint: Callable[[Request], Response]) -> BaseRoute:
    return Route(path, endpoint, methods=["GET"], include_in_schema=False)


def _files(folder: Path) -> list[Path]:
    try:
        return [each for each in folder.iterdir() if each.is_file()]
    except OSError:
        return []


def _answer(request: Request, body: bytes, kind: str, keep: str) -> Response:
    tag = f'"{hashlib.sha256(body).hexdigest()[:20]}"'
    headers = {"Cache-Control": keep, "ETag": tag, "Vary": "Accept-Encoding"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if kind.startswith(_TEXTUAL) and "gzip" in request.headers.get("accept-encoding", ""):
        body = gzip.compress(body, 6, mtime=0)
        headers["Content-Encoding"] = "gzip"
    return Response(body, 200, headers, kind)
