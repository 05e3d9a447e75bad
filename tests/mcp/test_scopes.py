"""What a client of `moot mcp` may do: no more than the command line says, however it words its calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.mcp.test_mcp import QUESTION, called, inside, over_http, over_stdio, refused
from tests.running import answers_file
from tests.server.serving import served
from tests.server.test_serve import run

pytestmark = pytest.mark.slow

PANEL = {"question": QUESTION, "format": "panel", "settings": {"checkpoints": True}}


async def waiting(client: Any) -> str:
    """A debate that asks a person something."""
    made = await called(client, "start_debate", **PANEL)
    state = await called(client, "wait_for_debate", debate_id=made["id"], seconds=60)
    assert state["status"] == "waiting", state
    return made["id"]


async def test_by_default_a_client_over_stdio_runs_debates_and_decides_nothing(tmp_path: Path):
    scripted = answers_file(tmp_path)
    reaching = (
        {"model_judge": "openai:x@http://127.0.0.1:1/v1"},
        {"model_debater": scripted},
        {"model_debater": "local:/etc/passwd.gguf"},
        {"model_judge": "replay:0000"},
        {"seats": {"a": {"model": "sim:|replay:0000"}}},
    )
    async with over_stdio(tmp_path, flags=()) as client:
        debate_id = await waiting(client)
        state = await called(client, "debate_status", debate_id=debate_id)
        assert state["next"].startswith("It waits for a person's answer, which this connection may not give.")
        for tool, more in (("answer_gate", {"choice": "continue"}), ("guide_debate", {"text": "Look there."})):
            said = await refused(client, tool, debate_id=debate_id, **more)
            assert said.startswith("This connection lacks the scope 'decide'")
            assert "moot token" not in said
            assert "--scope" not in said
        for settings in reaching:
            said = await refused(client, "start_debate", question="x?", format="duel", settings=settings)
            assert "takes the scope 'admin'" in said, (settings, said)
        said = await refused(client, "start_debate", question="x?", format="duel", settings={"max_cost_usd": 5.01})
        assert said.startswith("Setting max_cost_usd can be $5.00 at most here")
        for settings in ({"nonsense": 1}, {"seats": {"a": {"nonsense": 1}}}, {"ceilings": {"debate_usd": 9}}):
            said = await refused(client, "start_debate", question="x?", format="duel", settings=settings)
            assert said.startswith("There is no setting"), said
        for tail in ("/record?all=1", "/transcript/../audit", "/audit"):
            with pytest.raises(Exception, match="There is no resource"):
                await client.read_resource(f"moot://debates/{debate_id}{tail}")
        assert (await called(client, "cancel_debate", debate_id=debate_id))["status"] == "canceled"


async def test_a_client_that_was_given_the_scope_decides(tmp_path: Path):
    async with over_stdio(tmp_path, flags=("--scope", "read,run,decide")) as client:
        debate_id = await waiting(client)
        state = await called(client, "answer_gate", debate_id=debate_id, text="It is for a team of five.")
        assert state["status"] in ("running", "waiting", "completed")


async def test_a_client_that_may_only_read_starts_nothing(tmp_path: Path):
    async with inside(tmp_path, ("read",)) as client:
        assert (await called(client, "list_debates"))["debates"] == []
        for tool in ("stop_debate", "resume_debate", "cancel_debate"):
            assert "lacks the scope 'run'" in await refused(client, tool, debate_id="0" * 36)
        assert "lacks the scope 'run'" in await refused(client, "start_debate", question="x?")


@pytest.mark.parametrize(
    ("scope", "said"),
    [("run", "nothing without the scope 'read'"), ("reed", "There is no scope 'reed'"), (",", "Choose")],
)
def test_a_scope_that_makes_no_sense_is_refused(tmp_path: Path, scope: str, said: str):
    done = run(tmp_path, "mcp", "--scope", scope)
    assert done.returncode == 2
    assert said in done.stderr


async def test_a_used_up_day_is_said_in_a_models_words(tmp_path: Path):
    priced = "sim:?seed=3&tokens=150&price_in=2&price_out=10"
    with served(tmp_path, model=priced, ceilings={"day_tokens": 2000}) as server:
        async with over_http(server) as client:
            made = await called(client, "start_debate", question=QUESTION, format="duel", settings={"turns": 6})
            state = await called(client, "wait_for_debate", debate_id=made["id"], seconds=60)
        assert state["status"] == "stopped"
        assert "opens again at" in state["error"]
    with served(tmp_path, model=priced, ceilings={"day_tokens": 100}) as server:
        async with over_http(server) as client:
            said = await refused(client, "start_debate", question=QUESTION)
        assert said.startswith("Today's budget is used up")
        assert "moot " not in said
