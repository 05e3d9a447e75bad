"""Small formats for the tests of the runtime, and a runtime on a real database that knows them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from moot.core.script import Stage
from moot.core.settings import DebateSettings, Settings
from moot.core.types import Debate, Models, Outcome
from moot.formats import Format, Part
from moot.formats.format import EventType
from moot.models.registry import ModelRegistry
from moot.runtime.runtime import Runtime
from moot.store.sqlite import SqliteStore


def outcome(winner: str, headline: str, ended_by: str = "rules") -> Outcome:
    return Outcome(winner=winner, headline=headline, ended_by=ended_by, verdict_source="rules")


def a_format(
    play: Callable[[Stage, Any], Coroutine[Any, Any, Outcome]],
    *seats: str,
    settings: type[DebateSettings] = DebateSettings,
    events: tuple[str, ...] = ("TURN",),
    parts: Callable[[Any], list[Part]] | None = None,
) -> Format:
    """A format with the name of its function."""
    return Format(
        name=play.__name__,
        version=1,
        purpose="tests",
        summary="For tests.",
        settings=settings,
        parts=parts or (lambda _: [Part(id=id, name=id.upper(), role="debater", tier="debater") for id in seats]),
        play=play,
        events={type: EventType() for type in events},
        phases={},
        endings={},
        length="max_rounds" if "max_rounds" in settings.model_fields else "max_runtime_seconds",
    )


@asynccontextmanager
async def a_runtime(
    folder: Path, *formats: Format, models: Models | None = None, **more: Any
) -> AsyncIterator[Runtime]:
    quick: dict[str, Any] = {"lease_seconds": 15, **more}
    models = models or ModelRegistry(Settings(), environ={})
    runtime = Runtime(SqliteStore(folder / "moot.db"), models, {each.name: each for each in formats}, **quick)
    try:
        yield runtime
    finally:
        await runtime.close()


async def created(runtime: Runtime, format_: Format, model: str = "sim:", **settings: Any) -> Debate:
    read = format_.settings(**settings)
    cast = [part.seated(part.model or model, read) for part in format_.parts(read)]
    return await runtime.create(topic="t", format=format_, config=read.model_dump(mode="json"), cast=cast)


async def run(runtime: Runtime, format_: Format, model: str = "sim:", **settings: Any) -> Debate:
    """Create a debate and drive it until it rests."""
    debate = await created(runtime, format_, model, **settings)
    await runtime.start(debate.id)
    return await runtime.wait(debate.id)
