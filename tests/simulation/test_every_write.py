"""Not by chance: the same fault at each single write of a debate."""

from __future__ import annotations

import pytest

from tests.simulation.plan import ON_WRITE, OnWrite, Plan, Play, plays
from tests.simulation.world import Result, run

# One of each format; the others differ in what they ask, not in how it is stored.
NAMES = [
    name
    for name in ("classic, every round judged", "duel", "panel", "council", "crucible", "asking")
    if name in plays()
]


def once(play: Play, at_write: dict[int, OnWrite]) -> Result:
    return run(Plan(seed=5, plays=(play,), processes=2, at_write=at_write))


def at_every_write(play: Play, fault: OnWrite) -> None:
    writes = once(play, {}).writes
    assert writes > 5
    for number in range(1, writes + 1):
        result = once(play, {number: fault})
        assert result.violation is None, f"{fault} at write {number} of {writes}: {result.violation}"
        assert sum(result.counts[name] for name in (fault, "crash")) >= 1


@pytest.mark.parametrize("fault", ["crash before", "crash after", "fail"])
def test_a_small_debate_survives_it_anywhere(fault):
    at_every_write(Play(name="classic"), fault)


@pytest.mark.parametrize("fault", ["crash before", "crash after", "fail late"])
def test_what_the_rules_produce_survives_it_anywhere(fault):
    at_every_write(Play(name="workshop"), fault)


def at_once(name: str, fault: OnWrite) -> bool:
    """Whether `make test` tries it: crashes in every format, and every fault in two; `make soak` tries the rest."""
    return fault.startswith("crash") or name in NAMES[:2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fault"),
    [
        pytest.param(name, fault, marks=[] if at_once(name, fault) else pytest.mark.soak)
        for name in NAMES
        for fault in ON_WRITE
    ],
)
def test_every_format_survives_it_anywhere(name, fault):
    at_every_write(Play(name=name, voice=1), fault)


@pytest.mark.slow
def test_two_crashes_anywhere():
    play = Play(name="classic")
    writes = once(play, {}).writes
    for first in range(2, writes + 1):
        for second in range(first + 1, writes + 4):  # the second may hit the process that took over
            result = once(play, {first: "crash after", second: "crash before"})
            assert result.violation is None, f"crashes at writes {first} and {second}: {result.violation}"
