"""From a request for an evaluation to its plan: arms, worst cases and the size of the pool. Spends nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, inf
from pathlib import Path
from typing import Any

from moot import formats
from moot.client.client import Client
from moot.core.amounts import dollars, money
from moot.core.errors import InputError, UnknownName
from moot.core.types import HUMAN, Json, Sampling
from moot.estimate import Estimate
from moot.evaluate.model_grading import GRADES, asked_of_judge
from moot.evaluate.plans import (
    MAJORITY,
    MOST_POOL,
    OWN_POOL,
    POOL,
    POOLED,
    POOLED_CODE,
    SELF_CONSISTENCY,
    SHORT,
    SINGLE,
    Arm,
    EvaluationPlan,
    Match,
)
from moot.evaluate.tasks import BUILT_IN, DEFAULT_TASK, MOST_EPOCHS, Item, Task, load_task
from moot.formats import Format
from moot.formats.shared.answer import MOST_CHARS
from moot.planning import Plan
from moot.request import Request, merged

MOST_SAMPLES = 32  # of a pool, unless asked for
FEWEST_SAMPLES = 3
TRIES = 2  # the worst case of a cell: every call is made twice


@dataclass(frozen=True, kw_only=True)
class EvaluationRequest:
    task: str = DEFAULT_TASK
    items: str | None = None  # the files of a task whose questions are given
    arms: Sequence[str] = ()  # none: the baselines, and the format for open questions
    model: str | None = None
    models: Sequence[str] = ()  # that vote together in the arm `majority`
    limit: int | None = None
    epochs: int | None = None
    seed: int = 1
    pool: int | None = None  # None: as many as the dearest arm costs
    match: Match = "usd"
    max_cost_usd: float | None = None
    max_output_tokens: int | None = None
    settings: Json = field(default_factory=dict[str, Any])  # of arms, by the arm's name
    judge: str | None = None  # that grades answers; None: the task's


async def draft(client: Client, request: EvaluationRequest) -> EvaluationPlan:
    """Check everything and work out the plan. Raises InputError."""
    _check_numbers(request)
    task = load_task(request.task, seed=request.seed, limit=request.limit, items=request.items)
    sampler = _sampler()
    names = [SHORT.get(name, name) for name in dict.fromkeys(request.arms or default_arms(task))]
    pooled = POOLED_CODE if task.tested else POOLED
    if unfit := [name for name in names if name in POOLED and name not in pooled]:
        raise InputError(
            f"The arm {unfit[0]!r} counts equal answers, and no two answers of the kind {task.kind!r} are equal. Take "
            f"{' or '.join(POOLED_CODE)}."
        )
    known = {name: _known(name) for name in names if name not in pooled}
    for name, own in request.settings.items():
        if name not in known:
            raise UnknownName("arm", name, tuple(known))
        if not isinstance(own, Mapping):
            raise InputError(
                f"--set takes a setting of an arm, such as {name}.max_rounds=1; {name}={own!s:.50} names none. `moot "
                f"formats {known[name][0].name}` lists them."
            )
    if MAJORITY in names and len(request.models) < 2:
        raise InputError("The arm `majority` takes several models. Give them with --models A,B,C, or leave it out.")
    if request.models and MAJORITY not in names:
        raise InputError(
            "--models names the models of the arm `majority`, which is not among the arms. Add it to --arms, or leave "
            "--models out."
        )
    longest = max(task.items, key=lambda item: len(item.topic))
    arms = [
        await _arm(client, request, task, longest, name, format_, settings)
        for name, (format_, settings) in known.items()
    ]
    one = await _arm(client, request, task, longest, POOL, sampler, _drawn(sampler, 1, request.models[:1]))
    size = max(_pool_size(arms, one), len(request.models)) if request.pool is None else request.pool
    if size < len(request.models):
        raise InputError(
            f"The arm `majority` takes a sample of each of its {len(request.models)} models; --pool {size} is too few."
        )
    drawn = _drawn(sampler, size, request.models if MAJORITY in names else ())
    pools = [await _arm(client, request, task, longest, POOL, sampler, drawn)]
    if MAJORITY in names and SELF_CONSISTENCY in names:
        own = _drawn(sampler, size, ())
        pools.append(await _arm(client, request, task, longest, OWN_POOL, sampler, own))
    plan = EvaluationPlan(
        task=task,
        arms=(*pools, *arms),
        pool=size,
        models=tuple(request.models) if MAJORITY in names else (),
        majority=MAJORITY in names,
        epochs=request.epochs or task.epochs,
        seed=request.seed,
        match=request.match,
        max_cost_usd=request.max_cost_usd,
        max_output_tokens=request.max_output_tokens,
        judge=await _judge(client, request, task, sampler),
        file=_file(request),
        limit=request.limit,
    )
    check_budget(plan)
    return plan


def _file(request: EvaluationRequest) -> str:
    """Where the task file is, or the files of its items; empty if the task is built in."""
    given = request.task if request.items is None else request.items
    return "" if given in BUILT_IN else str(Path(given).expanduser().resolve())


def _check_numbers(request: EvaluationRequest) -> None:
    """Raises InputError for a number that no evaluation can have. That of items is checked where they are made."""
    ranges = (
        ("--epochs", "asks each item", "times", request.epochs, MOST_EPOCHS),
        ("--pool", "draws", "samples of each item", request.pool, MOST_POOL),
    )
    for flag, does, what, given, most in ranges:
        if given is not None and not 1 <= given <= most:
            raise InputError(f"An evaluation {does} 1 to {most} {what}; {flag} {given} can't be met.")
    check_limits(request.max_cost_usd, request.max_output_tokens)


def check_limits(max_cost_usd: float | None, max_output_tokens: int | None) -> None:
    """Raises InputError for a budget that is none."""
    if max_cost_usd is not None and not 0 <= max_cost_usd < inf:
        raise InputError(f"--max-cost-usd takes an amount of US dollars, 0 or more, not {max_cost_usd}.")
    if max_output_tokens is not None and max_output_tokens < 1:
        raise InputError(f"--max-output-tokens takes a whole number of 1 or more, not {max_output_tokens}.")


def with_budget(
    plan: EvaluationPlan, max_cost_usd: float | None = None, max_output_tokens: int | None = None
) -> EvaluationPlan:
    """The same evaluation with another budget for all of it; None: as it was. Raises InputError."""
    check_limits(max_cost_usd, max_output_tokens)
    given = {"max_cost_usd": max_cost_usd, "max_output_tokens": max_output_tokens}
    made = plan.model_copy(update={name: value for name, value in given.items() if value is not None})
    check_budget(made)
    return made


def check_budget(plan: EvaluationPlan) -> None:
    """Raises InputError if the budget does not last for one block."""
    worst = plan.worst_block
    if plan.max_cost_usd is not None:
        if worst.usd is None:
            raise InputError(
                "The price of a model is not known, so a budget in US dollars can't be kept. Give --max-output-tokens "
                "instead, or choose models with a known price."
            )
        if worst.usd > plan.max_cost_usd:
            raise InputError(
                f"One item with all its arms may cost {money(worst.usd)}; the budget is "
                f"{dollars(plan.max_cost_usd)}. Nothing could be compared. Give more, or fewer or shorter arms."
            )
    if plan.max_output_tokens is not None and worst.tokens > plan.max_output_tokens:
        raise InputError(
            f"One item with all its arms may take {worst.tokens:,} output tokens; the budget is "
            f"{plan.max_output_tokens:,}. Nothing could be compared. Give more, or fewer or shorter arms."
        )


def default_arms(task: Task) -> list[str]:
    """The baselines, and the format that is taken for open questions, or for code."""
    installed = formats.installed().values()
    if task.tested:
        able = [each for each in installed if each.pool is None and task.kind in each.answers]
        return [*POOLED_CODE, *[each.name for each in sorted(able, key=lambda each: "open" not in each.suits)][:1]]
    offered = [arm for each in installed for arm in each.arms]
    debating = [each.name for each in installed if "open" in each.suits]
    return [SINGLE, SELF_CONSISTENCY, *offered, *debating[:1]]


def _sampler() -> Format:
    found = next((each for each in formats.installed().values() if each.pool is not None), None)
    if found is None:
        raise InputError("No installed format draws independent samples, so there is nothing to compare with.")
    return found


def _drawn(sampler: Format, samples: int, models: Sequence[str]) -> Json:
    assert sampler.pool is not None
    return sampler.pool(samples, models)


def _known(name: str) -> tuple[Format, Json]:
    """The format and settings of an arm. Raises UnknownName."""
    for each in formats.installed().values():
        if name in each.arms:
            return each, each.arms[name]
    installed = formats.installed()
    if name in installed:
        return installed[name], {}
    offered = [arm for each in installed.values() for arm in each.arms]
    raise UnknownName("arm", name, (*POOLED, *offered, *installed))


async def _arm(
    client: Client,
    request: EvaluationRequest,
    task: Task,
    item: Item,
    name: str,
    format_: Format,
    settings: Mapping[str, Any],
) -> Arm:
    if task.kind not in format_.answers:
        able = [each.name for each in formats.installed().values() if task.kind in each.answers]
        raise InputError(
            f"The arm {name!r} can't come to an answer of the kind {task.kind!r}, which the task {task.name!r} asks "
            f"for. Formats that can: {', '.join(able)}."
        )
    own: Mapping[str, Any] = request.settings.get(name) or {}
    chosen: Json = {} if request.model is None else {"model_debater": request.model, "model_judge": request.model}
    given = merged(merged(merged(format_.unattended, chosen), settings), own)
    made = await client.plan(
        Request(
            topic=item.topic,
            format=format_.name,
            settings={**given, "answer": task.answer(item).model_dump(mode="json"), "recall_decisions": False},
        )
    )
    if people := [seat.name for seat in made.cast if seat.model == HUMAN]:
        raise InputError(f"In the arm {name!r}, a person speaks for {people[0]}; an evaluation asks no one.")
    worst = await client.estimate(made)
    return Arm(
        name=name,
        format=format_.name,
        settings=dict(given),
        worst_usd=None if worst.usage.cost_usd is None else worst.usage.cost_usd * TRIES,
        worst_tokens=_tokens(worst, made),
        seats=_seeded(client, made),
        baseline=format_.pool is not None,
    )


async def _judge(client: Client, request: EvaluationRequest, task: Task, sampler: Format) -> Arm | None:
    """What grades answers, where a model does: one sample, to the longest question that it can be asked."""
    model = request.judge or task.judge
    if not task.by_model:
        if request.judge:
            raise InputError(f"The answers of the task {task.name!r} are scored by code. Leave --judge out.")
        return None
    if not model:
        raise InputError(
            f"The answers of the task {task.name!r} are graded by a model. Say by which with --judge, or with `judge:` "
            "in the task file."
        )
    longest = max(task.items, key=lambda item: len(item.topic) + len(item.target))
    given = {**sampler.unattended, **_drawn(sampler, 1, ()), "model_debater": model, "model_judge": model}
    settings = {**given, "answer": GRADES.model_dump(mode="json"), "recall_decisions": False}
    topic = asked_of_judge(task, longest, "x " * (MOST_CHARS // 2))
    made = await client.plan(Request(topic=topic, format=sampler.name, settings=settings))
    worst = await client.estimate(made)
    return Arm(
        name="judge",
        format=sampler.name,
        settings=given,
        worst_usd=None if worst.usage.cost_usd is None else worst.usage.cost_usd * TRIES,
        worst_tokens=_tokens(worst, made),
        seats=_seeded(client, made),
    )


def _tokens(worst: Estimate, made: Plan) -> int:
    return min(int(made.config["max_total_output_tokens"]), worst.usage.tokens_out * TRIES)


def _seeded(client: Client, made: Plan) -> tuple[str, ...]:
    """The seats that get a seed: all, if every model takes one."""
    try:
        for spec in dict.fromkeys(seat.model for seat in made.cast):
            client.app.models.check_sampling(spec, Sampling(seed=1))
    except InputError:
        return ()
    return tuple(seat.id for seat in made.cast)


def _pool_size(arms: Sequence[Arm], one: Arm) -> int:
    """As many samples as the dearest arm costs."""
    ratios = [_ratio(arm, one) for arm in arms]
    return min(MOST_SAMPLES, max(FEWEST_SAMPLES, *(ceil(each) for each in ratios))) if ratios else FEWEST_SAMPLES


def _ratio(arm: Arm, one: Arm) -> float:
    if arm.worst_usd and one.worst_usd:
        return arm.worst_usd / one.worst_usd
    return arm.worst_tokens / max(1, one.worst_tokens)
