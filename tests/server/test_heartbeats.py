"""Streams that are never silent for longer than a heartbeat, and end with their token, however busy they are."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice

import pytest

from tests.server.serving import STREAM, Served, connected, served, wait_for, watching
from tests.server.test_owners import Person

pytestmark = pytest.mark.slow

# Text comes in all the time, and for longer than any of these tests takes.
BUSY = "sim:?tps=40&tokens=20000"
LONG = {"turns": 2, "debater_max_tokens": 100_000, "max_total_output_tokens": 10_000_000, "max_runtime_seconds": 6000}
ASKED = {"model": "moot/duel", "messages": [{"role": "user", "content": "Redis or PostgreSQL?"}]}
COUNT = count()
SETTINGS = {"X-Moot-Settings": json.dumps(LONG)}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("beats")
    with served(folder, host="0.0.0.0", serve_heartbeat_seconds=0.3, model=BUSY) as made:
        yield made


@pytest.fixture
def ann(server: Served) -> Person:
    return Person(server, f"ann {next(COUNT)}", "read", "run")


@pytest.fixture
def busy(server: Served, ann: Person) -> Iterator[str]:
    """The path of a debate whose debaters think aloud, for long."""
    path = f"/v1/debates/{ann.ask(format='duel', settings=LONG)['id']}"
    yield path
    server.in_loop(server.app.runtime.cancel(path.rpartition("/")[2]))


def revoke(server: Served, person: Person) -> None:
    assert server.in_loop(server.app.runtime.store.drop_token(person.token.id))


def is_live(server: Served, path: str) -> bool:
    return server.in_loop(server.app.runtime.store.get(path.rpartition("/")[2])).status == "running"


class TestBeats:
    """What is thought in private is news to the server, and nothing to this client."""

    def test_a_dialect_without_words_for_it(self, server: Served, busy: str, ann: Person):
        with watching(server, f"{busy}/events?dialect=duel", headers=ann.headers) as events:
            assert any(each.event == "HEADER" for each in events)
            assert [each.event for each in islice(events, 3)] == [":"] * 3

    def test_chat(self, server: Served, ann: Person):
        asked = {"json": {**ASKED, "stream": True}, "headers": {**ann.headers, **SETTINGS}}
        with server.client.stream("POST", "/v1/chat/completions", **asked) as response:
            beats = (line for line in response.iter_lines() if line.startswith(":"))
            assert len(list(islice(beats, 4))) == 4


class TestRevoked:
    @pytest.mark.parametrize("way", ["{path}/events", "/v1/stream?newest=true&debates={id}"])
    def test_busy_streams_end(self, server: Served, busy: str, ann: Person, way: str):
        place = way.format(path=busy, id=busy.rpartition("/")[2])
        with watching(server, place, headers=ann.headers) as events:
            assert any(each.event == "delta" for each in events)
            revoke(server, ann)
            left = [each.event for each in events]
        assert "end" not in left
        assert is_live(server, busy)

    def test_a_client_that_does_not_read_is_cut_off(self, server: Served, ann: Person):
        live = server.server._api.state.context.live
        fast = "sim:?tps=4000&tokens=100000"
        made = ann.ask(format="duel", settings={**LONG, "model_debater": fast, "model_judge": fast})
        lines = [f"GET /v1/debates/{made['id']}/events HTTP/1.1", "Host: localhost"]
        lines += [f"{name}: {value}" for name, value in {**STREAM, **ann.headers}.items()]
        with connected(server, "\r\n".join([*lines, "", ""]).encode(), deaf=True):
            wait_for(lambda: live.by_token[ann.token.id] == 1, "the stream to begin")
            revoke(server, ann)
            wait_for(lambda: live.by_token[ann.token.id] == 0, "the stream to end")
        server.in_loop(server.app.runtime.cancel(made["id"]))

    def test_a_busy_chat_ends_and_says_why(self, server: Served, ann: Person):
        asked = {"json": {**ASKED, "stream": True}, "headers": {**ann.headers, **SETTINGS}}
        with server.client.stream("POST", "/v1/chat/completions", **asked) as response:
            lines = response.iter_lines()
            assert any(line.startswith("data:") for line in lines)
            revoke(server, ann)
            *_, error, done = [line for line in lines if line.startswith("data:")]
        assert done == "data: [DONE]"
        assert json.loads(error.removeprefix("data:"))["error"]["code"] == "token_needed"

    def test_a_chat_without_a_stream_ends_too(self, server: Served, ann: Person):
        live = server.server._api.state.context.live
        with ThreadPoolExecutor() as pool:
            asking = pool.submit(ann.post, "/v1/chat/completions", json=ASKED, headers=SETTINGS)
            wait_for(lambda: live.by_token[ann.token.id] == 1, "the chat to begin")
            revoke(server, ann)
        assert asking.result().status_code == 401
        assert "revoked" in asking.result().json()["error"]["message"]

    def test_a_call_over_mcp_ends_too(self, server: Served, busy: str, ann: Person):
        live = server.server._api.state.context.live
        waits = {"name": "wait_for_debate", "arguments": {"debate_id": busy.rpartition("/")[2], "seconds": 600}}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": waits}
        accepts = {**ann.headers, "Accept": "application/json, text/event-stream"}
        with server.client.stream("POST", "/mcp", json=call, headers=accepts) as response:
            assert response.status_code == 200
            assert live.by_token[ann.token.id] == 1
            revoke(server, ann)
            assert not any(line.startswith("data: {") for line in response.iter_lines())
        assert is_live(server, busy)

    def test_an_expired_one_is_a_revoked_one(self, server: Served, busy: str):
        eve = Person(server, f"eve {next(COUNT)}", "read", expires_at=time.time() + 3600)
        with watching(server, f"{busy}/events", headers=eve.headers) as events:
            assert any(each.event == "delta" for each in events)
            over = ("update access_tokens set expires_at = 1 where id = ?", [eve.token.id])
            writer = server.app.runtime.store._writer
            server.in_loop(writer.do(lambda connection: connection.execute(*over).rowcount))
            assert "end" not in [each.event for each in events]
        assert is_live(server, busy)
