"""Half-sent requests, answers that are not taken, too many connections and too many streams, on real sockets."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import httpx2
import pytest

from moot.core.errors import InputError, ScriptError
from moot.core.settings import Settings
from moot.formats import prompts
from moot.server import connections, limits
from moot.server.connections import DEAF_SECONDS, LEAST_TAKEN, Connections
from moot.server.limits import KEPT_FILES, Limits
from tests.server.serving import DEADLINE, Served, connected, served, wait_for, watching
from tests.server.test_security import token

pytestmark = pytest.mark.slow

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST_HEALTH = HEALTH.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
HALF_HEADERS = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Half:"
HALF_BODY = (
    b"POST /v1/debates HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b'Content-Length: 100\r\n\r\n{"topic":'
)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Half a request is waited for as long as any test takes."""
    monkeypatch.setattr(connections, "HEADER_SECONDS", 3600)
    monkeypatch.setattr(connections, "BODY_SECONDS", 3600)
    return monkeypatch


def answer(client: socket.socket) -> bytes:
    """Everything until the server closes the connection; nothing if it was cut off."""
    found = b""
    try:
        while piece := client.recv(65_536):
            found += piece
    except ConnectionResetError:
        pass
    return found


def dripped(client: socket.socket) -> bytes:
    """Send a byte now and then, until there is an answer; return it."""
    while True:
        client.sendall(b"x")
        try:
            return client.recv(65_536)
        except TimeoutError:
            continue


@contextmanager
def deaf(server: Served, many: int) -> Iterator[list[socket.socket]]:
    """Clients that ask for more and more and read nothing, with as many answers waiting for each as may be."""
    asked = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100
    with ExitStack() as stack:
        clients = [stack.enter_context(connected(server, asked, deaf=True)) for _ in range(many)]
        opened = server.server.connections._open
        wait_for(lambda: sum(each.flow.write_paused for each in list(opened)) == many, "the answers to pile up")
        yield clients


class TestTimes:
    def test_answers_that_are_not_taken_are_not_waited_for(self, tmp_path, monkeypatch):
        look = Connections.look
        monkeypatch.setattr(Connections, "look", lambda *_: None)  # the test says when, and at what time

        def looked_at(seconds: float) -> int:
            """How many are left of its connections when the server has looked at them."""

            async def looked() -> int:
                look(server.server.connections, seconds)
                return len(server.server.connections)

            return server.in_loop(looked())

        with served(tmp_path) as server, deaf(server, 1) as (client,):
            assert looked_at(0) == looked_at(DEAF_SECONDS - 1) == 1
            taken = 0
            while taken <= LEAST_TAKEN * 100:  # of which some was in the client's own buffer already
                taken += len(client.recv(65_536))
            assert looked_at(DEAF_SECONDS + 1) == 1, "slow, but it goes on"
            later = count(2 * DEAF_SECONDS + 2, DEAF_SECONDS)
            wait_for(lambda: not looked_at(next(later)), "it to be closed")

    @pytest.mark.parametrize(
        ("sent", "limit", "part"),
        [
            (b"", "HEADER_SECONDS", "headers"),
            (HALF_HEADERS, "HEADER_SECONDS", "headers"),
            (HALF_BODY, "BODY_SECONDS", "body"),
            # The second request on a connection: its first was answered.
            (HEALTH + HALF_HEADERS, "HEADER_SECONDS", "headers"),
        ],
        ids=["nothing", "half the headers", "half the body", "half a second request"],
    )
    def test_half_a_request_is_not_waited_for(self, tmp_path, patient, sent, limit, part):
        patient.setattr(connections, limit, 0.2)
        with served(tmp_path) as server, connected(server, sent) as client:
            said = answer(client)
            if b"200 OK" in said and said.endswith(b'{"status":"ok"}'):
                return  # uvicorn's own time-out between requests was faster
            assert b"HTTP/1.1 408 " in said
            assert f"The {part} of the request did not arrive within 0.2 seconds".encode() in said
            assert b"urn:moot:problem:too-slow" in said
            wait_for(lambda: len(server.server.connections) == 0, "the connection to be forgotten")

    def test_a_drop_now_and_then_is_half_a_request_too(self, tmp_path, monkeypatch):
        monkeypatch.setattr(connections, "HEADER_SECONDS", 0.5)
        with served(tmp_path) as server, connected(server, HALF_HEADERS) as client:
            client.settimeout(0.05)
            assert b"too-slow" in dripped(client)

    def test_a_slow_answer_is_no_slow_request(self, tmp_path, monkeypatch):
        monkeypatch.setattr(connections, "HEADER_SECONDS", 0.2)
        monkeypatch.setattr(connections, "BODY_SECONDS", 0.2)
        with served(tmp_path, delay_ms=300) as server:
            body = {"model": "moot/classic", "messages": [{"role": "user", "content": "Why?"}]}
            settings = f'{{"max_rounds": 1, "model_debater": "{server.model}", "model_judge": "{server.model}"}}'
            answered = server.post("/v1/chat/completions", body, headers={"X-Moot-Settings": settings})
            assert answered.status_code == 200, answered.text


def test_a_body_that_breaks_off_its_own_refusal_is_no_bug(tmp_path, caplog):
    asked = b"POST /v1/nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with served(tmp_path) as server, connected(server, asked + b"Transfer-Encoding: chunked\r\n\r\n") as client:
        assert b"404 Not Found" in client.recv(65_536)
        client.sendall(b"not the size of a chunk\r\n")
        answer(client)
        wait_for(lambda: len(server.server.connections) == 0, "the connection to be forgotten")
    assert [each.getMessage() for each in caplog.records if each.levelname == "ERROR"] == []


class NeverEnds(asyncio.Protocol):
    """A protocol that takes a connection over and does nothing with it but to greet."""

    def __init__(self, **of_uvicorn: object) -> None:
        pass

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")


class TestRoom:
    def test_whole_requests_have_room_beside_half_ones(self, tmp_path, patient):
        """All come from one client, so what is told apart is what they do."""
        with served(tmp_path, serve_connections=40) as server, ExitStack() as stack:
            for sent in (b"", HALF_HEADERS, HALF_BODY) * 20:
                stack.enter_context(connected(server, sent))
            made = server.completed(settings={"max_rounds": 1})
            assert made["status"] == "completed"
            assert len(server.server.connections) <= 10

    def test_those_that_are_answered_stay(self, tmp_path):
        with served(tmp_path, serve_connections=20) as server, ExitStack() as stack:
            client = stack.enter_context(httpx2.Client(base_url=server.url, timeout=DEADLINE, verify=False))
            streams = [stack.enter_context(client.stream("GET", "/v1/stream?newest=true")) for _ in range(5)]
            assert [each.status_code for each in streams] == [200] * 5
            with connected(server, HEALTH) as refused:
                said = answer(refused)
            assert said == b"" or b"HTTP/1.1 503 " in said
            assert b"200 OK" not in said
            streams[0].close()
            wait_for(lambda: len(server.server.connections) < 5, "its connection to be closed")
            with connected(server, LAST_HEALTH) as again:
                assert b"200 OK" in answer(again)

    def test_those_that_take_nothing_make_room(self, tmp_path, monkeypatch):
        monkeypatch.setattr(connections, "BEHIND_SECONDS", 0.001)
        with served(tmp_path, serve_connections=20) as server, deaf(server, 5):
            wait_for(lambda: len(server.server.connections._waiting) == 5, "the server to notice")
            with connected(server, LAST_HEALTH) as client:
                assert b"200 OK" in answer(client)

    def test_a_web_socket_is_no_connection_of_its_own(self, tmp_path, monkeypatch):
        """As where a library for them is installed."""
        monkeypatch.setattr("uvicorn.protocols.websockets.auto.AutoWebSocketsProtocol", NeverEnds)
        asked = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        with served(tmp_path) as server:
            with connected(server, asked) as client:
                assert client.recv(65_536).startswith(b"HTTP/1.1 200 ")
            wait_for(lambda: len(server.server.connections) == 0, "the connection to be forgotten")

    def test_behind_a_proxy_the_client_is_the_one_it_names(self, tmp_path):
        room = {"serve_connections": 10, "serve_hosts": ["moot.example.org"]}
        with served(tmp_path, behind_proxy=True, **room) as server, ExitStack() as stack:

            def ask(client: str, path: str = "/healthz") -> httpx2.Response:
                request = server.client.build_request("GET", path, headers={"X-Forwarded-For": client})
                response = server.client.send(request, stream=True)
                stack.callback(response.close)
                return response

            streams = [ask("203.0.113.1", "/v1/stream?newest=true") for _ in range(2)]
            assert [each.status_code for each in streams] == [200, 200]
            refused = ask("203.0.113.1")
            assert refused.status_code == 503
            assert "too-many-connections" in refused.read().decode()
            assert ask("203.0.113.2").status_code == 200


class TestStreams:
    def test_one_token_can_not_take_them_all(self, tmp_path, monkeypatch):
        monkeypatch.setattr(limits, "TOKEN_SHARE", 0.7)
        with served(tmp_path, host="0.0.0.0", serve_streams=3) as server, ExitStack() as stack:
            headers = {name: token(server, name, "read") for name in ("ann", "ben")}
            live = server.server._api.state.context.live
            for number in (1, 2):
                stack.enter_context(watching(server, "/v1/stream?newest=true", headers=headers["ann"]))
                wait_for(lambda number=number: live.streams == number, "the stream to begin")
            refused = server.get("/v1/stream?newest=true", headers=headers["ann"])
            assert refused.status_code == 503
            assert "'ann' has 2 streams open" in refused.json()["detail"]
            stack.enter_context(watching(server, "/v1/stream?newest=true", headers=headers["ben"]))
            wait_for(lambda: live.streams == 3, "the stream to begin")
            refused = server.get("/v1/stream?newest=true", headers=headers["ben"])
            assert "3 streams are open" in refused.json()["detail"]

    def test_not_even_at_once(self, tmp_path):
        with served(tmp_path, host="0.0.0.0", serve_streams=20) as server, ExitStack() as stack:
            bearer = token(server, "ann", "read")["Authorization"]
            asked = f"GET /v1/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: {bearer}\r\n\r\n".encode()
            clients = [stack.enter_context(connected(server, asked)) for _ in range(20)]
            said = sorted(client.recv(len("HTTP/1.1 200")) for client in clients)
            assert said == [b"HTTP/1.1 200"] * 2 + [b"HTTP/1.1 503"] * 18
            assert server.server._api.state.context.live.streams == 2
            stack.close()
            wait_for(lambda: server.server._api.state.context.live.streams == 0, "the streams to be forgotten")


class TestLimits:
    def test_descriptors_are_kept_back(self):
        few = Limits.of(Settings(), 1024)
        assert few.connections == 1024 - KEPT_FILES
        assert few.client_connections <= few.connections / 4
        assert few.streams <= few.connections * 0.75
        assert few.token_streams <= few.streams / 10
        assert Limits.of(Settings(), 1_000_000) == Limits.of(Settings())

    def test_too_few_are_said_at_the_start(self):
        with pytest.raises(InputError, match="208 files .* allows this process 100.*ulimit -n"):
            Limits.of(Settings(), 100)


def test_prompts_are_read_before_a_debate_begins(monkeypatch, tmp_path: Path):
    monkeypatch.setattr(prompts, "_loaded", set())
    monkeypatch.setattr(prompts, "_packages", {"moot.formats.duel"})
    prompts._read.cache_clear()
    prompts.load_all()
    monkeypatch.setattr(prompts, "files", lambda package: tmp_path / "gone")
    say = prompts.Prompts("duel")
    with pytest.raises(ScriptError, match="has the slots"):  # it was read, and is only not filled
        say("think")
    monkeypatch.setattr(prompts, "_packages", {"moot.formats.panel"})
    with pytest.raises(ScriptError, match="can't be read .*no debate is started"):
        prompts.load_all()
