"""What a debate would take: the rules are run without a model, with statements of full length."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from moot.app import App, Plan
from moot.errors import MootError
from moot.runtime.budget import Allowance
from moot.runtime.steps import choices_of, turn_of_reply
from moot.script import Script, Step
from moot.server import schemas, views
from moot.settings import DebateSettings
from moot.types import CHARS_PER_TOKEN, Answer, Call, Debate, Likeness, Models, Price, Recollection, Reply

RUNS = 3  # simulated answers end a debate sooner or later by chance; the longest counts
MOST_CALLS = 1000

_NOBODY = "sim:?seed="


@dataclass
class Tally:
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = 0.0
    cut: bool = False  # it would have gone on

    def add(self, tokens_in: int, tokens_out: int, price: Price | None) -> None:
        self.calls += 1
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        cost = None if price is None or self.cost_usd is None else price.of(tokens_in, tokens_out)
        self.cost_usd = None if cost is None or self.cost_usd is None else self.cost_usd + cost


async def estimated(app: App, plan: Plan) -> schemas.Estimate:
    # The rules and the simulated words take a while for long debates; the event loop has others to serve.
    tallies = await asyncio.to_thread(_tallies, app.models, plan)
    longest = max(tallies, key=lambda tally: tally.tokens_out)
    settings = DebateSettings.model_validate(
        {name: plan.config[name] for name in DebateSettings.model_fields if name in plan.config}
    )
    specs = dict.fromkeys(seat.model for seat in plan.cast)
    prices = {spec: app.models.price(spec) for spec in specs}
    return schemas.Estimate(
        full_length=schemas.Amount(
            calls=longest.calls,
            tokens_in=longest.tokens_in,
            tokens_out=min(longest.tokens_out, settings.max_total_output_tokens),
            cost_usd=_capped(longest.cost_usd, settings.max_cost_usd),
        ),
        limits=schemas.Bound(
            tokens_out=settings.max_total_output_tokens,
            cost_usd=settings.max_cost_usd,
            runtime_seconds=settings.max_runtime_seconds,
        ),
        cast=[views.seat(seat) for seat in plan.cast],
        prices=[_price(spec, price) for spec, price in prices.items()],
        demonstration=plan.demonstration,
        notes=_notes(longest, settings, prices),
    )


def _tallies(models: Models, plan: Plan) -> list[Tally]:
    async def all_runs() -> list[Tally]:
        tallies: list[Tally] = []
        for seed in range(RUNS):
            tallies.append(await _run(models, plan, f"{_NOBODY}{seed}"))
            if tallies[-1].cut:
                break
        return tallies

    return asyncio.run(all_runs())


async def _run(models: Models, plan: Plan, nobody: str) -> Tally:
    tally = Tally()
    script = plan.format.script(_debate(plan))
    try:
        script.begin()
        while script.open and not tally.cut:
            step = next(iter(script.open.values()))
            await _answer(models, script, step, nobody, tally)
            tally.cut = tally.calls >= MOST_CALLS
    except MootError:
        tally.cut = True  # the simulated answers led somewhere that the rules can't take
    finally:
        script.close()
    return tally


async def _answer(models: Models, script: Script, step: Step, nobody: str, tally: Tally) -> None:
    at = {"seq": script.turn_count + 1, "started_at": 0.0, "created_at": 0.0, "duration_ms": 0}
    allowance = Allowance(max_tokens=step.max_tokens, tries=1, tokens=step.max_tokens, cost_usd=0.0)
    if step.kind == "ask":
        tokens_in = sum(len(message.text) for message in step.messages) // CHARS_PER_TOKEN
        tally.add(tokens_in, step.max_tokens, models.price(step.seat.model))
    reply = await _reply(models, step, nobody)
    script.resolve(turn_of_reply(step, reply, allowance, **at))


async def _reply(models: Models, step: Step, nobody: str) -> Reply:
    if step.kind == "recall":
        lookup = step.lookup
        return _typed(Likeness() if lookup is None or lookup.corpus is None else Recollection(by="nothing"))
    if step.returns is None:
        words = "word " * (step.max_tokens * CHARS_PER_TOKEN // 5 + 1)
        return Reply(text=words[: step.max_tokens * CHARS_PER_TOKEN], model="", provider="")
    choices = choices_of(step)
    if step.kind == "gate" and choices:  # the first goes on
        return _typed(step.returns.model_validate({"choice": choices[0]}))
    call = Call(key=step.key, seat=step.seat.id, messages=(), max_tokens=1_000_000, returns=step.returns)
    return await models.open(nobody)(call, lambda _: None)


def _typed(answer: Answer) -> Reply:
    return Reply(text=answer.prose(), model="", provider="", answer=answer)


def _debate(plan: Plan) -> Debate:
    return Debate(
        id="",
        topic=plan.topic,
        format=plan.format.name,
        format_version=plan.format.version,
        status="pending",
        config=plan.config,
        cast=plan.cast,
    )


def _capped(cost: float | None, cap: float | None) -> float | None:
    return cost if cap is None or cost is None else min(cost, cap)


def _price(spec: str, price: Price | None) -> schemas.Price:
    model = views.masked(spec)
    if price is None:
        return schemas.Price(model=model, usd_in=None, usd_out=None)
    return schemas.Price(model=model, usd_in=price.usd_in, usd_out=price.usd_out)


def _notes(tally: Tally, settings: DebateSettings, prices: dict[str, Price | None]) -> list[str]:
    notes: list[str] = []
    unknown = [views.masked(spec) for spec, price in prices.items() if price is None]
    if unknown:
        notes.append(f"The price of {', '.join(unknown)} is not known, so the money is not.")
    if settings.max_cost_usd is None:
        notes.append("Nothing bounds the money. Set max_cost_usd: it is checked before each call.")
    if tally.tokens_out > settings.max_total_output_tokens:
        notes.append("At full length it would be cut short by max_total_output_tokens.")
    if tally.cut:
        notes.append(f"Only the first {tally.calls:,} calls were counted.")
    notes.append("Answers that have to be asked for again, and models that take over for others, cost extra.")
    return notes
