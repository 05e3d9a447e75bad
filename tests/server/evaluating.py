"""A small evaluation, run in the loop of a server."""

from __future__ import annotations

from moot.client import Client
from moot.evaluate.drafting import EvaluationRequest, draft
from moot.evaluate.plans import EvaluationPlan
from moot.evaluate.running import Running
from tests.server.serving import Served

ARMS = ("single", "sc", "council")
ITEMS = 4


def evaluated(server: Served, *, items: int = ITEMS, seed: int = 1) -> EvaluationPlan:
    async def run() -> EvaluationPlan:
        client = Client(server.app)
        request = EvaluationRequest(
            task="sim_choice",
            arms=ARMS,
            model="sim:?price_in=1&price_out=5",
            limit=items,
            pool=3,
            seed=seed,
            settings={"council": {"depth": "vote"}},
        )
        plan = await draft(client, request)
        done = await Running(client=client, plan=plan).run()
        assert not done.failed
        return plan

    return server.in_loop(run())
