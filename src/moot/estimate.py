"""What a debate would take: its rules are run without a model, with statements of full length."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from moot.app import App
from moot.core.amounts import count, money
from moot.core.settings import DebateSettings
from moot.core.types import Debate, Models, Usage, record
from moot.formats import Format
from moot.planning import Plan
from moot.runtime.executors import Executors
from moot.runtime.rehearsal import Rehearsal, rehearse
from moot.runtime.threads import in_thread

MOST_REHEARSED = 5  # different debates at once
RUNS = 3  # simulated answers end a debate sooner or later by chance; the longest counts


@record
class Estimate:
    """A debate at full length, as far as its own limits let it go."""

    calls: int
    usage: Usage  # tokens_out and cost_usd are capped by the debate's limits
    most_calls: int | None  # the calls that it can't exceed; None: nothing but the other limits bounds them
    most: Usage  # what these would use, each as large as the largest; capped like `usage`
    cut_by_tokens: bool  # at full length it would write more than its limit
    counted_in_part: bool  # it has more calls than are counted

    @property
    def words(self) -> str:
        """How large the debate is, in one sentence."""
        calls = f"{count(self.calls, 'call')}{' and more' if self.counted_in_part else ''}"
        usual = f"{calls}, {count(self.usage.tokens_out, 'token')} written, {money(self.usage.cost_usd)}"
        if self.most_calls is None:
            return f"At full length: {usual}."
        most = f"{count(self.most_calls, 'call')}, {count(self.most.tokens_out, 'token')}, {money(self.most.cost_usd)}"
        return f"About {usual}; at most {most}."


async def estimated(app: App, plan: Plan) -> Estimate:
    longest = await _longest(app.models, plan.format, plan.debate)
    settings = plan.format.settings.model_validate(plan.config)
    most_calls = settings.max_calls
    if most_calls is not None and plan.format.calls_of_people is not None:
        most_calls += plan.format.calls_of_people(settings)
    calls = longest.calls if most_calls is None else min(longest.calls, most_calls)
    usage = longest.of_first(calls)
    return Estimate(
        calls=calls,
        usage=_within(settings, usage),
        most_calls=most_calls,
        most=_within(settings, usage if most_calls is None else longest.of_largest(most_calls)),
        cut_by_tokens=usage.tokens_out > settings.max_total_output_tokens,
        counted_in_part=longest.cut,
    )


def _within(settings: DebateSettings, usage: Usage) -> Usage:
    """What the limits leave of it."""
    return Usage(
        tokens_in=usage.tokens_in,
        tokens_out=min(usage.tokens_out, settings.max_total_output_tokens),
        cost_usd=_capped(usage.cost_usd, settings.max_cost_usd),
    )


async def steps_of(app: App, debate: Debate) -> int | None:
    """How many steps a debate has at full length; None if its format is not installed."""
    format_ = app.formats.get(debate.format)
    return None if format_ is None else (await _longest(app.models, format_, debate)).steps


async def still_to_use(app: App, debates: Sequence[Debate]) -> Usage:
    """The most output tokens and money that debates may still use, by their limits and their full length; the cost is
    None when a price is not known. Of many different debates some count by their limits alone."""
    longest: dict[str, Usage] = {}
    left = Usage()
    for debate in debates:
        format_ = app.formats.get(debate.format)
        if format_ is None:
            continue  # it can't go on here
        settings = format_.settings.model_validate(debate.config)
        kind = repr((debate.format, debate.config, debate.cast))
        if kind not in longest and len(longest) < MOST_REHEARSED:
            longest[kind] = (await _longest(app.models, format_, debate)).usage
        full, used = longest.get(kind, Usage(tokens_out=settings.max_total_output_tokens, cost_usd=None)), debate.usage
        cost = settings.max_cost_usd if full.cost_usd is None else _capped(full.cost_usd, settings.max_cost_usd)
        left += Usage(
            tokens_out=max(0, min(full.tokens_out, settings.max_total_output_tokens) - used.tokens_out),
            cost_usd=None if cost is None else max(0.0, cost - (used.cost_usd or 0.0)),
        )
    return left


async def _longest(models: Models, format_: Format, debate: Debate) -> Rehearsal:
    rehearsals = await in_thread(lambda: _rehearsals(models, format_, debate))
    return max(rehearsals, key=lambda rehearsal: rehearsal.usage.tokens_out)


def _rehearsals(models: Models, format_: Format, debate: Debate) -> list[Rehearsal]:
    async def all_runs() -> list[Rehearsal]:
        made: list[Rehearsal] = []
        for seed in range(RUNS):
            made.append(await rehearse(format_, debate, Executors(models), seed))
            if made[-1].cut:
                break
        return made

    return asyncio.run(all_runs())


def _capped(cost: float | None, cap: float | None) -> float | None:
    return cost if cap is None or cost is None else min(cost, cap)
