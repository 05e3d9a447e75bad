"""The formats that are installed, and what the rules of a debate need of them before it begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from moot.core.errors import InputError, UnknownName
from moot.core.settings import SeatSettings
from moot.core.types import Debate
from moot.formats.auto import AUTO
from moot.formats.format import Format, Part, problems
from moot.formats.wording import Wording
from moot.plugins import Door

DEFAULT = AUTO  # the format of a debate when neither its request nor the configuration names one


def overridden(parts: list[Part], seats: Mapping[str, SeatSettings]) -> list[Part]:
    """The parts with per-seat settings applied. Raises UnknownName for a seat that the format does not have."""
    for seat_id in seats:
        if seat_id not in {part.id for part in parts}:
            raise UnknownName("seat", seat_id, [part.id for part in parts])
    return [_overridden(part, seats[part.id]) if part.id in seats else part for part in parts]


def _overridden(part: Part, own: SeatSettings) -> Part:
    return replace(
        part,
        model=own.model or part.model,
        max_tokens=own.max_tokens or part.max_tokens,
        sampling=own.sampling.over(part.sampling),
        hats=own.hats or part.hats,
    )


def _checked(name: str, loaded: object) -> Format:
    if not isinstance(loaded, Format):
        raise InputError("It is not a `moot.formats.format.Format`.")
    faults = problems(loaded)
    if loaded.name != name:
        faults.append(f"It calls itself {loaded.name!r}; its entry point must have the same name.")
    if faults:
        raise InputError(" ".join(faults))
    return loaded


DOOR = Door("moot.formats", "format", _checked)

installed, broken, get = DOOR.installed, DOOR.broken, DOOR.get


def wording_of(debate: Debate) -> Wording:
    """The words for a debate; its format need not be installed."""
    return Wording.of(debate, installed().get(debate.format))
