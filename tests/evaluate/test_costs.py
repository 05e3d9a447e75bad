"""Where arms stand on the curve of accuracy over cost."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from moot.evaluate.costs import accuracy_over_cost
from moot.evaluate.folding import fold
from moot.evaluate.html import page
from moot.evaluate.more import about_arms
from moot.evaluate.sentences import missing
from tests.evaluate.test_folding import (
    against_single,
    always,
    broken,
    cells_of,
    planned,
    pool,
    report,
    with_first,
)
from tests.evaluate.test_rows import answering, changed, voting


def with_reflect(**given: Any) -> dict[str, Any]:
    """The same with `reflect` as a baseline that has debates of its own."""
    plan, cells = planned(reflect=pool, **given)
    arms = tuple(arm.model_copy(update={"baseline": arm.baseline or arm.name == "reflect"}) for arm in plan.arms)
    return fold(*changed(plan, cells, arms=arms), {})


def test_an_arm_stands_beside_as_many_samples_as_it_costs():
    found = with_reflect(samples=5, tokens=50, council=always)  # a sample writes 20 tokens, each of which counts as 4
    assert (found["standing"]["baseline"], found["standing"]["sample_cost"]) == ("self-consistency", 80)
    council = next(each for each in found["standing"]["arms"] if each["arm"] == "council")
    assert (council["cost"], council["ratio"], council["samples"], council["debate"]) == (200, 2.5, 3, True)
    assert (council["accuracy"], council["samples_accuracy"], council["samples_cost"]) == (1, 0.5, 240)
    reflect = next(each for each in found["standing"]["arms"] if each["arm"] == "reflect")
    assert (reflect["samples"], reflect["ratio"]) == (3, 2.5)
    assert (reflect["debate"], reflect["pool_too_small"]) == (False, False)
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
    beside = "self-consistency of 5: 50.0%, which cost less"
    assert ["council", "4,000 weighted tokens", "50.0 times", "100.0%", beside] in accuracy_over_cost(found)[1]


def test_without_a_complete_item_nothing_stands():
    plan, _ = planned(council=always)
    assert fold(plan, {}, {})["standing"]["arms"] == []


def test_an_arm_stands_beside_as_many_samples_of_each_model():
    plan, cells = planned(items=10, samples=5, tokens=50, reflect=pool, council=always)
    arms = tuple(arm.model_copy(update={"baseline": arm.name != "council"}) for arm in plan.arms)
    plan, cells = voting(*changed(plan, cells, arms=arms), "ab")
    found = fold(plan, answering(plan, cells, "pool", ["4", "5", "4", "5", "4"]), {})
    assert [(each["arm"], each["samples"]) for each in found["standing"]["arms"]] == [("reflect", 4), ("council", 4)]
    assert [each["samples"] for each in found["curve"]] == [1, 2, 4]
    assert found["comparisons"][0]["samples"] == 4  # two of each: a third of one would outvote the other
    assert found["baselines"]["majority of 4"]["accuracy"] == 0.5


def test_items_without_samples_count_in_no_figure_of_samples_and_are_named():
    plan, cells = planned(items=10, samples=3, tokens=150, one=always)
    for cell in cells_of(plan, "pool"):  # one item has no samples, another has two
        values = {"8": ["4", "4", None], "9": [None] * 3}.get(cell.item.id, ["4"] * 3)
        cells[cell.id] = with_first(cells[cell.id], values, missed=values.count(None))
        cells[cell.id] = replace(cells[cell.id], tokens_out=30 * (3 - values.count(None)))
    found = fold(plan, cells, {})
    shares = [(each["samples"], each["accuracy"], each["left_out"]) for each in found["curve"]]
    assert shares == [(1, 1, 1), (2, 1, 1), (3, 1, 2)]
    assert [each["cost"] for each in found["curve"]] == pytest.approx([120, 240, 360])
    assert found["standing"]["sample_cost"] == pytest.approx(120)
    single, several = found["baselines"].values()
    assert (single["n"], single["accuracy"], single["no_answer"]) == (9, 1, 0)
    assert single["samples"] == {"given": 26, "no_answer": 0, "missed": 4, "left_out": 1}
    assert (several["n"], several["accuracy"], several["samples"]["left_out"]) == (8, 1, 2)
    assert missing(found) == [
        "single is without 1 answer, for which too few samples could be drawn.",
        "self-consistency of 3 is without 2 answers, for which too few samples could be drawn.",
    ]
    assert [row[3] for row in accuracy_over_cost(found)[1] if row[0] == "self-consistency of 3"] == [
        "100.0% (without 2 answers)"
    ]
    against = found["comparisons"][0]
    assert (against["samples"], against["baseline_cost"]) == (3, pytest.approx(360))
    assert (against["failed_items"], against["failed_samples"]) == (2, 2)
    assert "2 items left out, because samples failed" in against["sentence"]
    cells = broken(plan, cells, "one", lambda n: n == 0)
    assert "3 items left out, because debates or samples failed" in fold(plan, cells, {})["comparisons"][0]["sentence"]


def test_where_all_samples_were_missed_the_report_says_so():
    plan, cells = planned(items=10, samples=3, one=always)
    found = fold(plan, answering(plan, cells, "pool", [None] * 3, missed=3), {})
    assert (found["curve"], found["standing"]["arms"], found["baselines"]["single"]["n"]) == ([], [], 0)
    assert "single is without 10 answers" in page(found)
    assert [row[0] for row in about_arms(found)[1]] == ["one"]
    assert "10 items left out, because samples failed" in found["comparisons"][0]["sentence"]


def test_a_finding_that_missed_samples_could_undo_says_so():
    plan, cells = planned(samples=3, tokens=1000, one=lambda n: n < 63)
    for cell in cells_of(plan, "pool")[63:]:
        cells[cell.id] = with_first(cells[cell.id], [None] * 3, missed=3)
    found = against_single(fold(plan, cells, {}), "one")
    assert (found["finding_alone"], found["doubt"]) == ("helped", "failed")
    assert "can't be told, because samples failed on 37 items (" in found["sentence"]
