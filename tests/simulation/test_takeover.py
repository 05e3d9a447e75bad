"""Many debates on processes of one machine that are killed over and over, from outside and by poisonous debates."""

from __future__ import annotations

import pytest

from tests.simulation.plan import Plan, Play
from tests.simulation.world import run

pytestmark = pytest.mark.slow

SECONDS = 30.0  # after which every innocent debate must be driven again
NAMES = ("duel", "classic", "council", "crucible", "classic, every round judged")


def plan(seed: int) -> Plan:
    return Plan(
        seed=seed,
        plays=tuple(Play(name=NAMES[n % len(NAMES)], voice=n % 3) for n in range(60)),
        processes=3,
        at_once=100,
        faults={"poison": 12},
        poisoned=("d1", "d2"),
        ways=frozenset({"workers", "told", "one machine"}),
        kills=10,
        reborn=(1.0, 4.0),
    )


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (1, 2))])
def test_debates_of_processes_that_are_killed_are_driven_again_soon(seed: int):
    result = run(plan(seed))
    assert result.violation is None
    assert len(result.waits) > 50
    assert max(result.waits) < SECONDS


@pytest.mark.parametrize("kills_children", [False, True])
def test_thirty_debates_go_on_at_once_after_five_kills_of_their_server(kills_children: bool):
    result = run(
        Plan(
            seed=0,
            plays=tuple(Play(name=NAMES[n % len(NAMES)], voice=n % 3) for n in range(30)),
            sweep=0.5,
            ways=frozenset({"one machine"}),
            kills=5,
            kill_seconds=1.5,
            kills_children=kills_children,
            reborn=(0.2, 0.4),
        )
    )
    assert result.violation is None
    assert result.counts["crash"] == 5
    last = max(each[0] for each in result.trace if each[2] == "crashes")
    driven = {each[5]: each[0] for each in reversed(result.trace) if each[0] > last and each[4:5] == ("claim",)}
    assert len(driven) == 30
    assert max(driven.values()) - last < 5
