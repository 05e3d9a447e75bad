from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from moot.core.limits import Limits, Spent
from moot.core.types import Turn


def turn(start: float, end: float, **fields) -> Turn:
    base = {
        "key": "k",
        "seq": 1,
        "kind": "ask",
        "round": 0,
        "phase": "p",
        "seat": "a",
        "role": "debater",
        "content": "",
    }
    return Turn(**{**base, "started_at": start, "created_at": end, **fields})


def test_time_counts_once_when_steps_overlap_and_not_while_nothing_runs():
    spent = Spent()
    spent.add(turn(0, 10))
    spent.add(turn(5, 12))  # overlaps
    spent.add(turn(100, 103))  # after a pause
    assert spent.seconds == 15


def test_a_long_step_that_ends_last_covers_the_short_ones():
    spent = Spent()
    spent.add(turn(5, 6))
    spent.add(turn(7, 8))
    spent.add(turn(0, 10))
    assert spent.seconds == 10


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=30))
def test_time_is_the_length_of_the_union(spans: list[tuple[int, int]]):
    spent = Spent()
    for start, length in sorted(spans, key=lambda span: span[0] + span[1]):
        spent.add(turn(start, start + length))
    covered = {tick for start, length in spans for tick in range(start, start + length)}
    assert spent.seconds == len(covered)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=30))
def test_a_clock_that_is_set_back_adds_no_time_that_nothing_ran(spans: list[tuple[int, int]]):
    spent = Spent()
    for start, length in spans:  # in any order
        spent.add(turn(start, start + length))
    covered = {tick for start, length in spans for tick in range(start, start + length)}
    assert spent.seconds == len(covered)


def test_each_limit_is_named_when_it_is_reached():
    spent = Spent()
    spent.add(turn(0, 10, tokens_out=50, cost_usd=0.5))
    assert spent.reached(Limits()) is None
    assert spent.reached(Limits(max_total_output_tokens=51, max_cost_usd=0.51, max_runtime_seconds=11)) is None
    for limits, name in (
        (Limits(max_total_output_tokens=50), "max_total_output_tokens"),
        (Limits(max_cost_usd=0.5), "max_cost_usd"),
        (Limits(max_runtime_seconds=10), "max_runtime_seconds"),
    ):
        reached = spent.reached(limits)
        assert reached is not None
        assert reached.limit == name
