"""Shared by the measurements: an app on a fresh database, simulated models, and alternating repetition."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from moot.app import App
from moot.client import creating
from moot.core.script import Script
from moot.core.settings import Settings, read
from moot.core.steps import Ask
from moot.core.types import Call, Debate, Json, Turn
from moot.planning import Plan
from moot.request import Request

T = TypeVar("T")

TOPIC = "Should a small team keep its services in one repository?"
TOKENS = 200  # in a simulated statement: a short paragraph or two
DUEL_STEPS = 30


def sim(*, latency_ms: int = 0, tokens: int = TOKENS, seed: int = 0) -> str:
    return f"sim:?seed={seed}&latency_ms={latency_ms}&tokens={tokens}"


def run(work: Coroutine[Any, Any, T], *, seconds: float = 120) -> T:
    """Run in a new event loop; raises TimeoutError after `seconds`."""
    return asyncio.run(asyncio.wait_for(work, seconds))


def alternate(repeats: int, *measure: Callable[[], T]) -> list[list[T]]:
    """Measure A B A B …, so that noise on the machine affects all of them alike."""
    results: list[list[T]] = [[] for _ in measure]
    for _ in range(repeats):
        for one, into in zip(measure, results, strict=True):
            into.append(one())
    return results


median = statistics.median


def percentile(ordered: Sequence[float], percent: float) -> float:
    """Nearest rank in values that are sorted already."""
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


@asynccontextmanager
async def app_in(
    folder: Path, *, embedder: str | None = "none", data_dir: str | None = None
) -> AsyncGenerator[App, None]:
    """An app on a new SQLite database in `folder`, which is removed afterwards.

    It compares meanings by words alone unless another embedder is given; with None, as moot does by default.
    """
    with tempfile.TemporaryDirectory(dir=folder, prefix="db-") as name:
        database = str(Path(name) / "moot.db")
        app = App(read(Settings, {"database_url": database, "embedder": embedder, "data_dir": data_dir}), {})
        try:
            yield app
        finally:
            await app.close()


def plan(
    app: App,
    spec: str,
    *,
    judge: str | None = None,
    format: str = "duel",
    settings: Json | None = None,
    topic: str = TOPIC,
) -> Plan:
    given: Json = {"model_debater": spec, "model_judge": judge or spec, **(settings or {})}
    return app.plan(Request(topic=topic, format=format, settings=given))


async def start_all(app: App, debates: Sequence[Debate]) -> None:
    await asyncio.gather(*(app.runtime.start(debate.id) for debate in debates))


async def run_all(app: App, debates: Sequence[Debate], *, steps: int) -> None:
    """Run debates at once. Raises RuntimeError unless each completes after exactly `steps` steps."""
    await start_all(app, debates)
    for debate in await asyncio.gather(*(app.runtime.wait(debate.id) for debate in debates)):
        if debate.status != "completed" or debate.turn_count != steps:
            raise RuntimeError(
                f"a debate is {debate.status} after {debate.turn_count} steps of {steps}: {debate.error}"
            )


async def timed(work: Awaitable[Any]) -> float:
    """Await `work` and return the seconds it took."""
    clock = time.perf_counter()
    await work
    return time.perf_counter() - clock


@dataclass(frozen=True, kw_only=True)
class Played:
    """A debate that was run to its end."""

    debate: Debate  # as it was created
    seconds: float  # from start to verdict
    turns: Sequence[Turn]
    calls: Sequence[Call]
    chain: int  # calls in the longest chain in which each waits for the one before
    waves: Sequence[Sequence[Call]]  # the calls by their place in such a chain


async def play(app: App, plan: Plan) -> Played:
    """Run one debate. Raises RuntimeError unless it completes and every call succeeds at the first try."""
    debate = await creating.create(app, plan)
    seconds = await timed(_complete(app, debate))
    turns = await app.runtime.store.turns(debate.id)
    waves = drive(plan.format.script(debate), turns)
    calls = [call for wave in waves for call in wave]
    return Played(debate=debate, seconds=seconds, turns=turns, calls=calls, chain=len(waves), waves=waves)


async def play_duel(folder: Path, *, tokens: int = TOKENS) -> Played:
    """Run one simulated duel. Raises RuntimeError unless it has all its 30 steps."""
    async with app_in(folder) as app:
        played = await play(app, plan(app, sim(tokens=tokens)))
    if len(played.turns) != DUEL_STEPS:
        raise RuntimeError(f"a simulated duel took {len(played.turns)} steps, not {DUEL_STEPS}")
    return played


def drive(script: Script, turns: Iterable[Turn]) -> list[list[Call]]:
    """Drive `script` over the turns of a finished debate, as if a call took one unit of time and other steps none.

    Each step begins as soon as the script opens it, and turns are fed in the order in which their steps end; of
    those that end at once, in the order of the record. Returns the calls by the time at which they end: as many groups
    as the longest chain has calls. Raises RuntimeError if a call failed or was repeated, or if turns are left over.
    """
    left = {turn.key: turn for turn in turns}
    order = {key: n for n, key in enumerate(left)}
    ends: dict[str, int] = {}
    waves: list[list[Call]] = []
    now = 0
    script.begin()
    try:
        while script.open:
            for key, step in script.open.items():
                ends.setdefault(key, now + isinstance(step, Ask))
            key = min(script.open, key=lambda key: (ends[key], order[key]))
            step, turn, now = script.open[key], left.pop(key), ends[key]
            if turn.failure or turn.metadata.get("attempts"):
                raise RuntimeError(f"{key} did not succeed at the first try")
            if isinstance(step, Ask):
                if now > len(waves):
                    waves.append([])
                waves[now - 1].append(_call(step))
            script.resolve(turn)
    finally:
        script.close()
    if left:
        raise RuntimeError(f"the rules did not ask for {', '.join(left)}")
    return waves


def longest(script: Script, turns: Iterable[Turn], call_seconds: float) -> float:
    """Drive `script` over the turns of a finished debate as `drive` does, with calls of `call_seconds` and other steps
    that take what they took. Returns when the last step ends."""
    left = {turn.key: turn for turn in turns}
    order = {key: n for n, key in enumerate(left)}
    ends: dict[str, float] = {}
    now = 0.0
    script.begin()
    try:
        while script.open:
            for key, step in script.open.items():
                took = call_seconds if isinstance(step, Ask) else left[key].created_at - left[key].started_at
                ends.setdefault(key, now + took)
            key = min(script.open, key=lambda key: (ends[key], order[key]))
            now = ends[key]
            script.resolve(left.pop(key))
    finally:
        script.close()
    return now


async def _complete(app: App, debate: Debate) -> None:
    await app.runtime.start(debate.id)
    done = await app.runtime.wait(debate.id)
    if done.status != "completed":
        raise RuntimeError(f"a simulated {debate.format} is {done.status}: {done.error}")


def _call(step: Ask) -> Call:
    return Call(
        key=step.key,
        seat=step.seat.id,
        messages=step.messages,
        max_tokens=step.max_tokens,
        sampling=step.seat.sampling,
        returns=step.returns,
    )
