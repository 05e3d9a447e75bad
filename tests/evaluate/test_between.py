"""Two evaluations side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from moot.core.errors import InputError
from moot.core.types import Debate
from moot.evaluate.between import differences, shared_items, shared_samples, side_by_side, without_samples
from moot.evaluate.folding import rows_by_arm
from moot.evaluate.plans import EvaluationPlan
from tests.evaluate.test_folding import Right, always, broken, cells_of, never, planned, pool, slightly_better
from tests.evaluate.test_rows import answering, voting

Evaluation = tuple[EvaluationPlan, dict[str, Debate]]


def between(one: dict[str, Any], two: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Two evaluations side by side, by arm."""
    return compared(planned(**one), planned(**two))


def compared(one: Evaluation, two: Evaluation) -> dict[str, dict[str, Any]]:
    (first, before), (second, after) = one, two
    items, samples = {item.id for item in first.task.items}, shared_samples(first, second)
    rows = rows_by_arm(first, before, {}, samples), rows_by_arm(second, after, {}, samples)
    return {each["arm"]: each for each in side_by_side(first, items, *rows)}


def test_two_evaluations_are_compared_by_items_and_corrected_for_several_arms():
    found = between({"items": 3, "epochs": 20, "one": never}, {"items": 3, "epochs": 20, "one": always})["one"]
    assert (found["answers"], found["items"], found["n"]) == (60, 3, 3)
    assert (found["difference"], found["finding"]) == (1, "can't tell")
    assert "one does better in the second evaluation can't be told from 60 answers to 3 items" in found["sentence"]
    both = between({"one": pool}, {"one": slightly_better})
    assert list(both) == ["single", "self-consistency of 3", "one"]
    found = both["one"]
    assert (found["finding_alone"], found["finding"], found["p_holm"]) == ("helped", "can't tell", 3 * found["p"])
    assert "because 3 arms were compared" in found["sentence"]
    alike = "single does better in the second evaluation can't be told from 100 answers (+0"
    assert alike in both["single"]["sentence"]
    assert between({"one": pool}, {"one": lambda n: n < 80})["one"]["sentence"].startswith(
        "one does better in the second evaluation (+30.0 points"
    )


def test_pools_of_two_sizes_are_compared_by_as_many_samples():
    assert list(between({"one": pool, "samples": 3}, {"one": pool, "samples": 5}))[1] == "self-consistency of 3"


def test_evaluations_are_compared_on_the_items_that_are_the_same_and_say_how_they_differ():
    one, two = planned(items=10, one=pool)[0], planned(items=12, one=pool)[0]
    assert shared_items(one, two) == {str(n) for n in range(10)}
    assert differences(one, two) == []
    with pytest.raises(InputError, match="Both are evaluation"):
        shared_items(one, one)
    changed = [item.model_copy(update={"target": "5"}) for item in two.task.items]
    with pytest.raises(InputError, match="no item in common"):
        shared_items(one, two.model_copy(update={"task": two.task.model_copy(update={"items": tuple(changed)})}))
    task = two.task.model_copy(update={"score": "number", "rubric": "Right or wrong?"})
    with pytest.raises(InputError, match=r"ask the same items, but score them differently \(score, rubric\)"):
        shared_items(one, two.model_copy(update={"task": task}))

    def with_models(plan: EvaluationPlan, *models: str) -> EvaluationPlan:
        arms = [arm.model_copy(update={"settings": {"m": m}}) for arm, m in zip(plan.arms, models, strict=True)]
        return plan.model_copy(update={"arms": tuple(arms)})

    first = with_models(one, "a", "a")
    assert differences(first, with_models(two, "b", "b")) == [{"what": "m", "first": "a", "second": "b"}]
    assert differences(first, with_models(two, "a", "b")) == [{"what": "one.m", "first": "a", "second": "b"}]
    seeded = first.model_copy(update={"seed": 7, "match": "tokens"})
    assert differences(first, seeded) == [
        {"what": "seed", "first": 1, "second": 7},
        {"what": "match", "first": "usd", "second": "tokens"},
    ]
    arms = (one.arms[0], one.arms[1].model_copy(update={"format": "duel"}))
    other = {"what": "one.format", "first": "one", "second": "duel"}
    assert differences(one, one.model_copy(update={"arms": arms})) == [other]


def failing(right: Right, failed: Right) -> Evaluation:
    """An arm `one` whose debates on some items failed."""
    plan, cells = planned(one=right)
    return plan, broken(plan, cells, "one", failed)


def test_an_evaluation_that_fails_on_hard_items_does_no_better():
    found = compared(planned(one=lambda n: 30 <= n < 50 or n >= 60), failing(pool, lambda n: n >= 60))["one"]
    assert (found["finding_alone"], found["finding"], found["doubt"]) == ("helped", "can't tell", "failed")
    assert (found["answers"], found["failed_items"], found["failed_samples"], found["needed"]) == (60, 40, 0, None)
    assert found["sentence"].startswith(
        "Whether one does better in the second evaluation can't be told, because debates failed on 40 items (+50.0 "
    )
    assert "-10.0 if what failed is counted against the second, +30.0 if in its favour" in found["sentence"]


def test_one_that_failed_only_in_the_first_is_counted_as_right_there_against_the_second():
    first, second = failing(lambda n: n < 30, lambda n: n >= 60), planned(one=pool)
    found = compared(first, second)["one"]
    assert (found["finding_alone"], found["doubt"], found["failed_items"]) == ("helped", "failed", 40)
    bounds = (found["counted_against"]["difference"], found["counted_for"]["difference"])
    assert bounds == pytest.approx((-0.2, 0.2))
    first, second = failing(lambda n: n < 60, lambda n: n >= 60), planned(one=lambda n: n < 30)
    worse = compared(first, second)["one"]
    assert (worse["finding"], worse["counted_for"]["finding"]) == ("hurt", "hurt")
    assert worse["sentence"].endswith(", also if what failed, on 40 items, is counted in its favour.")


def test_worse_and_no_better_are_said_only_if_they_hold_with_failures_in_its_favour():
    worse = compared(planned(one=pool), failing(lambda n: 20 <= n < 50, lambda n: n >= 60))["one"]
    assert (worse["finding_alone"], worse["finding"], worse["doubt"]) == ("hurt", "can't tell", "failed")
    no_better = compared(planned(one=pool), failing(lambda n: n < 45, lambda n: n >= 90))["one"]
    assert (no_better["finding_alone"], no_better["finding"]) == ("did not help", "can't tell")
    better = compared(planned(one=pool), failing(lambda n: n < 80, lambda n: n >= 98))["one"]
    assert (better["finding"], better["failed_items"]) == ("helped", 2)
    assert better["sentence"].endswith(", also if what failed, on 2 items, is counted against it.")
    unclear = compared(planned(one=pool), failing(pool, lambda n: n == 99))["one"]
    assert unclear["sentence"].endswith("; 1 item left out, because debates failed.")


def test_an_arm_of_which_every_debate_failed_is_named():
    found = compared(planned(items=9, one=pool), failing(pool, always))["one"]
    assert (found["first"], found["second"], found["answers"]) == (None, None, 0)
    assert found["sentence"] == (
        "Whether one does better in the second evaluation can't be told; 9 items left out, because debates failed."
    )


def test_majorities_are_compared_by_as_many_samples_of_each_model():
    def of(samples: int, models: str) -> Evaluation:
        plan, cells = voting(*planned(items=20, samples=samples, one=pool), models)
        return plan, answering(plan, cells, "pool", [str(n % len(models)) for n in range(samples)])

    two, more = of(3, "ab"), of(8, "ab")
    assert shared_samples(two[0], more[0]) == {"majority": 2}
    found = compared(two, more)["majority of 2"]
    assert (found["first"], found["second"], found["difference"]) == (0, 0, 0)
    three = of(8, "abc")
    assert shared_samples(more[0], three[0]) == {"majority": 6}
    none = shared_samples(two[0], three[0])
    assert without_samples(none) == [
        "majority is left out: the smaller pool is too small for as many samples of each model in both."
    ]
    assert list(compared(two, three)) == ["single", "one"]
    assert without_samples(shared_samples(two[0], more[0])) == []


def test_what_one_evaluation_has_deleted_or_not_finished_is_counted_against_the_other():
    plan, cells = planned(one=pool)
    late = [cell.id for arm in ("one", "pool") for cell in cells_of(plan, arm)[50:60]]
    left = {id: each for id, each in cells.items() if id not in late}
    running = {id: replace(cells[id], status="running", outcome=None) for id in late}
    found = compared((plan, cells), (plan, left | running))
    assert {(each["failed_items"], each["unfinished_items"]) for each in found.values()} == {(10, 10)}
    assert found["one"]["sentence"].endswith("10 items left out, because debates are unfinished.")
    rows = rows_by_arm(plan, left, {}, {}, late)
    one = {each["arm"]: each for each in side_by_side(plan, {str(n) for n in range(100)}, rows, rows)}["one"]
    assert (one["failed_items"], one["unfinished_items"], one["answers"]) == (10, 0, 90)
