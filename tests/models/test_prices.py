from __future__ import annotations

import pytest
from genai_prices import Usage as Tokens
from genai_prices import calc_price

from moot.core.types import Price, Usage
from moot.models.prices import meter, price
from moot.models.providers import Provider, ranked
from moot.models.spec import parse

FREE = Price(usd_in=0, usd_out=0)


@pytest.mark.parametrize(
    "text",
    ["local", "scripted:x.yaml", "replay:3f2a", "ollama:llama3", "openai:m@http://127.0.0.1:1/v1", "sim:"],
)
def test_what_runs_here_is_free(text: str) -> None:
    assert price(parse(text), {}) == FREE
    assert meter(parse(text)[0], {})(Usage(tokens_in=1000, tokens_out=1000)) == 0


@pytest.mark.parametrize(
    ("text", "usd_in", "usd_out"),
    [
        pytest.param("openai:gpt-4o-mini", 0.15, 0.6, id="one price"),
        pytest.param("openai:gpt-4o-mini@https://api.openai.com/v1", 0.15, 0.6, id="its provider's address"),
        pytest.param("anthropic:claude-sonnet-4-5", 7.5, 22.5, id="stored, at the highest tier"),
        pytest.param("deepseek:deepseek-chat", 0.27, 1.1, id="at the most expensive hour"),
        pytest.param("local | openai:gpt-4o-mini | sim:?price_in=1&price_out=0.1", 1, 0.6, id="a cascade"),
    ],
)
def test_a_price_is_that_of_the_worst_case(text: str, usd_in: float, usd_out: float) -> None:
    assert price(parse(text), {}) == Price(usd_in=usd_in, usd_out=usd_out)


def test_what_is_paid_is_the_actual_price() -> None:
    cost = meter(parse("openai:gpt-4o-mini")[0], {})
    assert cost(Usage(tokens_in=1_000_000, tokens_out=1_000_000)) == 0.75
    assert cost(Usage(tokens_in=1_000_000, tokens_out=0, tokens_cached=1_000_000)) == 0.075
    cost = meter(parse("anthropic:claude-sonnet-4-5")[0], {})
    assert cost(Usage(tokens_in=100_000, tokens_out=1000)) == pytest.approx(0.3 + 0.015)
    assert cost(Usage(tokens_in=300_000, tokens_out=1000)) == pytest.approx(1.8 + 0.0225)


@pytest.mark.parametrize("text", ["openai:no-such-model", "openai:m@https://models.example.org/v1"])
def test_an_unknown_price_is_none(text: str) -> None:
    assert price(parse(text), {}) is price(parse(f"local | {text}"), {}) is None
    assert meter(parse(text)[0], {})(Usage(tokens_in=1)) is None


@pytest.mark.parametrize("provider", [each for each in ranked() if each.models], ids=lambda each: each.name)
def test_every_default_has_a_known_price_that_the_library_agrees_with(provider: Provider) -> None:
    assert provider.api is not None
    for model in provider.models.values():
        (member,) = parse(f"{provider.name}:{model}")
        known = price((member,), {})
        assert known is not None
        assert 0 < known.usd_in <= 2.5
        name = provider.api.prices or provider.name
        paid = calc_price(Tokens(input_tokens=1000, output_tokens=1000), model, provider_id=name)
        assert meter(member, {})(Usage(tokens_in=1000, tokens_out=1000)) == float(paid.total_price)
        assert float(paid.total_price) <= known.of(1000, 1000)


def test_tokens_written_to_the_cache_cost_extra() -> None:
    spec = parse("anthropic:claude-haiku-5-5")[0]
    plain = meter(spec, {})(Usage(tokens_in=1_000_000))
    stored = meter(spec, {})(Usage(tokens_in=1_000_000, tokens_stored=1_000_000))
    worst = price((spec,), {})
    assert plain is not None
    assert stored is not None
    assert worst is not None
    assert plain < stored <= worst.usd_in
