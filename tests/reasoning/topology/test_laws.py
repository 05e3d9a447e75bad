"""What must hold in every topology, whoever takes part and whoever fails."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from moot.reasoning.topology import Agent, Kind, Topology, build, fresh
from moot.reasoning.topology.topology import COORDINATION
from tests.reasoning.topology.ways import route

PHASES = ("proposal", "critique")
DOMAINS = (COORDINATION, "security", "performance", "testing")


def agents(rng: Random, least: int = 1) -> list[Agent]:
    return [
        Agent(
            id=f"m{n}",
            leads=tuple(phase for phase in PHASES if rng.random() < 0.1),
            affinities={domain: rng.randint(0, 10) / 10 for domain in DOMAINS if rng.random() < 0.4},
        )
        for n in rng.sample(range(20), rng.randint(least, 8))
    ]


def failing(rng: Random, topology: Topology) -> list[Topology]:
    """The topology, and what is left of it as one after the other fails, until one is left."""
    seen = [topology]
    while len(topology.agents) > 1:
        topology = topology.without(rng.choice(topology.agents).id)
        seen.append(topology)
    return seen


SEEDS = st.integers(0, 2**32).map(Random)


@given(SEEDS)
def test_the_laws_of_every_topology_hold_after_every_failure(rng: Random):
    for kind in get_args(Kind):
        for topology in failing(rng, build(kind, agents(rng))):
            ids = [each.id for each in topology.agents]
            for phase in PHASES:
                waves, reads, early = topology.waves(phase), topology.reads(phase), fresh(topology, phase)
                asked = [each for wave in waves for each in wave]
                assert sorted(asked) == sorted(ids)  # waves partition the living
                assert all(waves)
                assert reads.keys() == set(ids)
                assert topology.leader(phase) in ids
                before: set[str] = set()
                for wave in waves:
                    for each in wave:
                        assert each not in reads[each]
                        assert set(reads[each]) <= set(ids)
                        assert set(early[each]) == set(reads[each]) & before  # nobody reads a later wave
                    before |= set(wave)
            for each in ids:  # by way of the first one, everyone's words can reach everyone
                for sender, receiver in ((each, ids[0]), (ids[0], each)):
                    way = route(topology, phase, sender, receiver)
                    assert way
                    assert (way[0], way[-1]) == (sender, receiver)
                    assert all(one in reads[two] for one, two in pairwise(way))


@given(SEEDS)
def test_those_who_did_not_read_the_one_that_failed_go_on_reading_whom_they_read(rng: Random):
    for kind in get_args(Kind):
        topology = build(kind, agents(rng, least=2))
        failed = rng.choice(topology.agents).id
        left = topology.without(failed)
        assert [each for each in topology.agents if each.id != failed] == list(left.agents)
        before, after = topology.reads("proposal"), left.reads("proposal")
        for each in after:
            if failed not in before[each]:
                assert set(before[each]) <= set(after[each])
