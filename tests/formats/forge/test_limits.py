"""A forge under limits: the calls it makes, how it ends when they are used up, and that its turns replay."""

from __future__ import annotations

import random
from typing import Any

import pytest

from moot.formats.forge.settings import PHASES
from moot.reasoning.topology import KINDS
from tests.formats.forge.world import (
    ATTACK,
    GONE,
    INVALID,
    LIMIT,
    RIGHT,
    TASK,
    WORSE,
    WRONG,
    World,
    asked,
    calls,
    criticize,
    forge,
    repair,
    worst,
)
from tests.playing import play, script_of, turn_for

SCRIPT = "from solution import mid\n\n\ndef test():\n    assert mid(1, 2) == 2\n"


@pytest.mark.parametrize(("preset", "most"), [("default", 39), ("quick", 12)])
def test_calls_are_bounded_and_the_end_is_reserved(preset, most):
    played = forge(bounded(worst, most), preset=preset)
    assert calls(played) <= most
    assert len(asked(played, "teach")) == 1
    assert played.outcome.ended_by == "max_total_output_tokens"  # what `bounded` says it is


def bounded(answer, most: int):
    """Refuse calls as the runtime does: closing steps may use all, others leave what is reserved."""
    made = 0

    def limited(step):
        nonlocal made
        if step.kind != "ask":
            return answer(step)
        left = most - made - (step.leave.calls if step.leave else 0)
        if left < 1:
            return LIMIT
        made += 1
        return answer(step)

    return limited


def test_the_usual_case_takes_far_fewer_calls():
    world = World()
    forge(world)
    assert world.asked <= 25
    quick = World()
    forge(quick, preset="quick")
    assert quick.asked <= 8


@pytest.mark.parametrize("n", range(1, 17, 3))
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


def chosen_by(chance: random.Random) -> dict:
    return {
        "topology": chance.choice(KINDS),
        "planning": chance.choice(["adaptive", "cpde", "dpde", "none"]),
        "preset": chance.choice(["default", "quick"]),
        "attempts": chance.randint(0, 2),
        "red_rounds": chance.randint(1, 3),
        **{phase: chance.random() < 0.8 for phase in PHASES},
    }


@pytest.mark.parametrize("seed", range(25))
def test_random_switches_topologies_and_failures_always_end_within_the_calls(seed):
    chosen = chosen_by(random.Random(seed))
    most = 12 if chosen["preset"] == "quick" else 39

    def answer(step):
        chance = random.Random(f"{seed}/{step.key}").random()
        if step.kind == "ask" and chance < 0.15:
            return INVALID
        if step.kind == "ask" and chance < 0.25 and step.spared:
            return GONE
        return worst(step) if chance > 0.6 else World({"e1": WRONG}, meant={"text": ""})(step)

    played = play(script_of("forge", TASK, **chosen), bounded(answer, most))
    assert calls(played) <= most
    assert played.outcome.headline
    again = script_of("forge", TASK, **chosen)
    replayed = again.replay(played.turns)
    assert [(each.type, each.key, each.data) for each in replayed] == [(e.type, e.key, e.data) for e in played.shown]
    assert again.outcome == played.outcome


@pytest.mark.parametrize("topology", KINDS)
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
    for one, two in zip(sorted(each.key for each in slow.steps), sorted(each.key for each in fast.steps), strict=True):
        assert one == two
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


def test_the_turns_of_a_forge_replay_to_the_same_outcome():
    world = World({"e1": WRONG}, **{"1/attack/critic": ATTACK})
    played = forge(world)
    again = script_of("forge", TASK)
    again.replay([turn_for(step, world(step), n) for n, step in enumerate(played.steps, 1)])
    assert again.outcome == played.outcome
