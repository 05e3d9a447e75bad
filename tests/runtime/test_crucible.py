"""Crucibles on a real database and over the wire: run, replayed, streamed, failed, retried."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from moot.app import App
from moot.cli.blocks import RenderContext, block_of
from moot.client import creating, documents
from moot.core.settings import Settings
from moot.core.types import Debate, Event
from moot.formats.crucible.dialect import CrucibleDialect
from moot.request import Request as Wanted
from tests.models.wire import Request, Say, Wire
from tests.running import an_app, answers_file, new_debate, run_to_rest

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


def go(coro):
    return asyncio.run(coro)


def model(folder: Path, answers: dict[str, Any] | None = None, **options: Any) -> str:
    own = answers or {}
    return answers_file(folder, {**own, **{key: each for key, each in CRITIQUES.items() if key not in own}}, **options)


async def a_crucible(app: App, spec: str, **settings: Any) -> Debate:
    return await new_debate(app, spec, "crucible", **settings)


async def events_of(app: App, debate: Debate) -> list[Event]:
    return list(await app.runtime.store.events(debate.id))


def test_it_runs_to_its_answer_replays_and_leaves_a_trace(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            done = await run_to_rest(app, await a_crucible(app, model(tmp_path)))
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

    go(main())


def test_formats_without_an_account_of_their_own_have_no_trace(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            done = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), "classic", max_rounds=1))
            assert await documents.trace(app, done.id) is None

    go(main())


def test_a_critique_that_never_fits_is_shown_and_counts_for_nothing(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            spec = model(
                tmp_path, {"*/critique/*": "Ready for Synthesis ✅", "1/critique/*": "🔴", "2/critique/*": "no"}
            )
            done = await run_to_rest(app, await a_crucible(app, spec))
            assert (done.status, done.total_rounds) == ("completed", 5)
            assert (done.outcome.winner, done.outcome.verdict_source) == ("undecided", "fallback")
            assert done.outcome.details["auto_score"] is None
            trace = await documents.trace(app, done.id)
            assert trace["rounds"][4]["skeptic_response"] == "Ready for Synthesis ✅"
            assert trace["early_stopped"] is False
            assert (await documents.prove(app, done.id)).same

    go(main())


def test_a_fork_asks_one_critique_anew(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            parent = await run_to_rest(app, await a_crucible(app, model(tmp_path)))
            other = tmp_path / "other"
            other.mkdir()
            never = model(other, {"*/critique/*": {**CONTENT, "ready": False}, "2/critique/*": {**STUCK, "issues": []}})
            fork = await run_to_rest(
                app, await creating.fork(app, parent.id, "2/critique/skeptic", {"model_skeptic": never})
            )
            assert (fork.outcome.ended_by, fork.total_rounds) == ("max_rounds", 5)
            assert [seat.model == never for seat in fork.cast] == [False, True, False]
            assert (await documents.prove(app, fork.id)).same
            assert (await app.runtime.store.get(parent.id)).outcome == parent.outcome

    go(main())


@pytest.mark.parametrize("budget", [50, 250, 400, 900, 5000])
def test_any_budget_ends_with_an_outcome_within_it(tmp_path, budget):
    async def main():
        async with an_app(tmp_path) as app:
            small = {"max_total_output_tokens": budget, "debater_max_tokens": 100, "judge_max_tokens": 100}
            done = await run_to_rest(app, await a_crucible(app, model(tmp_path), **small))
            assert done.status == "completed"
            assert done.tokens_out <= budget
            assert done.outcome.headline
            assert (await documents.prove(app, done.id)).same
            if budget == 50:
                assert (done.outcome.winner, done.outcome.verdict_source) == ("undecided", "fallback")
            if budget == 5000:
                assert done.outcome.winner == "consensus"

    go(main())


def test_text_is_streamed_as_it_is_written_in_the_order_of_the_document(tmp_path):
    """What a client of the dialect reads, live: chunks, then what they came to."""

    async def main():
        async with an_app(tmp_path) as app:
            debate = await a_crucible(app, "sim:?seed=4&tps=800&tokens=60", max_rounds=1)
            await app.runtime.start(debate.id)
            dialect = CrucibleDialect()
            said: list[Any] = []
            heard: dict[str, int] = {}
            async for update in app.runtime.watch(debate.id):
                trace = await documents.trace(app, debate.id) or {}
                said += [dialect.event(event, debate, trace) for event in update.events]
                for key, flight in update.flights.items():
                    new = flight.text[heard.get(key, 0) :]
                    heard[key] = len(flight.text)
                    said.append(dialect.chunk(flight.phase, flight.round, new) if new else None)
            return [each for each in said if each is not None]

    said = go(main())
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


def test_what_a_reader_sees(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            spec = model(tmp_path, {"3/critique/*": "not a critique", "4/critique/*": CONTENT})
            done = await run_to_rest(app, await a_crucible(app, spec, rag_top_k=0))
            return done, await events_of(app, done)

    done, events = go(main())
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


def over(wire: Wire, folder: Path, environ: dict[str, str] | None = None, **settings: Any) -> tuple[App, Wanted]:
    values = {"database_url": str(folder / "moot.db"), "pulse_seconds": 0.02, "backoff_base_seconds": 0, **settings}
    models = {f"model_{role}": f"openai:{role}@{wire.openai}" for role in ("proposer", "skeptic", "synthesizer")}
    wanted = Wanted(
        topic="Redis or PostgreSQL?", format="crucible", settings={"max_rounds": 1, "rag_top_k": 0, **models}
    )
    return App(Settings(**values), environ={"MOOT_API_KEY": "sk-none", **(environ or {})}), wanted


async def left_by(app: App, wanted: Wanted) -> tuple[Debate, list[Event]]:
    try:
        rested = await run_to_rest(app, await creating.create(app, app.plan(wanted)))
        return rested, await events_of(app, rested)
    finally:
        await app.close()


def notices(events: list[Event]) -> list[str]:
    return [event.data["text"] for event in events if event.type == "notice"]


def test_each_role_has_its_model_and_temperature(tmp_path):
    with Debating() as wire:
        done, _ = go(left_by(*over(wire, tmp_path)))
    assert done.outcome.statement == "Words of synthesizer."
    sent = [(request.body["model"], request.body["temperature"]) for request in wire.requests]
    assert sent == [("proposer", 0.7), ("skeptic", 0.8), ("synthesizer", 0.5)]


def test_a_time_out_is_tried_again_once_then_reported(tmp_path):
    import pydantic_ai.models.openai  # noqa: F401  the time for a call is not for loading its library

    held = Say("Too late.", hold=threading.Event())
    with Wire(held) as wire:
        failed, events = go(left_by(*over(wire, tmp_path, call_timeout_seconds=2.5)))
        asked = len(wire.requests)
    assert (failed.status, failed.error.kind, asked) == ("failed", "timeout", 2)
    assert "MOOT_CALL_TIMEOUT_SECONDS" in failed.error.message
    told = CrucibleDialect().event(events[-1], failed, None)
    assert told == {"type": "error", "error": failed.error.message}


@pytest.mark.parametrize(("times", "status", "asked"), [(1, "completed", 4), (2, "failed", 2)])
def test_a_server_that_gives_up_counts_as_a_time_out_too(tmp_path, times, status, asked):
    with Debating(*[Say(status=408)] * times) as wire:
        rested, events = go(left_by(*over(wire, tmp_path)))
    assert (rested.status, len(wire.requests)) == (status, asked)
    if times == 1:
        assert any("did not answer in time" in text for text in notices(events))
    else:
        assert rested.error.kind == "timeout"


@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        (Say(status=404, error={"error": {"message": "no such model"}}), "Check the name 'proposer'"),
        (Say(status=401, error={"error": {"message": "bad key"}}), "Check MOOT_API_KEY"),
    ],
)
def test_an_unavailable_model_is_not_tried_again_and_says_what_to_do(tmp_path, answer, advice):
    with Wire(answer) as wire:
        failed, events = go(left_by(*over(wire, tmp_path)))
        asked = len(wire.requests)
    assert (failed.status, failed.error.kind, asked) == ("failed", "unavailable", 1)
    assert advice in failed.error.message
    assert "partial" not in events[-1].data


def test_a_missing_ollama_model_names_the_command(tmp_path):
    with Wire(Say(status=404, error={"error": {"message": "model not found"}})) as wire:
        app, wanted = over(wire, tmp_path, {"OLLAMA_HOST": wire.anthropic})
        wanted.settings["model_proposer"] = "ollama:qwen3:32b"
        failed, _ = go(left_by(app, wanted))
    assert "Run `ollama pull qwen3:32b`" in failed.error.message


def test_a_network_error_backs_off_and_is_mended(tmp_path):
    with Debating(Say(status=503), Say(status=429), Say("One two three four.", cut=2)) as wire:
        done, events = go(left_by(*over(wire, tmp_path)))
    assert (done.status, len(wire.requests)) == ("completed", 6)
    assert len(notices(events)) == 3


def test_what_was_written_before_a_failure_is_kept_and_shown(tmp_path):
    """A model that breaks off in the middle, each time, and in the end does not even begin."""
    with Wire(Say("One two three four five.", cut=4), Say("One two.", cut=1), Say(status=503)) as wire:
        app, wanted = over(wire, tmp_path, backoff_tries=2)
        failed, events = go(left_by(app, wanted))
        asked = len(wire.requests)
    assert (failed.status, failed.error.kind, asked) == ("failed", "overloaded", 3)
    assert events[-1].data["partial"] == {"1/propose/proposer": "One two three four"}
    block = block_of(events[-1], RenderContext.of(failed, demonstration=False))
    assert "One two three four" in block.body
    assert "1/propose/proposer" in block.body
    assert block.alarm


def test_after_a_failure_only_what_is_open_is_asked_again(tmp_path):
    async def main():
        with Debating(Say("Words of proposer."), *[Say("{", cut=1)] * 2) as wire:
            app, wanted = over(wire, tmp_path, backoff_tries=1)
            failed = await run_to_rest(app, await creating.create(app, app.plan(wanted)))
            assert (failed.status, failed.cursor.open) == ("failed", ("1/critique/skeptic",))
            await app.runtime.retry(failed.id)
            done = await app.runtime.wait(failed.id)
            assert (await documents.prove(app, done.id)).same
            partial = [event.data["partial"] for event in await events_of(app, done) if "partial" in event.data]
            await app.close()
            return done, partial, [request.body["model"] for request in wire.requests]

    done, partial, asked = go(main())
    assert done.status == "completed"
    assert partial == [{"1/critique/skeptic": "{"}]
    assert asked == ["proposer", "skeptic", "skeptic", "skeptic", "synthesizer"]
