"""Many debates on workers of one machine that are killed over and over, from outside and by poisonous debates."""

from __future__ import annotations

import pytest

from tests.simulation.plan import Plan, Play
from tests.simulation.world import run

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
        crash_limit=6,
        kills=10,
        reborn=(1.0, 4.0),
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_debates_of_processes_that_are_killed_are_driven_again_soon(seed: int):
    result = run(plan(seed))
    assert result.violation is None
    assert len(result.waits) > 50
    assert max(result.waits) < SECONDS
