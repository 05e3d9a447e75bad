"""Replays: the same bytes from the same turns, and every forged word is noticed."""

from __future__ import annotations

from contextlib import suppress

import pytest

from moot.client import creating, documents
from moot.core.errors import NoSuchDebate, ScriptChanged
from tests.running import answers_file, new_debate, run_to_rest
from tests.runtime.calls import change, words


async def test_replay_proves_every_byte_and_notices_one_that_changed(app, tmp_path):
    done = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), premise="P.", swap=True))
    proof = await documents.prove(app, done.id)
    assert proof.same
    assert proof.recorded == await words(app.runtime.store, done)
    for statement in (
        "update debate_sessions set outcome = replace(outcome, '\"tie\"', '\"a\"')",
        "update debate_events set type = 'TURN' where type = 'PLAN'",
    ):
        change(app, statement)
        assert not (await documents.prove(app, done.id)).same
        assert (await documents.prove(app, done.id)).first_difference is not None
    change(app, "update debate_turns set content = content || '!' where key = '3/think/a'")
    with pytest.raises(ScriptChanged, match="'3/speak/a'"):  # the first to be asked after the changed thought
        await documents.prove(app, done.id)


@pytest.mark.parametrize(
    "forged",
    [
        "update debate_turns set content = 'FORGED' where key = '1/score/judge'",
        "update debate_turns set content = 'FORGED' where key = '2/speak/b'",
        "update debate_turns set data = replace(data, '7', '9') where key = '2/score/judge'",
    ],
)
async def test_a_forged_word_is_noticed(app, tmp_path, forged):
    done = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), turns=2))
    assert (await documents.prove(app, done.id)).same
    change(app, forged)
    with suppress(ScriptChanged):
        assert not (await documents.prove(app, done.id)).same


async def test_audit_holds_every_word_that_was_sent(app, tmp_path):
    done = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), turns=2))
    audit = await documents.audit(app, done.id)
    assert len(audit["turns"]) == 14
    last = audit["turns"][-1]
    assert last["messages"][0]["role"] == "system"
    assert last["messages"][-1]["role"] == "user"
    assert audit["debate"]["id"] == done.id
    assert len(audit["events"]) == done.last_seq


async def test_a_recorded_debate_can_play_the_model_of_another(app, tmp_path):
    first = await run_to_rest(app, await new_debate(app, answers_file(tmp_path)))
    again = await run_to_rest(app, await new_debate(app, f"replay:{first.short}"))
    assert again.status == "completed"
    one = [(t.key, t.content, t.data) for t in await app.runtime.store.turns(first.id)]
    two = [(t.key, t.content, t.data) for t in await app.runtime.store.turns(again.id)]
    assert sorted(map(str, one)) == sorted(map(str, two))


async def test_a_replay_of_what_is_not_there_is_refused_before_anything_is_written(app, tmp_path):
    with pytest.raises(NoSuchDebate):
        await new_debate(app, "replay:deadbeef")
    assert not (tmp_path / "moot.db").exists()


async def test_a_refusal_is_not_replayed_as_a_statement(app, tmp_path):
    model = answers_file(tmp_path, {"*/speak/*": "Words. " * 60})
    first = await run_to_rest(app, await new_debate(app, model, "classic", max_total_output_tokens=700))
    assert first.outcome.ended_by == "max_total_output_tokens"
    again = await run_to_rest(app, await new_debate(app, f"replay:{first.short}", "classic"))
    assert again.status == "failed"
    assert again.error.kind == "unavailable"
    said = [turn.content for turn in await app.runtime.store.turns(again.id)]
    assert not any("output tokens" in text for text in said)


async def test_words_of_a_demonstration_model_stay_labelled(app, tmp_path):
    parent = await run_to_rest(app, await new_debate(app, "sim:", "classic", max_rounds=1))
    other = answers_file(tmp_path)
    fork = await creating.fork(app, parent.id, "1/verdict/judge", {"model_judge": other, "model_debater": other})
    assert app.is_demonstration(fork)
    again = await new_debate(app, f"replay:{parent.short}", "classic", max_rounds=1)
    assert app.is_demonstration(again)
    real = await run_to_rest(app, await new_debate(app, other, "classic", max_rounds=1))
    assert not app.is_demonstration(real)
    assert not app.is_demonstration(await new_debate(app, f"replay:{real.short}", "classic", max_rounds=1))
