"""Watchers of a stream of events, as many as wanted, in a process of their own:

    python -m moot.bench.watching HOST:PORT WATCHERS PATH [START]

All connect to PATH; when every one of them has an answer, START is posted to; when the server has closed every stream,
what they were told is looked at. While it comes in, only the time is noted: the client must not be what is slow."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from moot.bench.stamping import stamps
from moot.types import Json

_SECONDS = 240
_POINTS = 2000


@dataclass(kw_only=True)
class Watched:
    latencies: list[float]  # milliseconds from sent to told, sorted; of very many only some, evenly
    chunks: int  # pieces of text that each was told
    events: int  # durable events that each was told
    begin: float  # monotonic: from the start of the debate to the end of the last stream
    end: float


def watch(port: int, watchers: int, path: str, start: str = "") -> Watched:
    """Raises when one of the watchers was not told everything."""
    command = [sys.executable, "-m", "moot.bench.watching", f"127.0.0.1:{port}", str(watchers), path, start]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS + 60, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[-1])
    return Watched(**json.loads(done.stdout))


@dataclass
class Heard:
    """What came over one connection, and when."""

    pieces: list[tuple[int, bytes]] = field(default_factory=list[tuple[int, bytes]])
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)


class _Line(asyncio.Protocol):
    def __init__(self, heard: Heard, request: bytes) -> None:
        self._heard, self._request = heard, request

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._heard.pieces.append((time.monotonic_ns(), data))
        self._heard.answered.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._heard.answered.set()
        self._heard.closed.set()


async def _watch(place: str, watchers: int, path: str, start: str) -> Watched:
    host, _, port = place.rpartition(":")
    loop = asyncio.get_running_loop()
    all_heard = [Heard() for _ in range(watchers)]
    request = f"GET {path} HTTP/1.1\r\nHost: {place}\r\nAccept: text/event-stream\r\nConnection: close\r\n\r\n"
    for heard in all_heard:
        await loop.create_connection(lambda heard=heard: _Line(heard, request.encode()), host, int(port))
    for heard in all_heard:
        await heard.answered.wait()
    begin = time.monotonic()
    if start:
        posted = Heard()
        post = f"POST {start} HTTP/1.1\r\nHost: {place}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        await loop.create_connection(lambda: _Line(posted, post.encode()), host, int(port))
        await posted.closed.wait()
        _check_ok(posted)
    for heard in all_heard:
        await heard.closed.wait()
    end = time.monotonic()
    told = [read(heard) for heard in all_heard]
    first = told[0]
    for each in told:
        if each.durable != first.durable or each.chunks != first.chunks:
            raise RuntimeError(f"a watcher was told {each.chunks} pieces, another {first.chunks}")
    latencies = sorted(late for each in told for late in each.latencies)
    thin = latencies[:: max(1, len(latencies) // _POINTS)]
    return Watched(latencies=thin, chunks=first.chunks, events=len(first.durable), begin=begin, end=end)


@dataclass
class Told:
    """What one watcher was told, put together."""

    durable: dict[int, str] = field(default_factory=dict[int, str])  # event by sequence number
    latencies: list[float] = field(default_factory=list[float])
    chunks: int = 0
    ended: bool = False
    _texts: dict[str, str] = field(default_factory=dict[str, str])  # in flight, by key

    def take(self, at: int, event: str, data: Json) -> None:
        if event == "end":
            self.ended = True
        elif event == "delta":
            key = data.get("key", "")
            so_far = self._texts.get(key, "")
            if data.get("offset", len(so_far)) != len(so_far):
                raise RuntimeError(f"text was told from {data['offset']} on, after {len(so_far)} characters")
            self._more(at, key, so_far + data["text"])
        elif event == "message":
            self._durable(at, data)

    def _durable(self, at: int, data: Json) -> None:
        if data["seq"] != len(self.durable) + 1:
            raise RuntimeError(f"event {data['seq']} was told after {len(self.durable)}")
        self.durable[data["seq"]] = data["type"]
        turn: Json | None = data["turn"]
        if turn is not None and data["key"] in self._texts:
            if not turn["content"].startswith(self._texts[data["key"]].rstrip()):
                raise RuntimeError(f"the text of {data['key']} is not the one that was told while it was written")
            self._more(at, data["key"], turn["content"] + " ")

    def _more(self, at: int, key: str, text: str) -> None:
        known = len(stamps(self._texts.get(key, "")))
        new = stamps(text)[known:]
        self.latencies += [(at - sent) / 1e6 for sent in new]
        self.chunks += len(new)
        self._texts[key] = text


def read(heard: Heard) -> Told:
    told = Told()
    for at, event, data in _events(heard):
        told.take(at, event, json.loads(data))
    if not told.ended:
        raise RuntimeError("a stream broke off before its end")
    return told


def _events(heard: Heard) -> list[tuple[int, str, str]]:
    """Each event with the time at which it was there as a whole."""
    _check_ok(heard)
    found: list[tuple[int, str, str]] = []
    wire, body, head = b"", b"", True
    for at, piece in heard.pieces:
        wire += piece
        if head:
            _, mark, rest = wire.partition(b"\r\n\r\n")
            if not mark:
                continue
            head, wire = False, rest
        wire, more = _unchunked(wire)
        body += more
        *whole, body = body.split(b"\n\n")
        for event in whole:
            fields = {name: value for name, _, value in (line.partition(": ") for line in event.decode().split("\n"))}
            if "data" in fields:
                found.append((at, fields.get("event", "message"), fields["data"]))
    return found


def _unchunked(wire: bytes) -> tuple[bytes, bytes]:
    """What remains, and what the whole chunks held."""
    body: list[bytes] = []
    while True:
        size, mark, rest = wire.partition(b"\r\n")
        if not mark or len(rest) < int(size, 16) + 2:
            return wire, b"".join(body)
        body.append(rest[: int(size, 16)])
        wire = rest[int(size, 16) + 2 :]


def _check_ok(heard: Heard) -> None:
    beginning = b"".join(piece for _, piece in heard.pieces[:20])
    if not beginning.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(f"not answered: {beginning[:100]!r}")


async def _main(arguments: Sequence[str]) -> dict[str, Any]:
    place, watchers, path, start = arguments
    async with asyncio.timeout(_SECONDS):
        return asdict(await _watch(place, int(watchers), path, start))


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_main(sys.argv[1:]))))
