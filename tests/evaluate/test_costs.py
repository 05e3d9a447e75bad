"""Where arms stand on the curve of accuracy over cost."""

from __future__ import annotations

import re
from typing import Any

from moot.evaluate.costs import accuracy_over_cost
from moot.evaluate.folding import fold
from moot.evaluate.html import page
from moot.evaluate.plans import blocks
from tests.evaluate.test_folding import always, planned, pool, report


def with_reflect(**given: Any) -> dict[str, Any]:
    """The same with `reflect` as a baseline that has debates of its own."""
    plan, cells = planned(reflect=pool, **given)
    arms = tuple(arm.model_copy(update={"baseline": arm.baseline or arm.name == "reflect"}) for arm in plan.arms)
    other = plan.model_copy(update={"arms": arms})
    ids = zip(*([cell.id for each in blocks(one) for cell in each.cells] for one in (plan, other)), strict=True)
    return fold(other, {new: cells[old] for old, new in ids}, {})


def test_an_arm_stands_beside_as_many_samples_as_it_costs():
    found = with_reflect(samples=5, tokens=50, council=always)  # a sample writes 20 tokens, each of which counts as 4
    assert (found["standing"]["baseline"], found["standing"]["sample_cost"]) == ("self-consistency", 80)
    council = next(each for each in found["standing"]["arms"] if each["arm"] == "council")
    assert (council["cost"], council["ratio"], council["samples"], council["debate"]) == (200, 2.5, 3, True)
    assert (council["accuracy"], council["samples_accuracy"], council["samples_cost"]) == (1, 0.5, 240)
    reflect = next(each for each in found["standing"]["arms"] if each["arm"] == "reflect")
    assert (reflect["samples"], reflect["ratio"], reflect["debate"], reflect["pool_too_small"]) == (
        3,
        2.5,
        False,
        False,
    )
    _, rows = accuracy_over_cost(found)
    several = [f"self-consistency of {k}" for k in (2, 3, 5)]
    assert [row[0] for row in rows] == ["one sample", several[0], "reflect", "council", *several[1:]]
    assert rows[4] == ["self-consistency of 3", "240 weighted tokens", "3.0 times", "50.0%", "reflect, council"]
    assert ["council", "200 weighted tokens", "2.5 times", "100.0%", "self-consistency of 3: 50.0%"] in rows
    drawn = page(found)
    assert len(re.findall("stroke-dasharray", drawn)) == 2  # a mark for each arm
    assert "2.5 times" in drawn


def test_an_arm_that_costs_more_than_the_whole_pool_is_marked():
    found = report(samples=5, tokens=1000, council=always)
    (council,) = found["standing"]["arms"]
    assert (council["pool_too_small"], council["ratio"], council["samples"]) == (True, 50, 5)
    assert [
        "council",
        "4,000 weighted tokens",
        "50.0 times",
        "100.0%",
        "self-consistency of 5: 50.0%, which cost less",
    ] in accuracy_over_cost(found)[1]


def test_without_a_complete_item_nothing_stands():
    plan, _ = planned(council=always)
    assert fold(plan, {}, {})["standing"]["arms"] == []
