"""Pages of other sites that may use the server (CORS): those that the operator lists, and never with cookies."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware

from moot.core.errors import InputError

ANY = "*"


class Origins:
    """The origins of pages that may use this server."""

    def __init__(self, origins: Collection[str] = ()) -> None:
        self._origins = frozenset(origins)

    @classmethod
    def of(cls, given: Iterable[str], *, demands_token: bool) -> Origins:
        """Raises InputError for what is no origin, and for `*` where no token is demanded."""
        origins = [_origin(each) for each in given]
        if ANY in origins and not demands_token:
            raise InputError(
                "serve_origins is `*`, and no token is demanded: any page that you open could use moot in your name. "
                "List the origins that may, or set serve_tokens to `always`."
            )
        return cls(origins)

    def allow(self, origin: str | None) -> bool:
        return origin is not None and (ANY in self._origins or origin in self._origins)

    def add_to(self, api: Starlette) -> None:
        """Answer preflight requests, and let the listed pages read every response, refusals too."""
        if self._origins:
            api.add_middleware(
                CORSMiddleware,
                allow_origins=[*self._origins],
                allow_methods=["GET", "POST", "PATCH", "DELETE"],
                allow_headers=["*"],
                expose_headers=["*"],
                allow_private_network=True,
            )


def _origin(given: str) -> str:
    """An origin as browsers send it."""
    text = given.strip().rstrip("/").lower()
    if text == ANY:
        return text
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    plain = parts.scheme in ("http", "https") and parts.hostname and text == f"{parts.scheme}://{parts.netloc}"
    if not plain or "@" in parts.netloc or "*" in parts.netloc:
        raise InputError(
            f"serve_origins has {given[:200]!r}, which is no origin. Write scheme, host and, where it is not the usual "
            "one, port, such as https://app.example or http://localhost:3000."
        )
    return text
