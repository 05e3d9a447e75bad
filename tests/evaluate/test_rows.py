"""What is read of debates before anything is folded: votes of first answers, samples of a pool, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from moot.core.types import Debate, SeatSpec
from moot.evaluate import pool as pools
from moot.evaluate.folding import fold
from moot.evaluate.plans import EvaluationPlan
from moot.evaluate.pool import Votes
from moot.evaluate.tasks import Item, Task
from tests.evaluate.test_folding import always, cells_of, planned, with_first


def changed(plan: EvaluationPlan, cells: dict[str, Debate], **update: Any) -> tuple[EvaluationPlan, dict[str, Debate]]:
    """Another plan with the same debates."""
    other = plan.model_copy(update=update)
    ids = zip(cells_of(plan), cells_of(other), strict=True)
    return other, {new.id: replace(cells[old.id], id=new.id) for old, new in ids}


def voting(plan: EvaluationPlan, cells: dict[str, Debate], models: str) -> tuple[EvaluationPlan, dict[str, Debate]]:
    """The same with a pool whose models vote: one letter for each, that take turns."""
    cast = tuple(
        SeatSpec(id=str(n), name=str(n), role="solver", model=models[n % len(models)], max_tokens=9)
        for n in range(plan.pool)
    )
    plan, cells = changed(plan, cells, models=tuple(models), majority=True)
    return plan, cells | {cell.id: replace(cells[cell.id], cast=cast) for cell in cells_of(plan, "pool")}


def answering(
    plan: EvaluationPlan, cells: dict[str, Debate], arm: str, values: Iterable[str | None], missed: int = 0
) -> dict[str, Debate]:
    """The debates, with these first answers in every one of an arm."""
    given = list(values)
    return cells | {cell.id: with_first(cells[cell.id], given, missed) for cell in cells_of(plan, arm)}


@pytest.mark.parametrize(
    ("first", "vote", "accuracy"),
    [
        (["Paris", "Paris", "Paris"], "right", 1.0),
        (["paris", "Paris", "Rome"], "tie", 1 / 3),  # the pattern does not match the first
        (["Paris", "the city of Paris", "Rome"], "right", 1.0),
        (["Paris", "the city of Paris", "Rome", "rome"], "tie", 0.5),
    ],
)
def test_right_first_answers_are_one_however_they_are_written(first: list[str], vote: str, accuracy: float):
    items = tuple(Item(id=str(n), question="Which city?", target="(the city of )?Paris") for n in range(10))
    task = Task(name="cities", kind="text", score="regex", items=items)
    plan, cells = changed(*planned(items=10, samples=len(first), one=always), task=task)
    cells = answering(plan, answering(plan, cells, "one", first), "pool", first)
    found = fold(plan, cells, {})
    before = found["arms"]["one"]["first_vote"]
    assert before["accuracy"] == pytest.approx(accuracy)
    assert before["transitions"] == {f"{vote} to wrong": 10}
    drawn = found["baselines"][f"self-consistency of {len(first)}"]
    assert drawn["accuracy"] == pytest.approx(accuracy)  # a pool counts them as a debate does


def test_an_item_without_a_sample_of_one_model_is_no_majority_of_the_others():
    plan, cells = voting(*planned(items=10, samples=8, tokens=50, one=always), "ab")
    cells = answering(plan, cells, "pool", ["4"] * 8)
    for cell in cells_of(plan, "pool")[6:]:  # b gave none
        cells[cell.id] = with_first(cells[cell.id], ["4", None] * 4, missed=8)
    found = fold(plan, cells, {})["comparisons"][0]
    assert (found["baseline"], found["samples"]) == ("majority", 4)
    assert (found["answers"], found["failed_items"]) == (6, 4)


def test_where_draws_are_very_many_a_model_without_samples_has_none_drawn(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pools, "MOST_WAYS", 1)
    groups = (Votes((5, 2), 0), Votes((0, 0), 0))
    assert pools._grouped.__wrapped__((5, 0), groups) == 1.0
