"""The verbs of the runtime, in one process and between two: stop, resume, cancel, fork, recover, hand back, watch."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

import pytest

from moot.client import creating, documents
from moot.core.errors import DebateDeleted, InputError, NoSuchDebate, UnknownName, WrongStatus
from moot.core.lifecycle import RULES, running_seconds
from moot.core.types import Debate, Shown
from moot.store import Commit
from tests.running import an_app, answers_file, new_debate, run_to_rest, until
from tests.runtime.calls import calls, words


def test_stop_lets_the_step_finish_and_resume_goes_on_from_there(tmp_path):
    async def main():
        log = tmp_path / "calls.log"
        async with an_app(tmp_path) as app:
            debate = await new_debate(app, answers_file(tmp_path, log=str(log), delay_ms=30), "classic", max_rounds=3)
            await app.runtime.start(debate.id)
            await until(lambda: len(calls(log)) == 2)
            stopping = await app.runtime.stop(debate.id)
            assert stopping.status == "stopping"
            stopped = await app.runtime.wait(debate.id)
            assert (stopped.status, stopped.turn_count, stopped.cursor.open) == ("stopped", 2, ("2/speak/a",))
            assert (stopped.cursor.next_round, stopped.cursor.next_actor) == (2, "a")
            assert calls(log) == ["1/speak/a", "1/speak/b"]
            resumed = await app.runtime.resume(debate.id)
            assert resumed.status == "running"
            done = await app.runtime.wait(debate.id)
            assert done.status == "completed"
            assert len(calls(log)) == len(set(calls(log))) == 7

    asyncio.run(main())


def test_stop_now_does_not_wait_and_the_step_is_asked_again(tmp_path):
    async def main():
        log = tmp_path / "calls.log"
        async with an_app(tmp_path) as app:
            slow = answers_file(tmp_path, log=str(log), delay_ms=60_000)
            debate = await new_debate(app, slow, "classic", max_rounds=1)
            await app.runtime.start(debate.id)
            await until(lambda: len(calls(log)) == 1)
            await app.runtime.stop(debate.id, now=True)
            stopped = await app.runtime.wait(debate.id)
            assert (stopped.status, stopped.turn_count, stopped.cursor.open) == ("stopped", 0, ("1/speak/a",))
        async with an_app(tmp_path) as app:
            answers_file(tmp_path, log=str(log))
            await app.runtime.resume(debate.id)
            assert (await app.runtime.wait(debate.id)).status == "completed"
            assert calls(log)[:2] == ["1/speak/a", "1/speak/a"]

    asyncio.run(main())


def test_a_stop_now_keeps_what_has_just_ended(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            debate = await new_debate(app, answers_file(tmp_path))
            calls = []
            original = app.models.open

            def opened(spec):
                model = original(spec)

                async def stopping(call, hear):
                    calls.append(call.key)
                    reply = await model(call, hear)
                    if len(calls) == 2:
                        app.runtime._drives[debate.id].signal("now")
                    return reply

                return stopping

            app.models.open = opened
            stopped = await run_to_rest(app, debate)
            assert (stopped.status, stopped.turn_count) == ("stopped", 2)
            await app.runtime.resume(debate.id)
            await app.runtime.wait(debate.id)
            assert len(calls) == len(set(calls)) == 30

    asyncio.run(main())


def test_cancel_is_final_and_runs_no_judge(tmp_path):
    async def main():
        log = tmp_path / "calls.log"
        async with an_app(tmp_path) as app:
            debate = await new_debate(app, answers_file(tmp_path, log=str(log), delay_ms=20), "classic")
            await app.runtime.start(debate.id)
            await until(lambda: len(calls(log)) == 3)
            canceled = await app.runtime.cancel(debate.id)
            assert canceled.status == "canceled"
            after = await app.runtime.wait(debate.id)
            assert after.status == "canceled"
            assert after.outcome is None
            assert not any("verdict" in key for key in calls(log))
            for action in (app.runtime.start, app.runtime.resume, app.runtime.retry, app.runtime.cancel):
                with pytest.raises(WrongStatus, match=f"{debate.short} is canceled; it can't .*Branch off"):
                    await action(debate.id)

    asyncio.run(main())


def test_a_completed_debate_refuses_everything_but_a_fork(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            done = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), "classic", max_rounds=1))
            for action in (
                app.runtime.start,
                app.runtime.resume,
                app.runtime.retry,
                app.runtime.stop,
                app.runtime.cancel,
            ):
                with pytest.raises(WrongStatus, match="is completed"):
                    await action(done.id)
            assert (await app.runtime.store.get(done.id)) == done

    asyncio.run(main())


@pytest.mark.parametrize(
    ("status", "refused"),
    [("pending", ["retry", "stop"]), ("stopped", ["start", "retry", "stop"]), ("failed", ["start", "resume", "stop"])],
)
def test_verbs_refused_in_other_statuses(tmp_path, status, refused):
    async def main():
        async with an_app(tmp_path) as app:
            debate = await new_debate(app, answers_file(tmp_path), "classic")
            if status != "pending":
                await app.runtime.store.claim(debate.id, "x", 5, expect=["pending"])
                await app.runtime.store.move(debate.id, status, expect=["running"])
            for verb in refused:
                with pytest.raises(WrongStatus, match=f"is {status}; it can't {RULES[verb].cannot}"):
                    await getattr(app.runtime, verb)(debate.id)

    asyncio.run(main())


def test_fork_asks_the_step_anew_and_leaves_the_parent_alone(tmp_path):
    async def main():
        log = tmp_path / "calls.log"
        async with an_app(tmp_path) as app:
            parent = await run_to_rest(app, await new_debate(app, answers_file(tmp_path, log=str(log))))
            before, paid = await words(app, parent), len(calls(log))
            other = tmp_path / "other"
            other.mkdir()
            fork = await creating.fork(
                app, parent.id, "4/speak/b", {"model_debater": answers_file(other, {"4/speak/b": "New."})}
            )
            assert (fork.parent_id, fork.forked_at, fork.status) == (parent.id, "4/speak/b", "pending")
            done = await run_to_rest(app, fork)
            assert done.status == "completed"
            turns = {turn.key: turn for turn in await app.runtime.store.turns(fork.id)}
            assert turns["4/speak/b"].content == "New."
            assert turns["1/speak/a"].content == "Words of a at 1/speak/a."
            assert "1/speak/a" not in calls(log)[paid:]
            assert await words(app, await app.runtime.store.get(parent.id)) == before
            assert (await documents.prove(app, fork.id)).same
            assert [e.type for e in await app.runtime.store.events(fork.id)].count("PLAN") == 2

    asyncio.run(main())


def test_a_fork_that_changes_what_was_asked_before_it_is_refused(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            parent = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), "classic", max_rounds=2))
            with pytest.raises(InputError, match="Fork at '1/speak/a' or earlier"):
                await creating.fork(app, parent.id, "2/speak/a", {"a_stance": "con"})
            with pytest.raises(UnknownName, match="no step '7/speak/a'"):
                await creating.fork(app, parent.id, "7/speak/a", {})
            again = await creating.fork(app, parent.id, "1/speak/a", {"a_stance": "con"})
            assert (await run_to_rest(app, again)).outcome.headline.startswith(
                "PostgreSQL. Debater A, who argued for it, won"
            )
            assert len((await app.runtime.store.page()).debates) == 2

    asyncio.run(main())


def test_a_fork_of_a_whole_debate_is_complete_at_once(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            parent = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), turns=2))
            fork = await run_to_rest(app, await creating.fork(app, parent.id, None, {}))
            assert fork.status == "completed"
            assert fork.outcome == parent.outcome
            assert (await documents.prove(app, fork.id)).same

    asyncio.run(main())


def test_a_fork_keeps_the_models_that_its_changes_do_not_name(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            parent = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), "classic", max_rounds=1))
            kept = {seat.id: seat.model for seat in parent.cast}
            judge = await creating.fork(app, parent.id, "1/verdict/judge", {"model_judge": "sim:?seed=4"})
            assert {s.id: s.model for s in judge.cast} == {**kept, "judge": "sim:?seed=4"}
            one = await creating.fork(app, parent.id, "1/speak/b", {"seats": {"b": {"model": "sim:"}}})
            assert {s.id: s.model for s in one.cast} == {**kept, "b": "sim:"}

    asyncio.run(main())


def test_a_fork_reports_no_repaired_cursor(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            parent = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), "classic", max_rounds=1))
            fork = await run_to_rest(app, await creating.fork(app, parent.id, "1/speak/b", {}))
            assert not [e for e in await app.runtime.store.events(fork.id) if e.type == "notice"]

    asyncio.run(main())


def test_a_debate_whose_process_died_is_taken_over(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            debate = await new_debate(app, answers_file(tmp_path), "classic", max_rounds=1)
            dead = f"{app.runtime.owner.split('/')[0]}/999999999/1/abcdef"
            await app.runtime.store.claim(debate.id, dead, 600, expect=["pending"])
            assert (await app.runtime.store.get(debate.id)).status == "running"
            taken = await app.runtime.recover()
            assert [each.id for each in taken] == [debate.id]
            assert (await app.runtime.wait(debate.id)).status == "completed"

    asyncio.run(main())


def test_a_living_process_keeps_its_debate(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            debate = await new_debate(app, answers_file(tmp_path), "classic", max_rounds=1)
            await app.runtime.store.claim(debate.id, "elsewhere/1/1/x", 600, expect=["pending"])
            assert await app.runtime.recover() == []
            with pytest.raises(WrongStatus, match="it can't be resumed. It is under way. Follow it."):
                await app.runtime.resume(debate.id)

    asyncio.run(main())


def test_a_stopping_debate_whose_process_died_is_stopped(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            debate = await new_debate(app, answers_file(tmp_path), "classic", max_rounds=1)
            dead = f"{app.runtime.owner.split('/')[0]}/999999999/1/abcdef"
            await app.runtime.store.claim(debate.id, dead, 600, expect=["pending"])
            await app.runtime.store.move(debate.id, "stopping", expect=["running"])
            assert await app.runtime.recover() == []
            assert (await app.runtime.store.get(debate.id)).status == "stopped"

    asyncio.run(main())


def test_stop_and_cancel_from_another_process_take_effect(tmp_path):
    """Two runtimes on one database stand for two processes: they share nothing else."""

    async def main():
        log = tmp_path / "calls.log"
        model = answers_file(tmp_path, log=str(log), delay_ms=15)
        async with an_app(tmp_path) as one, an_app(tmp_path) as two:
            first = await new_debate(one, model, "classic", max_rounds=200, max_total_output_tokens=10**6)
            second = await new_debate(one, model, "classic", max_rounds=200, max_total_output_tokens=10**6)
            await one.runtime.start(first.id)
            await one.runtime.start(second.id)
            await until(lambda: len(calls(log)) > 4)
            await two.runtime.stop(first.id)
            assert (await one.runtime.wait(first.id)).status == "stopped"
            await two.runtime.cancel(second.id)
            await one.runtime.wait(second.id)
            paid = len(calls(log))
            assert (await two.runtime.store.get(second.id)).status == "canceled"
            assert len(calls(log)) == paid

    asyncio.run(main())


def test_debates_are_handed_back_without_being_stopped_and_go_on_elsewhere(tmp_path):
    async def main():
        async with an_app(tmp_path) as first, an_app(tmp_path) as second:
            model = answers_file(tmp_path, delay_ms=20)
            debates = [await new_debate(first, model, turns=4) for _ in range(3)]
            for debate in debates:
                await first.runtime.start(debate.id)
            await until(lambda: all(len(first.runtime.hub.flights(debate.id)) == 2 for debate in debates))
            handed = await first.runtime.hand_back(10)
            assert set(handed) == {debate.id for debate in debates}
            for debate in debates:
                left = await second.runtime.store.get(debate.id)
                assert (left.status, left.owner) == ("running", None)
                assert left.turn_count >= 2  # the two plans in flight were finished and kept
            taken = await second.runtime.recover()
            assert {debate.id for debate in taken} == set(handed)
            for debate in debates:
                done = await second.runtime.wait(debate.id)
                assert done.status == "completed"
                assert (await documents.prove(second, done.id)).same

    asyncio.run(main())


def test_a_stop_wins_over_handing_back(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            debate = await new_debate(app, answers_file(tmp_path, delay_ms=1500), turns=4)
            await app.runtime.start(debate.id)
            await until(lambda: app.runtime.hub.flights(debate.id))
            handing = asyncio.create_task(app.runtime.hand_back(10))
            await app.runtime.stop(debate.id)
            assert await handing == []
            assert (await app.runtime.store.get(debate.id)).status == "stopped"

    asyncio.run(main())


def test_what_does_not_finish_in_time_is_handed_back_unfinished(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            debate = await new_debate(app, answers_file(tmp_path, delay_ms=60_000), turns=4)
            await app.runtime.start(debate.id)
            assert await app.runtime.hand_back(0) == [debate.id]
            left = await app.runtime.store.get(debate.id)
            assert (left.status, left.owner, left.turn_count) == ("running", None, 0)

    asyncio.run(main())


def test_a_watcher_sees_every_event_once_and_the_text_in_flight(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            debate = await new_debate(app, answers_file(tmp_path, delay_ms=5), turns=2)
            seqs, flying = [], set()

            async def watch():
                async for update in app.runtime.watch(debate.id):
                    seqs.extend(event.seq for event in update.events)
                    flying.update(update.flights)
                    if update.debate is not None:
                        return update.debate
                return None

            watching = asyncio.create_task(watch())
            await app.runtime.start(debate.id)
            left = await watching
            assert left.status == "completed"
            assert seqs == list(range(1, left.last_seq + 1))
            assert "0/plan/a" in flying
            assert app.runtime.hub.flights(debate.id) == {}
            late = [e.seq async for u in app.runtime.watch(debate.id, after=seqs[-3]) for e in u.events]
            assert late == seqs[-2:]

    asyncio.run(main())


def test_a_watcher_in_another_process_sees_the_same(tmp_path):
    async def main():
        async with an_app(tmp_path) as one, an_app(tmp_path) as two:
            debate = await new_debate(one, answers_file(tmp_path, delay_ms=5), turns=2)

            async def watch():
                return [e.seq async for u in two.runtime.watch(debate.id) for e in u.events]

            watching = asyncio.create_task(watch())
            done = await run_to_rest(one, debate)
            assert await watching == list(range(1, done.last_seq + 1))

    asyncio.run(main())


def test_a_watcher_of_a_debate_that_is_deleted_between_two_reads_hears_so(tmp_path, monkeypatch):
    async def main():
        async with an_app(tmp_path) as app:
            done = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), "classic"))
            store = app.runtime.store
            read = store.events

            async def events(debate_id: str, after: int = 0):
                if await store.find(debate_id):
                    await app.runtime.delete(debate_id, by="tests")
                return await read(debate_id, after)

            monkeypatch.setattr(store, "events", events)
            with pytest.raises(DebateDeleted):
                _ = [update async for update in app.runtime.watch(done.id)]

    asyncio.run(main())


def test_ids_by_prefix(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            debate = await new_debate(app, answers_file(tmp_path), "classic")
            assert await app.runtime.find(debate.short) == debate.id
            assert await app.runtime.find(f" {debate.id.upper()} ") == debate.id
            for wrong in ("zzz", "", "%"):
                with pytest.raises(NoSuchDebate):
                    await app.runtime.find(wrong)

    asyncio.run(main())


async def elapsed(app, debate: Debate) -> float:
    return running_seconds(await app.runtime.store.events(debate.id))


def test_the_running_time_of_a_debate_that_failed_in_its_first_step(tmp_path):
    async def main():
        broken = answers_file(tmp_path, {"1/speak/a": {"fail": "unavailable"}}, delay_ms=300)
        async with an_app(tmp_path) as app:
            failed = await run_to_rest(app, await new_debate(app, broken, "classic"))
            assert (failed.status, failed.turn_count) == ("failed", 0)
            assert await elapsed(app, failed) >= 0.3

    asyncio.run(main())


@pytest.mark.parametrize("verb", ["stop", "cancel", "recover"])
def test_the_time_after_a_crash_is_not_running_time(tmp_path, verb):
    async def main():
        async with an_app(tmp_path) as app:
            debate = await new_debate(app, answers_file(tmp_path), "classic")
            dead = f"{app.runtime.owner.split('/')[0]}/999999999/1/abcdef"
            claimed = await app.runtime.store.claim(debate.id, dead, 600, expect=["pending"])
            running = Shown(type="status", data={"status": "running"})
            await app.runtime.store.commit(Commit(debate_id=debate.id, epoch=claimed.epoch, events=[running]))
            if verb == "recover":
                await app.runtime.store.move(debate.id, "stopping", expect=["running"])
            with closing(sqlite3.connect(app.database, isolation_level=None)) as other:
                other.execute("update debate_events set created_at = created_at - 3600")
            await (app.runtime.recover() if verb == "recover" else getattr(app.runtime, verb)(debate.id))
            assert (await app.runtime.store.get(debate.id)).status == ("canceled" if verb == "cancel" else "stopped")
            assert await elapsed(app, debate) < 60

    asyncio.run(main())
