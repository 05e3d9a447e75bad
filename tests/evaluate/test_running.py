"""Evaluations that another process stops, that are short of money, or whose task changes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from moot.client.client import Client
from moot.core.errors import InputError
from moot.core.types import Json
from moot.evaluate import running, stored
from moot.evaluate.changes import check_new, check_resumed
from moot.evaluate.drafting import EvaluationRequest, draft, with_budget
from moot.evaluate.folding import as_bytes
from moot.evaluate.plans import MOST_POOL, EvaluationPlan, blocks
from moot.evaluate.running import Ran, Running, stored_debates
from tests.forking import run_moot
from tests.running import an_app

SMALL = EvaluationRequest(
    task="sim_choice",
    arms=("single", "reflect", "council"),
    model="sim:?price_in=1&price_out=5",
    limit=6,
    pool=3,
    settings={"council": {"depth": "vote"}},
)


def lasting(found: Json) -> bytes:
    return as_bytes(found, timing=False)


async def undisturbed(folder: Path, plan: EvaluationPlan) -> Json:
    folder.mkdir()
    async with an_app(folder) as app:
        await Running(client=Client(app), plan=plan).run()
        return await stored.report(Client(app), plan)


@pytest.mark.slow
async def test_a_stop_by_another_process_leaves_complete_pairs_and_is_resumed(tmp_path: Path):
    async with an_app(tmp_path) as app:
        client = Client(app)
        plan = await draft(client, SMALL)
        stops: list[int] = []

        def stop(ran: Ran) -> None:
            """Called when an item is complete, while another one is under way; nothing goes on in the meantime."""
            if not stops:
                environ = {"MOOT_DATABASE_URL": str(tmp_path / "moot.db"), "MOOT_CONFIG": "/dev/null"}
                stops.append(run_moot(("eval", "stop", plan.id), environ, tmp_path).code)

        ran = await Running(client=client, plan=plan, at_once=2, progress=stop).run()
        assert (stops, ran.stopped, ran.failed) == ([0], True, 0)
        halted = await stored.report(client, plan)
        assert 2 <= halted["complete"] < 6
        assert (halted["unfinished"], halted["not_begun"]) == (0, 6 - halted["complete"])
        assert halted["cut_by"] == "stop"
        assert len({(each["item"], each["arm"]) for each in halted["cells"]}) == 3 * halted["complete"]
    async with an_app(tmp_path) as app:  # as after a restart
        again, _ = await stored.find(Client(app), plan.id)
        ran = await Running(client=Client(app), plan=again).run()
        assert (ran.stopped, ran.blocks) == (False, 6)
        whole = await stored.report(Client(app), again)
    assert lasting(whole) == lasting(await undisturbed(tmp_path / "other", plan))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"limit": 0}, "1 to 100,000 items"),
        ({"epochs": 101}, "1 to 100 times"),
        ({"pool": MOST_POOL + 1}, "1 to 64 samples"),
        ({"max_cost_usd": float("nan")}, "amount of US dollars"),
        ({"max_cost_usd": -1.0}, "amount of US dollars"),
        ({"max_output_tokens": 0}, "whole number of 1 or more"),
        ({"settings": {"council": 1}}, "such as council.max_rounds=1"),
    ],
)
async def test_numbers_that_no_evaluation_can_have_are_refused(client: Client, given: dict[str, Any], said: str):
    with pytest.raises(InputError, match=said):
        await draft(client, replace(SMALL, **given))


async def test_the_largest_pool_can_be_drawn_and_no_items_at_once_are_refused(client: Client):
    plan = await draft(client, replace(SMALL, pool=MOST_POOL))
    assert plan.pool == MOST_POOL
    with pytest.raises(InputError, match="At least one item"):
        await Running(client=client, plan=plan, at_once=0).run()


@pytest.mark.parametrize("unit", ["usd", "tokens_out"])
async def test_a_budget_holds_at_every_moment_with_several_items_under_way(tmp_path: Path, unit: str):
    reports: list[Json] = []
    for at_once in (1, 4):
        folder = tmp_path / str(at_once)
        folder.mkdir()
        async with an_app(folder) as app:
            client = Client(app)
            worst = (await draft(client, SMALL)).worst_block
            assert worst.usd is not None
            most = worst.usd * 2.5 if unit == "usd" else int(worst.tokens * 2.5)
            budget = {"max_cost_usd" if unit == "usd" else "max_output_tokens": most}
            plan = await draft(client, replace(SMALL, **budget))
            under_way: list[int] = []
            running = Running(client=client, plan=plan, at_once=at_once)
            running.progress = lambda _, running=running, at=under_way: at.append(len(running.reserved))
            await running.run()
            found = await stored.report(client, plan)
            assert found["complete"] > 0
            assert (found["unfinished"], found["complete"] + found["not_begun"]) == (0, 6)
            assert 0 < found["spent"][unit] <= most
            assert max(under_way) <= 2, "the worst cases of three items exceed the budget"
            reports.append(found)
    assert lasting(reports[0]) == lasting(reports[1])


async def test_every_baseline_that_was_asked_for_is_reported(client: Client):
    """Samples of one model and of several are drawn apart."""
    models = ("sim:?seed=1&skill=0", "sim:?seed=2&skill=1")
    arms = ("single", "sc", "majority", "council")
    asked = replace(SMALL, arms=arms, model="sim:?skill=1", models=models, limit=2, pool=4)
    plan = await draft(client, asked)
    assert (await Running(client=client, plan=plan).run()).blocks == 2
    found = await stored.report(client, plan)
    assert {*found["arms"]} == {"council"}
    right = {name: each["accuracy"] for name, each in found["baselines"].items()}
    assert (right["single"], right["self-consistency of 4"]) == (1, 1)
    assert right["majority of 4"] < 1
    assert [each["baseline"] for each in found["comparisons"]] == ["majority", "self-consistency", "single"]
    assert (await draft(client, replace(asked, arms=("single", "majority", "council")))).cells < plan.cells


async def test_more_money_goes_on_with_the_same_evaluation(client: Client, tmp_path: Path):
    unlimited = await draft(client, SMALL)
    worst = unlimited.worst_block.usd
    assert worst is not None
    plan = await draft(client, replace(SMALL, max_cost_usd=worst * 1.001))
    assert plan.id == unlimited.id
    ran = await Running(client=client, plan=plan).run()
    assert 0 < ran.blocks < 6
    assert ran.cut == 6 - ran.blocks
    short = await stored.report(client, plan)
    assert short["cut_by"] == "budget"
    found, _ = await stored.find(client, plan.id)
    with pytest.raises(InputError, match="Nothing could be compared"):
        with_budget(found, max_cost_usd=worst / 2)
    spent = short["spent"]["tokens_out"]
    with pytest.raises(InputError, match="already. A budget is for the whole evaluation: give more, or read"):
        await Running(client=client, plan=found.model_copy(update={"max_output_tokens": spent - 1})).run()
    kept, _ = await stored.find(client, plan.id)
    assert kept == plan  # what was refused is not stored
    larger = with_budget(kept, max_cost_usd=worst * 6)
    ran = await Running(client=client, plan=larger).run()
    assert (ran.blocks, ran.cut) == (6, 0)
    again, _ = await stored.find(client, plan.id)
    assert again == larger
    whole = await stored.report(client, again)
    assert {"max_cost_usd": worst * 6, "max_output_tokens": None}.items() <= whole["budget"].items()
    debates = [each["debate"] for each in short["cells"]]
    assert {*debates} <= {each["debate"] for each in whole["cells"]}  # and none is paid again
    other = await undisturbed(tmp_path / "other", unlimited)
    assert lasting({**whole, "budget": None}) == lasting(other)


async def test_a_task_that_changes_under_an_evaluation_is_noticed_before_anything_is_spent(
    client: Client, tmp_path: Path
):
    items = [{"id": str(n), "question": f"{n} + 1?", "target": str(n + 1)} for n in range(2)]
    (tmp_path / "task.yaml").write_text("name: sums\nkind: number\nitems: items.jsonl\n")

    def write(given: list[dict[str, str]]) -> None:
        (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, given)))

    asked = replace(SMALL, task=str(tmp_path / "task.yaml"), limit=None, arms=("single", "council"))
    write(items)
    plan = await draft(client, asked)
    worst = plan.worst_block.usd
    assert worst is not None
    plan = await draft(client, replace(asked, max_cost_usd=worst * 1.001))
    assert (await Running(client=client, plan=plan).run()).cut == 1
    check_resumed(plan)
    await check_new(client, plan)
    write([items[0], {**items[1], "target": "7"}])
    other = await draft(client, asked)
    assert other.id != plan.id
    assert other.task.sha256 != plan.task.sha256
    kept, _ = await stored.find(client, plan.id)
    assert kept == plan
    with pytest.raises(InputError, match=f"moot eval resume {plan.id[:8]} --old-items.*run --new"):
        check_resumed(kept)
    with pytest.raises(InputError, match="which is not finished: 2 of 4 debates are done.*with --new"):
        await check_new(client, other)
    await check_new(client, await draft(client, replace(asked, seed=2)))  # another question
    (tmp_path / "items.jsonl").write_text("nonsense")
    with pytest.raises(InputError, match="has changed since"):
        check_resumed(kept)
    (tmp_path / "task.yaml").rename(tmp_path / "gone.yaml")
    check_resumed(kept)  # the plan has the items
    await Running(client=client, plan=with_budget(kept, max_cost_usd=1)).run()
    await check_new(client, other)  # the first is finished
    (tmp_path / "gone.yaml").rename(tmp_path / "task.yaml")
    write([*items, {**items[0], "id": "more"}])
    with pytest.raises(InputError, match="has changed since"):
        check_resumed(kept)
    write(items)
    assert (await draft(client, asked)).id == plan.id


async def test_an_evaluation_goes_on_without_the_items_of_which_a_debate_was_deleted(client: Client):
    plan = await draft(client, SMALL)
    worst = plan.worst_block.usd
    assert worst is not None
    short = with_budget(plan, max_cost_usd=worst * 1.001)
    assert 0 < (await Running(client=client, plan=short).run()).blocks < 6
    first = next(blocks(plan))
    found = await stored.report(client, short)
    spent, before = found["spent"]["tokens_out"], found["complete"]
    gone = next(cell for cell in first.cells if cell.arm.name == "council")
    used = (await client.find(gone.id)).usage
    await client.delete(gone.id)
    assert sorted((await stored.read(client, plan)).deleted) == [gone.id]
    assert [id async for id, _ in stored.replayed(client, plan)] == [
        id for id in await stored_debates(client, plan) if id != gone.id
    ]
    enough = with_budget(plan, max_cost_usd=found["spent"]["usd"] + worst)  # but for what is deleted
    again = await Running(client=client, plan=enough).run()
    assert (again.deleted, again.failed, again.blocks) == ([first.item.id], 0, before - 1)
    assert again.cut == 6 - before
    ran = await Running(client=client, plan=plan).run()
    assert (ran.deleted, ran.failed, ran.blocks, ran.cut) == ([first.item.id], 0, 5, 0)
    whole = await stored.report(client, plan)
    assert (whole["complete"], whole["not_begun"], whole["deleted"]) == (5, 0, 1)
    assert [(each["debate"], each["cause"]) for each in whole["failed"]] == [(gone.id, "it was deleted")]
    assert whole["spent"]["tokens_out"] > spent - used.tokens_out
    (council, *_) = [each for each in whole["comparisons"] if each["arm"] == "council"]
    assert (council["failed_items"], council["unfinished_items"]) == (1, 0)
    other = await draft(client, replace(SMALL, pool=2))
    await Running(client=client, plan=other).run()
    arm = (await stored.compared(client, plan, other))["arms"][-1]
    assert (arm["arm"], arm["failed_items"]) == ("council", 1)


async def test_a_debate_that_is_deleted_while_its_evaluation_runs_ends_nothing_else(
    client: Client, monkeypatch: pytest.MonkeyPatch
):
    async def none(*given: object) -> frozenset[str]:
        """As before the debate was deleted."""
        return frozenset()

    plan = await draft(client, replace(SMALL, limit=3))
    await Running(client=client, plan=plan).run()
    middle = [*blocks(plan)][1]
    await client.delete(middle.cells[-1].id)
    monkeypatch.setattr(running, "deleted_of", none)
    once = Running(client=client, plan=plan)
    ran = await once.run()
    assert (ran.deleted, ran.blocks, ran.failed, ran.cut, ran.ungraded) == ([middle.item.id], 2, 0, 0, 0)
    assert once.lost.tokens == middle.cells[-1].arm.worst_tokens > 0


async def test_debates_in_the_archive_are_part_of_their_evaluation(client: Client):
    plan = await draft(client, replace(SMALL, limit=2))
    await Running(client=client, plan=plan).run()
    before = await stored.report(client, plan)
    for id in await stored_debates(client, plan):
        await client.label(await client.find(id), archived=True)
    assert await stored.report(client, plan) == before
