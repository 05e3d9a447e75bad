"""Nothing lost, nothing made up, nothing paid twice: corners where that is easy to break."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
from contextlib import closing

import pytest

from moot import formats
from moot.errors import InputError, NoSuchDebate, ScriptChanged, StoreError, WrongSchema
from moot.runtime.owner import is_dead, this_process
from moot.runtime.steps import storable
from moot.store.sqlite import SqliteStore
from moot.types import Reply, Usage
from tests.running import an_app, answers_file, new_debate, run_to_rest, until


def go(coro):
    return asyncio.run(coro)


def test_halves_of_characters_are_joined_and_lone_ones_replaced():
    assert storable("hi \ud83d\ude00") == "hi 😀"
    assert storable("a\ud800b") == "a\ufffdb"
    assert storable("plain") == "plain"


def test_a_reply_that_is_no_text_does_not_fail_the_debate(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            debate = await new_debate(app, answers_file(tmp_path), "classic", max_rounds=1)

            async def broken(call, hear):
                if call.returns is not None:
                    answer = call.returns.model_validate(
                        {"summary": "s", "score_a": 1, "score_b": 2, "no_new_substantive_arguments": True}
                    )
                    return Reply(text=json.dumps(answer.model_dump()), model="m", provider="p", answer=answer)
                return Reply(text="hi \ud83d there", model="m", provider="p", usage=Usage(tokens_out=3))

            app.models.open = lambda spec: broken
            done = await run_to_rest(app, debate)
            assert (done.status, done.tokens_out) == ("completed", 6)
            assert (await app.runtime.store.turns(done.id))[0].content == "hi \ufffd there"
            assert (await app.prove(done.id)).same

    go(main())


@pytest.mark.parametrize("format_", ["classic", "duel"])
def test_nobody_wins_when_nothing_was_said(tmp_path, format_):
    async def main():
        async with an_app(tmp_path) as app:
            model = answers_file(tmp_path)
            done = await run_to_rest(app, await new_debate(app, model, format_, max_total_output_tokens=300, swap=True))
            assert (done.status, done.outcome["winner"]) == ("completed", "undecided")
            assert "nothing to rule on" in done.outcome["reason"]
            events = await app.runtime.store.events(done.id)
            assert not [event.type for event in events if event.turn is not None]  # a refusal is nobody's words
            assert done.tokens_out == 0

    go(main())


def test_a_cascade_spends_no_more_than_one_model_may(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            cascade = " | ".join(f"sim:?garbage=1&seed={n}" for n in range(3))
            debate = await new_debate(
                app,
                "sim:?tokens=5",
                "classic",
                max_rounds=1,
                model_judge=cascade,
                max_total_output_tokens=50,
                debater_max_tokens=16,
                judge_max_tokens=16,
            )
            done = await run_to_rest(app, debate)
            assert done.tokens_out + done.lost.tokens_out <= 50

    go(main())


def test_time_outs_are_not_retried_past_the_budget(tmp_path):
    async def main():
        async with an_app(tmp_path, call_timeout_seconds=0.3) as app:
            slow = "sim:?tps=100&tokens=100"
            debate = await new_debate(
                app, slow, "classic", max_total_output_tokens=90, debater_max_tokens=40, judge_max_tokens=20
            )
            failed = await run_to_rest(app, debate)
            assert failed.status == "failed"
            assert failed.error.kind == "timeout"
            assert failed.tokens_out + failed.lost.tokens_out <= 90

    go(main())


def test_what_a_stop_now_cuts_off_is_on_the_books_with_its_price(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            debate = await new_debate(app, "sim:?tps=200&tokens=400&price_in=1&price_out=1000", "classic")
            await app.runtime.start(debate.id)
            await until(lambda: any(len(f.text) > 40 for f in app.runtime.hub.flights(debate.id).values()))
            await app.runtime.stop(debate.id, now=True)
            stopped = await app.runtime.wait(debate.id)
            assert stopped.status == "stopped"
            assert stopped.lost.tokens_out > 10
            assert stopped.lost.tokens_in > 10
            assert stopped.lost.cost_usd == pytest.approx(
                (stopped.lost.tokens_in * 1 + stopped.lost.tokens_out * 1000) / 1e6
            )

    go(main())


def test_what_is_cut_off_when_a_debate_fails_is_on_the_books_too(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            broken = answers_file(tmp_path, {"0/plan/a": {"fail": "unavailable", "message": "gone"}})
            slow = "sim:?tps=200&tokens=400"
            debate = await new_debate(app, slow, seats={"a": {"model": broken}})
            await app.runtime.start(debate.id)
            flights = app.runtime.hub.flights
            await until(lambda: len(getattr(flights(debate.id).get("0/plan/b"), "text", "")) > 40)
            await until(lambda: "0/plan/a" not in flights(debate.id))
            await app.runtime.stop(debate.id, now=True)
            failed = await app.runtime.wait(debate.id)
            assert (failed.status, failed.error.kind) == ("failed", "unavailable")
            assert failed.lost.tokens_out > 10

    go(main())


def test_a_stop_now_keeps_what_has_just_ended(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            debate = await new_debate(app, answers_file(tmp_path))
            calls = []
            original = app.models.open

            def opened(spec):
                model = original(spec)

                async def told(call, hear):
                    calls.append(call.key)
                    reply = await model(call, hear)
                    if len(calls) == 2:
                        app.runtime._drives[debate.id].tell("now")
                    return reply

                return told

            app.models.open = opened
            stopped = await run_to_rest(app, debate)
            assert (stopped.status, stopped.turn_count) == ("stopped", 2)
            await app.runtime.resume(debate.id)
            await app.runtime.wait(debate.id)
            assert len(calls) == len(set(calls)) == 30

    go(main())


def test_a_fork_keeps_the_models_nobody_spoke_of(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            parent = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), "classic", max_rounds=1))
            kept = {seat.id: seat.model for seat in parent.cast}
            judge = await app.fork(parent.id, "1/verdict/judge", {"model_judge": "sim:?seed=4"})
            assert {s.id: s.model for s in judge.cast} == {**kept, "judge": "sim:?seed=4"}
            one = await app.fork(parent.id, "1/speak/b", {"seats": {"b": {"model": "sim:"}}})
            assert {s.id: s.model for s in one.cast} == {**kept, "b": "sim:"}

    go(main())


def test_a_fork_raises_no_false_alarm(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            parent = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), "classic", max_rounds=1))
            fork = await run_to_rest(app, await app.fork(parent.id, "1/speak/b", {}))
            assert not [e for e in await app.runtime.store.events(fork.id) if e.type == "notice"]

    go(main())


def test_words_of_a_demonstration_model_stay_labelled(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            parent = await run_to_rest(app, await new_debate(app, "sim:", "classic", max_rounds=1))
            other = answers_file(tmp_path)
            fork = await app.fork(parent.id, "1/verdict/judge", {"model_judge": other, "model_debater": other})
            assert app.is_demonstration(fork)
            again = await new_debate(app, f"replay:{parent.short}", "classic", max_rounds=1)
            assert app.is_demonstration(again)
            real = await run_to_rest(app, await new_debate(app, other, "classic", max_rounds=1))
            assert not app.is_demonstration(real)
            assert not app.is_demonstration(await new_debate(app, f"replay:{real.short}", "classic", max_rounds=1))

    go(main())


def test_a_replay_of_what_is_not_there_is_refused_before_anything_is_written(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            with pytest.raises(NoSuchDebate):
                await new_debate(app, "replay:deadbeef")
            assert not (tmp_path / "moot.db").exists()

    go(main())


def test_a_refusal_is_not_replayed_as_a_statement(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            model = answers_file(tmp_path, {"*/speak/*": "Words. " * 60})
            first = await run_to_rest(app, await new_debate(app, model, "classic", max_total_output_tokens=700))
            assert first.outcome["ended_by"] == "max_total_output_tokens"
            again = await run_to_rest(app, await new_debate(app, f"replay:{first.short}", "classic"))
            assert again.status == "failed"
            assert again.error.kind == "unavailable"
            said = [turn.content for turn in await app.runtime.store.turns(again.id)]
            assert not any("output tokens" in text for text in said)

    go(main())


@pytest.mark.parametrize(
    "change",
    [
        "update debate_turns set content = 'FORGED' where key = '1/score/judge'",
        "update debate_turns set content = 'FORGED' where key = '2/speak/b'",
        "update debate_turns set data = replace(data, '7', '9') where key = '2/score/judge'",
    ],
)
def test_a_forged_word_is_noticed(tmp_path, change):
    async def main():
        async with an_app(tmp_path) as app:
            done = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), turns=2))
            assert (await app.prove(done.id)).same
            with closing(sqlite3.connect(app.database, isolation_level=None)) as other:
                assert other.execute(change).rowcount == 1
            try:
                assert not (await app.prove(done.id)).same
            except ScriptChanged:
                pass

    go(main())


def test_another_programs_database_is_left_alone(tmp_path):
    path = tmp_path / "notes.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("create table notes (text)")
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(StoreError, match="belongs to another program"):
        SqliteStore(path)
    with closing(sqlite3.connect(path)) as other:
        other.execute("pragma user_version = 99")
    newer = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(WrongSchema, match="schema 99"):
        SqliteStore(path)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == newer != before
    assert {p.name for p in tmp_path.iterdir()} == {"notes.db"}


def test_only_a_process_of_this_very_place_can_be_known_to_be_dead():
    place, pid, _, rest = this_process().split("/")
    assert not is_dead(this_process())
    assert is_dead(f"{place}/999999999/1/{rest}")
    assert is_dead(f"{place}/{pid}/1/{rest}")  # the number is in use again
    assert not is_dead(f"elsewhere {place}/999999999/1/{rest}")
    assert not is_dead("nonsense")


def test_a_format_that_cannot_be_loaded_takes_no_other_down(monkeypatch):
    class Entry:
        name = "broken"

        def load(self):
            raise ModuleNotFoundError("no module named broken")

    real = list(formats.entry_points(group="moot.formats"))
    monkeypatch.setattr(formats, "entry_points", lambda group: [*real, Entry()])
    formats.installed.cache_clear()
    try:
        assert "duel" in formats.installed()
        with pytest.raises(InputError, match="can't be loaded.*no module named broken"):
            formats.get("broken")
    finally:
        formats.BROKEN.clear()
        formats.installed.cache_clear()


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
                assert (await second.prove(done.id)).same

    go(main())


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

    go(main())


def test_what_does_not_finish_in_time_is_handed_back_unfinished(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            debate = await new_debate(app, answers_file(tmp_path, delay_ms=60_000), turns=4)
            await app.runtime.start(debate.id)
            assert await app.runtime.hand_back(0) == [debate.id]
            left = await app.runtime.store.get(debate.id)
            assert (left.status, left.owner, left.turn_count) == ("running", None, 0)

    go(main())
