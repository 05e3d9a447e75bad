"""How the lessons of earlier debates fare in this one. The teacher says of each whether attempts confirm or contradict
it; that counts only where the record agrees."""

from __future__ import annotations

from collections.abc import Sequence

from moot.core.artifacts import Episode, LessonUse
from moot.core.script import Seat
from moot.formats.forge.answers import Teaching, TeachingWithLessons
from moot.formats.forge.prompting import block
from moot.formats.forge.state import Forge

ASKED = (
    "Of each of these lessons, also say whether attempts confirm it, contradict it or have nothing to do with it, with "
    "the numbers of the attempts that show it."
)


def part(forge: Forge, teacher: Seat) -> str:
    """The lessons that the engineers were given, for the teacher to weigh."""
    if not forge.lessons:
        return ""
    listed = "\n".join(f"Lesson {n}: {each.text}" for n, each in enumerate(forge.lessons, 1))
    told = block(teacher, listed, of="earlier debates", at=f"{forge.occasion(teacher)}/lessons")
    return f"The engineers were given these lessons of earlier debates:\n{told}\n{ASKED}"


def weigh(forge: Forge, given: Teaching, attempts: Sequence[Episode]) -> None:
    """Keep what the record bears out: a lesson that holds has an attempt that passed, one that does not has one that
    failed. `attempts` are those that the teacher cites by number."""
    forge.lessons_held.clear()
    for each in given.recalled if isinstance(given, TeachingWithLessons) else ():
        held = {"confirmed": True, "contradicted": False}.get(each.verdict)
        cited = [attempts[n - 1] for n in each.cites if 1 <= n <= len(attempts)]
        known = 1 <= each.number <= len(forge.lessons)
        if known and held is not None and any(attempt.passed is held for attempt in cited):
            forge.lessons_held[forge.lessons[each.number - 1].id] = held


def store(forge: Forge) -> None:
    """Store that each lesson was recalled, and whether it held."""
    for each in forge.lessons:
        forge.stage.produce(LessonUse(lesson=each.id, held=forge.lessons_held.get(each.id)))
