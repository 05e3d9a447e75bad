"""Crucibles on a real database and over the wire: run, replayed, streamed, failed, retried."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from moot.app import App
from moot.cli.blocks import RenderContext, block_of
from moot.client import documents
from moot.core.settings import Settings
from moot.core.types import Debate, Event
from moot.formats.crucible.dialect import CrucibleDialect
from tests.models.wire import Request, Say, Wire
from tests.running import Held, an_app, answers_file, new_debate, run_to_rest

STUCK = {
    "assessment": "It is not there yet.",
    "issues": [{"about": "it is even", "problem": "Why?", "fix": "Show it.", "severity": "critical"}],
    "score": 4,
    "ready": False,
}
SETTLED = {
    "assessment": "It holds now.",
    "earlier": [{"id": "i1", "why": "It is shown.", "status": "resolved"}],
    "issues": [],
    "score": 9,
    "ready": True,
}
CONTENT = {"assessment": "It holds.", "issues": [], "score": 9, "ready": True}
CRITIQUES: dict[str, Any] = {
    "1/critique/*": STUCK,
    "2/critique/*": SETTLED,
    "*/critique/*": CONTENT,
    "*/synthesize/*": "The final answer.",
}


async def a_crucible(app: App, folder: Path, answers: dict[str, Any] | None = None, **settings: Any) -> Debate:
    own = answers or {}
    all_answers = {**own, **{key: each for key, each in CRITIQUES.items() if key not in own}}
    return await run_to_rest(app, await new_debate(app, answers_file(folder, all_answers), "crucible", **settings))


async def events_of(app: App, debate: Debate) -> list[Event]:
    return list(await app.runtime.store.events(debate.id))


async def test_it_runs_to_its_answer_replays_and_leaves_a_trace(app, tmp_path):
    done = await a_crucible(app, tmp_path)
    assert (done.status, done.turn_count, done.total_rounds) == ("completed", 8, 3)
    assert (done.outcome.winner, done.outcome.ended_by) == ("consensus", "satisfied")
    assert done.outcome.statement == "The final answer."
    proof = await documents.prove(app, done.id)
    assert proof.same, proof.first_difference
    turns = {turn.key: turn for turn in await app.runtime.store.turns(done.id)}
    assert turns["1/critique/skeptic"].metadata == {
        "score": 4, "ready": False, "open": {"i1": "critical"}, "still_open": "1 critical"
    }  # fmt: skip
    assert turns["2/critique/skeptic"].content == "It holds now.\n\n- i1 is resolved. It is shown."
    trace = await documents.trace(app, done.id)
    assert trace == (await documents.audit(app, done.id))["trace"]
    assert [each["round"] for each in trace["rounds"]] == [1, 2, 3]
    assert trace["rounds"][0]["skeptic_response"] == turns["1/critique/skeptic"].content
    assert len(trace["timing"]["rounds_ms"]) == 3
    assert trace["timing"]["total_ms"] >= 0
    assert trace["models"]["embedding"]
    record = await documents.record(app, done.id)
    assert record.recommendation == "The final answer."
    assert record.decided.by == "the skeptic's critiques, counted by code"
    settled = {section.title: section.items for section in record.sections}
    assert settled == {"Issues Settled": ("In round 2: i1, critical: Why?",)}
    assert [len(each.steps) for each in record.perspectives] == [3, 3]


async def test_a_critique_that_never_fits_is_shown_and_counts_for_nothing(app, tmp_path):
    bad = {"*/critique/*": "Ready for Synthesis ✅", "1/critique/*": "🔴", "2/critique/*": "no"}
    done = await a_crucible(app, tmp_path, bad)
    assert (done.status, done.total_rounds) == ("completed", 5)
    assert (done.outcome.winner, done.outcome.verdict_source) == ("undecided", "fallback")
    assert done.outcome.details["auto_score"] is None
    trace = await documents.trace(app, done.id)
    assert trace["rounds"][4]["skeptic_response"] == "Ready for Synthesis ✅"
    assert trace["early_stopped"] is False
    assert (await documents.prove(app, done.id)).same


@pytest.mark.parametrize("budget", [50, 400, 5000])
async def test_any_budget_ends_with_an_outcome_within_it(app, tmp_path, budget):
    small = {"max_total_output_tokens": budget, "debater_max_tokens": 100, "judge_max_tokens": 100}
    done = await a_crucible(app, tmp_path, **small)
    assert done.status == "completed"
    assert done.tokens_out <= budget
    assert done.outcome.headline
    assert (await documents.prove(app, done.id)).same
    if budget == 50:
        assert (done.outcome.winner, done.outcome.verdict_source) == ("undecided", "fallback")
    if budget == 5000:
        assert done.outcome.winner == "consensus"


async def test_text_is_streamed_as_it_is_written_in_the_order_of_the_document(app):
    """What a client of the dialect reads, live: chunks, then what they came to."""
    debate = await new_debate(app, "sim:?seed=4&tps=800&tokens=60", "crucible", max_rounds=1)
    await app.runtime.start(debate.id)
    dialect = CrucibleDialect()
    told: list[Any] = []
    heard: dict[str, int] = {}
    async for update in app.runtime.watch(debate.id):
        trace = await documents.trace(app, debate.id) or {}
        told += [dialect.event(event, debate, trace) for event in update.events]
        for key, flight in update.flights.items():
            new = flight.text[heard.get(key, 0) :]
            heard[key] = len(flight.text)
            told.append(dialect.chunk(flight.phase, flight.round, new) if new else None)
    said = [each for each in told if each is not None]
    kinds = [each["type"] for each in said]
    assert list(dict.fromkeys(kinds)) == [
        "rag_complete",
        "round_start",
        "proposer_chunk",
        "proposer_complete",
        "skeptic_chunk",
        "skeptic_complete",
        "synthesis_start",
        "synthesis_chunk",
        "synthesis_complete",
        "complete",
    ]
    assert kinds.count("proposer_chunk") > 1
    for who in ("proposer", "synthesis"):
        chunks = "".join(each["content"] for each in said if each["type"] == f"{who}_chunk")
        whole = next(each for each in said if each["type"] == f"{who}_complete")
        assert chunks
        assert whole["content"].startswith(chunks)
        assert whole["durationMs"] > 0
    assert said[-1]["trace"]["totalRounds"] == 1
    assert said[-1]["trace"]["timing"]["totalMs"] > 0


async def test_what_a_reader_sees(app, tmp_path):
    given = {"3/critique/*": "not a critique", "4/critique/*": CONTENT}
    done = await a_crucible(app, tmp_path, given, rag_top_k=0)
    events = await events_of(app, done)
    context = RenderContext.of(done, demonstration=False)
    blocks = {(e.type, e.key): block for e in events if (block := block_of(e, context))}
    assert blocks["CRITIQUE", "1/critique/skeptic"].heading == (
        "Skeptic examines the answer, round 1: 4 of 10, not ready, open: 1 critical"
    )
    assert blocks["CRITIQUE", "2/critique/skeptic"].heading == (
        "Skeptic examines the answer, round 2: 9 of 10, ready, open: nothing"
    )
    assert blocks["CRITIQUE", "3/critique/skeptic"].heading == "Skeptic gave no valid critique, round 3"
    assert blocks["CRITIQUE", "3/critique/skeptic"].alarm
    assert blocks["ENDING", ""].heading == "After 4 rounds: the skeptic is satisfied."
    assert blocks["SYNTHESIS", "4/synthesize/synthesizer"].heading == ("Synthesizer writes the final answer, round 4")
    verdict = blocks["VERDICT", ""]
    assert verdict.lead == "The final answer."
    assert verdict.body.startswith("The skeptic is satisfied: 9 of 10.\n")
    late = RenderContext.of(done, demonstration=False)
    assert "The final answer." not in block_of(events[-2], late).body  # one sentence is not said twice
    assert blocks["RAG", ""].heading == "No reasoning template is used."


# over the wire


class Debating(Wire):
    """Answers as each seat should; what is in `first` comes before."""

    def __init__(self, *first: Say) -> None:
        super().__init__()
        self.first = list(first)

    def take(self, request: Request) -> Say:
        super().take(request)
        with self._lock:
            if self.first:
                return self.first.pop(0)
        if "response_format" in request.body:
            return Say(json.dumps(CONTENT))
        return Say(f"Words of {request.body['model']}.")


async def over(wire: Wire, folder: Path, **settings: Any) -> tuple[Debate, list[Event]]:
    """A debate of models behind this wire, at rest, with its events."""
    values = {"database_url": str(folder / "moot.db"), "embedder": "none", **settings}
    app = App(Settings(**values), environ={"MOOT_API_KEY": "sk-none"})
    models = {f"model_{role}": f"openai:{role}@{wire.openai}" for role in ("proposer", "skeptic", "synthesizer")}
    rested = await run_to_rest(app, await new_debate(app, "sim:", "crucible", max_rounds=1, rag_top_k=0, **models))
    events = await events_of(app, rested)
    await app.close()
    return rested, events


async def test_each_role_has_its_model_and_temperature(tmp_path):
    with Debating() as wire:
        done, _ = await over(wire, tmp_path)
    assert done.outcome.statement == "Words of synthesizer."
    sent = [(request.body["model"], request.body["temperature"]) for request in wire.requests]
    assert sent == [("proposer", 0.7), ("skeptic", 0.8), ("synthesizer", 0.5)]


async def test_a_time_out_is_tried_again_once_then_reported(tmp_path):
    held = Held(tmp_path)
    async with an_app(tmp_path, call_timeout_seconds=0.1) as app:
        failed = await run_to_rest(app, await new_debate(app, held.model, "crucible", rag_top_k=0))
        events = await events_of(app, failed)
    assert (failed.status, failed.error.kind, len(held.calls)) == ("failed", "timeout", 2)
    assert "MOOT_CALL_TIMEOUT_SECONDS" in failed.error.message
    told = CrucibleDialect().event(events[-1], failed, None)
    assert told == {"type": "error", "error": failed.error.message}


@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        (Say(status=404, error={"error": {"message": "no such model"}}), "Check the name 'proposer'"),
        (Say(status=401, error={"error": {"message": "bad key"}}), "Check MOOT_API_KEY"),
    ],
)
async def test_an_unavailable_model_is_not_tried_again_and_says_what_to_do(tmp_path, answer, advice):
    with Wire(answer) as wire:
        failed, events = await over(wire, tmp_path)
    assert (failed.status, failed.error.kind, len(wire.requests)) == ("failed", "unavailable", 1)
    assert advice in failed.error.message
    assert "partial" not in events[-1].data


async def test_a_network_error_backs_off_and_is_mended(tmp_path):
    with Debating(Say(status=503), Say(status=429), Say("One two three four.", cut=2)) as wire:
        done, events = await over(wire, tmp_path)
    assert (done.status, len(wire.requests)) == ("completed", 6)
    assert [event.type for event in events].count("notice") == 3


async def test_what_was_written_before_a_failure_is_kept_and_shown(tmp_path):
    """A model that breaks off in the middle, each time, and in the end does not even begin."""
    with Wire(Say("One two three four five.", cut=4), Say("One two.", cut=1), Say(status=503)) as wire:
        failed, events = await over(wire, tmp_path, backoff_tries=2)
    assert (failed.status, failed.error.kind, len(wire.requests)) == ("failed", "overloaded", 3)
    assert events[-1].data["partial"] == {"1/propose/proposer": "One two three four"}
    block = block_of(events[-1], RenderContext.of(failed, demonstration=False))
    assert "One two three four" in block.body
    assert "1/propose/proposer" in block.body
    assert block.alarm
