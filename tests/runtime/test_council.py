"""Councils on a real database: run, replayed, forked, short of budget, killed."""

from __future__ import annotations

import pytest

from moot.client import creating, documents
from moot.core.types import Debate
from tests.running import answers_file, new_debate, run_to_rest

MEMBERS = [{"name": "Ines"}, {"name": "Jonas"}, {"name": "Karin"}]


def ballot(*ranking: str, behind: str = "") -> dict:
    return {"reasoning": "Because.", "ranking": list(ranking), "stands_behind": list(behind)}


COUNCIL = {
    "0/answer/*": {
        "position": "Position of {seat}.",
        "answer": "Words of {seat}.",
        "reasons": ["One."],
        "confidence": 70,
    },
    "*/rank/*": ballot("A", "B"),
    "*/object/*": {"against": "A", "objection": "Objection of {seat}."},
    "*/rebut/*": {"rebuttal": "Rebuttal of {seat}.", "revised": None},
    "*/synthesize/*": {"answer": "The council's answer.", "departs": False},
}


def model(folder, answers=None) -> str:
    own = answers or {}
    return answers_file(folder, {**own, **{key: each for key, each in COUNCIL.items() if key not in own}})


async def a_council(app, spec: str, **settings) -> Debate:
    return await new_debate(app, spec, "council", **{"members": MEMBERS, **settings})


async def test_a_council_runs_to_its_answer_and_replays(app, tmp_path):
    done = await run_to_rest(app, await a_council(app, model(tmp_path)))
    assert (done.status, done.turn_count) == ("completed", 6 + 2 * 9 + 1)
    assert done.outcome.ended_by == "max_rounds"
    assert done.outcome.statement == "The council's answer."
    proof = await documents.prove(app, done.id)
    assert proof.same, proof.first_difference
    turns = {turn.key: turn for turn in await app.runtime.store.turns(done.id)}
    assert turns["0/rank/m1"].metadata["choice"] in ("m2", "m3")
    assert turns["1/object/m2"].metadata["to"] in ("m1", "m3")
    assert turns["0/answer/m1"].content.startswith("Position of m1.\n\nWords of m1.")
    assert all(turn.prompt.startswith("council/") for turn in turns.values())
    audited = await documents.audit(app, done.id)
    assert not any(
        name in message["text"]
        for turn in audited["turns"]
        for message in turn["messages"]
        for name in ("Ines", "Jonas", "Karin", "scripted:")
    )


async def test_agreement_saves_the_debate(app, tmp_path):
    agreed = model(tmp_path, {"*/rank/*": ballot("A", "B", behind="AB")})
    done = await run_to_rest(app, await a_council(app, agreed))
    assert (done.turn_count, done.outcome.ended_by) == (7, "agreement")
    assert done.outcome.details["shared_errors"]["effective_voters"] == 1.0
    assert (await documents.prove(app, done.id)).same


async def test_garbage_is_an_abstention_after_all_tries(app, tmp_path):
    bad = model(tmp_path, {"0/rank/m2": ballot("A", "A"), "0/rank/m3": "I would rather not."})
    done = await run_to_rest(app, await a_council(app, bad))
    assert (done.outcome.winner, done.outcome.ended_by) == ("undecided", "no_quorum")
    assert "a label occurs twice" in done.outcome.reason
    turns = {turn.key: turn for turn in await app.runtime.store.turns(done.id)}
    assert turns["0/rank/m2"].failure.kind == "invalid"
    assert turns["0/rank/m2"].metadata["choice"] == "abstains"
    assert (await documents.prove(app, done.id)).same


async def test_a_deeper_fork_of_a_vote_goes_on_debating(app, tmp_path):
    parent = await run_to_rest(app, await a_council(app, model(tmp_path), depth="vote"))
    deeper = await creating.fork(app, parent.id, "0/synthesize/chair", {"depth": "debate", "max_rounds": 1})
    done = await run_to_rest(app, deeper)
    assert (done.outcome.ended_by, done.total_rounds) == ("max_rounds", 1)
    assert (await documents.prove(app, done.id)).same


@pytest.mark.parametrize("budget", [200, 600, 4000])
async def test_any_budget_ends_with_an_outcome_within_it(app, tmp_path, budget):
    small = {"max_total_output_tokens": budget, "debater_max_tokens": 100, "judge_max_tokens": 100}
    done = await run_to_rest(app, await a_council(app, model(tmp_path), **small))
    assert done.status == "completed"
    assert done.tokens_out <= budget
    assert done.outcome.headline
    assert (await documents.prove(app, done.id)).same
    if budget == 200:
        assert (done.outcome.winner, done.outcome.ended_by) == ("undecided", "max_total_output_tokens")
