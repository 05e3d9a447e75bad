"""A server on PostgreSQL only serves: workers run the debates, and what they say is heard here all the same, by
watchers and by the official `openai` and `mcp` clients."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.forking import start_moot
from tests.mcp.test_mcp import awaited, called, over_http, text_of, whole_loop
from tests.server.chat.asking import Asking, client, told
from tests.server.serving import Served, served, wait_for, watching
from tests.server.test_events import Listener, stored
from tests.server.test_serve import environ

pytestmark = pytest.mark.slow

TALK = "sim:?tps=300&tokens=60"
MODELS = {"model_debater": TALK, "model_judge": TALK}


@pytest.fixture
def server(tmp_path: Path, database_url: str, request: pytest.FixtureRequest) -> Iterator[Served]:
    command = ("worker", "--db", database_url)
    workers = [start_moot(command, environ(tmp_path), tmp_path) for _ in range(2)]
    try:
        with served(tmp_path, database_url=database_url, model=TALK, **getattr(request, "param", {})) as running:
            yield running
    finally:
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
        for worker in workers:
            worker.wait(60)


@pytest.fixture
def asking(server: Served) -> Iterator[Asking]:
    with client(server) as made:
        yield made


def test_debates_run_elsewhere_and_are_seen_here(server: Served):
    made = server.made(format="duel", settings={"turns": 2, **MODELS}, start=False)
    heard = Listener()
    with watching(server, f"/v1/debates/{made['id']}/events") as events:
        assert server.post(f"/v1/debates/{made['id']}/start").json()["status"] == "running"
        assert not server.app.runtime.drives(made["id"])
        for each in events:
            heard.hear(each)
    assert heard.ended["status"] == "completed"
    assert heard.events == stored(server, made["id"])
    assert heard.deltas > 5


def test_stop_resume_and_refusals_hold(server: Served):
    made = server.made(format="duel", settings={"turns": 4, **MODELS})
    assert server.post(f"/v1/debates/{made['id']}/stop").status_code == 200
    server.until(made["id"], "stopped")
    assert server.post(f"/v1/debates/{made['id']}/start").status_code == 409
    assert server.post(f"/v1/debates/{made['id']}/resume").json()["status"] == "running"
    assert server.rested(made["id"])["status"] == "completed"
    assert server.get(f"/v1/debates/{made['id']}/proof").json()["same"] is True


def test_an_answer_lets_it_go_on(server: Served):
    settings = {"perspectives": 2, "max_rounds": 1, "checkpoints": True, **MODELS}
    made = server.made(format="panel", settings=settings)
    for _ in range(5):
        rested = server.until(made["id"], "waiting", "completed", "failed")
        if rested["status"] != "waiting":
            break
        [gate] = [g for g in server.get(f"/v1/debates/{made['id']}/gates").json()["items"] if g["status"] == "open"]
        answer = {"choice": "end"} if "end" in gate["choices"] else {"text": "Go on."}
        answered = server.post(f"/v1/debates/{made['id']}/answer", {"key": gate["key"], **answer})
        assert answered.status_code == 200, answered.text
    assert rested["status"] == "completed"


def speeches(server: Served, debate_id: str) -> list[str]:
    turns = server.get(f"/v1/debates/{debate_id}/turns").json()["items"]
    return [turn["content"] for turn in turns if turn["phase"] in ("open", "speak", "close")]


def test_a_streamed_debate_is_told_in_order_and_once(server: Served, asking: Asking):
    more = {"stream_options": {"include_usage": True}, "metadata": {"moot_settings": '{"turns": 4}'}}
    stream = asking.ask(model="moot/duel", stream=True, **more)
    reasoning, content, chunks = told(stream)
    debate_id = chunks[0].moot["debate"]
    debate = server.debate(debate_id)
    assert not server.app.runtime.drives(debate_id)
    assert debate["status"] == "completed"
    assert debate["headline"] in content
    places = [reasoning.index(speech) for speech in speeches(server, debate_id)]
    assert places == sorted(places)
    assert len(places) == 4
    assert all(reasoning.count(speech) == 1 for speech in speeches(server, debate_id))
    assert sum("reasoning_content" in chunk.model_dump_json() for chunk in chunks) > 8  # as it was said, in pieces
    usage = chunks[-1].usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (debate["tokens_in"], debate["tokens_out"])


@pytest.mark.parametrize(
    ("server", "left"),
    [({"chat_on_disconnect": "continue"}, "completed"), ({"chat_on_disconnect": "stop"}, "stopped")],
    indirect=["server"],
)
def test_a_chat_client_that_goes_away_finds_the_result(server: Served, asking: Asking, left: str):
    retry = {"x-stainless-retry-count": "1"}
    stream = asking.ask(model="moot/duel", stream=True)
    debate_id = next(iter(stream)).moot["debate"]
    stream.close()
    assert server.rested(debate_id)["status"] == left
    answer = asking.ask(model="moot/duel", extra_headers=retry)
    assert answer.moot["debate"] == debate_id
    assert server.debate(debate_id)["headline"] in answer.choices[0].message.content
    assert len(server.get("/v1/debates").json()["items"]) == 1
    assert len(speeches(server, debate_id)) == 6


def test_a_repetition_with_the_same_key_gets_the_same_answer(server: Served, asking: Asking):
    key = {"Idempotency-Key": "k"}
    answers = [asking.ask(extra_headers=key) for _ in range(2)]
    assert answers[0].model_dump() == answers[1].model_dump()


async def test_the_whole_loop_over_mcp(server: Served):
    async with over_http(server) as asking:
        await whole_loop(asking)


async def test_an_mcp_client_that_goes_away_finds_the_result(server: Served):
    start = {"question": "Redis or PostgreSQL?", "format": "duel", "idempotency_key": "k"}
    async with over_http(server) as asking:
        made = await called(asking, "start_debate", **start)
        waiting = asyncio.create_task(called(asking, "wait_for_debate", debate_id=made["id"]))
        await asyncio.to_thread(wait_for, lambda: server.debate(made["id"])["turns"] > 0, "a turn")
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    async with over_http(server) as asking:
        again = await called(asking, "start_debate", **start)  # it can't know whether it was heard
        assert again["id"] == made["id"]
        standing = await awaited(asking, made["id"])
        assert standing["turns"] == 30
        assert (await text_of(asking, "read_record", debate_id=made["id"])).startswith("---\n")
    assert len(server.get("/v1/debates").json()["items"]) == 1
