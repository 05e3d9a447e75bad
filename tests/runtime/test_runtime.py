"""The verbs of the runtime, in one process and between two: stop, resume, cancel, fork, recover, hand back, watch."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from moot.app import App
from moot.client import creating, documents
from moot.core.errors import DebateDeleted, InputError, NoSuchDebate, UnknownName, WrongStatus
from moot.core.lifecycle import running_seconds
from moot.core.types import Debate, Shown
from moot.store import Commit
from tests.running import Held, an_app, answers_file, new_debate, run_to_rest, until
from tests.runtime.calls import calls, change, words


async def test_stop_lets_the_step_finish_and_resume_goes_on_from_there(app, tmp_path):
    held = Held(tmp_path, each=True)
    keys = [*(f"{round}/speak/{seat}" for round in (1, 2, 3) for seat in "ab"), "3/verdict/judge"]
    debate = await new_debate(app, held.model, "classic", max_rounds=3)
    await app.runtime.start(debate.id)
    held.release(keys[0])
    await until(lambda: len(held.calls) == 2)
    assert (await app.runtime.stop(debate.id)).status == "stopping"
    held.release(*keys)
    stopped = await app.runtime.wait(debate.id)
    assert (stopped.status, stopped.turn_count, stopped.cursor.open) == ("stopped", 2, ("2/speak/a",))
    assert (stopped.cursor.next_round, stopped.cursor.next_actor) == (2, "a")
    assert held.calls == keys[:2]
    assert (await app.runtime.resume(debate.id)).status == "running"
    assert (await app.runtime.wait(debate.id)).status == "completed"
    assert held.calls == keys


async def test_stop_now_does_not_wait_and_the_step_is_asked_again(tmp_path):
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


async def test_a_stop_now_keeps_what_has_just_ended(app, tmp_path):
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


async def test_cancel_is_final_and_runs_no_judge(app, tmp_path):
    held = Held(tmp_path)
    debate = await new_debate(app, held.model, "classic")
    await app.runtime.start(debate.id)
    await until(lambda: held.calls)
    assert (await app.runtime.cancel(debate.id)).status == "canceled"
    after = await app.runtime.wait(debate.id)
    assert (after.status, after.outcome) == ("canceled", None)
    assert held.calls == ["1/speak/a"]
    for verb in ("start", "resume", "retry", "cancel"):
        with pytest.raises(WrongStatus, match=f"{debate.short} is canceled; it can't .*Branch off"):
            await getattr(app.runtime, verb)(debate.id)


async def test_a_completed_debate_refuses_everything_but_a_fork(app, tmp_path):
    done = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), "classic", max_rounds=1))
    for verb in ("start", "resume", "retry", "stop", "cancel"):
        with pytest.raises(WrongStatus, match="is completed"):
            await getattr(app.runtime, verb)(done.id)
    assert (await app.runtime.store.get(done.id)) == done


async def test_fork_asks_the_step_anew_and_leaves_the_parent_alone(app, tmp_path):
    log = tmp_path / "calls.log"
    parent = await run_to_rest(app, await new_debate(app, answers_file(tmp_path, log=str(log))))
    before, paid = await words(app.runtime.store, parent), len(calls(log))
    other = tmp_path / "other"
    other.mkdir()
    changes = {"model_debater": answers_file(other, {"4/speak/b": "New."})}
    fork = await creating.fork(app, parent.id, "4/speak/b", changes)
    assert (fork.parent_id, fork.forked_at, fork.status) == (parent.id, "4/speak/b", "pending")
    done = await run_to_rest(app, fork)
    assert done.status == "completed"
    turns = {turn.key: turn for turn in await app.runtime.store.turns(fork.id)}
    assert turns["4/speak/b"].content == "New."
    assert turns["1/speak/a"].content == "Words of a at 1/speak/a."
    assert "1/speak/a" not in calls(log)[paid:]
    assert await words(app.runtime.store, await app.runtime.store.get(parent.id)) == before
    assert (await documents.prove(app, fork.id)).same
    shown = [event.type for event in await app.runtime.store.events(fork.id)]
    assert (shown.count("PLAN"), shown.count("notice")) == (2, 0)


async def test_a_fork_that_changes_what_was_asked_before_it_is_refused(app, tmp_path):
    parent = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), "classic", max_rounds=2))
    with pytest.raises(InputError, match="Fork at '1/speak/a' or earlier"):
        await creating.fork(app, parent.id, "2/speak/a", {"a_stance": "con"})
    with pytest.raises(UnknownName, match="no step '7/speak/a'"):
        await creating.fork(app, parent.id, "7/speak/a", {})
    again = await creating.fork(app, parent.id, "1/speak/a", {"a_stance": "con"})
    headline = (await run_to_rest(app, again)).outcome.headline
    assert headline.startswith("PostgreSQL. Debater A, who argued for it, won")
    assert len((await app.runtime.store.page()).debates) == 2


async def test_a_fork_of_a_whole_debate_is_complete_at_once(app, tmp_path):
    parent = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), turns=2))
    fork = await run_to_rest(app, await creating.fork(app, parent.id, None, {}))
    assert fork.status == "completed"
    assert fork.outcome == parent.outcome
    assert (await documents.prove(app, fork.id)).same


async def test_a_fork_keeps_the_models_that_its_changes_do_not_name(app, tmp_path):
    parent = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), "classic", max_rounds=1))
    kept = {seat.id: seat.model for seat in parent.cast}
    judge = await creating.fork(app, parent.id, "1/verdict/judge", {"model_judge": "sim:?seed=4"})
    assert {s.id: s.model for s in judge.cast} == {**kept, "judge": "sim:?seed=4"}
    one = await creating.fork(app, parent.id, "1/speak/b", {"seats": {"b": {"model": "sim:"}}})
    assert {s.id: s.model for s in one.cast} == {**kept, "b": "sim:"}


async def orphaned(app: App, folder: Path) -> Debate:
    """A debate whose process has died."""
    debate = await new_debate(app, answers_file(folder), "classic", max_rounds=1)
    dead = f"{app.runtime.owner.split('/')[0]}/999999999/1/abcdef"
    claimed = await app.runtime.store.claim(debate.id, dead, 600, expect=["pending"])
    assert claimed is not None
    return claimed


async def test_a_debate_whose_process_died_is_taken_over(app, tmp_path):
    debate = await orphaned(app, tmp_path)
    assert debate.status == "running"
    taken = await app.runtime.recover()
    assert [each.id for each in taken] == [debate.id]
    assert (await app.runtime.wait(debate.id)).status == "completed"


async def test_a_living_process_keeps_its_debate(app, tmp_path):
    debate = await new_debate(app, answers_file(tmp_path), "classic", max_rounds=1)
    await app.runtime.store.claim(debate.id, "elsewhere/1/1/x", 600, expect=["pending"])
    assert await app.runtime.recover() == []
    with pytest.raises(WrongStatus, match="it can't be resumed. It is under way. Follow it."):
        await app.runtime.resume(debate.id)


async def test_stop_and_cancel_from_another_process_take_effect(tmp_path):
    """Two runtimes on one database stand for two processes: they share nothing else."""
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


async def test_debates_are_handed_back_without_being_stopped_and_go_on_elsewhere(tmp_path):
    async with an_app(tmp_path) as first, an_app(tmp_path) as second:
        held = Held(tmp_path)
        debates = [await new_debate(first, held.model, turns=4) for _ in range(3)]
        for debate in debates:
            await first.runtime.start(debate.id)
        await until(lambda: all(len(first.runtime.hub.flights(debate.id)) == 2 for debate in debates))
        handing = asyncio.create_task(first.runtime.hand_back(60))
        await asyncio.sleep(0)
        held.release()
        handed = await handing
        assert set(handed) == {debate.id for debate in debates}
        for debate in debates:
            left = await second.runtime.store.get(debate.id)
            assert (left.status, left.owner) == ("running", None)
            assert left.turn_count >= 2  # the two plans in flight were finished and kept
        taken = await second.runtime.recover()
        assert {debate.id for debate in taken} == set(handed)
        for debate in debates:
            assert (await second.runtime.wait(debate.id)).status == "completed"
            assert (await documents.prove(second, debate.id)).same


async def test_a_stop_wins_over_handing_back(app, tmp_path):
    held = Held(tmp_path)
    debate = await new_debate(app, held.model, turns=4)
    await app.runtime.start(debate.id)
    await until(lambda: app.runtime.hub.flights(debate.id))
    handing = asyncio.create_task(app.runtime.hand_back(60))
    await app.runtime.stop(debate.id)
    held.release()
    assert await handing == []
    assert (await app.runtime.store.get(debate.id)).status == "stopped"


async def test_what_does_not_finish_in_time_is_handed_back_unfinished(app, tmp_path):
    debate = await new_debate(app, answers_file(tmp_path, delay_ms=60_000), turns=4)
    await app.runtime.start(debate.id)
    assert await app.runtime.hand_back(0) == [debate.id]
    left = await app.runtime.store.get(debate.id)
    assert (left.status, left.owner, left.turn_count) == ("running", None, 0)


async def test_a_watcher_sees_every_event_once_and_the_text_in_flight(app, tmp_path):
    held = Held(tmp_path)
    debate = await new_debate(app, held.model, turns=2)
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
    await until(lambda: "0/plan/a" in flying)
    held.release()
    left = await watching
    assert left.status == "completed"
    assert seqs == list(range(1, left.last_seq + 1))
    assert app.runtime.hub.flights(debate.id) == {}
    late = [e.seq async for u in app.runtime.watch(debate.id, after=seqs[-3]) for e in u.events]
    assert late == seqs[-2:]


async def test_a_watcher_in_another_process_sees_the_same(tmp_path):
    async with an_app(tmp_path) as one, an_app(tmp_path) as two:
        debate = await new_debate(one, answers_file(tmp_path, delay_ms=5), turns=2)

        async def watch():
            return [e.seq async for u in two.runtime.watch(debate.id) for e in u.events]

        watching = asyncio.create_task(watch())
        done = await run_to_rest(one, debate)
        assert await watching == list(range(1, done.last_seq + 1))


async def test_a_watcher_of_a_debate_that_is_deleted_between_two_reads_hears_so(app, tmp_path, monkeypatch):
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


async def test_ids_by_prefix(app, tmp_path):
    debate = await new_debate(app, answers_file(tmp_path), "classic")
    assert await app.runtime.find(debate.short) == debate.id
    assert await app.runtime.find(f" {debate.id.upper()} ") == debate.id
    for wrong in ("zzz", "", "%"):
        with pytest.raises(NoSuchDebate):
            await app.runtime.find(wrong)


@pytest.mark.parametrize("verb", ["stop", "cancel", "recover"])
async def test_the_time_after_a_crash_is_not_running_time(app, tmp_path, verb):
    debate = await orphaned(app, tmp_path)
    running = Shown(type="status", data={"status": "running"})
    await app.runtime.store.commit(Commit(debate_id=debate.id, epoch=debate.epoch, events=[running]))
    if verb == "recover":
        await app.runtime.store.move(debate.id, "stopping", expect=["running"])
    change(app, "update debate_events set created_at = created_at - 3600")
    await (app.runtime.recover() if verb == "recover" else getattr(app.runtime, verb)(debate.id))
    assert (await app.runtime.store.get(debate.id)).status == ("canceled" if verb == "cancel" else "stopped")
    assert running_seconds(await app.runtime.store.events(debate.id)) < 60
