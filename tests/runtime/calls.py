"""What a debate has paid for, and what it showed."""

from __future__ import annotations

from moot.core.types import Debate
from moot.runtime.replay import transcript


def calls(log) -> list[str]:
    """The steps that were paid for, in order."""
    if not log.exists():
        return []
    return [line.split("\t")[0] for line in log.read_text().splitlines() if not line.startswith("done ")]


async def words(app, debate: Debate) -> bytes:
    """The transcript of its stored events."""
    events = await app.runtime.store.events(debate.id)
    return transcript(debate, [event for event in events if event.type.isupper()], debate.outcome)
