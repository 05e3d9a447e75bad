"""Hostile clients beside debates: do they slow them down, and does memory stay flat?

    python -m tests.security.hostile [--rounds 3] [--debates 50] [--clients 40] [--files 1024] [--kinds slow huge …]

A real `moot serve` on SQLite, with a small limit of open files and every other setting at its default, the limit of
requests a second included. Debates are run with and without hostile clients, in turns; the ratio of the medians counts.
The model is simulated. Each hostile client has an address of its own (127.0.0.2 and so on, which needs Linux), as it
would have anywhere but here; with `--together` all have the address of those who run the debates. The clients are on
the same machine, so the processor that they take themselves is part of what is measured.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

MOOT = str(Path(sys.executable).with_name("moot"))
ROOT = Path(__file__).parents[2]
# The command as it is, but with the constants that a test sets.
SERVE = "from tests import forking; from moot.cli.main import main; forking.set_constants(); raise SystemExit(main())"
GOAL = 1.2  # wall time with hostile clients, of that without
FLAT = 0.15  # of its memory that the server may gain after the first round: pools and caches fill up
HANG_SECONDS = 300


@dataclass(kw_only=True)
class Plan:
    rounds: int = 3
    debates: int = 50
    clients: int = 40
    files: int = 1024
    latency_ms: int = 300
    together: bool = False  # hostile clients have the address of the others
    kinds: Sequence[str] = ("half", "slow", "huge", "reconnecting", "deaf", "revoked", "crowd")


@dataclass(kw_only=True)
class Report:
    plan: Plan
    alone: list[float] = field(default_factory=list)
    beside: list[float] = field(default_factory=list)
    rss_kb: list[int] = field(default_factory=list)  # after each round
    done: Counter[str] = field(default_factory=Counter)  # what the hostile clients did
    failed: list[str] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        return statistics.median(self.beside) / statistics.median(self.alone)

    @property
    def gained(self) -> float:
        return self.rss_kb[-1] / self.rss_kb[0] - 1

    def complaints(self) -> list[str]:
        wrong = [f"debates took {self.ratio:.2f} times as long"] if self.ratio > GOAL else []
        wrong += [f"the server's memory grew by {self.gained:.1%}"] if self.gained > FLAT else []
        return wrong + self.failed

    def __str__(self) -> str:
        shown = {name: [f"{each:.2f}" for each in times] for name, times in (("a", self.alone), ("b", self.beside))}
        memory = [f"{kb / 1024:.1f}" for kb in self.rss_kb]
        return "\n".join(
            [
                f"{self.plan.debates} debates alone: {', '.join(shown['a'])} s",
                f"{self.plan.debates} debates beside {self.plan.clients} hostile clients: {', '.join(shown['b'])} s",
                f"ratio of the medians: {self.ratio:.2f}",
                f"memory after each round: {', '.join(memory)} MB ({self.gained:+.1%})",
                f"the clients: {', '.join(f'{count:,} {name}' for name, count in sorted(self.done.items()))}",
            ]
        )


class Target:
    """A server of its own process, and what a hostile client knows of it."""

    def __init__(self, process: subprocess.Popen[str], url: str, token: str, environ: dict[str, str]) -> None:
        self.process, self.url, self.token, self.environ = process, url, token, environ
        self.host, port = url.removeprefix("http://").split(":")
        self.port = int(port)

    @property
    def rss_kb(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])

    def moot(self, *args: str) -> str:
        return subprocess.run([MOOT, *args], env=self.environ, check=True, capture_output=True, text=True).stdout

    @asynccontextmanager
    async def connection(self, address: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """`address`: where it comes from."""
        reader, writer = await asyncio.open_connection(self.host, self.port, local_addr=(address, 0))
        try:
            yield reader, writer
        finally:
            writer.close()

    def request(self, method: str, path: str, token: str | None = None, length: int | None = None) -> bytes:
        """`token`: the valid one when left out, none when empty."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.host}:{self.port}"]
        token = self.token if token is None else token
        lines += [f"Authorization: Bearer {token}"] if token else []
        if length is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {length}"]
        return "\r\n".join([*lines, "", ""]).encode()


@contextmanager
def serving(folder: Path, files: int, **settings: str) -> Iterator[Target]:
    """`moot serve` with tokens, on SQLite, that may open so many files."""
    import resource

    environ = {
        **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        "MOOT_CONFIG": os.devnull,
        "MOOT_DATABASE_URL": str(folder / "moot.db"),
        "MOOT_EMBEDDER": "none",
        "MOOT_MODEL": "sim:",
        "MOOT_SERVE_TOKENS": "always",
        **settings,
    }
    made = subprocess.run(
        [MOOT, "token", "create", "ann", "--scope", "read,run"], env=environ, check=True, capture_output=True, text=True
    )
    token = re.search(r"moot_\S+", made.stdout)[0]
    with (folder / "serve.err").open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", SERVE, "serve", "--port", "0"],
            env={**environ, "PYTHONPATH": str(ROOT)},
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),
        )
    try:
        url = re.search(r"http://\S+", process.stdout.readline())
        assert url, (folder / "serve.err").read_text()
        yield Target(process, url[0], token, environ)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


async def run_debates(target: Target, plan: Plan) -> float:
    """Seconds until all debates, begun at once, have completed."""
    headers = {"Authorization": f"Bearer {target.token}"}
    model = f"sim:?latency_ms={plan.latency_ms}"
    body = {
        "topic": "Redis or PostgreSQL?",
        "format": "classic",
        "settings": {"max_rounds": 3, "model_debater": model, "model_judge": model},
    }
    async with httpx2.AsyncClient(base_url=target.url, timeout=HANG_SECONDS, headers=headers) as client:
        began = time.monotonic()
        made = await asyncio.gather(*(client.post("/v1/debates", json=body) for _ in range(plan.debates)))
        left = [each.raise_for_status().json()["id"] for each in made]
        async with asyncio.timeout(HANG_SECONDS):
            while left:
                found = (await client.get(f"/v1/debates/{left[-1]}")).raise_for_status().json()
                if found["status"] == "running":
                    await asyncio.sleep(0.05)
                    continue
                assert found["status"] == "completed", found
                left.pop()
        return time.monotonic() - began


class Hostile:
    """Clients that behave badly, each in a way of its own, until they are canceled."""

    def __init__(self, target: Target, done: Counter[str], seed: int, address: str) -> None:
        self.target, self.done, self.random, self.address = target, done, random.Random(seed), address

    async def run(self, kind: str) -> None:
        while True:
            self.done[kind] += 1
            with suppress(OSError, asyncio.IncompleteReadError):
                await getattr(self, kind)()
            await asyncio.sleep(self.random.uniform(0.02, 0.2))

    async def half(self) -> None:
        """Half the headers, then silence."""
        async with self.target.connection(self.address) as (reader, writer):
            writer.write(b"GET /v1/debates HTTP/1.1\r\nHost: x\r\nX-Half:")
            await asyncio.wait_for(reader.read(), 20)

    async def slow(self) -> None:
        """A body, a byte at a time."""
        async with self.target.connection(self.address) as (_, writer):
            writer.write(self.target.request("POST", "/v1/debates", length=1000))
            for _ in range(100):
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.1)

    async def huge(self) -> None:
        """Large bodies that are not valid, and texts that take long to render, with a token and without."""
        body, token = self.random.choice(HUGE), self.random.choice((None, ""))
        async with self.target.connection(self.address) as (reader, writer):
            writer.write(self.target.request("POST", "/v1/debates", token, length=len(body)) + body)
            await reader.readuntil(b"\r\n\r\n")

    async def reconnecting(self) -> None:
        """A stream that is opened and left at once."""
        async with self.target.connection(self.address) as (reader, writer):
            writer.write(self.target.request("GET", "/v1/stream?newest=true"))
            await reader.readuntil(b"\r\n\r\n")

    async def deaf(self) -> None:
        """A stream that is never read."""
        async with self.target.connection(self.address) as (_, writer):
            writer.write(self.target.request("GET", "/v1/stream?newest=true"))
            await asyncio.sleep(5)

    async def revoked(self) -> None:
        """Tokens that are not valid."""
        async with self.target.connection(self.address) as (reader, writer):
            writer.write(self.target.request("GET", "/v1/debates", token="moot_never"))
            await reader.readuntil(b"\r\n\r\n")

    async def crowd(self) -> None:
        """Connections without a request, many at once."""
        async with AsyncExitStack() as stack:
            for _ in range(30):
                await stack.enter_async_context(self.target.connection(self.address))
            await asyncio.sleep(3)


# Made once: the clients share their process with those that watch the debates.
HUGE = [
    json.dumps(body).encode()
    for body in (
        {f"key {n}": 1 for n in range(20_000)},
        {"topic": "[" * 400_000},
        {"topic": "?", "settings": {f"k{n}": [[n]] for n in range(3000)}},
    )
]


@asynccontextmanager
async def attacked(target: Target, plan: Plan, done: Counter[str]) -> AsyncIterator[None]:
    tasks = [
        asyncio.create_task(
            Hostile(target, done, n, "127.0.0.1" if plan.together else f"127.0.{n // 250}.{2 + n % 250}").run(
                plan.kinds[n % len(plan.kinds)]
            ),
            name=f"hostile-{n}",
        )
        for n in range(plan.clients)
    ]
    try:
        yield
        broken = [task.exception() for task in tasks if task.done()]
        assert not broken, broken
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _soak(target: Target, plan: Plan) -> Report:
    report = Report(plan=plan)
    await run_debates(target, plan)  # warm-up
    for _ in range(plan.rounds):
        report.alone.append(await run_debates(target, plan))
        async with attacked(target, plan, report.done):
            report.beside.append(await run_debates(target, plan))
            async with httpx2.AsyncClient(base_url=target.url, timeout=HANG_SECONDS) as client:
                ready = await client.get("/readyz")
                report.failed += [] if ready.status_code == 200 else [f"/readyz: {ready.text}"]
        report.rss_kb.append(target.rss_kb)
    return report


def soak(folder: Path, plan: Plan) -> Report:
    with serving(folder, plan.files) as target:
        return asyncio.run(_soak(target, plan))


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.security.hostile", description=__doc__)
    for name in ("rounds", "debates", "clients", "files"):
        parser.add_argument(f"--{name}", type=int, default=getattr(Plan, name))
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--kinds", nargs="+", choices=Plan.kinds, default=Plan.kinds)
    with tempfile.TemporaryDirectory() as folder:
        report = soak(Path(folder), Plan(**vars(parser.parse_args(argv))))
    print(report)
    complaints = report.complaints()
    print("\n".join(complaints) or "Nothing to complain about.")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
