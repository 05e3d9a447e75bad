"""What the queue on a real PostgreSQL does beyond its contract, and what becomes of debates that are put there."""

from __future__ import annotations

import asyncio

import pytest

from moot.app import App
from moot.client import documents
from moot.core.errors import StoreError, WrongStatus
from tests.running import Held, until
from tests.workers.crew import jobs, new, on, queued, reached, rows, status, turns, when, working

pytestmark = pytest.mark.slow


class TestPut:
    async def test_when_it_can_not_be_queued_it_does_not_run(self, app: App):
        debate = await new(app)
        await app.workers_queue().depth()  # its tables are there
        await rows(app, "alter table moot_jobs add constraint nothing_more check (false) not valid")
        with pytest.raises(StoreError, match="nothing_more"):
            await app.workers_queue().put(debate.id, expect=("pending",))
        assert await app.runtime.store.get(debate.id) == debate
        assert await jobs(app) == []

    async def test_what_is_over_is_not_handed_over(self, app: App):
        debate = await new(app)
        await app.runtime.cancel(debate.id)
        with pytest.raises(WrongStatus, match="is canceled; it can't be left to the workers"):
            await app.hand_over(debate)

    @pytest.mark.parametrize("meanwhile", ["queued", "driven", "done"])
    async def test_said_again_after_a_lost_connection_it_is_not_refused(self, app: App, meanwhile):
        """It had arrived, and perhaps a worker has begun since."""
        debate = await new(app, f"sim:?latency_ms={0 if meanwhile == 'done' else 60_000}")
        store = app.runtime.store
        real = store.with_connection
        await app.workers_queue().put(debate.id, expect=("pending",))
        if meanwhile != "queued":
            await rows(app, "delete from moot_jobs")
            await app.runtime.advance(debate.id)
        if meanwhile == "done":
            await app.runtime.wait(debate.id)
        store.with_connection = lambda work: real(lambda connection, _: work(connection, True))
        again = await app.workers_queue().put(debate.id, expect=("pending",))
        assert again is not None
        assert again.status == ("completed" if meanwhile == "done" else "running")
        assert len(await jobs(app)) == (meanwhile == "queued")
        store.with_connection = real


class TestSweep:
    async def test_several_at_once_queue_it_once(self, app: App, database_url, tmp_path):
        async with on(database_url, tmp_path, "other") as other:
            for _ in range(30):
                await app.hand_over(await new(app))
            await rows(app, "delete from moot_jobs")
            found = await asyncio.gather(*(each.workers_queue().sweep(0) for each in (app, other) * 4))
            assert sum(each.orphans for each in found) >= 30
            assert len(await jobs(app)) == 30

    async def test_old_notes_on_jobs_are_thrown_away(self, app: App):
        queue = app.workers_queue()
        for age in ("2 days", "1 hour"):
            debate = await new(app)
            await queue.put(debate.id, expect=("pending",))
            await rows(
                app,
                f"update moot_job_log set created = now() - interval '{age}'"
                " where job_id = (select max(id) from moot_jobs)",
            )
        await queue.sweep(60)
        assert len(await rows(app, "select * from moot_job_log")) == 1


class TestStuck:
    async def test_nothing_is(self, app: App):
        queue = app.workers_queue()
        put, driven, waiting = await new(app), await new(app), await new(app, format="asking")
        await app.runtime.start(waiting.id)
        await app.runtime.wait(waiting.id)
        await queue.put(put.id, expect=("pending",))
        assert await app.runtime.store.claim(driven.id, "elsewhere", 60, expect=("pending",)) is not None
        await rows(app, """update debate_sessions set open_keys = '["1/say/a"]' where id = $1""", driven.id)
        assert await queue.stuck(0) == []

    @pytest.mark.parametrize(
        ("why", "broken_by"),
        [
            ("neither driven nor queued", "delete from moot_jobs"),
            (
                "neither driven nor queued",
                "update moot_jobs set status = 'picked', heartbeat = now() - interval '1 minute'",
            ),
            ("told to stop, but not driven", "update debate_sessions set status = 'stopping'"),
            ("driven, but no step is open", "update debate_sessions set owner = 'x', lease_until = updated_at + 900"),
            ("waits, but asks nothing", "update debate_sessions set status = 'waiting'"),
        ],
    )
    async def test_what_will_not_go_on_by_itself(self, app: App, why, broken_by):
        debate, queue = await new(app), app.workers_queue()
        await queue.put(debate.id, expect=("pending",))
        await rows(app, broken_by)
        (stuck,) = await queue.stuck(0)
        assert (stuck.debate_id, stuck.why) == (debate.id, why)
        assert await queue.stuck(60) == []
        await rows(app, "update debate_sessions set updated_at = updated_at - 120")
        assert [each.why for each in await queue.stuck(60)] == [why]

    async def test_an_answer_that_nobody_heard(self, app: App):
        debate, queue = await new(app, format="asking"), app.workers_queue()
        await app.runtime.start(debate.id)
        await app.runtime.wait(debate.id)
        await app.runtime.gates.answer(debate.id, {"choice": "end"}, by="ann")
        assert [each.why for each in await queue.stuck(0)] == ["answered, but not queued"]
        await queue.answered(debate.id)
        assert await queue.stuck(0) == []


class TestLater:
    async def test_a_time_out_pauses_or_decides(self, database_url, tmp_path):
        async with working(database_url, tmp_path) as (app, _):
            pauses = await new(app, format="asking", timeout_seconds=0.2)
            decides = await new(app, format="asking", timeout_seconds=0.2, decides=True)
            for debate in (pauses, decides):
                await app.hand_over(debate)
            paused = await status(app, pauses.id, "stopped")
            assert (await app.runtime.store.events(paused.id))[-1].data["by"] == "no one answered in time"
            await reached(app, decides.id, lambda debate: debate.cursor.open == ("2/clarify/you",))
            told = {turn.key: turn for turn in await app.runtime.store.turns(decides.id)}
            assert told["1/checkpoint/you"].metadata["by"] == "no one: the time was over"

    async def test_what_can_not_be_expired_does_not_keep_the_others_waiting(
        self, app: App, database_url, tmp_path, caplog
    ):
        made = [await new(app, format="asking", timeout_seconds=0.1) for _ in range(3)]
        for debate in made:
            await app.runtime.start(debate.id)
            await app.runtime.wait(debate.id)
        await rows(app, "update debate_sessions set format = 'unheard_of' where id = $1", made[0].id)
        async with working(database_url, tmp_path, sweep=0.05):
            for debate in made[1:]:
                await status(app, debate.id, "stopped")
            last = await queued(app, format="asking", timeout_seconds=0.1)
            await status(app, last.id, "stopped")  # it sweeps on
        assert "unheard_of" in caplog.text


class TestDelivery:
    async def test_a_queued_debate_that_is_stopped_is_not_driven(self, app: App, database_url, tmp_path):
        debate = await queued(app)
        assert (await app.runtime.stop(debate.id)).status == "stopped"

        async def done() -> bool:
            return not await jobs(app)

        async with working(database_url, tmp_path):
            await when(done)
        left = await app.runtime.store.get(debate.id)
        assert (left.status, left.epoch, left.turn_count) == ("stopped", 0, 0)

    async def test_a_resume_right_after_the_stop_is_driven(self, app: App, database_url, tmp_path):
        held = Held(tmp_path, each=True)
        keys = [f"{round}/speak/{seat}" for round in (1, 2, 3) for seat in "ab"]
        async with working(database_url, tmp_path):
            debate = await queued(app, held.model, max_rounds=3)
            for done in (0, 2, 4):
                held.release(keys[done])
                await turns(app, debate.id, done + 1)
                await app.runtime.stop(debate.id)
                held.release(keys[done + 1])  # it may be in progress
                await status(app, debate.id, "stopped")
                await app.hand_over(debate)
            held.release("3/verdict/judge")
            ended = await status(app, debate.id, "completed")
            assert ended.epoch > 1
            proof = await documents.prove(app, debate.id)
            assert proof.same, proof.first_difference

    async def test_a_debate_that_can_not_be_driven_here_is_left_to_others(
        self, app: App, database_url, tmp_path, caplog
    ):
        async with working(database_url, tmp_path):
            odd, plain = await new(app), await new(app)
            await rows(app, "update debate_sessions set format = 'unheard_of' where id = $1", odd.id)
            await app.hand_over(odd)
            await app.hand_over(plain)
            await status(app, plain.id, "completed")
            left = await app.runtime.store.get(odd.id)
            assert (left.status, left.owner) == ("running", None)
        assert "unheard_of" in caplog.text

    async def test_no_more_at_once_than_it_may(self, app: App, database_url, tmp_path):
        held, most = Held(tmp_path), 3
        async with working(database_url, tmp_path, worker_debates=3) as (its, _):
            made = [await queued(app, held.model, max_rounds=2) for _ in range(9)]
            await until(lambda: len(its.runtime._drives) == 3)
            held.release()
            while {(await app.runtime.store.get(each.id)).status for each in made} != {"completed"}:
                most = max(most, len(its.runtime._drives))
                await asyncio.sleep(0.005)
        assert most == 3

    async def test_one_at_a_time_leaves_the_rest_to_others(self, app: App, database_url, tmp_path):
        async with working(database_url, tmp_path, "busy", worker_debates=1) as (busy, _):
            long = await queued(app, "sim:?latency_ms=60000")
            await reached(app, long.id, lambda debate: debate.owner == "busy")
            short = [await queued(app) for _ in range(3)]
            async with working(database_url, tmp_path, "idle") as (idle, _):
                for debate in short:
                    await status(app, debate.id, "completed")
                assert idle.runtime._keeper is not None  # it was the one who drove them
                assert list(busy.runtime._drives) == [long.id]
            await app.runtime.cancel(long.id)

    async def test_the_connection_of_the_queue_is_cut_and_nobody_notices(self, app: App, database_url, tmp_path):
        """Whatever of moot's is connected is thrown out, again and again."""
        most = 0
        async with working(database_url, tmp_path, sweep=0.5, worker_debates=4) as (its, _):
            made = [await queued(app, "sim:?latency_ms=200") for _ in range(8)]

            async def count() -> None:
                nonlocal most
                while True:
                    most = max(most, len(its.runtime._drives))
                    await asyncio.sleep(0.005)

            counting = asyncio.create_task(count())
            for turn in (2, 5):
                await turns(app, made[0].id, turn)
                await rows(
                    app,
                    "select pg_terminate_backend(pid) from pg_stat_activity"
                    " where application_name = 'moot' and datname = current_database() and pid <> pg_backend_pid()",
                )
            for debate in made:
                done = await status(app, debate.id, "completed")
                assert done.epoch == 1  # driven on, by whoever had it
                assert (await documents.prove(app, debate.id)).same
            counting.cancel()
        assert most == 4  # it remembers what it drives, though the queue has forgotten
