from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from moot.core.limits import Limits, Spent
from moot.core.types import Turn


def turn(start: float, end: float, **fields) -> Turn:
    what = {"key": "k", "seq": 1, "kind": "ask", "round": 0, "phase": "p", "seat": "a", "role": "debater"}
    return Turn(**what, content="", started_at=start, created_at=end, **fields)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=30))
@example([(0, 10), (5, 7), (100, 3)])  # they overlap; then there is a pause
@example([(5, 1), (7, 1), (0, 10)])  # a long one ends last
def test_time_is_the_length_of_the_union_even_where_a_clock_was_set_back(spans: list[tuple[int, int]]):
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
