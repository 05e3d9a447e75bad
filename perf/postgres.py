"""Durable steps per second on PostgreSQL: against bare statements, against other engines, and with workers."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Self

from moot.app import App
from moot.client import creating
from moot.core.settings import Settings, read
from moot.core.types import Cursor
from moot.store import Commit
from moot.store.postgres import PostgresStore
from moot.store.postgres.connections import Connection, connect, sql
from moot.store.postgres.writer import json_rows
from moot.store.rows import ending_values, new_id, step_values, turn_json
from perf.cluster import NoServer, Server, postgres_server, redis_server
from perf.durable_steps import rate, row
from perf.peer import Peer
from perf.rig import (
    DUEL_STEPS,
    Played,
    alternate,
    median,
    plan,
    play_duel,
    run,
    run_all,
    sim,
    timed,
)
from perf.table import Goal, Row

LINKS = 16  # connections of the raw writer; more made it no faster
_WARM_UP = "warm-up"
_SECONDS = 120  # limit of one repetition
_SETTINGS = "PostgreSQL on the same machine, fsync=on, synchronous_commit=on"


def against_raw(folder: Path, *, repeats: int = 5, debates: int = 100) -> list[Row]:
    played = run(play_duel(folder))
    rows: list[Row] = []
    with postgres_server(folder) as server, MootOnPostgres(server) as moot:
        for count, times in ((1, repeats * 3), (debates, repeats)):
            ours, theirs = alternate(
                times,
                lambda count=count: rate(count, moot.seconds_for(count)),
                lambda count=count: rate(count, run(_raw_seconds(server, played, count))),
            )
            note = f"{_SETTINGS}; raw: one statement for each step, built beforehand, on up to {LINKS} connections"
            goal = Goal(sign=">=", bound=0.4)
            rows.append(row(count, ours, theirs, "raw PostgreSQL", goal, note if count == 1 else ""))
    return rows


def against_engines(folder: Path, *, repeats: int = 2, debates: int = 100, home: Path | None = None) -> list[Row]:
    texts = [turn.content for turn in run(play_duel(folder)).turns]
    rows: list[Row] = []
    with postgres_server(folder) as server:
        for name, goal in (("LangGraph", 5.0), ("DBOS", 1.0), ("Celery with Redis", 1.0)):
            try:
                rows += _against(
                    name, Goal(sign=">=", bound=goal), server, folder, home or folder, texts, repeats, debates
                )
            except (NoServer, RuntimeError) as error:
                rows.append(Row(name=f"durable steps, PostgreSQL, {name}", error=str(error)))
    return rows


def with_workers(folder: Path, *, repeats: int = 3, debates: int = 100) -> list[Row]:
    """Debates queued for `moot worker` processes, from the first job to the last verdict."""
    with postgres_server(folder) as server:
        measured = alternate(
            repeats, *(lambda n=n: rate(debates, run(_with_workers(server, n, debates))) for n in (1, 2, 4))
        )
    one = median(measured[0])
    return [
        Row(
            name=f"durable steps, PostgreSQL, {debates} debates queued, {n} worker{'s' if n > 1 else ''}",
            value=median(rates),
            unit="/s",
            reference=one,
            against=f"{one:,.0f} /s: one worker",
            note=f"{_SETTINGS}; {os.cpu_count()} cores for the workers and the server together" if n == 1 else "",
            details={"ours": rates},
        )
        for n, rates in zip((1, 2, 4), measured, strict=True)
    ]


def _against(
    name: str, goal: Goal, server: Server, folder: Path, home: Path, texts: Sequence[str], repeats: int, debates: int
) -> list[Row]:
    rows: list[Row] = []
    url = run(server.create_database())
    program = {
        "LangGraph": "peer_langgraph_postgres.py",
        "DBOS": "peer_dbos.py",
        "Celery with Redis": "peer_celery.py",
    }[name]
    with ExitStack() as stack:
        environ = {"PEER_DATABASE": url}
        if name.startswith("Celery"):
            environ |= {"PEER_REDIS": stack.enter_context(redis_server(folder)), "PATH": os.environ["PATH"]}
        peer = stack.enter_context(
            Peer(
                name,
                folder,
                home,
                program=program,
                requirements="postgres_requirements.txt",
                argument=url,
                texts=texts,
                environ=environ,
            )
        )
        moot = stack.enter_context(MootOnPostgres(server))
        for count, times in ((1, repeats * 3), (debates, repeats)):
            ours, theirs = alternate(
                times,
                lambda count=count: rate(count, moot.seconds_for(count)),
                lambda count=count: rate(count, peer.seconds_for(count)),
            )
            note = f"{peer.versions}; at least {peer.stored} steps stored for each debate of {DUEL_STEPS}"
            rows.append(row(count, ours, theirs, f"{name} on PostgreSQL", goal, note if count == 1 else ""))
    return rows


class MootOnPostgres:
    """An app on a new database and its event loop, kept open between repetitions. A context manager."""

    def __init__(self, server: Server) -> None:
        self._server, self._runner, self._stack = server, asyncio.Runner(), AsyncExitStack()

    def __enter__(self) -> Self:
        self._app = self._runner.run(self._open())
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self._stack.aclose())
        self._runner.close()

    def seconds_for(self, debates: int) -> float:
        return self._runner.run(asyncio.wait_for(self._seconds(debates), _SECONDS))

    async def _open(self) -> App:
        app = await self._stack.enter_async_context(_app_on(await self._server.create_database()))
        self._plan = plan(app, sim(), settings={"recall_decisions": False})
        return app

    async def _seconds(self, count: int) -> float:
        debates = [await creating.create(self._app, self._plan) for _ in range(count)]
        return await timed(run_all(self._app, debates, steps=DUEL_STEPS))


async def _with_workers(server: Server, workers: int, count: int) -> float:
    url = await server.create_database()
    async with _app_on(url) as app:
        duel = plan(app, sim(), settings={"recall_decisions": False})
        debates = [await creating.create(app, duel) for _ in range(count)]
        await app.hand_over(await creating.create(app, duel))  # creates the queue's tables and warms a worker up
        processes = [
            subprocess.Popen(  # noqa: ASYNC220
                [Path(sys.executable).parent / "moot", "worker", "--db", url],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PATH": os.environ["PATH"], "MOOT_EMBEDDER": "none", "HOME": os.environ.get("HOME", "/")},
            )
            for _ in range(workers)
        ]
        try:
            await _wait_until_completed(app, 1, processes)
            await _wait_for_workers(app, processes)
            began = time.perf_counter()
            for debate in debates:
                await app.hand_over(debate)
            await _wait_until_completed(app, count + 1, processes)
            return time.perf_counter() - began
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait()


async def _wait_until_completed(app: App, count: int, workers: Sequence[subprocess.Popen[bytes]]) -> None:
    while True:
        debates = (await app.condition()).debates
        if debates.get("completed", 0) >= count:
            return
        if debates.get("failed"):
            raise RuntimeError("a debate failed")
        await _pause(workers)


async def _wait_for_workers(app: App, workers: Sequence[subprocess.Popen[bytes]]) -> None:
    while True:
        if len((await app.overview()).workers) >= len(workers):
            return
        await _pause(workers)


async def _pause(workers: Sequence[subprocess.Popen[bytes]]) -> None:
    if any(worker.poll() is not None for worker in workers):
        raise RuntimeError("a worker ended")
    await asyncio.sleep(0.01)


@asynccontextmanager
async def _app_on(url: str) -> AsyncGenerator[App]:
    app = App(read(Settings, {"database_url": url, "embedder": "none"}), {})
    try:
        await app.runtime.store.open()
        yield app
    finally:
        await app.close()


async def _raw_seconds(server: Server, played: Played, debates: int) -> float:
    """Execute the commit statement alone. All values are built before the clock starts."""
    store = PostgresStore(await server.create_database())
    ids = [f"debate-{number:06}" for number in range(debates)]
    try:
        for debate_id in (_WARM_UP, *ids):
            await store.create(replace(played.debate, id=debate_id))
            await store.claim(debate_id, "bench", 600, expect=["pending"])
        warm_up, *work = [_values(played, debate_id) for debate_id in (_WARM_UP, *ids)]
        links = [await connect(store.address) for _ in range(min(LINKS, debates))]
        try:
            free: asyncio.Queue[Connection] = asyncio.Queue()
            for link, values in zip(links, warm_up, strict=False):
                await sql("commit").on(link, values)
                free.put_nowait(link)

            async def commit_all(steps: Sequence[dict[str, str]]) -> None:
                for values in steps:
                    link = await free.get()
                    try:
                        found = await sql("commit").on(link, values)
                    finally:
                        free.put_nowait(link)
                    if len(found) != 1:
                        raise RuntimeError("a commit was refused")

            return await timed(asyncio.gather(*(commit_all(steps) for steps in work)))
        finally:
            for link in links:
                await link.close()
    finally:
        await store.close()


def _values(played: Played, debate_id: str) -> list[dict[str, str]]:
    now = time.time()
    steps: list[dict[str, str]] = []
    for turn in played.turns:
        commit = Commit(debate_id=debate_id, epoch=1, turns=[turn], cursor=Cursor(open=(turn.key,)), shown=1)
        session = {**step_values(commit, now), **ending_values(commit)}
        session |= {"events": 1, "write_id": new_id(now), "followed": False}
        event = {"session_id": debate_id, "n": 1, "type": "TURN", "key": turn.key, "data": "{}"}
        row = turn_json(turn, debate_id)
        steps.append(
            {
                "commits": json_rows([session]),
                "turns": json_rows([row]),
                "events": json_rows([event]),
                "gates": "[]",
            }
        )
    return steps
