"""Replays: the same bytes from the same turns, and every forged word is noticed."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

import pytest

from moot.client import creating, documents
from moot.core.errors import NoSuchDebate, ScriptChanged
from tests.running import an_app, answers_file, new_debate, run_to_rest
from tests.runtime.calls import words


def test_replay_proves_every_byte_and_notices_one_that_changed(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            done = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), premise="P.", swap=True))
            proof = await documents.prove(app, done.id)
            assert proof.same
            assert proof.recorded == await words(app, done)
            for change in (
                "update debate_sessions set outcome = replace(outcome, '\"tie\"', '\"a\"')",
                "update debate_events set type = 'TURN' where type = 'PLAN'",
            ):
                with closing(sqlite3.connect(app.database, isolation_level=None)) as other:
                    other.execute(change)
                assert not (await documents.prove(app, done.id)).same
                assert (await documents.prove(app, done.id)).first_difference is not None
            with closing(sqlite3.connect(app.database, isolation_level=None)) as other:
                other.execute("update debate_turns set content = content || '!' where key = '3/think/a'")
            with pytest.raises(ScriptChanged, match="'3/speak/a'"):  # the first to be asked after the changed thought
                await documents.prove(app, done.id)

    asyncio.run(main())


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
            assert (await documents.prove(app, done.id)).same
            with closing(sqlite3.connect(app.database, isolation_level=None)) as other:
                assert other.execute(change).rowcount == 1
            try:
                assert not (await documents.prove(app, done.id)).same
            except ScriptChanged:
                pass

    asyncio.run(main())


def test_audit_holds_every_word_that_was_sent(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            done = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), turns=2))
            audit = await documents.audit(app, done.id)
            assert len(audit["turns"]) == 14
            last = audit["turns"][-1]
            assert last["messages"][0]["role"] == "system"
            assert last["messages"][-1]["role"] == "user"
            assert audit["debate"]["id"] == done.id
            assert len(audit["events"]) == done.last_seq

    asyncio.run(main())


def test_a_recorded_debate_can_play_the_model_of_another(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            first = await run_to_rest(app, await new_debate(app, answers_file(tmp_path)))
            again = await run_to_rest(app, await new_debate(app, f"replay:{first.short}"))
            assert again.status == "completed"
            one = [(t.key, t.content, t.data) for t in await app.runtime.store.turns(first.id)]
            two = [(t.key, t.content, t.data) for t in await app.runtime.store.turns(again.id)]
            assert sorted(map(str, one)) == sorted(map(str, two))

    asyncio.run(main())


def test_a_replay_of_what_is_not_there_is_refused_before_anything_is_written(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            with pytest.raises(NoSuchDebate):
                await new_debate(app, "replay:deadbeef")
            assert not (tmp_path / "moot.db").exists()

    asyncio.run(main())


def test_a_refusal_is_not_replayed_as_a_statement(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            model = answers_file(tmp_path, {"*/speak/*": "Words. " * 60})
            first = await run_to_rest(app, await new_debate(app, model, "classic", max_total_output_tokens=700))
            assert first.outcome.ended_by == "max_total_output_tokens"
            again = await run_to_rest(app, await new_debate(app, f"replay:{first.short}", "classic"))
            assert again.status == "failed"
            assert again.error.kind == "unavailable"
            said = [turn.content for turn in await app.runtime.store.turns(again.id)]
            assert not any("output tokens" in text for text in said)

    asyncio.run(main())


def test_words_of_a_demonstration_model_stay_labelled(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            parent = await run_to_rest(app, await new_debate(app, "sim:", "classic", max_rounds=1))
            other = answers_file(tmp_path)
            fork = await creating.fork(
                app, parent.id, "1/verdict/judge", {"model_judge": other, "model_debater": other}
            )
            assert app.is_demonstration(fork)
            again = await new_debate(app, f"replay:{parent.short}", "classic", max_rounds=1)
            assert app.is_demonstration(again)
            real = await run_to_rest(app, await new_debate(app, other, "classic", max_rounds=1))
            assert not app.is_demonstration(real)
            assert not app.is_demonstration(await new_debate(app, f"replay:{real.short}", "classic", max_rounds=1))

    asyncio.run(main())
