"""A small evaluation, run in the loop of a server."""

from __future__ import annotations

from typing import Any

from moot.client import Client
from moot.evaluate.drafting import EvaluationRequest, draft, with_budget
from moot.evaluate.plans import EvaluationPlan
from moot.evaluate.running import Running
from tests.server.serving import Served

ARMS = ("single", "sc", "council")
ITEMS = 4
MODEL = "sim:?price_in=1&price_out=5"


def evaluated(
    server: Served,
    *,
    items: int = ITEMS,
    seed: int = 1,
    model: str = MODEL,
    budget: float | None = None,
    **council: Any,
) -> EvaluationPlan:
    """`budget`: for so many items at worst; `council`: further settings of that arm."""

    async def run() -> EvaluationPlan:
        client = Client(server.app)
        request = EvaluationRequest(
            task="sim_choice",
            arms=ARMS,
            model=model,
            limit=items,
            pool=3,
            seed=seed,
            settings={"council": {"depth": "vote", **council}},
        )
        plan = await draft(client, request)
        if budget is not None:
            assert plan.worst_block.usd is not None
            plan = with_budget(plan, budget * plan.worst_block.usd)
        done = await Running(client=client, plan=plan, at_once=1).run()
        assert bool(done.failed) is bool(council)
        return plan

    return server.in_loop(run())
