"""What goes wrong with a sandbox, as opposed to what goes wrong inside."""

from __future__ import annotations

from moot.core.errors import ToolError


class SandboxUnavailable(ToolError):
    """There is no sandbox on this machine. `fix` says what to install or to set, to who runs it."""

    def __init__(self, message: str, *, fix: str = "") -> None:
        super().__init__(message)
        self.fix = fix


class SandboxDied(ToolError):
    """The sandbox itself failed: whatever the program would have done, it is not known."""
