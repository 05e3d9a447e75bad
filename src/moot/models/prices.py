"""What models cost, from the genai-prices data. The package is imported when the first price is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from moot.core.types import Price, Usage
from moot.models.providers.api import is_loopback
from moot.models.providers.provider import FREE
from moot.models.spec import ModelSpec, base_url, provider_of

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, Provider

Meter = Callable[[Usage], float | None]
"""Returns the cost of a call in US dollars, or None if the price is not known."""


def price(cascade: Sequence[ModelSpec], environ: Mapping[str, str]) -> Price | None:
    """Return the highest price that a cascade can have, over its members, tiers and hours of the day.

    None if the price of any member is not known.
    """
    prices = [_worst(spec, environ) for spec in cascade]
    known = [found for found in prices if found is not None]
    if len(known) < len(prices):
        return None
    return Price(usd_in=max(p.usd_in for p in known), usd_out=max(p.usd_out for p in known))


def context_window(cascade: Sequence[ModelSpec], environ: Mapping[str, str]) -> int | None:
    """The smallest context window of a cascade, in tokens; None if that of any member is not known."""
    found = [None if _fixed(spec, environ) is not None else _find(spec, environ) for spec in cascade]
    windows = [None if each is None else each[1].context_window for each in found]
    known = [window for window in windows if window is not None]
    return min(known) if known and len(known) == len(windows) else None


def meter(spec: ModelSpec, environ: Mapping[str, str]) -> Meter:
    """Return the Meter of a model. It considers tiers, the hour of the day, and cached tokens."""
    fixed = _fixed(spec, environ)
    if fixed is not None:
        return lambda used: fixed.of(used.tokens_in, used.tokens_out)

    def actual(used: Usage) -> float | None:
        found = _find(spec, environ)
        if found is None:
            return None
        from genai_prices import Usage as Tokens

        provider, model = found
        tokens = Tokens(
            input_tokens=used.tokens_in,
            output_tokens=used.tokens_out,
            cache_read_tokens=min(used.tokens_cached, used.tokens_in),
            cache_write_tokens=min(used.tokens_stored, used.tokens_in - min(used.tokens_cached, used.tokens_in)),
        )
        try:
            return float(model.calc_price(tokens, provider).total_price)
        except ValueError:
            return None

    return actual


def _fixed(spec: ModelSpec, environ: Mapping[str, str]) -> Price | None:
    fixed = provider_of(spec).price
    if fixed is not None:
        return fixed(spec)
    url = base_url(spec, environ)
    return FREE if url and is_loopback(url) else None


def _worst(spec: ModelSpec, environ: Mapping[str, str]) -> Price | None:
    fixed = _fixed(spec, environ)
    if fixed is not None:
        return fixed
    found = _find(spec, environ)
    if found is None:
        return None
    _, model = found
    now = datetime.now(UTC)
    # Some prices change with the hour, and a debate may run into a more expensive one.
    day = [model.get_prices(now + timedelta(minutes=30 * half)) for half in range(48)]
    return Price(
        usd_in=max(max(_highest(p.input_mtok), _highest(p.cache_write_mtok)) for p in day),
        usd_out=max(_highest(p.output_mtok) for p in day),
    )


def _highest(amount: Any) -> float:
    """Return the highest tier of a price. None is free."""
    if amount is None:
        return 0.0
    tiers = getattr(amount, "tiers", None)
    return float(amount) if tiers is None else float(max([amount.base, *(tier.price for tier in tiers)]))


def _find(spec: ModelSpec, environ: Mapping[str, str]) -> tuple[Provider, ModelInfo] | None:
    from genai_prices.data_snapshot import get_snapshot

    url, api = base_url(spec, environ), provider_of(spec).api
    name = api.prices if api is not None and api.prices else spec.provider
    try:
        return get_snapshot().find_provider_model(spec.model, None, None if url else name, url)
    except LookupError:
        return None
