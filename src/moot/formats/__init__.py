"""Formats: the rules of one kind of debate each. Built-ins and plug-ins come in through the same entry points."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any, cast

from moot.errors import InputError, ScriptError, UnknownName
from moot.formats.precedent import precedent
from moot.limits import Limits
from moot.script import Script, Stage
from moot.settings import DebateSettings, SeatSettings
from moot.types import Debate, Json, Outcome, Turn


@dataclass(frozen=True, kw_only=True)
class Part:
    """A seat before its model is chosen."""

    id: str
    name: str
    role: str  # "debater" or "judge": decides the default model and the cap
    model: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None


@dataclass(frozen=True, kw_only=True)
class Format:
    name: str
    version: int  # raised when recorded debates would no longer replay
    summary: str
    settings: type[DebateSettings]
    parts: Callable[[Any], list[Part]]
    play: Callable[[Stage, Any], Coroutine[Any, Any, Outcome]]
    trace: Callable[[Debate, Sequence[Turn]], Json] | None = None  # an account of its own, from what is stored

    def script(self, debate: Debate) -> Script:
        if debate.format_version != self.version:
            raise ScriptError(
                f"Debate {debate.short} was made with version {debate.format_version} of the format {self.name!r}; "
                f"this moot has version {self.version}. Run it with the moot that made it, or start a new debate."
            )
        settings = self.settings.model_validate(debate.config)
        limits = Limits(
            max_runtime_seconds=settings.max_runtime_seconds,
            max_total_output_tokens=settings.max_total_output_tokens,
            max_cost_usd=settings.max_cost_usd,
        )
        return Script(
            lambda stage: self.play(stage, settings),
            cast=debate.cast,
            limits=limits,
            topic=debate.topic,
            precedent=precedent(debate),
        )


def overridden(parts: list[Part], seats: Mapping[str, SeatSettings]) -> list[Part]:
    """The parts with the per-seat settings laid over them."""
    for seat_id in seats:
        if seat_id not in {part.id for part in parts}:
            raise UnknownName("seat", seat_id, [part.id for part in parts])
    changed: list[Part] = []
    for part in parts:
        own = seats.get(part.id, SeatSettings())
        changed.append(
            Part(
                id=part.id,
                name=part.name,
                role=part.role,
                model=own.model or part.model,
                max_tokens=own.max_tokens or part.max_tokens,
                temperature=part.temperature if own.temperature is None else own.temperature,
            )
        )
    return changed


BROKEN: dict[str, str] = {}  # formats that are installed but can't be loaded, and why


@lru_cache(maxsize=1)
def installed() -> Mapping[str, Format]:
    found: dict[str, Format] = {}
    for entry in entry_points(group="moot.formats"):
        try:
            format_ = cast(Format, entry.load())
            found[format_.name] = format_
        except Exception as error:  # whatever a plug-in does wrong, the others work
            BROKEN[entry.name] = f"{type(error).__name__}: {error}"
    return dict(sorted(found.items()))


def get(name: str) -> Format:
    formats = installed()
    if name in BROKEN and name not in formats:
        raise InputError(f"The format {name!r} is installed, but can't be loaded ({BROKEN[name]}). Install it again.")
    if name not in formats:
        raise UnknownName("format", name, formats)
    return formats[name]
