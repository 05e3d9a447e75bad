"""Are the stored grades of an evaluation those that its answers got? What a judge answered is stored and can be
compared; tests have to be run again."""

from __future__ import annotations

from collections.abc import Mapping

from moot.client.client import Client
from moot.core.types import Debate, record
from moot.evaluate.grading import grade
from moot.evaluate.model_grading import grade_in, grading_id
from moot.evaluate.plans import EvaluationPlan, blocks
from moot.evaluate.rows import Grades, to_grade
from moot.evaluate.tasks import Item
from moot.runtime.threads import in_thread
from moot.store import Grade
from moot.tools.abilities import check_ability


@record
class Regraded:
    """What became of stored grades when they were checked."""

    checked: int
    problems: tuple[str, ...]  # each in a sentence
    unchecked: int  # grades by tests, which were not run again


async def regraded(
    client: Client, plan: EvaluationPlan, cells: Mapping[str, Debate], grades: Grades, *, tests: bool
) -> Regraded:
    """Check every grade against what it was made from: an answer of a cell, and of that what its judge said. `tests`:
    run the tests of tested answers again; otherwise these grades are only counted. Raises InputError where nothing can
    be run."""
    run = plan.task.tested and tests
    if run:
        await in_thread(lambda: check_ability("code", f"The task {plan.task.name!r}"))
    problems: list[str] = []
    known = set[tuple[str, str]]()
    checked = 0
    for block in blocks(plan):
        item = block.item
        answers = {
            name: text for name, text in to_grade(plan, block, cells).items() if (item.id, name) in grades
        }  # the others have no grade yet
        known |= {(item.id, name) for name in answers}
        if plan.task.tested and not run:
            continue
        checked += len(answers)
        made = await grade(client, item, answers) if run else _judged(plan, item, answers, cells)
        again = {each.answer: each for each in made}
        by = "the judge" if plan.task.by_model else "a run of the tests"
        found = (_problem(grades[item.id, name], again.get(name), by) for name in answers)
        problems += [problem for problem in found if problem]
    strange = [grades[name] for name in grades if name not in known]
    problems += [f"{_named(each)} is of an answer that no cell has given." for each in strange]
    checked += len(strange)
    return Regraded(checked=checked, problems=tuple(problems), unchecked=len(grades) - checked)


def _judged(plan: EvaluationPlan, item: Item, answers: Mapping[str, str], cells: Mapping[str, Debate]) -> list[Grade]:
    debates = {name: cells.get(grading_id(plan, item.id, name)) for name in answers}
    made = [grade_in(debate, item, name) for name, debate in debates.items() if debate is not None]
    return [each for each in made if each is not None]


def _problem(stored: Grade, again: Grade | None, by: str) -> str:
    """What is wrong with a grade; empty if nothing is. `by`: who gave it."""
    kept = f"{_named(stored)} is stored as {_words(stored)}"
    if again is None:
        return f"{kept}, but {by} has given none."
    if again.passed != stored.passed:
        return f"{kept}, but {by} found it {_words(again)}."
    if again.examples != stored.examples:
        return f"{_named(stored)} counts {stored.examples} examples of the question passed; it passes {again.examples}."
    return ""


def _named(grade: Grade) -> str:
    return f"The grade of answer {grade.answer[:8]} to item {grade.item}"


def _words(grade: Grade) -> str:
    return "right" if grade.passed else "wrong"
