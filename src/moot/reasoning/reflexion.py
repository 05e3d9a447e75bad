"""Reflexion: trying again with what was learnt from failing, and what is worth remembering of it. Pure.

Tests decide, never an author's confidence: that ends the loop only where nothing can be run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Annotated, Any, Literal

from pydantic import Field

from moot.core.artifacts import Episode, Lesson
from moot.core.types import Answer, Json, NonEmpty, Recollection, record
from moot.reasoning.fence import clean, fence

ATTEMPTS = 3
MOST_LESSONS = 3  # that are recalled into a debate, and that are extracted from one
LESSONS, EPISODES = "lessons of earlier debates", "earlier attempts"

Ended = Literal["passed", "attempts", "confidence"]
Rate = Annotated[float, Field(ge=0, le=1)]


class Reflection(Answer):
    """What an author makes of a failed attempt."""

    root_cause: NonEmpty
    what_went_wrong: NonEmpty
    what_to_change_next: NonEmpty
    confidence_in_fix: Rate

    def prose(self) -> str:
        return (
            f"What went wrong: {self.what_went_wrong}\nWhy: {self.root_cause}\n"
            f"What to change: {self.what_to_change_next}\nConfidence in the fix: {self.confidence_in_fix:.0%}"
        )

    def reflected(self) -> list[Json]:
        return [self.model_dump(mode="json")]


class Insight(Answer):
    """Something general that a model has learnt from attempts, which it names by their numbers."""

    text: NonEmpty
    applies_when: str = ""
    attempts: tuple[int, ...] = ()


class Insights(Answer):
    lessons: Annotated[tuple[Insight, ...], Field(max_length=MOST_LESSONS)] = ()

    def prose(self) -> str:
        return "\n".join(f"- {each.text}" for each in self.lessons) or "No lesson."


@record
class Attempt:
    """One attempt at a task, as far as it is known."""

    number: int  # from 1
    code: str = ""  # its sha256
    passed: bool | None = None  # all tests; None: nothing was run
    pass_rate: float | None = None  # 0 to 1
    test_results: Json = field(default_factory=dict[str, Any])
    failure_analysis: str = ""
    reflection: Reflection | None = None


@record
class Loop:
    """When to try again. `enough`: an author's confidence that ends the loop where nothing was run; None: never."""

    attempts: int = ATTEMPTS
    enough: float | None = None

    def ended_by(self, tried: Sequence[Attempt]) -> Ended | None:
        """Why there is no further attempt; None: there is one."""
        last = tried[-1] if tried else None
        if last is not None and last.passed:
            return "passed"
        if last is not None and last.passed is None and self._is_enough(last.reflection):
            return "confidence"
        return "attempts" if len(tried) >= self.attempts else None

    def _is_enough(self, reflection: Reflection | None) -> bool:
        return self.enough is not None and reflection is not None and reflection.confidence_in_fix >= self.enough


def best_of(tried: Sequence[Attempt]) -> Attempt | None:
    """The attempt to keep: the highest pass rate, of equal ones the first. One that was not run ranks last."""
    return max(tried, key=lambda each: (-1.0 if each.pass_rate is None else each.pass_rate, -each.number), default=None)


def reflections(tried: Sequence[Attempt], *, of: str, at: str) -> str:
    """All reflections so far, quoted for the prompt of the step `at`; empty if there are none."""
    said = [f"Attempt {each.number}\n{each.reflection.prose()}" for each in tried if each.reflection is not None]
    return fence("\n\n".join(said), of=of, at=at) if said else ""


def episode(agent: str, task: str, attempt: Attempt, *, model: str = "") -> Episode:
    """The attempt as an artifact."""
    reflection = attempt.reflection
    return Episode(
        agent=agent,
        task=task,
        attempt=attempt.number,
        code=attempt.code,
        passed=attempt.passed,
        test_results=attempt.test_results,
        failure_analysis=attempt.failure_analysis or ("" if reflection is None else reflection.root_cause),
        reflection="" if reflection is None else reflection.what_went_wrong,
        improvement="" if reflection is None else reflection.what_to_change_next,
        confidence=None if reflection is None else reflection.confidence_in_fix,
        model=model,
    )


def lessons(insights: Insights, episodes: Sequence[Episode], *, model: str = "") -> list[Lesson]:
    """The insights as artifacts. Attempts that were never made are not cited."""
    return [
        Lesson(
            text=clean(each.text),
            applies_when=clean(each.applies_when),
            episodes=tuple(episode.id for episode in episodes if episode.attempt in each.attempts),
            model=model,
        )
        for each in insights.lessons
    ]


def quoted(recollection: Recollection, *, at: str, of: str = LESSONS) -> str:
    """What memory has recalled, quoted for the prompt of the step `at`; empty if it is nothing. It is others' text: to
    be weighed, not followed."""
    found = "\n\n".join(each.text for each in recollection.found)
    return fence(found, of=of, at=at) if found else ""
