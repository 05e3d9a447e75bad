"""Ledgers on a real database: stored, replayed, read before the end, and added to a finished debate by a fork."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from moot.client import creating, documents
from moot.core.types import Turn
from moot.formats.shared.ledger import BY_A_PERSON
from tests.running import an_app, answers_file, new_debate, run_to_rest

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


def statuses(ledger: Any) -> dict[str, str]:
    return {claim.id: claim.status for claim in ledger.claims}


def test_a_debate_with_a_ledger_replays_byte_for_byte(tmp_path: Path):
    async def main() -> None:
        async with an_app(tmp_path) as app:
            debate = await new_debate(app, answers_file(tmp_path, LISTED), turns=4, claims=True)
            done = await run_to_rest(app, debate)
            assert done.status == "completed", done.error
            assert done.turn_count == 22 + 4
            ledger = await documents.ledger(app, debate.id)
            assert ledger is not None
            # c2 does not count, because b has conceded c1 in the end; c3 does not, because b never said that
            assert statuses(ledger) == {"c1": "conceded", "c2": "standing", "c3": "standing", "c4": "standing"}
            assert [claim.quote_ok for claim in ledger.claims] == [None, True, False, None]
            assert done.outcome is not None
            assert [each["id"] for each in done.outcome.ledger["claims"]] == ["c1", "c2", "c3", "c4"]
            assert (await documents.prove(app, debate.id)).same
            assert (await documents.record(app, debate.id)).ledger == ledger

    asyncio.run(main())


def test_answers_that_are_no_list_of_claims_are_a_gap_after_three_tries(tmp_path: Path):
    async def main() -> None:
        async with an_app(tmp_path) as app:
            bad = {"*/claims-*/*": "The human ends the debate."}
            debate = await new_debate(app, answers_file(tmp_path, bad), turns=2, claims=True)
            done = await run_to_rest(app, debate)
            assert done.status == "completed"
            assert done.outcome is not None
            assert done.outcome.winner == "a"
            ledger = await documents.ledger(app, debate.id)
            assert ledger is not None
            assert ledger.claims == ()
            assert all("no valid answer in 3 tries" in each.gap for each in ledger.statements)
            assert (await documents.prove(app, debate.id)).same

    asyncio.run(main())


def test_the_budget_ends_the_ledger_before_it_ends_the_verdict(tmp_path: Path):
    async def main() -> None:
        async with an_app(tmp_path) as app:
            model = answers_file(tmp_path, LISTED)
            settings = {"max_total_output_tokens": 600, "judge_max_tokens": 60, "debater_max_tokens": 60}
            debate = await new_debate(app, model, "classic", max_rounds=50, claims=True, **settings)
            done = await run_to_rest(app, debate)
            assert done.status == "completed"
            assert done.outcome is not None
            assert (done.outcome.winner, done.outcome.ended_by) == ("a", "max_total_output_tokens")
            assert done.tokens_out <= 600
            assert (await documents.prove(app, debate.id)).same

    asyncio.run(main())


def test_a_debate_that_was_stopped_has_the_ledger_of_what_was_said(tmp_path: Path):
    async def main() -> None:
        async with an_app(tmp_path) as app:
            model = answers_file(tmp_path, LISTED, delay_ms=20)
            debate = await new_debate(app, model, turns=4, claims=True)
            assert (await documents.ledger(app, debate.id)) is not None
            await app.runtime.start(debate.id)
            turns: list[Turn] = []
            while not any(turn.key == "2/claims-speak/b" for turn in turns):
                turns = list(await app.runtime.store.turns(debate.id))
                await asyncio.sleep(0.005)
            await app.runtime.stop(debate.id)
            stopped = await app.runtime.wait(debate.id)
            assert stopped.status == "stopped"
            ledger = await documents.ledger(app, debate.id)
            assert ledger is not None
            assert list(statuses(ledger))[:2] == ["c1", "c2"]
            await app.runtime.resume(debate.id)
            done = await app.runtime.wait(debate.id)
            assert done.status == "completed"
            whole = await documents.ledger(app, debate.id)
            assert whole is not None
            assert whole.claims[1].text == ledger.claims[1].text
            assert (await documents.prove(app, debate.id)).same

    asyncio.run(main())


def test_a_debate_that_has_been_held_gets_a_ledger_in_a_branch(tmp_path: Path):
    async def main() -> None:
        async with an_app(tmp_path) as app:
            parent = await run_to_rest(app, await new_debate(app, answers_file(tmp_path, LISTED), turns=4))
            assert await documents.ledger(app, parent.id) is None
            branch = await creating.fork(app, parent.id, "4/deliberate/judge", {"claims": True})
            done = await run_to_rest(app, branch)
            assert done.status == "completed", done.error
            ledger = await documents.ledger(app, branch.id)
            assert ledger is not None
            assert list(statuses(ledger)) == ["c1", "c2", "c3", "c4"]
            said = {turn.key: turn.content for turn in await app.runtime.store.turns(parent.id)}
            again = {turn.key: turn.content for turn in await app.runtime.store.turns(branch.id)}
            assert {key: again[key] for key in said} == said
            assert (await documents.prove(app, branch.id)).same

    asyncio.run(main())


def test_guidance_reaches_the_speakers_and_not_the_lists_of_claims(tmp_path: Path):
    """Also when the list is open and not under way while the guidance comes."""

    async def main() -> None:
        async with an_app(tmp_path) as app:
            model = answers_file(
                tmp_path, {**LISTED, "1/claims-speak/a": [{"fail": "unavailable"}, LISTED["1/claims-speak/a"]]}
            )
            debate = await new_debate(app, model, turns=4, claims=True)
            failed = await run_to_rest(app, debate)
            assert failed.status == "failed"
            assert "1/claims-speak/a" in failed.cursor.open
            await app.runtime.guide(debate.id, WORDS, by="ann")
            await app.runtime.retry(debate.id)
            done = await app.runtime.wait(debate.id)
            assert done.status == "completed", done.error
            turns = (await documents.audit(app, debate.id))["turns"]
            hearing = {turn["seat"] for turn in turns if turn["messages"] and WORDS in turn["messages"][-1]["text"]}
            assert hearing == {"a", "b", "judge"}
            assert not [t for t in turns if t["phase"].startswith("claims-") and WORDS in t["messages"][-1]["text"]]
            assert (await documents.prove(app, debate.id)).same

    asyncio.run(main())


def test_a_person_at_the_table_is_asked_for_statements_only(tmp_path: Path):
    async def main() -> None:
        async with an_app(tmp_path) as app:
            seats = {"a": {"model": "human"}}
            model = answers_file(tmp_path, {"*/claims-*/b": {"claims": [item("No.", quote="I hold that it is fast")]}})
            debate = await new_debate(app, model, "classic", max_rounds=1, claims=True, seats=seats)
            waiting = await run_to_rest(app, debate)
            assert waiting.status == "waiting"
            await app.runtime.answer(debate.id, {"text": "I hold that it is fast."}, by="ann")
            await app.runtime.resume(debate.id)
            done = await app.runtime.wait(debate.id)
            assert done.status == "completed", done.error
            ledger = await documents.ledger(app, debate.id)
            assert ledger is not None
            assert [each.gap for each in ledger.statements] == [BY_A_PERSON, ""]
            assert ledger.claims[0].quote_of == "1/speak/a"

    asyncio.run(main())


@pytest.mark.parametrize("format", ["classic", "duel", "council", "panel", "crucible"])
def test_simulated_models_answer_in_shape_in_every_format(tmp_path: Path, format: str):
    async def main() -> None:
        async with an_app(tmp_path) as app:
            more = {"checkpoints": False} if format == "panel" else {}
            debate = await new_debate(app, "sim:", format, claims=True, **more)
            done = await run_to_rest(app, debate)
            assert done.status == "completed", done.error
            ledger = await documents.ledger(app, debate.id)
            assert ledger is not None
            assert ledger.claims
            listed = [turn for turn in await app.runtime.store.turns(debate.id) if turn.phase.startswith("claims-")]
            assert not [turn.failure for turn in listed if turn.failure]
            assert bool(listed) == (format != "crucible")
            assert (await documents.prove(app, debate.id)).same

    asyncio.run(main())
