"""What so many items can show: with related items, and where several arms are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

import pytest

from moot.evaluate.comparing import compared, finding, holm
from moot.evaluate.folding import fold
from moot.evaluate.html import page
from moot.evaluate.intervals import Pairs, expected_pairs
from moot.evaluate.plans import Arm, EvaluationPlan
from moot.evaluate.power import detectable, few, power, power_in_words
from moot.evaluate.tasks import Item, Task
from tests.evaluate.test_folding import always, cells_of, debate, planned, pool


def grouped(sizes: Sequence[int], arms: int = 1) -> EvaluationPlan:
    """A plan over groups of related items."""
    names = [f"{group}" for group, size in enumerate(sizes) for _ in range(size)]
    items = tuple(Item(id=str(n), question="2 + 2?", target="4", cluster=each) for n, each in enumerate(names))
    return EvaluationPlan(
        task=Task(name="sums", kind="number", items=items),
        arms=(
            Arm(name="pool", format="solo", baseline=True),
            *(Arm(name=f"arm-{n}", format="any") for n in range(arms)),
        ),
        pool=3,
    )


def in_words(plan: EvaluationPlan) -> str:
    return power_in_words(power(plan, plan.task.items), len(plan.task.items), len(plan.compared))


def test_items_of_few_groups_show_as_much_as_so_many_groups():
    unequal = grouped([12, 2, 2, 2, 2, 2, 2])
    found = power(unequal, unequal.task.items)
    assert found["groups"]["number"] == 7
    assert 3.42 < found["groups"]["of_one_size"] < 3.43
    assert found["smallest_difference"] is None
    assert in_words(unequal) == (
        "24 items in 7 groups of related items (worth 3.4 of one size) can't show anything, however the arms differ: "
        "they are too few."
    )
    everything = compared(expected_pairs([[(1.0, 0.0)] * 12, *[[(1.0, 0.0)] * 2] * 6]))
    assert everything.finding == "can't tell"  # even then
    equal = grouped([3] * 20)
    assert power(equal, equal.task.items)["smallest_difference"] == detectable(20) == 0.35
    assert in_words(equal) == (
        "60 items in 20 groups of related items show a difference of 35 points or more, where the arms differ on no "
        "more of them than that."
    )


def test_items_of_many_groups_count_as_items_and_the_words_say_on_what_condition():
    plan = grouped([4] * 60)
    assert power(plan, plan.task.items)["smallest_difference"] == detectable(240) == 0.09
    assert in_words(plan) == (
        "240 items in 60 groups of related items show a difference of 9 points or more, where the arms differ on a "
        "fifth of them and related items are no more alike than others."
    )
    assert detectable(60) == 0.16
    assert in_words(grouped([1] * 60)) == (
        "So many items show a difference of 16 points or more, where the arms differ on a fifth of them."
    )


def test_of_several_arms_each_must_differ_by_more():
    alone, three = detectable(60), detectable(60, 3)
    assert alone is not None
    assert three is not None
    assert three > alone
    assert in_words(grouped([1] * 60, arms=3)) == (
        f"So many items show a difference of {three * 100:.0f} points or more for each of 3 arms, where the arms "
        "differ on a fifth of them."
    )


@pytest.mark.parametrize("arms", [1, 3])
def test_so_few_items_show_nothing_if_not_even_all_of_them_do(arms: int):
    """All items gained, by one of the arms."""

    def shows(items: int) -> bool:
        each = Pairs(n=items, gained=items, lost=0)
        return finding(each) == "helped" and holm([compared(each).p, *[1.0] * (arms - 1)])[0] <= 0.05

    for items in range(1, 15):
        assert not detectable(items, arms) or shows(items), items
    fewest = next(items for items in range(1, 15) if shows(items))
    assert detectable(fewest + 1, arms) is not None


def test_a_report_says_what_its_complete_items_can_show():
    plan = grouped([3] * 20, arms=2)
    cells = {cell.id: debate(cell.id, int(cell.item.id) % 2 == 0) for cell in cells_of(plan)}
    found = fold(plan, cells, {})
    assert (found["groups"], found["smallest_difference"]) == ({"number": 20, "of_one_size": 20}, detectable(20, 2))
    assert few(found) == in_words(plan)
    assert "60 items in 20 groups of related items show a difference of 42 points or more for each of 2" in few(found)
    assert escape(few(found)) in page(found)
    one = [cell for cell in cells_of(plan) if cell.item.id == "0"]
    left = fold(plan, cells | {one[0].id: replace(cells[one[0].id], status="failed", outcome=None)}, {})
    assert few(left).startswith("59 items in 20 groups of related items (worth 19.9 of one size) show")
    often, cells = planned(items=60, epochs=3, one=always, other=pool)
    assert fold(often, cells, {})["smallest_difference"] == detectable(60, 2)  # an item that is asked often is one item
