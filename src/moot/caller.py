"""Callers: the people and programs that use moot, and what each of them may do."""

from __future__ import annotations

import getpass

from moot.core.errors import ScopeMissing
from moot.core.settings import Settings
from moot.core.types import SCOPES, Scope, record
from moot.store import AccessToken, Viewer

ASGI_CALLER = "moot.caller"  # under which a request's scope has its caller


@record
class Caller:
    """One type for every way in: HTTP, chat, MCP, the command line and Python."""

    name: str  # who it is in the record of a debate
    scopes: frozenset[Scope] = frozenset(SCOPES)
    token: AccessToken | None = None  # None: the user of this machine, or a program that they have started

    @property
    def identity(self) -> str:
        """An id that a token shares with its sessions; empty for the user of this machine. It owns debates and is the
        namespace of idempotency keys."""
        return "" if self.token is None else self.token.parent or self.token.id

    @property
    def what(self) -> str:
        """What an error calls the caller's credential, at the beginning of a sentence."""
        return "This connection" if self.token is None else f"The token {self.name!r}"

    def may(self, scope: Scope) -> bool:
        return "admin" in self.scopes or scope in self.scopes

    def need(self, scope: Scope) -> None:
        """Raises ScopeMissing."""
        if not self.may(scope):
            raise ScopeMissing(f"{self.what} lacks the scope {scope!r}, so it may not do this.", remedy="scope")

    def viewer(self, settings: Settings) -> Viewer | None:
        """Which debates the caller may see; None: all of them."""
        return None if self.may("admin") else Viewer(token=self.identity, shared=not settings.private_debates)


def person() -> str:
    """The user of this machine; empty if unknown."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def local_caller() -> Caller:
    """The user of this machine, who may do everything."""
    return Caller(name=person())
