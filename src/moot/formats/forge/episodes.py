"""Attempts as episodes, measured by the tests that count: given ones, and those that blind seats agreed on."""

from __future__ import annotations

from moot.core.artifacts import Episode
from moot.formats.forge.prompting import failed_lines, script_lines
from moot.formats.forge.state import Attempt, Forge
from moot.reasoning.code.selection import Measured


def store(forge: Forge) -> None:
    """Store the attempts that are not stored yet. Nothing is said of one that no test which counts was run on."""
    new = sorted(forge.attempts[len(forge.episodes) :], key=lambda each: (each.draft.author, each.attempt))
    forge.attempts[len(forge.episodes) :] = new
    forge.episodes += [forge.stage.produce(_episode(forge, each)) for each in new]


def _episode(forge: Forge, attempt: Attempt) -> Episode:
    draft, reflection, board = attempt.draft, attempt.reflection, forge.board
    measured = board.measured(draft)
    counting = [each.case for each in board.counting if each.case is not None]
    failed = [
        *failed_lines(board.failures(draft, counting), {}),
        *script_lines(board.scripts.get(draft.name)),
    ]
    return Episode(
        turn_key=draft.key,
        agent=draft.author,
        task=forge.stage.topic,
        attempt=attempt.attempt,
        code=draft.name,
        passed=_passed(measured),
        test_results={"passed": measured.passed, "counted": measured.counted, "failed": failed},
        failure_analysis="" if reflection is None else reflection.went_wrong,
        reflection="" if reflection is None else reflection.root_cause,
        improvement="" if reflection is None else reflection.change_next,
        confidence=None if reflection is None else reflection.confidence,
    )


def _passed(measured: Measured) -> bool | None:
    """Whether every test that counts passes; None if none counts, or one was not run and none fails."""
    if any(each is False for each in (*measured.given, *measured.agreed)):
        return False
    return True if measured.counted and not measured.not_run else None
