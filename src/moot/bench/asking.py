"""Requests as fast as they are answered, over connections that are kept. In a process of its own:

    python -m moot.bench.asking HOST:PORT CONNECTIONS SECONDS < PATHS

It prints how many were answered, and the milliseconds that each took."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle

_PATIENCE_SECONDS = 60


@dataclass(frozen=True, kw_only=True)
class Answered:
    per_second: float
    milliseconds: list[float]


def ask(port: int, paths: Sequence[str], *, connections: int, seconds: float) -> Answered:
    """Raises when one was not answered with 200."""
    done = subprocess.run(
        [sys.executable, "-m", "moot.bench.asking", f"127.0.0.1:{port}", str(connections), str(seconds)],
        input="\n".join(paths),
        capture_output=True,
        text=True,
        timeout=seconds + _PATIENCE_SECONDS,
        check=False,
    )
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[-1])
    return Answered(**json.loads(done.stdout))


async def _all(place: str, paths: Sequence[str], connections: int, seconds: float) -> dict[str, object]:
    host, _, port = place.rpartition(":")
    taken: list[float] = []
    began = time.perf_counter()
    turn = cycle(paths)
    await asyncio.gather(*(_one(host, int(port), turn, began + seconds, taken) for _ in range(connections)))
    per_second = len(taken) / (time.perf_counter() - began)
    return {"per_second": per_second, "milliseconds": [round(each, 3) for each in taken]}


async def _one(host: str, port: int, paths: Iterator[str], until: float, taken: list[float]) -> None:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        while (began := time.perf_counter()) < until:
            path = next(paths)
            writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nAccept: application/json\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            first, *lines = head.lower().split(b"\r\n")
            length = next(int(line.partition(b":")[2]) for line in lines if line.startswith(b"content-length:"))
            body = await reader.readexactly(length)
            if b" 200" not in first:
                raise RuntimeError(f"{path}: {first.decode()} {body[:200]!r}")
            taken.append((time.perf_counter() - began) * 1000)
    finally:
        writer.close()


if __name__ == "__main__":
    where, count, long = sys.argv[1:]
    print(json.dumps(asyncio.run(_all(where, sys.stdin.read().split(), int(count), float(long)))))
