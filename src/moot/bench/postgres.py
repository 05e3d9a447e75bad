"""Durable steps per second on PostgreSQL: against the statement alone, against other engines, and with workers."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Self

from moot.app import App
from moot.bench.cluster import NoServer, Server, a_redis, a_server
from moot.bench.durable_steps import rate, row
from moot.bench.peer import Peer
from moot.bench.rig import (
    DUEL_STEPS,
    Played,
    alternate,
    finish_all,
    median,
    plan,
    run,
    sim,
    start_all,
    timed,
    whole_duel,
)
from moot.bench.table import Goal, Row
from moot.settings import Settings, read
from moot.store import Commit
from moot.store.postgres import PostgresStore
from moot.store.postgres.link import Link, connect, sql
from moot.store.postgres.writer import json_rows
from moot.store.rows import TURN_COLUMNS, ending_values, new_id, step_values, turn_row
from moot.types import Cursor, Json

LINKS = 16  # connections of the raw writer; more made it no faster
SPARE = "spare"
SECONDS = 120  # for one repetition; one that takes longer hangs
_SETTINGS = "PostgreSQL on the same machine, fsync=on, synchronous_commit=on"


def against_raw(folder: Path, *, repeats: int = 5, debates: int = 100) -> list[Row]:
    played = run(whole_duel())
    rows: list[Row] = []
    with a_server(folder) as server, Ours(server) as moot:
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
    texts = [turn.content for turn in run(whole_duel()).turns]
    rows: list[Row] = []
    with a_server(folder) as server:
        for name, goal in (("LangGraph", 5.0), ("DBOS", 1.0), ("Celery with Redis", 1.0)):
            try:
                rows += _against(
                    name, Goal(sign=">=", bound=goal), server, folder, home or folder, texts, repeats, debates
                )
            except (NoServer, RuntimeError) as error:
                rows.append(Row(name=f"durable steps, PostgreSQL, {name}", error=str(error)))
    return rows


def with_workers(folder: Path, *, repeats: int = 3, debates: int = 100) -> list[Row]:
    """Debates that are left to the workers, from the first job to the last verdict."""
    with a_server(folder) as server:
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
    url = run(server.database())
    program = {
        "LangGraph": "peer_langgraph_postgres.py",
        "DBOS": "peer_dbos.py",
        "Celery with Redis": "peer_celery.py",
    }[name]
    with ExitStack() as stack:
        environ = {"PEER_DATABASE": url}
        if name.startswith("Celery"):
            environ |= {"PEER_REDIS": stack.enter_context(a_redis(folder)), "PATH": os.environ["PATH"]}
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
        moot = stack.enter_context(Ours(server))
        for count, times in ((1, repeats * 3), (debates, repeats)):
            ours, theirs = alternate(
                times,
                lambda count=count: rate(count, moot.seconds_for(count)),
                lambda count=count: rate(count, peer.seconds_for(count)),
            )
            note = f"{peer.versions}; at least {peer.stored} steps stored for each debate of {DUEL_STEPS}"
            rows.append(row(count, ours, theirs, f"{name} on PostgreSQL", goal, note if count == 1 else ""))
    return rows


class Ours:
    """moot on a database of its own, open as long as the peers are. Use as a context."""

    def __init__(self, server: Server) -> None:
        self._server, self._runner, self._stack = server, asyncio.Runner(), AsyncExitStack()

    def __enter__(self) -> Self:
        self._app = self._runner.run(self._open())
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self._stack.aclose())
        self._runner.close()

    def seconds_for(self, debates: int) -> float:
        return self._runner.run(asyncio.wait_for(self._seconds(debates), SECONDS))

    async def _open(self) -> App:
        app = await self._stack.enter_async_context(_app_on(await self._server.database()))
        self._plan = plan(app, sim(), settings={"recall_decisions": False})
        return app

    async def _seconds(self, count: int) -> float:
        debates = [await self._app.create(self._plan) for _ in range(count)]

        async def all_of_them() -> None:
            await start_all(self._app, debates)
            await finish_all(self._app, debates, steps=DUEL_STEPS)

        return await timed(all_of_them())


async def _with_workers(server: Server, workers: int, count: int) -> float:
    url = await server.database()
    async with _app_on(url) as app:
        duel = plan(app, sim(), settings={"recall_decisions": False})
        debates = [await app.create(duel) for _ in range(count)]
        await app.hand_over(await app.create(duel))  # the queue's tables are made, and a first debate warms the workers
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
            await _until_done(app, 1, processes)
            await asyncio.sleep(workers)  # those that did not get the first one are still starting
            began = time.perf_counter()
            for debate in debates:
                await app.hand_over(debate)
            await _until_done(app, count + 1, processes)
            return time.perf_counter() - began
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait()


async def _until_done(app: App, count: int, processes: Sequence[subprocess.Popen[bytes]]) -> None:
    while True:
        debates = (await app.condition()).debates
        if debates.get("completed", 0) >= count:
            return
        if debates.get("failed") or any(process.poll() is not None for process in processes):
            raise RuntimeError("a worker ended, or a debate failed")
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
    """The statement alone, its values built before the clock starts."""
    store = PostgresStore(await server.database())
    ids = [f"debate-{number:06}" for number in range(debates)]
    try:
        for debate_id in (SPARE, *ids):
            await store.create(played.debate.with_(id=debate_id, status="pending"))
            await store.claim(debate_id, "bench", 600, expect=["pending"])
        warm_up, *work = [_values(played, debate_id) for debate_id in (SPARE, *ids)]
        links = [await connect(store.address) for _ in range(min(LINKS, debates))]
        try:
            free: asyncio.Queue[Link] = asyncio.Queue()
            for link, values in zip(links, warm_up, strict=False):
                await sql("commit").on(link, values)
                free.put_nowait(link)

            async def one(steps: Sequence[dict[str, str]]) -> None:
                for values in steps:
                    link = await free.get()
                    try:
                        found = await sql("commit").on(link, values)
                    finally:
                        free.put_nowait(link)
                    if len(found) != 1:
                        raise RuntimeError("a commit was refused")

            return await timed(asyncio.gather(*(one(steps) for steps in work)))
        finally:
            for link in links:
                await link.close()
    finally:
        await store.close()


def _values(played: Played, debate_id: str) -> list[dict[str, str]]:
    now = time.time()
    made: list[dict[str, str]] = []
    for turn in played.turns:
        commit = Commit(debate_id=debate_id, epoch=1, turns=[turn], cursor=Cursor(open=(turn.key,)), shown=1)
        session = {**step_values(commit, now), **ending_values(commit)}
        session |= {"events": 1, "write_id": new_id(now), "wanted": False}
        event = {"session_id": debate_id, "n": 1, "type": "TURN", "key": turn.key, "data": "{}"}
        row: Json = dict(zip(TURN_COLUMNS, turn_row(turn, new_id(now), debate_id), strict=True))
        made.append(
            {
                "commits": json_rows([session]),
                "turns": json_rows([row]),
                "events": json_rows([event]),
                "gates": "[]",
            }
        )
    return made
