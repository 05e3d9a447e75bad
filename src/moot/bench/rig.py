"""What the measurements share: an app on a fresh database, simulated models, and fair repetition."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from moot.app import App, Plan
from moot.request import Request
from moot.runtime.budget import Allowance
from moot.runtime.steps import turn_of_reply
from moot.script import Step
from moot.settings import Settings, read
from moot.types import Call, Debate, Json, Model, Reply, Turn

T = TypeVar("T")

TOPIC = "Should a small team keep its services in one repository?"
TOKENS = 200  # of a simulated statement: a short paragraph or two
DUEL_STEPS = 30


def sim(*, latency_ms: int = 0, tokens: int = TOKENS, seed: int = 0) -> str:
    return f"sim:?seed={seed}&latency_ms={latency_ms}&tokens={tokens}"


def run(work: Coroutine[Any, Any, T], *, seconds: float = 120) -> T:
    """In an event loop of its own, bounded."""
    return asyncio.run(asyncio.wait_for(work, seconds))


def alternate(repeats: int, *measure: Callable[[], T]) -> list[list[T]]:
    """A B A B …: noise that comes and goes hits all of them alike."""
    results: list[list[T]] = [[] for _ in measure]
    for _ in range(repeats):
        for one, into in zip(measure, results, strict=True):
            into.append(one())
    return results


median = statistics.median


@asynccontextmanager
async def app_in(folder: Path) -> AsyncGenerator[App, None]:
    """On a database that is gone afterwards, beside nothing else."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="db-") as name:
        app = App(read(Settings, {"database_url": str(Path(name) / "moot.db")}), {})
        try:
            yield app
        finally:
            await app.close()


def plan(app: App, spec: str, *, judge: str | None = None, format: str = "duel", settings: Json | None = None) -> Plan:
    given: Json = {"model_debater": spec, "model_judge": judge or spec, **(settings or {})}
    return app.plan(Request(topic=TOPIC, format=format, settings=given))


async def start_all(app: App, debates: Sequence[Debate]) -> None:
    await asyncio.gather(*(app.runtime.start(debate.id) for debate in debates))


async def finish_all(app: App, debates: Sequence[Debate], *, steps: int) -> None:
    """Wait; raises when one did not take exactly so many steps: a figure for less work would be a lie."""
    for debate in await asyncio.gather(*(app.runtime.wait(debate.id) for debate in debates)):
        if debate.status != "completed" or debate.turn_count != steps:
            raise RuntimeError(
                f"a debate is {debate.status} after {debate.turn_count} steps of {steps}: {debate.error}"
            )


async def timed(work: Awaitable[Any]) -> float:
    clock = time.perf_counter()
    await work
    return time.perf_counter() - clock


@dataclass(frozen=True, kw_only=True)
class Played:
    """A debate played by its script alone: no runtime, no store."""

    debate: Debate
    turns: Sequence[Turn]
    waves: int  # how often everything that was open was asked at once
    calls: Sequence[Call]
    complete: bool  # it ran to the end, every answer valid at the first try


async def play(plan: Plan, model: Model, *, most: int = 10_000) -> Played:
    debate = Debate(
        id="bench",
        topic=plan.topic,
        format=plan.format.name,
        format_version=plan.format.version,
        status="running",
        config=plan.config,
        cast=plan.cast,
    )
    script = plan.format.script(debate)
    turns: list[Turn] = []
    calls: list[Call] = []
    waves, clean = 0, True
    script.begin()
    try:
        while script.open and len(turns) < most:
            waves += 1
            for step in list(script.open.values())[: most - len(turns)]:
                calls.append(_call(step))
                reply = await model(calls[-1], lambda _: None)
                clean = clean and not reply.attempts
                turns.append(_turn(step, reply, len(turns) + 1))
                script.resolve(turns[-1])
        complete = clean and not script.open
    finally:
        script.close()
    return Played(debate=debate, turns=turns, waves=waves, calls=calls, complete=complete)


async def whole_duel(*, tokens: int = TOKENS) -> Played:
    """A simulated duel of all its 30 steps."""
    app = App(read(Settings, {}), {})
    spec = sim(tokens=tokens)
    played = await play(plan(app, spec), app.models.open(spec))
    if not played.complete or len(played.turns) != DUEL_STEPS:
        raise RuntimeError(f"a simulated duel took {len(played.turns)} steps, not {DUEL_STEPS}")
    return played


def _call(step: Step) -> Call:
    return Call(
        key=step.key, seat=step.seat.id, messages=step.messages, max_tokens=step.max_tokens, returns=step.returns
    )


def _turn(step: Step, reply: Reply, seq: int) -> Turn:
    """As if every step took a second."""
    allowance = Allowance(max_tokens=step.max_tokens, tries=1, tokens=0, cost_usd=0)
    return turn_of_reply(step, reply, allowance, seq=seq, started_at=seq - 1.0, created_at=float(seq))
