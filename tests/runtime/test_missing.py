"""Models that can't be had, in real debates: the others go on, a retry helps, and a kill in between changes nothing."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from moot.client import creating, documents
from moot.core.types import Debate
from tests.forking import constants, start_moot
from tests.running import Held, an_app, answers_file, new_debate, run_to_rest, until
from tests.runtime.calls import environ

FAIL = {"fail": "unavailable", "message": "No model is left."}
CHAIN = {"members": 3, "depth": "debate", "max_rounds": 2, "topology": "chain"}
REBUTTAL = {"rebuttal": "It holds.", "revised": None}
ANSWERS: dict[str, Any] = {
    "*/answer*/*": {"position": "Start small.", "answer": "Start.", "reasons": ["Cheap."], "confidence": 60},
    "*/object*/*": {"against": "A", "objection": "It may not last."},
    "*/rebut*/*": REBUTTAL,
    "*/synthesize/*": {"answer": "Start small.", "departs": False},
}


def ranking(*labels: str) -> dict[str, Any]:
    return {"reasoning": "So.", "ranking": list(labels), "stands_behind": []}


def without(*failing: str) -> dict[str, Any]:
    """Answers, but for the steps that match one of the patterns."""
    return {**dict.fromkeys(failing, FAIL), "*/rank/*": ranking("A"), **ANSWERS}


async def missed(app: Any, debate: Debate) -> list[tuple[str, str, int]]:
    events = await documents.events(app, debate.id)
    return [(each.type, each.data["seat"], each.data["round"]) for each in events if each.type in ("MISSING", "LEFT")]


async def test_a_member_whose_model_is_gone_is_left_out_and_named(app, tmp_path: Path):
    made = await new_debate(app, answers_file(tmp_path, without("*/*/m2")), "council", **CHAIN)
    done = await run_to_rest(app, made)
    assert done.status == "completed", done.error
    assert await missed(app, done) == [("MISSING", "m2", 0), ("LEFT", "m2", 1)]
    assert done.outcome is not None
    assert any(note.startswith("Member 2 has left for good") for note in done.outcome.notes)
    assert (await documents.prove(app, done.id)).same
    fork = await run_to_rest(app, await creating.fork(app, done.id, "1/rebut/m3", {}))
    assert fork.status == "completed"
    assert await missed(app, fork) == await missed(app, done)


async def test_when_everyone_is_gone_it_fails_and_a_retry_goes_on(tmp_path: Path):
    async with an_app(tmp_path) as app:
        made = await new_debate(app, answers_file(tmp_path, without("0/answer*/*")), "council", **CHAIN)
        failed = await run_to_rest(app, made)
        assert failed.status == "failed"
        assert {key.split("/")[1] for key in failed.cursor.open} == {"answer-again"}
    answers_file(tmp_path, without())
    async with an_app(tmp_path) as app:
        await app.runtime.retry(failed.id)
        done = await app.runtime.wait(failed.id)
        assert done.status == "completed", done.error
        assert await missed(app, done) == []
        assert done.outcome is not None
        assert "No valid answer" not in " ".join(done.outcome.notes)
        assert (await documents.prove(app, done.id)).same


@pytest.mark.slow
async def test_killed_after_someone_went_missing_it_goes_on_without_them(tmp_path: Path):
    held = Held(tmp_path, without("*/*/m2"), each=True)
    settings = [f"--set={name}={value}" for name, value in CHAIN.items()]
    held.release(*(f"0/{phase}/m{n}" for phase in ("answer", "rank") for n in (1, 2, 3)))
    process = start_moot(
        ["debate", "Is it so?", "--format", "council", "--model", held.model, "--plain", *settings],
        environ(tmp_path / "moot.db", **constants({"moot.models.registry.FIRST_WAIT": 0})),
    )
    await until(lambda: "1/object/m1" in held.calls, seconds=120)
    process.send_signal(signal.SIGKILL)
    process.wait()
    answers_file(tmp_path / "held", without("*/*/m2"))
    async with an_app(tmp_path) as app:
        (debate,) = (await app.runtime.store.page()).debates
        await app.runtime.resume(debate.id)
        done = await app.runtime.wait(debate.id)
        assert done.status == "completed", done.error
        assert await missed(app, done) == [("MISSING", "m2", 0), ("LEFT", "m2", 1)]
        assert (await documents.prove(app, debate.id)).same
