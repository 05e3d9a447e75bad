"""Streams that are never silent for longer than a heartbeat, and end with their token, however busy they are."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from typing import Any

import httpx2
import pytest

from moot.store import AccessToken
from moot.tokens import new_token
from tests.server.serving import STREAM, Served, served, wait_for, watching

# Text comes in all the time, and for longer than any of these tests takes.
BUSY = "sim:?tps=40&tokens=20000"
LONG = {"turns": 2, "debater_max_tokens": 100_000, "max_total_output_tokens": 10_000_000, "max_runtime_seconds": 6000}
ASKED = {"model": "moot/duel", "messages": [{"role": "user", "content": "Redis or PostgreSQL?"}]}
COUNT = count()
SETTINGS = {"X-Moot-Settings": json.dumps({**LONG, "model_debater": BUSY, "model_judge": BUSY})}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("beats")
    with served(folder, host="0.0.0.0", serve_heartbeat_seconds=0.3, model=BUSY) as made:
        yield made


@pytest.fixture
def ann(server: Served) -> tuple[AccessToken, dict[str, str]]:
    secret, made = new_token(f"ann {next(COUNT)}", ["read", "run"])
    assert server.in_loop(server.app.runtime.store.add_token(made))
    return made, {"Authorization": f"Bearer {secret}"}


@pytest.fixture
def busy(server: Served, ann: Any) -> Iterator[str]:
    """The path of a debate whose debaters think aloud, for long."""
    _, headers = ann
    settings = {**LONG, "model_debater": BUSY, "model_judge": BUSY}
    path = f"/v1/debates/{server.made(format='duel', settings=settings, headers=headers)['id']}"
    yield path
    server.in_loop(server.app.runtime.cancel(path.rpartition("/")[2]))


def revoke(server: Served, token: AccessToken) -> None:
    assert server.in_loop(server.app.runtime.store.drop_token(token.id))


def is_live(server: Served, path: str) -> bool:
    return server.in_loop(server.app.runtime.store.get(path.rpartition("/")[2])).status == "running"


class TestBeats:
    """What is thought in private is news to the server, and nothing to this client."""

    def test_a_dialect_without_words_for_it(self, server: Served, busy: str, ann: Any):
        with watching(server, f"{busy}/events?dialect=duel", headers=ann[1]) as events:
            assert any(each.event == "HEADER" for each in events)
            assert [each.event for each in islice(events, 3)] == [":"] * 3

    def test_chat(self, server: Served, ann: Any):
        headers = {**ann[1], **SETTINGS}
        with server.client.stream("POST", "/v1/chat/completions", json={**ASKED, "stream": True}, headers=headers) as r:
            beats = (line for line in r.iter_lines() if line.startswith(":"))
            assert len(list(islice(beats, 4))) == 4


class TestRevoked:
    @pytest.mark.parametrize("way", ["{path}/events", "/v1/stream?newest=true&debates={id}"])
    def test_busy_streams_end(self, server: Served, busy: str, ann: Any, way: str):
        token, headers = ann
        place = way.format(path=busy, id=busy.rpartition("/")[2])
        with watching(server, place, headers=headers) as events:
            assert any(each.event == "delta" for each in events)
            revoke(server, token)
            left = [each.event for each in events]
        assert "end" not in left
        assert is_live(server, busy)

    def test_a_client_that_does_not_read_is_cut_off(self, server: Served, ann: Any):
        token, headers = ann
        host, port = server.url.removeprefix("http://").split(":")
        live = server.server._api.state.context.live
        fast = "sim:?tps=4000&tokens=100000"
        made = server.made(
            format="duel", settings={**LONG, "model_debater": fast, "model_judge": fast}, headers=headers
        )
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect((host, int(port)))
            lines = [f"GET /v1/debates/{made['id']}/events HTTP/1.1", f"Host: {host}:{port}"]
            lines += [f"{name}: {value}" for name, value in {**STREAM, **headers}.items()]
            client.sendall("\r\n".join([*lines, "", ""]).encode())
            wait_for(lambda: live.by_token[token.id] == 1, "the stream to begin")
            revoke(server, token)
            wait_for(lambda: live.by_token[token.id] == 0, "the stream to end")
        server.in_loop(server.app.runtime.cancel(made["id"]))

    def test_a_busy_chat_ends_and_says_why(self, server: Served, ann: Any):
        token, headers = ann
        asked = {**ASKED, "stream": True}
        with server.client.stream(
            "POST", "/v1/chat/completions", json=asked, headers={**headers, **SETTINGS}
        ) as response:
            lines = response.iter_lines()
            assert any(line.startswith("data:") for line in lines)
            revoke(server, token)
            *_, error, done = [line for line in lines if line.startswith("data:")]
        assert done == "data: [DONE]"
        assert json.loads(error.removeprefix("data:"))["error"]["code"] == "token_needed"

    def test_a_chat_without_a_stream_ends_too(self, server: Served, ann: Any):
        token, headers = ann
        answers: list[httpx2.Response] = []
        asking = threading.Thread(
            target=lambda: answers.append(server.post("/v1/chat/completions", ASKED, headers={**headers, **SETTINGS}))
        )
        asking.start()
        live = server.server._api.state.context.live
        wait_for(lambda: live.by_token[token.id] == 1, "the chat to begin")
        revoke(server, token)
        asking.join()
        assert answers[0].status_code == 401
        assert "revoked" in answers[0].json()["error"]["message"]

    def test_a_call_over_mcp_ends_too(self, server: Served, busy: str, ann: Any):
        token, headers = ann
        live = server.server._api.state.context.live
        waits = {"name": "wait_for_debate", "arguments": {"debate_id": busy.rpartition("/")[2], "seconds": 600}}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": waits}
        accepts = {**headers, "Accept": "application/json, text/event-stream"}
        with server.client.stream("POST", "/mcp", json=call, headers=accepts) as response:
            assert response.status_code == 200
            assert live.by_token[token.id] == 1
            revoke(server, token)
            assert not any(line.startswith("data: {") for line in response.iter_lines())
        assert is_live(server, busy)

    def test_an_expired_one_is_a_revoked_one(self, server: Served, busy: str):
        secret, made = new_token("eve", ["read"])
        server.in_loop(server.app.runtime.store.add_token(replace(made, expires_at=time.time() + 3)))
        with watching(server, f"{busy}/events", headers={"Authorization": f"Bearer {secret}"}) as events:
            assert "end" not in [each.event for each in events]
        assert is_live(server, busy)
