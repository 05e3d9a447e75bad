"""The official MCP client uses moot, over both transports and in both eras of the protocol."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from moot.caller import Caller
from moot.client import Client as UseCases
from moot.dispatch import dispatcher_of
from moot.mcp.service import ToolService
from moot.mcp.tools import make_server
from moot.tokens import new_token
from tests.running import Held, an_app, answers_file
from tests.server.serving import Served, served
from tests.server.test_serve import MOOT, environ

pytestmark = pytest.mark.slow

DOCS = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text()
QUESTION = "Redis or PostgreSQL?"


@asynccontextmanager
async def inside(folder: Path, scopes: tuple[str, ...] = ("admin",), **settings: Any) -> AsyncIterator[Client]:
    """A service without a transport."""
    values = {"model": answers_file(folder), **settings}
    async with an_app(folder, **values) as app:
        runs = dispatcher_of(app)
        await app.runtime.store.open()
        service = ToolService(UseCases(app, runs), asyncio.Event())
        async with Client(make_server(service, lambda _: Caller(name="ann", scopes=frozenset(scopes)))) as client:
            yield client


@asynccontextmanager
async def over_stdio(
    folder: Path, model: str = "sim:", flags: tuple[str, ...] = ("--scope", "read,run,decide"), **more: Any
) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(
        command=MOOT, args=["mcp", *flags], env={**environ(folder), "MOOT_MODEL": model}, cwd=str(folder)
    )
    async with Client(stdio_client(parameters, errlog=sys.__stderr__), **more) as client:
        yield client


@asynccontextmanager
async def over_http(server: Served, token: str = "", **more: Any) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"{server.url}/mcp", http_client=http), **more) as client,
    ):
        yield client


async def called(client: Client, name: str, /, progress: Any = None, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(name, arguments, progress_callback=progress)
    assert not result.is_error, result.content
    return result.structured_content


async def text_of(client: Client, name: str, /, **arguments: Any) -> str:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    return result.content[0].text


async def refused(client: Client, name: str, /, **arguments: Any) -> str:
    result = await client.call_tool(name, arguments)
    assert result.is_error
    return result.content[0].text


async def awaited(client: Client, debate_id: str, *statuses: str, progress: Any = None) -> dict[str, Any]:
    while True:
        standing = await called(client, "wait_for_debate", progress, debate_id=debate_id, seconds=20)
        if standing["status"] in (statuses or ("completed",)):
            return standing
        assert standing["status"] == "running", standing


async def said(process: Any, **message: Any) -> None:
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    await process.stdin.drain()


async def whole_loop(client: Client) -> None:
    """Start, wait with progress, answer a checkpoint, read the record, find the decision."""
    told: list[tuple[float, float | None, str]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append((done, total, message or ""))

    settings = {"max_rounds": 1, "perspectives": 2}
    made = await called(client, "start_debate", question=QUESTION, format="panel", settings=settings)
    assert made["status"] == "running"
    while (standing := await awaited(client, made["id"], "waiting", "completed", progress=progress))["asks"]:
        asked = standing["asks"][0]
        answer = {"choice": "continue"} if asked["choices"] else {"text": "For a small shop."}
        assert "answer_gate, once the user has decided" in standing["next"]
        await called(client, "answer_gate", debate_id=made["id"][:8], key=asked["key"], **answer)
    assert standing["headline"]
    assert standing["how"]
    assert standing["statement"]
    assert len(told) > 3
    assert any("Moderator" in message for _, _, message in told)
    assert all(total is not None and 0 < done <= total for done, total, _ in told)
    assert {total for _, total, _ in told} == {told[-1][1]}  # it is known from the beginning
    record = (await client.read_resource(f"moot://debates/{made['id']}/record")).contents[0]
    assert record.mime_type == "text/markdown"
    assert record.text.startswith("---\nstatus: proposed")
    assert await text_of(client, "read_record", debate_id=made["id"]) == record.text
    transcript = (await client.read_resource(standing["transcript"])).contents[0].text
    assert transcript.startswith(f"# {QUESTION}")
    assert standing["headline"] in transcript
    found = await called(client, "search_decisions", query="PostgreSQL")
    assert [each["id"] for each in found["found"]] == [made["id"]]
    listed = await called(client, "list_debates", status="completed", format="panel")
    assert [each["id"] for each in listed["debates"]] == [made["id"]]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_whole_loop_over_http(tmp_path, mode):
    with served(tmp_path, model="sim:") as server:
        async with over_http(server, mode=mode) as client:
            assert client.server_info.name == "moot"
            await whole_loop(client)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_whole_loop_over_stdio(tmp_path, mode):
    async with over_stdio(tmp_path, mode=mode) as client:
        await whole_loop(client)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_that_leaves_over_http_finds_the_result_when_it_comes_back(tmp_path, mode):
    held = Held(tmp_path)
    with served(tmp_path, model=held.model) as server:
        async with over_http(server, mode=mode) as client:
            made = await called(client, "start_debate", question=QUESTION, format="duel")
            waiting = asyncio.create_task(called(client, "wait_for_debate", debate_id=made["id"]))
            await asyncio.to_thread(server.until, made["id"], "running")
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        held.release()
        done = await asyncio.to_thread(server.rested, made["id"])  # with nobody connected
        assert done["status"] == "completed"
        async with over_http(server, mode=mode) as client:
            standing = await called(client, "debate_status", debate_id=made["id"])
            assert standing["headline"] == done["headline"]


@pytest.mark.parametrize("how", ["left", "terminated", "killed"])
async def test_a_server_that_is_ended_over_stdio_loses_nothing(tmp_path, how):
    process = await asyncio.create_subprocess_exec(
        MOOT,
        "mcp",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**environ(tmp_path), "MOOT_MODEL": "sim:?latency_ms=150"},
        cwd=tmp_path,
    )
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    await said(process, id=1, method="initialize", params=hello)
    assert b"serverInfo" in await process.stdout.readline()
    await said(process, method="notifications/initialized")
    call = {"name": "start_debate", "arguments": {"question": QUESTION, "format": "duel"}}
    await said(process, id=2, method="tools/call", params=call)
    found = re.search(rb"[0-9a-f]{8}-[0-9a-f-]{27}", await process.stdout.readline())
    assert found is not None
    {"left": process.stdin.close, "terminated": process.terminate, "killed": process.kill}[how]()
    _, errors = await process.communicate()
    assert process.returncode == (-9 if how == "killed" else 0), errors
    assert b"Traceback" not in errors
    async with over_stdio(tmp_path, flags=("--scope", "admin")) as client:
        assert (await awaited(client, found[0].decode()))["turns"] == 30


async def test_a_bounded_wait_says_where_it_stands(tmp_path):
    held = Held(tmp_path)
    async with inside(tmp_path, model=held.model) as client:
        made = await called(client, "start_debate", question=QUESTION, format="duel")
        standing = await called(client, "wait_for_debate", debate_id=made["id"], seconds=0.2)
        assert standing["status"] == "running"
        assert "wait_for_debate" in standing["next"]
        stopping = await called(client, "stop_debate", debate_id=made["id"])
        assert stopping["status"] == "stopping"
        held.release()
        stopped = await called(client, "wait_for_debate", debate_id=made["id"])
        assert stopped["status"] == "stopped"
        assert (await called(client, "guide_debate", debate_id=made["id"], text="Look at the cost."))["next"]
        held.hold()
        assert (await called(client, "resume_debate", debate_id=made["id"]))["status"] == "running"
        assert (await called(client, "cancel_debate", debate_id=made["id"]))["status"] == "canceled"


async def test_a_server_that_ends_lets_nobody_wait(tmp_path):
    with served(tmp_path, model="sim:?latency_ms=2000") as server:
        async with over_http(server) as client:
            made = await called(client, "start_debate", question=QUESTION, format="duel")
            waiting = asyncio.create_task(called(client, "wait_for_debate", debate_id=made["id"], seconds=600))
            await asyncio.to_thread(server.until, made["id"], "running")
            server.server.should_exit = True
            assert (await waiting)["status"] == "running"


def test_what_is_no_call_is_refused_at_once(tmp_path):
    with served(tmp_path) as server:
        assert server.get("/mcp", headers={"Accept": "text/event-stream"}).status_code == 405
        assert server.client.delete("/mcp").status_code == 405
        assert server.post("/mcp", {}).status_code == 400
        assert server.post("/mcp", {}, headers={"Origin": "https://evil.example"}).status_code == 403


async def test_a_call_that_is_made_again_with_its_key_starts_one_debate(tmp_path):
    call = {"question": QUESTION, "format": "classic", "settings": {"max_rounds": 1}}
    async with inside(tmp_path) as client:
        key = "any words"
        assert await refused(client, "start_debate", **call | {"format": "duell"}, idempotency_key=key)  # not used up
        several = [called(client, "start_debate", **call, idempotency_key=key) for _ in range(5)]
        made = await asyncio.gather(*several)
        assert len({each["id"] for each in made}) == 1
        await awaited(client, made[0]["id"])
        again = await called(client, "start_debate", **call, idempotency_key=key)
        assert (again["id"], again["status"]) == (made[0]["id"], "completed")  # where it stands now
        other = {**call, "question": "Something else?"}
        assert "another request" in await refused(client, "start_debate", **other, idempotency_key=key)
        assert (await called(client, "start_debate", **call))["id"] != made[0]["id"]
        assert len((await called(client, "list_debates", contains="redis"))["debates"]) == 2
        assert (await called(client, "list_debates", contains="nothing"))["debates"] == []
    async with inside(tmp_path) as client:  # it is remembered
        assert (await called(client, "start_debate", **call, idempotency_key=key))["id"] == made[0]["id"]


async def test_presets_and_templates(tmp_path):
    presets = {"quick": {"format": "duel", "settings": {"turns": 2}}}
    async with inside(tmp_path, presets=presets) as client:
        assert (await called(client, "list_formats"))["presets"] == {"quick": "duel"}
        made = await called(client, "start_debate", question="x?", format="quick")
        assert made["format"] == "duel"
        listed = (await client.read_resource("moot://templates")).contents[0].text
        first = re.search(r"- `([^`]+)`", listed)
        assert first is not None
        assert (await client.read_resource(f"moot://templates/{first[1]}")).contents[0].text


async def test_tokens_and_scopes_over_http(tmp_path):
    asked = {"question": "x?", "format": "panel"}
    with served(tmp_path, model="sim:", serve_tokens="always") as server:
        assert server.post("/mcp", {}).status_code == 401
        secrets: dict[str, str] = {}
        for name, scopes in {"reader": ["read"], "runner": ["read", "run"]}.items():
            secrets[name], token = new_token(name, scopes)
            assert server.in_loop(server.app.runtime.store.add_token(token))
        async with over_http(server, secrets["reader"]) as client:
            assert "lacks the scope 'run'" in await refused(client, "start_debate", **asked)
        async with over_http(server, secrets["runner"]) as client:
            made = await called(client, "start_debate", **asked)
            for model in ("local:/etc/mine.gguf", "openai:x@http://127.0.0.1:1"):
                said = await refused(client, "start_debate", question="x?", settings={"model_judge": model})
                assert "scope 'admin'" in said, model
            assert "lacks the scope 'decide'" in await refused(client, "answer_gate", debate_id=made["id"])
        bearer = {"Authorization": f"Bearer {secrets['runner']}"}
        assert server.get(f"/v1/debates/{made['id']}", headers=bearer).json()["initiated_by"] == "runner"


async def test_every_tool_and_resource_is_described_and_documented(tmp_path):
    async with inside(tmp_path) as client:
        tools = (await client.list_tools()).tools
        assert len(tools) >= 11
        for tool in tools:
            assert f"`{tool.name}`" in DOCS
            assert tool.description
            assert tool.output_schema or tool.name in ("read_record", "label_debate")  # which give text
            assert all(
                each.get("description") or "limit" in name for name, each in tool.input_schema["properties"].items()
            )
        addresses = [each.uri_template for each in (await client.list_resource_templates()).resource_templates]
        addresses += [str(each.uri) for each in (await client.list_resources()).resources]
        assert len(addresses) == 5
        for address in addresses:
            assert f"`{address}`" in DOCS
