"""Two evaluations side by side: what they asked alike, how they differ, and what each arm made of the same items."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import lcm
from statistics import fmean

from moot.core.errors import InputError
from moot.core.types import Json
from moot.evaluate.bounds import NO_FINDING, comparison, known_of, settle
from moot.evaluate.plans import EvaluationPlan
from moot.evaluate.rows import Row
from moot.evaluate.sentences import sentence_between

Rows = Mapping[str, Sequence[Row]]  # by arm


def shared_items(one: EvaluationPlan, two: EvaluationPlan) -> set[str]:
    """The ids of the items that both ask, word for word. Raises InputError if there are none, or they are scored
    differently."""
    if one.id == two.id:
        raise InputError(f"Both are evaluation {one.id[:8]}. Give two different ids; `moot eval show` lists them.")
    asked = {item.id: item for item in one.task.items}
    same = {item.id for item in two.task.items if asked.get(item.id) == item}
    if not same:
        raise InputError("The two evaluations have no item in common, so their answers can't be paired.")
    scoring = {name: (getattr(one.task, name), getattr(two.task, name)) for name in ("kind", "score", "rubric")}
    if unlike := [name for name, (first, second) in scoring.items() if first != second]:
        raise InputError(
            f"The two evaluations ask the same items, but score them differently ({', '.join(unlike)}), so their "
            "answers can't be paired."
        )
    return same


def shared_samples(one: EvaluationPlan, two: EvaluationPlan) -> dict[str, int]:
    """How many samples both can draw from a pool, by what several of them are in both: of a majority as many of each
    model, and 0 where there are too few."""
    plans, found = (one, two), dict[str, int]()
    for drawn in one.pools.values():
        if drawn in two.pools.values():
            turn = lcm(*(plan.voters(drawn) for plan in plans))
            found[drawn] = min(plan.most_drawn(drawn) for plan in plans) // turn * turn
    return found


def without_samples(samples: Mapping[str, int]) -> list[str]:
    """Which baselines can't be compared for want of samples, in a sentence each."""
    return [
        f"{drawn} is left out: the smaller pool is too small for as many samples of each model in both."
        for drawn, drawn_in_both in samples.items()
        if not drawn_in_both
    ]


def differences(one: EvaluationPlan, two: EvaluationPlan) -> list[Json]:
    """How two plans differ beside their items: `what`, with the value of the `first` and of the `second`. A setting
    that differs alike in all arms that both have is named once."""
    found = [_differs(name, *values) for name, values in _of_plans(one, two).items()]
    first, second = ({arm.name: {**arm.settings, "format": arm.format} for arm in plan.arms} for plan in (one, two))
    arms = [name for name in first if name in second]
    for name in sorted({name for arm in arms for name in (*first[arm], *second[arm])} - {"samples", "models"}):
        values = {arm: _differs(name, first[arm].get(name), second[arm].get(name)) for arm in arms}
        if len({json.dumps(each) for each in values.values()}) == 1:
            found.append(values[arms[0]])
        else:
            found += [each and {**each, "what": f"{arm}.{name}"} for arm, each in values.items()]
    return [each for each in found if each is not None]


def _of_plans(one: EvaluationPlan, two: EvaluationPlan) -> dict[str, tuple[object, object]]:
    judges = [plan.judge and plan.judge.settings["model_debater"] for plan in (one, two)]
    named = {name: (getattr(one, name), getattr(two, name)) for name in ("seed", "epochs", "pool", "models", "match")}
    return {**named, "judge": (judges[0], judges[1])}


def _differs(what: str, first: object, second: object) -> Json | None:
    return None if first == second else {"what": what, "first": first, "second": second}


def side_by_side(plan: EvaluationPlan, items: set[str], one: Rows, two: Rows) -> list[Json]:
    """The arms and baselines that two evaluations have in common, compared on these items: the second less the first.
    `plan`: that of either."""
    found = (_one_arm(arm, items, rows, two[arm]) for arm, rows in one.items() if arm in two)
    made = [each for each in found if each is not None]
    settle(made)
    for each in made:
        each["graded"] = plan.task.by_model
        if each["graded"]:
            each |= {"finding": NO_FINDING, "needed": None}
        each["sentence"] = sentence_between(each)
    return made


def _one_arm(arm: str, items: set[str], one: Sequence[Row], two: Sequence[Row]) -> Json | None:
    first = {(row.item, row.epoch): row for row in one if row.item in items}
    pairs = [(row, first[row.item, row.epoch]) for row in two if (row.item, row.epoch) in first]
    if not pairs:
        return None
    known = known_of(pairs)
    return {
        "arm": arm,
        "first": fmean(row.score for _, row in known) if known else None,
        "second": fmean(row.score for row, _ in known) if known else None,
        **comparison(pairs, pairs, pairs),
    }
