"""Models that can't be had, in real debates: the others go on, a retry helps, and a kill in between changes nothing."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from moot.client import creating, documents
from moot.core.types import Debate
from tests.forking import start_moot
from tests.running import an_app, answers_file, new_debate, run_to_rest, until

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


def test_a_member_whose_model_is_gone_is_left_out_and_named(tmp_path: Path):
    async def main() -> None:
        async with an_app(tmp_path) as app:
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

    asyncio.run(main())


def test_when_everyone_is_gone_it_fails_and_a_retry_goes_on(tmp_path: Path):
    async def fails() -> str:
        async with an_app(tmp_path) as app:
            made = await new_debate(app, answers_file(tmp_path, without("0/answer*/*")), "council", **CHAIN)
            failed = await run_to_rest(app, made)
            assert failed.status == "failed"
            assert {key.split("/")[1] for key in failed.cursor.open} == {"answer-again"}
            return failed.id

    debate_id = asyncio.run(fails())
    answers_file(tmp_path, without())

    async def goes_on() -> None:
        async with an_app(tmp_path) as app:
            await app.runtime.retry(debate_id)
            done = await app.runtime.wait(debate_id)
            assert done.status == "completed", done.error
            assert await missed(app, done) == []
            assert done.outcome is not None
            assert "No valid answer" not in " ".join(done.outcome.notes)
            assert (await documents.prove(app, debate_id)).same

    asyncio.run(goes_on())


@pytest.mark.slow
def test_killed_after_someone_went_missing_it_goes_on_without_them(tmp_path: Path):
    log = tmp_path / "calls.log"
    model = answers_file(tmp_path, without("*/*/m2"), log=str(log), hold="held/{key}")
    keep = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    environ = {**keep, "MOOT_CONFIG": os.devnull, "MOOT_EMBEDDER": "none", "NO_COLOR": "1"}
    environ["MOOT_DATABASE_URL"] = str(tmp_path / "moot.db")
    environ["MOOT_BACKOFF_BASE_SECONDS"] = "0"
    settings = [f"--set={name}={value}" for name, value in CHAIN.items()]

    def release(*keys: str) -> None:
        for key in keys:
            (tmp_path / "held" / key).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "held" / key).touch()

    release(*(f"0/answer/m{n}" for n in (1, 2, 3)), *(f"0/rank/m{n}" for n in (1, 2, 3)))
    process = start_moot(
        ["debate", "Is it so?", "--format", "council", "--model", model, "--plain", *settings], environ
    )
    asyncio.run(until(lambda: log.exists() and "1/object/m1" in log.read_text(), seconds=120))
    process.send_signal(signal.SIGKILL)
    process.wait()
    answers_file(tmp_path, without("*/*/m2"))

    async def goes_on() -> None:
        async with an_app(tmp_path) as app:
            (debate,) = (await app.runtime.store.page()).debates
            await app.runtime.resume(debate.id)
            done = await app.runtime.wait(debate.id)
            assert done.status == "completed", done.error
            assert await missed(app, done) == [("MISSING", "m2", 0), ("LEFT", "m2", 1)]
            assert (await documents.prove(app, debate.id)).same

    asyncio.run(goes_on())
