"""Amounts and figures in words."""

import pytest

from moot.core.amounts import dollars, p_value


@pytest.mark.parametrize(
    ("usd", "said"), [(5, "$5"), (5.0, "$5"), (0.25, "$0.25"), (1e-6, "$0.000001"), (1e21, "$1" + "0" * 21), (0, "$0")]
)
def test_an_amount_is_repeated_to_its_last_digit(usd: float, said: str):
    assert dollars(usd) == said


@pytest.mark.parametrize(("p", "said"), [(0.0, "< 0.001"), (0.00099, "< 0.001"), (0.001, "0.001"), (0.5, "0.500")])
def test_no_chance_is_said_to_be_none(p: float, said: str):
    assert p_value(p) == said
