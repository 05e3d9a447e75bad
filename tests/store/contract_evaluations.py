"""Plans of evaluations, and their cells: in no list and no memory."""

from __future__ import annotations

from dataclasses import replace

from moot.store import CellCounts, Commit, Grade, Labels, Store, StoredEvaluation, Viewer
from tests.store.samples import OUTCOME, completed, debate

PLAN = StoredEvaluation(id="e0000001-0000-5000-8000-000000000000", name="task", plan='{"seed": 1}')


class EvaluationsContract:
    async def test_a_plan_is_stored_once_with_its_latest_budget_and_can_be_stopped(self, store: Store, clock):
        await store.add_evaluation(PLAN)
        began = clock.now
        clock.now += 5
        await store.add_evaluation(replace(PLAN, plan='{"seed": 1, "max_cost_usd": 5}'))
        assert [each.plan for each in await store.evaluations("e00")] == ['{"seed": 1, "max_cost_usd": 5}']
        await store.add_evaluation(PLAN)
        (found,) = await store.evaluations("e00")
        assert (found.id, found.name, found.plan, found.stopped_at) == (PLAN.id, "task", PLAN.plan, None)
        assert found.created_at == began
        assert await store.evaluations("f") == []
        await store.stop_evaluation(PLAN.id)
        assert [each.stopped_at for each in await store.evaluations()] == [clock.now]
        await store.stop_evaluation(PLAN.id, stopped=False)
        assert [each.stopped_at for each in await store.evaluations()] == [None]

    async def test_grades_are_stored_once(self, store: Store):
        await store.add_evaluation(PLAN)
        one = Grade(item="a", answer="1" * 64, passed=True, examples=2)
        two = Grade(item="a", answer="2" * 64, passed=False, examples=0)
        await store.add_grades(PLAN.id, [two])
        await store.add_grades(PLAN.id, [one, Grade(item="a", answer=two.answer, passed=True, examples=1)])
        await store.add_grades(PLAN.id, [])
        assert await store.grades(PLAN.id) == [one, two]
        assert await store.grades("e1") == []

    async def test_cells_are_in_the_list_of_their_evaluation_only(self, store: Store):
        own, cell = await completed(store), await completed(store, 2, evaluation=PLAN.id)
        assert cell.evaluation == PLAN.id
        assert [each.id for each in (await store.page(evaluation="")).debates] == [own.id]
        assert [each.id for each in (await store.page(evaluation=PLAN.id)).debates] == [cell.id]
        assert {each.id for each in (await store.page()).debates} == {own.id, cell.id}
        assert [each.id for each in await store.unremembered("", 10)] == [own.id]

    async def test_cells_are_counted_for_those_who_see_them(self, store: Store, clock):
        assert await store.cell_counts(PLAN.id) == CellCounts(begun=0, completed=0, changed_at=0)
        await store.create(debate(1))
        for n, private in ((2, False), (3, True)):
            await store.create(debate(n, evaluation=PLAN.id, private=private, token_id="t"))
        before = await store.cell_counts(PLAN.id)
        assert (before.begun, before.completed) == (2, 0)
        clock.now += 5
        await store.claim(debate(2).id, "me", 10, expect=["pending"])
        commit = Commit(debate_id=debate(2).id, epoch=1, status="completed", outcome=OUTCOME, release=True)
        await store.commit(commit)
        after = await store.cell_counts(PLAN.id)
        assert (after.begun, after.completed) == (2, 1)
        assert after.changed_at > before.changed_at
        assert await store.cell_counts(PLAN.id, Viewer(token="t")) == after
        assert (await store.cell_counts(PLAN.id, Viewer(token="other"))).begun == 1
        assert (await store.cell_counts(PLAN.id, Viewer(token="other", shared=False))).begun == 0
        await store.label(debate(2).id, Labels(archived=True))
        archived = await store.cell_counts(PLAN.id)
        assert (archived.begun, archived.completed) == (2, 1), "the archive is for lists"
