"""A debate that takes every process down that drives it, beside others that do nothing of the kind."""

from __future__ import annotations

import pytest

from moot.runtime import isolation
from tests.simulation.plan import Plan, Play
from tests.simulation.world import reference, run

PLAYS = (Play(name="duel, with readers"), Play(name="duel"), Play(name="classic", voice=1), Play(name="council"))


def plan(seed: int, *, poison: int, processes: int = 2, **more: object) -> Plan:
    return Plan(seed=seed, plays=PLAYS, processes=processes, faults={"poison": poison}, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("processes", [1, 3])
@pytest.mark.parametrize("ways", [(), ("workers", "told"), ("one machine", "eager")], ids=" ".join)
def test_it_is_set_aside_after_a_few_deaths_and_the_others_go_on(ways, processes):
    for seed in range(4):
        result = run(plan(seed, poison=9, processes=processes, ways=frozenset(ways)))
        assert result.violation is None
        # People try it again by hand: four more deaths, and then one that its cause does not survive.
        assert result.counts["d1 set aside"] == 2
        assert [name for name in result.counts if "set aside" in name] == ["d1 set aside"]
        assert {*result.transcripts} == {reference(play) for play in PLAYS}


def test_a_few_deaths_are_no_reason():
    result = run(plan(0, poison=3))
    assert result.violation is None
    assert result.counts["crash"] == 0
    assert result.counts["poison"] == 3
    assert result.counts["d1 set aside"] == 0


def test_the_limit_can_be_set():
    result = run(plan(0, poison=2, crash_limit=2))
    assert result.violation is None
    assert result.counts["d1 set aside"] == 1


def test_an_isolation_that_leaves_all_together_is_found(monkeypatch):
    drive_step = isolation._drive_step
    monkeypatch.setattr(isolation, "together_at_most", lambda *_: 100)
    monkeypatch.setattr(isolation, "_drive_step", lambda *which, alone: drive_step(*which, alone=True))
    found = [run(plan(seed, poison=9, processes=1, poisoned=("d1", "d2"))).violation for seed in range(3)]
    assert any("set aside after a death beside" in (violation or "") for violation in found), found
