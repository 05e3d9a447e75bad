"""Driving a debate: each turn is stored before the next step, and every failure is accounted for."""

from __future__ import annotations

import json

import pytest

from moot.client import documents
from moot.core.types import Reply, Usage
from moot.core.values import storable
from tests.running import Held, answers_file, new_debate, run_to_rest, until
from tests.runtime.calls import calls, change


async def test_a_duel_runs_to_its_verdict(app, tmp_path):
    debate = await run_to_rest(app, await new_debate(app, answers_file(tmp_path)))
    assert (debate.status, debate.turn_count, debate.outcome.winner) == ("completed", 30, "a")
    assert debate.cursor.open == ()
    assert debate.owner is None
    turns = await app.runtime.store.turns(debate.id)
    assert [turn.seq for turn in turns] == list(range(1, 31))
    for turn in turns:
        assert turn.model.startswith("scripted:")
        assert turn.finish_reason
        assert turn.tokens_in > 0
        assert turn.prompt.startswith("duel/")
        assert turn.created_at >= turn.started_at
    assert sum(turn.tokens_out for turn in turns) == debate.tokens_out
    events = await app.runtime.store.events(debate.id)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [event.data for event in events if event.type == "status"] == [
        {"status": "pending"},
        {"status": "running", "turns": 0},
        {"status": "completed"},
    ]
    assert events[-2].type == "VERDICT"


@pytest.mark.parametrize("seed", range(2))
async def test_a_simulated_duel_comes_to_a_verdict(app, seed):
    done = await run_to_rest(app, await new_debate(app, f"sim:?seed={seed}"))
    assert (done.status, done.turn_count) == ("completed", 30)
    assert done.outcome.winner in ("a", "b")
    assert app.is_demonstration(done)


async def test_each_turn_is_on_disk_before_the_next_step_begins(app, tmp_path):
    log = tmp_path / "calls.log"
    debate = await new_debate(app, answers_file(tmp_path, log=str(log)), "classic", max_rounds=3)
    seen = []
    original = app.runtime.store.commit

    async def commit(commit):
        before = len(calls(log))
        result = await original(commit)
        if commit.turns:
            seen.append((commit.turns[-1].key, before, len(calls(log))))
        return result

    app.runtime.store.commit = commit
    await run_to_rest(app, debate)
    assert len(seen) == 7
    for position, (_, before, after) in enumerate(seen, 1):
        assert before == after == position


async def test_a_failed_step_fails_the_debate_and_retry_runs_only_what_is_open(app, tmp_path):
    log = tmp_path / "calls.log"
    broken = {"2/speak/a": [{"fail": "unavailable", "message": "no such model"}, "At last."]}
    debate = await new_debate(app, answers_file(tmp_path, broken, log=str(log)), "classic", max_rounds=2)
    failed = await run_to_rest(app, debate)
    assert (failed.status, failed.turn_count, failed.cursor.open) == ("failed", 2, ("2/speak/a",))
    assert failed.error.kind == "unavailable"
    assert "no such model" in failed.error.message
    before = calls(log)
    await app.runtime.retry(debate.id)
    done = await app.runtime.wait(debate.id)
    assert (done.status, done.error) == ("completed", None)
    assert calls(log)[len(before) :] == ["2/speak/a", "2/speak/b", "2/verdict/judge"]


async def test_when_one_of_two_parallel_steps_fails_the_other_is_kept(app, tmp_path):
    broken = {"0/plan/a": [{"fail": "unavailable", "message": "gone"}, "A plan."]}
    log = tmp_path / "calls.log"
    failed = await run_to_rest(app, await new_debate(app, answers_file(tmp_path, broken, log=str(log))))
    assert failed.status == "failed"
    assert [turn.key for turn in await app.runtime.store.turns(failed.id)] == ["0/plan/b"]
    await app.runtime.retry(failed.id)
    assert (await app.runtime.wait(failed.id)).status == "completed"
    assert calls(log).count("0/plan/b") == 1


async def test_a_wrong_or_missing_cursor_is_repaired_from_the_turns(app, tmp_path):
    log = tmp_path / "calls.log"
    model = answers_file(tmp_path, {"2/speak/b": [{"fail": "unavailable"}, "Fine."]}, log=str(log))
    failed = await run_to_rest(app, await new_debate(app, model, "classic", max_rounds=2))
    assert failed.cursor.open == ("2/speak/b",)
    change(app, "update debate_sessions set open_keys = '[\"9/nowhere/z\"]', next_round = 9, next_actor = null")
    await app.runtime.retry(failed.id)
    done = await app.runtime.wait(failed.id)
    assert done.status == "completed"
    events = await app.runtime.store.events(done.id)
    notices = [event.data["text"] for event in events if event.type == "notice"]
    assert any("9/nowhere/z" in text and "2/speak/b" in text for text in notices)
    assert calls(log).count("1/speak/a") == 1


async def test_a_turn_that_the_rules_do_not_ask_for_fails_the_debate_and_names_it(app, tmp_path):
    model = answers_file(tmp_path, {"1/speak/b": [{"fail": "unavailable"}]})
    failed = await run_to_rest(app, await new_debate(app, model, "classic"))
    change(app, "update debate_turns set prompt_hash = 'ffff' where key = '1/speak/a'")
    await app.runtime.retry(failed.id)
    broken = await app.runtime.wait(failed.id)
    assert (broken.status, broken.error.kind, broken.turn_count) == ("failed", "script", 1)
    assert "'1/speak/a'" in broken.error.message


async def test_a_driver_that_lost_its_debate_commits_nothing_more(app, tmp_path):
    held = Held(tmp_path)
    app.runtime.pulse_seconds = 30
    debate = await new_debate(app, held.model, "classic", max_rounds=2)
    await app.runtime.start(debate.id)
    await until(lambda: held.calls)
    taken = await app.runtime.store.claim(debate.id, "thief", 600, expect=["running"], dead=app.runtime.owner)
    assert taken is not None
    held.release()
    after = await app.runtime.wait(debate.id)
    assert (after.owner, after.turn_count, after.status) == ("thief", 0, "running")
    assert held.calls == ["1/speak/a"]


async def test_a_fallback_takes_over_and_it_is_recorded(app, tmp_path):
    broken = tmp_path / "broken"
    broken.mkdir()
    bad = answers_file(broken, {"*": {"fail": "unavailable", "message": "down"}})
    model = f"{bad} | {answers_file(tmp_path)}"
    done = await run_to_rest(app, await new_debate(app, model, "classic", max_rounds=1))
    assert done.status == "completed"
    turns = await app.runtime.store.turns(done.id)
    assert all("down" in turn.metadata["attempts"][0] for turn in turns)
    assert all(str(broken) not in turn.model for turn in turns)
    notices = [e.data["text"] for e in await app.runtime.store.events(done.id) if e.type == "notice"]
    assert len(notices) == 3


async def test_a_bad_answer_is_asked_for_again_and_the_tries_are_recorded(app, tmp_path):
    good = {"summary": "s", "score_a": 3, "score_b": 4, "no_new_substantive_arguments": False}
    model = answers_file(tmp_path, {"*/verdict/*": ["nonsense", "{}", good]})
    done = await run_to_rest(app, await new_debate(app, model, "classic", max_rounds=1))
    assert done.outcome.winner == "b"
    verdict = (await app.runtime.store.turns(done.id))[-1]
    assert len(verdict.metadata["attempts"]) == 2
    assert verdict.content == "s"


@pytest.mark.parametrize(
    "garbage",
    [
        "I would rather not say.",
        '{"summary": "half',
        '{"summary": "s", "score_a": 11, "score_b": 3, "no_new_substantive_arguments": false}',
        "A" * 50_000,
        "\x00\x1b[31m\u202e",
        '{"summary": "s", "score_a": NaN, "score_b": 3, "no_new_substantive_arguments": false}',
    ],
)
async def test_a_judge_that_writes_garbage_never_makes_a_winner(app, tmp_path, garbage):
    model = answers_file(tmp_path, {"*/verdict/*": garbage})
    done = await run_to_rest(app, await new_debate(app, model, "classic", max_rounds=1))
    assert (done.status, done.outcome.winner) == ("completed", "undecided")
    assert done.outcome.scores == {"a": None, "b": None}
    assert done.outcome.reason
    verdict = (await app.runtime.store.turns(done.id))[-1]
    assert (verdict.metadata["winner"], verdict.metadata["verdict_source"]) == ("undecided", "fallback")
    assert verdict.failure is not None
    assert (await documents.prove(app, done.id)).same


@pytest.mark.parametrize(
    ("step", "garbage"),
    [
        ("*/confirm/*", {"winner": "Eve"}),
        ("*/extract/*", {"winner": "Basil", "scores": {"Ada": 8, "Basil": 6}}),
    ],
)
async def test_a_duels_judge_who_contradicts_itself_leaves_it_undecided(app, tmp_path, step, garbage):
    done = await run_to_rest(app, await new_debate(app, answers_file(tmp_path, {step: garbage}), turns=2))
    assert (done.status, done.outcome.winner) == ("completed", "undecided")
    assert done.outcome.scores == {"a": None, "b": None}


@pytest.mark.parametrize("text", ["\x07\x1b]0;title\x07 \u202egnitirw", "A" * 50_000], ids=["controls", "long"])
async def test_hostile_statements_change_nothing_but_their_own_text(app, tmp_path, text):
    done = await run_to_rest(app, await new_debate(app, answers_file(tmp_path, {"*/speak/a": text}), turns=4))
    assert (done.status, done.outcome.winner, done.turn_count) == ("completed", "a", 22)
    assert done.outcome.scores == {"a": 8, "b": 6}
    said = next(turn.content for turn in await app.runtime.store.turns(done.id) if turn.key == "1/speak/a")
    assert not {"\x1b", "\u202e"} & {*said}
    assert (await documents.prove(app, done.id)).same


@pytest.mark.parametrize("format_", ["classic", "duel"])
async def test_there_is_no_winner_when_nothing_was_said(app, tmp_path, format_):
    model = answers_file(tmp_path)
    done = await run_to_rest(app, await new_debate(app, model, format_, max_total_output_tokens=300, swap=True))
    assert (done.status, done.outcome.winner) == ("completed", "undecided")
    assert "nothing to rule on" in done.outcome.reason
    events = await app.runtime.store.events(done.id)
    assert not [event.type for event in events if event.turn is not None]  # a refused step shows nothing
    assert done.tokens_out == 0


def test_halves_of_characters_are_joined_and_lone_ones_replaced():
    assert storable("hi \ud83d\ude00") == "hi 😀"
    assert storable("a\ud800b") == "a\ufffdb"
    assert storable("plain") == "plain"


async def test_a_reply_that_is_no_text_does_not_fail_the_debate(app, tmp_path):
    ruling = {"summary": "s", "score_a": 1, "score_b": 2, "no_new_substantive_arguments": True}

    async def broken(call, hear):
        if call.returns is not None:
            answer = call.returns.model_validate(ruling)
            return Reply(text=json.dumps(ruling), model="m", provider="p", answer=answer)
        return Reply(text="hi \ud83d there", model="m", provider="p", usage=Usage(tokens_out=3))

    app.models.open = lambda spec: broken
    done = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), "classic", max_rounds=1))
    assert (done.status, done.tokens_out) == ("completed", 6)
    assert (await app.runtime.store.turns(done.id))[0].content == "hi \ufffd there"
    assert (await documents.prove(app, done.id)).same
