"""Clients that keep being refused get their refusals late, and everyone else is answered at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.server import guard, slowing
from moot.server.slowing import BURST_SECONDS, MOST_HELD, MOST_SECONDS, SHARE, Slowing
from tests.server.serving import Served, connected, served, wait_for

RATE = 80  # of which 4 may be refused at once
BURST = round(RATE * SHARE * BURST_SECONDS)
STREAM = b"GET /v1/stream?newest=true HTTP/1.1\r\nHost: localhost\r\n\r\n"
INVALID = (
    b"POST /v1/debates HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]"
)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_more_refusals_the_later():
    clock = Clock()
    slow = Slowing(RATE, clock)
    for _ in range(BURST):
        slow.count("a")
        assert slow.seconds("a") == 0.0
    held = []
    for _ in range(8):
        slow.count("a")
        held.append(slow.seconds("a"))
    assert held == [0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0, 2.0]
    assert held[-1] == MOST_SECONDS
    assert slow.seconds("b") == 0.0
    clock.now += 60
    assert slow.seconds("a") == 0.0, "it has been quiet"


async def _never() -> dict[str, str]:
    await asyncio.Event().wait()
    return {}


async def test_nothing_is_held_back_for_a_client_that_is_gone(monkeypatch):
    monkeypatch.setattr(slowing, "FIRST_SECONDS", 3600.0)
    monkeypatch.setattr(slowing, "MOST_SECONDS", 3600.0)

    async def gone() -> dict[str, str]:
        return {"type": "http.disconnect"}

    slow = Slowing(1e-9)
    slow.count("a")
    await slow.hold("a", gone)
    held = [asyncio.create_task(slow.hold("a", _never)) for _ in range(MOST_HELD)]
    await asyncio.sleep(0)
    assert slow.is_full("a")
    assert not slow.is_full("b")
    await slow.hold("a", _never)  # no more than that
    for task in held:
        task.cancel()
    await asyncio.gather(*held, return_exceptions=True)
    assert not slow.is_full("a")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setattr(slowing, "FIRST_SECONDS", 3600.0)
    monkeypatch.setattr(slowing, "MOST_SECONDS", 3600.0)
    monkeypatch.setattr(slowing, "SHARE", 1e-9)
    monkeypatch.setattr(slowing, "BURST_SECONDS", BURST / (RATE * 1e-9))
    monkeypatch.setattr(guard, "HASTY_SECONDS", 3600.0)
    with served(tmp_path, serve_rate=RATE) as server:
        yield server


def test_an_invalid_request_waits_and_valid_ones_do_not(server):
    for _ in range(BURST):
        assert server.client.post("/v1/debates", json=[]).status_code == 422
    with connected(server, INVALID) as connection:
        for _ in range(3):
            assert server.get("/v1/debates").status_code == 200
        connection.setblocking(False)
        with pytest.raises(BlockingIOError):
            connection.recv(1)


def test_streams_that_are_left_at_once_begin_late(server, monkeypatch):
    left: list[str] = []
    count = Slowing.count
    monkeypatch.setattr(Slowing, "count", lambda slow, client: (left.append(client), count(slow, client)))
    for n in range(BURST + 1):
        with connected(server, STREAM) as connection:
            assert connection.recv(15) == b"HTTP/1.1 200 OK"
        wait_for(lambda n=n: len(left) == n + 1, "the server to notice that the stream was left")
    with connected(server, STREAM) as connection:
        assert server.get("/v1/debates").status_code == 200
        connection.setblocking(False)
        with pytest.raises(BlockingIOError):
            connection.recv(1)
