"""Two evaluations side by side: what they asked alike, how they differ, and what each arm made of the same items."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from statistics import fmean

from moot.core.errors import InputError
from moot.core.types import Json
from moot.evaluate.comparing import compared, holm
from moot.evaluate.folding import NO_FINDING, correct
from moot.evaluate.plans import EvaluationPlan
from moot.evaluate.rows import Row, pairs_of
from moot.evaluate.sentences import sentence_between
from moot.evaluate.summaries import ends

Rows = Mapping[str, Sequence[Row]]  # by arm


def shared_items(one: EvaluationPlan, two: EvaluationPlan) -> set[str]:
    """The ids of the items that both ask, word for word, and score alike. Raises InputError if there are none."""
    if one.id == two.id:
        raise InputError(f"Both are evaluation {one.id[:8]}. Give two different ids; `moot eval show` lists them.")
    asked = {item.id: item for item in one.task.items}
    scored = [(plan.task.kind, plan.task.score, plan.task.rubric) for plan in (one, two)]
    same = {item.id for item in two.task.items if asked.get(item.id) == item} if scored[0] == scored[1] else set[str]()
    if not same:
        raise InputError("The two evaluations have no item in common, so their answers can't be paired.")
    return same


def differences(one: EvaluationPlan, two: EvaluationPlan) -> list[Json]:
    """How two plans differ beside their items: `what`, with the value of the `first` and of the `second`. A setting
    that differs alike in all arms that both have is named once."""
    found = [_differs(name, *values) for name, values in _of_plans(one, two).items()]
    first, second = ({arm.name: arm.settings for arm in plan.arms} for plan in (one, two))
    arms = [name for name in first if name in second]
    for name in sorted({name for arm in arms for name in (*first[arm], *second[arm])} - {"samples"}):
        values = {arm: _differs(name, first[arm].get(name), second[arm].get(name)) for arm in arms}
        if len({json.dumps(each) for each in values.values()}) == 1:
            found.append(values[arms[0]])
        else:
            found += [each and {**each, "what": f"{arm}.{name}"} for arm, each in values.items()]
    return [each for each in found if each is not None]


def _of_plans(one: EvaluationPlan, two: EvaluationPlan) -> dict[str, tuple[object, object]]:
    judges = [plan.judge and plan.judge.settings["model_debater"] for plan in (one, two)]
    named = {name: (getattr(one, name), getattr(two, name)) for name in ("seed", "epochs", "pool", "models")}
    return {**named, "judge": (judges[0], judges[1])}


def _differs(what: str, first: object, second: object) -> Json | None:
    return None if first == second else {"what": what, "first": first, "second": second}


def side_by_side(plan: EvaluationPlan, items: set[str], one: Rows, two: Rows) -> list[Json]:
    """The arms and baselines that two evaluations have in common, compared on these items: the second less the first.
    `plan`: that of either."""
    found = (_one_arm(arm, items, rows, two[arm]) for arm, rows in one.items() if arm in two)
    made = [each for each in found if each is not None]
    for each, p_holm in zip(made, holm([float(each["p"]) for each in made]), strict=True):
        correct(each, p_holm, len(made))
        each["graded"] = plan.task.by_model
        if each["graded"]:
            each |= {"finding": NO_FINDING, "needed": None}
        each["sentence"] = sentence_between(each)
    return made


def _one_arm(arm: str, items: set[str], one: Sequence[Row], two: Sequence[Row]) -> Json | None:
    first = {(row.item, row.epoch): row for row in one if row.item in items and not row.lost}
    both = [(row, first[row.item, row.epoch]) for row in two if (row.item, row.epoch) in first and not row.lost]
    if not both:
        return None
    asked = len({row.item for row, _ in both})
    result = compared(pairs_of(both), asked)
    return {
        "arm": arm,
        "n": result.pairs.n,
        "answers": len(both),
        "items": asked,
        "gained": result.pairs.gained,
        "lost": result.pairs.lost,
        "first": fmean(row.score for _, row in both),
        "second": fmean(row.score for row, _ in both),
        "difference": result.pairs.difference,
        "interval": ends(result.interval),
        "p": result.p,
        "finding": result.finding,
        "needed": result.needed,
    }
