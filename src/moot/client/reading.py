"""What every use case that only reads begins with."""

from __future__ import annotations

from moot.app import App
from moot.core.errors import InputError

FULL_ID = 36
MOST_LISTED, MOST_FOUND = 1000, 100


async def opened(app: App) -> bool:
    """Open the database, unless there is none: reading never creates one."""
    if not app.has_database:
        return False
    await app.open()
    return True


def check_limit(limit: int, most: int) -> None:
    if not 1 <= limit <= most:
        raise InputError(f"The limit is {limit}; it can be 1 to {most}.")
