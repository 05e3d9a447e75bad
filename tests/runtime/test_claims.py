"""Ledgers on a real database: stored, replayed, read before the end, and added to a finished debate by a fork."""

from __future__ import annotations

from typing import Any

import pytest

from moot.app import App
from moot.client import creating, documents
from moot.core.types import Debate, Outcome
from moot.formats.shared.ledger import BY_A_PERSON
from moot.reasoning.claims import Ledger
from moot.store import Commit
from tests.running import answers_file, new_debate, run_to_rest

WORDS = "Look at what it costs to run."


def item(text: str, stance: str = "none", target: str = "", quote: str = "", concedes: tuple[str, ...] = ()) -> Any:
    more = {"stance": stance, "target": target, "quote": quote, "evidence": "", "concedes": list(concedes)}
    return {"text": text, **more}


LISTED = {
    "1/claims-speak/a": {"claims": [item("Redis is fast.")]},
    "2/claims-speak/b": {"claims": [item("It loses data.", "attacks", "c1", "words of a at 1/speak/a")]},
    "3/claims-speak/a": {"claims": [item("That is fine.", "attacks", "c2", "Words of b at 9/speak/b")]},
    "4/claims-speak/b": {"claims": [item("Well.", concedes=("c1",))]},
}


def statuses(ledger: Ledger) -> dict[str, str]:
    return {claim.id: claim.status for claim in ledger.claims}


async def ledger_of(app: App, debate: Debate) -> Ledger:
    ledger = await documents.ledger(app, debate.id)
    assert ledger is not None
    return ledger


async def proved(app: App, done: Debate) -> Outcome:
    assert done.status == "completed", done.error
    assert done.outcome is not None
    assert (await documents.prove(app, done.id)).same
    return done.outcome


async def test_a_debate_with_a_ledger_replays_byte_for_byte(app, tmp_path):
    debate = await new_debate(app, answers_file(tmp_path, LISTED), turns=4, claims=True)
    done = await run_to_rest(app, debate)
    assert done.turn_count == 22 + 4
    ledger = await ledger_of(app, debate)
    # c2 does not count, because b has conceded c1 in the end; c3 does not, because b never said that
    assert statuses(ledger) == {"c1": "conceded", "c2": "standing", "c3": "standing", "c4": "standing"}
    assert [claim.quote_ok for claim in ledger.claims] == [None, True, False, None]
    outcome = await proved(app, done)
    assert [each["id"] for each in outcome.ledger["claims"]] == ["c1", "c2", "c3", "c4"]
    assert (await documents.record(app, debate.id)).ledger == ledger


async def test_answers_that_are_no_list_of_claims_are_a_gap_after_three_tries(app, tmp_path):
    bad = {"*/claims-*/*": "The human ends the debate."}
    done = await run_to_rest(app, await new_debate(app, answers_file(tmp_path, bad), turns=2, claims=True))
    assert (await proved(app, done)).winner == "a"
    ledger = await ledger_of(app, done)
    assert ledger.claims == ()
    assert all("no valid answer in 3 tries" in each.gap for each in ledger.statements)


async def test_the_budget_ends_the_ledger_before_it_ends_the_verdict(app, tmp_path):
    model = answers_file(tmp_path, LISTED)
    settings = {"max_total_output_tokens": 600, "judge_max_tokens": 60, "debater_max_tokens": 60}
    done = await run_to_rest(app, await new_debate(app, model, "classic", max_rounds=50, claims=True, **settings))
    outcome = await proved(app, done)
    assert (outcome.winner, outcome.ended_by) == ("a", "max_total_output_tokens")
    assert done.tokens_out <= 600


async def test_a_debate_that_was_stopped_has_the_ledger_of_what_was_said(app, tmp_path):
    debate = await new_debate(app, answers_file(tmp_path, LISTED), turns=4, claims=True)
    assert (await ledger_of(app, debate)).claims == ()
    commit = app.runtime.store.commit

    async def and_stop(given: Commit) -> Any:
        done = await commit(given)
        if any(turn.key == "2/claims-speak/b" for turn in given.turns):
            await app.runtime.stop(debate.id)
        return done

    app.runtime.store.commit = and_stop
    stopped = await run_to_rest(app, debate)
    assert stopped.status == "stopped"
    ledger = await ledger_of(app, debate)
    assert list(statuses(ledger))[:2] == ["c1", "c2"]
    await app.runtime.resume(debate.id)
    await proved(app, await app.runtime.wait(debate.id))
    assert (await ledger_of(app, debate)).claims[1].text == ledger.claims[1].text


async def test_a_debate_that_has_been_held_gets_a_ledger_in_a_branch(app, tmp_path):
    parent = await run_to_rest(app, await new_debate(app, answers_file(tmp_path, LISTED), turns=4))
    assert await documents.ledger(app, parent.id) is None
    branch = await creating.fork(app, parent.id, "4/deliberate/judge", {"claims": True})
    await proved(app, await run_to_rest(app, branch))
    assert list(statuses(await ledger_of(app, branch))) == ["c1", "c2", "c3", "c4"]
    said = {turn.key: turn.content for turn in await app.runtime.store.turns(parent.id)}
    again = {turn.key: turn.content for turn in await app.runtime.store.turns(branch.id)}
    assert {key: again[key] for key in said} == said


async def test_guidance_reaches_the_speakers_and_not_the_lists_of_claims(app, tmp_path):
    """Also when the list is open and not under way while the guidance comes."""
    late = {"1/claims-speak/a": [{"fail": "unavailable"}, LISTED["1/claims-speak/a"]]}
    debate = await new_debate(app, answers_file(tmp_path, {**LISTED, **late}), turns=4, claims=True)
    failed = await run_to_rest(app, debate)
    assert failed.status == "failed"
    assert "1/claims-speak/a" in failed.cursor.open
    await app.runtime.guide(debate.id, WORDS, by="ann")
    await app.runtime.retry(debate.id)
    await proved(app, await app.runtime.wait(debate.id))
    turns = (await documents.audit(app, debate.id))["turns"]
    hearing = {turn["seat"] for turn in turns if turn["messages"] and WORDS in turn["messages"][-1]["text"]}
    assert hearing == {"a", "b", "judge"}
    assert not [t for t in turns if t["phase"].startswith("claims-") and WORDS in t["messages"][-1]["text"]]


async def test_a_person_at_the_table_is_asked_for_statements_only(app, tmp_path):
    seats = {"a": {"model": "human"}}
    model = answers_file(tmp_path, {"*/claims-*/b": {"claims": [item("No.", quote="I hold that it is fast")]}})
    debate = await new_debate(app, model, "classic", max_rounds=1, claims=True, seats=seats)
    waiting = await run_to_rest(app, debate)
    assert waiting.status == "waiting"
    await app.runtime.gates.answer(debate.id, {"text": "I hold that it is fast."}, by="ann")
    await app.runtime.resume(debate.id)
    await proved(app, await app.runtime.wait(debate.id))
    ledger = await ledger_of(app, debate)
    assert [each.gap for each in ledger.statements] == [BY_A_PERSON, ""]
    assert ledger.claims[0].quote_of == "1/speak/a"


@pytest.mark.parametrize("format", ["classic", "duel", "council", "panel", "crucible"])
async def test_simulated_models_answer_in_shape_in_every_format(app, format: str):
    more = {"checkpoints": False} if format == "panel" else {}
    done = await run_to_rest(app, await new_debate(app, "sim:", format, claims=True, **more))
    await proved(app, done)
    assert (await ledger_of(app, done)).claims
    listed = [turn for turn in await app.runtime.store.turns(done.id) if turn.phase.startswith("claims-")]
    assert not [turn.failure for turn in listed if turn.failure]
    assert bool(listed) == (format != "crucible")
