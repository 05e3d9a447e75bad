"""How many connections and streams the server holds at once."""

from __future__ import annotations

import sys

from moot.core.errors import InputError
from moot.core.settings import Settings
from moot.core.types import record

KEPT_FILES = 192  # descriptors kept back for debates: databases, providers, connections that are just being accepted
LEAST_CONNECTIONS = 16
STREAMS_SHARE, CLIENT_SHARE = 0.75, 0.25  # of all connections: the rest is kept free for requests, and for others
TOKEN_SHARE = 0.1  # of all streams


@record
class Limits:
    connections: int
    client_connections: int
    streams: int
    token_streams: int

    @classmethod
    def of(cls, settings: Settings, files: int | None = None) -> Limits:
        """What the settings allow, made smaller where this process can't have so many `files` open. Raises InputError
        when it can have too few."""
        room = settings.serve_connections
        if files is not None:
            room = min(room, files - KEPT_FILES)
        if room < min(LEAST_CONNECTIONS, settings.serve_connections):
            raise InputError(
                f"A server needs at least {KEPT_FILES + LEAST_CONNECTIONS} files open at once, and the system allows "
                f"this process {files}. Raise its limit, for example with: ulimit -n 4096"
            )
        streams = min(settings.serve_streams, int(room * STREAMS_SHARE))
        return cls(
            connections=room,
            client_connections=int(room * CLIENT_SHARE),
            streams=streams,
            token_streams=max(1, int(streams * TOKEN_SHARE)),
        )


def raise_file_limit() -> int | None:
    """Let this process open as many files as the system allows it; return how many, or None where that is unknown."""
    if sys.platform == "win32":
        return None
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
        except (OSError, ValueError):  # some systems have a lower limit of their own
            pass
    return None if soft == resource.RLIM_INFINITY else soft
