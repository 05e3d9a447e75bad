"""A forge under limits: the calls it makes, how it ends when they are used up, and that its turns replay."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.formats.forge.world import (
    ATTACK,
    GONE,
    LIMIT,
    RIGHT,
    TASK,
    WORSE,
    WRONG,
    World,
    asked,
    bounded,
    calls,
    criticize,
    forge,
    repair,
    worst,
)
from tests.playing import play, script_of

SCRIPT = "from solution import mid\n\n\ndef test():\n    assert mid(1, 2) == 2\n"


@pytest.mark.parametrize(("preset", "most"), [("default", 39), ("quick", 12)])
def test_calls_are_bounded_and_the_end_is_reserved(preset, most):
    played = forge(bounded(worst, most), preset=preset)
    assert calls(played) <= most
    assert len(asked(played, "teach")) == 1
    assert played.outcome.ended_by == "max_total_output_tokens"  # what `bounded` says it is


def test_the_usual_case_takes_far_fewer_calls():
    world = World()
    forge(world)
    assert world.asked <= 25
    quick = World()
    forge(quick, preset="quick")
    assert quick.asked <= 8


@pytest.mark.parametrize("n", [1, 4, 10, 16])
def test_a_limit_at_any_call_ends_it_with_what_there_is(n):
    world, made = World(), 0

    def limited(step):
        nonlocal made
        made += step.kind == "ask"
        return LIMIT if step.kind == "ask" and made >= n and not step.closing else world(step)

    outcome = forge(limited).outcome
    assert outcome.ended_by in ("max_total_output_tokens", "no_code")
    if made and any(each["version"] == "V1" for each in outcome.details["versions"]):
        assert outcome.headline


@pytest.mark.parametrize("topology", ["mesh", "tree"])
def test_nothing_depends_on_who_is_faster(topology):
    """Neither what is asked, run and shown, nor versions and their numbers, nor the outcome."""
    rng = random.Random(topology)
    alike = {"e2": WRONG, "e4": WRONG}  # two write the same code
    exact: dict[str, Any] = {"1/attack/critic": ATTACK, "write/e3": GONE, "critique": criticize}
    exact |= {"0/approve-review/you": {"choice": "reject", "text": "Again."}}
    exact |= {"repair": lambda step: repair(f"{WORSE}# {step.key}\n" if step.round == 1 else RIGHT)}
    world = World({"e1": f"{WORSE}\n", **alike}, **exact)
    chosen: dict[str, Any] = {"topology": topology, "engineers": 4, "gates": ["review"], "tests": SCRIPT}
    slow = forge(world, **chosen)
    shuffled = {"order": lambda steps: rng.sample(steps, len(steps)), "one_by_one": True}
    fast = play(script_of("forge", TASK, **chosen), world, **shuffled)
    assert {each.key: each.prompt_hash for each in fast.steps} == {each.key: each.prompt_hash for each in slow.steps}
    assert [(each.type, each.key, each.data) for each in fast.shown] == [(e.type, e.key, e.data) for e in slow.shown]
    assert fast.script.artifacts == slow.script.artifacts
    assert fast.outcome == slow.outcome
    assert len(slow.script.artifacts) > 10


def test_a_limit_that_refuses_every_engineer_waits_for_the_tester():
    """The tester is asked first: its answer may come after the refusals."""
    world = World(write=LIMIT)

    def last(steps):
        return sorted(steps, key=lambda each: each.phase == "tests")

    played = play(script_of("forge", TASK), world, order=last, one_by_one=True)
    assert played.outcome.ended_by == "max_total_output_tokens"
    assert played.outcome.headline
