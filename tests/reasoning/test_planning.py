"""Plans: which style, and who does what."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.reasoning.planning import Assignment, choose_style, different_approaches, negotiated
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


def test_one_function_is_written_by_everyone_in_another_way():
    plan = different_approaches(Assignment(id="f", interface="f(n) -> int"), ["recursive", "a table"], TEAM)
    assert [(task.id, task.owner, task.approach) for task in plan] == [
        ("f/ada", "ada", "recursive"),
        ("f/basil", "basil", "a table"),
        ("f/cleo", "cleo", "recursive"),
    ]


def test_overlaps_go_to_the_greater_affinity_then_to_the_lower_id():
    read = Assignment(id="read", domain="parsing")
    plan = negotiated(
        {
            "cleo": [read, Assignment(id="show")],
            "basil": [Assignment(id="keep", domain="storage"), read],
            "ada": [Assignment(id="read", domain="parsing", interface="ada's"), Assignment(id="show")],
        },
        TEAM,
    )
    assert {task.id: task.owner for task in plan} == {"read": "ada", "show": "ada", "keep": "basil"}
    assert next(task for task in plan if task.id == "read").interface == "ada's"


@given(st.integers(0, 2**32).map(Random))
def test_whatever_is_proposed_everything_is_done_once(rng: Random):
    proposals = {
        agent.id: [
            Assignment(id=name, domain=rng.choice(["parsing", "storage", ""]))
            for name in rng.sample("abcdef", rng.randint(1, 6))
        ]
        for agent in TEAM
    }
    plan = negotiated(proposals, TEAM)
    claimed = {task.id for tasks in proposals.values() for task in tasks}
    assert sorted(task.id for task in plan) == sorted(claimed)
    assert negotiated(dict(reversed(proposals.items())), TEAM) == plan
