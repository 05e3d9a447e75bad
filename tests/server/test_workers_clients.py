"""The official `openai` and `mcp` clients, where workers run the debates and the server only serves."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.test_mcp import awaited, called, over_http, text_of, whole_loop
from tests.server.chat.asking import client, told, user
from tests.server.serving import Served, served, wait_for
from tests.server.test_serve import MOOT, environ

pytestmark = pytest.mark.slow

TALK = "sim:?tps=300&tokens=60"


def a_worker(folder: Path, database_url: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [MOOT, "worker", "--db", database_url],
        env=environ(folder),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.fixture
def server(tmp_path: Path, database_url: str, request: pytest.FixtureRequest) -> Iterator[Served]:
    workers = [a_worker(tmp_path, database_url) for _ in range(2)]
    more = getattr(request, "param", {})
    try:
        with served(tmp_path, database_url=database_url, model=TALK, **more) as running:
            yield running
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.wait(60)


def speeches(server: Served, debate_id: str) -> list[str]:
    turns = server.get(f"/v1/debates/{debate_id}/turns").json()["items"]
    return [turn["content"] for turn in turns if turn["phase"] in ("open", "speak", "close")]


def test_a_streamed_debate_is_told_in_order_and_once(server: Served):
    with client(server) as asking:
        stream = asking.chat.completions.create(
            model="moot/duel",
            messages=user(),
            stream=True,
            stream_options={"include_usage": True},
            metadata={"moot_settings": '{"turns": 4}'},
        )
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
def test_a_chat_client_that_goes_away_finds_the_result(server: Served, left: str):
    retry = {"x-stainless-retry-count": "1"}
    with client(server) as asking:
        stream = asking.chat.completions.create(model="moot/duel", messages=user(), stream=True)
        debate_id = next(iter(stream)).moot["debate"]
        stream.close()
        assert server.rested(debate_id)["status"] == left
        answer = asking.chat.completions.create(model="moot/duel", messages=user(), extra_headers=retry)
    assert answer.moot["debate"] == debate_id
    assert server.debate(debate_id)["headline"] in answer.choices[0].message.content
    assert len(server.get("/v1/debates").json()["items"]) == 1
    assert len(speeches(server, debate_id)) == 6


def test_a_repetition_with_the_same_key_gets_the_same_answer(server: Served):
    key = {"Idempotency-Key": "k"}
    with client(server) as asking:
        answers = [
            asking.chat.completions.create(model="moot/classic", messages=user(), extra_headers=key) for _ in range(2)
        ]
    assert answers[0].model_dump() == answers[1].model_dump()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_whole_loop_over_mcp(server: Served, mode: str):
    async def main() -> None:
        async with over_http(server, mode=mode) as asking:
            await whole_loop(asking)

    asyncio.run(main())


def test_an_mcp_client_that_goes_away_finds_the_result(server: Served):
    async def main() -> None:
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

    asyncio.run(main())
    assert len(server.get("/v1/debates").json()["items"]) == 1
