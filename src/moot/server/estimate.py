"""The estimate of a debate as the API gives it."""

from __future__ import annotations

from moot.app import App
from moot.core.settings import DebateSettings
from moot.core.types import Price, Usage
from moot.estimate import Estimate
from moot.estimate import estimated as estimate_of
from moot.models.choice import is_demonstration
from moot.planning import Plan
from moot.server import schemas, views


async def estimated(app: App, plan: Plan) -> schemas.Estimate:
    made = await estimate_of(app, plan)
    settings = plan.format.settings.model_validate(plan.config)
    prices = {spec: app.models.price(spec) for spec in dict.fromkeys(seat.model for seat in plan.cast)}
    return schemas.Estimate(
        full_length=_amount(made.calls, made.usage),
        most=None if made.most_calls is None else _amount(made.most_calls, made.most),
        limits=schemas.Bound(
            tokens_out=settings.max_total_output_tokens,
            cost_usd=settings.max_cost_usd,
            runtime_seconds=settings.max_runtime_seconds,
        ),
        format=plan.format.name,
        chosen=list(plan.notes),
        seats=[views.seat(seat) for seat in plan.cast],
        prices=[_price(spec, price) for spec, price in prices.items()],
        demonstration=plan.demonstration,
        notes=_notes(made, settings, prices),
    )


def _amount(calls: int, usage: Usage) -> schemas.Amount:
    return schemas.Amount(calls=calls, tokens_in=usage.tokens_in, tokens_out=usage.tokens_out, cost_usd=usage.cost_usd)


def _price(spec: str, price: Price | None) -> schemas.Price:
    usd_in, usd_out = (None, None) if price is None else (price.usd_in, price.usd_out)
    demonstration = is_demonstration(spec)
    return schemas.Price(model=views.masked(spec), usd_in=usd_in, usd_out=usd_out, demonstration=demonstration)


def _notes(made: Estimate, settings: DebateSettings, prices: dict[str, Price | None]) -> list[str]:
    notes: list[str] = []
    unknown = [views.masked(spec) for spec, price in prices.items() if price is None]
    if unknown:
        notes.append(f"The price of {', '.join(unknown)} is not known, so the money is not.")
    if settings.max_cost_usd is None:
        notes.append("Nothing bounds the money. Set max_cost_usd: it is checked before each call.")
    if made.cut_by_tokens:
        notes.append("At full length it would be cut short by max_total_output_tokens.")
    if made.counted_in_part:
        notes.append(f"Only the first {made.calls:,} calls were counted.")
    notes.append("Answers that have to be asked for again, and models that take over for others, cost extra.")
    return notes
