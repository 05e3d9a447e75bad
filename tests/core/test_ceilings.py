"""Ceilings of the operator: nothing that a debate asks for gets past them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.ceilings import Reserved, Spending, Today, check_asked, for_server, lowered, missing, within
from moot.core.errors import InputError, OverBudget
from moot.core.limits import Limits
from moot.core.settings import SERVER_DEBATE_USD, Ceilings

MONEY = st.none() | st.floats(0.001, 1000)
TOKENS = st.none() | st.integers(1, 100_000)


@given(usd=st.floats(0.001, 1000), tokens=st.integers(1, 100_000), asked_usd=MONEY, asked_tokens=TOKENS)
def test_no_limit_of_a_debate_is_above_the_ceilings(usd, tokens, asked_usd, asked_tokens):
    ceilings = Ceilings(debate_usd=usd, debate_tokens=tokens)
    asked = {"max_cost_usd": asked_usd, "max_total_output_tokens": asked_tokens}
    settings = {**lowered(ceilings, asked), **missing(ceilings, asked)}
    assert settings["max_cost_usd"] <= usd
    assert settings["max_total_output_tokens"] <= tokens
    limits = within(ceilings, Limits(**asked))
    assert limits.max_cost_usd <= usd
    assert limits.max_total_output_tokens <= tokens
    above = (asked_usd or 0) > usd or (asked_tokens or 0) > tokens
    if above:
        with pytest.raises(InputError, match="operator's ceiling"):
            check_asked(ceilings, asked)
    else:
        check_asked(ceilings, asked)


@given(most=st.floats(0.01, 100), used=st.floats(0, 100), held=st.floats(0, 100), asked=st.floats(0.0001, 100))
def test_what_is_reserved_never_exceeds_the_day(most, used, held, asked):
    spent = Spending(cost_usd=used, reserved_usd=held)
    for whose in ("caller", "day"):
        others = Spending() if whose == "caller" else spent
        today = Today(now=0.0, all=others, caller=spent if whose == "caller" else Spending())
        refused = today.refusal(Ceilings(**{f"{whose}_usd": most}), Reserved(cost_usd=asked))
        assert (refused is None) == (used + held + asked <= most)


def test_a_refusal_says_when_the_budget_opens_again():
    today = Today(now=86_400 * 10 + 5.0, all=Spending(tokens=90, reserved_tokens=10), caller=Spending())
    refused = today.refusal(Ceilings(day_tokens=100))
    assert isinstance(refused, OverBudget)
    assert refused.opens_at == 86_400 * 11
    assert "100 output tokens that all debates together may use in a day" in str(refused)
    assert "opens again at 1970-01-12 00:00 UTC" in str(refused)
    assert today.left(Ceilings(day_tokens=120, caller_tokens=15)) == (None, 15)


def test_a_server_has_a_ceiling_unless_it_is_lifted():
    assert for_server(Ceilings()).debate_usd == SERVER_DEBATE_USD
    assert for_server(Ceilings(debate_usd=2)).debate_usd == 2
    lifted = for_server(Ceilings(debate_usd="none"))
    assert within(lifted, Limits(max_cost_usd=100)).max_cost_usd == 100
