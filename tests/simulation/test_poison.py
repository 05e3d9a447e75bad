"""A debate that takes every process down that drives it, beside others that do nothing of the kind."""

from __future__ import annotations

import pytest

from moot.runtime import isolation
from moot.runtime.runtime import Runtime
from tests.simulation.plan import Plan, Play
from tests.simulation.world import reference, run

pytestmark = pytest.mark.slow

PLAYS = (Play(name="duel, with readers"), Play(name="duel"), Play(name="classic", voice=1), Play(name="council"))


def plan(seed: int, *, poison: int, processes: int = 2, **more: object) -> Plan:
    return Plan(seed=seed, plays=PLAYS, processes=processes, faults={"poison": poison}, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("processes", [1, 3])
@pytest.mark.parametrize("ways", [(), ("workers", "told"), ("one machine", "eager")], ids=" ".join)
def test_it_is_set_aside_after_a_few_deaths_and_the_others_go_on(ways, processes):
    for seed in range(4):
        result = run(plan(seed, poison=20, processes=processes, ways=frozenset(ways)))
        assert result.violation is None
        # People try it again by hand, until it does no more harm.
        assert result.counts["poison"] == 20
        assert result.counts["d1 set aside"] >= 2
        assert [name for name in result.counts if "set aside" in name] == ["d1 set aside"]
        assert {*result.transcripts} == {reference(play) for play in PLAYS}


def test_a_few_deaths_are_no_reason():
    result = run(plan(0, poison=3))
    assert result.violation is None
    assert result.counts["crash"] == 0
    assert result.counts["poison"] == 3
    assert result.counts["d1 set aside"] == 0


def test_a_rule_under_which_company_convicts_is_found(monkeypatch):
    advance_step = Runtime.advance_step
    monkeypatch.setattr(isolation, "part_of", lambda *_: (0, 0))
    monkeypatch.setattr(Runtime, "advance_step", lambda *which, alone: advance_step(*which, alone=True))
    for seed in range(3):
        together = plan(seed, poison=20, processes=1, poisoned=("d1", "d2"), ways=frozenset({"one machine"}))
        assert "it is set aside after 0 deaths with no other beside it" in (run(together).violation or "")
