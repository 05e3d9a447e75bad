"""A small format whose rules produce artifacts: code that fails, a reflection, code that passes, and a lesson."""

from __future__ import annotations

from typing import Any

from moot.core.artifacts import Episode, Lesson, Version
from moot.core.errors import LimitReached
from moot.core.script import Stage, together
from moot.core.types import Outcome, Prompt
from tests.runtime.small import a_format, outcome

ATTEMPTS = 3


async def workshop(stage: Stage, settings: Any) -> Outcome:
    stage.produce(Version(author="user", language="text", code="given\n"))
    try:
        await together(*(_attempts(stage, seat) for seat in ("a", "b")))
    except LimitReached as reached:
        return outcome("a", "cut short", ended_by=reached.limit)
    return outcome("a", "done")


async def _attempts(stage: Stage, id: str) -> None:
    seat, parent, failed = stage.seat(id), None, []
    for attempt in range(1, ATTEMPTS + 1):
        text = await seat.ask("code", Prompt(name="p", text=f"Attempt {attempt}"), round=attempt, shows="TURN")
        passed = attempt == ATTEMPTS
        version = stage.produce(
            Version(
                author=id, language="text", code=f"{attempt}\n{text}\n", parent=parent, test_pass_rate=float(passed)
            )
        )
        parent = version.id
        episode = stage.produce(
            Episode(agent=id, task=stage.topic, attempt=attempt, code=version.sha256, passed=passed, reflection=text)
        )
        failed += [] if passed else [episode.id]
    stage.produce(Lesson(text=f"Attempt {ATTEMPTS} of {id} passes.", episodes=tuple(failed)))


WORKSHOP = a_format(workshop, "a", "b")
