"""Any number of clients of one event stream, run as a separate process:

    python -m perf.sse_client HOST:PORT WATCHERS PATH [START]

All connect to PATH; once every one has a response, START is posted to. Data is only timestamped as it arrives and
parsed after the server has closed every stream, so that the clients are not the bottleneck."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import asdict, dataclass, field

from moot.core.types import Json
from perf.chunk_source import timestamps
from perf.process import run_module

_SECONDS = 240
_MAX_LATENCIES = 2000


@dataclass(kw_only=True)
class WatchResult:
    latencies: list[float]  # milliseconds from sent to received, sorted; evenly thinned to about _MAX_LATENCIES
    chunks: int  # chunks that each client received
    events: int  # durable events that each client received
    begin: float  # monotonic: when the debate was started
    end: float  # monotonic: when the last stream closed


def watch(port: int, watchers: int, path: str, start: str = "") -> WatchResult:
    """Raises RuntimeError if any client missed an event or a chunk."""
    result = run_module("perf.sse_client", f"127.0.0.1:{port}", str(watchers), path, start, timeout=_SECONDS + 60)
    return WatchResult(**result)


@dataclass
class Received:
    """Raw data of one connection, in pieces with their time of arrival in nanoseconds."""

    pieces: list[tuple[int, bytes]] = field(default_factory=list[tuple[int, bytes]])
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)


class _Connection(asyncio.Protocol):
    def __init__(self, received: Received, request: bytes) -> None:
        self._received, self._request = received, request

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._received.pieces.append((time.monotonic_ns(), data))
        self._received.answered.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._received.answered.set()
        self._received.closed.set()


async def _watch(address: str, watchers: int, path: str, start: str) -> WatchResult:
    host, _, port = address.rpartition(":")
    loop = asyncio.get_running_loop()
    connections = [Received() for _ in range(watchers)]
    request = f"GET {path} HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\nConnection: close\r\n\r\n"
    for received in connections:
        await loop.create_connection(lambda received=received: _Connection(received, request.encode()), host, int(port))
    for received in connections:
        await received.answered.wait()
    begin = time.monotonic()
    if start:
        posted = Received()
        post = f"POST {start} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        await loop.create_connection(lambda: _Connection(posted, post.encode()), host, int(port))
        await posted.closed.wait()
        _check_ok(posted)
    for received in connections:
        await received.closed.wait()
    end = time.monotonic()
    streams = [parse(received) for received in connections]
    first = streams[0]
    for stream in streams:
        if stream.durable != first.durable or stream.chunks != first.chunks:
            raise RuntimeError(f"one client received {stream.chunks} chunks, another {first.chunks}")
    latencies = sorted(each for stream in streams for each in stream.latencies)
    thinned = latencies[:: max(1, len(latencies) // _MAX_LATENCIES)]
    return WatchResult(latencies=thinned, chunks=first.chunks, events=len(first.durable), begin=begin, end=end)


@dataclass
class Stream:
    """The parsed events of one connection. Raises RuntimeError on a gap in events or text."""

    durable: dict[int, str] = field(default_factory=dict[int, str])  # event type by sequence number
    latencies: list[float] = field(default_factory=list[float])
    chunks: int = 0
    ended: bool = False
    _texts: dict[str, str] = field(default_factory=dict[str, str])  # received so far, by step key

    def add(self, at: int, event: str, data: Json) -> None:
        if event == "end":
            self.ended = True
        elif event == "delta":
            key = data.get("key", "")
            so_far = self._texts.get(key, "")
            if data.get("offset", len(so_far)) != len(so_far):
                raise RuntimeError(f"text continues at offset {data['offset']}, after {len(so_far)} characters")
            self._extend(at, key, so_far + data["text"])
        elif event == "message":
            self._add_durable(at, data)

    def _add_durable(self, at: int, data: Json) -> None:
        if data["seq"] != len(self.durable) + 1:
            raise RuntimeError(f"event {data['seq']} follows event {len(self.durable)}")
        self.durable[data["seq"]] = data["type"]
        turn: Json | None = data["turn"]
        if turn is not None and data["key"] in self._texts:
            if not turn["content"].startswith(self._texts[data["key"]].rstrip()):
                raise RuntimeError(f"the final text of {data['key']} differs from its deltas")
            self._extend(at, data["key"], turn["content"] + " ")

    def _extend(self, at: int, key: str, text: str) -> None:
        known = len(timestamps(self._texts.get(key, "")))
        new = timestamps(text)[known:]
        self.latencies += [(at - sent) / 1e6 for sent in new]
        self.chunks += len(new)
        self._texts[key] = text


def parse(received: Received) -> Stream:
    """Raises RuntimeError if the stream has no end event."""
    stream = Stream()
    for at, event, data in _events(received):
        stream.add(at, event, json.loads(data))
    if not stream.ended:
        raise RuntimeError("a stream was closed before its end event")
    return stream


def _events(received: Received) -> list[tuple[int, str, str]]:
    """Arrival of the last byte, event name and data of each event."""
    _check_ok(received)
    events: list[tuple[int, str, str]] = []
    wire, body, in_head = b"", b"", True
    for at, piece in received.pieces:
        wire += piece
        if in_head:
            _, separator, rest = wire.partition(b"\r\n\r\n")
            if not separator:
                continue
            in_head, wire = False, rest
        wire, decoded = _decode_chunked(wire)
        body += decoded
        *complete, body = body.split(b"\n\n")
        for event in complete:
            fields = {name: value for name, _, value in (line.partition(": ") for line in event.decode().split("\n"))}
            if "data" in fields:
                events.append((at, fields.get("event", "message"), fields["data"]))
    return events


def _decode_chunked(wire: bytes) -> tuple[bytes, bytes]:
    """Split off the complete HTTP chunks; return the rest and their content."""
    body: list[bytes] = []
    while True:
        size, separator, rest = wire.partition(b"\r\n")
        if not separator or len(rest) < int(size, 16) + 2:
            return wire, b"".join(body)
        body.append(rest[: int(size, 16)])
        wire = rest[int(size, 16) + 2 :]


def _check_ok(received: Received) -> None:
    start = b"".join(piece for _, piece in received.pieces[:20])
    if not start.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(f"expected status 200, received {start[:100]!r}")


async def _main(address: str, watchers: str, path: str, start: str = "") -> None:
    async with asyncio.timeout(_SECONDS):
        print(json.dumps(asdict(await _watch(address, int(watchers), path, start))))


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
