"""What is kept of an evaluation's debates while its report is made."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest

from moot.client.client import Client
from moot.core.types import Debate, Outcome
from moot.evaluate.cells import stored_cells, whole_cells
from moot.evaluate.drafting import EvaluationRequest, draft
from moot.evaluate.folding import as_bytes, fold
from moot.evaluate.inspect_report import inspect_logs
from moot.evaluate.plans import EvaluationPlan
from moot.evaluate.running import Running
from moot.evaluate.tasks import load_task

REQUEST = EvaluationRequest(
    task="sim_choice",
    arms=("single", "sc", "majority", "reflect", "council", "duel"),
    models=("sim:?skill=.6&garbage=.1", "sim:?seed=2&skill=.6"),
    model="sim:?skill=.6&garbage=.1&price_in=1&price_out=5",
    limit=5,
    pool=4,
    settings={"council": {"depth": "vote"}},
)


async def test_what_is_left_out_of_debates_changes_no_report(client: Client):
    plan = await draft(client, REQUEST)
    await Running(client=client, plan=plan).run()
    whole = {each.id: each async for each in whole_cells(client, plan.id, 7)}  # in several pages
    slim = await stored_cells(client, plan.id, 7)
    assert len(whole) == plan.cells
    assert [*slim] == [*whole]
    assert json.loads(as_bytes(fold(plan, whole, {})))["complete"] == 5
    assert as_bytes(fold(plan, slim, {})) == as_bytes(fold(plan, whole, {}))
    assert inspect_logs(plan, slim, {}) == inspect_logs(plan, whole, {})

    # What only people read is not kept.
    def size(debate: Debate) -> int:
        assert isinstance(debate.outcome, Outcome)
        plain = [str(getattr(debate, each.name)) for each in fields(Debate) if each.name != "outcome"]
        return len(debate.outcome.model_dump_json(exclude_defaults=True)) + sum(map(len, plain))

    assert any(each.outcome is not None and each.outcome.polls for each in whole.values())
    assert not any(each.config or each.topic or (each.outcome and each.outcome.polls) for each in slim.values())
    assert sum(map(size, slim.values())) * 2 < sum(map(size, whole.values()))
    seats = {id(seat) for each in slim.values() for seat in each.cast}
    assert len(seats) == len({(seat.id, seat.model) for each in slim.values() for seat in each.cast})


def test_the_id_of_a_plan_is_worked_out_once_and_a_copy_that_differs_has_another(monkeypatch: pytest.MonkeyPatch):
    plan = EvaluationPlan(task=load_task("sim_choice", seed=1, limit=2), arms=(), pool=1)
    name, stored = plan.id, plan.as_json()
    dumped: list[EvaluationPlan] = []
    monkeypatch.setattr(EvaluationPlan, "model_dump", lambda self, **_: dumped.append(self) or {})
    assert plan.id == name
    assert dumped == []
    monkeypatch.undo()
    assert plan.model_copy().id == plan.model_copy(update={"max_cost_usd": 1.0}).id == name
    assert plan.model_copy(update={"pool": 2}).id != name
    assert (plan.as_json(), EvaluationPlan.model_validate_json(stored)) == (stored, plan)
