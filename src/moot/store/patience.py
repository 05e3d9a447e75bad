"""How long a write waits while another process holds the database. SQLite only: PostgreSQL has time-outs of its own."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

BUSY_SECONDS = 30.0  # unless something else is said
REQUEST_SECONDS = 4.0  # for a request over HTTP, whose client can try again


class Patience:
    """May be changed while a write waits: the new time counts from when the write was asked for."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds


patience: ContextVar[Patience] = ContextVar("moot_patience", default=Patience(BUSY_SECONDS))  # noqa: B039


@contextmanager
def waiting(seconds: float) -> Generator[None]:
    """Inside, writes wait for so long."""
    was = patience.set(Patience(seconds))
    try:
        yield
    finally:
        patience.reset(was)
