"""What a report finds, from debates whose answers are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from moot.core.outcome import FinalAnswer, GivenAnswer, Outcome
from moot.core.types import Debate
from moot.core.values import sha256_of
from moot.evaluate.folding import as_bytes, fold
from moot.evaluate.html import page
from moot.evaluate.model_grading import grading_id
from moot.evaluate.plans import Arm, EvaluationPlan, blocks
from moot.evaluate.tasks import Item, Task
from moot.store import Grade

ITEMS = 100
SAMPLES = 3

Right = Callable[[int], bool]


def pool(n: int) -> bool:
    return n < 50


def slightly_better(n: int) -> bool:
    """13 items gained, 4 lost: enough for one comparison at 5%, not for the better one of two."""
    return 4 <= n < 63


def planned(**arms: Right) -> tuple[EvaluationPlan, dict[str, Debate]]:
    items = tuple(Item(id=str(n), question="2 + 2?", target="4") for n in range(ITEMS))
    plan = EvaluationPlan(
        task=Task(name="sums", kind="number", items=items),
        arms=(Arm(name="pool", format="solo", baseline=True), *(Arm(name=name, format=name) for name in arms)),
        pool=SAMPLES,
    )
    made = {"pool": pool, **arms}
    return plan, {
        cell.id: debate(cell.id, made[cell.arm.name](int(block.item.id)))
        for block in blocks(plan)
        for cell in block.cells
    }


def report(**arms: Right) -> dict[str, Any]:
    return fold(*planned(**arms), {})


def debate(id: str, right: bool) -> Debate:
    value = "4" if right else "5"
    return Debate(
        id=id,
        topic="2 + 2?",
        format="any",
        format_version="1",
        status="completed",
        config={},
        cast=(),
        tokens_out=100,
        outcome=Outcome(
            winner="consensus",
            headline=value,
            ended_by="votes",
            verdict_source="rules",
            answer=FinalAnswer(kind="number", value=value),
            first_answers=tuple(GivenAnswer(seat=str(n), value=value) for n in range(SAMPLES)),
        ),
    )


def against_single(found: dict[str, Any], arm: str) -> dict[str, Any]:
    return next(each for each in found["comparisons"] if (each["arm"], each["baseline"]) == (arm, "single"))


def test_an_arm_that_is_compared_alone_helps():
    found = against_single(report(one=slightly_better), "one")
    assert (found["gained"], found["lost"], found["finding"], found["needed"]) == (13, 4, "helped", None)
    assert found["p_holm"] == found["p"] < 0.05
    assert "arms were compared" not in found["sentence"]


def test_the_same_arm_among_several_does_not():
    both = report(one=slightly_better, other=pool)
    found = against_single(both, "one")
    assert (found["finding"], found["finding_alone"], found["arms_compared"]) == ("can't tell", "helped", 2)
    assert found["p_holm"] == 2 * found["p"] > 0.05
    assert found["needed"] > ITEMS
    assert found["sentence"].startswith("Whether one helps against single can't be told from 100 answers (+9.0 points")
    assert "because 2 arms were compared" in found["sentence"]
    hurt = against_single(report(one=lambda n: n < 20, other=pool), "one")
    assert hurt["finding"] == "hurt"  # far enough to hold among two
    assert "arms were compared" not in hurt["sentence"]


def test_what_a_model_graded_is_never_a_finding():
    plan, cells = planned(one=slightly_better)
    texts = tuple(Item(id=str(n), question="2 + 2?", target="4") for n in range(ITEMS))
    task = Task(name="sums", kind="text", score="graded", items=texts)
    judge = Arm(name="judge", format="solo", settings={"model_debater": "sim:"})
    graded = EvaluationPlan(task=task, arms=plan.arms, pool=SAMPLES, judge=judge)
    old = [cells[cell.id] for block in blocks(plan) for cell in block.cells]
    ids = [cell.id for block in blocks(graded) for cell in block.cells]
    moved = {id: replace(each, id=id) for id, each in zip(ids, old, strict=True)}
    grades = {
        (item.id, sha256_of(value)): Grade(item=item.id, answer=sha256_of(value), passed=value == "4", examples=0)
        for item in texts
        for value in ("4", "5")
    }
    found = fold(graded, moved, grades)
    one = against_single(found, "one")
    assert (one["finding"], one["finding_alone"], one["needed"]) == ("can't tell", "helped", None)
    assert one["sentence"].startswith("Whether one helps against single is not said, because a model graded the")
    assert found["graded_by"] == {"model": "sim:", "rubric": task.rubric, "same_family": False}
    assert "graded by a model, sim:, not by code" in page(found)
    assert found["cells"][0]["graded_in"] == grading_id(graded, "0", sha256_of("4"))
    short = fold(graded, moved, {key: each for key, each in grades.items() if key[0] != "7"})
    assert (short["complete"], short["ungraded"], short["unfinished"]) == (ITEMS - 1, 1, 1)


def test_the_order_in_which_cells_were_stored_makes_no_difference():
    plan, cells = planned(one=slightly_better)
    priced = {id: replace(each, cost_usd=0.1 * (n % 7) + 1e-17 * n) for n, (id, each) in enumerate(cells.items())}
    found = fold(plan, priced, {})
    assert as_bytes(found) == as_bytes(fold(plan, dict(reversed(priced.items())), {}))
    assert round(found["spent"]["usd"], 6) == round(sum(0.1 * (n % 7) for n in range(2 * ITEMS)), 6)
