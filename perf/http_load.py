"""A closed-loop HTTP load generator over keep-alive connections, run as a separate process:

    python -m perf.http_load HOST:PORT CONNECTIONS SECONDS < PATHS

Prints the request rate and the milliseconds that each request took, as JSON."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle

from perf.process import run_module

_MARGIN_SECONDS = 60


@dataclass(frozen=True, kw_only=True)
class LoadResult:
    per_second: float
    milliseconds: list[float]  # of each request


def generate_load(port: int, paths: Sequence[str], *, connections: int, seconds: float) -> LoadResult:
    """GET the paths in turn for `seconds`. Raises RuntimeError on any status but 200."""
    result = run_module(
        "perf.http_load",
        f"127.0.0.1:{port}",
        str(connections),
        str(seconds),
        stdin="\n".join(paths),
        timeout=seconds + _MARGIN_SECONDS,
    )
    return LoadResult(**result)


async def _run(address: str, paths: Sequence[str], connections: int, seconds: float) -> dict[str, object]:
    host, _, port = address.rpartition(":")
    durations: list[float] = []
    began = time.perf_counter()
    upcoming = cycle(paths)
    await asyncio.gather(
        *(_connection(host, int(port), upcoming, began + seconds, durations) for _ in range(connections))
    )
    per_second = len(durations) / (time.perf_counter() - began)
    return {"per_second": per_second, "milliseconds": [round(each, 3) for each in durations]}


async def _connection(host: str, port: int, paths: Iterator[str], until: float, durations: list[float]) -> None:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        while (began := time.perf_counter()) < until:
            path = next(paths)
            writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nAccept: application/json\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            status, *headers = head.lower().split(b"\r\n")
            length = next(int(line.partition(b":")[2]) for line in headers if line.startswith(b"content-length:"))
            body = await reader.readexactly(length)
            if b" 200" not in status:
                raise RuntimeError(f"{path}: {status.decode()} {body[:200]!r}")
            durations.append((time.perf_counter() - began) * 1000)
    finally:
        writer.close()


def main(address: str, connections: str, seconds: str) -> None:
    print(json.dumps(asyncio.run(_run(address, sys.stdin.read().split(), int(connections), float(seconds)))))


if __name__ == "__main__":
    main(*sys.argv[1:])
