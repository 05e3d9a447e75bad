"""Councils on a real database: run, replayed, forked, short of budget, killed."""

from __future__ import annotations

import asyncio

import pytest

from moot.client import creating, documents
from moot.core.types import Debate
from tests.running import an_app, answers_file, new_debate, run_to_rest

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


def go(coro):
    return asyncio.run(coro)


def model(folder, answers=None, **options) -> str:
    own = answers or {}
    return answers_file(folder, {**own, **{key: each for key, each in COUNCIL.items() if key not in own}}, **options)


async def a_council(app, spec: str, **settings) -> Debate:
    return await new_debate(app, spec, "council", **{"members": MEMBERS, **settings})


def test_a_council_runs_to_its_answer_and_replays(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
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

    go(main())


def test_agreement_saves_the_debate(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            agreed = model(tmp_path, {"*/rank/*": ballot("A", "B", behind="AB")})
            done = await run_to_rest(app, await a_council(app, agreed))
            assert (done.turn_count, done.outcome.ended_by) == (7, "agreement")
            assert done.outcome.details["shared_errors"]["effective_voters"] == 1.0
            assert (await documents.prove(app, done.id)).same

    go(main())


def test_garbage_is_an_abstention_after_all_tries(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            bad = model(tmp_path, {"0/rank/m2": ballot("A", "A"), "0/rank/m3": "I would rather not."})
            done = await run_to_rest(app, await a_council(app, bad))
            outcome = done.outcome
            assert (outcome.winner, outcome.ended_by) == ("undecided", "no_quorum")
            assert "a label occurs twice" in outcome.reason
            turns = {turn.key: turn for turn in await app.runtime.store.turns(done.id)}
            assert turns["0/rank/m2"].failure.kind == "invalid"
            assert turns["0/rank/m2"].metadata["choice"] == "abstains"
            assert (await documents.prove(app, done.id)).same

    go(main())


def test_a_fork_asks_one_ballot_anew(tmp_path):
    async def main():
        log = tmp_path / "calls.log"
        async with an_app(tmp_path) as app:
            parent = await run_to_rest(app, await a_council(app, model(tmp_path, log=str(log)), depth="vote"))
            paid = log.read_text()
            other = tmp_path / "other"
            other.mkdir()
            changed = model(other, {"0/rank/m3": ballot("B", "A", behind="B")})
            fork = await run_to_rest(app, await creating.fork(app, parent.id, "0/rank/m3", {"model_debater": changed}))
            assert fork.status == "completed"
            before, after = (
                {ballot.voter: ballot.ranking for poll in each.outcome.polls for ballot in poll.ballots}
                for each in (parent, fork)
            )
            assert after["m3"] == before["m3"][::-1]
            assert (after["m1"], after["m2"]) == (before["m1"], before["m2"])
            assert log.read_text().removeprefix(paid).count("done ") == 1  # the chair, whose model is the parent's
            assert (await documents.prove(app, fork.id)).same

    go(main())


def test_a_deeper_fork_of_a_vote_goes_on_debating(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            parent = await run_to_rest(app, await a_council(app, model(tmp_path), depth="vote"))
            deeper = await creating.fork(app, parent.id, "0/synthesize/chair", {"depth": "debate", "max_rounds": 1})
            done = await run_to_rest(app, deeper)
            assert (done.outcome.ended_by, done.total_rounds) == ("max_rounds", 1)
            assert (await documents.prove(app, done.id)).same

    go(main())


@pytest.mark.parametrize("budget", [200, 500, 600, 700, 900, 4000])
def test_any_budget_ends_with_an_outcome_within_it(tmp_path, budget):
    async def main():
        async with an_app(tmp_path) as app:
            small = {"max_total_output_tokens": budget, "debater_max_tokens": 100, "judge_max_tokens": 100}
            done = await run_to_rest(app, await a_council(app, model(tmp_path), **small))
            assert done.status == "completed"
            assert done.tokens_out <= budget
            assert done.outcome.headline
            assert (await documents.prove(app, done.id)).same
            if budget == 200:
                assert done.outcome.winner == "undecided"
                assert done.outcome.ended_by == "max_total_output_tokens"

    go(main())


def test_it_goes_on_after_a_failure_in_the_middle_of_a_vote(tmp_path):
    async def main():
        log = tmp_path / "calls.log"
        async with an_app(tmp_path) as app:
            fail = {"fail": "unavailable", "message": "once"}
            flaky = {f"0/rank/m{n}": fail for n in (1, 2, 3)}
            flaky |= {f"0/rank-again/m{n}": [fail, ballot("A", "B")] if n == 2 else ballot("A", "B") for n in (1, 2, 3)}
            failed = await run_to_rest(app, await a_council(app, model(tmp_path, flaky, log=str(log)), depth="vote"))
            assert failed.status == "failed"
            await app.runtime.retry(failed.id)
            done = await app.runtime.wait(failed.id)
            assert done.status == "completed"
            called = [line for line in log.read_text().splitlines() if not line.startswith("done ")]
            assert sum("0/answer/" in line for line in called) == 3
            assert (await documents.prove(app, done.id)).same

    go(main())


def test_mixed_models_and_their_families(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            spec = model(tmp_path, {"*/rank/*": ballot("A", "B", behind="AB")})
            done = await run_to_rest(app, await a_council(app, spec, members=["sim:?seed=1", spec, spec]))
            assert [seat.model for seat in done.cast][:3] == ["sim:?seed=1", spec, spec]
            families = done.outcome.details["shared_errors"]["families"]
            assert families == {"sim": ["m1"], "scripted": ["m2", "m3"]}
            assert (await documents.prove(app, done.id)).same

    go(main())
