"""What a debate has paid for, what it showed, what is changed in its database; and the environment of a process."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from moot.app import App
from moot.core.types import Debate
from moot.runtime.replay import transcript
from moot.store import Store


def calls(log: Path) -> list[str]:
    """The steps that were paid for, in order."""
    if not log.exists():
        return []
    return [line.split("\t")[0] for line in log.read_text().splitlines() if not line.startswith("done ")]


async def words(store: Store, debate: Debate) -> bytes:
    """The transcript of its stored events."""
    events = await store.events(debate.id)
    return transcript(debate, [event for event in events if event.type.isupper()], debate.outcome)


def change(app: App, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(str(app.database), isolation_level=None)) as other:
        assert other.execute(statement, values).rowcount


def environ(database: Path | str, **more: str) -> dict[str, str]:
    keep = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    own = {"MOOT_CONFIG": os.devnull, "MOOT_DATABASE_URL": str(database), "MOOT_EMBEDDER": "none", "NO_COLOR": "1"}
    return {**keep, **own, **more}
