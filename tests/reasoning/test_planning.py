"""Plans: which style, who does what, in which order."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.reasoning.planning import (
    Assignment,
    PlanError,
    WorkPlan,
    centralized,
    choose_style,
    different_approaches,
    negotiated,
)
from moot.reasoning.topology import Agent

ADA = Agent(id="ada", affinities={"parsing": 0.9, "storage": 0.2})
BASIL = Agent(id="basil", affinities={"parsing": 0.3, "storage": 0.8})
CLEO = Agent(id="cleo")
TEAM = (ADA, BASIL, CLEO)


@pytest.mark.parametrize(
    ("asked", "seats", "ambiguity", "style"),
    [
        ("adaptive", 3, 0.2, "cpde"),
        ("adaptive", 8, 0.6, "cpde"),
        ("adaptive", 9, 0.0, "dpde"),
        ("adaptive", 3, 0.61, "dpde"),
        ("cpde", 20, 1.0, "cpde"),
        ("dpde", 2, 0.0, "dpde"),
    ],
)
def test_the_style_follows_from_the_work_unless_it_is_asked_for(asked, seats, ambiguity, style):
    assert choose_style(asked, seats=seats, ambiguity=ambiguity) == style


def test_a_leaders_plan_is_completed_by_affinity_then_by_who_has_least_to_do():
    plan = centralized(
        [
            Assignment(id="read", domain="parsing", interface="read(text) -> Tree"),
            Assignment(id="keep", domain="storage", needs=("read",)),
            Assignment(id="show", needs=("read",)),
            Assignment(id="docs", needs=("keep", "show")),
            Assignment(id="given", owner="ada"),
        ],
        TEAM,
    )
    assert {task.id: task.owner for task in plan.tasks} == {
        "read": "ada",
        "keep": "basil",
        "show": "cleo",
        "docs": "basil",  # as busy as cleo, and before her by id
        "given": "ada",
    }
    assert plan.waves == (("read", "given"), ("keep", "show"), ("docs",))
    assert [task.id for task in plan.of("ada")] == ["read", "given"]


@pytest.mark.parametrize(
    ("tasks", "problem"),
    [
        ([], "no tasks"),
        ([Assignment(id="a"), Assignment(id="a")], "two tasks are called 'a'"),
        ([Assignment(id="a", owner="zoe")], "'zoe', who does not take part"),
        ([Assignment(id="a", needs=("b",))], "needs 'b', which is no task"),
        ([Assignment(id="a", needs=("b",)), Assignment(id="b", needs=("a",))], "wait for itself"),
    ],
)
def test_a_plan_that_can_not_be_executed_is_refused(tasks, problem):
    with pytest.raises(PlanError, match=problem):
        centralized(tasks, TEAM)


def test_a_plan_made_by_hand_never_waits_forever():
    with pytest.raises(PlanError, match="wait for itself"):
        assert WorkPlan(style="cpde", tasks=(Assignment(id="a", needs=("a",)),)).waves


def test_one_function_is_written_by_everyone_in_another_way():
    plan = different_approaches(Assignment(id="f", interface="f(n) -> int"), ["recursive", "a table"], TEAM)
    assert [(task.id, task.owner, task.approach) for task in plan.tasks] == [
        ("f/ada", "ada", "recursive"),
        ("f/basil", "basil", "a table"),
        ("f/cleo", "cleo", "recursive"),
    ]
    assert plan.waves == (("f/ada", "f/basil", "f/cleo"),)
    with pytest.raises(PlanError, match="no approach"):
        different_approaches(Assignment(id="f"), [], TEAM)


def test_overlaps_go_to_the_greater_affinity_then_to_the_lower_id():
    read = Assignment(id="read", domain="parsing")
    plan = negotiated(
        {
            "cleo": [read, Assignment(id="show", needs=("read",))],
            "basil": [Assignment(id="keep", domain="storage"), read],
            "ada": [Assignment(id="read", domain="parsing", interface="ada's"), Assignment(id="show")],
        },
        TEAM,
    )
    assert {task.id: task.owner for task in plan.tasks} == {"read": "ada", "show": "ada", "keep": "basil"}
    assert next(task for task in plan.tasks if task.id == "read").interface == "ada's"
    assert plan.waves == (("read", "keep"), ("show",))  # cleo's need is kept, though not her claim
    assert set(plan.dropped) == {
        "basil leaves read to ada.",
        "cleo leaves read to ada.",
        "cleo leaves show to ada.",
    }
    with pytest.raises(PlanError, match="no agent 'zoe'"):
        negotiated({"zoe": [read]}, TEAM)


def test_needs_that_close_a_circle_are_given_up_and_said():
    plan = negotiated(
        {"ada": [Assignment(id="a", needs=("b", "gone"))], "basil": [Assignment(id="b", needs=("a",))]}, TEAM
    )
    assert plan.waves == (("b",), ("a",))
    assert plan.dropped == ("b does not wait for a, which waits for it.",)


@given(st.integers(0, 2**32).map(Random))
def test_whatever_is_proposed_everything_is_done_once_and_in_order(rng: Random):
    names = "abcdef"
    proposals = {
        agent.id: [
            Assignment(
                id=name,
                domain=rng.choice(["parsing", "storage", ""]),
                needs=tuple(rng.sample(names, rng.randint(0, 3))),
            )
            for name in rng.sample(names, rng.randint(1, 6))
        ]
        for agent in TEAM
    }
    plan = negotiated(proposals, TEAM)
    claimed = {task.id for tasks in proposals.values() for task in tasks}
    assert sorted(task.id for task in plan.tasks) == sorted(claimed)
    done: set[str] = set()
    needs = {task.id: set(task.needs) for task in plan.tasks}
    for wave in plan.waves:
        assert all(needs[each] <= done for each in wave)
        done |= set(wave)
    assert done == claimed
    assert negotiated(dict(reversed(proposals.items())), TEAM) == plan


@given(st.integers(0, 2**32).map(Random))
def test_whoever_claims_a_task_the_greatest_affinity_gets_it_then_the_lowest_id(rng: Random):
    team = [Agent(id=name, affinities={"parsing": rng.randint(0, 2) / 2}) for name in rng.sample("abcdefgh", 4)]
    claims = {each.id: [Assignment(id="read", domain="parsing")] for each in rng.sample(team, rng.randint(1, 4))}
    (task,) = negotiated(claims, team).tasks
    claimants = [each for each in team if each.id in claims]
    best = max(each.affinity("parsing") for each in claimants)
    assert task.owner == min(each.id for each in claimants if each.affinity("parsing") == best)


@given(st.integers(0, 2**32).map(Random))
def test_a_leaders_plan_is_refused_exactly_when_a_task_would_wait_for_itself(rng: Random):
    names = "abcde"
    needs = {name: tuple(rng.sample(names, rng.randint(0, 2))) for name in names}
    tasks = [Assignment(id=name, needs=needs[name]) for name in names]
    left = set(names)
    while ready := {each for each in left if not left & set(needs[each])}:
        left -= ready
    if left:
        with pytest.raises(PlanError, match="wait for itself"):
            centralized(tasks, TEAM)
        return
    plan = centralized(tasks, TEAM)
    order = [each for wave in plan.waves for each in wave]
    assert sorted(order) == sorted(names)  # every task in one wave
    assert all(order.index(needed) < order.index(task.id) for task in plan.tasks for needed in task.needs)
    assert all(task.owner in {each.id for each in TEAM} for task in plan.tasks)
