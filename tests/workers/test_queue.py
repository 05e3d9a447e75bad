"""The queue on a real PostgreSQL: it may say things twice, late or never; what belongs together is said together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from moot.app import App
from moot.client import documents
from moot.core.errors import StoreError, WrongStatus
from moot.store.queue import Depth, Swept
from tests.workers.crew import jobs, new, on, rows, status, turns, working

pytestmark = pytest.mark.slow


@pytest.fixture
def go(database_url: str, tmp_path: Path) -> Callable[..., None]:
    def run(check: Callable[[App], Awaitable[None]], **settings: Any) -> None:
        async def main() -> None:
            async with on(database_url, tmp_path, **settings) as app:
                await check(app)

        asyncio.run(main())

    return run


class TestPut:
    def test_a_debate_runs_and_is_queued(self, go):
        async def check(app: App) -> None:
            debate = await new(app)
            queued = await app.workers_queue().put(debate.id, expect=("pending",))
            assert queued is not None
            assert (queued.status, queued.owner, queued.epoch) == ("running", None, 0)
            (job,) = await jobs(app)
            assert (job["payload"], job["status"]) == (debate.id.encode(), "queued")
            assert await app.workers_queue().depth() == Depth(waiting=1)

        go(check)

    def test_when_it_can_not_be_queued_it_does_not_run(self, go):
        async def check(app: App) -> None:
            debate = await new(app)
            await app.workers_queue().depth()  # its tables are there
            await rows(app, "alter table moot_jobs add constraint nothing_more check (false) not valid")
            with pytest.raises(StoreError, match="nothing_more"):
                await app.workers_queue().put(debate.id, expect=("pending",))
            assert await app.runtime.store.get(debate.id) == debate
            assert await jobs(app) == []

        go(check)

    def test_twice_is_once(self, go):
        async def check(app: App) -> None:
            debate = await new(app)
            queue = app.workers_queue()
            await asyncio.gather(*(queue.put(debate.id, expect=("pending", "running")) for _ in range(5)))
            assert len(await jobs(app)) == 1

        go(check)

    def test_a_status_that_was_not_expected_is_left_alone(self, go):
        async def check(app: App) -> None:
            debate = await new(app)
            await app.runtime.cancel(debate.id)
            assert await app.workers_queue().put(debate.id, expect=("pending", "running")) is None
            assert await jobs(app) == []
            with pytest.raises(WrongStatus, match="is canceled; it can't be left to the workers"):
                await app.hand_over(debate)

        go(check)

    def test_what_someone_drives_is_not_given_away(self, go):
        async def check(app: App) -> None:
            debate = await new(app, "sim:?latency_ms=5000")
            await app.runtime.start(debate.id)
            assert await app.workers_queue().put(debate.id, expect=("running",)) is None
            assert await jobs(app) == []

        go(check)

    @pytest.mark.parametrize("meanwhile", ["queued", "driven", "done"])
    def test_said_again_after_a_lost_connection_it_is_not_refused(self, go, meanwhile):
        """It had arrived, and perhaps a worker has begun since."""

        async def check(app: App) -> None:
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

        go(check)

    def test_a_resume_is_not_taken_for_the_job_that_just_ends(self, go):
        async def check(app: App) -> None:
            debate, queue = await new(app), app.workers_queue()
            await queue.put(debate.id, expect=("pending",))
            await rows(app, "update moot_jobs set status = 'picked', queue_manager_id = gen_random_uuid()")
            await app.runtime.stop(debate.id)
            await queue.put(debate.id, expect=("stopped",))
            assert [job["status"] for job in await jobs(app)] == ["picked", "queued"]

        go(check)


class TestSweep:
    def test_a_debate_whose_job_is_lost_gets_another(self, go):
        async def check(app: App) -> None:
            debate, queue = await new(app), app.workers_queue()
            await queue.put(debate.id, expect=("pending",))
            assert await queue.sweep(0) == Swept()
            await rows(app, "delete from moot_jobs")
            assert await queue.sweep(60) == Swept()  # too young
            assert await queue.sweep(0) == Swept(orphans=1)
            assert await queue.sweep(0) == Swept()
            assert len(await jobs(app)) == 1

        go(check)

    def test_who_drives_is_left_alone_until_the_lease_is_over(self, go):
        async def check(app: App) -> None:
            debate, queue = await new(app), app.workers_queue()
            store = app.runtime.store
            assert await store.claim(debate.id, "elsewhere", 60, expect=("pending",))
            assert await queue.sweep(0) == Swept()
            await rows(app, "update debate_sessions set lease_until = lease_until - 61")
            assert await queue.sweep(0) == Swept(orphans=1)
            assert [job["dedupe_key"].split("/")[0] for job in await jobs(app)] == [debate.id]

        go(check)

    def test_several_at_once_queue_it_once(self, database_url, tmp_path):
        async def main() -> None:
            async with on(database_url, tmp_path, "a") as a, on(database_url, tmp_path, "b") as b:
                made = [await new(a) for _ in range(30)]
                for debate in made:
                    await a.hand_over(debate)
                await rows(a, "delete from moot_jobs")
                found = await asyncio.gather(*(app.workers_queue().sweep(0) for app in (a, b) * 4))
                assert sum(each.orphans for each in found) >= 30
                assert len(await jobs(a)) == 30

        asyncio.run(main())

    def test_an_answer_that_nobody_heard(self, go):
        async def check(app: App) -> None:
            debate, queue = await new(app, format="asking"), app.workers_queue()
            await app.runtime.start(debate.id)
            assert (await app.runtime.wait(debate.id)).status == "waiting"
            assert await queue.sweep(0) == Swept()
            await app.runtime.answer(debate.id, {"choice": "end"}, by="ann")
            assert await queue.sweep(0) == Swept(answered=1)
            assert (await app.runtime.store.get(debate.id)).status == "running"
            assert len(await jobs(app)) == 1

        go(check)

    def test_told_to_stop_and_left(self, go):
        async def check(app: App) -> None:
            debate, queue, store = await new(app), app.workers_queue(), app.runtime.store
            await store.claim(debate.id, "elsewhere", 60, expect=("pending",))
            assert (await app.runtime.stop(debate.id)).status == "stopping"
            assert await queue.sweep(0) == Swept()
            await rows(app, "update debate_sessions set lease_until = lease_until - 61")
            assert await queue.sweep(0) == Swept(stopped=1)
            stopped = await store.get(debate.id)
            events = await store.events(debate.id)
            assert (stopped.status, events[-1].data) == ("stopped", {"status": "stopped", "by": "recovery"})
            assert [event.seq for event in events] == list(range(1, stopped.last_seq + 1))

        go(check)

    def test_old_notes_on_jobs_are_thrown_away(self, go):
        async def check(app: App) -> None:
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

        go(check)


class TestStuck:
    def test_nothing_is(self, go):
        async def check(app: App) -> None:
            queue, store = app.workers_queue(), app.runtime.store
            ids = [(await new(app)).id for _ in range(3)]
            waiting = await new(app, format="asking")
            await app.runtime.start(waiting.id)
            await app.runtime.wait(waiting.id)
            await queue.put(ids[0], expect=("pending",))
            driven = await store.claim(ids[1], "elsewhere", 60, expect=("pending",))
            assert driven is not None
            await rows(app, """update debate_sessions set open_keys = '["1/say/a"]' where id = $1""", ids[1])
            assert await queue.stuck(0) == []

        go(check)

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
    def test_what_will_not_go_on_by_itself(self, go, why, broken_by):
        async def check(app: App) -> None:
            debate, queue = await new(app), app.workers_queue()
            await queue.put(debate.id, expect=("pending",))
            await rows(app, broken_by)
            (stuck,) = await queue.stuck(0)
            assert (stuck.debate_id, stuck.why) == (debate.id, why)
            assert await queue.stuck(60) == []
            await rows(app, "update debate_sessions set updated_at = updated_at - 120")
            assert [each.why for each in await queue.stuck(60)] == [why]

        go(check)

    def test_an_answer_that_nobody_heard(self, go):
        async def check(app: App) -> None:
            debate, queue = await new(app, format="asking"), app.workers_queue()
            await app.runtime.start(debate.id)
            await app.runtime.wait(debate.id)
            await app.runtime.answer(debate.id, {"choice": "end"}, by="ann")
            assert [each.why for each in await queue.stuck(0)] == ["answered, but not queued"]
            await queue.answered(debate.id)
            assert await queue.stuck(0) == []

        go(check)


class TestLater:
    def test_a_time_out_pauses_or_decides(self, database_url, tmp_path):
        async def main() -> None:
            async with working(database_url, tmp_path) as (app, _):
                pauses = await new(app, format="asking", timeout_seconds=0.2)
                decides = await new(app, format="asking", timeout_seconds=0.2, decides=True)
                for debate in (pauses, decides):
                    await app.hand_over(debate)
                paused = await status(app, pauses.id, "stopped")
                assert (await app.runtime.store.events(paused.id))[-1].data["by"] == "no one answered in time"
                async with asyncio.timeout(30):
                    while (await app.runtime.store.get(decides.id)).cursor.open != ("2/clarify/you",):
                        await asyncio.sleep(0.01)
                told = {turn.key: turn for turn in await app.runtime.store.turns(decides.id)}
                assert told["1/checkpoint/you"].metadata["by"] == "no one: the time was over"

        asyncio.run(main())

    def test_it_asks_again_with_a_time_of_its_own(self, go):
        async def check(app: App) -> None:
            debate, queue = await new(app), app.workers_queue()
            for seconds in (100, 100, 400):
                await queue.put_later(debate.id, seconds)
            later = await jobs(app, "expire")
            assert len(later) == 2
            assert await queue.depth() == Depth(later=2)

        go(check)

    def test_what_can_not_be_expired_does_not_keep_the_others_waiting(self, database_url, tmp_path, caplog):
        async def main() -> None:
            async with on(database_url, tmp_path, "asker") as app:
                made = [await new(app, format="asking", timeout_seconds=0.1) for _ in range(3)]
                for debate in made:
                    await app.runtime.start(debate.id)
                    await app.runtime.wait(debate.id)
                await rows(app, "update debate_sessions set format = 'unheard_of' where id = $1", made[0].id)
                async with working(database_url, tmp_path, sweep=0.05):
                    for debate in made[1:]:
                        await status(app, debate.id, "stopped")
                    (last,) = [await new(app, format="asking", timeout_seconds=0.1)]
                    await app.hand_over(last)
                    await status(app, last.id, "stopped")  # it sweeps on

        asyncio.run(main())
        assert "unheard_of" in caplog.text


class TestDelivery:
    def test_a_queued_debate_that_is_stopped_is_not_driven(self, database_url, tmp_path):
        async def main() -> None:
            async with on(database_url, tmp_path) as app:
                debate = await new(app)
                await app.hand_over(debate)
                assert (await app.runtime.stop(debate.id)).status == "stopped"
                async with working(database_url, tmp_path):
                    async with asyncio.timeout(30):
                        while await jobs(app):
                            await asyncio.sleep(0.01)
                left = await app.runtime.store.get(debate.id)
                assert (left.status, left.epoch, left.turn_count) == ("stopped", 0, 0)

        asyncio.run(main())

    def test_a_resume_right_after_the_stop_is_driven(self, database_url, tmp_path):
        async def main() -> None:
            async with on(database_url, tmp_path) as app, working(database_url, tmp_path):
                debate = await new(app, "sim:?latency_ms=20")
                await app.hand_over(debate)
                for turn in (1, 3, 5, 7):
                    await turns(app, debate.id, turn)
                    await app.runtime.stop(debate.id)
                    await status(app, debate.id, "stopped")
                    await app.hand_over(debate)
                done = await status(app, debate.id, "completed")
                assert done.epoch > 1
                proof = await documents.prove(app, debate.id)
                assert proof.same, proof.first_difference

        asyncio.run(main())

    def test_an_answer_from_elsewhere_lets_it_go_on(self, database_url, tmp_path):
        async def main() -> None:
            async with on(database_url, tmp_path) as app, working(database_url, tmp_path):
                debate = await new(app, format="asking")
                await app.hand_over(debate)
                for given in (
                    {"choice": "guide", "text": "Mind the cost."},
                    {"text": "Mean time."},
                    {"choice": "approve"},
                ):
                    async with asyncio.timeout(30):
                        while not [g for g in await app.runtime.store.gates(debate.id) if g.status == "open"]:
                            await asyncio.sleep(0.01)
                    await app.runtime.answer(debate.id, given, by="ann")
                done = await status(app, debate.id, "completed")
                assert done.outcome is not None
                assert done.outcome.headline == "approve: Mean time."

        asyncio.run(main())

    def test_a_debate_that_can_not_be_driven_here_is_left_to_others(self, database_url, tmp_path, caplog):
        async def main() -> None:
            async with on(database_url, tmp_path) as app, working(database_url, tmp_path):
                odd, plain = await new(app), await new(app)
                await rows(app, "update debate_sessions set format = 'unheard_of' where id = $1", odd.id)
                await app.hand_over(odd)
                await app.hand_over(plain)
                await status(app, plain.id, "completed")
                left = await app.runtime.store.get(odd.id)
                assert (left.status, left.owner) == ("running", None)

        asyncio.run(main())
        assert "unheard_of" in caplog.text

    def test_no_more_at_once_than_it_may(self, database_url, tmp_path):
        async def main() -> None:
            async with on(database_url, tmp_path) as app, working(database_url, tmp_path, worker_debates=3) as (its, _):
                made = [await new(app, "sim:?latency_ms=20", max_rounds=2) for _ in range(9)]
                for debate in made:
                    await app.hand_over(debate)
                most = 0
                while {(await app.runtime.store.get(each.id)).status for each in made} != {"completed"}:
                    most = max(most, len(its.runtime._drives))
                    await asyncio.sleep(0.005)
                assert most == 3

        asyncio.run(main())

    def test_one_at_a_time_leaves_the_rest_to_others(self, database_url, tmp_path):
        async def main() -> None:
            async with (
                on(database_url, tmp_path) as app,
                working(database_url, tmp_path, "busy", worker_debates=1) as (busy, _),
            ):
                long = await new(app, "sim:?latency_ms=60000")
                await app.hand_over(long)
                async with asyncio.timeout(30):
                    while (await app.runtime.store.get(long.id)).owner != "busy":
                        await asyncio.sleep(0.01)
                short = [await new(app) for _ in range(3)]
                for debate in short:
                    await app.hand_over(debate)
                async with working(database_url, tmp_path, "idle") as (idle, _):
                    for debate in short:
                        await status(app, debate.id, "completed")
                    assert idle.runtime._keeper is not None  # it was the one who drove them
                    assert list(busy.runtime._drives) == [long.id]
                await app.runtime.cancel(long.id)

        asyncio.run(main())

    def test_the_connection_of_the_queue_is_cut_and_nobody_notices(self, database_url, tmp_path):
        """Whatever of moot's is connected is thrown out, again and again."""

        async def main() -> None:
            async with (
                on(database_url, tmp_path) as app,
                working(database_url, tmp_path, sweep=0.5, worker_debates=4) as (its, _),
            ):
                made = [await new(app, "sim:?latency_ms=200") for _ in range(8)]
                for debate in made:
                    await app.hand_over(debate)
                most = 0

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
                    done = await status(app, debate.id, "completed", seconds=60)
                    assert done.epoch == 1  # driven on, by whoever had it
                    assert (await documents.prove(app, debate.id)).same
                counting.cancel()
                assert most == 4  # it remembers what it drives, though the queue has forgotten

        asyncio.run(main())
