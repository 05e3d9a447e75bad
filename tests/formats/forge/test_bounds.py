"""Whatever is switched off and whoever fails, a forge ends, within a number of steps that follows from its settings."""

from __future__ import annotations

import random
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moot.core.types import Failure
from moot.formats.forge.dehallucination import ROUNDS
from moot.formats.forge.settings import PHASES, ForgeSettings
from moot.reasoning.topology import Kind
from tests.formats.forge.world import (
    GONE,
    INVALID,
    TASK,
    WRONG,
    World,
    asked,
    bounded,
    calls,
    forge,
    phases,
    worst,
)
from tests.playing import Played, play, script_of

BROKEN = Failure(kind="unavailable", message="the checkers are gone")
OVERLOADED = Failure(kind="overloaded", message="too many requests")


def most_calls(chosen: ForgeSettings) -> int:
    """Calls of models, at most, where nothing else limits them."""
    engineers, blind = chosen.engineers, chosen.oracles + 1  # the tester settles what oracles leave open
    calls = 2 * ROUNDS * chosen.dehallucination
    calls += 2 * engineers  # plans, and the negotiation of them
    calls += 2 * engineers + 1  # code, once more if no engineer could be had; the tester's tests
    calls += engineers * (chosen.attempts * chosen.self_evolvement + chosen.fresh_starts)
    calls += blind * chosen.proposal
    calls += (engineers + 1) * chosen.critique
    calls += (2 + blind) * chosen.review
    calls += 2 * chosen.optimization
    calls += (2 + blind) * chosen.red_rounds * chosen.adversarial
    return calls + (engineers + 2 + 1) * chosen.convergence  # ballots, and the explanation


def most_versions(chosen: ForgeSettings) -> int:
    return chosen.engineers * (2 + chosen.attempts + chosen.fresh_starts) + 2 + 2 + chosen.red_rounds


def most_runs(chosen: ForgeSettings) -> int:
    """Uses of tools, at most: each version twice in each phase, on calls that are new in it, and its checks."""
    return most_versions(chosen) * 2 * (len(PHASES) + chosen.red_rounds)


def check(played: Played, chosen: ForgeSettings) -> None:
    assert not played.script.open
    assert played.outcome.headline
    assert sum(step.kind == "ask" for step in played.steps) <= most_calls(chosen)
    assert sum(step.kind == "use" for step in played.steps) <= most_runs(chosen)
    assert phases(played)[-1] == "convergence"


CHOICES: dict[str, st.SearchStrategy[Any]] = {
    "topology": st.sampled_from(get_args(Kind)),
    "planning": st.sampled_from(["adaptive", "cpde", "dpde", "none"]),
    "preset": st.sampled_from(["default", "quick"]),
    "voting": st.sampled_from(["auto", "borda", "condorcet", "plurality", "unanimous"]),
    "engineers": st.integers(1, 6),
    "oracles": st.integers(1, 4),
    "attempts": st.integers(0, 5),
    "fresh_starts": st.integers(0, 5),
    "cases": st.sampled_from([[], ["mid(-1, -2) == 0"]]),
    "red_rounds": st.integers(1, 5),
    **{phase: st.booleans() for phase in PHASES},
}


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.fixed_dictionaries(CHOICES), st.integers(0, 10**6), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_random_switches_topologies_and_failures_always_end_within_their_bounds_and_replay(chosen, seed, failing):
    def answer(step):
        rng = random.Random(f"{seed}/{step.key}")
        if step.kind == "use" and step.tool == "checks" and rng.random() < failing:
            return BROKEN
        if step.kind == "ask" and rng.random() < failing:
            return rng.choice([INVALID, GONE, OVERLOADED] if step.spared else [INVALID])
        usual = World({f"e{n}": WRONG for n in range(1, 7)}, meant={"text": ""})
        return worst(step) if rng.random() < 0.5 and not step.phase.startswith("write") else usual(step)

    check(play(script_of("forge", TASK, **chosen), answer), ForgeSettings(**chosen))
    most = 12 if chosen["preset"] == "quick" else 39
    limited = play(script_of("forge", TASK, **chosen), bounded(answer, most))
    assert calls(limited) <= most
    assert limited.outcome.headline
    again = script_of("forge", TASK, **chosen)
    replayed = again.replay(limited.turns)
    assert [(each.type, each.key, each.data) for each in replayed] == [(e.type, e.key, e.data) for e in limited.shown]
    assert again.outcome == limited.outcome


@pytest.mark.parametrize("topology", get_args(Kind))
@pytest.mark.parametrize("lost", [("e1",), ("e2",), ("e1", "e2")])
def test_a_topology_closes_its_gaps(topology, lost):
    """The first one lost is the root of a tree, the hub of a star, the head of a chain."""
    gone: dict[str, Any] = {f"write/{seat}": GONE for seat in lost}
    played = forge(World(**gone), topology=topology)
    living = [seat for seat in ("e1", "e2", "e3") if seat not in lost]
    critics = {*asked(played, "critique")} - {"critic"}
    assert critics <= {*living}  # those who can read another's version
    assert topology != "mesh" or len(living) == 1 or sorted(critics) == living
    assert "critic" in asked(played, "critique")
    assert not {step.seat.id for step in played.steps if step.phase in ("review", "refactor", "vote")} & {*lost}
    assert played.outcome.answer is not None
    assert sum("could not be had" in note for note in played.outcome.notes) == len(lost)
    assert phases(played) == list(PHASES)


@pytest.mark.parametrize("phase", ["clarify", "plan", "tests", "predict", "critique", "review", "attack", "teach"])
@pytest.mark.parametrize("failure", [INVALID, GONE], ids=["invalid", "unavailable"])
def test_nothing_waits_for_ever_for_a_phase_whose_seats_all_fail(phase, failure):
    """Engineers wait for the tester, the critic for the oracles, and so on: a failure is an answer, too."""
    failing = World({"e1": WRONG}, **{phase: lambda step: failure if failure == INVALID or step.spared else INVALID})
    played = forge(failing)
    check(played, ForgeSettings.model_validate({}))
    assert phases(played) == list(PHASES)
