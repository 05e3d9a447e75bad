"""Panels on a real database, up to the written record: every ending, and what can go wrong."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from moot.app import App
from moot.client import documents
from moot.core.types import Debate
from moot.records.markdown import render
from tests.formats.examples import PANEL, fitting
from tests.running import answers_file, new_debate, run_to_end, run_to_rest
from tests.runtime.calls import change

GO_ON = {"*/clarify/*": {"text": ""}, "*/checkpoint/*": {"choice": "continue", "text": ""}}


def answers(**by_phase: Any) -> dict[str, Any]:
    """Of the example: three perspectives that hold on. What is given for a phase is laid over it."""
    given = {f"*/{phase}/*": _over(f"1/{phase}/x", more) for phase, more in by_phase.items()}
    return {**given, **{key: answer for key, answer in PANEL.answers.items() if key not in given}}


def _over(key: str, more: Any) -> Any:
    return {**fitting(PANEL.answers, key), **more} if isinstance(more, dict) else more


CLEAR = answers(analyze={"clarifying_question": ""})


async def a_panel(app: App, folder: Path, said: Mapping[str, Any] = CLEAR, **settings: Any) -> Debate:
    return await new_debate(
        app, answers_file(folder, said), "panel", **{"max_rounds": 3, "perspectives": 3, **settings}
    )


async def decided(app: App, debate: Debate) -> tuple[str, str, str]:
    """How it ended, with what confidence, and the document."""
    record = await documents.record(app, debate.id)
    assert (await documents.prove(app, debate.id)).same
    return record.decided.ended_by, record.confidence, render(record)


async def keys(app: App, debate: Debate) -> list[str]:
    return [turn.key for turn in await app.runtime.store.turns(debate.id)]


@pytest.mark.parametrize(
    ("ending", "said", "confidence"),
    [
        ("agreement", {"rebut": {"position": "agree"}}, "High"),
        ("clear_winner", {}, "High"),
        ("stagnation", {"evaluate": {"state": "stagnating"}}, "Low"),
        ("max_rounds", {}, "Low"),
    ],
)
async def test_each_ending_leaves_a_document(app, tmp_path, ending, said, confidence):
    given = answers(analyze={"clarifying_question": ""}, **said)
    if ending == "clear_winner":
        yields = _over("1/rebut/p2", {"position": "concede", "concedes_to": "Performance Advocate"})
        given = {"*/rebut/p2": yields, "*/rebut/p3": yields, **given}
    done = await run_to_end(app, await a_panel(app, tmp_path, given), GO_ON)
    *found, document = await decided(app, done)
    assert found == [ending, confidence]
    assert "Start with PostgreSQL." in document
    for name in ("Performance Advocate", "Operational Simplicity", "Cost Steward"):
        assert f"### {name}" in document
    winner = {"agreement": "consensus", "clear_winner": "p1"}.get(ending, "undecided")
    assert done.outcome.winner == winner


async def test_debaters_agree_immediately(app, tmp_path):
    given = answers(analyze={"clarifying_question": ""}, rebut={"position": "agree"})
    done = await run_to_end(app, await a_panel(app, tmp_path, given), GO_ON)
    assert done.total_rounds == 1
    assert not any("checkpoint" in key for key in await keys(app, done))
    ended_by, confidence, document = await decided(app, done)
    assert (ended_by, confidence) == ("agreement", "High")
    for section in ("Question", "Perspectives Considered", "Points of Agreement", "Key Tensions", "Recommendation"):
        assert f"\n## {section}\n" in document


async def test_max_rounds_with_no_convergence(app, tmp_path):
    done = await run_to_end(app, await a_panel(app, tmp_path, max_rounds=2), GO_ON)
    assert done.total_rounds == 2
    ended_by, confidence, document = await decided(app, done)
    assert (ended_by, confidence) == ("max_rounds", "Low")
    tensions = document.partition("\n## Key Tensions\n")[2].partition("\n## ")[0]
    assert "The rounds were used up before the positions agreed." in tensions
    assert "Latency." in tensions


async def test_debater_produces_off_topic_argument(app, tmp_path):
    left = {"off_topic": ["Cost Steward"], "redirect": "Back to caching, please.", "mute": []}
    again = {**left, "mute": ["Cost Steward"]}
    given = answers(analyze={"clarifying_question": ""})
    given = {"1/evaluate/*": _over("1/evaluate/x", left), "2/evaluate/*": _over("1/evaluate/x", again), **given}
    done = await run_to_end(app, await a_panel(app, tmp_path, given), GO_ON)
    audit = await documents.audit(app, done.id)
    read = {turn["key"]: turn["messages"][-1]["text"] for turn in audit["turns"] if turn["kind"] == "ask"}
    assert all("Back to caching, please." in read[f"2/argue/p{n}"] for n in (1, 2, 3))
    assert "you left the question" in read["2/argue/p3"]
    assert "you left the question" not in read["2/argue/p1"]
    assert "3/argue/p1" in read
    assert "3/argue/p3" not in read  # muted
    assert "MUTED" in [event.type for event in await app.runtime.store.events(done.id)]
    _, _, document = await decided(app, done)
    assert "### Cost Steward" in document  # what it had said is kept


async def test_human_abandons_at_checkpoint(app, tmp_path):
    debate = await a_panel(app, tmp_path)
    waiting = await run_to_rest(app, debate)
    assert (waiting.status, waiting.owner) == ("waiting", None)
    gate = await app.runtime.gates.open(debate.id)
    assert round(gate.expires_at - gate.requested_at) == 1800
    change(app, "update debate_gates set expires_at = ?", time.time() - 1)
    assert await app.runtime.gates.expire() == []
    before = await app.runtime.store.turns(debate.id)
    assert (await app.runtime.store.get(debate.id)).status == "stopped"
    await app.runtime.resume(debate.id)
    assert (await app.runtime.wait(debate.id)).status == "waiting"
    assert await app.runtime.store.turns(debate.id) == before  # nothing is asked of a model again
    assert (await app.runtime.gates.open(debate.id)).expires_at >= gate.expires_at  # its time starts again
    await app.runtime.gates.answer(debate.id, {"choice": "end", "text": ""}, by="ann")
    await app.runtime.resume(debate.id)
    done = await app.runtime.wait(debate.id)
    assert (await decided(app, done))[:2] == ("person", "Low")


async def test_llm_rate_limit_during_debate(app, tmp_path):
    limited = {"fail": "overloaded", "message": "429, too many requests"}
    given = {**CLEAR, "2/argue/p2": [limited, limited, PANEL.answers["2/argue/p2"]]}
    done = await run_to_end(app, await a_panel(app, tmp_path, given, max_rounds=2), GO_ON)
    assert done.outcome.ended_by == "max_rounds"
    (turn,) = [turn for turn in await app.runtime.store.turns(done.id) if turn.key == "2/argue/p2"]
    assert len([why for why in turn.metadata["attempts"] if "429" in why]) == 2
    assert (await documents.prove(app, done.id)).same


async def test_prompt_too_vague(app, tmp_path):
    debate = await a_panel(app, tmp_path, answers())
    waiting = await run_to_rest(app, debate)
    assert waiting.cursor.open == ("0/clarify/you",)
    assert await keys(app, debate) == ["0/analyze/moderator"]  # no perspective is chosen yet
    gate = await app.runtime.gates.open(debate.id)
    assert (gate.kind, "Which data?" in gate.question) == ("clarification", True)
    await app.runtime.gates.answer(debate.id, {"text": "Login sessions; security matters."}, by="ann")
    await app.runtime.resume(debate.id)
    left = await app.runtime.wait(debate.id)
    assert left.cursor.open == ("1/checkpoint/you",)
    audit = await documents.audit(app, debate.id)
    briefs = {turn["seat"]: turn["messages"][0]["text"] for turn in audit["turns"] if turn["phase"] == "argue"}
    assert len(briefs) == 3
    assert all("Login sessions; security matters." in brief for brief in briefs.values())


@pytest.mark.parametrize("tokens", [150, 1500, 4000])
async def test_any_budget_ends_with_an_outcome_within_it(app, tmp_path, tokens):
    small = {"max_total_output_tokens": tokens, "debater_max_tokens": 150, "judge_max_tokens": 150}
    done = await run_to_end(app, await a_panel(app, tmp_path, **small), GO_ON)
    assert done.tokens_out <= tokens
    assert done.outcome.headline
    assert (await documents.prove(app, done.id)).same
