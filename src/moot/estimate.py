"""What a debate would take: its rules are run without a model, with statements of full length."""

from __future__ import annotations

import asyncio

from moot.app import App
from moot.core.types import Models, Usage, record
from moot.planning import Plan
from moot.runtime.executors import Executors
from moot.runtime.rehearsal import Rehearsal, rehearse
from moot.runtime.threads import in_thread

RUNS = 3  # simulated answers end a debate sooner or later by chance; the longest counts


@record
class Estimate:
    """A debate at full length, as far as its own limits let it go."""

    calls: int
    usage: Usage  # tokens_out and cost_usd are capped by the debate's limits
    cut_by_tokens: bool  # at full length it would write more than its limit
    counted_in_part: bool  # it has more calls than are counted


async def estimated(app: App, plan: Plan) -> Estimate:
    rehearsals = await in_thread(lambda: _rehearsals(app.models, plan))
    longest = max(rehearsals, key=lambda rehearsal: rehearsal.usage.tokens_out)
    settings = plan.format.settings.model_validate(plan.config)
    usage, most = longest.usage, settings.max_total_output_tokens
    return Estimate(
        calls=longest.calls,
        usage=Usage(
            tokens_in=usage.tokens_in,
            tokens_out=min(usage.tokens_out, most),
            cost_usd=_capped(usage.cost_usd, settings.max_cost_usd),
        ),
        cut_by_tokens=usage.tokens_out > most,
        counted_in_part=longest.cut,
    )


def _rehearsals(models: Models, plan: Plan) -> list[Rehearsal]:
    async def all_runs() -> list[Rehearsal]:
        made: list[Rehearsal] = []
        for seed in range(RUNS):
            made.append(await rehearse(plan.format, plan.debate, Executors(models), seed))
            if made[-1].cut:
                break
        return made

    return asyncio.run(all_runs())


def _capped(cost: float | None, cap: float | None) -> float | None:
    return cost if cap is None or cost is None else min(cost, cap)
